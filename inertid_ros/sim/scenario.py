"""A simulation described by plain values: which robot moves how, carries what, and is measured how well."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from inertid_ros.core.errors import FileAccessError, SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.load import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import Hold, Motion, Repeat, Sequence, round_trip, there_and_back, with_rest
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.motions.paper_moves import paper_ddarm_link_moves, paper_ddarm_load_move, paper_puma_move
from inertid_ros.sim.friction import JointFriction
from inertid_ros.sim.links import links_of
from inertid_ros.sim.paper_links import paper_ddarm_links
from inertid_ros.sim.scenario_settings import ScenarioSettings
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

PAPER_MOVES = {"puma560": paper_puma_move, "ddarm": paper_ddarm_load_move}
PAPER_LINK_MOVES = {"ddarm": paper_ddarm_link_moves}


def read_urdf(robot: str) -> str:
    """Return the text of a shipped URDF, given by name, or of any other, given by path."""
    path = _find(robot, "urdf", ".urdf")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileAccessError(f"robot description '{path}' cannot be read: {error}") from None


def read_load(load: str) -> FloatArray | None:
    """Return phi (10,) of a shipped load, given by name, or of any other, given by path; None for `none` and ``."""
    return None if load in ("", "none") else load_from_yaml(_find(load, "config/loads", ".yaml"))


def build_motion(settings: ScenarioSettings, robot: Robot) -> Motion:
    """Build the motion of a robot, which begins with a rest."""
    if settings.motion == "hold":
        return Hold(_find_pose(settings, robot))
    cycle = _build_cycle(settings, robot)
    first = cycle.at(np.zeros(1)).positions[0]
    return Sequence([Hold(first, settings.rest), Repeat(cycle)]) if settings.repeat else with_rest(cycle, settings.rest)


def build_simulator(settings: ScenarioSettings) -> Simulator:
    """Build the simulator of a scenario, whose stamps count from 0."""
    urdf = read_urdf(settings.robot)
    robot = Robot.from_urdf(urdf)
    load = read_load(settings.load)
    changes: list[tuple[float, FloatArray | None]] = []
    if load is not None and settings.attach_at >= 0.0:
        changes.append((settings.attach_at, load))
    if settings.release_at >= 0.0:
        changes.append((settings.release_at, None))
    return Simulator(
        urdf,
        settings.sensor_frame,
        build_motion(settings, robot),
        build_sensors(settings),
        changes,
        gravity=settings.gravity,
        seed=settings.seed,
        start_stamp=0,
        tool=read_load(settings.tool),
        friction=build_friction(settings),
        links=find_links(settings, robot),
    )


def find_links(settings: ScenarioSettings, robot: Robot) -> FloatArray | None:
    """Return the true links phi (n, 10); None if they are the URDF's."""
    if settings.links == "urdf":
        return None
    if settings.robot != "ddarm":
        raise SettingError("links", settings.links, "urdf, for all robots but ddarm")
    return paper_ddarm_links(links_of(robot))


def build_sensors(settings: ScenarioSettings) -> SensorModel:
    """Build the sensor model: the settings of the same name, and no tachometer and no efforts unless asked for."""
    values = {field.name: getattr(settings, field.name) for field in dataclasses.fields(SensorModel)}
    values["bias"] = tuple(settings.bias)
    if not settings.tachometer:
        values["velocity_noise"] = None
    values["effort_limit"] = tuple(settings.effort_limit)
    values["effort_noise"] = tuple(settings.effort_noise) if settings.effort else None
    return SensorModel(**values)


def build_friction(settings: ScenarioSettings) -> JointFriction:
    """Build the drives: the settings of the same name."""
    return JointFriction(**{field.name: getattr(settings, field.name) for field in dataclasses.fields(JointFriction)})


def _find_pose(settings: ScenarioSettings, robot: Robot) -> FloatArray:
    """Where the paper's move begins, or the middle of the joints' ranges."""
    if settings.robot in PAPER_MOVES:
        return np.asarray(PAPER_MOVES[settings.robot]().at(np.zeros(1)).positions[0])
    return np.asarray((robot.model.lowerPositionLimit + robot.model.upperPositionLimit) / 2.0)


def _build_cycle(settings: ScenarioSettings, robot: Robot) -> Motion:
    """Build what is done again and again, or once."""
    if settings.motion == "multisine":
        return _build_multisine(settings, robot)
    known = PAPER_MOVES if settings.motion == "paper_move" else PAPER_LINK_MOVES
    if settings.robot not in known:
        raise SettingError("motion", settings.motion, f"multisine or hold, for all but {', '.join(known)}")
    if settings.motion == "paper_link_moves":
        return round_trip(PAPER_LINK_MOVES[settings.robot](), settings.pause)
    move = PAPER_MOVES[settings.robot]()
    return there_and_back(move, settings.pause) if settings.repeat else move


def _build_multisine(settings: ScenarioSettings, robot: Robot) -> Multisine:
    """Build sines around the middle of the joints' ranges."""
    model = robot.model
    limits = JointLimits(
        model.lowerPositionLimit,
        model.upperPositionLimit,
        settings.multisine_speed * model.velocityLimit,
        np.full(model.nv, settings.multisine_acceleration),
    )
    period = settings.multisine_period
    return Multisine(limits, period, settings.multisine_harmonics, fade=period / 10.0, seed=settings.seed)


def _find(name: str, directory: str, suffix: str) -> Path:
    """Find a shipped file by its bare name, any other by its path."""
    if "/" in name or name.endswith(suffix):
        return Path(name).expanduser()
    return share_path(*directory.split("/"), name + suffix)
