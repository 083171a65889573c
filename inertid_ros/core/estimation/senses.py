"""Columns of gears, made again for rows that were taken while links were hardly known.

The sense of a gear (see `gears`) is the direction of its joint times the sign of the torque A x that it transmits. In
the first seconds x is the URDF's, and where that is 20 % off, the torque of a light joint often has the wrong sign: the
column of its gear is wrong then, which pulls its coefficient towards zero and Coulomb friction up. So the rows of the
first blocks are kept, as long as blocks are still one by one (half a minute of motion). Solutions judge them again, the
first, second, fourth, eighth and so on, for links become known ever more slowly; what was summed up with a wrong sense
or torque is replaced. By then, links are known well enough for rows to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from inertid_ros.core.estimation.misfit import Blocks
from inertid_ros.core.records import FloatArray, IntArray

_SAME = 0.01
"""Part of the torque's root mean square by which a column may be off before it is made again."""


class _Line(NamedTuple):
    """Where a channel with a gear has what.

    Attributes:
        channel: its number.
        kept: its part of the rows that are kept, [A, nuisances, y].
        links: (L,) which unknowns the first columns of it are.
        direction: its column of Coulomb friction, and
        gear: that of its gear.
        products: its part of the products.
        lower: (n, n) which of them count, the lower triangle.
    """

    channel: int
    kept: slice
    links: IntArray
    direction: int
    gear: int
    products: slice
    lower: FloatArray


class _Kept(NamedTuple):
    """Rows of a block.

    Attributes:
        lines: (R, W) those of channels with gears, one after the other.
        senses: (R, K) with which they were summed up.
        partial: (R, K) how far directions (senses if these are plain, see `fill_nuisances`) are from the sense.
        shares: (R, K) by which their products count.
    """

    lines: FloatArray
    senses: FloatArray
    partial: FloatArray
    shares: FloatArray


class KeptRows:
    """Rows of the blocks so far and of the present one."""

    def __init__(
        self, used: Sequence[IntArray], directions: Sequence[int], gears: Sequence[int], links: int, width: int
    ) -> None:
        """Start with none.

        Args:
            used: for each of the K channels the columns of rows that it has, ascending.
            directions: (K,) the columns of Coulomb friction, -1 where there is none.
            gears: the columns of gears.
            links: how many of the unknowns, the first ones, are those of links.
            width: columns of rows, that of the readings included.
        """
        self._lines, columns, stop, end = [], [np.empty((2, 0), dtype=np.int64)], 0, 0
        for k, (own, direction) in enumerate(zip(used, directions, strict=True)):
            size, gear = len(own) + 1, np.flatnonzero(np.isin(own, gears))
            end += size**2
            if len(gear):
                stop += size
                parts = slice(stop - size, stop), own[own < links], int(np.searchsorted(own, direction)), int(gear[0])
                self._lines.append(_Line(k, *parts, slice(end - size**2, end), np.tri(size)))
                columns.append(np.stack((np.full(size, k), np.append(own, width - 1))))
        self._columns = np.concatenate(columns, axis=1)
        self._directions = np.array([[line.channel, line.kept.start + line.direction] for line in self._lines]).T
        self._places = self._columns[0] * width + self._columns[1]
        self._size = end
        self._past: tuple[_Kept, ...] = ()
        self._present = self._nothing = _Kept(np.empty((0, stop)), *np.empty((3, 0, len(used))))
        self._newest: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self._solutions = 0

    def __copy__(self) -> KeptRows:
        """One that goes on by itself."""
        other = object.__new__(KeptRows)
        other.__dict__.update(self.__dict__, _newest=list(self._newest))
        return other

    def keep(self, row: FloatArray, usable: FloatArray, senses: FloatArray) -> None:
        """Keep a row [A, nuisances, y] (K, U + V + 1) that was folded in with these senses (K,) where usable (K,).

        The latter two must not be changed any more.
        """
        self._newest.append((row.take(self._places), usable, senses))

    def _gather(self) -> None:
        """Take the newest rows over into the present block."""
        if self._newest:
            lines, usable, senses = (np.array(part) for part in zip(*self._newest, strict=True))
            partial, (channels, places) = np.zeros_like(senses), self._directions
            directions = lines[:, places]
            partial[:, channels] = directions - np.sign(directions) * np.abs(senses[:, channels])
            newest = _Kept(lines * usable[:, self._columns[0]], senses * usable, partial, np.ones_like(senses))
            self._present = _Kept(*(np.concatenate(both) for both in zip(self._present, newest, strict=True)))
            self._newest = []

    def end_block(self) -> None:
        """A block is over."""
        self._gather()
        self._past, self._present = (*self._past, self._present), self._nothing

    def discount(self, shares: FloatArray) -> None:
        """Let all rows so far count less: their products by these shares (K,)."""
        self._gather()
        *past, self._present = (kept._replace(shares=kept.shares * shares) for kept in (*self._past, self._present))
        self._past = tuple(past)

    def judge(self, values: FloatArray, past: Blocks, present: FloatArray) -> Blocks:
        """Make all columns of gears with the unknowns (U,) of a solution, if it is time for that.

        Args:
            values: see there.
            past: the blocks that have ended.
            present: (3, N) products of the rows since, by their sense, which are changed.

        Returns:
            Blocks with these columns.
        """
        self._solutions += 1
        if self._solutions & (self._solutions - 1):
            return past
        self._gather()
        changes = {}
        for number, kept in enumerate(self._past):
            judged, change = self._judge(kept, values)
            if judged is not kept:
                changes[number] = change
                self._past = (*self._past[:number], judged, *self._past[number + 1 :])
        self._present, change = self._judge(self._present, values)
        present += change
        return past.change(changes) if changes else past

    def _judge(self, kept: _Kept, values: FloatArray) -> tuple[_Kept, FloatArray]:
        """Rows as they are with these unknowns, and how their products by sense (3, N) change."""
        judged, changes = kept, np.zeros((3, self._size))
        for line in self._lines if len(kept.lines) else ():
            old, before, partial = kept.lines[:, line.kept], kept.senses[:, line.channel], kept.partial[:, line.channel]
            torques = old[:, : len(line.links)] @ values[line.links]
            columns = np.abs(torques) * partial
            after = np.abs(before) * np.sign(old[:, line.direction]) * np.where(torques > 0.0, 1.0, -1.0)
            shares = kept.shares[:, line.channel]
            limit = _SAME * np.sqrt(np.mean(shares * torques**2))
            differs = (after != before) | (np.sqrt(shares) * np.abs(columns - old[:, line.gear]) > limit)
            if differs.any():
                judged = _Kept(*(part.copy() for part in kept)) if judged is kept else judged
                judged.lines[differs, line.kept.start + line.gear] = columns[differs]
                judged.senses[differs, line.channel] = after[differs]
                for sign, lines, senses in ((-1.0, old, before), (1.0, judged.lines[:, line.kept], after)):
                    for sense in np.unique(senses[differs]).astype(int).tolist():
                        chosen = differs & (senses == sense)
                        rows, counted = lines[chosen], shares[chosen, None] * lines[chosen]
                        changes[sense, line.products] += sign * (rows.T @ counted * line.lower).ravel()
        return judged, changes
