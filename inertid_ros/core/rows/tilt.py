"""What a tilt of the base against gravity adds to efforts, row by row.

Gravity g that is turned by a small angle about a horizontal axis e adds the torques of gravity e x g. They take
parameters that level efforts say nothing about, such as the first moment of everything about a vertical first axis.
These are the URDF's, corrected by what is known of the base parameters x = C phi: with W how far links may be from the
URDF's phi_0 and P the covariance of x,

    phi = phi_0 + W C^T (C W C^T + P)^-1 (x - C phi_0)

Torques of gravity change as slowly as positions do, so they are filtered at the rate of the rows.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.model import LinkModel, find_own_sizes
from inertid_ros.core.records import FloatArray

AXES = 2
"""Horizontal axes about which a base can be tilted."""
_OFF = 0.5
"""Standard deviation of a link's parameters from the URDF's, as a part of what a link of its mass and size has."""
_STRAIGHT = 0.9
"""Cosine beyond which an axis is too near to gravity to make horizontal ones with."""


class GravityTilt:
    """Columns of the tilt about two horizontal axes, after the filters of the rows."""

    def __init__(self, model: LinkModel, first_cutoff: float, second_cutoff: float) -> None:
        """Set up for an arm, and the cutoffs of the rows' two low-passes [rad/s]."""
        gravity = np.array(model.arm.model.gravity.linear)
        self._models = [pin.Model(model.arm.model) for _ in range(AXES)]
        for turned, axis in zip(self._models, find_horizontal_axes(gravity), strict=True):
            turned.gravity.linear = np.cross(axis, gravity)
        self._data = [turned.createData() for turned in self._models]
        self._cutoffs = first_cutoff, second_cutoff
        inertial = np.flatnonzero(model.base.columns < model.unknowns.inertial.stop)
        self._chosen = inertial
        self._combination = model.base.combination[inertial, : model.unknowns.inertial.stop]
        widths = _OFF * find_own_sizes(model.arm, model.unknowns)[model.unknowns.inertial]
        self._lift = widths[:, None] ** 2 * self._combination.T
        self._urdf = model.arm.parameters
        self._phi = self._urdf.copy()
        self.restart()

    def restart(self) -> None:
        """Restart the filters at zero, as those of the rows are."""
        self._time = -np.inf
        shape = (len(self._models[0].names) - 1, AXES)
        self._now, self._first, self._second = np.zeros((3, *shape))

    def set_values(self, values: FloatArray, inverse: FloatArray) -> None:
        """Take over base parameters (U,) and the root (U, U) of their covariance."""
        root = inverse[self._chosen]
        innovation = self._combination @ self._lift + root @ root.T
        self._phi = self._urdf + self._lift @ np.linalg.solve(
            innovation, values[self._chosen] - self._combination @ self._urdf
        )

    def take(self, time: float, positions: FloatArray) -> FloatArray:
        """Columns (n, 2) at joint positions (n,) of a row."""
        still = np.zeros(len(positions))
        torques = [
            # At rest inertias, whose order is another in pinocchio, have no effect.
            pin.computeJointTorqueRegressor(model, data, positions, still, still) @ self._phi
            for model, data in zip(self._models, self._data, strict=True)
        ]
        now = np.column_stack(torques)
        step = time - self._time if np.isfinite(self._time) else 0.0
        first, second = (cutoff * step / (2.0 + cutoff * step) for cutoff in self._cutoffs)
        if first > 0.5 or second > 0.5:
            # After so long a pause (the arm stood, or learning was paused) the filters have settled.
            self._first = self._second = self._now = now
        before = self._first
        self._first = (1.0 - 2.0 * first) * before + first * (now + self._now)
        self._second = (1.0 - 2.0 * second) * self._second + second * (self._first + before)
        self._time, self._now = time, now
        return self._second


def find_horizontal_axes(gravity: FloatArray) -> FloatArray:
    """Two axes (2, 3) of length one, at right angles to gravity (3,) and to each other; zero without gravity."""
    size = float(np.linalg.norm(gravity))
    if size == 0.0:
        return np.zeros((AXES, 3))
    down = gravity / size
    start = np.array([1.0, 0.0, 0.0]) if abs(down[0]) < _STRAIGHT else np.array([0.0, 1.0, 0.0])
    first = start - (start @ down) * down
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(down, first)])
