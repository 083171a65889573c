"""How the sensor moves: its velocity and the gravity it feels, in its own axes, from joint positions and velocities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot import FramePath, rotation_to_vertical

_CHUNK = 256
"""So many samples have their rows prepared, since to make a view of a row costs as much as to copy it."""


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
    """Forward kinematics of one frame, sample by sample through pinocchio.

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
        self._coordinates = np.zeros((_CHUNK, 2, self._joints + 1))
        self._positions, self._velocities = self._coordinates[:, 0, :-1], self._coordinates[:, 1, :-1]
        self._motion = np.empty((_CHUNK, 9))
        self._rows = [(c[0], c[1], m[:6], m[6:]) for c, m in zip(self._coordinates, self._motion, strict=True)]
        self._q, self._v = self._coordinates[0]
        self._single_position, self._single_velocity = self._positions[:1], self._velocities[:1]

    def compute(self, positions: FloatArray, velocities: FloatArray) -> SensorMotion:
        """Velocity and gravity of the sensor for (N, n) joint positions and velocities."""
        count = len(positions)
        motion = np.empty((count, 9))
        for start in range(0, count, _CHUNK):
            part = slice(start, start + _CHUNK)
            motion[part] = self._compute_chunk(positions[part], velocities[part])
        motion[:, 6:] *= self._scale
        return SensorMotion(motion[:, :6], motion[:, 6:])

    def compute_one(self, position: FloatArray, velocity: FloatArray, twist: FloatArray, gravity: FloatArray) -> None:
        """The same for a single sample, (1, n) and (1, n), into (6,) and (3,)."""
        self._single_position[...] = position
        self._single_velocity[...] = velocity
        pin.forwardKinematics(self._model, self._data, self._q, self._v)
        twist[...] = self._twist
        np.multiply(self._vertical, self._scale, gravity)

    def _compute_chunk(self, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        """Twist and vertical side by side, (N, 9), for at most as many samples as have their rows prepared."""
        count = len(positions)
        self._positions[:count] = positions
        self._velocities[:count] = velocities
        forward, model, data = pin.forwardKinematics, self._model, self._data
        twist, vertical = self._twist, self._vertical
        for q, v, twist_row, vertical_row in self._rows[:count]:
            forward(model, data, q, v)
            twist_row[...] = twist
            vertical_row[...] = vertical
        return self._motion[:count]

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
