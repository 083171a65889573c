"""Friction of gears that grows with the torque they transmit.

A gear that transmits the torque A x to its link takes m |A x| sign(v) of it as friction, of which a harmonic drive has
m of 5 to 15 %. A column of |A x| sign(v) with the links x that are known while a row is taken would be wrong by as much
as they are, which pulls m towards zero and Coulomb friction along. But |A x| sign(v) = s A x, where the sense s is 1
while the gear drives what moves and -1 while that drives the gear, and of x only the sign of A x matters for that:
links that are somewhat wrong turn it where the torque is next to nothing. So rows tell their sense, and products of
rows are summed up for each; with these, a column of s A x can be made of any x afterwards:

    A^T (s A x) = (sum_driving A^T A - sum_driven A^T A) x

Rows of the first half minute are judged again as links become known, see `senses`.

Where the direction is not plain (a joint that stands, or has just turned round), the sense is 0. The column that rows
bring has what is left, |A x| sign(v) - s A x with the links that are known then.

Friction that multiplies, as of a drive of efficiency e, 1 / e while it drives and e while it is driven, is the same and
a gain of (1 / e + e) / 2: 1 % for an efficiency of 87 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from inertid_ros.core.estimation.misfit import COUNTED, DRIVEN, DRIVING, UNWEIGHTED, fill
from inertid_ros.core.lapack import solve_triangular
from inertid_ros.core.records import FloatArray, IntArray

DEPENDENT = 1e-9
"""Part of a column that must be left by those before it: rounding of products takes the rest over."""


@dataclass(frozen=True, slots=True)
class Channel:
    """What is known of one channel.

    Attributes:
        matrix: (n + 1, n + 1) square root of the information of its lines.
        used: (n,) columns of the rows that it has, ascending: unknowns, then nuisances; then how its friction wanders.
        rows: how many there have been.
        variance: of its residuals times their inflation, as a first guess.
        floor: smallest such variance that is believed.
    """

    matrix: FloatArray
    used: IntArray
    rows: float
    variance: float
    floor: float


class GearedChannel:
    """A channel and its blocks, with the column of its gear made anew for any links.

    Attributes:
        channel: with that column, and
        kept: (B, n + 1, n + 1) products of the blocks that are kept, as they count, lower triangles, and
        parts: (S, n + 1, n + 1) the same of all parts.
        squares: (S, n + 1) of the columns that rows have brought, however they count, in all parts.
    """

    def __init__(self, channel: Channel, products: FloatArray, kept: int, columns: Sequence[int], links: int) -> None:
        """Begin with the column as rows have brought it.

        Args:
            channel: as rows have brought it.
            products: (B + S, 4, n + 1, n + 1) of blocks, then of parts, see `Blocks.list_products`.
            kept: B.
            columns: of the rows, that belong to gears.
            links: how many of the unknowns, the first ones, are those of links.
        """
        self.channel = self._bare = channel
        self.squares = np.einsum("sii->si", products[kept:, UNWEIGHTED])
        places = np.flatnonzero(np.isin(channel.used, columns)).tolist() if len(products) else []
        self._place: int | None = places[0] if places else None
        counted = products[:, COUNTED]
        if self._place is not None:
            counted = counted.copy()
            self._links = channel.used[channel.used < links]
            own = len(self._links)
            driving, driven = products[:, DRIVING], products[:, DRIVEN]
            self._differences = fill(driving - driven)[:, :, :own]
            self._sums = fill(driving[:, :own, :own] + driven[:, :own, :own])
            at = self._place
            self._crossed = np.concatenate((counted[:, at, :at], counted[:, at:, at]), axis=1)
        self._counted, self.kept, self.parts = counted, counted[:kept], counted[kept:]

    def load(self, values: FloatArray) -> None:
        """Let the gear transmit the torques of links with these values."""
        at = self._place
        if at is None:
            return
        own = values[self._links]
        added = self._differences @ own
        crossed = self._crossed + added
        square = crossed[:, at] + added[:, at] + (self._sums @ own) @ own
        self._counted[:, at, :at], self._counted[:, at:, at] = crossed[:, :at], crossed[:, at:]
        self._counted[:, at, at] = square
        first = len(self.kept)
        sums = np.append(crossed[first:].sum(axis=0), square[first:].sum())
        self.channel = replace(self._bare, matrix=_replace_in_root(self._bare.matrix, at, sums))


def _replace_in_root(root: FloatArray, place: int, sums: FloatArray) -> FloatArray:
    """The root (n + 1, n + 1) of information with one column replaced, whose products with all old ones are given."""
    explained = solve_triangular(make_safe(root), sums[:-1], turned=True)
    left = max(float(sums[-1] - explained @ explained), 0.0)
    changed = np.vstack((root, np.zeros(len(root))))
    changed[:-1, place], changed[-1, place] = explained, np.sqrt(left)
    return np.asarray(np.linalg.qr(changed, mode="r"))


def make_safe(root: FloatArray) -> FloatArray:
    """The same root, such that nothing is explained by what other columns explain."""
    safe = root.copy()
    is_dependent = np.abs(np.diag(root)) <= DEPENDENT * np.linalg.norm(root, axis=0)
    safe[is_dependent, is_dependent] = np.inf
    return safe
