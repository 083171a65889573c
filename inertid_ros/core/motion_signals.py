"""The signals from which rows are made, and how much of them is noise.

Noise in the velocities looks like excitation: inertias multiply it, and an estimator that believes it learns, with great
confidence, that there is no inertia. So the noise is measured on the way (by second differences, to which a smooth motion
adds next to nothing), and accelerations that do not stand out of it are not believed.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.alignment import Stretch
from inertid_ros.core.kinematics import SensorKinematics
from inertid_ros.core.load_regressor import compute_products
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot import FramePath

SIGNALS = 28
"""v (3), w (3), w x v (3), -g (3), w w^T (6), 1, wrench (6), squared second differences of v and w times the step (2), step."""

ROW_SIGNALS = SIGNALS - 3
"""The same after the first filter, with a + g and dw in the place of v, w and w x v."""

ROW = 23
"""A row: thirteen features, six wrench components, the sizes of the linear and angular acceleration that were left out as noise,
and the standard deviations of that noise."""

STAND_OUT = 4.0
"""Accelerations below so many standard deviations of their noise are taken for noise, unless a method says otherwise."""


class MotionSignals:
    """Kinematics and wrench of a stretch side by side."""

    def __init__(self, path: FramePath, gravity: FloatArray) -> None:
        """Set the joints and the gravity vector in the root frame."""
        self._kinematics = SensorKinematics(path, gravity)
        self._last_time: float | None = None
        self._last_twist = np.zeros(6)
        self._last_slope = np.zeros(6)
        self._age = 0

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._last_time = None

    def process(self, stretch: Stretch) -> tuple[FloatArray, FloatArray, bool]:
        """Signals (N, 28), steps (N,) [s] and whether this is a start; the first step of a start is zero.

        Tustin's derivative of v misses h^2/12 of its third derivative; v + h^2/12 v'' is given in the place of v, so that
        it does not.
        """
        twist, gravity = self._kinematics.compute(stretch.positions, stretch.velocities)
        times = stretch.times
        started = stretch.starts_anew or self._last_time is None
        if started:
            self._last_time = times.item(0)
            self._last_twist = twist[0]
            self._last_slope = np.zeros(6)
            self._age = 0
        steps = times.copy()
        steps[0] -= self._last_time
        steps[1:] -= times[:-1]
        column = steps[:, None]
        slopes = twist.copy()
        slopes[0] -= self._last_twist
        slopes[1:] -= twist[:-1]
        slopes /= np.maximum(column, 1e-9)
        bends = slopes.copy()
        bends[0] -= self._last_slope
        bends[1:] -= slopes[:-1]
        bends *= column
        if self._age < 2:
            bends[: 2 - self._age] = 0.0
        self._age += len(times)
        signals = np.empty((len(times), SIGNALS))
        np.multiply(bends, 1.0 / 12.0, out=signals[:, :6])
        signals[:, :6] += twist
        products = compute_products(twist)
        signals[:, 6:9] = products[:, :3]
        signals[:, 12:18] = products[:, 3:]
        np.negative(gravity, out=signals[:, 9:12])
        signals[:, 18] = 1.0
        signals[:, 19:25] = stretch.wrenches
        bends *= bends
        np.matmul(bends, _GROUPS, out=signals[:, 25:27])
        signals[:, 27] = steps
        self._last_time = times.item(-1)
        self._last_twist, self._last_slope = twist[-1], slopes[-1]
        return signals, steps, started


_GROUPS = np.repeat(np.eye(2), 3, axis=0)


def suppress_noise(
    rows: FloatArray, density_gain: float, variance_gain: float = 0.0, stand_out: float = STAND_OUT
) -> FloatArray:
    """Replace accelerations that are no larger than their noise by zero, and remember how large they were.

    Args:
        rows: (M, 25) a + g (3), dw (3), -g (3), w w^T (6), 1, wrench (6), squared second differences of v and w, step.
        density_gain: variance of a row's acceleration for velocity noise of density one [rad^2/s^2 Hz].
        variance_gain: the same for velocity noise of variance one [1/s^2], for rows that take it from single samples.
        stand_out: accelerations below so many standard deviations of their noise are taken for noise.

    Returns:
        (M, 23) rows.
    """
    kept = np.empty((len(rows), ROW))
    amplitude = np.maximum(rows[:, 15], 1e-12)
    variance = rows[:, 22:24] / (6.0 * amplitude[:, None])
    noise = variance * (density_gain * rows[:, 24] / amplitude + variance_gain)[:, None]
    accelerations = rows[:, :6].reshape(-1, 2, 3)
    squares = (accelerations * accelerations).sum(axis=2)
    believed = squares > stand_out**2 * noise
    kept[:, :6] = (accelerations * believed[:, :, None]).reshape(-1, 6)
    kept[:, :3] += rows[:, 6:9]
    turning = rows[:, 9] + rows[:, 12] + rows[:, 14] > stand_out * variance[:, 1]
    kept[:, 6:12] = rows[:, 9:15] * turning[:, None]
    kept[:, 12:19] = rows[:, 15:22]
    kept[:, 19:21] = squares * ~believed
    kept[:, 21:] = noise
    np.sqrt(kept[:, 19:], out=kept[:, 19:])
    return kept
