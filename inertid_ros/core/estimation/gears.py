"""Friction of gears that grows with the torque they transmit.

A gear that transmits the torque A x to its link takes m |A x| sign(v) of it as friction, of which a harmonic drive has
m of 5 to 15 %. A column of |A x| sign(v) with the links x that are known while a row is taken would be wrong by as much
as they are, which pulls m towards zero and Coulomb friction along. But |A x| sign(v) = s A x, where the sense s is 1
while the gear drives what moves and -1 while that drives the gear, and of x only the sign of A x matters for that:
links that are somewhat wrong turn it where the torque is next to nothing. So rows tell their sense, and products of
rows are summed up for each; with these, a column of s A x can be made of any x afterwards:

    A^T (s A x) = (sum_driving A^T A - sum_driven A^T A) x

Rows of the first half minute are judged again at every solution, see `senses`.

Where the direction is not plain (a joint that stands, or has just turned round), the sense is 0. The column that rows
bring has what is left, |A x| sign(v) - s A x with the links that are known then.

Friction that multiplies, as of a drive of efficiency e, 1 / e while it drives and e while it is driven, is the same and
a gain of (1 / e + e) / 2: 1 % for an efficiency of 87 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from inertid_ros.core.estimation.misfit import COUNTED, DRIVEN, DRIVING, Blocks
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


class Gears:
    """Makes the columns of gears anew.

    Attributes:
        columns: of the rows, that belong to gears.
        links: how many of the unknowns, the first ones, are those of links.
    """

    def __init__(self, columns: Sequence[int], links: int) -> None:
        """Take over."""
        self.columns = columns
        self.links = links

    def load(self, channels: Sequence[Channel], blocks: Blocks, values: FloatArray) -> tuple[Sequence[Channel], Blocks]:
        """Channels and blocks whose gears transmit the torques of links with these values (L,)."""
        if not self.columns or not blocks.parts:
            return channels, blocks
        changed = blocks.copy()
        loaded, start = [], 0
        for channel in channels:
            stop = start + len(channel.matrix) ** 2
            loaded.append(self._load_channel(channel, changed, slice(start, stop), values))
            start = stop
        return loaded, changed

    def _load_channel(self, channel: Channel, blocks: Blocks, part: slice, values: FloatArray) -> Channel:
        """One channel, whose products are this part of the blocks, which are changed."""
        place = np.flatnonzero(np.isin(channel.used, self.columns))
        if not len(place):
            return channel
        size, at = len(channel.matrix), int(place[0])
        own = values[channel.used[channel.used < self.links]]
        for products in blocks.kept:
            _replace_column(products, part, size, at, own)
        sums = np.sum([_replace_column(products, part, size, at, own) for products in blocks.parts], axis=0)
        return replace(channel, matrix=_replace_in_root(channel.matrix, at, sums))


def _replace_column(products: FloatArray, part: slice, size: int, place: int, values: FloatArray) -> FloatArray:
    """Put what is made of the links (L,) of a channel to the column of its gear, in products (4, N) that count.

    Returns:
        (n + 2,) products of the new column with all old ones, and with itself.
    """
    counted = products[COUNTED, part].reshape(size, size)
    driving, driven = (_fill(products[kind, part].reshape(size, size)) for kind in (DRIVING, DRIVEN))
    links = len(values)
    added = (driving - driven)[:, :links] @ values
    squares = float(values @ (driving + driven)[:links, :links] @ values)
    crossed = np.concatenate((counted[place, :place], counted[place:, place])) + added
    square = crossed[place] + added[place] + squares
    counted[place, :place], counted[place:, place], counted[place, place] = crossed[:place], crossed[place:], square
    return np.append(crossed, square)


def _fill(lower: FloatArray) -> FloatArray:
    """A symmetric matrix from its lower triangle."""
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


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
