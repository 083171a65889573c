"""Samples in order of time that are appended at one end, read in between, and dropped at the other end."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray

_CAPACITY = 4096
_KEPT = 256


class SampleBuffer:
    """States (N, 2n) of positions and velocities at increasing times, in one piece of memory."""

    def __init__(self, width: int) -> None:
        """Make room for states of some width."""
        self._times = np.empty(_CAPACITY)
        self._states = np.empty((_CAPACITY, width))
        self._half = width // 2
        self._start = 0
        self._stop = 0
        self.newest = -np.inf
        """Time of the last sample."""

    @property
    def times(self) -> FloatArray:
        """Times (N,) of the samples kept."""
        return self._times[self._start : self._stop]

    @property
    def states(self) -> FloatArray:
        """States (N, 2n) of the samples kept."""
        return self._states[self._start : self._stop]

    def append(self, times: FloatArray, positions: FloatArray, velocities: FloatArray) -> None:
        """Add samples later than all before, (N,), (N, n) and (N, n)."""
        stop = self._stop + len(times)
        if stop > len(self._times):
            self._make_room(len(times))
            stop = self._stop + len(times)
        part = slice(self._stop, stop)
        self._times[part] = times
        self._states[part, : self._half] = positions
        self._states[part, self._half :] = velocities
        self._stop = stop
        self.newest = times.item(-1)

    def _make_room(self, count: int) -> None:
        """Move what is kept to the front, into a larger piece of memory if need be."""
        kept = self._stop - self._start
        times, states = self.times, self.states
        if kept + count > len(self._times) // 2:
            self._times = np.empty(2 * (kept + count))
            self._states = np.empty((2 * (kept + count), states.shape[1]))
        self._times[:kept] = times.copy()
        self._states[:kept] = states.copy()
        self._start, self._stop = 0, kept

    def read(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Interpolate linearly at (N,) increasing times, none later than the newest.

        Returns:
            (N, 2n) states, and (N,) the distance [s] between the two samples that were used, inf where there is none before.
        """
        if len(times) == 1:
            return self._read_one(times.item())
        kept, states = self.times, self.states
        after = kept.searchsorted(times)
        before = np.maximum(after - 1, 0)
        earlier = kept[before]
        width = kept[after] - earlier
        width[after == 0] = np.inf
        low = states[before]
        fraction = (times - earlier) / width
        return low + fraction[:, None] * (states[after] - low), width

    def _read_one(self, time: float) -> tuple[FloatArray, FloatArray]:
        """The same for a single time, which is most often just before the newest sample."""
        all_times, after = self._times, self._stop - 1
        while after > self._start and all_times.item(after - 1) >= time:
            after -= 1
        if after == self._start:
            return self._states[after : after + 1], _NOTHING_BEFORE
        earlier = all_times.item(after - 1)
        width = all_times.item(after) - earlier
        low = self._states[after - 1]
        state = self._states[after : after + 1] - low
        state *= (time - earlier) / width
        state += low
        return state, np.array([width])

    def forget_before(self, time: float) -> None:
        """Drop samples that no later time needs, once they are many."""
        if self._stop - self._start > 2 * _KEPT:
            needed = self._start + int(self.times.searchsorted(time)) - 1
            self._start = max(self._start, min(needed, self._stop - _KEPT))


_NOTHING_BEFORE = np.array([np.inf])
