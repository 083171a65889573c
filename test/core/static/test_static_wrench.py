"""Identification on a base sensor without gravity and offset: Liu's form, by what the sensor reads at rest."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.errors import RobotDescriptionError, SettingError
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.core.static.rest_poses import FAR, StaticWrench
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import Hold
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

URDF = share_path("urdf", "puma560.urdf").read_text()
ROBOT = Robot.from_urdf(URDF)
BIAS = np.array([30.0, -20.0, 50.0, 4.0, -8.0, 6.0])
SENSORS = SensorModel(
    joint_rate=200.0, wrench_rate=200.0, velocity_noise=1e-3, force_noise=0.5, torque_noise=0.1, bias=tuple(BIAS)
)
LIMITS = JointLimits(np.full(6, -1.2), np.full(6, 1.2), np.full(6, 3.0), np.full(6, 12.0))
MOTION = Multisine(LIMITS, period=12.0, harmonics=5, seed=5)


def simulate(motion: Multisine | Hold, seed: int) -> Simulator:
    return Simulator(URDF, "ft_sensor", motion, SENSORS, [], seed=seed)


def read_at_rest() -> StaticWrench:
    """Stop every 20 ms of the path, as the paper does at every sample."""
    poses = MOTION.at(np.arange(0.0, MOTION.duration, 0.02)).positions
    wrenches = [simulate(Hold(pose, 0.2), 7).base_wrenches(0.0, 0.2).wrenches.mean(axis=0) for pose in poses]
    return StaticWrench(ROBOT.joint_names, poses, np.array(wrenches))


def settings_for(static_file: str) -> Settings:
    return Settings.from_flat({"links.source": "base_wrench", "links.static_file": static_file})


def test_the_motion_alone_gives_the_links_without_knowing_gravity_or_offset() -> None:
    static = read_at_rest()
    order = np.roll(np.arange(6), 2)
    turned = StaticWrench(tuple(static.joint_names[k] for k in order), static.positions[:, order], static.wrenches)
    chain = Chain(ROBOT, settings_for("poses.yaml"), Target.LINKS, static=turned)
    simulator = simulate(MOTION, 3)
    chain.push(simulator.joints(0.0, MOTION.duration))
    chain.push(simulator.base_wrenches(0.0, MOTION.duration))
    output = chain.process()
    estimate = chain.estimate()
    assert output is not None
    assert isinstance(estimate, LinksEstimate)
    assert not any(name.startswith("base.") for name in estimate.base.names)
    deviations = np.sqrt(np.diag(estimate.covariance))
    errors = np.abs(estimate.values - estimate.model.prior)
    assert np.mean(errors < 2.0 * deviations) > 0.85
    assert np.all(errors < 6.0 * deviations)
    late = output.stamps > output.stamps[0] + 4_000_000_000
    left = output.measured[late] - output.predicted[late]
    assert np.sqrt(np.mean(left[:, :3] ** 2)) < 1.5
    np.testing.assert_allclose(output.measured.mean(axis=0)[2], BIAS[2] + 9.81 * 36.5, rtol=0.1)


def test_away_from_the_path_nothing_is_used() -> None:
    static = StaticWrench(ROBOT.joint_names, np.array([np.full(6, 3.0), np.full(6, 3.1)]), np.zeros((2, 6)))
    chain = Chain(ROBOT, settings_for("poses.yaml"), Target.LINKS, static=static)
    simulator = simulate(MOTION, 3)
    chain.push(simulator.joints(0.0, 2.0))
    chain.push(simulator.base_wrenches(0.0, 2.0))
    chain.process()
    estimate = chain.estimate()
    assert estimate is not None
    assert estimate.rows == 0
    assert estimate.fit is not None
    assert not estimate.fit.rows.any()
    assert "off_static_path" in [item.code for item in chain.health]


def interpolate(position: list[float]) -> tuple[FloatArray, bool]:
    poses = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]])
    static = StaticWrench(("a", "b"), poses, np.outer([0.0, 1.0, 3.0], np.ones(6)))
    wrenches, near = static.read(np.array([position]))
    return wrenches[0], bool(near[0])


@pytest.mark.parametrize(
    ("position", "expected", "near"),
    [([0.25, 0.0], 0.25, True), ([1.0, 1.0], 2.0, True), ([0.5, FAR + 0.01], 0.5, False), ([1.2, 2.3], 3.0, False)],
)
def test_between_poses_it_is_interpolated(position: list[float], expected: float, near: bool) -> None:
    wrench, is_near = interpolate(position)
    np.testing.assert_allclose(wrench, np.full(6, expected))
    assert is_near is near


def test_a_joint_that_was_not_recorded_is_named() -> None:
    static = StaticWrench(("joint1",), np.zeros((2, 1)), np.zeros((2, 6)))
    with pytest.raises(RobotDescriptionError, match="joint2"):
        static.in_order(("joint1", "joint2"))


def test_efforts_have_no_static_file() -> None:
    values = {"links.effort_unit": "newton_metre", "links.static_file": "poses.yaml"}
    with pytest.raises(SettingError, match=r"links\.static_file"):
        Chain(ROBOT, Settings.from_flat(values), Target.LINKS)
