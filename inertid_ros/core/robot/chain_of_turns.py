"""Velocity and direction of the vertical at the end of a chain of joints, for many samples at once.

All joint frames are turned so that their axes are z. From one to the next, the velocity v, the angular velocity w and
the vertical u, each in the frame's own axes, go through a constant matrix and then through the joint. With R, p the
pose of the next frame in the last one and q the joint's coordinate:

    w' = R^T w,  v' = R^T (v + w x p),  u' = R^T u      then, for an angle,  x'' = c x' + s y',  y'' = c y' - s x'
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from inertid_ros.core.records import FloatArray

_BY_AXIS = np.arange(9).reshape(3, 3).T.ravel()
"""Where v, w and u by their x, y and z components are among the components of v, w and u."""


class ChainOfTurns:
    """The constant matrices of a chain of joints with one coordinate each."""

    def __init__(self, model: pin.Model, is_angle: tuple[bool, ...]) -> None:
        """Read a chain off a model in which each joint is moved by the one before; its last joint is never moved."""
        self._is_angle = is_angle
        self._matrices: list[FloatArray] = []
        before: FloatArray = np.eye(3)
        for index, axis in enumerate(_list_axes(model, is_angle), start=1):
            turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).matrix()
            matrix = _carry(model.jointPlacements[index], before, turn)
            self._matrices.append(matrix[np.ix_(_BY_AXIS, _BY_AXIS)])
            before = turn
        self._last = _carry(model.jointPlacements[model.njoints - 1], before, np.eye(3))[:, _BY_AXIS]

    def compute(self, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        """Velocity, angular velocity and vertical (9, N) at the end, for (N, n) joint positions and velocities."""
        coordinates, rates = np.ascontiguousarray(positions.T), np.ascontiguousarray(velocities.T)
        sines, cosines = np.sin(coordinates), np.cos(coordinates)
        state = np.zeros((9, len(positions)))
        state[8] = 1.0
        for joint, matrix in enumerate(self._matrices):
            state = matrix.dot(state)
            x, y, z = state[:3], state[3:6], state[6:]
            if self._is_angle[joint]:
                x_before = x.copy()
                x *= cosines[joint]
                x += sines[joint] * y
                y *= cosines[joint]
                y -= sines[joint] * x_before
                z[1] += rates[joint]
            else:
                x[0] += coordinates[joint] * y[1]
                y[0] -= coordinates[joint] * x[1]
                z[0] += rates[joint]
        return np.asarray(self._last.dot(state))


def _list_axes(model: pin.Model, is_angle: tuple[bool, ...]) -> list[FloatArray]:
    """Axis (3,) of each joint, in its own frame."""
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    columns = [pin.getJointJacobian(model, data, index + 1, pin.LOCAL)[:, index] for index in range(len(is_angle))]
    return [column[3:] if angular else column[:3] for column, angular in zip(columns, is_angle, strict=True)]


def _carry(placement: pin.SE3, turn_before: FloatArray, turn: FloatArray) -> FloatArray:
    """(9, 9) matrix that carries v, w and u from one turned frame into the next."""
    rotation = (turn_before.T @ placement.rotation @ turn).T
    matrix = np.kron(np.eye(3), rotation)
    matrix[:3, 3:6] = -rotation @ pin.skew(turn_before.T @ placement.translation)
    return matrix
