"""Periodic motions with many frequencies, which excite more than a straight line does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import JointPath, check_duration
from inertid_ros.motions.windowed_sines import SineWindow, WindowedSines

GRID_PER_PERIOD = 64
"""Points at which the shortest sine is searched for its peaks: they are missed by 0.12 % at most."""
LIMIT_MARGIN = 0.995


@dataclass(frozen=True, slots=True)
class JointLimits:
    """What each of n joints may do.

    Attributes:
        lower: (n,) smallest position, rad or m.
        upper: (n,) largest position, rad or m.
        velocity: (n,) largest speed, rad/s or m/s.
        acceleration: (n,) largest acceleration, rad/s^2 or m/s^2.
    """

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray

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


class Multisine:
    """Sum of sines around a pose, from rest to rest, as large as the limits allow.

    q(t) = c + w(t) sum_k a_k sin(2 pi k t / T + p_k), k = 1 ... K, with random amplitudes a_k falling as 1 / k, random
    phases p_k, and a window w that rises from 0 to 1 and falls back by minimum-jerk polynomials within the fade time.
    """

    def __init__(
        self,
        limits: JointLimits,
        period: float,
        harmonics: int = 5,
        cycles: int = 1,
        fade: float = 1.0,
        center: ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        """Draw a motion from a seed and scale it to the limits.

        Args:
            limits: of each joint.
            period: T, seconds.
            harmonics: K.
            cycles: how many periods the motion lasts.
            fade: seconds of rise at the start and of fall at the end, less than half of the motion.
            center: c (n,), first and last pose; None for the middle of the position limits.
            seed: of amplitudes and phases.
        """
        middle = (limits.lower + limits.upper) / 2.0
        pose = middle if center is None else np.array(center, dtype=np.float64)
        window = SineWindow(period, harmonics, check_duration("period", period) * cycles, fade)
        if not np.all((limits.lower < pose) & (pose < limits.upper)):
            raise SettingError("center", pose.tolist(), "a pose inside the position limits")
        random = np.random.default_rng(seed)
        shape = (harmonics, len(pose))
        phases = random.uniform(0.0, 2.0 * np.pi, shape)
        amplitudes = random.uniform(0.5, 1.0, shape) / np.arange(1, harmonics + 1)[:, None]
        coefficients = np.concatenate([amplitudes * np.cos(phases), amplitudes * np.sin(phases)])
        self._sines = scale_to_limits(WindowedSines(window, pose, coefficients), limits)

    @property
    def duration(self) -> float:
        """Period times cycles."""
        return self._sines.duration

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return self._sines.joint_count

    def at(self, times: FloatArray) -> JointPath:
        """Evaluate window times sines, and the derivatives of that product."""
        return self._sines.at(times)


def scale_to_limits(motion: WindowedSines, limits: JointLimits) -> WindowedSines:
    """Scale each joint's sines so that the first of its limits to be met is just met."""
    path = motion.at(make_fine_grid(motion))
    return motion.scaled(LIMIT_MARGIN / limits.shares(motion.center, path).max(axis=(0, 1)))


def make_fine_grid(motion: WindowedSines) -> FloatArray:
    """Times from start to end at which no peak is missed by more than the margin of the limits."""
    points = 1 + int(np.ceil(motion.duration / motion.shortest_period * GRID_PER_PERIOD))
    return np.linspace(0.0, motion.duration, points)
