"""Gravity from an IMU on the base: what is found on a base that leans, and what is not learnt on one that moves."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.chain import BAR, EXACT, load_of
from support.leaning_base import URDF, LeaningBase, Swing, drive, make_chain

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.diagnosis import Health, HealthItem
from inertid_ros.core.errors import SettingError
from inertid_ros.core.input.base_tilt import BaseTilt
from inertid_ros.core.records import FloatArray, ImuBlock, Output
from inertid_ros.core.robot.robot import Robot, find_upright
from inertid_ros.core.settings.settings import Settings
from inertid_ros.sim.simulator import DEFAULT_START

LEANS = {"pitch": Swing(0.5, 16.0, start=3.0), "roll": Swing(-0.4, 11.0, start=3.0, rest=0.1)}
GRAVITY = np.array([0.0, 0.0, -9.80665])


def issues_of(chain: Chain) -> dict[str, HealthItem]:
    return {item.code: item for item in chain.health if item.source == "imu"}


def rms_of_forces(output: Output) -> float:
    """Of what is left of the forces in the second half [N]."""
    return float(np.sqrt(np.mean(output.residual[len(output.stamps) // 2 :, :3] ** 2)))


def turn(angles: FloatArray, gravity: FloatArray) -> FloatArray:
    """Gravity (N, 3) in the root frame at angles (N, 2) of the tilt joints, by pinocchio's own rotations."""
    upright = find_upright(gravity)
    turned = [upright @ pin.utils.rotate("x", a) @ pin.utils.rotate("y", b) @ upright.T for a, b in angles.tolist()]
    return np.array([rotation.T @ gravity for rotation in turned])


def test_the_load_is_found_on_a_base_that_leans() -> None:
    """Pitch and roll by up to 29 and 23 degrees within seconds; gravity that is taken as fixed misses the load."""
    base = LeaningBase(LEANS)
    chain = make_chain()
    output = drive(chain, base)
    estimate = load_of(chain)
    assert abs(estimate.values[0] - BAR[0]) < 0.01
    np.testing.assert_allclose(estimate.values[1:4] / estimate.values[0], BAR[1:4] / BAR[0], atol=3e-3)
    assert np.all(np.abs(estimate.values - BAR) < 4.0 * estimate.deviations)
    assert not issues_of(chain)
    assert len(output.stamps) > 0.98 * len(base.wrenches().stamps)
    without = drive(make_chain(gravity_source="parameter"), base)
    assert rms_of_forces(without) > 10.0 * rms_of_forces(output)


def test_a_mount_that_is_tilted_for_good_is_as_good_as_gravity_that_is_known() -> None:
    base = LeaningBase({"pitch": Swing(rest=0.6), "roll": Swing(rest=-0.5)}, noise=False)
    chain = make_chain(**{f"load.{name}": value for name, value in EXACT.items()})
    drive(chain, base)
    np.testing.assert_allclose(load_of(chain).values, BAR, atol=2e-5)


def test_block_size_does_not_matter() -> None:
    base = LeaningBase(LEANS, rounds=1)
    whole, single = make_chain(), make_chain()
    expected, found = drive(whole, base, chunk=100.0), drive(single, base, chunk=0.005)
    count = min(len(expected.stamps), len(found.stamps))
    assert count > 0.98 * len(expected.stamps)
    np.testing.assert_allclose(found.predicted[:count], expected.predicted[:count], atol=1e-9)


def test_nothing_is_learnt_while_the_base_accelerates() -> None:
    """To and fro by 1.3 m in 2 s, twice, with up to 6 m/s², in the middle of the motion."""
    sliding = 6.0, 10.0
    base = LeaningBase({"slide": Swing(1.3, 2.0, *sliding), "pitch": Swing(rest=0.2)})
    chain = make_chain()
    output = drive(chain, base)
    seconds = 1e-9 * (output.stamps - DEFAULT_START)
    moved = (seconds > sliding[0] + 0.2) & (seconds < sliding[1])
    assert moved.sum() < 0.05 * 200 * 4.0, "next to none, at the turning points of the acceleration"
    assert np.any(seconds > sliding[1] + 1.0), "and it goes on"
    assert abs(load_of(chain).values[0] - BAR[0]) < 0.01
    issue = issues_of(chain)["base_moves"]
    assert issue.level == "warning"
    assert issue.count > 600


def test_nothing_is_learnt_while_the_base_turns() -> None:
    base = LeaningBase({"yaw": Swing(3.0, 8.0, 6.0, 14.0)})
    chain = make_chain()
    output = drive(chain, base)
    seconds = 1e-9 * (output.stamps - DEFAULT_START)
    assert not np.any((seconds > 6.8) & (seconds < 9.5))
    assert "turns about the vertical" in issues_of(chain)["base_moves"].detail
    assert abs(load_of(chain).values[0] - BAR[0]) < 0.01


def test_an_offset_of_the_gyroscope_is_found() -> None:
    chain = make_chain()
    drive(chain, LeaningBase(LEANS, gyro_offset=0.02))
    assert abs(load_of(chain).values[0] - BAR[0]) < 0.015


def test_without_angular_velocities_a_fixed_tilt_is_found() -> None:
    chain = make_chain()
    drive(chain, LeaningBase({"pitch": Swing(rest=0.5)}, covariances=(-1.0, 0.0), gyro_offset=np.nan))
    assert abs(load_of(chain).values[0] - BAR[0]) < 0.01
    assert not issues_of(chain)


def test_an_imu_that_falls_silent_is_reported_and_nothing_is_learnt() -> None:
    base = LeaningBase(LEANS)
    chain = make_chain()
    output = drive(chain, base, imu=base.imu().take(slice(0, 1000)))
    assert output.stamps[-1] <= base.imu().stamps[1000]
    issue = issues_of(chain)["imu_stale"]
    assert issue.level == "error"
    assert "behind the wrench" in issue.detail


def test_no_imu_at_all_is_reported() -> None:
    base, chain = LeaningBase(LEANS, rounds=1), make_chain()
    chain.push(base.joints())
    chain.push(base.wrenches())
    assert chain.process() is None
    assert "none has come" in issues_of(chain)["imu_stale"].detail


@pytest.mark.parametrize(("frame", "said"), [("imu", "imu"), ("ft_sensor", "fixed to the root")])
def test_an_imu_that_is_not_on_the_base_is_refused(frame: str, said: str) -> None:
    base, chain = LeaningBase(LEANS, rounds=1, frame=frame), make_chain()
    for block in (base.joints(), base.imu(), base.wrenches()):
        chain.push(block)
    assert chain.process() is None
    assert said in issues_of(chain)["imu_frame"].detail


def test_unmeasured_accelerations_are_left_out() -> None:
    base, chain = LeaningBase(LEANS, rounds=1, covariances=(0.0, -1.0)), make_chain()
    chain.push(base.imu())
    assert issues_of(chain)["not_finite"].count == len(base.times)


def test_a_base_on_its_side_needs_another_gravity() -> None:
    base = LeaningBase({"roll": Swing(rest=1.5)}, rounds=1)
    chain = make_chain()
    for block in (base.joints(), base.imu(), base.wrenches()):
        chain.push(block)
    assert chain.process() is None
    assert "base_far" in issues_of(chain)
    told = make_chain(gravity=[0.0, -9.80665, 0.0])
    drive(told, base)
    assert not issues_of(told)
    assert abs(load_of(told).values[0] - BAR[0]) < 0.03


@pytest.mark.parametrize("seed", range(4))
def test_the_angles_turn_gravity_to_where_the_imu_has_it(seed: int) -> None:
    """Any attitude of the IMU in its frame, any direction of gravity, a base that turns in space for five seconds."""
    rng = np.random.default_rng(seed)
    robot, health = Robot.from_urdf(URDF), Health()
    gravity = rng.standard_normal(3)
    gravity *= 9.80665 / np.linalg.norm(gravity)
    rotation = robot.model.frames[robot.model.getFrameId("imu_link")].placement.rotation
    axis = np.cross(gravity, rng.standard_normal(3))  # the base does not turn about the vertical
    axis /= np.linalg.norm(axis)
    count, step = 1000, 0.005
    angles = 0.5 * (1.0 - np.cos(np.arange(count) * step))
    turned = [pin.exp3(axis * angle).T @ gravity for angle in angles.tolist()]
    speeds = 0.5 * np.sin(np.arange(count) * step)
    rates = [rotation.T @ (axis * speed) for speed in speeds.tolist()]
    stamps = np.round(1e9 * step * np.arange(1, count + 1)).astype(np.int64)
    block = ImuBlock("imu_link", stamps, -np.array(turned) @ rotation, np.array(rates), np.zeros((count, 2)))
    states = BaseTilt(robot, gravity, health).take(block)
    assert not health.items()
    np.testing.assert_allclose(turn(states.positions, gravity), turned, atol=1e-3)


def test_links_and_loads_by_efforts_refuse_gravity_that_turns() -> None:
    settings = Settings.from_flat({"gravity_source": "imu", "links.effort_unit": "newton_metre"})
    with pytest.raises(SettingError, match=r"gravity_source.*wrist sensor alone"):
        Chain(Robot.from_urdf(URDF), settings, Target.LINKS)
