"""Every vector of free numbers as a motion within the limits, so that a search needs no constraints.

The first n numbers place the centre between the position limits, by logistic functions. The rest are coefficients of
sines, of which only the proportions matter: each joint is scaled until the first of its limits is met.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import JointPath
from inertid_ros.motions.multisine import JointLimits, scale_to_limits
from inertid_ros.motions.windowed_sines import SineWindow, WindowedSines

HARMONICS = 5
CYCLE = 3.0
"""About how many seconds one swing lasts: in less a joint gets nowhere, in more it hardly accelerates."""
FADE = 0.3
"""Share of a swing within which the motion rises at its start, and falls at its end."""

_DIFFERENCE = 1e-6
_STEP = 0.02
_MOST_POINTS = 301
_SHARPNESS = 24.0
_ROOM = 0.02
"""The centre stays this share of the range away from both position limits."""


class CandidateSpace:
    """Motions of one length as vectors of free numbers."""

    def __init__(self, limits: JointLimits, duration: float) -> None:
        """Take the limits of n joints and the length of the motion [s]."""
        self._limits = limits
        self.joints = len(limits.lower)
        """Number of joints."""
        self._window = make_window(duration)
        points = min(1 + int(np.ceil(duration / _STEP)), _MOST_POINTS)
        self.step = duration / (points - 1)
        self._basis = self._window.at(np.linspace(0.0, duration, points))
        self._sizes = np.abs(self._basis.accelerations).max(axis=0)[:, None]
        self.dimension = self.joints * (1 + 2 * HARMONICS)

    @property
    def points(self) -> int:
        """Number of samples of a path."""
        return len(self._basis.positions)

    def draw(self, random: np.random.Generator) -> FloatArray:
        """A random candidate (d,)."""
        return random.normal(size=self.dimension)

    def sample(self, candidate: FloatArray) -> JointPath:
        """The path of a candidate, every `step` seconds.

        The largest share of a limit is replaced by a norm that is smooth and somewhat above it.
        """
        center, coefficients = self._unpack(candidate)
        offsets, velocities, accelerations = (part @ coefficients for part in self._basis)
        shares = self._limits.shares(center, JointPath(center + offsets, velocities, accelerations))
        largest = (np.maximum(shares, 0.0) ** _SHARPNESS).sum(axis=(0, 1)) ** (1.0 / _SHARPNESS)
        return JointPath(center + offsets / largest, velocities / largest, accelerations / largest)

    def pull_back(self, candidate: FloatArray, slopes: JointPath) -> FloatArray:
        """How a cost changes with a candidate, (d,), from how it changes with the path that is sampled from it.

        A joint's path depends on that joint's own numbers alone, so that one of each joint is moved at a time.
        """
        path = self.sample(candidate)
        result = np.empty((self.dimension // self.joints, self.joints))
        for place in range(len(result)):
            moved = candidate.reshape(result.shape).copy()
            moved[place] += _DIFFERENCE
            changes = zip(self.sample(moved.ravel()), path, slopes, strict=True)
            result[place] = sum(((there - here) * slope).sum(axis=0) for there, here, slope in changes) / _DIFFERENCE
        return result.ravel()

    def build(self, candidate: FloatArray) -> WindowedSines:
        """The motion of a candidate, as large as the limits allow."""
        return scale_to_limits(WindowedSines(self._window, *self._unpack(candidate)), self._limits)

    def _unpack(self, candidate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Centre (n,) and coefficients (2 K, n)."""
        place = _ROOM + (1.0 - 2.0 * _ROOM) / (1.0 + np.exp(-candidate[: self.joints]))
        center = self._limits.lower + place * (self._limits.upper - self._limits.lower)
        coefficients = candidate[self.joints :].reshape(2 * HARMONICS, self.joints) / self._sizes
        return center, coefficients


def make_window(duration: float) -> SineWindow:
    """The sines for a motion of some length [s]: the slowest takes two swings, since the window closes the motion."""
    swing = duration / max(1, round(duration / CYCLE))
    return SineWindow(2.0 * swing, HARMONICS, duration, FADE * swing)
