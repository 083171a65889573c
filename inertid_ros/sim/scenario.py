"""A simulation described by plain parameters: which robot moves how, carries what, and is measured how well."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from inertid_ros.control.controllers import Follower, Gains
from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import setting
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.files.urdf import UrdfFile
from inertid_ros.motions.motion import (
    LINK_MOVES,
    LOAD_MOVES,
    TEST_MOVES,
    Hold,
    Motion,
    Repeat,
    Sequence,
    find_ends,
    round_trip,
    there_and_back,
    with_rest,
)
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.arm import JointFriction, links_of, paper_ddarm_links, spread_over_joints
from inertid_ros.sim.driven import Drive
from inertid_ros.sim.sensors import PUMA_ENCODER_RESOLUTION, SensorModel
from inertid_ros.sim.simulator import Simulator

DRIVE_MEMORY = 2.0
"""Seconds of a driven arm's past that sensors can ask for: ten times the longest delay."""
_EACH = ", one for all joints or one for each."


@dataclass(frozen=True, slots=True)
class ScenarioSettings:
    """All parameters of a simulated driver; the defaults are the PUMA of the 1986 paper, with its sensors."""

    robot: str = setting("puma560", "Shipped robot (puma560, ddarm) or path of a URDF.")
    links: str = setting(
        "urdf",
        "The true links: those of the URDF (urdf), or those that the 1986 paper estimated (paper, ddarm only). The "
        "robot description that is published is the URDF either way.",
        choices=("urdf", "paper"),
    )
    sensor_frame: str = setting("ft_sensor", "Frame of the URDF in which the wrench is measured and loads are given.")
    gravity: list[float] = setting([0.0, 0.0, -9.80665], "Gravity in the root frame of the URDF.", "m/s^2", length=3)
    motion: str = setting(
        "paper_move",
        "The move of the paper with this robot and a load, its test motions of joints 4 and 6 alone (puma560), its "
        "three moves for the links (ddarm), sines in all joints, none, or what efforts do to the arm (driven): then it "
        "follows trajectories and obeys efforts that are sent to it.",
        choices=("paper_move", "paper_test_moves", "paper_link_moves", "multisine", "hold", "driven"),
    )
    pose: list[float] = setting(
        [0.0],
        "Where a driven arm begins, for each joint; one zero for where the paper's move begins, or the middle of the "
        "ranges.",
        "rad",
    )
    control_rate: float = setting(1000.0, "Samples per second of a driven arm's controller.", "Hz", 1.0, 2000.0)
    natural_frequency: list[float] = setting([23.6], "Of a driven arm's feedback (PD) by the URDF" + _EACH, "rad/s")
    damping: float = setting(1.0, "Damping ratio of that feedback.", "", 0.0, 10.0)
    drive_noise: list[float] = setting(
        [0.0], "Standard deviation of what a driven arm's motors add to what they are told" + _EACH, "Nm"
    )
    rest: float = setting(2.0, "Standstill before the first move.", "s", 0.0, 1e6)
    pause: float = setting(0.5, "Standstill between two of the paper's moves.", "s", 0.0, 1e6)
    repeat: bool = setting(True, "Repeat the motion for ever (paper_move there and back), rather than make it once.")
    multisine_period: float = setting(10.0, "Period of the slowest sine.", "s", 0.5, 1000.0)
    multisine_harmonics: int = setting(5, "Number of sines in each joint.", "", 1, 50)
    multisine_speed: float = setting(0.5, "Share of the URDF's velocity limits that is used.", "", 0.01, 1.0)
    multisine_acceleration: float = setting(5.0, "Largest acceleration of each joint.", "rad/s^2", 0.01, 1000.0)
    load: str = setting("bar", "Shipped load (bar, aluminium_block, gripper) or path of a load file, or none.")
    tool: str = setting("none", "What is always on the sensor, given like the load.")
    attach_at: float = setting(
        0.0, "When the load is attached, from the start. Negative: by service only.", "s", -1.0, 1e6
    )
    release_at: float = setting(-1.0, "When the load is released. Negative: by service only.", "s", -1.0, 1e6)
    joint_rate: float = setting(200.0, "Joint states per second.", "Hz", 1.0, 2000.0)
    wrench_rate: float = setting(200.0, "Wrenches per second.", "Hz", 1.0, 2000.0)
    encoder_resolution: float = setting(PUMA_ENCODER_RESOLUTION, "Step of the encoders. 0: none.", "rad", 0.0, 1.0)
    tachometer: bool = setting(False, "Whether velocities are measured; without, joint states have none.")
    velocity_noise: float = setting(0.01, "Standard deviation of measured velocities.", "rad/s", 0.0, 10.0)
    effort: bool = setting(False, "Whether efforts are measured; without, joint states have none.")
    effort_noise: list[float] = setting([2.0], "Standard deviation of measured efforts" + _EACH, "Nm")
    effort_limit: list[float] = setting(
        [0.0], "Efforts beyond are measured as this, one for all joints or one for each. 0: none.", "Nm"
    )
    effort_delay: float = setting(0.0, "How much later than it acted the effort is stamped.", "s", -0.2, 0.2)
    viscous_friction: list[float] = setting([0.0], "Effort against each unit of velocity" + _EACH, "Nm s/rad")
    coulomb_friction: list[float] = setting([0.0], "Effort against the direction of motion" + _EACH, "Nm")
    rotor_inertia: list[float] = setting([0.0], "Inertia of the motors at the joints" + _EACH, "kg m^2")
    effort_offset: list[float] = setting([0.0], "Effort that is always there" + _EACH, "Nm")
    force_noise: float = setting(0.1, "Standard deviation of each force.", "N", 0.0, 1000.0)
    torque_noise: float = setting(0.005, "Standard deviation of each moment.", "Nm", 0.0, 1000.0)
    bias: list[float] = setting(
        [2.0, -1.5, 2.5, 0.1, -0.2, 0.15], "What the sensor reads without a load.", "N, Nm", length=6
    )
    force_drift: float = setting(0.0, "Random walk of the force bias.", "N/sqrt(s)", 0.0, 100.0)
    torque_drift: float = setting(0.0, "Random walk of the moment bias.", "Nm/sqrt(s)", 0.0, 100.0)
    vibration_force: float = setting(0.3, "Amplitude of a vibration in each force.", "N", 0.0, 1000.0)
    vibration_torque: float = setting(0.01, "Amplitude of a vibration in each moment.", "Nm", 0.0, 1000.0)
    vibration_frequency: float = setting(30.0, "Frequency of the vibration.", "Hz", 0.1, 1000.0)
    stamp_jitter: float = setting(
        0.0,
        "How much before or after their turn samples are taken; below half a period. Stamps are true.",
        "s",
        0.0,
        0.5,
    )
    wrench_delay: float = setting(0.0, "How much later than it acted the wrench is stamped.", "s", -0.2, 0.2)
    sign: str = setting(
        "on_load",
        "Whether the wrench on the load or the one on the sensor is measured.",
        choices=("on_load", "on_sensor"),
    )
    seed: int = setting(0, "Seed of all noise, and of the multisine.", "", 0, 2**31 - 1)


def read_urdf(robot: str) -> str:
    """Return the text of a shipped URDF, given by name, or of any other, given by path."""
    return UrdfFile.read(_find(robot, "urdf", ".urdf")).text


def read_load(load: str) -> FloatArray | None:
    """Return phi (10,) of a shipped load, given by name, or of any other, given by path; None for `none` and ``."""
    return None if load in ("", "none") else load_from_yaml(_find(load, "config/loads", ".yaml"))


def build_motion(settings: ScenarioSettings, robot: Robot) -> Motion:
    """Build the motion of a robot, which begins with a rest."""
    if settings.motion == "hold":
        return Hold(_find_pose(settings, robot))
    cycle = _build_cycle(settings, robot)
    if not settings.repeat:
        return with_rest(cycle, settings.rest)
    return Sequence([Hold(find_ends(cycle)[0], settings.rest), Repeat(cycle)])


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
        build_drive(settings, robot) if settings.motion == "driven" else build_motion(settings, robot),
        build_sensors(settings),
        changes,
        gravity=settings.gravity,
        seed=settings.seed,
        start_stamp=0,
        tool=read_load(settings.tool),
        friction=build_friction(settings),
        links=find_links(settings, robot),
    )


def build_drive(settings: ScenarioSettings, robot: Robot) -> Drive:
    """Build what drives an arm: feedback with the gains for the inertias, and efforts against the gravity, of the URDF.

    Rotors are counted in, tool and load are not.
    """
    count, model = robot.model.nv, robot.model.copy()
    model.gravity.linear = np.array(settings.gravity)
    data = model.createData()
    pose = _find_pose(settings, robot) if settings.pose == [0.0] else spread_over_joints("pose", settings.pose, count)
    frequency = spread_over_joints("natural_frequency", settings.natural_frequency, count)
    rotors = spread_over_joints("rotor_inertia", settings.rotor_inertia, count)
    inertias = np.diag(pin.crba(model, data, pose)) + rotors
    gains = Gains.of_inertias(inertias, frequency, settings.damping)
    follower = Follower(pose, gains, np.array(pin.computeGeneralizedGravity(model, data, pose)))
    return Drive(pose, follower, settings.control_rate, effort_noise=settings.drive_noise, memory=DRIVE_MEMORY)


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
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    missing = {"velocity_noise": settings.tachometer, "effort_noise": settings.effort}
    return SensorModel(**values | {name: None for name, is_measured in missing.items() if not is_measured})


def build_friction(settings: ScenarioSettings) -> JointFriction:
    """Build the drives: the settings of the same name."""
    return JointFriction(**{field.name: getattr(settings, field.name) for field in dataclasses.fields(JointFriction)})


def _find_pose(settings: ScenarioSettings, robot: Robot) -> FloatArray:
    """Where the paper's move begins, or the middle of the joints' ranges."""
    if settings.robot in LOAD_MOVES:
        return np.asarray(find_ends(LOAD_MOVES[settings.robot][0])[0])
    return np.asarray((robot.model.lowerPositionLimit + robot.model.upperPositionLimit) / 2.0)


def _build_cycle(settings: ScenarioSettings, robot: Robot) -> Motion:
    """Build what is done again and again, or once."""
    if settings.motion == "multisine":
        return _build_multisine(settings, robot)
    known = {"paper_move": LOAD_MOVES, "paper_test_moves": TEST_MOVES, "paper_link_moves": LINK_MOVES}[settings.motion]
    if settings.robot not in known:
        raise SettingError("motion", settings.motion, f"multisine or hold, for all but {', '.join(known)}")
    if settings.motion != "paper_move":
        return round_trip(known[settings.robot], settings.pause)
    (move,) = known[settings.robot]
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
