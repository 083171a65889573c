"""When a sensor takes its samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.sim.noise import NoiseStream

NANOSECONDS = 1e9


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
