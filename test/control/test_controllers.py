"""Controllers against their equations, and on the arm whose model they have."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from computed_torque import ComputedTorque, Late, find_gravity
from support.chain import DDARM

from inertid_ros.control.controllers import Follower, Gains, PDController, Reference
from inertid_ros.control.inverse_model import InverseModel
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.motions.motion import JointPath, MinimumJerk, find_ends
from inertid_ros.motions.trajectory import sample_motion
from inertid_ros.sim.driven import Controller, Drive
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

ROBOT = Robot.from_urdf(DDARM)
DRIVELESS = {f"links.{name}": False for name in ("viscous", "coulomb", "rotor_inertia", "offset")}
MODEL = LinkModel.from_settings(ROBOT, Settings.from_flat(DRIVELESS), ROBOT.joint_names)
EXACT = InverseModel(MODEL, MODEL.prior)
MOVE = MinimumJerk([[1.0, 2.0, 0.5], [2.0, 1.0, 1.5]], [0.6])
GAINS = Gains.of_inertias(np.array([15.0, 1.0, 0.4]), 20.0, 1.0)
PERFECT = SensorModel(velocity_noise=0.0, effort_noise=0.0, joint_rate=1000.0)


def track(controller: Controller, rate: float = 1000.0) -> FloatArray:
    """Largest distance (3,) from the move [rad]."""
    drive = Drive(np.asarray(find_ends(MOVE)[0]), controller, rate)
    block = Simulator(DDARM, "ft_sensor", drive, PERFECT, start_stamp=0).joints(0.0, 0.8)
    return np.asarray(np.abs(block.positions - MOVE.at(block.stamps * 1e-9).positions).max(axis=0))


def test_gains_give_an_inertia_its_frequency_and_damping() -> None:
    gains = Gains.of_inertias(np.array([2.0]), 3.0, 0.5)
    roots = np.roots([2.0, gains.velocity[0], gains.position[0]])
    np.testing.assert_allclose(np.abs(roots), 3.0)
    np.testing.assert_allclose(-roots.real / np.abs(roots), 0.5)


@pytest.mark.parametrize("has_velocity_reference", [True, False])
def test_pd_control_is_the_equation(has_velocity_reference: bool) -> None:
    reference = Reference(MOVE, 100.0)
    forward = EXACT.efforts(reference.path)
    controller = PDController(reference, GAINS, forward, has_velocity_reference)
    q, v = np.array([1.1, 1.9, 0.7]), np.array([0.3, -0.2, 0.1])
    wanted = MOVE.at(np.array([0.25]))
    speed = wanted.velocities[0] if has_velocity_reference else np.zeros(3)
    expected = EXACT.efforts(wanted)[0] + GAINS.velocity * (speed - v) + GAINS.position * (wanted.positions[0] - q)
    np.testing.assert_allclose(controller.command(0.2549, q, v), expected)


def test_computed_torque_makes_errors_decay_as_it_was_told() -> None:
    """With an exact model, the acceleration is the desired one plus the gains times the errors."""
    reference = Reference(MOVE, 100.0)
    controller = ComputedTorque(reference, EXACT, 8.0, 0.7)
    q, v = np.array([1.1, 1.9, 0.7]), np.array([0.3, -0.2, 0.1])
    efforts = controller.command(0.25, q, v)
    wanted = MOVE.at(np.array([0.25]))
    acceleration = (
        wanted.accelerations[0] + 2.0 * 0.7 * 8.0 * (wanted.velocities[0] - v) + 64.0 * (wanted.positions[0] - q)
    )
    np.testing.assert_allclose(efforts, EXACT.efforts(JointPath(q[None], v[None], acceleration[None]))[0])


def test_the_exact_model_leaves_next_to_nothing() -> None:
    reference = Reference(MOVE, 1000.0)
    plain = track(PDController(reference, GAINS))
    forward = track(PDController(reference, GAINS, EXACT.efforts(reference.path)))
    computed = track(ComputedTorque(reference, EXACT, 20.0, 1.0))
    assert np.all(forward < 0.02 * plain)
    assert np.all(computed < 0.02 * plain)


def test_gravity_is_what_holds_the_poses() -> None:
    path = MOVE.at(np.linspace(0.0, 0.6, 5))
    model = ROBOT.model.copy()
    model.gravity.linear = np.array([0.0, 0.0, -9.80665])
    data = model.createData()
    expected = [pin.computeGeneralizedGravity(model, data, pose) for pose in path.positions]
    np.testing.assert_allclose(find_gravity(EXACT, path), expected, atol=1e-9)


def test_a_late_motion_is_where_it_was_before() -> None:
    late, times = Late(MOVE, 0.1), np.array([0.05, 0.3, 0.7])
    assert late.duration == pytest.approx(MOVE.duration + 0.1)
    for part, before in zip(late.at(times), MOVE.at(np.array([0.0, 0.2, 0.6])), strict=True):
        np.testing.assert_allclose(part, before)


def test_a_follower_holds_then_follows_with_the_efforts_fed_forward() -> None:
    follower = Follower(np.array([1.0, 2.0, 0.5]), GAINS, np.zeros(3))
    trajectory = sample_motion(MOVE, ROBOT.joint_names)
    filled = type(trajectory)(trajectory.joint_names, trajectory.times, trajectory.path, trajectory.path.positions)
    rest = np.zeros(3)
    np.testing.assert_allclose(follower.command(0.0, np.array([0.9, 2.0, 0.5]), rest), [0.1 * GAINS.position[0], 0, 0])
    follower.follow(filled, 1.0)
    np.testing.assert_allclose(follower.command(0.999, np.array([1.0, 2.0, 0.5]), rest), 0.0, atol=1e-9)
    wanted = MOVE.at(np.array([0.25]))
    efforts = follower.command(1.25, wanted.positions[0], wanted.velocities[0])
    np.testing.assert_allclose(efforts, wanted.positions[0], rtol=1e-3)
    # In the last pose, the last efforts are held.
    np.testing.assert_allclose(follower.command(9.0, np.array([2.0, 1.0, 1.5]), rest), [2.0, 1.0, 1.5])


def test_a_follower_obeys_efforts_until_they_cease_and_then_holds_its_pose() -> None:
    follower = Follower(np.zeros(3), GAINS, np.zeros(3))
    efforts, rest = np.array([1.0, 2.0, 3.0]), np.zeros(3)
    follower.push(efforts, 1.0)
    np.testing.assert_array_equal(follower.command(1.05, np.ones(3), np.ones(3)), efforts)
    np.testing.assert_allclose(follower.command(1.2, np.full(3, 0.7), rest), efforts)
    np.testing.assert_allclose(follower.command(1.3, np.full(3, 0.6), rest), efforts + 0.1 * GAINS.position)


def test_a_follower_refuses_a_trajectory_that_begins_elsewhere() -> None:
    follower = Follower(np.zeros(3), GAINS, np.zeros(3))
    with pytest.raises(SettingError, match="begins in"):
        follower.follow(sample_motion(MOVE, ROBOT.joint_names), 0.0)
