"""Online least squares of an arm's base parameters, each channel weighted by what it leaves unexplained.

Every channel (a joint's effort, a component of the base wrench) keeps the square root of its own information, without
weight. A solution adds them up with weights, and what a solution leaves of each channel gives the weights of the next:
however bad the first guess of the noise was, no row is lost to it. Information of several recordings adds up the same
way.

Rows that follow each other are not independent: filters and what the model lacks stretch over many. How many rows are
worth one is measured on the innovations: (sum over a block)^2 over the sum of squares. Innovations count the less the
more of them an estimate that is still uncertain may have caused, for that part stays the same from row to row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.records import FloatArray, IntArray

BLOCK = 50
"""So many rows in a row (1 s) are compared with each other for correlation."""

_MEMORY = 60.0
_WHITE_BLOCKS = 10.0
"""That the noise is white counts as much as so many blocks."""
_FIRST_GUESS = 0.05
"""Rows are first taken to be wrong by so much of what is measured; what is left of them soon overrules that."""
_ITERATIONS = 3
_COLUMN_ERROR = 3e-3
"""Part of its length to which a column is taken to be known."""


@dataclass(frozen=True, slots=True)
class LinkSolution:
    """Base parameters and how well they are known.

    Attributes:
        values: (U,).
        information: of the values, with all channels weighted.
        variances: (K,) of what is left of each channel, per row.
        repeats: (K,) how many rows are worth one.
        rows: (K,) how many there are.
        residual_rms, measured_rms: (K,) of the rows.
    """

    values: FloatArray
    information: SquareRootInformation
    variances: FloatArray
    repeats: FloatArray
    rows: IntArray
    residual_rms: FloatArray
    measured_rms: FloatArray

    def covariance(self) -> FloatArray:
        """Covariance (U, U) of the values, widened by what errors in the equations themselves may have done.

        Where columns of a motion are nearly multiples of each other, small errors in them (noise of the velocities,
        lengths of the URDF) count for as much as noise in the readings: columns known to a part e of their length add
        N = e^2 diag(information) that carries no knowledge, and pull the estimate x by P N x (errors in variables).
        """
        covariance = self.information.covariance()
        lengths = np.square(self.information.factor).sum(axis=0)
        pulled = covariance @ (_COLUMN_ERROR**2 * lengths * self.values)
        return np.asarray(covariance + np.outer(pulled, pulled) + np.diag(pulled**2))


class LinkEstimator:
    """Takes rows of all channels and solves for the unknowns when asked."""

    def __init__(
        self, used: Sequence[IntArray], prior: FloatArray, deviations: FloatArray, floors: FloatArray, repeats: float
    ) -> None:
        """Start with nothing but the prior.

        Args:
            used: for each of the K channels the unknowns that can be in it.
            prior: (U,) values before any data.
            deviations: (U,) their standard deviations.
            floors: (K,) smallest standard deviation of a row that is believed.
            repeats: how many rows are worth one for white noise.
        """
        self._used = used
        self._prior = prior
        self._deviations = deviations
        self._floors = floors
        self._white_repeats = repeats
        self.reset()

    def reset(self) -> None:
        """Forget all data."""
        channels = len(self._used)
        self._channels = [SquareRootInformation(np.full(len(used), np.inf)) for used in self._used]
        self._rows = np.zeros(channels, dtype=np.int64)
        self._squares, self._totals = np.zeros((2, channels))
        self._sums, self._block_squares = np.zeros((2, channels))
        self._in_block = np.zeros(channels, dtype=np.int64)
        self._long, self._short, self._blocks = np.zeros((3, channels))
        self._variances: FloatArray = np.full(channels, np.inf)
        self._inverse: FloatArray = np.diag(self._deviations)
        self.values = self._prior.copy()

    @property
    def rows(self) -> int:
        """How many rows have been folded in, of all channels."""
        return int(self._rows.sum())

    def take(self, row: FloatArray, usable: list[bool]) -> None:
        """Fold in a row [A, y] (K, U + 1) of those channels that are usable."""
        innovations = row[:, -1] - row[:, :-1].dot(self.values)
        expected = np.square(row[:, :-1].dot(self._inverse)).sum(axis=1)
        noise = np.where(np.isfinite(self._variances), self._variances, 0.0)
        innovations *= noise / (noise + expected + self._floors**2)
        for k, used in enumerate(self._used):
            if not usable[k]:
                continue
            whole = np.empty((1, len(used) + 1), order="F")
            whole[0, :-1] = row[k].take(used)
            whole[0, -1] = row[k, -1]
            self._channels[k].fold_in(whole)
            self._rows[k] += 1
            self._squares[k] += row[k, -1] ** 2
            self._totals[k] += row[k, -1]
            self._count_repeats(k, innovations.item(k))

    def _count_repeats(self, k: int, innovation: float) -> None:
        self._sums[k] += innovation
        self._block_squares[k] += innovation**2
        self._in_block[k] += 1
        if self._in_block[k] < BLOCK:
            return
        fading = 1.0 - 1.0 / _MEMORY
        self._long[k] = fading * self._long[k] + self._sums[k] ** 2
        self._short[k] = fading * self._short[k] + self._block_squares[k]
        self._blocks[k] = fading * self._blocks[k] + 1.0
        self._sums[k] = self._block_squares[k] = self._in_block[k] = 0

    def update(self) -> LinkSolution:
        """Solve once, with the weights that the last solution gave, and take the values over."""
        solution = self._solve_once(self._weights())
        self.values, self._variances = solution.values, solution.variances
        self._inverse = solution.information.inverse_factor()
        return solution

    def solve(self) -> LinkSolution:
        """The best solution of all rows so far; changes nothing."""
        kept = self._variances
        for _ in range(_ITERATIONS):
            solution = self._solve_once(self._weights())
            self._variances = solution.variances
        self._variances = kept
        return solution

    def _variation(self) -> FloatArray:
        """Variance of what was measured, (K,); the weight on a base sensor is no measure of its noise."""
        count = np.maximum(self._rows, 1)
        return np.asarray(np.maximum(self._squares / count - (self._totals / count) ** 2, 0.0))

    def _repeats(self) -> FloatArray:
        """How many rows of each channel are worth one, (K,)."""
        white = self._white_repeats
        measured = (self._long + white * self._floors**2) / (self._short + self._floors**2)
        blend = (self._blocks * measured + _WHITE_BLOCKS * white) / (self._blocks + _WHITE_BLOCKS)
        return np.maximum(blend, 1.0)

    def _weights(self) -> FloatArray:
        """Inverse standard deviations (K,) of the rows, as if they were independent."""
        rough = _FIRST_GUESS**2 * self._variation() + self._floors**2
        variances = np.where(np.isfinite(self._variances), self._variances, rough)
        return 1.0 / np.sqrt(variances * self._repeats())

    def _solve_once(self, weights: FloatArray) -> LinkSolution:
        total = SquareRootInformation(self._deviations)
        total.set_mean(self._prior)
        for weight, channel, used in zip(weights, self._channels, self._used, strict=True):
            total.fold_in_triangle(channel.scaled(float(weight)), used)
        values = total.solve()
        inverse = total.inverse_factor()
        left, freedom = np.empty((2, len(weights)))
        for k, (channel, used) in enumerate(zip(self._channels, self._used, strict=True)):
            left[k] = channel.squares_at(values[used])
            freedom[k] = weights[k] ** 2 * float(np.square(channel.factor @ inverse[used]).sum())
        repeats = self._repeats()
        rough = _FIRST_GUESS**2 * self._variation()
        worth = np.maximum(self._rows / repeats - freedom, 0.0)
        guess = 1.0 / (1.0 + worth) ** 2
        variances = (guess * rough + left / repeats) / (guess + worth) + self._floors**2
        count = np.maximum(self._rows, 1)
        rms, measured = np.sqrt(left / count), np.sqrt(self._squares / count)
        return LinkSolution(values, total, variances, repeats, self._rows.copy(), rms, measured)

    def add(self, other: LinkEstimator) -> None:
        """Take over the rows of another estimator of the same unknowns."""
        for k in range(len(self._used)):
            self._channels[k].fold_in(other._channels[k].triangle())
        self._rows += other._rows
        self._squares += other._squares
        self._totals += other._totals
        self._long += other._long
        self._short += other._short
        self._blocks += other._blocks
