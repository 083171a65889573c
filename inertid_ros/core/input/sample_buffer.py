"""A time line of samples that grows at one end and is forgotten at the other."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.input.interpolation import interpolate
from inertid_ros.core.records import FloatArray, IntArray

_KEPT = 256
"""Samples that are kept at least, for readings that come late: a quarter of a second at 1 kHz."""
_CAPACITY = 4096
"""Samples that there is room for at first: four seconds at 1 kHz."""


class SampleBuffer:
    """Samples of C states each, in memory that is used again.

    Attributes:
        all_times, all_states: (M,), (M, C) the memory, for kernels, of which
        start, stop: is used.
        newest: time of the newest sample [s], -inf if there is none.
    """

    def __init__(self, states: int) -> None:
        """Start with no sample."""
        self.all_times: FloatArray = np.empty(_CAPACITY)
        self.all_states: FloatArray = np.empty((_CAPACITY, states))
        self.start = self.stop = 0
        self.newest = -np.inf

    @property
    def times(self) -> FloatArray:
        """Times (N,) of the samples kept."""
        return self.all_times[self.start : self.stop]

    @property
    def states(self) -> FloatArray:
        """States (N, C) of the samples kept."""
        return self.all_states[self.start : self.stop]

    def append(self, times: FloatArray, states: FloatArray) -> None:
        """Add samples later than all before, (N,) and (N, C)."""
        if self.stop + len(times) > len(self.all_times):
            self.make_room(len(times))
        part = slice(self.stop, self.stop + len(times))
        self.all_times[part], self.all_states[part] = times, states
        self.stop = part.stop
        self.newest = times.item(-1)

    def make_room(self, count: int) -> None:
        """Move what is kept to the front, into a larger piece of memory if need be."""
        kept = self.stop - self.start
        times, states = self.times.copy(), self.states.copy()
        if kept + count > len(self.all_times) // 2:
            self.all_times = np.empty(2 * (kept + count))
            self.all_states = np.empty((len(self.all_times), self.all_states.shape[1]))
        self.all_times[:kept], self.all_states[:kept] = times, states
        self.start, self.stop = 0, kept

    def read(self, targets: IntArray, samples: FloatArray, widths: FloatArray) -> None:
        """Interpolate at the times of samples (N, W), none later than the newest, see `interpolation.interpolate`."""
        interpolate(self.all_times, self.all_states, self.start, self.stop, targets, samples, widths)

    def forget_before(self, time: float) -> None:
        """Drop samples that no later time needs, once they are many."""
        if self.stop - self.start > 2 * _KEPT:
            needed = self.start + int(self.times.searchsorted(time)) - 1
            self.start = max(self.start, min(needed, self.stop - _KEPT))
