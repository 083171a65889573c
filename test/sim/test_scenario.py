"""Scenarios: every value ends where it belongs."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inertid_ros.core.errors import FileAccessError, SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import iterate_settings
from inertid_ros.motions.motion import (
    paper_ddarm_link_moves,
    paper_ddarm_load_move,
    paper_puma_move,
    paper_puma_test_moves,
)
from inertid_ros.sim.scenario import (
    ScenarioSettings,
    build_friction,
    build_motion,
    build_sensors,
    build_simulator,
    read_load,
    read_urdf,
)
from inertid_ros.sim.sensors import SensorModel, paper_puma_sensors
from inertid_ros.sim.simulator import Simulator

TIMES = np.linspace(0.0, 9.0, 181)


def build(**values: Any) -> tuple[ScenarioSettings, Robot]:
    """Check settings and read their robot."""
    settings = ScenarioSettings(**values)
    return settings, Robot.from_urdf(read_urdf(settings.robot))


def test_defaults_are_the_paper_s_puma() -> None:
    sensors = build_sensors(ScenarioSettings())
    assert dataclasses.replace(sensors, bias=(0.0,) * 6) == dataclasses.replace(paper_puma_sensors(0), bias=(0.0,) * 6)


def test_every_sensor_setting_reaches_the_sensor_model() -> None:
    values: dict[str, Any] = {
        "joint_rate": 100.0,
        "wrench_rate": 150.0,
        "encoder_resolution": 0.001,
        "velocity_noise": 0.3,
        "effort_noise": (0.2, 0.5),
        "effort_limit": (30.0, 20.0),
        "effort_delay": 0.015,
        "force_noise": 0.4,
        "torque_noise": 0.6,
        "bias": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
        "force_drift": 0.7,
        "torque_drift": 0.8,
        "vibration_force": 0.9,
        "vibration_torque": 0.11,
        "vibration_frequency": 12.0,
        "stamp_jitter": 0.0013,
        "wrench_delay": 0.014,
        "sign": "on_sensor",
    }
    assert set(values) == {field.name for field in dataclasses.fields(SensorModel)}
    measured = {"tachometer": True, "effort": True}
    assert build_sensors(ScenarioSettings(**{**values, **measured})) == SensorModel(**values)
    assert build_sensors(ScenarioSettings(**values)).velocity_noise is None
    assert build_sensors(ScenarioSettings(**values)).effort_noise is None


def test_paper_move_rests_moves_pauses_and_returns() -> None:
    motion = build_motion(*build(rest=1.0, pause=0.25))
    move, there = paper_puma_move(), paper_puma_move().at(np.array([2.0])).positions[0]
    np.testing.assert_allclose(motion.at(TIMES + 1.0).positions[:40], move.at(TIMES[:40]).positions, atol=1e-12)
    np.testing.assert_allclose(motion.at(np.array([3.1])).positions[0], there, atol=1e-12)
    np.testing.assert_allclose(motion.at(np.array([5.4])).positions[0], move.at(np.zeros(1)).positions[0], atol=1e-12)
    np.testing.assert_allclose(motion.at(TIMES + 1.0).positions, motion.at(TIMES + 5.5).positions, atol=1e-12)


def test_one_move_only_ends_in_its_last_pose() -> None:
    motion = build_motion(*build(robot="ddarm", rest=0.5, repeat=False))
    np.testing.assert_allclose(
        motion.at(TIMES).positions, paper_ddarm_load_move().at(TIMES - 0.5).positions, atol=1e-12
    )


@pytest.mark.parametrize("robot", ["puma560", "ddarm"])
def test_multisine_stays_within_the_urdf_s_limits(robot: str) -> None:
    settings, arm = build(robot=robot, motion="multisine", multisine_speed=0.4, multisine_acceleration=3.0, rest=0.0)
    path = build_motion(settings, arm).at(np.linspace(0.0, 40.0, 8001))
    assert np.all(path.positions >= arm.model.lowerPositionLimit)
    assert np.all(path.positions <= arm.model.upperPositionLimit)
    assert np.all(np.abs(path.velocities) <= 0.4 * arm.model.velocityLimit)
    assert np.all(np.abs(path.accelerations) <= 3.0)
    assert np.all(np.ptp(path.positions, axis=0) > 0.3)


def test_link_moves_of_the_paper_come_one_after_the_other_for_ever() -> None:
    motion = build_motion(*build(robot="ddarm", motion="paper_link_moves", rest=1.0, pause=0.25))
    period = 1.3 + 0.25 + 2.0 + 0.25
    for i, move in enumerate((*paper_ddarm_link_moves(), paper_ddarm_link_moves()[0])):
        times = np.linspace(0.0, 1.3, 50)
        for found, expected in zip(motion.at(1.0 + i * period + times), move.at(times), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-9)
    path = motion.at(np.linspace(0.0, 20.0, 20001))
    np.testing.assert_allclose(path.velocities, np.gradient(path.positions, 1e-3, axis=0), atol=0.02)
    with pytest.raises(SettingError, match=r"paper_link_moves.*for all but ddarm"):
        build_motion(*build(motion="paper_link_moves"))


def test_test_motions_of_single_joints_come_one_after_the_other_within_the_limits() -> None:
    settings, robot = build(motion="paper_test_moves", rest=1.0, pause=0.25)
    motion = build_motion(settings, robot)
    times = np.linspace(0.0, 2.0, 50)
    for i, move in enumerate(paper_puma_test_moves()):
        np.testing.assert_allclose(motion.at(1.0 + 4.5 * i + times).velocities, move.at(times).velocities, atol=1e-9)
    assert np.all(np.abs(motion.at(np.linspace(0.0, 15.0, 3001)).velocities) < robot.model.velocityLimit)
    with pytest.raises(SettingError, match=r"paper_test_moves.*for all but puma560"):
        build_motion(*build(robot="ddarm", motion="paper_test_moves"))


def test_drives_reach_the_simulator() -> None:
    still: dict[str, Any] = {"robot": "ddarm", "motion": "hold", "effort": True, "effort_noise": [0.0], "load": ""}
    offset = [1.0, 2.0, 3.0]
    plain, shifted = (
        build_simulator(ScenarioSettings(**{**still, **more})).joints(0.0, 0.1).efforts
        for more in ({}, {"effort_offset": offset})
    )
    assert plain is not None
    assert shifted is not None
    np.testing.assert_allclose(shifted - plain, np.tile(offset, (20, 1)), atol=1e-12)
    values = {"viscous_friction": [0.1], "coulomb_friction": [0.2], "rotor_inertia": [0.3], "effort_offset": [0.4]}
    friction = build_friction(build(**values)[0])
    assert {field.name: getattr(friction, field.name) for field in dataclasses.fields(friction)} == values


def test_hold_never_moves() -> None:
    path = build_motion(*build(motion="hold")).at(TIMES)
    assert np.ptp(path.positions, axis=0).max() == 0.0
    np.testing.assert_allclose(path.positions[0], paper_puma_move().at(np.zeros(1)).positions[0])


def test_own_robot_can_hold_and_swing_but_has_no_paper_move(tmp_path: Path) -> None:
    own = tmp_path / "own.urdf"
    own.write_text(read_urdf("puma560"))
    _, robot = build(robot=str(own))
    middle = (robot.model.lowerPositionLimit + robot.model.upperPositionLimit) / 2.0
    for motion in ("hold", "multisine"):
        path = build_motion(*build(robot=str(own), motion=motion)).at(np.zeros(1))
        np.testing.assert_allclose(path.positions[0], middle, atol=1e-12)
    with pytest.raises(SettingError, match="multisine or hold"):
        build_motion(*build(robot=str(own)))


def load_at(simulator: Simulator, time: float) -> FloatArray:
    """What is carried besides the tool."""
    return next(load for _, load in simulator._schedule.parts(np.array([time])))


def test_load_is_attached_and_released_on_time() -> None:
    simulator = build_simulator(ScenarioSettings(attach_at=1.0, release_at=2.0))
    bar = read_load("bar")
    assert bar is not None
    np.testing.assert_array_equal(load_at(simulator, 0.9), 0.0)
    np.testing.assert_array_equal(load_at(simulator, 1.0), bar)
    np.testing.assert_array_equal(load_at(simulator, 2.0), 0.0)
    assert simulator.joints(0.0, 0.1).stamps[0] == 0


def test_negative_times_leave_the_load_to_the_service() -> None:
    simulator = build_simulator(ScenarioSettings(attach_at=-1.0))
    np.testing.assert_array_equal(load_at(simulator, 1e5), 0.0)
    np.testing.assert_array_equal(load_at(build_simulator(ScenarioSettings()), 1e5), read_load("bar"))


def test_tool_gravity_and_seed_reach_the_simulator() -> None:
    silent: dict[str, Any] = {"force_noise": 0.0, "vibration_force": 0.0, "bias": [0.0] * 6}
    perfect = {**silent, "load": "", "motion": "hold"}
    gripper = read_load("gripper")
    assert gripper is not None
    settings = ScenarioSettings(**{**perfect, "tool": "gripper", "gravity": [0.0, 3.0, 4.0]})
    force = build_simulator(settings).wrenches(0.0, 0.01).wrenches[0, :3]
    assert np.linalg.norm(force) == pytest.approx(5.0 * gripper[0])
    first, second = (build_simulator(ScenarioSettings(seed=seed)).wrenches(0.0, 0.01).wrenches for seed in (1, 2))
    assert np.all(first != second)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match=r"urdf/r2d2\.urdf"):
        read_urdf("r2d2")
    with pytest.raises(FileAccessError, match=r"missing\.urdf.*cannot be read"):
        read_urdf(str(tmp_path / "missing.urdf"))
    with pytest.raises(FileAccessError, match=r"anvil\.yaml"):
        read_load("anvil")
    assert read_load("") is None


def test_impossible_settings_are_named() -> None:
    known = {info.name: info for info in iterate_settings(ScenarioSettings)}
    with pytest.raises(SettingError, match=r"'seed' is -1: expected 0 to"):
        known["seed"].check(-1)
    with pytest.raises(SettingError, match="paper_move, paper_test_moves, paper_link_moves, multisine, hold"):
        known["motion"].check("dance")
