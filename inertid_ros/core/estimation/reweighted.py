"""Online least squares of an arm's unknowns, each channel weighted by what it leaves unexplained.

Every channel (a joint's effort, a component of the base wrench) keeps the square root of its own information, without
weight. A solution adds them up with weights, and what a solution leaves of each channel gives the weights of the next:
however bad the first guess of the noise was, no row is lost to it. Information of several recordings adds up the same
way.

Rows that follow each other are not independent: filters and what the model lacks extend over many. How many rows are
worth one (the effective sample size) is measured on the innovations: (sum over a block)² over the sum of squares.
Innovations count the less the more of them an estimate that is still uncertain may have caused, for that part stays the
same from row to row.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from inertid_ros.core.estimation.channels import (
    BLOCK,
    Fitted,
    add_channels,
    explain_channels,
    find_spread,
    fold_channels,
)
from inertid_ros.core.estimation.gears import Channel
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.kinematic_errors import KinematicErrors, MotionStates
from inertid_ros.core.estimation.misfit import Blocks
from inertid_ros.core.estimation.senses import KeptRows
from inertid_ros.core.estimation.systematic_links import JointSolution, Nuisances, solve_jointly
from inertid_ros.core.records import FloatArray, IntArray

_MEMORY = 60.0
"""Blocks (a minute) over which correlation is averaged: the motion changes, and the friction with it."""
_WHITE_BLOCKS = 10.0
"""Blocks that the assumption of white noise counts for: the correlation of fewer is not known itself."""
_FIRST_GUESS = 0.05
"""First guess of the error of rows, as a part of what is measured; what is left of them soon overrules it."""
_ITERATIONS = 3
"""Solutions after which the weights of the last no longer change the next by more than a part in a thousand."""
_COLUMN_ERROR = 3e-3
"""Part of its length to which a column is taken to be known: lengths of a URDF and noise of velocities together."""
_WORTH_ALL = 0.99
"""Share from which rows are worth as much as before."""
_COMPARED = 256
"""Products of a block, of some 20 000, by which it is compared with others: they differ as much as all do."""
_PRODUCTS_BLOCK = 100.0
"""Rows (2 s of motion) in a block whose scores show the misfit: several times as long as the filters remember."""


@dataclass(frozen=True, slots=True)
class WeightedSolution:
    """Unknowns and how well they are known.

    Attributes:
        values: (U,).
        information: of the values, with all channels weighted.
        inverse: (U, U) root of their covariance, upper triangular.
        variances: (K,) of what is left of each channel, per row.
        correlations: (K,) how many rows are worth one.
        rows: (K,) how many there are.
        residual_rms, measured_rms: (K,) of the rows.
    """

    values: FloatArray
    information: SquareRootInformation
    inverse: FloatArray
    variances: FloatArray
    correlations: FloatArray
    rows: IntArray
    residual_rms: FloatArray
    measured_rms: FloatArray

    def covariance(self) -> FloatArray:
        """Covariance (U, U) of the values, widened by what errors in the equations themselves may have done."""
        return self.information.covariance() + self.find_attenuation()

    def find_attenuation(self) -> FloatArray:
        """What errors in the equations themselves may have done, as a covariance (U, U).

        Where columns of a motion are nearly multiples of each other, small errors in them (noise of the velocities,
        lengths of the URDF) count for as much as noise in the readings: columns known to a part e of their length add
        N = e² diag(information) that carries no knowledge, and pull the estimate x by P N x (errors in variables).
        """
        lengths = np.square(self.information.factor).sum(axis=0)
        pulled = self.information.covariance() @ (_COLUMN_ERROR**2 * lengths * self.values)
        return np.asarray(np.outer(pulled, pulled) + np.diag(pulled**2))


class Uncertainty(NamedTuple):
    """How uncertain predictions are.

    Attributes:
        covariance: (U, U) of the unknowns they are made with.
        variances: (K,) of what these leave of the rows of each channel.
    """

    covariance: FloatArray
    variances: FloatArray


class ReweightedEstimator:
    """Takes rows of all channels and solves for the unknowns when asked.

    Attributes:
        values: (U,) the present estimate.
        noise: (K,) variances of what it leaves of the rows.
    """

    def __init__(
        self,
        used: Sequence[IntArray],
        prior: SquareRootInformation,
        floors: FloatArray,
        correlation: float,
        nuisances: Nuisances | None = None,
        kinematics: KinematicErrors | None = None,
    ) -> None:
        """Start with nothing but the prior.

        Args:
            used: for each of the K channels the columns of rows that can be in it, ascending: unknowns, then nuisances.
            prior: what is known of the U unknowns before any data.
            floors: (K,) smallest standard deviation of a row that is believed; whoever owns them may raise them.
            correlation: how many rows are worth one for white noise.
            nuisances: what may be systematically wrong with readings and friction; nothing if None.
            kinematics: what may be wrong with places and axes of joints; nothing if None.
        """
        self._kinematics = kinematics
        self._nuisances = Nuisances() if nuisances is None else nuisances
        self._used = [np.asarray(one, dtype=np.int64) for one in used]
        self._prior = prior
        self._floors = floors
        self._white = correlation
        sizes = np.array([len(one) for one in self._used], dtype=np.int64)
        self._offsets = np.zeros((len(sizes) + 1, 2), dtype=np.int64)
        self._offsets[1:, 0], self._offsets[1:, 1] = np.cumsum((sizes + 1) ** 2), np.cumsum(sizes)
        self._all_used = np.concatenate([*self._used, np.empty(0, dtype=np.int64)])
        self._compared = _list_compared(sizes, self._offsets[:, 0])
        self.reset()

    def reset(self) -> None:
        """Forget all data."""
        channels = len(self._used)
        self._matrices: FloatArray = np.zeros(int(self._offsets[-1, 0]))
        self._early: FloatArray = np.zeros_like(self._matrices)
        self._early_rows: FloatArray = np.zeros(channels)
        self._products, self._lost = np.zeros((2, 3, len(self._matrices)))
        self._product_rows, self._past, self._is_spent = 0, Blocks(self._compared), False
        self._kept, self._states = self._make_kept(), MotionStates()
        self._sums: FloatArray = np.zeros((channels, 6))
        self._long, self._short, self._blocks = np.zeros((3, channels))
        self._variances: FloatArray = np.full(channels, np.inf)
        self.noise: FloatArray = np.zeros(channels)
        self._inverse: FloatArray = np.ascontiguousarray(self._prior.inverse_factor())
        self.values = self._prior.solve()

    def _make_kept(self) -> KeptRows | None:
        """Room for the first rows, if there are gears."""
        nuisances = self._nuisances
        if not nuisances.gears:
            return None
        unknowns = len(self._prior.factor)
        directions = [int(own[-1]) if len(own) else -1 for own in nuisances.frictions]
        columns = nuisances.list_gears(unknowns), nuisances.links, unknowns + nuisances.columns + 1
        return KeptRows(self._used, directions, *columns)

    def replace_prior(self, prior: SquareRootInformation) -> None:
        """Take something else to be known of the unknowns before any data; what the data say stays."""
        self._prior = prior
        if self.rows > 0:
            self.update()
        else:
            self.reset()

    def _channel(self, k: int, matrices: FloatArray | None = None) -> SquareRootInformation:
        """What rows say of a channel's columns: those that count with nuisances, or those of other matrices."""
        part = (self._matrices if matrices is None else matrices)[self._offsets[k, 0] : self._offsets[k + 1, 0]]
        size = len(self._used[k]) + 1
        return SquareRootInformation.of(part.reshape(size, size))

    @property
    def rows(self) -> int:
        """How many rows have been folded in, of all channels."""
        return int(self._sums[:, 0].sum())

    @property
    def fitted(self) -> Fitted:
        """What rows have told so far, for a kernel that folds one in; see `note_row`."""
        known = self.values, self._inverse, self.noise, self._floors
        return Fitted(self._matrices, self._offsets, self._all_used, *known, self._sums, self._products)

    def take(self, row: FloatArray, usable: FloatArray) -> None:
        """Fold in a row [A, nuisances, y] (K, U + V + 1) of those channels that are usable (K,)."""
        spread, no_senses = np.zeros((2, len(row)))
        find_spread(row, self._inverse, True, spread)
        self.note_row(fold_channels(self.fitted, row, usable, spread, no_senses))

    def note_row(self, is_full: bool) -> None:
        """A row was folded in, and has filled a block of innovations or not."""
        if is_full:
            self._end_blocks()
        self._product_rows += 1
        if self._product_rows >= _PRODUCTS_BLOCK:
            self._past.end(self._present_block)
            self._products, self._lost, self._product_rows = *np.zeros((2, 3, len(self._matrices))), 0
            if self._kept is not None:
                self._kept.end_block()
                self._kept = self._kept if self._past.are_single else None

    def keep_row(self, row: FloatArray, usable: FloatArray, senses: FloatArray) -> None:
        """A row was folded in with these senses of gears (K,), which may have to be judged again; see `KeptRows`."""
        if self._kept is not None:
            self._kept.keep(row, usable, senses)

    def keep_state(self, sample: FloatArray, joints: int) -> None:
        """A row of this sample [t, q (n,), v (n,), ...] was folded in."""
        if self._kinematics is not None:
            self._states.take(sample, joints)

    @property
    def _present_block(self) -> FloatArray:
        """Products (4, N) of the rows since the last block, see `misfit`."""
        counted = self._products - self._lost
        return np.stack((self._products.sum(axis=0), counted.sum(axis=0), *counted[1:]))

    def _end_blocks(self) -> None:
        ended = self._sums[:, 5] >= BLOCK
        fading = np.where(ended, 1.0 - 1.0 / _MEMORY, 1.0)
        self._long = fading * self._long + ended * self._sums[:, 3] ** 2
        self._short = fading * self._short + ended * self._sums[:, 4]
        self._blocks = fading * self._blocks + ended
        self._sums[ended, 3:6] = 0.0

    def update(self) -> WeightedSolution:
        """Solve once, with the weights that the last solution gave, and take the values over."""
        solution = self._solve_once(self._variances)
        self.values, self._variances = solution.values, solution.variances
        self.noise = solution.variances
        self._inverse = solution.inverse
        if self._kept is not None:
            self._past = self._kept.judge(self.values, self._past, self._products)
        return solution

    def discount(self, variances: FloatArray) -> None:
        """Let columns of nuisances so far count less in channels (K,) where they turn out to be wrong by as much.

        n rows of noise v that share an error of variance e tell 1 / (v / n + e) instead of n / v of what is like it.
        So they count in a solution with nuisances; in one that takes these to be zero they count as before.
        """
        counts = self._sums[:, 0] - self._early_rows
        shares = 1.0 / (1.0 + counts * variances / (self.noise * self._correlations()))
        if shares.min(initial=1.0) > _WORTH_ALL:
            return
        spread = np.repeat(shares, np.diff(self._offsets[:, 0]))
        for k, share in enumerate(shares.tolist()):
            self._channel(k, self._early).fold_in(math.sqrt(1.0 - share) * self._channel(k).matrix)
        self._early_rows = self._early_rows + (1.0 - shares) * counts
        self._matrices *= np.sqrt(spread)
        self._lost = self._products - spread * (self._products - self._lost)
        self._past = self._past.discount(spread)
        if self._kept is not None:
            self._kept.discount(shares)

    def freeze(self, values: FloatArray, uncertainty: Uncertainty | None) -> None:
        """Take values (U,) from elsewhere, and how uncertain they are; without that nothing is taken to be known."""
        self.values = np.array(values, dtype=np.float64)
        if uncertainty is not None:
            scale = np.sqrt(np.diag(uncertainty.covariance))
            scaled = uncertainty.covariance / np.outer(scale, scale)
            root = np.linalg.cholesky(scaled[::-1, ::-1])[::-1, ::-1]  # upper triangular, as of a solution
            self._inverse = np.ascontiguousarray(scale[:, None] * root)
            self.noise = np.array(uncertainty.variances, dtype=np.float64)

    def solve(self) -> WeightedSolution:
        """The best solution of all rows so far; changes nothing."""
        variances = self._variances
        for _ in range(_ITERATIONS):
            solution = self._solve_once(variances)
            variances = solution.variances
        return solution

    def solve_jointly(self, solution: WeightedSolution) -> JointSolution:
        """Unknowns and nuisances together, from a solution that takes nuisances to be zero; changes nothing."""
        variances = solution.variances * solution.correlations
        floors, rows = self._floors**2 * self._white, self._sums[:, 0] - self._early_rows
        channels = [
            Channel(self._channel(k).matrix, used, float(rows[k]), float(variances[k]), float(floors[k]))
            for k, used in enumerate(self._used)
        ]
        blocks = self._past.with_rest(self._present_block, self._product_rows / _PRODUCTS_BLOCK)
        joint = solve_jointly(channels, self._prior, solution.values, self._nuisances, blocks)
        attenuation = solution.find_attenuation()
        covariance, repeatability = joint.covariance + attenuation, joint.repeatability + attenuation
        if self._kinematics is not None:
            known = joint.values, solution.inverse, self._prior, self._sums[:, 0] / joint.variances
            covariance = covariance + self._kinematics.find_covariance(self._states, *known)
        return replace(joint, covariance=covariance, repeatability=repeatability)

    def _count(self) -> FloatArray:
        return np.asarray(np.maximum(self._sums[:, 0], 1.0))

    def _variation(self) -> FloatArray:
        """Variance of what was measured, (K,); the weight on a base sensor is no measure of its noise."""
        count = self._count()
        return np.asarray(np.maximum(self._sums[:, 1] / count - (self._sums[:, 2] / count) ** 2, 0.0))

    def _correlations(self) -> FloatArray:
        """How many rows of each channel are worth one, (K,)."""
        measured = (self._long + self._white * self._floors**2) / (self._short + self._floors**2)
        blend = (self._blocks * measured + _WHITE_BLOCKS * self._white) / (self._blocks + _WHITE_BLOCKS)
        return np.maximum(blend, 1.0)

    def _solve_once(self, variances: FloatArray) -> WeightedSolution:
        rough = _FIRST_GUESS**2 * self._variation()
        correlations = self._correlations()
        known = np.where(np.isfinite(variances), variances, rough + self._floors**2)
        weights = 1.0 / np.sqrt(known * correlations)
        total = self._prior.copy()
        parts = (self._matrices, self._early) if self._early_rows.any() else (self._matrices,)
        for matrices in parts:
            add_channels(total.matrix, matrices, self._offsets, self._all_used, weights)
        values, inverse = total.solve(), np.ascontiguousarray(total.inverse_factor())
        explained = np.empty((len(parts), 2, len(weights)))
        for matrices, one in zip(parts, explained, strict=True):
            explain_channels(matrices, self._offsets, self._all_used, values, inverse, *one)
        left, freedom = explained.sum(axis=0)
        freedom *= weights**2
        worth = np.maximum(self._sums[:, 0] / correlations - freedom, 0.0)
        guess = 1.0 / (1.0 + worth) ** 2
        found = (guess * rough + left / correlations) / (guess + worth) + self._floors**2
        count = self._count()
        return WeightedSolution(
            values=values,
            information=total,
            inverse=inverse,
            variances=found,
            correlations=correlations,
            rows=self._sums[:, 0].astype(np.int64),
            residual_rms=np.sqrt(left / count),
            measured_rms=np.sqrt(self._sums[:, 1] / count),
        )

    def add(self, other: ReweightedEstimator) -> None:
        """Take over the rows of another estimator of the same unknowns; ValueError if it has lost its blocks."""
        if self._is_spent or other._is_spent:
            raise ValueError("what is without blocks is part of a sum already")
        for k in range(len(self._used)):
            self._channel(k).fold_in(other._channel(k).matrix)
            self._channel(k, self._early).fold_in(other._channel(k, other._early).matrix)
        self._early_rows = self._early_rows + other._early_rows
        rows = 1.0 + np.stack((self._sums[:, 0], other._sums[:, 0]))
        mean = np.sqrt(np.average(np.square((self._floors, other._floors)), axis=0, weights=rows))
        self._floors = np.where(self._floors == other._floors, self._floors, mean)
        self._sums[:, :3] += other._sums[:, :3]
        self._long = self._long + other._long
        self._short = self._short + other._short
        self._blocks = self._blocks + other._blocks
        self._past, self._kept = copy.copy(self._past), None
        self._past.add(other._past)
        self._states = copy.copy(self._states)
        self._states.add(other._states)

    def without_blocks(self) -> ReweightedEstimator:
        """What rows say, in a tenth of the memory, for what is part of a sum already: not to be added to another one.

        The blocks of rows, by which a sum judges how far to trust it, are left out.
        """
        other = copy.copy(self)
        empty = np.empty((3, 0))
        other.__dict__.update(_is_spent=True, _past=Blocks(self._compared), _products=empty, _lost=empty, _kept=None)
        return other

    def copy(self) -> ReweightedEstimator:
        """An independent copy."""
        other = self.like()
        other.__dict__.update({name: copy.copy(value) for name, value in self.__dict__.items()})
        return other

    def like(self) -> ReweightedEstimator:
        """One with the same prior and no data."""
        own = self._used, self._prior, self._floors, self._white, self._nuisances, self._kinematics
        return ReweightedEstimator(*own)

    def misfit(self, values: FloatArray, solution: WeightedSolution) -> float:
        """Sum of squares that values (U,) leave of all rows, in the units of a solution's noise."""
        return float(self._squares_at(values) @ (1.0 / (solution.variances * solution.correlations)))

    def find_rms(self, values: FloatArray) -> FloatArray:
        """Rms (K,) of what values (U,) leave of the rows."""
        return np.asarray(np.sqrt(self._squares_at(values) / self._count()))

    def _squares_at(self, values: FloatArray) -> FloatArray:
        padded = np.concatenate((values, np.zeros(self._nuisances.columns)))
        return np.array(
            [
                sum(self._channel(k, matrices).squares_at(padded[used]) for matrices in (self._matrices, self._early))
                for k, used in enumerate(self._used)
            ]
        )


def _list_compared(sizes: IntArray, offsets: IntArray) -> IntArray:
    """Places of some products of columns in those of channels with so many columns (K,), which begin at offsets."""
    places = [
        start + row * (size + 1) + column
        for size, start in zip(sizes.tolist(), offsets.tolist(), strict=False)
        for row, column in zip(*np.tril_indices(size), strict=True)
    ]
    return np.array(places[:: max(1, len(places) // _COMPARED)], dtype=np.int64)
