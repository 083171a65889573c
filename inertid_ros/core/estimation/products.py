"""Sums of products of all that a wrench equation can contain, block by block: what `systematic` is solved from."""

from __future__ import annotations

from copy import copy as copy_shallow
from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import allocating, brief, compiled, specialise
from inertid_ros.core.equations.load import FEATURES, LOAD
from inertid_ros.core.estimation.damping import RESTARTED, TINY, UNFILTERED, Damping, add_filtered
from inertid_ros.core.records import FloatArray, IntArray

MOVING = FEATURES - 1
"""Features that move: all but the constant of the bias."""
CONSTANT, TILTED, RATES, READING, PRODUCTS = (
    MOVING,
    FEATURES,
    FEATURES + 6,
    FEATURES + 6 + MOVING,
    FEATURES + 7 + MOVING,
)
"""Where in z these begin, and its length."""

PIECE = 0.5
"""Length of a piece [s]: long enough for an average, short enough to notice a change within two of them."""
RECENT = 10
"""Pieces that are kept apart: a change is looked for in the last two seconds, and confirmed in those that follow."""
PIECES = 4
"""Pieces in a block (2 s): four times as long as the noise of strain gauge amplifiers is correlated."""
BLOCKS = 16
"""Blocks that the scatter of scores is found from: half a minute, in which a bias does not drift away."""
SAME = 0.05
"""Part of a feature's largest root mean square by which blocks of the same motion may differ: controllers repeat
better, and two blocks that are not repeats agree that well in all twelve features only by a rare chance."""
KINDS = (3, 3, 6)
"""How many features there are of linear and angular acceleration, and of products of angular velocities."""
FILLED = 1e-3
"""Response to a constant below which a filter holds nothing yet."""
REMEMBERED = 2 * MOVING + 2
"""How many numbers `lay_down_products` keeps of the rows before."""
_NOTHING: FloatArray = np.zeros((6, PRODUCTS, PRODUCTS))
"""Products of no row."""
_NO_BLOCK: FloatArray = np.empty((0, 6, FEATURES, PRODUCTS))
"""Blocks where none is over."""


@brief
def add_products(
    products: FloatArray,
    z: FloatArray,
    readings: FloatArray,
    variance: FloatArray,
    noise: FloatArray,
    expected: FloatArray,
) -> None:
    """Add one row to the products (6, P, P).

    Args:
        products: lower triangles.
        z: (P,) but for its last number.
        readings: (6,) that number.
        variance: (6,) by which it counts.
        noise: (6,) variance of its noise.
        expected: (6,) weighted squares that noise leaves of all rows.
    """
    size = len(z)
    for channel in range(len(readings)):
        weight = 1.0 / variance[channel]
        expected[channel] += weight * noise[channel]
        z[size - 1] = readings[channel]
        gram = products[channel]
        for i in range(size):
            scaled = weight * z[i]
            if scaled != 0.0:
                for j in range(i + 1):
                    gram[i, j] += scaled * z[j]


@brief
def lay_down_products(signals: FloatArray, before: FloatArray, interval: float, z: FloatArray) -> None:
    """All but the reading of z (P,) from a row's signals (22,) and those of the rows before.

    Rates are slopes at the end of the parabola through three rows; `before` (26,) keeps features of the last two rows,
    the amplitude, and how many there were since filters were restarted. While these fill, features grow without any
    motion, so they are divided by the amplitude, the response to a constant, and rates multiplied with it.
    """
    amplitude = signals[12] if signals[12] > FILLED else FILLED
    if amplitude < RESTARTED * before[-2]:
        before[-1] = 0.0
    before[-2] = amplitude
    for index in range(MOVING):
        feature = signals[index] - (signals[13 + index] if index < 3 else 0.0)
        now, last, earlier = feature / amplitude, before[index], before[MOVING + index]
        rate = 0.0
        if before[-1] >= 2.0:
            rate = (3.0 * now - 4.0 * last + earlier) / (2.0 * interval)
        elif before[-1] == 1.0:
            rate = (now - last) / interval
        z[RATES + index] = rate * amplitude
        z[index], before[index] = feature, now
        before[MOVING + index] = last
    before[-1] += 1.0
    z[CONSTANT] = signals[12]
    for index in range(6):
        z[TILTED + index] = -signals[16 + index]


@allocating(compiled)
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


@compiled
def stands_out(lower: FloatArray, coefficients: FloatArray, limits: FloatArray) -> bool:
    """Whether the square of a score of the first features exceeds so many (6,) times what noise lets expect of it.

    The score of a feature is its row of the products (6, P, P), lower triangles, times coefficients (6, P).
    """
    size = coefficients.shape[1]
    for channel in range(len(limits)):
        gram = lower[channel]
        for f in range(FEATURES):
            score = 0.0
            for p in range(size):
                score += (gram[f, p] if p <= f else gram[p, f]) * coefficients[channel, p]
            if not score * score <= limits[channel] * gram[f, f]:
                return True
    return False


@allocating(compiled)
def find_feature_rows(lower: FloatArray) -> FloatArray:
    """The rows (6, F, P) of the features in products (6, P, P), lower triangles: all that their scores need."""
    rows = np.empty((len(lower), FEATURES, lower.shape[2]))
    for channel in range(len(lower)):
        for f in range(FEATURES):
            for p in range(lower.shape[2]):
                rows[channel, f, p] = lower[channel, f, p] if p <= f else lower[channel, p, f]
    return rows


class Added(NamedTuple):
    """What a row of a tracked load is added to.

    Attributes:
        present, expected, filled: see `ProductSums`.
        poles, states, filtered: of the damping, see `damping.add_filtered`.
    """

    present: FloatArray
    expected: FloatArray
    filled: FloatArray
    poles: FloatArray
    states: FloatArray
    filtered: FloatArray


@brief
def add_row(
    added: Added, z: FloatArray, readings: FloatArray, variance: FloatArray, noise: FloatArray, interval: float
) -> bool:
    """Add a row, see `ProductSums.add`."""
    add_products(added.present, z, readings, variance, noise, added.expected)
    add_filtered(z, CONSTANT, 1.0 / variance[0], interval, added.poles, added.states, added.filtered)
    added.filled[0] += interval
    return bool(added.filled[0] >= PIECE)


class ProductSums:
    """Products of all rows of one load.

    Rows are added to `present`, `expected`, `filled` and `damping` in place. All other arrays are replaced, never
    changed, so that copies share them.

    Attributes:
        settled: (6, P, P) of all rows before the recent ones, lower triangles, as are the following.
        present: (6, P, P) of the present piece.
        recent: (6, P, P) of the last pieces that are over, at most 9, the newest one first.
        block: (6, P, P) of the pieces of the present block that are over.
        blocks: (B, 6, F, P) rows of the features in the last blocks that are over, at most 15, the newest one first.
        pieces: how many are over.
        expected: (6,) weighted squares that noise leaves of all rows.
        weight: (6,) of all rows of pieces that are over, which does not shrink where the bias wanders.
        filled: (1,) time [s] that the rows of the present piece stand for.
        prior: (55, 55) precision of load, bias and nuisances by the settings.
        mean, precision: (55,), (55, 55) what is known of them besides.
        values: (55,) the solution at the end of the last piece, and
        inflation: (6,) by how much residuals scatter more than noise explains, see `systematic`;
        known_inflation: (6,) that of the load before.
        left: (2,) weighted squares of what is left over: of means over pieces, and of all rows beyond their noise.
        damping: of the rows and of those before them, see `damping`.
        shares: (13,) of noise that filters have left in the scores of features, at the end of the last piece.
    """

    def __init__(self, prior: FloatArray, poles: FloatArray = UNFILTERED) -> None:
        """Start with no row; rows have passed a filter with these poles (2,) [rad/s]."""
        self.prior = self.precision = prior
        self.mean: FloatArray = np.zeros(len(prior))
        self.settled = self.block = _NOTHING
        self.present: FloatArray = np.zeros_like(_NOTHING)
        self.recent: tuple[FloatArray, ...] = ()
        self.blocks: FloatArray = _NO_BLOCK
        self.pieces = 0
        self.expected: FloatArray = np.zeros(6)
        self.weight: FloatArray = np.zeros(6)
        self.values: FloatArray = self.mean.copy()
        self.inflation: FloatArray = np.ones(6)
        self.known_inflation: FloatArray = np.ones(6)
        self.left: FloatArray = np.zeros(2)
        self.filled: FloatArray = np.zeros(1)
        self.damping = Damping(poles, READING, CONSTANT)
        self.shares: FloatArray = np.ones(FEATURES)
        self._add_row = specialise(add_row, self.added, *([self.expected] * 4), 0.0)

    @property
    def added(self) -> Added:
        """What rows are added to."""
        damping = self.damping
        return Added(self.present, self.expected, self.filled, damping.poles, damping.states, damping.sums)

    def add(
        self, z: FloatArray, readings: FloatArray, variance: FloatArray, noise: FloatArray, interval: float
    ) -> bool:
        """Add a row that counts by one variance (6,) and whose noise has another, and that stands for an interval [s].

        Returns whether that completes a piece: then call `begin_piece`.
        """
        return self._add_row(self.added, z, readings, variance, noise, interval)

    def begin_piece(self, wander: FloatArray) -> None:
        """Put the present piece to the others; biases have wandered by a variance (6,) per second."""
        settled, piece, self.weight = self.settled.copy(), self.present, self.total_weight
        diffuse_products(settled, wander * self.filled)
        self._diffuse_prior(wander * self.filled)
        self.block = self.block + piece
        self.recent = (piece, *self.recent)
        if len(self.recent) == RECENT:
            settled += self.recent[-1]
            self.recent = self.recent[:-1]
        self.settled, self.present = settled, np.zeros_like(_NOTHING)
        self.pieces += 1
        self.filled[0] = 0.0
        if self.pieces % PIECES == 0:
            self.blocks = np.concatenate((find_feature_rows(self.block)[None], self.blocks[: BLOCKS - 2]))
            self.block = _NOTHING

    @property
    def known_noise(self) -> FloatArray:
        """Noise of scores (6,) over that of white noise, never less than one: no alarm follows from luck with it."""
        return np.asarray(np.maximum(self.inflation * (float(self.shares[:MOVING].sum()) / MOVING), 1.0))

    @property
    def lower(self) -> FloatArray:
        """Of all rows (6, P, P), lower triangles."""
        return self.settled + self.find_recent(0, RECENT)

    @property
    def total(self) -> FloatArray:
        """Of all rows (6, P, P), complete symmetric matrices."""
        return complete(self.lower)

    @property
    def total_weight(self) -> FloatArray:
        """Of all rows (6,)."""
        return np.asarray(self.weight + self.present[:, CONSTANT, CONSTANT])

    @property
    def short_blocks(self) -> FloatArray:
        """(B, 6, F, P) rows of the features in the last seconds, two pieces each, that are over."""
        pairs = zip(self.recent[::2], self.recent[1::2], strict=False)
        return np.array([find_feature_rows(one + other) for one, other in pairs]).reshape(-1, *_NO_BLOCK.shape[1:])

    def find_recent(self, start: int, stop: int) -> FloatArray:
        """Of pieces so far back, 0 is the present one, lower triangles (6, P, P)."""
        chosen = (self.present, *self.recent)[start:stop]
        if len(chosen) == 1:
            return chosen[0]
        total = np.zeros_like(_NOTHING)
        for piece in chosen:
            total += piece
        return total

    def window(self, pieces: int) -> FloatArray:
        """Of the last pieces that are over (6, P, P)."""
        return complete(self.find_recent(1, 1 + pieces))

    def copy(self) -> ProductSums:
        """An independent copy."""
        same = copy_shallow(self)
        same.present, same.expected, same.filled = self.present.copy(), self.expected.copy(), self.filled.copy()
        same.damping = self.damping.copy()
        return same

    def condense(self) -> ProductSums:
        """A copy that has the same solution, but has forgotten what came when: it is made often, and soon."""
        same = copy_shallow(self)
        same.settled, same.present, same.expected = self.lower, _NOTHING, self.expected.copy()
        same.recent, same.blocks, same.damping = (), _NO_BLOCK, self.damping.copy()
        same.weight = self.total_weight
        return same

    def expect_mass(self, mass: float, deviation: float) -> None:
        """Believe in a mass [kg], in the driver's sign, with a standard deviation, whatever was believed of it."""
        self.mean, self.precision = self.mean.copy(), self.precision.copy()
        self.mean[0], self.precision[0, 0] = mass, deviation**-2.0

    def take_over(self, other: ProductSums, bias_variance: FloatArray) -> None:
        """Add the rows of another sum, after the bias has changed by a variance (6,)."""
        settled = self.lower
        diffuse_products(settled, bias_variance)
        self._diffuse_prior(bias_variance)
        self.settled, self.weight = settled + other.settled, self.total_weight + other.weight
        self.present, self.recent, self.pieces, self.filled = other.present, other.recent, other.pieces, other.filled
        self.block, self.blocks = other.block, other.blocks
        self.expected, self.damping = self.expected + other.expected, self.damping.join(other.damping)

    def _diffuse_prior(self, variance: FloatArray) -> None:
        """Let the bias wander by a variance (6,) from what was known of it before these rows, if that was anything."""
        if self.precision is self.prior:
            return
        wandered = variance > 0.0
        places = LOAD + np.flatnonzero(wandered)
        across = self.precision[:, places]
        inner = across[places] + np.diag(1.0 / variance[wandered])
        self.precision = self.precision - across @ np.linalg.solve(inner, across.T)

    def split_off(self, pieces: int, dropped: int) -> ProductSums:
        """Take the present piece and the last ones away, and forget some before them; returns sums of the former."""
        young = ProductSums(self.prior)
        young.damping, young.shares = self.damping.copy(), self.shares
        young.mean, young.precision = self.mean, self.precision
        count = 1 + pieces
        young.present, young.recent = self.present, self.recent[:pieces]
        young.block, young.blocks = self.find_recent(1, count), np.zeros((pieces // PIECES, *_NO_BLOCK.shape[1:]))
        young.pieces, young.filled = pieces, self.filled
        young.inflation = young.known_inflation = self.inflation
        share = pieces / max(self.pieces, 1)
        young.expected, self.expected = share * self.expected, (1.0 - share) * self.expected
        young.weight = young.block[:, CONSTANT, CONSTANT]
        self.weight = self.weight - self.find_recent(1, count + dropped)[:, CONSTANT, CONSTANT]
        self.settled = self.settled + self.find_recent(count + dropped, RECENT)
        self.present, self.recent = np.zeros_like(_NOTHING), ()
        self.block, self.blocks = _NOTHING, self.blocks.copy()
        self.blocks[:1] = 0.0
        self.filled = np.zeros(1)
        return young


@compiled
def are_near(one: FloatArray, other: FloatArray, limits: FloatArray) -> bool:
    """Whether no number differs by more than its limit."""
    is_near = True
    for f in range(len(limits)):
        is_near &= abs(one[f] - other[f]) <= limits[f]
    return is_near


@allocating(compiled)
def group_repeats(blocks: FloatArray) -> IntArray:
    """The group (B,) of each block (B, 6, F, P): repeats of one motion, or pose; in the order of their first ones.

    What the model misses of a motion it misses again when the motion is repeated, so that scores of repeats add up, and
    do not average out. Blocks are the same if means and root mean squares of all features are.
    """
    count, groups = len(blocks), 0
    means, sizes, limits = np.empty((count, CONSTANT)), np.empty((count, CONSTANT)), np.empty(CONSTANT)
    for b in range(count):
        gram = blocks[b, 0]
        weight = max(gram[CONSTANT, CONSTANT], TINY)
        for f in range(CONSTANT):
            means[b, f], sizes[b, f] = gram[CONSTANT, f] / weight, np.sqrt(gram[f, f] / weight)
    start = 0
    for kind in KINDS:
        limits[start : start + kind] = SAME * sizes[:, start : start + kind].max()
        start += kind
    found, first = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    for b in range(count):
        group = 0
        while group < groups and not (
            are_near(means[b], means[first[group]], limits) and are_near(sizes[b], sizes[first[group]], limits)
        ):
            group += 1
        if group == groups:
            first[group] = b
            groups += 1
        found[b] = group
    return found


@allocating(compiled)
def complete(lower: FloatArray) -> FloatArray:
    """Symmetric matrices (N, P, P) from their lower triangles."""
    whole = np.empty(lower.shape)
    for k in range(len(lower)):
        for i in range(lower.shape[1]):
            for j in range(i + 1):
                whole[k, i, j] = whole[k, j, i] = lower[k, i, j]
    return whole
