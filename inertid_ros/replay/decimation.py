"""What is kept of signals of any length: envelope, histogram, spectrum, and moments at a spacing that grows."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.input.timestamps import CONTINUITY
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.replay.trace import Histogram, Spectrum

BUCKETS = 4096
"""Of an envelope: as many as fit a wide screen."""
_FIRST_WIDTH = 0.01
"""Of a bucket [s]; it doubles when the buckets are used up."""
SEGMENT = 1024
"""Samples of one segment of the spectrum: 1 Hz at 1 kHz."""
_IRREGULAR = 5.0
"""A segment with an interval so many times the mean has a gap in it."""
_BINS = 200
"""Of a histogram."""
_FIRST_RANGE = 1e-3
"""Of a histogram [N, Nm]; below the resolution of any sensor."""
_FULL = 1.0 - 1e-9
"""Values are kept so far inside the range of a histogram that rounding cannot put one outside."""
_JUMP = 1.0
"""What passes [s] where stamps go back or jump."""


class TimeAxis:
    """Seconds since the first sample; where stamps go back or jump, one second passes.

    Attributes:
        now: of the newest sample.
        first_stamp: of the first sample [ns]; 0 before it.
    """

    def __init__(self) -> None:
        """Start before the first sample."""
        self.now = 0.0
        self.first_stamp = 0
        self._last: int | None = None

    def place(self, stamps: IntArray) -> FloatArray:
        """Times (N,) of stamps (N,) that follow those before."""
        if self._last is None:
            self._last = self.first_stamp = int(stamps[0])
        steps = np.diff(stamps, prepend=self._last)
        jumps = (steps < 0) | (steps > CONTINUITY)
        seconds = np.where(jumps, _JUMP, steps * 1e-9)
        times = self.now + np.cumsum(seconds)
        self._last, self.now = int(stamps[-1]), float(times[-1])
        return np.asarray(times)


class MomentKeeper:
    """Keeps rows of numbers at a spacing of time that doubles when there are too many.

    Attributes:
        spacing: nanoseconds.
    """

    def __init__(self, spacing: int, most: int) -> None:
        """Start with none, this spacing, and room for so many."""
        self.spacing = spacing
        self._most = most
        self._next = 0.0
        self._times: list[float] = []
        self._rows: list[FloatArray] = []

    def is_due(self, time: float) -> bool:
        """Whether a row is wanted at a time."""
        return time >= self._next

    def keep(self, time: float, row: FloatArray) -> None:
        """Keep a row; one at a time that is there already replaces it."""
        if self._times and self._times[-1] == time:
            self._rows[-1] = row
            return
        if len(self._times) == self._most:
            self._times, self._rows = self._times[::2], self._rows[::2]
            self.spacing *= 2
        self._times.append(time)
        self._rows.append(row)
        self._next = time + self.spacing * 1e-9

    def list_all(self) -> tuple[FloatArray, FloatArray]:
        """Times (K,) and rows (K, W) that were kept, at least one."""
        return np.array(self._times), np.array(self._rows)


class EnvelopeBuilder:
    """Keeps minimum and maximum of some channels; when the buckets are used up, each two become one.

    Attributes:
        width: of a bucket [s].
    """

    def __init__(self, channels: int) -> None:
        """Start with the narrowest buckets."""
        self.width = _FIRST_WIDTH
        self._low = np.full((BUCKETS, channels), np.inf)
        self._high = np.full((BUCKETS, channels), -np.inf)
        self._used = 0

    def take(self, times: FloatArray, *parts: FloatArray) -> None:
        """Take values at (N,) times [s], not negative and not decreasing: arrays (N, C), side by side."""
        while times.item(-1) >= BUCKETS * self.width:
            self._merge()
        buckets = (times / self.width).astype(np.int64)
        starts = np.flatnonzero(np.diff(buckets, prepend=-1))
        chosen = buckets[starts]
        first = 0
        for values in parts:
            columns = slice(first, first + values.shape[1])
            for kept, extreme in ((self._low[:, columns], np.minimum), (self._high[:, columns], np.maximum)):
                kept[chosen] = extreme(kept[chosen], extreme.reduceat(values, starts))
            first = columns.stop
        self._used = max(self._used, buckets.item(-1) + 1)

    def finish(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Beginnings (B,) of the buckets [s], minima and maxima (B, channels); NaN where there was nothing."""
        low, high = self._low[: self._used].copy(), self._high[: self._used].copy()
        empty = low > high
        low[empty] = high[empty] = np.nan
        return np.arange(self._used) * self.width, low, high

    def _merge(self) -> None:
        half = BUCKETS // 2
        self._low[:half] = np.minimum(self._low[0::2], self._low[1::2])
        self._high[:half] = np.maximum(self._high[0::2], self._high[1::2])
        self._low[half:], self._high[half:] = np.inf, -np.inf
        self.width *= 2.0
        self._used = (self._used + 1) // 2


class HistogramBuilder:
    """Counts over a symmetric range that doubles, for each channel on its own, when a value lies outside."""

    def __init__(self, channels: int) -> None:
        """Start with a narrow range."""
        self._range = np.full(channels, _FIRST_RANGE)
        self._counts = np.zeros((channels, _BINS), dtype=np.int64)
        self._offsets = np.arange(channels) * _BINS

    def take(self, residual: FloatArray) -> None:
        """Count (N, C) values."""
        largest = np.maximum(residual.max(axis=0), -residual.min(axis=0))
        for channel in np.flatnonzero(largest >= _FULL * self._range).tolist():
            while largest[channel] >= _FULL * self._range[channel]:
                self._widen(channel)
        bins = (residual * (_BINS / 2 / self._range) + (_BINS / 2 + self._offsets)).astype(np.int64)
        self._counts += np.bincount(bins.ravel(), minlength=self._counts.size).reshape(-1, _BINS)

    def finish(self) -> Histogram:
        """The counts and the edges between them."""
        edges = np.linspace(-1.0, 1.0, _BINS + 1) * self._range[:, None]
        return Histogram(edges, self._counts.copy())

    def _widen(self, channel: int) -> None:
        pairs = self._counts[channel].reshape(-1, 2).sum(axis=1)
        quarter = _BINS // 4
        self._counts[channel] = 0
        self._counts[channel, quarter : quarter + len(pairs)] = pairs
        self._range[channel] *= 2.0


class SpectrumBuilder:
    """Averages periodograms of segments; one with a gap in it, or at another rate, is left out."""

    def __init__(self, channels: int) -> None:
        """Start with an empty segment."""
        self._window = np.hanning(SEGMENT)
        self._times = np.empty(SEGMENT)
        self._values = np.empty((SEGMENT, channels))
        self._filled = 0
        self._density = np.zeros((SEGMENT // 2 + 1, channels))
        self._interval = 0.0
        self._segments = 0

    def take(self, times: FloatArray, residual: FloatArray) -> None:
        """Take (N, C) residuals at (N,) times [s]."""
        done = 0
        while done < len(times):
            count = min(SEGMENT - self._filled, len(times) - done)
            part = slice(self._filled, self._filled + count)
            self._times[part], self._values[part] = times[done : done + count], residual[done : done + count]
            self._filled += count
            done += count
            if self._filled == SEGMENT:
                self._filled = 0
                self._add_segment()

    def _add_segment(self) -> None:
        interval = float(self._times[-1] - self._times[0]) / (SEGMENT - 1)
        if interval <= 0.0 or np.diff(self._times).max() > _IRREGULAR * interval:
            return
        values = (self._values - self._values.mean(axis=0)) * self._window[:, None]
        power = np.abs(np.fft.rfft(values, axis=0)) ** 2
        power[1:-1] *= 2.0
        self._density += power * (interval / (self._window @ self._window))
        self._interval += interval
        self._segments += 1

    def finish(self) -> Spectrum:
        """The average."""
        if self._segments == 0:
            return Spectrum(np.empty(0), self._density[:0], 0)
        frequencies = np.fft.rfftfreq(SEGMENT, self._interval / self._segments)
        return Spectrum(frequencies, self._density / self._segments, self._segments)
