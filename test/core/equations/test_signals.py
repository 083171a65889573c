"""The arm's equations without accelerations, against pinocchio with true accelerations."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from inertid_ros.core.equations.arm_regressor import ArmRegressor
from support.random_robots import make_random_tree

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose, to_pinocchio
from inertid_ros.core.robot.arm import ArmModel
from inertid_ros.core.robot.robot import Robot
from inertid_ros.motions.motion import MinimumJerk
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

GRAVITY = np.array([2.0, -3.0, -9.0])
STEP = 1e-6


def compute(regressor: ArmRegressor, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    momentum, rest = np.empty((2, len(q), len(regressor.rows)))
    regressor.compute(q, v, momentum, rest)
    return momentum, rest


def make_tree(seed: int) -> tuple[ArmModel, FloatArray]:
    """A tree of 1 to 9 joints with random bodies, and their parameters."""
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(seed, 1 + seed % 9)), GRAVITY)
    random = np.random.default_rng(seed)
    bodies = []
    for index in range(1, arm.model.njoints):
        factor = random.normal(size=(3, 3))
        bodies.append(compose(random.uniform(1.0, 9.0), random.normal(size=3), factor @ factor.T))
        arm.model.inertias[index] = to_pinocchio(bodies[-1])
    return arm, np.concatenate(bodies)


def spread(regressor: ArmRegressor, entries: FloatArray, parameters: FloatArray) -> FloatArray:
    """Entries (N, E) times parameters, in their equations (N, K)."""
    products = entries * parameters[regressor.columns]
    return np.stack([products[:, regressor.rows == k].sum(axis=1) for k in range(regressor.channels)], axis=1)


@pytest.mark.parametrize("seed", range(10))
def test_rate_of_momentum_plus_rest_is_inverse_dynamics(seed: int) -> None:
    """d/dt (P phi) by a difference along a motion with true accelerations; rnea knows of neither P nor R."""
    arm, parameters = make_tree(seed)
    n = len(arm.joint_names)
    random = np.random.default_rng(100 + seed)
    q, v, a = random.uniform(-2.0, 2.0, (3, 20, n))
    pose = pin.SE3(pin.exp3(random.normal(size=3)), random.normal(size=3))
    efforts, wrenches = _by_rnea(arm, q, v, a, pose)
    expected = {"effort": efforts, "base_wrench": wrenches, "both": np.hstack((wrenches, efforts))}
    for source, truth in expected.items():
        regressor = ArmRegressor(arm, source, pose)
        ahead, behind = (compute(regressor, q + s * v + 0.5 * s**2 * a, v + s * a)[0] for s in (STEP, -STEP))
        rest = compute(regressor, q, v)[1]
        found = spread(regressor, (ahead - behind) / (2.0 * STEP) + rest, parameters)
        np.testing.assert_allclose(found, truth, atol=1e-6 * np.abs(truth).max())
        plain = regressor.with_accelerations(q, v, a) @ parameters
        np.testing.assert_allclose(plain, truth, atol=1e-9 * np.abs(truth).max())


def _by_rnea(
    arm: ArmModel, q: FloatArray, v: FloatArray, a: FloatArray, pose: pin.SE3
) -> tuple[FloatArray, FloatArray]:
    """Efforts (N, n), and wrenches (N, 6) in the base sensor's frame: the sum of the forces on all root bodies."""
    data = arm.model.createData()
    roots = [index for index in range(1, arm.model.njoints) if arm.model.parents[index] == 0]
    efforts, wrenches = [], []
    for state in zip(q, v, a, strict=True):
        efforts.append(np.array(pin.rnea(arm.model, data, *state)))
        total = sum((data.liMi[index].act(data.f[index]) for index in roots), pin.Force.Zero())
        wrenches.append(pose.actInv(total).vector)
    return np.array(efforts), np.array(wrenches)


@pytest.mark.parametrize("seed", [2, 5, 8])
def test_base_wrench_is_the_one_that_the_simulator_measures(seed: int) -> None:
    urdf = make_random_tree(seed, 1 + seed % 9)
    arm = ArmModel.of(Robot.from_urdf(urdf), GRAVITY)
    poses = np.random.default_rng(seed).normal(size=(2, len(arm.joint_names)))
    motion = MinimumJerk(poses, [1.0])
    simulator = Simulator(urdf, arm.link_names[-1], motion, SensorModel(effort_noise=0.0), gravity=GRAVITY)
    path = motion.at(np.arange(200) / 200.0)
    found = ArmRegressor(arm, "both").with_accelerations(*path) @ arm.parameters
    efforts = simulator.joints(0.0, 1.0).efforts
    assert efforts is not None
    np.testing.assert_allclose(found[:, :6], simulator.base_wrenches(0.0, 1.0).wrenches, atol=1e-8)
    np.testing.assert_allclose(found[:, 6:], efforts, atol=1e-8)


def test_only_wanted_columns_that_have_an_effect_are_kept() -> None:
    arm, parameters = make_tree(6)
    everything, some = ArmRegressor(arm, "effort"), ArmRegressor(arm, "effort", columns=np.array([4, 33, 61]))
    assert set(some.columns.tolist()) <= {4, 33, 61}
    q, v = np.random.default_rng(0).normal(size=(2, 5, len(arm.joint_names)))
    only = np.zeros_like(parameters)
    only[[4, 33, 61]] = parameters[[4, 33, 61]]
    for left, right in zip(compute(some, q, v), compute(everything, q, v), strict=True):
        np.testing.assert_allclose(spread(some, left, only), spread(everything, right, only), atol=1e-9)
    later = everything.columns // 10 < 3
    assert not np.any(later & (everything.rows > 3)), "a joint after the third feels nothing of the first three links"
