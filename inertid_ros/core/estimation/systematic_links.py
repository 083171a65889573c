"""An arm together with what is systematically wrong with its readings and with the model of its friction.

What channel k reads at time t is, to first order in what is wrong,

    y_k(t) = (1 + gain_k) (A_k(t) x + sum_b bump_kb B_kb(t) + sum_a tilt_a T_ka(t) - delay dy_k/dt)

None of this averages out, and a gain common to all channels cannot be told from the masses at all, so gains (torque
constants, torque sensors), delay, tilt of the base (see `tilt`) and the shape of friction at low velocity (see BUMPS in
`signals`) are unknowns with prior standard deviations of their own, estimated jointly. The gains multiply what is
predicted, A_k x: with what was measured in its place, noise would choose the gain that makes everything vanish. That is
bilinear; since each channel keeps the root of its whole information, [A_k, B_k, T_k, dy_k, y_k], a Gauss-Newton step
takes all rows into account as if they had been kept.

How much weight a channel has is found from the scores of blocks, see `misfit`.

How much more a channel's residuals weigh on an estimate than white noise of their variance would.

Residuals of real arms are hardly noise: friction, gears and torque sensors err in a way that depends on the motion, so
the same motion repeats the same error, however often. What matters is what residuals r do to the estimate, the score
A^T r. Rows are summed up in blocks of two seconds of motion; with F = A T the columns made orthonormal over all rows,
s_b = F_b^T r_b the score of block b and I_b = F_b^T F_b its information (all I_b add up to the identity),

    E[s_b s_c^T] = v (delta_bc I_b - I_b I_c)

for white noise of variance v, if the fit takes all out of the residuals that the channel's own columns can; in one of
several channels with common unknowns it takes less, which errs on the safe side. The variance inflation compares the
scores of all pairs of blocks with that, each pair weighted by how like its motions are,
k_bc = tr(I_b I_c) / (|I_b| |I_c|), as Conley (1999) does for errors that depend on place:

    v * inflation = sum k_bc s_b . s_c / sum k_bc tr(delta_bc I_b - I_b I_c)

Noise that is correlated in time shows in the blocks' own scores, k_bb = 1; misfit that returns with the motion in those
of like blocks: then n repetitions inflate n times, and tell no more than one. Of independent noise they tell more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, solve_triangular

from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.records import FloatArray, IntArray

FEWEST_BLOCKS = 3
"""Blocks that are needed; of two, the fit explains both."""
_KEPT_BLOCKS = 16
"""Blocks that are kept of a long recording, evenly spread over it: more say little new and take time."""
_DEPENDENT = 1e-6
"""Part of the largest information below which a direction is not counted: rounding of the products takes it over."""
_LEAST_FREEDOM = 0.1
"""Part of the scores that a fit leaves at least: where it explains all, nothing can be measured."""


class Blocks:
    """Sums of products of rows, block by block.

    Attributes:
        kept: products of blocks, evenly spread over all of them; each of them is never changed.
        ended: how many blocks there have been.
    """

    def __init__(self) -> None:
        """Start with none."""
        self.kept: tuple[FloatArray, ...] = ()
        self.ended = 0
        self._stride = 1

    def end(self, products: FloatArray) -> None:
        """Take a block over, which must not be changed any more."""
        if self.ended % self._stride == 0:
            if len(self.kept) == _KEPT_BLOCKS:
                self.kept = self.kept[::2]
                self._stride *= 2
            self.kept = (*self.kept, products)
        self.ended += 1

    def add(self, other: Blocks) -> None:
        """Take over the blocks of another recording."""
        self.kept += other.kept
        self.ended += other.ended
        while len(self.kept) > _KEPT_BLOCKS:
            self.kept = self.kept[::2]
            self._stride *= 2


class ChannelScores:
    """The blocks of one channel, ready to compare the scores of solutions with what noise lets expect."""

    def __init__(self, products: FloatArray, factor: FloatArray, unknowns: int, ended: int) -> None:
        """Orthonormalise.

        Args:
            products: (B, n + 1, n + 1) of the blocks' lines [A, nuisances, y], lower triangles.
            factor: (m, m) root of the channel's information of all rows on its m unknowns.
            unknowns: m, how many of the n columns belong to A.
            ended: how many blocks there have been, of which B are given.
        """
        whole = np.tril(products) + np.swapaxes(np.tril(products, -1), -1, -2)
        information = factor.T @ factor
        lengths = np.sqrt(np.diag(information))
        scale = np.where(lengths > 0.0, 1.0 / np.where(lengths > 0.0, lengths, 1.0), 0.0)
        sizes, directions = eigh(information * np.outer(scale, scale))
        used = sizes > _DEPENDENT * max(float(sizes[-1]), np.finfo(float).tiny)
        turn = scale[:, None] * directions[:, used] / np.sqrt(sizes[used])
        self._lines = turn.T @ whole[:, :unknowns]
        own = self._lines[:, :, :unknowns] @ turn
        flat = own.reshape(len(products), -1)
        pairs = flat @ flat.T
        norms = np.sqrt(np.diag(pairs))
        norms[norms == 0.0] = 1.0
        repeated = np.full(pairs.shape, ended / max(len(products), 1))
        np.fill_diagonal(repeated, 1.0)
        self._weights = pairs / np.outer(norms, norms) * repeated
        total = float(np.trace(own, axis1=1, axis2=2).sum())
        self._freedom = max(total - float((self._weights * pairs).sum()), _LEAST_FREEDOM * total)

    def find_variance(self, coefficients: FloatArray) -> float:
        """Variance v * inflation of the residuals of a solution.

        Args:
            coefficients: (n + 1,) of the columns and of y in the residual: [x, nuisances, -1].
        """
        scores = self._lines @ coefficients
        return float((self._weights * (scores @ scores.T)).sum()) / self._freedom if self._freedom > 0.0 else 0.0


_ROUNDS = 3
"""Gauss-Newton steps, each with the weights that the residuals of the last one give: gains are per cents, so that each
step gains two digits."""


@dataclass(frozen=True, slots=True)
class Nuisances:
    """What may be systematically wrong, as prior standard deviations; 0 for what is exact.

    Attributes:
        columns: how many columns the rows have for nuisances, after those of the U unknowns.
        tilt: of the base about two horizontal axes [rad], in the last columns but one.
        delay: of the readings [s], in the last column.
        gain: of each channel.
        friction: bumps of friction, as a part of the friction of the channel.
        frictions: for each channel the unknowns of its friction.
    """

    columns: int = 0
    tilt: float = 0.0
    delay: float = 0.0
    gain: float = 0.0
    friction: float = 0.0
    frictions: tuple[IntArray, ...] = ()


@dataclass(frozen=True, slots=True)
class Channel:
    """What is known of one channel.

    Attributes:
        matrix: (n + 1, n + 1) square root of the information of its lines.
        used: (n,) columns of the rows that it has, ascending: unknowns, then nuisances.
        rows: how many there have been.
        variance: of its residuals times their inflation, as a first guess.
        floor: smallest such variance that is believed.
    """

    matrix: FloatArray
    used: IntArray
    rows: float
    variance: float
    floor: float


@dataclass(frozen=True, slots=True)
class JointSolution:
    """Unknowns and nuisances.

    Attributes:
        values: (U,).
        covariance: (U, U) accuracy: noise, misfit and systematic error.
        repeatability: (U, U) the part of it that does not come from the priors of nuisances: what a repetition on the
            same arm would show.
        nuisances, nuisance_deviations: (V + K,) bumps of friction, tilts [rad], delay [s], gains.
        variances: (K,) of the channels' residuals times their inflation.
    """

    values: FloatArray
    covariance: FloatArray
    repeatability: FloatArray
    nuisances: FloatArray
    nuisance_deviations: FloatArray
    variances: FloatArray


def solve_jointly(
    channels: Sequence[Channel],
    prior: SquareRootInformation,
    start: FloatArray,
    nuisances: Nuisances,
    blocks: Blocks,
) -> JointSolution:
    """Solve for unknowns and nuisances, from values (U,) to start with."""
    count, size = len(start), len(start) + nuisances.columns
    values = np.concatenate((start, np.zeros(nuisances.columns + len(channels))))
    variances = np.array([channel.variance for channel in channels])
    scores = _list_scores(channels, blocks, count)
    for _ in range(_ROUNDS):
        deviations = _list_deviations(channels, nuisances, values[:count])
        free = np.concatenate((np.arange(count), count + np.flatnonzero(deviations)))
        lines = [_expand(channel, values, size + k) for k, channel in enumerate(channels)]
        rows = _stack(channels, lines, prior, values, variances)
        measured = rows[:, free]
        root = np.zeros((len(free), len(values)))
        turned, factor = np.linalg.qr(np.concatenate((measured, _weigh(deviations, count))))
        root[:, free] = solve_triangular(factor, np.eye(len(free))).T
        values = root.T @ (turned[: len(rows)].T @ rows[:, -1])
        for k, score in enumerate(scores):
            coefficients = (1.0 + values[size + k]) * values[channels[k].used]
            variances[k] = score.find_variance(np.append(coefficients, -1.0)) + channels[k].floor
    covariance, noise = root.T @ root, root.T @ turned[: len(rows)].T
    return JointSolution(
        values[:count],
        covariance[:count, :count],
        noise[:count] @ noise[:count].T,
        values[count:],
        np.sqrt(np.diag(covariance)[count:]),
        variances,
    )


def _stack(
    channels: Sequence[Channel],
    lines: Sequence[tuple[IntArray, FloatArray]],
    prior: SquareRootInformation,
    values: FloatArray,
    variances: FloatArray,
) -> FloatArray:
    """Whitened rows (M, U + V + K + 1) of the prior of the unknowns and of all channels, linear at values."""
    count = len(prior.factor)
    stacked = [np.zeros((count, len(values) + 1))]
    stacked[0][:, :count], stacked[0][:, -1] = prior.factor, prior.matrix[:count, count]
    for channel, (places, turn), variance in zip(channels, lines, variances, strict=True):
        rows = np.zeros((len(channel.matrix), len(values) + 1))
        rows[:, places] = channel.matrix[:, :-1] @ turn
        rows[:, -1] = channel.matrix[:, -1] + values[places[-1]] * rows[:, places[-1]]
        stacked.append(rows / np.sqrt(variance))
    return np.concatenate(stacked)


def _weigh(deviations: FloatArray, count: int) -> FloatArray:
    """Whitened rows of the priors of those nuisances that have one, after columns of so many unknowns."""
    known = deviations[deviations > 0.0]
    return np.concatenate((np.zeros((len(known), count)), np.diag(1.0 / known)), axis=1)


def _list_scores(channels: Sequence[Channel], blocks: Blocks, unknowns: int) -> list[ChannelScores]:
    """Blocks of each channel; none while there are too few."""
    if blocks.ended < FEWEST_BLOCKS:
        return []
    scores, start = [], 0
    for channel in channels:
        size = len(channel.matrix)
        products = np.array([block[start : start + size**2].reshape(size, size) for block in blocks.kept])
        own = int((channel.used < unknowns).sum())
        scores.append(ChannelScores(products, channel.matrix[:own, :own], own, blocks.ended))
        start += size**2
    return scores


def _list_deviations(channels: Sequence[Channel], nuisances: Nuisances, values: FloatArray) -> FloatArray:
    """Prior standard deviations (V + K,); those of bumps follow from the friction that there is."""
    count, columns = len(values), nuisances.columns
    deviations = np.zeros(columns + len(channels))
    deviations[columns:] = nuisances.gain
    if columns:
        deviations[columns - 3 : columns] = nuisances.tilt, nuisances.tilt, nuisances.delay
    for channel, friction in zip(channels, nuisances.frictions, strict=False):
        bumps = channel.used[(channel.used >= count) & (channel.used < count + columns - 3)]
        effect = channel.matrix[:, :-1][:, np.isin(channel.used, friction)] @ values[np.sort(friction)]
        rms = np.linalg.norm(effect) / np.sqrt(max(channel.rows, 1.0))
        deviations[bumps - count] = nuisances.friction * rms
    return deviations


def _expand(channel: Channel, values: FloatArray, gain: int) -> tuple[IntArray, FloatArray]:
    """Unknowns and nuisances (n + 1,) of a channel, its gain last, and how its columns change with them, (n, n + 1)."""
    turn = np.column_stack(((1.0 + values[gain]) * np.eye(len(channel.used)), values[channel.used]))
    return np.append(channel.used, gain), turn
