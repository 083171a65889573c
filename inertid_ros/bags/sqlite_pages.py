"""The messages of an sqlite3 file, found in its pages, for SQLite needs ten times as long to hand them out.

The file format is documented (https://www.sqlite.org/fileformat2.html) and will not change. A table is a tree of
pages; its leaves hold the rows, in the order of their numbers. A row is

    size of the payload, number of the row, size of the header, a type for each column, the columns

where sizes, numbers and types are integers of one to nine bytes. Long rows, which continue on other pages, and anything
that does not look as expected are left to SQLite.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.records import IntArray
from inertid_ros.messages.cdr_layout import ByteArray, view_bytes

_LEAF, _INTERIOR = 13, 5
"""Types of pages in the tree of a table."""
_COLUMNS = ["id", "topic_id", "timestamp", "data"]
_HEADER = 100
"""Bytes in front of the first page's own header."""
_SHORTEST = 19
"""Bytes of a row at least: 15 for sizes, types, and time, and four for a message, its encapsulation alone."""
_HELD = 1 << 26
"""Bytes of the file after which those before are no longer held in memory; the system reads them again if need be."""


@compiled
def read_integer(data: ByteArray, place: int, size: int) -> int:
    """A signed integer of so many bytes, the highest first."""
    value = 0
    for k in range(size):
        value = value << 8 | int(data[place + k])
    return value - (1 << 8 * size) if 0 < size < 8 and value >> (8 * size - 1) else value


@compiled
def read_varint(data: ByteArray, place: int) -> tuple[int, int]:
    """An integer of one to nine bytes, of which all but the ninth tell whether another follows; and the place after.

    Where that could be after the end of the file, which it is in no row, the integer is -1.
    """
    value = 0
    if place + 9 > len(data):
        return -1, place
    for k in range(8):
        byte = int(data[place + k])
        value = value << 7 | (byte & 0x7F)
        if byte < 0x80:
            return value, place + k + 1
    return value << 8 | int(data[place + 8]), place + 9


@compiled
def read_number(data: ByteArray, place: int, kind: int) -> tuple[int, int]:
    """An integer of a column of some type, and the place after; -1 and the same place if it cannot be one."""
    if 8 <= kind <= 9:
        return kind - 8, place
    if kind < 1 or kind > 6 or place + 8 > len(data):
        return -1, place
    size = kind if kind < 5 else 2 * kind - 4
    return read_integer(data, place, size), place + size


@compiled
def find_children(data: ByteArray, page: int, head: int, used: int, children: IntArray) -> int:
    """The pages below an interior one, whose header is at a place; returns how many, or -1 if that cannot be right."""
    cells = read_integer(data, head + 3, 2) & 0xFFFF
    if cells >= len(children):
        return -1
    for cell in range(cells):
        place = read_integer(data, head + 12 + 2 * cell, 2) & 0xFFFF
        if place + 4 > used:
            return -1
        children[cell] = read_integer(data, page + place, 4)
    children[cells] = read_integer(data, head + 8, 4)
    return cells + 1


@compiled
def read_rows(data: ByteArray, pages: IntArray, used: int, found: IntArray) -> int:
    """Find the messages in leaves.

    Args:
        data: the file.
        pages: (P,) where the leaves begin.
        used: bytes of a page that are used.
        found: (5, N) takes number, topic, time [ns], place in the file and length of each; -1 for the length of one
            that continues on another page.

    Returns:
        How many there are; -1 if something is not as expected.
    """
    count = 0
    for page in pages:
        cells = read_integer(data, page + 3, 2) & 0xFFFF
        if data[page] != _LEAF or 8 + 2 * cells > used or count + cells > found.shape[1]:
            return -1
        for cell in range(cells):
            place = page + (read_integer(data, page + 8 + 2 * cell, 2) & 0xFFFF)
            if place + _SHORTEST > page + used:
                return -1
            payload, place = read_varint(data, place)
            is_whole = payload <= used - 35
            found[0, count], place = read_varint(data, place)
            end = place + payload
            header, place = read_varint(data, place)
            if (is_whole and end > page + used) or header < 5 or header > 9:
                return -1
            kind, place = read_varint(data, place)
            topic_kind, place = read_varint(data, place)
            time_kind, place = read_varint(data, place)
            data_kind, place = read_varint(data, place)
            found[1, count], place = read_number(data, place, topic_kind)
            found[2, count], place = read_number(data, place, time_kind)
            if kind != 0 or data_kind < 12 or data_kind % 2 or place + (data_kind - 12) // 2 != end:
                return -1
            found[3, count], found[4, count] = place, (data_kind - 12) // 2 if is_whole else -1
            count += 1
    return count


class Rows(NamedTuple):
    """Messages: topic, time of recording [ns], place in the file and length, -1 for a long one, each (N,)."""

    topics: IntArray
    times: IntArray
    starts: IntArray
    lengths: IntArray


class PageReader:
    """Walks once over the table `messages` of a database that does not change.

    Attributes:
        data: the file.
    """

    def __init__(self, path: Path, database: Any) -> None:
        """Map the file of an open database; ValueError if its tables are not those of a bag."""
        if [row[1] for row in database.execute("PRAGMA table_info(messages)")] != _COLUMNS:
            raise ValueError("the table of messages has other columns")
        ((root,),) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchall()
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.data = view_bytes(self._map)
        self._released = 0
        size = int.from_bytes(self.data[16:18].tobytes(), "big")
        self._size = 65536 if size == 1 else size
        self._used = self._size - int(self.data[20])
        self._leaves = self._walk([root])
        self._rest: IntArray = np.empty((5, 0), dtype=np.int64)

    def _walk(self, pages: list[int]) -> Iterator[list[int]]:
        """Where leaves begin, those below one page at a time."""
        starts = [(page - 1) * self._size for page in pages]
        if min(starts) < 0 or max(starts) + self._size > len(self.data):
            raise ValueError("a page is missing")
        heads = [start or _HEADER for start in starts]
        kinds = self.data[heads].tolist()
        if 0 not in starts and kinds == [_LEAF] * len(kinds):
            yield starts
            return
        for start, head, kind in zip(starts, heads, kinds, strict=True):
            children = np.empty(self._used // 6, dtype=np.int64)
            count = find_children(self.data, start, head, self._used, children) if kind == _INTERIOR else -1
            if count < 1:
                raise ValueError("a page is damaged")
            yield from self._walk(children[:count].tolist())

    def read(self, start: int, stop: int, highest: int, count: int, topics: Sequence[int]) -> Rows:
        """The messages of topics in a span of time [ns] after those before, in its order.

        ValueError if a row cannot be read, or there are not `count` in the span, of which `highest` is the last in the
        table; with another `highest` it can be tried again.
        """
        parts = [self._rest]
        while count and (parts[-1].size == 0 or parts[-1][0].max() < highest):
            leaves = next(self._leaves, None)
            if leaves is None:
                break
            parts.append(self._read_leaves(np.array(leaves)))
        rows: IntArray = np.concatenate(parts, axis=1)
        if (rows[2, 1:] < rows[2, :-1]).any():
            rows = rows[:, np.argsort(rows[2], kind="stable")]
        first, last = np.searchsorted(rows[2], (start, stop)).tolist()
        if last - first != count:
            self._rest = rows
            raise ValueError("rows are missing")
        self._rest, rows = rows[:, last:], rows[:, first:last]
        is_wanted = np.isin(rows[1], topics)
        return Rows(*(rows[1:] if is_wanted.all() else rows[1:, is_wanted]))

    def _read_leaves(self, pages: IntArray) -> IntArray:
        first = int(pages[0]) // mmap.PAGESIZE * mmap.PAGESIZE
        if first > self._released + _HELD:
            self._map.madvise(mmap.MADV_DONTNEED, 0, first)
            self._released = first
        cells = int(self.data[pages + 3].sum(dtype=np.int64) << 8) + int(self.data[pages + 4].sum(dtype=np.int64))
        found = np.empty((5, cells), dtype=np.int64)
        if read_rows(self.data, pages, self._used, found) < cells:
            raise ValueError("a row is not as expected")
        return found
