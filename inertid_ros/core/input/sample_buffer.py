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
        self._width = width
        self._weights = np.empty(2)
        self._allocate(_CAPACITY)
        self._start = 0
        self._stop = 0
        self.newest = -np.inf
        """Time of the last sample."""

    def _allocate(self, capacity: int) -> None:
        self._times = np.empty(capacity)
        self._states = np.empty((capacity, self._width))
        self._positions, self._velocities = self._states[:, : self._width // 2], self._states[:, self._width // 2 :]

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
        self._positions[part] = positions
        self._velocities[part] = velocities
        self._stop = stop
        self.newest = times.item(-1)

    def append_one(self, time: float, position: FloatArray, velocity: FloatArray) -> None:
        """The same for a single sample, (1, n) and (1, n)."""
        if self._stop == len(self._times):
            self._make_room(1)
        stop = self._stop
        self._times[stop] = self.newest = time
        self._positions[stop] = position
        self._velocities[stop] = velocity
        self._stop = stop + 1

    def _make_room(self, count: int) -> None:
        """Move what is kept to the front, into a larger piece of memory if need be."""
        kept = self._stop - self._start
        times, states = self.times, self.states
        if kept + count > len(self._times) // 2:
            self._allocate(2 * (kept + count))
        self._times[:kept] = times.copy()
        self._states[:kept] = states.copy()
        self._start, self._stop = 0, kept

    def read(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Interpolate linearly at (N,) increasing times, none later than the newest.

        Returns:
            (N, 2n) states, and (N,) the distance [s] between the two samples that were used, inf where there is none
            before.
        """
        kept, states = self.times, self.states
        after = kept.searchsorted(times)
        before = np.maximum(after - 1, 0)
        earlier = kept[before]
        width = kept[after] - earlier
        width[after == 0] = np.inf
        low = states[before]
        fraction = (times - earlier) / width
        return low + fraction[:, None] * (states[after] - low), width

    def read_one(self, time: float, state: FloatArray) -> float:
        """The same for a single time, most often just before the newest sample, into (2n,); returns the distance."""
        times, after, start = self._times, self._stop - 1, self._start
        while after > start and times.item(after - 1) >= time:
            after -= 1
        if after == start:
            return np.inf
        earlier = times.item(after - 1)
        width = times.item(after) - earlier
        weights = self._weights
        weights[1] = fraction = (time - earlier) / width
        weights[0] = 1.0 - fraction
        weights.dot(self._states[after - 1 : after + 1], state)
        return width

    def forget_before(self, time: float) -> None:
        """Drop samples that no later time needs, once they are many."""
        if self._stop - self._start > 2 * _KEPT:
            needed = self._start + int(self.times.searchsorted(time)) - 1
            self._start = max(self._start, min(needed, self._stop - _KEPT))
