"""Random numbers by index: row k of a stream is the same however and in whatever order the rows are asked for."""

from __future__ import annotations

import zlib

import numpy as np

from inertid_ros.core.records import FloatArray

BLOCK = 1024
"""Rows that are drawn at once, from a generator seeded by seed, stream and number of the block."""


class NoiseStream:
    """Endless table of independent random rows: standard normal, or uniform from -1 to 1."""

    def __init__(self, seed: int, name: str, width: int, uniform: bool = False) -> None:
        """Set up a stream; streams of other names or seeds are independent of it."""
        self._key = (seed, zlib.crc32(name.encode()))
        self._width = width
        self._uniform = uniform
        self._latest: tuple[int, FloatArray] = (-1, np.empty((0, width)))

    def rows(self, first: int, last: int) -> FloatArray:
        """Return rows first to last - 1, (last - first, width)."""
        if last <= first:
            return np.empty((0, self._width))
        start = first // BLOCK
        blocks = [self.block(number) for number in range(start, (last - 1) // BLOCK + 1)]
        table = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        return table[first - start * BLOCK : last - start * BLOCK]

    def block(self, number: int) -> FloatArray:
        """Return rows number * BLOCK and the following, (BLOCK, width)."""
        if self._latest[0] != number:
            random = np.random.default_rng([*self._key, number])
            shape = (BLOCK, self._width)
            table: FloatArray = random.uniform(-1.0, 1.0, shape) if self._uniform else random.standard_normal(shape)
            self._latest = (number, table)
        return self._latest[1]


class RandomWalk:
    """Endless table of running sums of standard normal rows, starting after one step."""

    def __init__(self, seed: int, name: str, width: int) -> None:
        """Set up a walk; walks of other names or seeds are independent of it."""
        self._steps = NoiseStream(seed, name, width)
        self._starts = [np.zeros(width)]

    def rows(self, first: int, last: int) -> FloatArray:
        """Return rows first to last - 1, (last - first, width)."""
        numbers = range(first // BLOCK, max(first, last - 1) // BLOCK + 1)
        for number in range(len(self._starts), numbers.stop):
            self._starts.append(self._block(number - 1)[-1])
        table = np.concatenate([self._block(number) for number in numbers])
        offset = numbers.start * BLOCK
        return table[first - offset : max(first, last) - offset]

    def _block(self, number: int) -> FloatArray:
        """Return the rows of one block, of which the start must be known."""
        return self._starts[number] + np.cumsum(self._steps.block(number), axis=0)
