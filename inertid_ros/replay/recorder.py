"""Collects what a report needs while a recording is replayed, in memory that does not grow with its length."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np

from inertid_ros.core.chain import Target
from inertid_ros.core.compiled import compiled
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.input.timeline import CONTINUITY
from inertid_ros.core.records import Event, FloatArray, IntArray, Output
from inertid_ros.replay.residuals import PredictionSums
from inertid_ros.replay.trace import MODES, STATES, Convergence, Envelope, Histogram, SignalTrace, Spectrum, TraceEvent

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


Kept = TypeVar("Kept")


@compiled
def widen_envelope(low: FloatArray, high: FloatArray, first: int, buckets: IntArray, values: FloatArray) -> None:
    """Widen the columns from `first` on of minima and maxima by values (N, C) of buckets (N,); NaN stays."""
    for i in range(len(buckets)):
        bucket = buckets[i]
        for c in range(values.shape[1]):
            value, column = values[i, c], first + c
            if value < low[bucket, column] or np.isnan(value):
                low[bucket, column] = value
            if value > high[bucket, column] or np.isnan(value):
                high[bucket, column] = value


@compiled
def count_values(counts: IntArray, scales: FloatArray, values: FloatArray) -> None:
    """Count values (N, C) in bins (C, B) of which zero is in the middle; scales (C,) bins per unit."""
    middle = 0.5 * counts.shape[1]
    for i in range(len(values)):
        for c in range(len(scales)):
            counts[c, int(values[i, c] * scales[c] + middle)] += 1


class TimeAxis:
    """Seconds since the first sample, whose stamp is kept [ns]; where stamps go back or jump, one second passes."""

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


class MomentKeeper(Generic[Kept]):
    """Keeps what there was at a spacing of time [ns] that doubles when there is too much."""

    def __init__(self, spacing: int, most: int, duration: float = 0.0) -> None:
        """Start with nothing, this spacing or that of so long a recording [ns], and room for so many moments."""
        while spacing * most < duration:
            spacing *= 2
        self.spacing = spacing
        self._most = most
        self._next = 0.0
        self._times: list[float] = []
        self._kept: list[Kept] = []

    def is_due(self, time: float) -> bool:
        """Whether something is wanted at a time, to the microsecond: times are sums of steps."""
        return round(time - self._next, 6) >= 0.0

    def keep(self, time: float, what: Kept) -> None:
        """Keep what there is; something at a time that is there already is replaced."""
        if self._times and self._times[-1] == time:
            self._kept[-1] = what
            return
        if len(self._times) == self._most:
            self._times, self._kept = self._times[::2], self._kept[::2]
            self.spacing *= 2
        self._times.append(time)
        self._kept.append(what)
        self._next = time + self.spacing * 1e-9

    def list_all(self) -> tuple[FloatArray, list[Kept]]:
        """Times (K,) and what was kept."""
        return np.array(self._times), self._kept


class EnvelopeBuilder:
    """Keeps minimum and maximum of some channels in buckets of a width [s], which doubles when they are used up."""

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
        first = 0
        for values in parts:
            widen_envelope(self._low, self._high, first, buckets, np.ascontiguousarray(values))
            first += values.shape[1]
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

    def take(self, residual: FloatArray) -> None:
        """Count (N, C) values."""
        largest = np.maximum(residual.max(axis=0), -residual.min(axis=0))
        for channel in np.flatnonzero(largest >= _FULL * self._range).tolist():
            while largest[channel] >= _FULL * self._range[channel]:
                self._widen(channel)
        count_values(self._counts, 0.5 * _BINS / self._range, np.ascontiguousarray(residual))

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


SPACINGS = {Target.LOAD: 100_000_000, Target.LINKS: 2_000_000_000}
"""Their first distance [ns]: a load may change within a second, an arm does not, and has many more parameters."""
NEVER = 1 << 62
"""The same where only the first and the last are of interest [ns]: 146 years."""
MOST_EVENTS = 2000
"""So many events are kept; more are counted."""


class Recorder:
    """Takes what comes out of a chain with K channels; of events, those beyond MOST_EVENTS are counted."""

    def __init__(self, channels: int, moments: MomentKeeper[FloatArray], compares: bool = False) -> None:
        """Start with nothing; `compares` if the URDF's own predictions come along."""
        self.axis = TimeAxis()
        self.moments = moments
        self.events_left_out = 0
        self._channels = channels
        self._events: list[TraceEvent] = []
        self._online = PredictionSums(channels)
        self._urdf = PredictionSums(channels) if compares else None
        self._spectrum = SpectrumBuilder(channels)
        self._histogram = HistogramBuilder(channels)
        self._envelope = EnvelopeBuilder((4 if compares else 3) * channels)

    def take(self, output: Output, by_urdf: Output | None = None) -> FloatArray:
        """Take what came out, at least one sample, and for the same samples what the URDF predicts.

        Returns:
            (N,) when the samples were [s].
        """
        times = self.axis.place(output.stamps)
        usable = None if output.usable.all() else output.usable
        residual = output.residual
        if usable is not None:
            residual = np.where(usable, residual, 0.0)
        parts = [output.measured, output.predicted, residual]
        if by_urdf is not None and self._urdf is not None:
            parts.append(by_urdf.predicted)
            self._urdf.take(by_urdf, by_urdf.residual, usable)
        self._envelope.take(times, *parts)
        self._online.take(output, residual, usable)
        self._histogram.take(residual)
        self._spectrum.take(times, residual)
        for event in output.events:
            self._add_event(event, output.stamps, times)
        return times

    def _add_event(self, event: Event, stamps: IntArray, times: FloatArray) -> None:
        if len(self._events) >= MOST_EVENTS:
            self.events_left_out += 1
            return
        nearest = int(np.abs(stamps - event.stamp).argmin())
        masses = event.mass_before, event.mass_after
        described = event.kind.value, event.message, event.confidence, *masses
        self._events.append(TraceEvent(float(times[nearest]), *described))

    def keep(self, estimate: LoadEstimate | LinksEstimate) -> None:
        """Keep an estimate of now."""
        states = [STATES.index(state) for state in estimate.states]
        row = np.concatenate((estimate.values, estimate.deviations, states, [MODES.index(estimate.mode)]))
        self.moments.keep(self.axis.now, row)

    def finish(self, estimate: LoadEstimate | LinksEstimate, bias: FloatArray | float = 0.0) -> dict[str, Any]:
        """Attributes of the `Trace`, with the last estimate and the bias (K,) to take off the readings."""
        self.keep(estimate)
        times, low, high = self._envelope.finish()
        parts = (slice(place, place + self._channels) for place in range(0, low.shape[1], self._channels))
        measured, predicted, residual, *others = (Envelope(low[:, part], high[:, part]) for part in parts)
        by_urdf = others[0] if others else None
        return {
            "duration": self.axis.now,
            "convergence": self._finish_convergence(len(estimate.values)),
            "signals": SignalTrace(times, self._envelope.width, measured, predicted, residual, by_urdf),
            "events": tuple(self._events),
            "online": self._online.finish(bias),
            "spectrum": self._spectrum.finish(),
            "histogram": self._histogram.finish(),
            **({} if self._urdf is None else {"urdf": self._urdf.finish()}),
        }

    def _finish_convergence(self, parameters: int) -> Convergence:
        times, rows = self.moments.list_all()
        values, deviations, states, modes = np.split(np.array(rows), np.arange(1, 4) * parameters, axis=1)
        return Convergence(times, values, deviations, states.astype(np.int8), modes[:, 0].astype(np.int8))
