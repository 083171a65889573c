"""The sensor's motion against pinocchio on the whole robot, and against finite differences."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from inertid_ros.core.robot.kinematics import SensorKinematics
from support.random_robots import make_random_urdf

from inertid_ros.core.robot.robot import Robot

GRAVITY = np.array([1.0, -2.0, -9.5])


@pytest.mark.parametrize("seed", range(6))
def test_velocity_and_gravity_agree_with_pinocchio_on_the_whole_robot(seed: int) -> None:
    robot = Robot.from_urdf(make_random_urdf(seed, 1 + seed))
    path = robot.path_to("sensor")
    rng = np.random.default_rng(seed)
    n = len(path.joint_names)
    positions, velocities = rng.normal(size=(5, n)), rng.normal(size=(5, n))
    motion = SensorKinematics(path, GRAVITY).compute(positions, velocities)
    model, data = robot.model, robot.model.createData()
    frame = model.getFrameId("sensor")
    columns = [model.joints[model.getJointId(name)].idx_q for name in path.joint_names]
    for index in range(5):
        q, v = pin.neutral(model), np.zeros(model.nv)
        q[columns], v[columns] = positions[index], velocities[index]
        pin.forwardKinematics(model, data, q, v)
        placement = pin.updateFramePlacement(model, data, frame)
        expected = pin.getFrameVelocity(model, data, frame, pin.LOCAL).vector
        np.testing.assert_allclose(motion.twist[index], expected, atol=1e-12)
        np.testing.assert_allclose(motion.gravity[index], placement.rotation.T @ GRAVITY, atol=1e-12)


def test_accelerations_are_the_derivatives_of_the_velocity_in_space() -> None:
    """Classical acceleration in sensor axes, by central differences of the velocity in fixed axes."""
    path = Robot.from_urdf(make_random_urdf(7, 6)).path_to("sensor")
    kinematics = SensorKinematics(path, GRAVITY)
    rng = np.random.default_rng(7)
    start, rate, bend = rng.normal(size=(3, 6))
    step = 1e-5
    times = np.array([-step, 0.0, step])[:, None]
    positions = start + rate * times + 0.5 * bend * times**2
    velocities = rate + bend * times
    motion = kinematics.compute_with_accelerations(positions, velocities, np.tile(bend, (3, 1)))
    data = path.model.createData()
    rotations = []
    for q in positions:
        pin.forwardKinematics(path.model, data, np.append(q, 0.0))
        rotations.append(data.oMi[path.model.njoints - 1].rotation.copy())
    for part in (slice(0, 3), slice(3, 6)):
        fixed = [rotation @ twist[part] for rotation, twist in zip(rotations, motion.twist, strict=True)]
        derivative = rotations[1].T @ (fixed[2] - fixed[0]) / (2.0 * step)
        np.testing.assert_allclose(motion.acceleration[1, part], derivative, atol=1e-6)
