"""How much of the noise at standstill is left at the frequencies of a motion: rows have passed low-pass filters.

A row counts by the density of the sensor's noise, which the filters leave as it is at zero frequency alone. With h
their response, the score sum w f r of filtered noise r and a feature f, over rows of weight w, has the variance

    sum_j (sum_k h_kj sqrt(w_k) f_k)²

instead of sum w f²: that of the feature filtered once more. (Backwards in time, strictly, but forwards it comes to the
same: filters differ in phase then, not in size, if what they still hold after the last row is counted as well.) Motions
of seconds lose some per cent, one of a second a third. So products are summed up twice: of all that rows contain, and
of the same filtered once more. What the first are to the second, the information of rows is to the covariance of their
scores.
"""

from __future__ import annotations

from copy import copy as copy_shallow

import numpy as np

from inertid_ros.core.compiled import allocating, compiled
from inertid_ros.core.records import FloatArray

RESTARTED = 0.99
"""Part of its last value below which the response to a constant has fallen because filters were restarted."""
UNFILTERED = np.full(2, np.inf)
"""Poles [rad/s] of filters that leave everything as it is."""
LEFT, DAMPED = range(2)
"""Of products: those of rows as they are, and of rows that are filtered once more."""
TINY = float(np.finfo(float).tiny)
"""What is divided by where there is nothing."""
FADED = 1e-3
"""Part of what filters hold after the last row that is no longer counted."""
_UNSEEN = 1e-10
"""Part of the largest information below which a direction is not damped: rounding of the products takes it over."""


@compiled
def add_filtered(
    z: FloatArray,
    constant: int,
    weight: float,
    interval: float,
    poles: FloatArray,
    states: FloatArray,
    sums: FloatArray,
) -> None:
    """Add what a row contains, and the same filtered once more, to their products.

    Args:
        z: (Q or more,) what the row contains.
        constant: where in it the response to a constant is: where that has fallen, filters were restarted.
        weight: of the row.
        interval: for which it stands [s].
        poles: (2,) of the filters [rad/s].
        states: (3, Q + 1) the row, weighted, then both poles; at the ends the last response to a constant, and what is
            left of both poles after such an interval.
        sums: (2, Q, Q) products, see LEFT, lower triangles.
    """
    size, root = sums.shape[1], np.sqrt(weight)
    first, second = 1.0 - np.exp(-poles[0] * interval), 1.0 - np.exp(-poles[1] * interval)
    states[1, size], states[2, size] = 1.0 - first, 1.0 - second
    if z[constant] < RESTARTED * states[0, size]:
        for i in range(size):
            states[1, i] = states[2, i] = 0.0
    states[0, size] = z[constant]
    for i in range(size):
        states[0, i] = root * z[i]
        states[1, i] += first * (states[0, i] - states[1, i])
        states[2, i] += second * (states[1, i] - states[2, i])
        for j in range(i + 1):
            sums[LEFT, i, j] += states[0, i] * states[0, j]
            sums[DAMPED, i, j] += states[2, i] * states[2, j]


@compiled
def complete_filtered(lower: FloatArray, states: FloatArray, sums: FloatArray) -> None:
    """Complete products (2, Q, Q), lower triangles, and add what filters give after the last row, until it has faded.

    With a and c what the first and the second hold, the second gives c held + a passed after so many rows of nothing.
    """
    size = lower.shape[1]
    first, second = states[1, size], states[2, size]
    slowest = max(first, second)
    steps = int(np.ceil(np.log(FADED) / np.log(slowest))) if slowest > 0.0 else 0
    own = across = mixed = 0.0
    kept, passed, held = 1.0, 0.0, 1.0
    for _ in range(steps):
        kept *= first
        passed = kept + second * (passed - kept)
        held *= second
        own += held * held
        mixed += held * passed
        across += passed * passed
    for i in range(size):
        for j in range(i + 1):
            a, b, c, d = states[1, i], states[1, j], states[2, i], states[2, j]
            faded = across * a * b + mixed * (a * d + c * b) + own * c * d
            sums[LEFT, i, j] = sums[LEFT, j, i] = lower[LEFT, i, j]
            sums[DAMPED, i, j] = sums[DAMPED, j, i] = lower[DAMPED, i, j] + faded


@allocating(compiled)
def find_shares(sums: FloatArray, constant: int, count: int) -> FloatArray:
    """Which part of the noise (count,) products (2, Q, Q) have left, see `Damping.find_shares`."""
    shares, about = np.ones(count), np.empty(2)
    for i in range(count):
        for kind in range(2):
            across, weight = sums[kind, constant, i], sums[kind, constant, constant]
            about[kind] = sums[kind, i, i] - across * across / max(weight, TINY)
        if about[LEFT] > _UNSEEN * sums[LEFT, i, i]:
            shares[i] = about[DAMPED] / about[LEFT]
    return shares


class Damping:
    """Products of the rows of a motion, as they are and filtered once more.

    Attributes:
        poles, states, sums: see `add_filtered`.
    """

    def __init__(self, poles: FloatArray, size: int, constant: int) -> None:
        """Start with no row of Q numbers, one of them the response to a constant, and poles (2,) [rad/s]."""
        self.poles, self._constant = poles, constant
        self.sums: FloatArray = np.zeros((2, size, size))
        self.states: FloatArray = np.zeros((3, size + 1))

    def copy(self) -> Damping:
        """An independent copy."""
        same = copy_shallow(self)
        same.__dict__.update(sums=self.sums.copy(), states=self.states.copy())
        return same

    def join(self, later: Damping) -> Damping:
        """One of all rows of both, which goes on with the later ones."""
        joined = later.copy()
        joined.sums += self.sums
        return joined

    def _complete(self) -> FloatArray:
        """The sums (2, Q, Q), complete, with what the filters still hold after the last row."""
        sums = np.empty_like(self.sums)
        complete_filtered(self.sums, self.states, sums)
        return sums

    def find_shares(self, count: int) -> FloatArray:
        """Which part of the noise is left in the scores of the first numbers (count,), about their means."""
        return find_shares(self._complete(), self._constant, count)

    def damp(self, grams: FloatArray) -> FloatArray:
        """Covariances (K, P, P) of the scores of rows with products (K, P, P), complete; zero beyond the first Q.

        With A A^T the products of this motion, B those of what is filtered once more and L L^T those given, they are
        L A^-1 B A^-T L^T: the products of the same rows come out as B, others as damped as these were.
        """
        size = self.sums.shape[1]
        left, damped = self._complete()
        scale = find_scale(left)
        ridge = _UNSEEN * np.eye(size)
        root = np.linalg.cholesky(_scale(left, scale) + ridge)
        half = np.linalg.solve(root, _scale(damped, scale) + ridge)
        share = np.linalg.solve(root, half.T)
        inner = grams[:, :size, :size]
        scale = find_scale(inner)
        sizes = np.where(scale > 0.0, 1.0 / np.where(scale > 0.0, scale, 1.0), 0.0)
        lower = sizes[:, :, None] * np.linalg.cholesky(_scale(inner, scale) + ridge)
        covariances = np.zeros_like(grams)
        covariances[:, :size, :size] = lower @ share @ lower.transpose(0, 2, 1)
        return covariances


def find_scale(gram: FloatArray) -> FloatArray:
    """What makes the diagonal of products (..., Q, Q) one, or zero where it is."""
    squares = np.diagonal(gram, axis1=-2, axis2=-1)
    return np.where(squares > 0.0, 1.0 / np.sqrt(np.where(squares > 0.0, squares, 1.0)), 0.0)


def _scale(gram: FloatArray, scale: FloatArray) -> FloatArray:
    """Products (..., Q, Q) of what is multiplied by a scale (..., Q)."""
    return np.asarray(gram * scale[..., :, None] * scale[..., None, :])
