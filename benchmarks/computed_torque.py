"""Computed torque control (thesis, appendix A), and what else only the paper's experiment needs.

    n = R⁻¹(q, v, a_d + k_v (v_d - v) + k_p (q_d - q))    (5, 6)

with R⁻¹ the inverse model.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.control.controllers import Reference
from inertid_ros.control.inverse_model import Inverse
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import JointPath, Motion


class ComputedTorque:
    """The inverse model on line, at the measured state and a corrected acceleration."""

    def __init__(self, reference: Reference, model: Inverse, frequency: FloatArray | float, damping: float) -> None:
        """Take natural frequency [rad/s] and damping ratio of the errors' decay."""
        self._reference = reference
        self._model = model
        self._position = np.square(frequency)
        self._velocity = 2.0 * damping * np.asarray(frequency)

    def command(self, time: float, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        """Efforts (n,) at a time [s], by measured positions and velocities (n,)."""
        wanted = JointPath(*(part[self._reference.index(time)] for part in self._reference.path))
        acceleration = wanted.accelerations + self._velocity * (wanted.velocities - velocities)
        acceleration = acceleration + self._position * (wanted.positions - positions)
        state = JointPath(positions[None], velocities[None], acceleration[None])
        return np.asarray(self._model.efforts(state)[0])


class Late:
    """A motion that begins later."""

    def __init__(self, motion: Motion, delay: float) -> None:
        """Shift a motion by a delay [s]."""
        self._motion, self._delay = motion, delay
        self.duration, self.joint_count = motion.duration + delay, motion.joint_count

    def at(self, times: FloatArray) -> JointPath:
        """The motion as it was a delay before."""
        return self._motion.at(times - self._delay)


def find_gravity(model: Inverse, path: JointPath) -> FloatArray:
    """Efforts (N, n) that hold the poses of a joint path."""
    rest = np.zeros_like(path.positions)
    return model.efforts(JointPath(path.positions, rest, rest))
