"""Sums of sines around a pose, which a window brings from rest to rest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import JointPath, MinimumJerk, check_duration


class SineBasis(NamedTuple):
    """What a coefficient of one adds to a joint's position, velocity and acceleration at N times, each (N, 2 K)."""

    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray


class SineWindow:
    """The sines and cosines from which motions of one length are made.

    They are w(t) sin(2 pi k t / T) and w(t) cos(2 pi k t / T), k = 1 ... K, with a window w that rises from 0 to 1 and
    falls back by minimum-jerk polynomials within the fade time.
    """

    def __init__(self, period: float, harmonics: int, duration: float, fade: float) -> None:
        """Set up a basis.

        Args:
            period: T, seconds.
            harmonics: K.
            duration: of the motion, seconds.
            fade: seconds of rise at the start and of fall at the end, less than half of the motion.
        """
        check_duration("period", period)
        self.duration = check_duration("duration", duration)
        if not 0.0 < fade < duration / 2.0:
            raise SettingError("fade", fade, f"above 0 and below half of the motion, {duration / 2.0:g} s")
        self._window = MinimumJerk([[0.0], [1.0], [1.0], [0.0]], [fade, duration - 2.0 * fade, fade])
        self._frequencies = 2.0 * np.pi * np.arange(1, harmonics + 1) / period
        self.shortest_period = period / harmonics
        """Of the fastest sine, seconds."""

    def at(self, times: FloatArray) -> SineBasis:
        """Evaluate all sines, then all cosines, and the derivatives of their products with the window."""
        w, w_rate, w_curvature = self._window.at(times)
        omega = self._frequencies
        sine, cosine = np.sin(times[:, None] * omega), np.cos(times[:, None] * omega)
        y = np.hstack([sine, cosine])
        y_rate = np.hstack([omega * cosine, -omega * sine])
        y_curvature = np.hstack([-omega * omega * sine, -omega * omega * cosine])
        return SineBasis(
            w * y,
            w_rate * y + w * y_rate,
            w_curvature * y + 2.0 * w_rate * y_rate + w * y_curvature,
        )


class WindowedSines:
    """q(t) = c + w(t) sum_k [s_k sin(2 pi k t / T) + r_k cos(2 pi k t / T)], from rest in c to rest in c."""

    def __init__(self, window: SineWindow, center: ArrayLike, coefficients: FloatArray) -> None:
        """Take the pose c (n,) and the coefficients (2 K, n) of all sines, then of all cosines, rad or m."""
        self._window = window
        self.center = np.array(center, dtype=np.float64)
        self.coefficients = coefficients

    @property
    def duration(self) -> float:
        """Seconds from rest to rest."""
        return self._window.duration

    @property
    def shortest_period(self) -> float:
        """Of the fastest sine, seconds."""
        return self._window.shortest_period

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return len(self.center)

    def at(self, times: FloatArray) -> JointPath:
        """Evaluate the motion."""
        # Not a matrix product, whose rounding depends on how many times are asked for at once.
        offsets, velocities, accelerations = (
            (part[:, :, None] * self.coefficients).sum(axis=1) for part in self._window.at(times)
        )
        return JointPath(self.center + offsets, velocities, accelerations)

    def scaled(self, factors: float | FloatArray) -> WindowedSines:
        """The same around the same pose with all joints, or each of them, larger by a factor."""
        return WindowedSines(self._window, self.center, self.coefficients * factors)
