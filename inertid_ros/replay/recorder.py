"""Collects what a report needs while a recording is replayed, for a load and for an arm alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.records import Event, FloatArray, IntArray, Output
from inertid_ros.replay.decimation import EnvelopeBuilder, HistogramBuilder, MomentKeeper, SpectrumBuilder, TimeAxis
from inertid_ros.replay.residuals import Prediction, PredictionSums
from inertid_ros.replay.trace import (
    MODES,
    STATES,
    Convergence,
    Envelope,
    Histogram,
    SignalTrace,
    Spectrum,
    TraceEvent,
)

LOAD_MOMENTS, LOAD_SPACING = 256, 100_000_000
"""Estimates of a load that are kept, and their first distance [ns]: a load may change within a second."""
LINK_MOMENTS, LINK_SPACING = 256, 500_000_000
"""The same for an arm, which does not change and has many more parameters."""
MOST_EVENTS = 2000
"""So many events are kept; more are counted."""


@dataclass(frozen=True, slots=True)
class Record:
    """What was collected, see `Trace`."""

    duration: float
    convergence: Convergence
    signals: SignalTrace
    events: tuple[TraceEvent, ...]
    online: Prediction
    urdf: Prediction | None
    spectrum: Spectrum
    histogram: Histogram


class Recorder:
    """Takes what comes out of a chain with K channels.

    Attributes:
        axis: the time axis of everything.
        moments: estimates over time.
        events_left_out: how many events are not listed.
    """

    def __init__(self, channels: int, moments: MomentKeeper, compares: bool = False) -> None:
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

    def take(self, output: Output, by_urdf: Output | None = None) -> None:
        """Take what came out, at least one sample, and for the same samples what the URDF predicts."""
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

    def _add_event(self, event: Event, stamps: IntArray, times: FloatArray) -> None:
        if len(self._events) >= MOST_EVENTS:
            self.events_left_out += 1
            return
        nearest = int(np.abs(stamps - event.stamp).argmin())
        self._events.append(TraceEvent(float(times[nearest]), event.kind.value, event.message))

    def keep(self, estimate: LoadEstimate | LinksEstimate) -> None:
        """Keep an estimate of now."""
        states = [STATES.index(state) for state in estimate.states]
        sensor = estimate.sensor if isinstance(estimate, LoadEstimate) else None
        bias = () if sensor is None else (sensor.bias, np.sqrt(np.diag(sensor.bias_covariance)))
        mode = [MODES.index(estimate.mode)]
        row = np.concatenate((estimate.values, estimate.deviations, states, mode, *bias))
        self.moments.keep(self.axis.now, row)

    def finish(self, estimate: LoadEstimate | LinksEstimate, bias: FloatArray | float = 0.0) -> Record:
        """Put everything together, with the last estimate and the bias (K,) to take off the readings."""
        self.keep(estimate)
        times, low, high = self._envelope.finish()
        parts = (slice(place, place + self._channels) for place in range(0, low.shape[1], self._channels))
        measured, predicted, residual, *others = (Envelope(low[:, part], high[:, part]) for part in parts)
        by_urdf = others[0] if others else None
        return Record(
            duration=self.axis.now,
            convergence=self._finish_convergence(len(estimate.values)),
            signals=SignalTrace(times, self._envelope.width, measured, predicted, residual, by_urdf),
            events=tuple(self._events),
            online=self._online.finish(bias),
            urdf=None if self._urdf is None else self._urdf.finish(),
            spectrum=self._spectrum.finish(),
            histogram=self._histogram.finish(),
        )

    def _finish_convergence(self, parameters: int) -> Convergence:
        times, rows = self.moments.list_all()
        values, deviations, states, modes, bias = np.split(rows, np.cumsum([parameters] * 3 + [1]), axis=1)
        biases, bias_deviations = np.split(bias, 2, axis=1)
        return Convergence(
            times, values, deviations, states.astype(np.int8), modes[:, 0].astype(np.int8), biases, bias_deviations
        )
