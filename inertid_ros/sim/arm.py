"""A simulated arm: how it differs from its URDF, and its true wrenches and efforts, after Newton and Euler.

Its true links may be those that the 1986 paper estimated, and its drives have friction, rotors and offsets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import SettingError, UnknownFrameError, UnsupportedJointError
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.inertial import INERTIA_INDEX, PARAMETER_NAMES, from_pinocchio, to_pinocchio
from inertid_ros.core.robot.robot import Robot
from inertid_ros.motions.motion import JointPath

PerJoint = float | Sequence[float] | FloatArray


def spread_over_joints(name: str, values: PerJoint, count: int) -> FloatArray:
    """Return one number for each joint, (count,), or raise SettingError naming what was given."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape not in ((), (1,), (count,)):
        raise SettingError(name, values, f"one number, or one for each of the {count} joints")
    return np.broadcast_to(numbers, count).copy()


@dataclass(frozen=True, slots=True, eq=False)
class JointFriction:
    """Constants of the drives, each one number for all joints or one for each; the default is an ideal drive.

    Attributes:
        viscous_friction: effort for each unit of velocity, Nm s/rad or N s/m.
        coulomb_friction: effort against the direction of motion, none at rest, Nm or N.
        rotor_inertia: of the motor as seen at the joint, kg m^2 or kg.
        effort_offset: always there, of either sign, Nm or N.
    """

    viscous_friction: PerJoint = 0.0
    coulomb_friction: PerJoint = 0.0
    rotor_inertia: PerJoint = 0.0
    effort_offset: PerJoint = 0.0

    def __post_init__(self) -> None:
        """Reject what no drive can be."""
        for field in fields(self):
            values = np.asarray(getattr(self, field.name))
            if not np.all(np.isfinite(values)) or (field.name != "effort_offset" and np.any(values < 0.0)):
                expected = "finite numbers" if field.name == "effort_offset" else "finite numbers of 0 or more"
                raise SettingError(field.name, getattr(self, field.name), expected)

    def for_joints(self, count: int) -> JointFriction:
        """Return the same with one number for each joint; SettingError if there are others than that."""
        return JointFriction(
            *(spread_over_joints(field.name, getattr(self, field.name), count) for field in fields(self))
        )

    def efforts(self, path: JointPath) -> FloatArray:
        """Compute what the motors need on top of what the links do, (N, n).

        tau = J a + d v + c sign(v) + o,    with rotor inertia J, viscous d, Coulomb c and offset o
        """
        result: FloatArray = (
            np.multiply(self.rotor_inertia, path.accelerations)
            + np.multiply(self.viscous_friction, path.velocities)
            + np.multiply(self.coulomb_friction, np.sign(path.velocities))
            + np.asarray(self.effort_offset)
        )
        return result


def links_of(robot: Robot) -> FloatArray:
    """Return phi (n, 10) of what each joint moves before the next one, in the frame of the joint."""
    return np.array([from_pinocchio(inertia) for inertia in list(robot.model.inertias)[1:]])


def with_links(robot: Robot, links: FloatArray) -> Robot:
    """Return a robot that is the same but for its moving links, phi (n, 10) in the frames of the joints.

    Links that are fixed to each other are one, as in `links_of`. What does not move stays as it is.
    """
    model = robot.model.copy()
    for joint, phi in enumerate(links, start=1):
        model.inertias[joint] = to_pinocchio(phi)
    return Robot(model)


ESTIMATED = (
    ({"mcx2": 1.0}, -0.1591),
    ({"Ixy2": 1.0}, 0.3894),
    ({"Ixz2": 1.0}, 0.0118),
    ({"mcx3": 1.0}, 0.4676),
    ({"mcy3": 1.0}, 0.0315),
    ({"Ixy3": 1.0}, -0.0256),
    ({"Ixz3": 1.0}, 0.0143),
    ({"Iyz3": 1.0}, -0.0160),
    ({"Izz3": 1.0}, 0.3568),
    ({"mcz3": 0.45, "Iyz2": 1.0}, -1.0589),
    ({"Ixx3": 1.0, "Iyy3": -1.0}, -0.3691),
    ({"Izz2": 1.0, "Ixx3": 1.0}, 0.7082),
    ({"Izz1": 1.0, "Ixx2": 1.0, "Ixx3": 1.0, "m3": 0.2025}, 15.4029),
    ({"Ixx2": 1.0, "Ixx3": 1.0, "Iyy2": -1.0}, 0.4709),
    ({"mcz3": 1.0, "mcy2": -1.0}, -1.6863),
)
"""What can be identified of the arm: nine parameters on their own, and six combinations. The fourth of these is that of
table 4; table 5 misprints it as 15.7029."""


def paper_ddarm_links(modelled: FloatArray) -> FloatArray:
    """Return links phi (3, 10) with the paper's estimates, in all else as near as can be to the modelled ones (3, 10).

    Link 2 is not physically consistent, nor is any other with these estimates. Its motion can be computed nevertheless.
    """
    rows = np.zeros((len(ESTIMATED), 30))
    for row, (terms, _) in zip(rows, ESTIMATED, strict=True):
        for name, factor in terms.items():
            row[10 * (int(name[-1]) - 1) + PARAMETER_NAMES.index(name[:-1])] = factor
    missing = np.array([value for _, value in ESTIMATED]) - rows @ modelled.ravel()
    return np.asarray(modelled + (np.linalg.pinv(rows) @ missing).reshape(3, 10))


class FrameMotion(NamedTuple):
    """Motion of the sensor frame at N times; vectors are in its own axes unless said otherwise.

    Attributes:
        rotation: (N, 3, 3) its axes in the root frame.
        position: (N, 3) its origin in the root frame, m.
        angular_velocity: (N, 3) rad/s.
        angular_acceleration: (N, 3) rad/s^2.
        proper_acceleration: (N, 3) acceleration of the origin minus gravity, m/s^2.
    """

    rotation: FloatArray
    position: FloatArray
    angular_velocity: FloatArray
    angular_acceleration: FloatArray
    proper_acceleration: FloatArray

    def take(self, rows: slice | IntArray) -> FrameMotion:
        """Return the motion at some of the times, by slice or by index."""
        return FrameMotion(*(part[rows] for part in self))


class ArmDynamics:
    """An arm as pinocchio models it, with a joint added that is never moved and whose frame is the sensor's."""

    def __init__(self, robot: Robot, sensor_frame: str, gravity: FloatArray) -> None:
        """Take a robot with n joints of one coordinate each, a frame of it, and gravity (3,) in the root frame, m/s^2.

        UnknownFrameError if the robot has no such frame, UnsupportedJointError if a joint has several coordinates.
        """
        if sensor_frame not in robot.frame_names:
            raise UnknownFrameError(sensor_frame, robot.frame_names)
        if robot.model.nq != robot.model.nv or robot.model.nv != robot.model.njoints - 1:
            raise UnsupportedJointError("the robot has joints with several coordinates: they cannot be simulated")
        self.joint_names = robot.joint_names
        self._gravity = np.array(gravity, dtype=np.float64)
        self._model = robot.model.copy()
        frame = self._model.frames[self._model.getFrameId(sensor_frame)]
        self._sensor = self._model.addJoint(frame.parentJoint, pin.JointModelRX(), frame.placement, "sensor")
        self._model.gravity.linear = self._gravity
        self._data = self._model.createData()

    def move_sensor(self, path: JointPath) -> FrameMotion:
        """Compute how the sensor moves on a joint path of N times."""
        count = len(path.positions)
        coordinates = _coordinates(path)
        rotation, position = np.empty((count, 3, 3)), np.empty((count, 3))
        velocity, acceleration = np.empty((count, 6)), np.empty((count, 6))
        model, data, forward_kinematics = self._model, self._data, pin.forwardKinematics
        placement = data.oMi[self._sensor]
        views = placement.rotation, placement.translation, data.v[self._sensor].vector, data.a[self._sensor].vector
        for i in range(count):
            forward_kinematics(model, data, *coordinates[i])
            rotation[i], position[i], velocity[i], acceleration[i] = views
        omega = velocity[:, 3:]
        gravity = np.einsum("nij,i->nj", rotation, self._gravity)
        proper = acceleration[:, :3] + _cross(omega, velocity[:, :3]) - gravity
        return FrameMotion(rotation, position, omega, acceleration[:, 3:], proper)

    def drive(self, path: JointPath, held: FloatArray) -> FloatArray:
        """Compute the efforts (N, n) that move the arm while the sensor exerts wrenches (N, 6) on what it holds."""
        model, data, inverse_dynamics = self._model, self._data, pin.rnea
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero()] * model.njoints)
        on_sensor = forces[self._sensor].vector
        efforts = np.empty((len(path.positions), model.nv))
        for i, coordinates in enumerate(_coordinates(path)):
            on_sensor[:] = -held[i]
            efforts[i] = inverse_dynamics(model, data, *coordinates, forces)
        return efforts[:, :-1]

    def react_at_base(self, path: JointPath) -> FloatArray:
        """Compute the wrench (N, 6) that holds the bare arm, about the origin and in the axes of the root frame.

        It is what the ground exerts on the root link: the rate of change of the momentum of all links minus their
        weights, that of the root link among them. What happens inside a joint does not enter.
        """
        model, data, inverse_dynamics = self._model, self._data, pin.rnea
        roots = [(data.liMi[joint], data.f[joint]) for joint in range(1, model.njoints) if model.parents[joint] == 0]
        fixed = (model.inertias[0] * pin.Motion(-self._gravity, np.zeros(3))).vector
        result = np.tile(fixed, (len(path.positions), 1))
        for i, coordinates in enumerate(_coordinates(path)):
            inverse_dynamics(model, data, *coordinates)
            for placement, force in roots:
                result[i] += placement.act(force).vector
        return result


def _coordinates(path: JointPath) -> FloatArray:
    """Positions, velocities and accelerations (N, 3, n + 1) of all joints, the last of which is the sensor's."""
    return np.pad(np.stack(path, axis=1), ((0, 0), (0, 0), (0, 1)))


def load_wrench(motion: FrameMotion, phi: FloatArray) -> FloatArray:
    """Compute the wrench (N, 6) that the sensor exerts on a load phi (10,) fixed to its frame, in that frame.

    With a the acceleration of the origin minus gravity, s = m c and I about the origin:

        f = m a + w' x s + w x (w x s),    n = I w' + w x I w + s x a
    """
    mass, moment, inertia = phi[0], phi[1:4], phi[INERTIA_INDEX]
    omega, omega_rate, proper = motion.angular_velocity, motion.angular_acceleration, motion.proper_acceleration
    force = mass * proper + _cross(omega_rate, moment) + _cross(omega, _cross(omega, moment))
    spin = np.einsum("ij,nj->ni", inertia, omega)
    torque = np.einsum("ij,nj->ni", inertia, omega_rate) + _cross(omega, spin) + _cross(moment, proper)
    return np.concatenate([force, torque], axis=1)


def move_wrench_to_root(motion: FrameMotion, wrenches: FloatArray) -> FloatArray:
    """Express wrenches (N, 6) given in the sensor frame about the origin and in the axes of the root frame."""
    force = np.einsum("nij,nj->ni", motion.rotation, wrenches[:, :3])
    torque = np.einsum("nij,nj->ni", motion.rotation, wrenches[:, 3:]) + _cross(motion.position, force)
    return np.concatenate([force, torque], axis=1)


def _cross(left: FloatArray, right: FloatArray) -> FloatArray:
    """Cross product along the last axis, several times faster than numpy's on small arrays."""
    x, y, z = left[..., 0], left[..., 1], left[..., 2]
    u, v, w = right[..., 0], right[..., 1], right[..., 2]
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)
