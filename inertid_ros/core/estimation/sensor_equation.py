"""The equation of a wrist sensor's channel, and what sums of products say of its unknowns; compiled.

What channel i reads (see `systematic`) is, in terms of what its products are summed over, z (see `products`),

    y_i = sum_f e_if u_f + bias_i,    u_f = z_f - delay dz_f/dt + sum_a tilt_a z_f (tilted about a)

with e_if the effect of feature f on the channel: load, gains and cross-talk. Whatever changes of these unknowns, the
residual changes along sixteen combinations of z only: the twelve u_f, 1, and what delay and tilts add,
-sum_f e_if dz_f/dt and sum_f e_if z_f (tilted). Sums of products of z are turned into those of the combinations, and
these into derivatives by the twenty unknowns that the equation contains: a third of the work of doing so at once.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import allocating, compiled
from inertid_ros.core.equations.load import LOAD, REGRESSORS
from inertid_ros.core.estimation.products import CONSTANT, MOVING, PRODUCTS, RATES, READING, TILTED
from inertid_ros.core.records import FloatArray, IntArray

BIAS, DELAY, TILT, GAIN, NUISANCES = LOAD, LOAD + 6, LOAD + 7, LOAD + 9, LOAD + 45
"""Where among the unknowns of the joint solution these begin, and how many there are."""
ONE, LATE, TURNED, COMBINED = MOVING, MOVING + 1, MOVING + 2, MOVING + 4
"""Where among the combinations, after those of the features, 1, the delay's and the tilts' are, and how many there are.
"""
INVOLVED = np.array(
    [[*range(LOAD), BIAS + i, DELAY, TILT, TILT + 1, *range(GAIN + 6 * i, GAIN + 6 * i + 6)] for i in range(6)]
)
"""(6, 20): the unknowns that a channel's equation contains."""
_LOAD_PART = np.ascontiguousarray(REGRESSORS[:MOVING, :, :LOAD])
"""(12, 6, 10): what each moving feature adds to the regressor of phi."""


@allocating(compiled)
def turn_unknowns(values: FloatArray, load_part: FloatArray, effects: FloatArray, turns: FloatArray) -> None:
    """Effects (6, 12), and how combinations depend on the unknowns involved, turns (6, 16, 20), into arrays of zeros.

    The change of a channel's residual is the combinations times its turn times the change of the unknowns.
    """
    pure = np.empty(6)
    for feature in range(MOVING):
        regressor = load_part[feature]
        for j in range(6):
            pure[j] = 0.0
            for u in range(LOAD):
                pure[j] += regressor[j, u] * values[u]
        for channel in range(6):
            turn, effect = turns[channel, feature], 0.0
            for j in range(6):
                mixing = values[GAIN + 6 * channel + j] + (1.0 if j == channel else 0.0)
                effect += mixing * pure[j]
                turn[LOAD + 4 + j] = pure[j]
                for u in range(LOAD):
                    turn[u] += mixing * regressor[j, u]
            effects[channel, feature] = effect
    for channel in range(6):
        for index in range(ONE, COMBINED):
            turns[channel, index, LOAD + index - ONE] = 1.0


@compiled
def combine(lines: FloatArray, values: FloatArray, effects: FloatArray, first: int, combined: FloatArray) -> None:
    """Combinations of lines (M, P) of z for a channel with effects (12,), into columns (16, M) from `first` on."""
    delay, about, across = values[DELAY], values[TILT], values[TILT + 1]
    for m in range(len(lines)):
        line, place = lines[m], first + m
        late = turned = other = 0.0
        for f in range(MOVING):
            combined[f, place] = line[f] - delay * line[RATES + f]
            late -= effects[f] * line[RATES + f]
        for f in range(3):
            combined[f, place] += about * line[TILTED + f] + across * line[TILTED + 3 + f]
            turned += effects[f] * line[TILTED + f]
            other += effects[f] * line[TILTED + 3 + f]
        combined[ONE, place], combined[LATE, place] = line[CONSTANT], late
        combined[TURNED, place], combined[TURNED + 1, place] = turned, other


@allocating(compiled)
def turn_square(inner: FloatArray, turn: FloatArray, square: FloatArray) -> None:
    """T^T S T (20, 20), lower triangle, of a symmetric matrix S (16, 16) and a turn T (16, 20)."""
    count = turn.shape[1]
    line = np.empty(count)
    square[:] = 0.0
    for i in range(COMBINED):
        line[:] = 0.0
        for j in range(COMBINED):
            factor, other = inner[i, j], turn[j]
            for a in range(count):
                line[a] += factor * other[a]
        for a in range(count):
            factor, own = turn[i, a], square[a]
            if factor != 0.0:
                for b in range(a + 1):
                    own[b] += factor * line[b]


@allocating(compiled)
def weigh_channels(
    grams: FloatArray,
    inflation: FloatArray,
    involved: IntArray,
    values: FloatArray,
    load_part: FloatArray,
    data: FloatArray,
    slope: FloatArray,
) -> None:
    """Add D^T G D (55, 55) and D^T G c (55,) of all channels, G their products (6, P, P) over their inflation."""
    count = involved.shape[1]
    effects, turns = np.zeros((6, MOVING)), np.zeros((6, COMBINED, count))
    turn_unknowns(values, load_part, effects, turns)
    half, inner, square = np.empty((COMBINED, PRODUCTS)), np.empty((COMBINED, COMBINED)), np.empty((count, count))
    for channel in range(6):
        turn, unknowns, scale = turns[channel], involved[channel], 1.0 / inflation[channel]
        combine(grams[channel], values, effects[channel], 0, half)
        combine(half, values, effects[channel], 0, inner)
        turn_square(inner, turn, square)
        for i in range(COMBINED):
            score = values[BIAS + channel] * inner[i, ONE] - half[i, READING]
            for f in range(MOVING):
                score += effects[channel, f] * inner[i, f]
            for a in range(count):
                slope[unknowns[a]] += scale * turn[i, a] * score
        for a in range(count):
            for b in range(a + 1):
                data[unknowns[a], unknowns[b]] += scale * square[a, b]
                if a != b:
                    data[unknowns[b], unknowns[a]] += scale * square[a, b]


@allocating(compiled)
def spread_combinations(
    turn: FloatArray, unknowns: IntArray, places: IntArray, covariance: FloatArray, spread: FloatArray
) -> None:
    """T C T^T (16, 16), lower triangle, of a turn T (16, 20) and the covariance C of its unknowns.

    Of all unknowns the covariance (V, V) has those that are free, at these places (55,); others have -1 there.
    """
    size = len(unknowns)
    own, across, by_unknown = np.empty((size, size)), np.empty((size, COMBINED)), np.empty(size)
    for a in range(size):
        for b in range(size):
            first, second = places[unknowns[a]], places[unknowns[b]]
            own[a, b] = covariance[first, second] if min(first, second) >= 0 else 0.0
        for i in range(COMBINED):
            across[a, i] = turn[i, a]
    spread[:] = 0.0
    for i in range(COMBINED):
        by_unknown[:] = 0.0
        for a in range(size):
            factor, line = turn[i, a], own[a]
            if factor != 0.0:
                for b in range(size):
                    by_unknown[b] += factor * line[b]
        result = spread[i]
        for b in range(size):
            factor, column = by_unknown[b], across[b]
            for j in range(i + 1):
                result[j] += factor * column[j]


@allocating(compiled)
def square_columns(spread: FloatArray, combined: FloatArray, squares: FloatArray) -> None:
    """u^T S u of each column u of (16, M), into (M,), with S a symmetric matrix (16, 16), lower triangle."""
    along = np.empty(len(squares))
    squares[:] = 0.0
    for i in range(COMBINED):
        line = combined[i]
        for m in range(len(squares)):
            along[m] = spread[i, i] * line[m]
        for j in range(i):
            factor, other = 2.0 * spread[i, j], combined[j]
            for m in range(len(squares)):
                along[m] += factor * other[m]
        for m in range(len(squares)):
            squares[m] += along[m] * line[m]


@allocating(compiled)
def score_blocks(
    blocks: FloatArray,
    covariance: FloatArray,
    free: IntArray,
    involved: IntArray,
    values: FloatArray,
    load_part: FloatArray,
    scores: FloatArray,
    absorbed: FloatArray,
) -> None:
    """Scores of the features in blocks, and squares of them that a fit takes away, see `find_scores`."""
    count, features = len(blocks), blocks.shape[2]
    effects, turns = np.zeros((6, MOVING)), np.zeros((6, COMBINED, involved.shape[1]))
    turn_unknowns(values, load_part, effects, turns)
    spread, combined = np.empty((COMBINED, COMBINED)), np.empty((COMBINED, count * features))
    squares, places = np.empty(count * features), np.full(NUISANCES, -1)
    for place in range(len(free)):
        places[free[place]] = place
    for channel in range(6):
        spread_combinations(turns[channel], involved[channel], places, covariance, spread)
        for b in range(count):
            combine(blocks[b, channel], values, effects[channel], b * features, combined)
        square_columns(spread, combined, squares)
        for b in range(count):
            for f in range(features):
                m = b * features + f
                score = values[BIAS + channel] * combined[ONE, m] - blocks[b, channel, f, READING]
                for i in range(MOVING):
                    score += effects[channel, i] * combined[i, m]
                scores[b, channel, f], absorbed[b, channel, f] = score, squares[m]


@allocating(compiled)
def lay_down_coefficients(values: FloatArray, load_part: FloatArray, coefficients: FloatArray) -> None:
    """Coefficients (6, P) of z in each channel's residual."""
    effects, turns = np.zeros((6, MOVING)), np.zeros((6, COMBINED, LOAD + 10))
    turn_unknowns(values, load_part, effects, turns)
    for channel in range(6):
        found = coefficients[channel]
        for f in range(MOVING):
            effect = effects[channel, f]
            found[f], found[RATES + f] = effect, -values[DELAY] * effect
            if f < 3:
                found[TILTED + f], found[TILTED + 3 + f] = values[TILT] * effect, values[TILT + 1] * effect
        found[CONSTANT], found[READING] = values[BIAS + channel], -1.0


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


def find_coefficients(values: FloatArray) -> FloatArray:
    """Coefficients (6, P) of z in each channel's residual, -1 for the reading."""
    coefficients = np.empty((6, PRODUCTS))
    lay_down_coefficients(values, _LOAD_PART, coefficients)
    return coefficients


def differentiate(values: FloatArray) -> FloatArray:
    """Derivatives (6, P, 20) of the coefficients by the unknowns INVOLVED."""
    effects, turns = np.zeros((6, MOVING)), np.zeros((6, COMBINED, INVOLVED.shape[1]))
    turn_unknowns(values, _LOAD_PART, effects, turns)
    combined, units = np.empty((6, COMBINED, PRODUCTS)), np.eye(PRODUCTS)
    for effect, one in zip(effects, combined, strict=True):
        combine(units, values, effect, 0, one)
    return np.asarray(combined.transpose(0, 2, 1) @ turns)


def weigh_products(grams: FloatArray, values: FloatArray, inflation: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What products (6, P, P) say of the unknowns about some values: information (55, 55) and slope (55,)."""
    data, slope = np.zeros((NUISANCES, NUISANCES)), np.zeros(NUISANCES)
    weigh_channels(np.ascontiguousarray(grams), inflation, INVOLVED, values, _LOAD_PART, data, slope)
    return data, slope


def find_scores(
    blocks: FloatArray, values: FloatArray, covariance: FloatArray, free: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Scores of the features in blocks (B, 6, F, P), and squares of them that a fit takes away on average, (B, 6, F).

    The covariance (V, V) is that of the unknowns that are free (V,).
    """
    scores, absorbed = np.empty((2, *blocks.shape[:3]))
    score_blocks(blocks, covariance, free, INVOLVED, values, _LOAD_PART, scores, absorbed)
    return scores, absorbed
