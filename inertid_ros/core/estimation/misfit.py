"""How much more a channel's residuals weigh on an estimate than white noise of their variance would.

Residuals of real arms are hardly noise: friction, gears and torque sensors err in a way that depends on the motion, so
the same motion repeats the same error, however often. What matters is what residuals r do to the estimate, the score
A^T r. Rows are summed up in blocks of two seconds of motion; with F = A T the columns made orthonormal over all rows,
s_b = F_b^T r_b the score of block b and I_b = F_b^T F_b its information (all I_b add up to the identity),

    E[s_b s_c^T] = v (delta_bc I_b - I_b I_c)

for white noise of variance v, if the fit takes all out of the residuals that the channel's own columns can; in one of
several channels with common unknowns it takes less, which errs on the safe side: with what it does take, intervals of
white noise are a fifth narrower and right, and those of real arms, whose misfit is not the same in all directions, are
not wide enough. The variance inflation compares the
scores of all pairs of blocks with that, each pair weighted by how like its motions are,
k_bc = tr(I_b I_c) / (|I_b| |I_c|), as Conley (1999) does for errors that depend on place:

    v * inflation = sum k_bc s_b . s_c / sum k_bc tr(delta_bc I_b - I_b I_c)

Noise that is correlated in time shows in the blocks' own scores, k_bb = 1; misfit that returns with the motion in those
of like blocks: then n repetitions inflate n times, and tell no more than one. Of independent noise they tell more.

Of a long recording, and of several, those blocks are added up whose motions are most alike, k_bc near 1: that changes
the sums above the least, and what noise lets expect of them holds for any blocks. Leaving blocks out would not do: the
scores of all add up to nothing after the fit, those of a part do not, and where most of the freedom is in that sum,
little is left to compare them with.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from inertid_ros.core.records import FloatArray, IntArray

FEWEST_BLOCKS = 3
"""Blocks that are needed; of two, the fit explains both."""
_KEPT_BLOCKS = 16
"""Blocks that are told apart in a long recording: more say little new and take time."""
_DEPENDENT = 1e-6
"""Part of the largest information below which a direction is not counted: rounding of the products takes it over."""
_LEAST_FREEDOM = 0.1
"""Part of the scores that a fit must leave. Where all blocks are alike, theirs add up to nothing, whatever the errors
are: then each is looked at for itself as well."""


UNWEIGHTED, COUNTED, DRIVING, DRIVEN = range(4)
"""Of rows: their products, and those with which they count, less where columns have turned out wrong; of these, those
in which the channel's gear drives what moves, and those in which that drives the gear."""


_ALL: FloatArray = np.ones(1)
"""Share of rows that count as they are."""


class _Counted(NamedTuple):
    """Products (4, N) of a block, UNWEIGHTED to DRIVEN, and by which shares (N,) all but the first count, or _ALL."""

    products: FloatArray
    shares: FloatArray = _ALL

    def weigh(self) -> FloatArray:
        """The products (4, N) as they count."""
        if self.shares is _ALL:
            return self.products
        return np.concatenate((self.products[:1], self.products[1:] * self.shares))


class Blocks:
    """Sums of products of rows, block by block; each of them is never changed.

    Attributes:
        numbers: of the blocks that are added up in each of those that are kept, counted from 0.
        lengths: how many blocks each part has.
    """

    def __init__(self, compared: IntArray) -> None:
        """Start with none.

        Args:
            compared: which of the N products tell how like two blocks are: some of those of the motion. Where readings
                were among them, blocks would be added up whose noise is alike.
        """
        self._compared = compared
        self._kept: tuple[_Counted, ...] = ()
        self.numbers: tuple[tuple[int, ...], ...] = ()
        self._parts: tuple[_Counted, ...] = ()
        self.lengths: tuple[float, ...] = ()

    @property
    def kept(self) -> tuple[FloatArray, ...]:
        """Products (4, N) of all blocks, UNWEIGHTED to DRIVEN, of which those are added up that are most alike."""
        return tuple(one.weigh() for one in self._kept)

    @property
    def parts(self) -> tuple[FloatArray, ...]:
        """Products (4, N) of all blocks, of which so many in a row are added up that there are few parts."""
        return tuple(one.weigh() for one in self._parts)

    @property
    def ended(self) -> int:
        """How many blocks there have been."""
        return int(sum(self.lengths))

    def end(self, products: FloatArray) -> None:
        """Take a block over, which must not be changed any more."""
        block = _Counted(products)
        self._kept, self.numbers = (*self._kept, block), (*self.numbers, (self.ended,))
        self._parts, self.lengths = (*self._parts, block), (*self.lengths, 1.0)
        self._thin_out()

    def with_rest(self, products: FloatArray, length: float) -> Blocks:
        """The same with a part, less than a block, that has not ended yet."""
        if length <= 0.0:
            return self
        return self._with(_parts=(*self._parts, _Counted(products)), lengths=(*self.lengths, length))

    def _with(self, **changed: object) -> Blocks:
        """A copy with some attributes changed."""
        other = copy.copy(self)
        other.__dict__.update(changed)
        return other

    def discount(self, shares: FloatArray) -> Blocks:
        """The same with all rows so far counting less: their products (N,) by these shares."""
        before = {id(one.shares): one.shares for one in (*self._kept, *self._parts)}  # many blocks share theirs
        after = {key: one * shares for key, one in before.items()}
        kept, parts = (
            tuple(one._replace(shares=after[id(one.shares)]) for one in part) for part in (self._kept, self._parts)
        )
        return self._with(_kept=kept, _parts=parts)

    def list_products(self, sizes: Sequence[int]) -> Iterator[FloatArray]:
        """Products (B + S, 4, n, n) of the blocks that are kept, then of the parts, for channels with n columns."""
        products, start = np.array((*self.kept, *self.parts)), 0
        for size in sizes:
            own = products[:, :, start : start + size**2] if len(products) else np.empty((0, 4, size**2))
            yield own.reshape(-1, 4, size, size)
            start += size**2

    @property
    def are_single(self) -> bool:
        """Whether no two of them have been added up."""
        return len(self._kept) == len(self._parts) == self.ended

    def change(self, changes: dict[int, FloatArray]) -> Blocks:
        """The same with blocks of these numbers changed, by products of rows by their sense (3, N), if single."""
        parts = list(self._parts)
        for number, change in changes.items():
            by_kind = np.stack((np.zeros_like(change[0]), change.sum(axis=0), *change[1:]))
            parts[number] = _Counted(parts[number].weigh() + by_kind)
        return self._with(_kept=tuple(parts), _parts=tuple(parts))

    def add(self, other: Blocks) -> None:
        """Take over the blocks of another recording."""
        theirs = tuple(tuple(self.ended + number for number in numbers) for numbers in other.numbers)
        self._kept, self.numbers = self._kept + other._kept, self.numbers + theirs
        self._parts, self.lengths = self._parts + other._parts, self.lengths + other.lengths
        self._thin_out()

    def _thin_out(self) -> None:
        if len(self._kept) > _KEPT_BLOCKS:
            self._add_up()
        while len(self._parts) > _KEPT_BLOCKS:
            parts, pairs = self.parts, range(0, len(self._parts), 2)
            self._parts = tuple(_Counted(np.sum(parts[first : first + 2], axis=0)) for first in pairs)
            self.lengths = tuple(sum(self.lengths[first : first + 2]) for first in pairs)

    def _add_up(self) -> None:
        """Add up blocks that are alike, or follow each other."""
        kept, numbers = list(self._kept), list(self.numbers)
        some = np.array([one.products[UNWEIGHTED, self._compared] for one in kept])
        while len(kept) > _KEPT_BLOCKS:
            first, second = _find_alike(some, np.array([np.mean(own) for own in numbers]))
            total = kept[first].weigh() + kept[second].weigh()
            kept[first], numbers[first] = _Counted(total), (*numbers[first], *numbers[second])
            some[first] += some[second]
            some = np.delete(some, second, axis=0)
            del kept[second], numbers[second]
        self._kept, self.numbers = tuple(kept), tuple(numbers)


def _find_alike(products: FloatArray, times: FloatArray) -> tuple[int, int]:
    """The two blocks, in their order, of which the least is lost if they are added up.

    Nothing is if their products (B, N) are multiples of each other. If they are not, friction that has wandered in
    between, whose variance grows with the time between them, times (B,), is no longer the same in both: the square of
    what is lost goes with |t_b - t_c| (1 - k_bc). Each product counts in relation to its root mean square over all
    blocks, whatever its unit.
    """
    sizes = np.sqrt(np.mean(products**2, axis=0))
    scaled = products[:, sizes > 0.0] / sizes[sizes > 0.0]
    lengths = np.linalg.norm(scaled, axis=1)
    likeness = scaled @ scaled.T / np.maximum(np.outer(lengths, lengths), np.finfo(float).tiny)
    lost = np.abs(times[:, None] - times) * (1.0 - likeness)
    lost[np.tril_indices(len(products))] = np.inf
    first, second = np.unravel_index(int(np.argmin(lost)), lost.shape)
    return int(first), int(second)


def fill(lower: FloatArray) -> FloatArray:
    """Symmetric matrices (..., n, n) from their lower triangles."""
    return np.where(np.tri(lower.shape[-1], dtype=bool), lower, np.swapaxes(lower, -1, -2))


class ChannelScores:
    """The blocks of one channel, ready to compare the scores of solutions with what noise lets expect."""

    def __init__(self, products: FloatArray, factor: FloatArray, unknowns: int) -> None:
        """Orthonormalise.

        Args:
            products: (B, n + 1, n + 1) of the blocks' lines [A, nuisances, y], lower triangles.
            factor: (m, m) root of the channel's information of all rows on its m unknowns.
            unknowns: m, how many of the n columns belong to A.
        """
        whole = fill(products[:, :unknowns, :unknowns])
        information = factor.T @ factor
        lengths = np.sqrt(np.diag(information))
        scale = np.where(lengths > 0.0, 1.0 / np.where(lengths > 0.0, lengths, 1.0), 0.0)
        sizes, directions = np.linalg.eigh(information * np.outer(scale, scale))
        used = sizes > _DEPENDENT * max(float(sizes[-1]), np.finfo(float).tiny)
        self._turn = turn = scale[:, None] * directions[:, used] / np.sqrt(sizes[used])
        own = turn.T @ whole @ turn
        flat = own.reshape(len(products), -1)
        pairs = flat @ flat.T
        norms = np.sqrt(np.diag(pairs))
        norms[norms == 0.0] = 1.0
        weights = pairs / np.outer(norms, norms)
        total = float(np.trace(own, axis1=1, axis2=2).sum())
        least = _LEAST_FREEDOM * total
        freedom = total - float((weights * pairs).sum())
        self._ways = [(weights, max(freedom, least))]
        if freedom < least:
            self._ways.append((np.eye(len(pairs)), max(total - float(np.trace(pairs)), least)))

    def find_variance(self, products: FloatArray, coefficients: FloatArray) -> float:
        """Variance v * inflation of the residuals of a solution.

        Args:
            products: (B, n + 1, n + 1) of the blocks, of which those of A are as they were.
            coefficients: (B, n + 1) of the columns and of y in the residuals of each block, or (n + 1,) if they are the
                same in all: [x, nuisances, -1].
        """
        lines = fill(products)[:, : len(self._turn)]
        scores = np.einsum("bij,bj->bi", lines, np.broadcast_to(coefficients, lines.shape[::2])) @ self._turn
        squares = scores @ scores.T
        tiny = np.finfo(float).tiny
        return max(float((weights * squares).sum()) / max(freedom, tiny) for weights, freedom in self._ways)
