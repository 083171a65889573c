"""The load's equation against pinocchio: motion of the sensor on the whole robot, Newton-Euler of what it carries."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.random_robots import make_random_urdf

from inertid_ros.core.equations.equation import Equation
from inertid_ros.core.equations.load import REGRESSORS, attenuate, make_load_equation
from inertid_ros.core.equations.signals import LOAD_MOMENTA, LOAD_SIGNALS, MOMENTUM, REST, compute_signals
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose, to_pinocchio
from inertid_ros.core.robot.robot import FramePath, Robot

GRAVITY = np.array([1.0, -2.0, -9.5])


def compute(equation: Equation, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Momenta (6,) and rest (22,) of the sensor's frame."""
    x, at = equation.memory
    compute_signals(x, at, q, v, np.full_like(q, np.nan), False)
    return x[at[MOMENTUM] : at[MOMENTUM] + LOAD_MOMENTA], x[at[REST] : at[REST] + LOAD_SIGNALS]


def move_frame(robot: Robot, path: FramePath, *states: FloatArray) -> tuple[pin.SE3, pin.Motion, pin.Motion]:
    """Pose, and velocity and spatial acceleration in its own axes, of the sensor on the whole robot."""
    model, data = robot.model, robot.model.createData()
    frame = model.getFrameId("sensor")
    columns = [model.joints[model.getJointId(name)].idx_q for name in path.joint_names]
    q, v, a = pin.neutral(model), *np.zeros((2, model.nv))
    for whole, part in zip((q, v, a), states, strict=True):
        whole[columns] = part
    pin.forwardKinematics(model, data, q, v, a)
    pose = pin.updateFramePlacement(model, data, frame).copy()
    velocity = pin.getFrameVelocity(model, data, frame, pin.LOCAL)
    return pose, velocity, pin.getFrameAcceleration(model, data, frame, pin.LOCAL)


@pytest.mark.parametrize("seed", range(6))
def test_signals_are_the_twist_gravity_and_products_of_the_whole_robot(seed: int) -> None:
    robot = Robot.from_urdf(make_random_urdf(seed, 1 + seed))
    path = robot.path_to("sensor")
    equation = make_load_equation(path, GRAVITY)
    random = np.random.default_rng(seed)
    for _ in range(5):
        q, v = random.normal(size=(2, len(path.joint_names)))
        momentum, rest = compute(equation, q, v)
        pose, velocity, _ = move_frame(robot, path, q, v, 0.0 * q)
        np.testing.assert_allclose(momentum, velocity.vector, atol=1e-12)
        w = velocity.angular
        np.testing.assert_allclose(rest[:3], np.cross(w, velocity.linear), atol=1e-12)
        np.testing.assert_allclose(rest[3:6], 0.0, atol=0.0)
        np.testing.assert_allclose(rest[6:12], np.outer(w, w)[np.triu_indices(3)], atol=1e-12)
        assert rest[12] == 1.0
        np.testing.assert_allclose(rest[13:16], pose.rotation.T @ GRAVITY, atol=1e-12)
        tilts = pose.rotation @ rest[16:].reshape(2, 3).T
        np.testing.assert_allclose(tilts.T @ tilts, GRAVITY @ GRAVITY * np.eye(2), atol=1e-10)
        np.testing.assert_allclose(GRAVITY @ tilts, 0.0, atol=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_wrench_is_that_of_newton_and_euler_with_true_accelerations(seed: int) -> None:
    robot = Robot.from_urdf(make_random_urdf(seed, 1 + seed))
    path = robot.path_to("sensor")
    equation = make_load_equation(path, GRAVITY)
    random = np.random.default_rng(seed)
    shape = random.normal(size=(3, 3))
    phi = compose(random.uniform(0.1, 5.0), random.normal(size=3), shape @ shape.T + np.eye(3))
    bias = random.normal(size=6)
    states = random.normal(size=(3, 20, len(path.joint_names)))
    found = equation.assemble(equation.compute(*states)) @ np.concatenate((phi, bias))
    inertia = to_pinocchio(phi)
    for wrench, q, v, a in zip(found, *states, strict=True):
        pose, velocity, acceleration = move_frame(robot, path, q, v, a)
        proper = pin.Motion(acceleration.linear - pose.rotation.T @ GRAVITY, acceleration.angular)
        expected = (inertia * proper + velocity.cross(inertia * velocity)).vector + bias
        np.testing.assert_allclose(wrench, expected, rtol=1e-10, atol=1e-10)


def test_accelerations_are_the_rate_of_the_momenta() -> None:
    """All of d/dt P + R against a central difference of P along a motion with true accelerations."""
    path = Robot.from_urdf(make_random_urdf(7, 6)).path_to("sensor")
    equation = make_load_equation(path, GRAVITY)
    random = np.random.default_rng(7)
    q, v, a = random.normal(size=(3, 6))
    step = 1e-5
    ahead, behind = (compute(equation, q + s * v + 0.5 * s**2 * a, v + s * a)[0] for s in (step, -step))
    expected = compute(equation, q, v)[1]
    expected[:6] += (ahead - behind) / (2.0 * step)
    np.testing.assert_allclose(equation.compute(q[None], v[None], a[None])[0], expected, atol=1e-6)


def test_bodies_regressor_is_pinocchio_s() -> None:
    """Features of any twist and acceleration, not only of those that a robot has."""
    random = np.random.default_rng(9)
    twist, spatial = pin.Motion(random.normal(size=6)), pin.Motion(random.normal(size=6))
    w = twist.angular
    linear = spatial.linear + np.cross(w, twist.linear)
    features = np.concatenate((linear, spatial.angular, np.outer(w, w)[np.triu_indices(3)], [1.0]))
    expected = pin.bodyRegressor(twist, spatial)[:, [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]
    found = np.tensordot(features, REGRESSORS, 1)
    np.testing.assert_allclose(found[:, :10], expected, atol=1e-13)
    np.testing.assert_array_equal(found[:, 10:], np.eye(6))


def test_noise_of_accelerations_adds_what_their_squares_average_to() -> None:
    """Isotropic noise of variance s² per axis adds s² (sum over axes) of squared entries; 2/3 may be in one axis."""
    random = np.random.default_rng(3)
    noise = random.normal(size=(20000, 6)) * np.repeat([0.2, 0.5], 3)
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    rows = np.tensordot(noise, REGRESSORS[:6], 1)
    measured = np.einsum("nku,k,nku->u", rows, weights, rows) / len(noise)
    linear, angular = 3 * 0.2**2 * weights, 3 * 0.5**2 * weights
    np.testing.assert_allclose(attenuate(linear, angular), 2.0 * measured, rtol=0.05, atol=1e-12)
