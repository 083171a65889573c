"""Sums of sines around a pose, from rest to rest, which excite more than a straight line does."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import JointPath, MinimumJerk

GRID_PER_PERIOD = 64
"""Points at which the shortest sine is searched for its peaks: they are missed by 0.12 % at most."""
LIMIT_MARGIN = 0.995
"""Share of a limit that is used, which covers the missed peaks."""


class SineWindow:
    """The sines and cosines from which motions of one length are made.

    They are w(t) sin(2 pi k t / T) and w(t) cos(2 pi k t / T), k = 1 ... K, with a window w that rises from 0 to 1 and
    falls back by minimum-jerk polynomials within the fade time.
    """

    def __init__(self, period: float, harmonics: int, duration: float, fade: float) -> None:
        """Take T [s], K, the length of the motion [s], and the fade time [s], less than half of that."""
        self.duration = duration
        self._window = MinimumJerk([[0.0], [1.0], [1.0], [0.0]], [fade, duration - 2.0 * fade, fade])
        self._frequencies = 2.0 * np.pi * np.arange(1, harmonics + 1) / period
        self.shortest_period = period / harmonics
        """Of the fastest sine, seconds."""

    def at(self, times: FloatArray) -> JointPath:
        """Evaluate all sines, then all cosines, each times the window, with both derivatives: (N, 2 K) three times."""
        w, w_rate, w_curvature = self._window.at(times)
        omega = self._frequencies
        sine, cosine = np.sin(times[:, None] * omega), np.cos(times[:, None] * omega)
        y = np.hstack([sine, cosine])
        y_rate = np.hstack([omega * cosine, -omega * sine])
        y_curvature = np.hstack([-omega * omega * sine, -omega * omega * cosine])
        return JointPath(w * y, w_rate * y + w * y_rate, w_curvature * y + 2.0 * w_rate * y_rate + w * y_curvature)


class WindowedSines:
    """q(t) = c + w(t) sum_k [s_k sin(2 pi k t / T) + r_k cos(2 pi k t / T)], from rest in c to rest in c."""

    def __init__(self, window: SineWindow, center: ArrayLike, coefficients: FloatArray) -> None:
        """Take the pose c (n,) and the coefficients (2 K, n) of all sines, then of all cosines, rad or m."""
        self._window = window
        self.center = np.array(center, dtype=np.float64)
        self.coefficients = coefficients
        self.duration, self.shortest_period = window.duration, window.shortest_period
        self.joint_count = len(self.center)

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


@dataclass(frozen=True, slots=True)
class JointLimits:
    """What each of n joints may do, (n,) each, in rad or m, seconds, and Nm or N.

    The effort may be one for all joints, and is infinite where it is not known.
    """

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    effort: FloatArray = field(default_factory=lambda: np.array(np.inf))

    def shares(self, center: FloatArray, path: JointPath) -> FloatArray:
        """How much of its limits each joint uses on a path around a pose: (4, N, n), above 1 where one is exceeded."""
        offsets = path.positions - center
        return np.stack(
            [
                offsets / (self.upper - center),
                offsets / (self.lower - center),
                np.abs(path.velocities) / self.velocity,
                np.abs(path.accelerations) / self.acceleration,
            ]
        )

    def are_held(self, path: JointPath, efforts: FloatArray) -> bool:
        """Whether positions, velocities, accelerations and efforts (N, n) stay within."""
        return bool(
            np.all((self.lower <= path.positions) & (path.positions <= self.upper))
            and np.all(np.abs(path.velocities) <= self.velocity)
            and np.all(np.abs(path.accelerations) <= self.acceleration)
            and np.all(np.abs(efforts) <= self.effort)
        )


class Multisine(WindowedSines):
    """Sum of sines around a pose, from rest to rest, as large as the limits allow.

    q(t) = c + w(t) sum_k a_k sin(2 pi k t / T + p_k), k = 1 ... K, with random amplitudes a_k falling as 1 / k, random
    phases p_k, and a window w that rises from 0 to 1 and falls back by minimum-jerk polynomials within the fade time.
    """

    def __init__(
        self, limits: JointLimits, period: float, harmonics: int = 5, cycles: int = 1, fade: float = 1.0, seed: int = 0
    ) -> None:
        """Draw amplitudes and phases of K harmonics, and scale some cycles of the period T [s] to the limits.

        The pose c is the middle of the position limits; the fade time [s] is less than half of the motion.
        """
        pose = (limits.lower + limits.upper) / 2.0
        window = SineWindow(period, harmonics, period * cycles, fade)
        if not np.all((limits.lower < pose) & (pose < limits.upper)):
            raise SettingError("center", pose.tolist(), "a pose inside the position limits")
        random = np.random.default_rng(seed)
        shape = (harmonics, len(pose))
        phases = random.uniform(0.0, 2.0 * np.pi, shape)
        amplitudes = random.uniform(0.5, 1.0, shape) / np.arange(1, harmonics + 1)[:, None]
        coefficients = np.concatenate([amplitudes * np.cos(phases), amplitudes * np.sin(phases)])
        drawn = WindowedSines(window, pose, coefficients)
        super().__init__(window, pose, scale_to_limits(drawn, limits).coefficients)


def scale_to_limits(motion: WindowedSines, limits: JointLimits) -> WindowedSines:
    """Scale each joint's sines so that the first of its limits to be met is just met."""
    path = motion.at(make_fine_grid(motion))
    return motion.scaled(LIMIT_MARGIN / limits.shares(motion.center, path).max(axis=(0, 1)))


def make_fine_grid(motion: WindowedSines) -> FloatArray:
    """Times from start to end at which no peak is missed by more than the margin of the limits."""
    points = 1 + int(np.ceil(motion.duration / motion.shortest_period * GRID_PER_PERIOD))
    return np.linspace(0.0, motion.duration, points)
