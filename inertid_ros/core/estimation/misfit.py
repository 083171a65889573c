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

Where only some of the blocks are kept, pairs of different blocks stand for several: their sum is right on average, but
may come out as anything, even below zero. Then inflation is at least what the blocks show each for itself, k_bc = 0.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from inertid_ros.core.records import FloatArray

FEWEST_BLOCKS = 3
"""Blocks that are needed; of two, the fit explains both."""
_KEPT_BLOCKS = 16
"""Blocks that are kept of a long recording, evenly spread over it: more say little new and take time."""
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
        numbers: of the blocks that are kept, counted from 0.
        lengths: how many blocks each part has.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._kept: tuple[_Counted, ...] = ()
        self.numbers: tuple[int, ...] = ()
        self._parts: tuple[_Counted, ...] = ()
        self.lengths: tuple[float, ...] = ()
        self._stride = 1

    @property
    def kept(self) -> tuple[FloatArray, ...]:
        """Products (4, N) of blocks, UNWEIGHTED to DRIVEN, evenly spread over all of them."""
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
        if self.ended % self._stride == 0:
            self._kept, self.numbers = (*self._kept, block), (*self.numbers, self.ended)
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
        """Whether no two of them have been added up, and none is left out."""
        return self._stride == 1

    def change(self, changes: dict[int, FloatArray]) -> Blocks:
        """The same with blocks of these numbers changed, by products of rows by their sense (3, N), if single."""
        parts = list(self._parts)
        for number, change in changes.items():
            by_kind = np.stack((np.zeros_like(change[0]), change.sum(axis=0), *change[1:]))
            parts[number] = _Counted(parts[number].weigh() + by_kind)
        return self._with(_kept=tuple(parts), _parts=tuple(parts))

    def add(self, other: Blocks) -> None:
        """Take over the blocks of another recording."""
        self._kept, self.numbers = self._kept + other._kept, self.numbers + tuple(self.ended + n for n in other.numbers)
        self._parts, self.lengths = self._parts + other._parts, self.lengths + other.lengths
        self._thin_out()

    def _thin_out(self) -> None:
        while len(self._kept) > _KEPT_BLOCKS:
            self._kept, self.numbers = self._kept[::2], self.numbers[::2]
            self._stride *= 2
        while len(self._parts) > _KEPT_BLOCKS:
            parts, pairs = self.parts, range(0, len(self._parts), 2)
            self._parts = tuple(_Counted(np.sum(parts[first : first + 2], axis=0)) for first in pairs)
            self.lengths = tuple(sum(self.lengths[first : first + 2]) for first in pairs)


def fill(lower: FloatArray) -> FloatArray:
    """Symmetric matrices (..., n, n) from their lower triangles."""
    return np.where(np.tri(lower.shape[-1], dtype=bool), lower, np.swapaxes(lower, -1, -2))


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
        repeated = np.full(pairs.shape, ended / max(len(products), 1))
        np.fill_diagonal(repeated, 1.0)
        weights = pairs / np.outer(norms, norms) * repeated
        total = float(np.trace(own, axis1=1, axis2=2).sum())
        least = _LEAST_FREEDOM * total
        freedom = total - float((weights * pairs).sum())
        self._ways = [(weights, max(freedom, least))]
        if freedom < least or ended > len(products):
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
