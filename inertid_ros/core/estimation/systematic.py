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
from inertid_ros.core.equations.load import FEATURES, LOAD, REGRESSORS, UNKNOWNS
from inertid_ros.core.estimation.information import invert_root
from inertid_ros.core.estimation.mounting import DIRECTIONS, LEVERS, make_gain_precision
from inertid_ros.core.estimation.products import (
    CONSTANT,
    MOVING,
    PRODUCTS,
    RATES,
    READING,
    TILTED,
    ProductSums,
    group_repeats,
)
from inertid_ros.core.records import FloatArray, IntArray

BIAS, DELAY, TILT, GAIN, NUISANCES = LOAD, LOAD + 6, LOAD + 7, LOAD + 9, LOAD + 45
"""Where among the unknowns of the joint solution these begin, and how many there are."""

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
_LOAD_PART = np.ascontiguousarray(REGRESSORS[:MOVING, :, :LOAD])
"""(12, 6, 10): what each moving feature adds to the regressor of phi."""
INVOLVED = np.array(
    [[*range(LOAD), BIAS + i, DELAY, TILT, TILT + 1, *range(GAIN + 6 * i, GAIN + 6 * i + 6)] for i in range(6)]
)
"""(6, 20): the unknowns that a channel's equation contains."""


@compiled
def lay_down_feature(
    place: int,
    factor: float,
    effect: float,
    by_phi: FloatArray,
    pure: FloatArray,
    coefficients: FloatArray,
    derivatives: FloatArray,
) -> None:
    """Coefficient of one entry of z in one channel (P,), and its derivatives (P, 20) by load and gains."""
    coefficients[place] = factor * effect
    for u in range(BIAS):
        derivatives[place, u] = factor * by_phi[u]
    for j in range(6):
        derivatives[place, BIAS + 4 + j] = factor * pure[j]


@allocating(compiled)
def expand_channels(
    values: FloatArray, load_part: FloatArray, coefficients: FloatArray, derivatives: FloatArray
) -> None:
    """Coefficients (6, P) of z and their derivatives (6, P, 20) by the unknowns involved, into arrays of zeros."""
    pure, by_phi = np.empty(6), np.empty(BIAS)
    for feature in range(MOVING):
        regressor = load_part[feature]
        for j in range(6):
            pure[j] = 0.0
            for u in range(BIAS):
                pure[j] += regressor[j, u] * values[u]
        for channel in range(6):
            effect, by_phi[:] = 0.0, 0.0
            for j in range(6):
                mixing = values[GAIN + 6 * channel + j] + (1.0 if j == channel else 0.0)
                effect += mixing * pure[j]
                for u in range(BIAS):
                    by_phi[u] += mixing * regressor[j, u]
            found, by_unknown = coefficients[channel], derivatives[channel]
            lay_down_feature(feature, 1.0, effect, by_phi, pure, found, by_unknown)
            lay_down_feature(RATES + feature, -values[DELAY], effect, by_phi, pure, found, by_unknown)
            by_unknown[RATES + feature, BIAS + 1] = -effect
            for axis in range(2 if feature < 3 else 0):
                place = TILTED + 3 * axis + feature
                lay_down_feature(place, values[TILT + axis], effect, by_phi, pure, found, by_unknown)
                by_unknown[place, BIAS + 2 + axis] = effect
    for channel in range(6):
        coefficients[channel, CONSTANT], coefficients[channel, READING] = values[BIAS + channel], -1.0
        derivatives[channel, CONSTANT, BIAS] = 1.0


@allocating(compiled)
def add_channels(
    grams: FloatArray,
    inflation: FloatArray,
    involved: IntArray,
    coefficients: FloatArray,
    derivatives: FloatArray,
    data: FloatArray,
    slope: FloatArray,
) -> None:
    """Add D^T G D (55, 55) and D^T G c (55,) of all channels, G their products (6, P, P) over their inflation."""
    size, count = derivatives.shape[1], derivatives.shape[2]
    weighted, square = np.empty((size, count)), np.empty((count, count))
    for channel in range(len(grams)):
        gram, by_unknown, unknowns = grams[channel], derivatives[channel], involved[channel]
        scale = 1.0 / inflation[channel]
        weighted[:] = 0.0
        square[:] = 0.0
        for p in range(size):
            for q in range(size):
                factor = scale * gram[p, q]
                for a in range(count):
                    weighted[p, a] += factor * by_unknown[q, a]
            for a in range(count):
                slope[unknowns[a]] += weighted[p, a] * coefficients[channel, p]
                for b in range(a + 1):
                    square[a, b] += by_unknown[p, a] * weighted[p, b]
        for a in range(count):
            for b in range(a + 1):
                data[unknowns[a], unknowns[b]] += square[a, b]
                if a != b:
                    data[unknowns[b], unknowns[a]] += square[a, b]


@compiled
def factorise(matrix: FloatArray) -> bool:
    """Put the Cholesky factor in place of the lower triangle; False if the matrix is not positive definite."""
    for i in range(len(matrix)):
        for j in range(i + 1):
            rest = matrix[i, j]
            for k in range(j):
                rest -= matrix[i, k] * matrix[j, k]
            if i == j and not rest > 0.0:
                return False
            matrix[i, j] = np.sqrt(rest) if i == j else rest / matrix[j, j]
    return True


def factorise_safely(matrix: FloatArray) -> FloatArray:
    """The Cholesky factor (V, V) of an information that is positive definite but for rounding."""
    factor, ridge = matrix.copy(), 0.0
    while not factorise(factor):
        if not np.isfinite(matrix).all():
            raise np.linalg.LinAlgError("the information of load and nuisances is not finite")
        ridge = max(10.0 * ridge, len(matrix) * float(np.finfo(float).eps * np.diag(matrix).max()))
        factor = matrix + ridge * np.eye(len(matrix))
    return factor


@allocating(compiled)
def solve_factorised(factor: FloatArray, right: FloatArray, inverse: FloatArray) -> None:
    """Solve for a right side (V,), in place, and invert (V, V), exactly symmetric, by the Cholesky factor."""
    size = len(factor)
    root = np.zeros((size, size))
    for i in range(size):
        root[i, i] = 1.0 / factor[i, i]
        for k in range(i):
            part = factor[i, k] * root[i, i]
            right[i] -= factor[i, k] * right[k]
            for j in range(k + 1):
                root[i, j] -= part * root[k, j]
        right[i] *= root[i, i]
    inverse[:] = 0.0
    for k in range(size):
        for i in range(k + 1):
            for j in range(i + 1):
                inverse[i, j] += root[k, i] * root[k, j]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            right[i] -= factor[k, i] * right[k]
            inverse[i, k] = inverse[k, i]
        right[i] /= factor[i, i]


def expand(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients (6, P) of z in each channel's residual, -1 for the reading, and their derivatives (6, P, 20).

    The latter are by the unknowns INVOLVED.
    """
    coefficients, derivatives = np.zeros((6, PRODUCTS)), np.zeros((6, PRODUCTS, INVOLVED.shape[1]))
    expand_channels(values, _LOAD_PART, coefficients, derivatives)
    return coefficients, derivatives


def find_coefficients(values: FloatArray) -> FloatArray:
    """Coefficients (6, P) of z in each channel's residual, see `expand`."""
    return expand(values)[0]


@allocating(compiled)
def find_squares(grams: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Weighted squares (6,) of the residuals of products (6, P, P) with coefficients (6, P): c^T G c."""
    squares = np.zeros(len(grams))
    for channel in range(len(grams)):
        gram, c = grams[channel], coefficients[channel]
        for p in range(len(c)):
            along = 0.0
            for q in range(len(c)):
                along += gram[p, q] * c[q]
            squares[channel] += c[p] * along
    return squares


def weigh_products(grams: FloatArray, values: FloatArray, inflation: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What products (6, P, P) say of the unknowns about some values: information (55, 55) and slope (55,)."""
    data, slope = np.zeros((NUISANCES, NUISANCES)), np.zeros(NUISANCES)
    add_channels(np.ascontiguousarray(grams), inflation, INVOLVED, *expand(values), data, slope)
    return data, slope


def find_scores(
    blocks: FloatArray, coefficients: FloatArray, derivatives: FloatArray, covariances: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Scores of the features in blocks (B, 6, F, P), and squares of them that a fit takes away on average, (B, 6, F).

    Coefficients are (6, P), derivatives (6, P, 20) theirs by the unknowns that a channel contains, and covariances
    (6, 20, 20) those of these unknowns, for rows that are worth their variances.
    """
    scores, absorbed = np.empty((2, *blocks.shape[:3]))
    shape = scores[:, 0].shape
    for k, covariance in enumerate(covariances):
        rows = blocks[:, k].reshape(-1, coefficients.shape[1])
        effects = rows @ derivatives[k]
        scores[:, k] = (rows @ coefficients[k]).reshape(shape)
        absorbed[:, k] = np.einsum("na,na->n", effects @ covariance, effects).reshape(shape)
    return scores, absorbed


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
    coefficients, derivatives = expand(normal.values)
    if len(blocks) < _FEWEST_BLOCKS:
        blocks, least = sums.short_blocks, sums.known_inflation
    if len(blocks) < _FEWEST_BLOCKS:
        squares = find_squares(normal.grams, coefficients)
        return np.asarray(np.maximum(sums.known_inflation, squares / np.maximum(sums.expected, 1.0)))
    covariances = normal.spread(normal.covariance)[INVOLVED[:, :, None], INVOLVED[:, None, :]]
    scores, absorbed = find_scores(blocks, coefficients, derivatives, covariances / normal.inflation[:, None, None])
    variances, groups = _find_variances(blocks), group_repeats(blocks)
    repeated = np.array([scores[groups == group].sum(axis=0) for group in range(groups.max() + 1)])
    sizes = [((one**2).sum(axis=0) / variances).sum(axis=1) for one in (scores, repeated)]
    left = sums.shares * np.maximum((1.0 - absorbed.sum(axis=0) / variances) * np.isfinite(variances), 0.0)
    ratio = np.maximum(*sizes) / np.maximum(left.sum(axis=1), 1.0 / len(blocks))
    ratio = 0.5 * (ratio + np.repeat(ratio.reshape(2, 3).mean(axis=1), 3))
    freedom = 2.0 * max(len(repeated) - 1, 1) * count_independent(normal.grams[0])
    shrunk = (_EXPECTED + freedom * ratio) / (_EXPECTED + freedom)
    found = np.maximum(ratio * (1.0 + 2.0 / freedom), shrunk * (1.0 + 2.0 / (_EXPECTED + freedom)))
    return np.asarray(np.maximum(found, least))


def _find_variances(blocks: FloatArray) -> FloatArray:
    """Variances (6, F) of the scores in blocks (B, 6, F, P); infinite where a feature is never there."""
    expected = np.diagonal(blocks, axis1=2, axis2=3).sum(axis=0)
    return np.where(expected > 0.0, expected, np.inf)


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
        part = self.index[:, None], self.index  # np.ix_ would look at what they are for longer than this takes
        known = sums.precision[part]
        data, slope = weigh_products(grams, values, inflation)
        scale = 1.0 / np.sqrt(known.diagonal())
        step = scale * (slope[self.index] + known @ (values - sums.mean)[self.index])
        inverse = np.empty(known.shape)
        scales = np.outer(scale, scale)
        information = data[part] + known
        factor = factorise_safely(information * scales)
        solve_factorised(factor, step, inverse)
        self.covariance = inverse * scales
        self.values = values.copy()
        self.values[self.index] -= scale * step
        self._known = known

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
    coefficients = find_coefficients(sums.values)
    squares = find_squares(piece, coefficients)
    weights = np.maximum(piece[:, CONSTANT, CONSTANT], np.finfo(float).tiny)
    means = (coefficients * piece[:, CONSTANT]).sum(axis=1) ** 2 / weights
    noise = sums.expected * weights / np.maximum(sums.total_weight, weights)
    return np.array([means.sum(), np.maximum(squares - noise, 0.0).sum()])


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
    coefficients, derivatives = expand(normal.values)
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
