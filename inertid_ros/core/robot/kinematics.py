"""How the sensor moves: its velocity and the gravity it feels, in its own axes, from joint positions and velocities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.chain_of_turns import ChainOfTurns
from inertid_ros.core.robot.robot import FramePath, rotation_to_vertical


class SensorMotion(NamedTuple):
    """Motion of the sensor frame in its own axes, time first.

    Attributes:
        twist: (N, 6) velocity of the origin [m/s], then angular velocity [rad/s].
        gravity: (N, 3) gravity [m/s^2].
    """

    twist: FloatArray
    gravity: FloatArray


class SensorAcceleration(NamedTuple):
    """The same with the acceleration of the origin [m/s^2] (classical), then the angular one [rad/s^2], (N, 6)."""

    twist: FloatArray
    gravity: FloatArray
    acceleration: FloatArray


class SensorKinematics:
    """Forward kinematics of one frame: single samples through pinocchio, many at once through `ChainOfTurns`.

    The model is turned so that its z axis is opposite to gravity: the last row of the sensor's rotation matrix, times
    -|g|, is then gravity in the sensor frame. The arrays that pinocchio computes into are held as views, so a sample
    costs one call.
    """

    def __init__(self, path: FramePath, gravity: FloatArray) -> None:
        """Build the model of the way to the frame for a gravity vector given in the URDF's root frame."""
        self._model = path.model.copy()
        upright = pin.SE3(rotation_to_vertical(gravity), np.zeros(3))
        for index in range(1, self._model.njoints):
            if self._model.parents[index] == 0:
                self._model.jointPlacements[index] = upright * self._model.jointPlacements[index]
        self._data = self._model.createData()
        self._joints = len(path.joint_names)
        self._scale = np.full(3, -np.linalg.norm(gravity))
        last = self._model.njoints - 1
        self._vertical = self._data.oMi[last].rotation[2]
        self._twist = self._data.v[last].vector
        self._spatial_acceleration = self._data.a[last].vector
        self._chain = ChainOfTurns(self._model, path.is_angle)
        self._q, self._v = np.zeros((2, self._joints + 1))
        self._single_position, self._single_velocity = self._q[None, :-1], self._v[None, :-1]

    def compute(self, positions: FloatArray, velocities: FloatArray) -> SensorMotion:
        """Velocity and gravity of the sensor for (N, n) joint positions and velocities."""
        motion = self._chain.compute(positions, velocities)
        motion[6:] *= self._scale[:, None]
        return SensorMotion(motion[:6].T, motion[6:].T)

    def compute_one(self, position: FloatArray, velocity: FloatArray, twist: FloatArray, gravity: FloatArray) -> None:
        """The same for a single sample, (1, n) and (1, n), into (6,) and (3,)."""
        self._single_position[...] = position
        self._single_velocity[...] = velocity
        pin.forwardKinematics(self._model, self._data, self._q, self._v)
        twist[...] = self._twist
        np.multiply(self._vertical, self._scale, gravity)

    def compute_with_accelerations(
        self, positions: FloatArray, velocities: FloatArray, accelerations: FloatArray
    ) -> SensorAcceleration:
        """The same with the sensor's accelerations, for (N, n) joint accelerations."""
        count = len(positions)
        coordinates = np.zeros((3, count, self._joints + 1))
        coordinates[:, :, :-1] = positions, velocities, accelerations
        twist, acceleration, gravity = np.empty((count, 6)), np.empty((count, 6)), np.empty((count, 3))
        for i in range(count):
            pin.forwardKinematics(self._model, self._data, *coordinates[:, i])
            twist[i] = self._twist
            acceleration[i] = self._spatial_acceleration
            gravity[i] = self._vertical
        gravity *= self._scale
        acceleration[:, :3] += np.cross(twist[:, 3:], twist[:, :3])
        return SensorAcceleration(twist, gravity, acceleration)
