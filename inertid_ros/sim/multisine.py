"""Periodic motions with many frequencies, which excite more than a straight line does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.sim.motion import JointPath, MinimumJerk, check_duration

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
        self._center = middle if center is None else np.array(center, dtype=np.float64)
        self._duration = check_duration("period", period) * cycles
        if not 0.0 < fade < self._duration / 2.0:
            raise SettingError("fade", fade, f"above 0 and below half of the motion, {self._duration / 2.0:g} s")
        self._window = MinimumJerk([[0.0], [1.0], [1.0], [0.0]], [fade, self._duration - 2.0 * fade, fade])
        if not np.all((limits.lower < self._center) & (self._center < limits.upper)):
            raise SettingError("center", self._center.tolist(), "a pose inside the position limits")
        random = np.random.default_rng(seed)
        shape = (harmonics, len(self._center))
        order = np.arange(1, harmonics + 1)
        self._frequencies = 2.0 * np.pi * order / period
        self._phases = random.uniform(0.0, 2.0 * np.pi, shape)
        self._amplitudes = random.uniform(0.5, 1.0, shape) / order[:, None]
        self._scale_to(limits)

    @property
    def duration(self) -> float:
        """Period times cycles."""
        return self._duration

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return len(self._center)

    def at(self, times: FloatArray) -> JointPath:
        """Evaluate window times sines, and the derivatives of that product."""
        w, w_rate, w_curvature = self._window.at(times)
        angle = (times[:, None] * self._frequencies)[:, :, None] + self._phases
        sine, cosine = self._amplitudes * np.sin(angle), self._amplitudes * np.cos(angle)
        omega = self._frequencies[None, :, None]
        y, y_rate, y_curvature = sine.sum(1), (omega * cosine).sum(1), -(omega * omega * sine).sum(1)
        return JointPath(
            self._center + w * y,
            w_rate * y + w * y_rate,
            w_curvature * y + 2.0 * w_rate * y_rate + w * y_curvature,
        )

    def _scale_to(self, limits: JointLimits) -> None:
        """Scale each joint's sines so that the first of its limits to be met is just met."""
        points = 1 + int(np.ceil(self._duration * self._frequencies[-1] / (2.0 * np.pi) * GRID_PER_PERIOD))
        path = self.at(np.linspace(0.0, self._duration, points))
        offsets = path.positions - self._center
        shares = [
            offsets.max(0) / (limits.upper - self._center),
            offsets.min(0) / (limits.lower - self._center),
            np.abs(path.velocities).max(0) / limits.velocity,
            np.abs(path.accelerations).max(0) / limits.acceleration,
        ]
        self._amplitudes = self._amplitudes * LIMIT_MARGIN / np.max(shares, axis=0)
