"""The simulated regressor against pinocchio's inverse dynamics, and right angles that are written with few digits."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from inertid_ros.core.equations.simulated_regressor import draw_states, simulate_regressor, square_up
from support.random_robots import make_chain, make_random_tree

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose, to_pinocchio
from inertid_ros.core.robot.arm import ArmModel
from inertid_ros.core.robot.robot import Robot

GRAVITY = np.array([2.0, -3.0, -9.0])


def give_random_bodies(arm: ArmModel, seed: int) -> FloatArray:
    """Put random bodies on the links of an arm; returns their parameters."""
    random = np.random.default_rng(seed)
    bodies = []
    for index in range(1, arm.model.njoints):
        factor = random.normal(size=(3, 3))
        bodies.append(compose(random.uniform(1.0, 9.0), random.normal(size=3), factor @ factor.T))
        arm.model.inertias[index] = to_pinocchio(bodies[-1])
    return np.concatenate(bodies)


def sum_at_root(model: pin.Model, data: pin.Data) -> FloatArray:
    """What the base exerts on all joints that start there, about the root's origin, after a call of rnea."""
    roots = [index for index in range(1, model.njoints) if model.parents[index] == 0]
    return np.asarray(np.sum([data.liMi[index].act(data.f[index]).vector for index in roots], axis=0))


@pytest.mark.parametrize("seed", range(10))
def test_regressor_times_parameters_is_what_inverse_dynamics_says(seed: int) -> None:
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(seed, 1 + seed % 9)), GRAVITY)
    parameters = give_random_bodies(arm, seed)
    states = draw_states(arm, count=20, seed=seed)
    data = arm.model.createData()
    torques, wrenches = [], []
    for q, v, a in zip(*states, strict=True):
        torques.append(np.array(pin.rnea(arm.model, data, q, v, a)))
        wrenches.append(sum_at_root(arm.model, data))
    for source, expected in (
        ("effort", np.array(torques)),
        ("base_wrench", np.array(wrenches)),
        ("both", np.hstack((wrenches, torques))),
    ):
        predicted = simulate_regressor(arm, source, states) @ parameters
        np.testing.assert_allclose(predicted, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_states_are_those_of_the_seed_and_reach_everywhere() -> None:
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(0, 5)), GRAVITY)
    first, again, other = (draw_states(arm, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.positions, again.positions)
    assert np.all(first.positions != other.positions)
    reaches = (np.where(arm.is_angle, np.pi, 1.0), np.full(5, 3.0), np.full(5, 9.0))
    for values, reach in zip(first, reaches, strict=True):
        assert np.all(np.abs(values).max(axis=0) > 0.95 * reach)


def test_right_angles_are_made_exact_and_others_left_alone() -> None:
    chain = [
        ("revolute", (0.0, 0.0, 0.1), (3.1416, 0.0, 0.0)),
        ("revolute", (0.2, 0.0, 0.3), (1.5708, 0.0, 0.3)),
        ("revolute", (0.2, 0.0, 0.3), (0.1, 1.57, 0.0)),
    ]
    model = Robot.from_urdf(make_chain(chain)).model
    before = [placement.rotation.copy() for placement in model.jointPlacements]
    first, second, third = (placement.rotation for placement in list(square_up(model).jointPlacements)[1:])
    np.testing.assert_array_equal(first, np.diag([1.0, -1.0, -1.0]))
    np.testing.assert_array_equal(second == 0.0, [[False, True, False], [False, True, False], [True, False, True]])
    np.testing.assert_allclose(second, before[2], atol=5e-6)
    np.testing.assert_allclose(third, before[3], atol=1e-15)
    np.testing.assert_array_equal(model.jointPlacements[1].rotation, before[1])
