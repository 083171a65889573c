"""When sensors take their samples, random numbers for each of them, and samples as time goes on.

Random numbers go by index: row k of a stream is the same however and in whatever order the rows are asked for.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from inertid_ros.core.records import FloatArray, IntArray, JointBlock, WrenchBlock

BLOCK = 1024
"""Rows that are drawn at once, from a generator seeded by seed, stream and number of the block."""
NANOSECONDS = 1e9
AHEAD = 0.1
"""Seconds that are computed ahead: sample by sample the simulation would cost many times as much."""


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


class RandomWalk(NoiseStream):
    """Endless table of running sums of standard normal rows, starting after one step."""

    def __init__(self, seed: int, name: str, width: int) -> None:
        """Set up a walk; walks of other names or seeds are independent of it."""
        super().__init__(seed, name, width)
        self._starts = [np.zeros(width)]

    def block(self, number: int) -> FloatArray:
        """Return rows number * BLOCK and the following, (BLOCK, width)."""
        while len(self._starts) <= number:
            self._starts.append(self.block(len(self._starts) - 1)[-1])
        return self._starts[number] + np.cumsum(super().block(number), axis=0)


class Samples(NamedTuple):
    """Consecutive samples of one sensor: number of the first, of the one after the last, and instants [ns] (N,)."""

    first: int
    last: int
    instants: IntArray

    @property
    def seconds(self) -> FloatArray:
        """Instants in seconds, (N,)."""
        return self.instants / NANOSECONDS


class SampleClock:
    """Sample k is taken at k / rate + jitter (1 + u_k), with u_k uniform from -1 to 1.

    Jitter is below half a period, so the order of samples never changes.
    """

    def __init__(self, rate: float, jitter: float, noise: NoiseStream) -> None:
        """Take the rate [Hz], the jitter [s] and a uniform stream of width 1."""
        self._rate = rate
        self._jitter = jitter
        self._noise = noise

    def between(self, start: float, end: float) -> Samples:
        """Find the samples with start <= instant < end, both in seconds and not negative."""
        low, high = round(start * NANOSECONDS), round(end * NANOSECONDS)
        first = max(0, int((start - 2.0 * self._jitter) * self._rate) - 1)
        last = max(first, int(end * self._rate) + 2)
        seconds = np.arange(first, last) / self._rate
        if self._jitter > 0.0:
            seconds = seconds + self._jitter * (1.0 + self._noise.rows(first, last)[:, 0])
        instants = np.rint(seconds * NANOSECONDS).astype(np.int64)
        begin, stop = np.searchsorted(instants, [low, max(low, high)])
        return Samples(first + int(begin), first + int(stop), instants[begin:stop])


Block = TypeVar("Block", JointBlock, WrenchBlock)


class Playback(Generic[Block]):
    """Gives each sample of one sensor once, when its time has come.

    Times are seconds since the start of the simulation, whose stamps must count from 0.
    """

    def __init__(self, read: Callable[[float, float], Block]) -> None:
        """Take one of a simulator's methods, such as `simulator.wrenches`."""
        self._read: Callable[[float, float], Block] = read
        self._given = 0.0
        self._computed = 0.0
        self._ahead: Block = read(0.0, 0.0)

    def advance(self, time: float) -> Block:
        """Return the samples since the last call and before a time."""
        if time > self._computed:
            self._computed = time + AHEAD
            self._ahead = self._read(self._given, self._computed)
        limits = np.rint(np.array([self._given, time]) * NANOSECONDS).astype(np.int64)
        first, last = np.searchsorted(self._ahead.stamps, limits)
        self._given = time
        return self._ahead.take(slice(int(first), int(last)))

    def skip_to(self, time: float) -> None:
        """Leave out the samples before a time, or go back to it."""
        self._given = time
        self.recompute()

    def recompute(self) -> None:
        """Forget what was computed ahead, since the simulation has changed."""
        self._computed = self._given
