"""True wrenches against pinocchio's inverse dynamics of a loaded robot, the momentum balance, and cases by hand."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from inertid_ros.core.errors import UnknownFrameError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose, to_pinocchio
from inertid_ros.core.robot.robot import Robot
from inertid_ros.motions.motion import Hold, JointPath, MinimumJerk
from inertid_ros.sim.arm import ArmDynamics, load_wrench, move_wrench_to_root

TILTED = np.array([1.2, -3.4, -9.0])
PENDULUM = """
<robot name="pendulum"><link name="base"/><link name="arm"/><link name="ft_sensor"/>
<joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="{axis}"/>
<limit lower="-9" upper="9" effort="9" velocity="9"/></joint>
<joint name="mount" type="fixed"><parent link="arm"/><child link="ft_sensor"/><origin xyz="0.5 0 0"/></joint></robot>
"""


def random_load(random: np.random.Generator) -> FloatArray:
    """A body that can exist."""
    spread = random.normal(0.0, 0.1, (3, 3))
    second_moment = spread @ spread.T
    inertia = np.trace(second_moment) * np.eye(3) - second_moment
    return compose(random.uniform(0.5, 3.0), random.normal(0.0, 0.1, 3), inertia)


def random_path(random: np.random.Generator, joints: int, count: int = 20) -> JointPath:
    """Positions, velocities and accelerations that need not belong together."""
    return JointPath(*random.normal(0.0, [[[1.0]], [[2.0]], [[5.0]]], (3, count, joints)))


def build_free(urdf: str, gravity: FloatArray) -> pin.Model:
    """The robot on a free root, with continuous joints as Robot has them."""
    limited = urdf.replace(
        'type="continuous">', 'type="revolute"><limit lower="-9" upper="9" effort="9" velocity="9"/>'
    )
    model = pin.buildModelFromXML(limited, pin.JointModelFreeFlyer())
    model.gravity.linear = gravity
    return model


def append_load(model: pin.Model, phi: FloatArray) -> None:
    """Fix a load to the sensor frame, for good."""
    frame = model.frames[model.getFrameId("ft_sensor")]
    model.appendBodyToJoint(frame.parentJoint, to_pinocchio(phi), frame.placement)


def test_load_wrench_is_what_the_load_adds_to_inverse_dynamics(any_urdf: str) -> None:
    random = np.random.default_rng(11)
    robot = Robot.from_urdf(any_urdf)
    phi = random_load(random)
    path = random_path(random, robot.model.nv)
    wrenches = load_wrench(ArmDynamics(robot, "ft_sensor", TILTED).move_sensor(path), phi)
    bare, loaded = robot.model.copy(), robot.model.copy()
    bare.gravity.linear = loaded.gravity.linear = TILTED
    append_load(loaded, phi)
    frame = bare.frames[bare.getFrameId("ft_sensor")]
    bare_data, loaded_data = bare.createData(), loaded.createData()
    for q, v, a, wrench in zip(*path, wrenches, strict=True):
        pin.rnea(bare, bare_data, q, v, a)
        pin.rnea(loaded, loaded_data, q, v, a)
        added = loaded_data.f[frame.parentJoint] - bare_data.f[frame.parentJoint]
        np.testing.assert_allclose(wrench, frame.placement.actInv(added).vector, rtol=1e-9, atol=1e-10)


def test_base_wrench_is_the_force_on_a_free_root(any_urdf: str) -> None:
    random = np.random.default_rng(12)
    robot = Robot.from_urdf(any_urdf)
    phi = random_load(random)
    path = random_path(random, robot.model.nv)
    arm = ArmDynamics(robot, "ft_sensor", TILTED)
    motion = arm.move_sensor(path)
    wrenches = arm.react_at_base(path) + move_wrench_to_root(motion, load_wrench(motion, phi))
    model = build_free(any_urdf, TILTED)
    append_load(model, phi)
    data = model.createData()
    at_rest = np.zeros(6)
    for q, v, a, wrench in zip(*path, wrenches, strict=True):
        placed = np.concatenate([pin.neutral(model)[:7], q])
        effort = pin.rnea(model, data, placed, np.concatenate([at_rest, v]), np.concatenate([at_rest, a]))
        np.testing.assert_allclose(wrench, effort[:6], rtol=1e-9, atol=1e-9)


def test_base_wrench_balances_momentum(any_urdf: str) -> None:
    """The rate of change of momentum about the root is the base wrench plus the weight."""
    random = np.random.default_rng(13)
    robot = Robot.from_urdf(any_urdf)
    move = MinimumJerk(random.normal(0.0, 1.0, (2, robot.model.nv)), [1.0])
    times = np.linspace(0.1, 0.9, 9)
    wrenches = ArmDynamics(robot, "ft_sensor", TILTED).react_at_base(move.at(times))
    model = build_free(any_urdf, TILTED)
    data = model.createData()

    def momentum(time: float) -> tuple[FloatArray, FloatArray]:
        path = move.at(np.array([time]))
        placed = np.concatenate([pin.neutral(model)[:7], path.positions[0]])
        about_center = pin.computeCentroidalMomentum(
            model, data, placed, np.concatenate([np.zeros(6), path.velocities[0]])
        )
        return pin.SE3(np.eye(3), data.com[0]).act(about_center).vector, data.com[0].copy()

    mass = pin.computeTotalMass(model)
    for time, wrench in zip(times, wrenches, strict=True):
        rate = (momentum(time + 1e-5)[0] - momentum(time - 1e-5)[0]) / 2e-5
        weight = np.concatenate([mass * TILTED, np.cross(momentum(time)[1], mass * TILTED)])
        np.testing.assert_allclose(wrench, rate - weight, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 2, -2.0])
def test_load_at_rest_is_held_against_gravity(angle: float) -> None:
    """Turned by an angle about y, up is (-sin, 0, cos) in the sensor's axes."""
    arm = ArmDynamics(Robot.from_urdf(PENDULUM.format(axis="0 1 0")), "ft_sensor", np.array([0.0, 0.0, -9.8]))
    motion = arm.move_sensor(Hold([angle]).at(np.zeros(1)))
    wrench = load_wrench(motion, compose(2.0, np.array([0.01, 0.02, 0.03]), np.diag([0.1, 0.1, 0.1])))[0]
    sine, cosine = np.sin(angle), np.cos(angle)
    np.testing.assert_allclose(wrench[:3], 19.6 * np.array([-sine, 0.0, cosine]), atol=1e-13)
    moment = 19.6 * np.array([0.02 * cosine, -0.03 * sine - 0.01 * cosine, 0.02 * sine])
    np.testing.assert_allclose(wrench[3:], moment, atol=1e-13)


def test_load_on_a_turning_arm_is_pulled_inwards_and_along() -> None:
    """About the vertical: m r w^2 inwards, m r w' forwards, (I + m d (d + 0.5)) w' about z, weight on z."""
    arm = ArmDynamics(Robot.from_urdf(PENDULUM.format(axis="0 0 1")), "ft_sensor", np.array([0.0, 0.0, -9.8]))
    mass, reach, moment, speed, gain = 2.0, 0.1, 0.03, 3.0, 7.0
    motion = arm.move_sensor(JointPath(np.array([[0.9]]), np.array([[speed]]), np.array([[gain]])))
    wrench = load_wrench(motion, compose(mass, np.array([reach, 0.0, 0.0]), np.diag([0.01, 0.02, moment])))[0]
    radius = 0.5 + reach
    force = [-mass * radius * speed**2, mass * radius * gain, mass * 9.8]
    torque = [0.0, -mass * 9.8 * reach, (moment + mass * reach * radius) * gain]
    np.testing.assert_allclose(wrench, [*force, *torque], atol=1e-12)


def test_unknown_frame_is_named_with_the_frames_there_are(puma_urdf: str) -> None:
    with pytest.raises(UnknownFrameError, match=r"'wrist'.*ft_sensor"):
        ArmDynamics(Robot.from_urdf(puma_urdf), "wrist", TILTED)
