"""A load together with what is systematically wrong with its sensor, its clock and its mounting.

The wrench that a sensor publishes at time t is, to first order in what is wrong,

    y_i(t) = sum_j (delta_ij + gain_ij) w_j(t - delay; gravity tilted) + bias_i

with w = T(features) phi linear in thirteen features of the motion (see `equations.load`). None of this averages out, and
some of it cannot be told from the load at all (a gain common to all axes is a mass), so delay, tilt, gains and cross-talk
are unknowns with prior standard deviations of their own, estimated jointly.

The equation is bilinear in load and nuisance. Linearising row by row would freeze what was not yet known of the load
into the past; instead each channel keeps the weighted products of everything that its equation can contain,

    z = [features (12), 1, features with gravity tilted about both axes (6), rates of the features (12), y_i]

summed over rows: G_i = sum w_i z z^T. For any load and nuisance the weighted squares of residuals are
c_i^T G_i c_i, where c_i are the products of load and nuisance that multiply z, exactly as if all rows had been kept.

Sums are kept for blocks of two seconds. G_i c_i of one block are its scores: their squares, over what the noise measured
at standstill lets expect, show how much more noise there is at the frequencies of the motion (correlated noise, drift,
vibration, all that the model misses), and by so much the rows' variances are enlarged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_solve, cholesky

from inertid_ros.core.compiled import compiled
from inertid_ros.core.equations.load import FEATURES, LOAD, REGRESSORS
from inertid_ros.core.records import FloatArray

MOVING = FEATURES - 1
"""Features that move: all but the constant of the bias."""
CONSTANT, TILTED, RATES, READING, PRODUCTS = MOVING, FEATURES, FEATURES + 6, FEATURES + 6 + MOVING, FEATURES + 7 + MOVING
"""Where in z these begin, and its length."""
BIAS, DELAY, TILT, GAIN, NUISANCES = LOAD, LOAD + 6, LOAD + 7, LOAD + 9, LOAD + 45
"""Where among the unknowns of the joint solution these begin, and how many there are."""

_ITERATIONS = 3
"""Gauss-Newton steps in each round: nuisances are per cents, so that each step gains two digits."""
_ROUNDS = 2
"""How often the enlargement of the variances is found anew from the residuals of the last solution."""
_BLOCK = 2.0
"""Length of a block [s]: four times as long as the noise of strain gauge amplifiers is correlated."""
_KEPT_BLOCKS = 16
"""Blocks that the enlargement is found from: half a minute, in which a bias does not drift away."""
_FEWEST_BLOCKS = 3
"""Blocks that are needed for it; with two, one solution explains both."""
LEVER = 0.1
"""Distance [m] by which cross-talk between force and torque is compared: the size of a sensor and its flange."""


@compiled
def add_products(products: FloatArray, z: FloatArray, readings: FloatArray, variance: FloatArray) -> None:
    """Add one row to the products (6, P, P): z (P,) but for its last number, readings (6,) and their variances (6,)."""
    size = len(z)
    for channel in range(len(readings)):
        z[size - 1] = readings[channel]
        gram = products[channel]
        for i in range(size):
            scaled = z[i] / variance[channel]
            if scaled != 0.0:
                for j in range(i + 1):
                    gram[i, j] += scaled * z[j]


@compiled
def lay_down_products(signals: FloatArray, before: FloatArray, interval: float, z: FloatArray) -> None:
    """All but the reading of z (P,) from a row's signals (22,) and those of the rows before.

    Rates are slopes at the end of the parabola through three rows; `before` (25,) keeps features of the last two rows, and how many there were.
    """
    for index in range(MOVING):
        feature = signals[index] - (signals[13 + index] if index < 3 else 0.0)
        last, earlier = before[index], before[MOVING + index]
        rate = 0.0
        if before[-1] >= 2.0:
            rate = (3.0 * feature - 4.0 * last + earlier) / (2.0 * interval)
        elif before[-1] == 1.0:
            rate = (feature - last) / interval
        z[RATES + index] = rate
        z[index] = before[index] = feature
        before[MOVING + index] = last
    before[-1] += 1.0
    z[CONSTANT] = signals[12]
    for index in range(6):
        z[TILTED + index] = -signals[16 + index]


@compiled
def diffuse_products(products: FloatArray, variance: FloatArray) -> None:
    """Let the bias of each channel wander by a variance (6,): what is known of it is worth less."""
    size = products.shape[1]
    line = np.empty(size)
    for channel in range(len(variance)):
        gram = products[channel]
        known = gram[CONSTANT, CONSTANT]
        if variance[channel] <= 0.0 or known <= 0.0:
            continue
        for i in range(size):
            line[i] = gram[CONSTANT, i] if i <= CONSTANT else gram[i, CONSTANT]
        scale = 1.0 / (1.0 / variance[channel] + known)
        for i in range(size):
            for j in range(i + 1):
                gram[i, j] -= scale * line[i] * line[j]


class ProductSums:
    """Products of all rows of one load, block by block.

    Attributes:
        total: (6, P, P) of all blocks that are over, lower triangles.
        blocks: (B, 6, P, P) of the last ones, the present one first.
        count: blocks begun.
        mean, precision: (55,), (55, 55) what is known of load, bias and nuisances besides.
    """

    def __init__(self, mean: FloatArray, precision: FloatArray) -> None:
        """Start with no row."""
        self.mean, self.precision = mean, precision
        self.total: FloatArray = np.zeros((6, PRODUCTS, PRODUCTS))
        self.blocks: FloatArray = np.zeros((_KEPT_BLOCKS, 6, PRODUCTS, PRODUCTS))
        self.count = 1
        self._filled = 0.0

    def add(self, z: FloatArray, readings: FloatArray, variance: FloatArray, interval: float, wander: FloatArray) -> None:
        """Add a row that stands for an interval [s]; biases wander by a variance (6,) per second."""
        add_products(self.blocks[0], z, readings, variance)
        self._filled += interval
        if self._filled >= _BLOCK:
            diffuse_products(self.total, wander * self._filled)
            self.total += self.blocks[0]
            self.blocks = np.roll(self.blocks, 1, axis=0)
            self.blocks[0] = 0.0
            self.count += 1
            self._filled = 0.0

    def copy(self) -> ProductSums:
        """An independent copy."""
        same = ProductSums(self.mean, self.precision)
        same.total, same.blocks = self.total.copy(), self.blocks.copy()
        same.count, same._filled = self.count, self._filled
        return same

    def take_over(self, other: ProductSums, bias_variance: FloatArray) -> None:
        """Add the rows of another sum, after the bias has changed by a variance (6,)."""
        self.total += self.blocks[0]
        diffuse_products(self.total, bias_variance)
        self.total += other.total
        self.blocks, self.count, self._filled = other.blocks, other.count, other._filled

    def solve(self, start: FloatArray, attenuation: FloatArray) -> JointSolution:
        """Load, bias and nuisances that explain the rows best.

        Args:
            start: (16,) load and bias to start from.
            attenuation: (16,) what noise of the motion has added to the diagonal N of the information. It carries no
                knowledge and pulls the estimate x towards zero by P N x (errors in variables): that much is added to
                the covariance as a square.
        """
        grams = _complete(self.total + self.blocks[0])
        blocks = _complete(self.blocks[: min(self.count, _KEPT_BLOCKS)])
        inflation = np.ones(6)
        values = self.mean.copy()
        values[: len(start)] = start
        for _ in range(_ROUNDS):
            values = _solve(grams / inflation[:, None, None], self.mean, self.precision, values, inflation).values
            inflation = find_inflation(blocks, values)
        solution = _solve(grams / inflation[:, None, None], self.mean, self.precision, values, inflation)
        noise = attenuation / np.append(np.repeat(inflation.reshape(2, 3).mean(axis=1), (4, 6)), inflation)
        pulled = solution.covariance[:, : len(start)] @ (noise * solution.values[: len(start)])
        widening = np.outer(pulled, pulled)
        return replace(
            solution, covariance=solution.covariance + widening, repeatability=solution.repeatability + widening
        )


@dataclass(frozen=True, slots=True)
class JointSolution:
    """Load, bias and nuisances.

    Attributes:
        values: (55,) [phi (10), bias (6), delay, tilts (2), gains and cross-talk (36, row by row)].
        covariance: (55, 55) of all, systematic error included.
        repeatability: (55, 55) the part of it that noise alone causes: what a repetition on the same sensor would show.
        inflation: (6,) by how much more the residuals of each channel scatter than noise at standstill explains.
    """

    values: FloatArray
    covariance: FloatArray
    repeatability: FloatArray
    inflation: FloatArray

    def forget_load(self, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (55,) and precision (55, 55) for the next load: bias and nuisances are those of the same sensor."""
        mean, precision = self.values.copy(), prior.copy()
        mean[:LOAD] = 0.0
        free = np.flatnonzero(np.isfinite(np.diag(prior)))[LOAD:]
        part = np.ix_(free, free)
        precision[part] = np.linalg.inv(self.covariance[part])
        return mean, precision


def nuisance_deviations(delay: float, tilt: float, gain: float, cross_talk: float) -> FloatArray:
    """Prior standard deviations (39,) from those of delay [s], tilt [rad], gain and cross-talk."""
    levers = np.repeat([1.0, LEVER], 3)
    gains = cross_talk * np.outer(levers, 1.0 / levers)
    np.fill_diagonal(gains, gain)
    return np.concatenate(([delay], [tilt] * 2, gains.ravel()))


def make_precision(deviations: FloatArray) -> FloatArray:
    """Inverse of a diagonal prior covariance (55, 55); what has no deviation is fixed, and its precision infinite."""
    with np.errstate(divide="ignore"):
        return np.diag(1.0 / deviations**2)


_LOAD_PART = REGRESSORS[:MOVING, :, :LOAD]
"""(12, 6, 10): what each moving feature adds to the regressor of phi."""


def expand(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients (6, P) of z in each channel's residual, with -1 for the reading, and their derivatives (6, P, 55)."""
    phi, delay, tilt = values[:LOAD], values[DELAY], values[TILT:GAIN]
    mixing = np.eye(6) + values[GAIN:].reshape(6, 6)
    pure = _LOAD_PART @ phi
    effect, by_phi = mixing @ pure.T, np.tensordot(mixing, _LOAD_PART, axes=(1, 1))
    coefficients, derivatives = np.zeros((6, PRODUCTS)), np.zeros((6, PRODUCTS, NUISANCES))
    channels = np.arange(6)
    coefficients[:, CONSTANT], coefficients[:, READING] = values[BIAS:DELAY], -1.0
    derivatives[channels, CONSTANT, BIAS + channels] = 1.0
    parts = ((0, MOVING, 1.0, None), (RATES, MOVING, -delay, DELAY))
    parts += tuple((TILTED + 3 * axis, 3, tilt[axis], TILT + axis) for axis in range(2))
    for first, count, factor, unknown in parts:
        part = slice(first, first + count)
        coefficients[:, part], derivatives[:, part, :LOAD] = factor * effect[:, :count], factor * by_phi[:, :count]
        if unknown is not None:
            derivatives[:, part, unknown] = (-1.0 if unknown == DELAY else 1.0) * effect[:, :count]
        for channel in channels:
            gains = GAIN + 6 * channel
            derivatives[channel, part, gains : gains + 6] = factor * pure[:count]
    return coefficients, derivatives


def find_inflation(blocks: FloatArray, values: FloatArray) -> FloatArray:
    """By how much more noise (6,) there is than at standstill, from the scores of blocks (B, 6, P, P).

    The score of a feature f in a block, sum w f r, has the variance sum w f^2 if rows are worth their variances. A
    solution makes the scores of all blocks together vanish, which costs one block. Channels of one kind have noise of
    one kind: each counts half for itself and half for all three.
    """
    if len(blocks) < _FEWEST_BLOCKS:
        return np.ones(6)
    coefficients, _ = expand(values)
    scores = np.einsum("bipq,iq->bip", blocks, coefficients)[:, :, :FEATURES]
    expected = np.einsum("bipp->ip", blocks)[:, :FEATURES]
    used = expected > 0.0
    ratios = np.where(used, (scores**2).sum(axis=0) / np.where(used, expected, 1.0), 0.0)
    ratio = ratios.sum(axis=1) / np.maximum(used.sum(axis=1), 1) * len(blocks) / (len(blocks) - 1)
    pooled = np.repeat(ratio.reshape(2, 3).mean(axis=1), 3)
    return np.maximum(1.0, 0.5 * (ratio + pooled))


def _complete(lower: FloatArray) -> FloatArray:
    """Symmetric matrices from their lower triangles."""
    return np.asarray(np.tril(lower) + np.swapaxes(np.tril(lower, -1), -1, -2))


def _solve(
    grams: FloatArray, mean: FloatArray, precision: FloatArray, start: FloatArray, inflation: FloatArray
) -> JointSolution:
    """Gauss-Newton steps; unknowns whose precision is infinite stay at their mean."""
    index = np.flatnonzero(np.isfinite(np.diag(precision)))
    part = np.ix_(index, index)
    known, values = precision[part], start.copy()
    scale = 1.0 / np.sqrt(np.diag(known))
    for _ in range(_ITERATIONS):
        coefficients, derivatives = expand(values)
        derivatives = derivatives[:, :, index]
        weighted = grams @ derivatives
        data = np.tensordot(derivatives, weighted, axes=((0, 1), (0, 1)))
        slope = np.tensordot(weighted, coefficients, axes=((0, 1), (0, 1))) + known @ (values - mean)[index]
        root = cholesky((data + known) * np.outer(scale, scale), lower=True)
        values[index] -= scale * cho_solve((root, True), scale * slope)
    inverse = cho_solve((root, True), np.diag(scale)) * scale[:, None]
    covariance, repeatability = np.zeros((2, len(values), len(values)))
    covariance[part] = inverse
    repeatability[part] = inverse @ data @ inverse
    return JointSolution(values, covariance, repeatability, inflation)
