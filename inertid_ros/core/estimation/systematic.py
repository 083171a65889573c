"""A load together with what is systematically wrong with its sensor, its clock and its mounting.

The wrench that a sensor publishes at time t is, to first order in what is wrong,

    y_i(t) = sum_j (delta_ij + gain_ij) w_j(t - delay; gravity tilted) + bias_i

with w = T(features) phi linear in thirteen features of the motion (see `equations.load`). None of this averages out,
and some of it cannot be told from the load at all (a gain common to all axes is a mass), so delay, tilt, gains and
cross-talk are unknowns with prior standard deviations of their own, estimated jointly.

The equation is bilinear in load and nuisance. Linearising row by row would freeze what was not yet known of the load
into the past; instead each channel keeps the weighted products of everything that its equation can contain,

    z = [features (12), 1, features with gravity tilted about both axes (6), rates of the features (12), y_i]

summed over rows: G_i = sum w_i z z^T. For any load and nuisance the weighted squares of residuals are
c_i^T G_i c_i, where c_i are the products of load and nuisance that multiply z, exactly as if all rows had been kept.

Blocks of two seconds are kept apart. G_i c_i of one block are its scores: their squares, over what the noise measured
at standstill lets expect, show how much more noise there is at the frequencies of the motion (correlated noise, drift,
vibration, all that the model misses), and by so much the rows' variances are enlarged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from inertid_ros.core.compiled import allocating, compiled
from inertid_ros.core.equations.load import FEATURES, LOAD, UNKNOWNS
from inertid_ros.core.estimation.cholesky import solve_normal
from inertid_ros.core.estimation.damping import TINY
from inertid_ros.core.estimation.information import invert_root
from inertid_ros.core.estimation.mounting import DIRECTIONS, LEVERS, make_gain_precision
from inertid_ros.core.estimation.products import CONSTANT, ProductSums, group_repeats
from inertid_ros.core.estimation.sensor_equation import (
    GAIN,
    INVOLVED,
    NUISANCES,
    differentiate,
    find_coefficients,
    find_scores,
    find_squares,
    weigh_products,
)
from inertid_ros.core.records import FloatArray, IntArray

_STEPS = 4
"""Gauss-Newton steps from a load alone: nuisances are per cents, so that each step gains two digits."""
_FEWEST_BLOCKS = 3
"""Blocks that are needed to find how scores scatter; with two, one solution explains both."""
_FEWEST_PIECES = 2 * _FEWEST_BLOCKS
"""Pieces that are needed for as many blocks of one second: before that it is not known whether noise of the motion
comes on top of what filters leave of that at standstill, and nothing is taken to be damped."""
_EXPECTED = 20.0
"""Scores that stand for the noise of the rows being what it was taken for, where scores are smaller: of two blocks."""
_ROUNDING = 1e-9
"""Parts of nuisances below this are rounding."""
_BELIEF = 2.0
"""So many nuisances that are as is set stand against those that are seen, as an unsure variance has in its prior."""


@dataclass(frozen=True, slots=True)
class JointSolution:
    """Load, bias and nuisances.

    Attributes:
        values: (55,) [phi (10), bias (6), delay, tilts (2), gains and cross-talk (36, row by row)].
        covariance: (55, 55) of all, systematic error included.
        repeatability: (55, 55) the part of it that noise alone causes: what a repetition on the same sensor would show.
        undoubted: (55, 55) the covariance if the sensor is as its prior says: doubt is found anew from all that comes
            later.
        inflation: (6,) by how much more the residuals of each channel scatter than noise at standstill explains.
        misfit: (2,) root mean square [N, Nm] of what is left of forces and torques beyond their noise.
        doubt: by how much worse than its prior says the sensor is.
        slowness: which part of the misfit changes slowly, as the pose does.
    """

    values: FloatArray
    covariance: FloatArray
    repeatability: FloatArray
    undoubted: FloatArray
    inflation: FloatArray
    misfit: FloatArray
    doubt: float
    slowness: float

    def forget_load(self, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (55,) and precision (55, 55) for the next load: bias and nuisances are those of the same sensor."""
        mean, precision = self.values.copy(), prior.copy()
        mean[:LOAD] = 0.0
        free = np.flatnonzero(np.isfinite(np.diag(prior)))[LOAD:]
        part = np.ix_(free, free)
        root = invert_root(self.undoubted[part])
        precision[part] = root.T @ root
        return mean, precision


def nuisance_deviations(delay: float, tilt: float, gain: float, cross_talk: float) -> FloatArray:
    """Prior standard deviations (39,) from those of delay [s], tilt [rad], gain and cross-talk."""
    gains = np.where(np.eye(6, dtype=bool).ravel(), gain, cross_talk) * LEVERS
    return np.concatenate(([delay], [tilt] * 2, gains))


def make_precision(deviations: FloatArray, rotation: float = 0.0, offset: float = 0.0) -> FloatArray:
    """Inverse of a prior covariance (55, 55); what has no deviation is fixed, and its precision infinite.

    From standard deviations (55,), and those of the mounting [rad, m], see `mounting`.
    """
    with np.errstate(divide="ignore"):
        precision = np.diag(1.0 / deviations**2)
    if rotation > 0.0 or offset > 0.0:
        precision[GAIN:, GAIN:] = make_gain_precision(deviations[GAIN:], rotation, offset)
    return precision


_KINDS = np.repeat(np.arange(6), (1, 2, 6, 24, 3, 3))
"""(39,) kinds of nuisances: delay, tilts, gains, cross-talk, and what rotation and offset of the sensor cause of it."""


def _extend(turn: FloatArray) -> FloatArray:
    """A matrix (39, 39) that leaves delay and tilts as they are, and turns gains and cross-talk."""
    whole = np.eye(3 + len(turn))
    whole[3:, 3:] = turn
    return whole


_PARTS = _extend(LEVERS[:, None] * DIRECTIONS)
"""(39, 39) columns: nuisances that parts of these kinds are, and"""
_PARTS_BACK = _extend(DIRECTIONS.T / LEVERS)
"""(39, 39) its inverse: the parts that nuisances consist of."""


def find_inflation(sums: ProductSums, normal: Normal) -> FloatArray:
    """By how much more noise (6,) there is than at standstill, from the scores of blocks.

    The score of a feature f in a block, sum w f r, has the variance sum w f^2 if rows are worth their variances. A
    solution makes the scores smaller: with g the derivatives of the score by the unknowns and C their covariance, by
    g C g^T on average; and so do the filters of the rows, see `damping`. Scores of repeats of a motion are added up as
    well: what the model misses it misses again, while noise does not grow by that. A variance that is estimated from
    few independent scores is given the larger expectation of Student's distribution, by as many as it rests on: what is
    expected beforehand counts among them where it has a say. Channels of one kind have noise
    of one kind: each counts half for itself and half for all three, which doubles the degrees of freedom. Less than one
    is believed, if many scores say so. Before there are enough blocks, they are of one second, and it is at least what
    was known before; and before there are enough of those, what all residuals together say, high frequencies included.
    """
    blocks: FloatArray = sums.blocks
    least: FloatArray = np.zeros(6)
    if len(blocks) < _FEWEST_BLOCKS:
        blocks, least = sums.short_blocks, sums.known_inflation
    if len(blocks) < _FEWEST_BLOCKS:
        squares = find_squares(normal.grams, find_coefficients(normal.values))
        return np.asarray(np.maximum(sums.known_inflation, squares / np.maximum(sums.expected, 1.0)))
    scores, absorbed = find_scores(blocks, normal.values, normal.covariance, normal.index)
    groups, independent = group_repeats(blocks), count_independent(normal.grams[0])
    found = compare_scores(scores, absorbed / normal.inflation[:, None], blocks, groups, sums.shares, independent)
    return np.asarray(np.maximum(found, least))


@allocating(compiled)
def compare_scores(
    scores: FloatArray,
    absorbed: FloatArray,
    blocks: FloatArray,
    groups: IntArray,
    shares: FloatArray,
    independent: float,
) -> FloatArray:
    """Inflation (6,) from scores (B, 6, F) and what a fit takes away of their squares, see `find_inflation`.

    Blocks (B, 6, F, P) that repeat each other are of one group (B,); so many features are independent, and filters have
    left shares (F,) of noise in their scores.
    """
    count, _, features = scores.shape
    repeats = groups.max() + 1
    ratios, together = np.empty(6), np.empty(repeats)
    for channel in range(6):
        alone = repeated = left = 0.0
        for f in range(features):
            variance = squares = taken = 0.0
            together[:] = 0.0
            for b in range(count):
                score = scores[b, channel, f]
                variance += blocks[b, channel, f, f]
                squares += score * score
                taken += absorbed[b, channel, f]
                together[groups[b]] += score
            if variance > 0.0:
                alone += squares / variance
                repeated += (together * together).sum() / variance
                left += shares[f] * max(1.0 - taken / variance, 0.0)
        ratios[channel] = max(alone, repeated) / max(left, 1.0 / count)
    found, freedom = np.empty(6), 2.0 * max(repeats - 1, 1) * independent
    for channel in range(6):
        first = channel // 3 * 3
        ratio = 0.5 * (ratios[channel] + ratios[first : first + 3].sum() / 3.0)
        shrunk = (_EXPECTED + freedom * ratio) / (_EXPECTED + freedom)
        found[channel] = max(ratio * (1.0 + 2.0 / freedom), shrunk * (1.0 + 2.0 / (_EXPECTED + freedom)))
    return found


@compiled
def count_independent(gram: FloatArray) -> float:
    """How many of the features, whose products are (P, P), a lower triangle, are independent: between 1 and all.

    The participation ratio of the eigenvalues of their correlations C, (tr C)² / tr C².
    """
    used = squares = 0.0
    for i in range(CONSTANT + 1):  # the constant is the last feature
        if gram[i, i] > 0.0:
            used += 1.0
            for j in range(i):
                if gram[j, j] > 0.0:
                    squares += gram[i, j] ** 2 / (gram[i, i] * gram[j, j])
    return used**2 / (used + 2.0 * squares)


class Normal:
    """The normal equations of a step from some values: data and prior, for the unknowns that are free.

    Attributes:
        grams: (6, P, P) the products.
        index: (V,) the free unknowns.
        inflation: (6,) by which the rows' variances were enlarged.
        covariance: (V, V) of the free unknowns.
        values: (55,) after the step.
    """

    def __init__(self, sums: ProductSums, grams: FloatArray, values: FloatArray, inflation: FloatArray) -> None:
        """Set up and solve for products (6, P, P) with the prior of the sums."""
        self.index, self.inflation = np.flatnonzero(np.isfinite(sums.precision.diagonal())), inflation
        self.grams, self._start = grams, values
        self._damping = sums.damping if sums.pieces >= _FEWEST_PIECES else None
        self._precision = sums.precision
        data, slope = weigh_products(grams, values, inflation)
        step, self.covariance = np.empty(len(self.index)), np.empty((len(self.index), len(self.index)))
        if not solve_normal(data, slope, sums.precision, values - sums.mean, self.index, step, self.covariance):
            raise np.linalg.LinAlgError("the information of load and nuisances is not finite")
        self.values = values.copy()
        self.values[self.index] -= step

    @cached_property
    def _known(self) -> FloatArray:
        """Precision (V, V) of the free unknowns by the prior."""
        return self._precision[np.ix_(self.index, self.index)]

    @cached_property
    def prior(self) -> FloatArray:
        """Precision (V - 16, V - 16) of the nuisances, whatever load and bias are."""
        known = self._known
        across = known[:UNKNOWNS, UNKNOWNS:]
        explained = across.T @ np.linalg.solve(known[:UNKNOWNS, :UNKNOWNS], across)
        return np.asarray(known[UNKNOWNS:, UNKNOWNS:] - explained)

    def find_systematic(self, doubts: FloatArray) -> FloatArray:
        """The part (V, V) of the covariance that the prior of the nuisances leaves: no repetition shows it.

        Nuisances may be so much (V - 16, V - 16) larger than their prior says.
        """
        across = self.covariance[:, UNKNOWNS:] @ doubts.T
        return np.asarray(across @ self.prior @ across.T)

    @property
    def repeatability(self) -> FloatArray:
        """What noise causes (V, V): the rest of the covariance, less what filters have damped of it."""
        damped = self.grams if self._damping is None else self._damping.damp(self.grams)
        scores, _ = weigh_products(damped, self._start, self.inflation)
        noise = scores[self.index[:, None], self.index] + self._known
        noise[UNKNOWNS:, UNKNOWNS:] -= self.prior
        return np.asarray(self.covariance @ noise @ self.covariance)

    def spread(self, matrix: FloatArray) -> FloatArray:
        """A matrix (V, V) of the free unknowns as one of all (55, 55)."""
        whole = np.zeros((len(self.values), len(self.values)))
        whole[self.index[:, None], self.index] = 0.5 * (matrix + matrix.T)
        return whole


def find_doubts(sums: ProductSums, normal: Normal) -> tuple[FloatArray, float]:
    """By how much worse than its prior says the sensor is: what is seen of its nuisances tells of what is not seen.

    With n the nuisances, K their prior precision and C their covariance, n^T K n is expected to be as large as the
    number of nuisances that the rows determine, V - tr(K C) (MacKay 1992, evidence). Where a tilt, a delay or a gain
    would have to be far larger than is set, gains that cannot be told from the mass may be so, too: the sensor is
    another one than is set, or something else pulls at it. Gains that are seen tell most of other gains: nuisances are
    doubted as those of their kind are, and at least as all of them together, which is the second result. The first one
    (V - 16, V - 16) turns nuisances into what they may be instead.
    """
    free = normal.index[UNKNOWNS:]
    rows = free - UNKNOWNS
    used = np.abs(_PARTS[rows]).sum(axis=0) > _ROUNDING
    parts, back, kinds = _PARTS[rows][:, used], _PARTS_BACK[used][:, rows], _KINDS[used]
    precision = _find_diagonal(parts.T, sums.prior[np.ix_(free, free)])
    known = precision * np.array(
        [_find_diagonal(back, normal.covariance[UNKNOWNS:, UNKNOWNS:]), (back @ normal.values[free]) ** 2]
    )
    unseen, found = (np.bincount(kinds, one, _KINDS.max() + 1).astype(float) for one in known)
    seen = np.bincount(kinds, minlength=len(found)) - unseen
    seen, found = np.append(seen, seen.sum()), np.append(found, found.sum())
    doubts = np.sqrt(np.maximum(1.0, (_BELIEF + found) / (_BELIEF + np.maximum(seen, 0.0))))
    return (parts * np.maximum(doubts, doubts[-1])[kinds]) @ back, float(doubts[-1])


def _find_diagonal(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """Diagonal (N,) of R M R^T for rows (N, V) and a symmetric matrix (V, V)."""
    return np.asarray(((rows @ matrix) * rows).sum(axis=1))


def update(sums: ProductSums) -> None:
    """Take one step from the last solution, and find the inflation anew: at the end of a piece."""
    total, sums.shares = sums.total, sums.damping.find_shares(FEATURES)
    normal = Normal(sums, total, sums.values, sums.inflation)
    sums.values, sums.inflation = normal.values, find_inflation(sums, normal)
    sums.left = sums.left + find_left(sums, sums.window(1))


def find_left(sums: ProductSums, piece: FloatArray) -> FloatArray:
    """Weighted squares (2,) that the solution leaves of a piece: of its mean, and of all its rows beyond their noise.

    What depends on the pose changes as slowly as that, and is left in the mean; what accelerations cause (a liquid, a
    loose part) averages out.
    """
    return leave(piece, find_coefficients(sums.values), sums.expected, sums.total_weight)


@allocating(compiled)
def leave(piece: FloatArray, coefficients: FloatArray, expected: FloatArray, weight: FloatArray) -> FloatArray:
    """What coefficients (6, P) leave of a piece (6, P, P), see `find_left`.

    Noise leaves expected squares (6,) of all rows, which have such a weight (6,).
    """
    left, squares = np.zeros(2), find_squares(piece, coefficients)
    for channel in range(6):
        own, mean = max(piece[channel, CONSTANT, CONSTANT], TINY), 0.0
        for p in range(len(coefficients[channel])):
            mean += coefficients[channel, p] * piece[channel, CONSTANT, p]
        noise = expected[channel] * own / max(weight[channel], own)
        left[0] += mean * mean / own
        left[1] += max(squares[channel] - noise, 0.0)
    return left


def solve_jointly(sums: ProductSums, start: FloatArray, motion_noise: FloatArray | None = None) -> JointSolution:
    """Load, bias and nuisances that explain all rows best.

    Args:
        sums: the rows.
        start: (16,) load and bias to start from while no piece is over.
        motion_noise: (4, 6) variances of the linear and angular acceleration, all axes together, over those of the rows
            of each channel, summed over rows: those whose accelerations stand out of their noise, and the others, in
            which they were taken to be zero. See `find_attenuation`.
    """
    grams, values = sums.total, sums.values
    steps = 1
    if sums.pieces < _STEPS:
        values, steps = sums.mean.copy(), _STEPS
        values[: len(start)] = start
    inflation = sums.inflation
    for _ in range(steps):
        normal = Normal(sums, grams, values, inflation)
        values, inflation = normal.values, inflation if sums.pieces >= _STEPS else find_inflation(sums, normal)
    normal = Normal(sums, grams, values, inflation)
    values = normal.values
    doubts, doubt = find_doubts(sums, normal)
    repeatability = normal.spread(normal.repeatability)
    if motion_noise is not None:
        pull, unsure = find_attenuation(normal, motion_noise)
        values, repeatability = values + pull, repeatability + 0.5 * (unsure + unsure.T)
    covariance, undoubted = (
        repeatability + normal.spread(normal.find_systematic(times)) for times in (doubts, np.eye(len(doubts)))
    )
    misfit = find_misfit(sums, grams, normal.values)
    slowness = float(sums.left[0] / max(sums.left[1], 1.0))
    return JointSolution(values, covariance, repeatability, undoubted, inflation, misfit, doubt, slowness)


def find_attenuation(normal: Normal, motion_noise: FloatArray) -> tuple[FloatArray, FloatArray]:
    """By how much (55,) noise of the motion has pulled a solution towards zero, and how uncertain (55, 55) that is.

    Noise adds to the products what carries no knowledge, N, of which a third is taken to be in each axis, and pulls
    the solution by -C D^T N c (errors in variables). What looks like noise of the motion may be vibration, which the
    wrench follows: any part of N between none and all may be noise. Half of the pull is subtracted, with the variance
    of a part that is uniformly distributed. Rows whose accelerations do not stand out of their noise were taken
    without these. The few of them that seem to stand out pull by an unknown part of what all of them would.
    """
    coefficients, derivatives = find_coefficients(normal.values), differentiate(normal.values)
    noise = np.repeat(motion_noise.reshape(2, 2, 6), 3, axis=1).transpose(0, 2, 1) / (3.0 * normal.inflation[:, None])
    slopes, pulled = np.zeros((2, NUISANCES)), (noise * coefficients[:, :6]).transpose(1, 0, 2) @ derivatives[:, :6]
    for own, unknowns in zip(pulled, INVOLVED, strict=True):
        slopes[:, unknowns] += own
    standing_out, hidden = slopes @ normal.spread(normal.covariance)
    return 0.5 * standing_out, np.outer(standing_out, standing_out) / 12.0 + np.outer(hidden, hidden)


def find_misfit(sums: ProductSums, grams: FloatArray, values: FloatArray) -> FloatArray:
    """Root mean square (2,) [N, Nm] of what a solution leaves of forces and torques beyond the noise of the rows."""
    coefficients = find_coefficients(values)
    squares = find_squares(grams, coefficients) - sums.expected
    excess = np.maximum(squares, 0.0) / np.maximum(sums.total_weight, np.finfo(float).tiny)
    return np.asarray(np.sqrt(excess.reshape(2, 3).sum(axis=1)))
