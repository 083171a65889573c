"""A time line of samples that grows at one end and is forgotten at the other."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.input.interpolation import append_next, interpolate, synchronise
from inertid_ros.core.records import FloatArray, IntArray

_KEPT = 256
"""Samples that are kept at least, for readings that come late."""
_CAPACITY = 4096
"""Samples that there is room for at first: four seconds at 1 kHz."""


class SampleBuffer:
    """Samples of C states each, in memory that is used again.

    Attributes:
        newest: time of the newest sample [s], -inf if there is none.
    """

    def __init__(self, states: int) -> None:
        """Start with no sample."""
        self._times: FloatArray = np.empty(_CAPACITY)
        self._states: FloatArray = np.empty((_CAPACITY, states))
        self._start = self._stop = 0
        self.newest = -np.inf

    @property
    def times(self) -> FloatArray:
        """Times (N,) of the samples kept."""
        return self._times[self._start : self._stop]

    @property
    def states(self) -> FloatArray:
        """States (N, C) of the samples kept."""
        return self._states[self._start : self._stop]

    def append(self, times: FloatArray, states: FloatArray) -> None:
        """Add samples later than all before, (N,) and (N, C)."""
        if self._stop + len(times) > len(self._times):
            self._make_room(len(times))
        part = slice(self._stop, self._stop + len(times))
        self._times[part], self._states[part] = times, states
        self._stop = part.stop
        self.newest = times.item(-1)

    def append_next(self, last: FloatArray, time: float, positions: FloatArray, velocities: FloatArray) -> bool:
        """Add a single sample if it continues the last position (n,), see `interpolation.append_next`."""
        if self._stop == len(self._times):
            self._make_room(1)
        if not append_next(self._times, self._states, self._stop, last, time, positions, velocities):
            return False
        self._stop += 1
        self.newest = time
        return True

    def _make_room(self, count: int) -> None:
        """Move what is kept to the front, into a larger piece of memory if need be."""
        kept = self._stop - self._start
        times, states = self.times.copy(), self.states.copy()
        if kept + count > len(self._times) // 2:
            self._times = np.empty(2 * (kept + count))
            self._states = np.empty((len(self._times), self._states.shape[1]))
        self._times[:kept], self._states[:kept] = times, states
        self._start, self._stop = 0, kept

    def read(self, targets: IntArray, samples: FloatArray, widths: FloatArray) -> None:
        """Interpolate at the times of samples (N, W), none later than the newest, see `interpolation.interpolate`."""
        interpolate(self._times, self._states, self._start, self._stop, targets, samples, widths)

    def read_last(
        self,
        targets: IntArray,
        samples: FloatArray,
        widths: FloatArray,
        first: int,
        last: float,
        longest: float,
        cuts: IntArray,
    ) -> int:
        """The same for the last publisher of a sample, and how samples follow each other, see `find_cuts`."""
        times, states, start, stop = self._times, self._states, self._start, self._stop
        return synchronise(times, states, start, stop, targets, samples, widths, first, last, longest, cuts)

    def forget_before(self, time: float) -> None:
        """Drop samples that no later time needs, once they are many."""
        if self._stop - self._start > 2 * _KEPT:
            needed = self._start + int(self.times.searchsorted(time)) - 1
            self._start = max(self._start, min(needed, self._stop - _KEPT))
