"""Collects what a report of a load needs while a recording is replayed."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.estimation.load_estimator import Event
from inertid_ros.core.input.timestamps import CONTINUITY
from inertid_ros.core.load_chain import LoadEstimate, LoadOutput
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.replay.envelope import EnvelopeBuilder
from inertid_ros.replay.residual_summary import HistogramBuilder, ResidualSums, SpectrumBuilder
from inertid_ros.replay.trace import MODES, STATES, Convergence, Envelope, SignalTrace, TraceEvent

MOMENTS = 512
EVENTS = 2000
_FIRST_SPACING = 100_000_000
_JUMP = 1.0


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

    def list_all(self, width: int) -> tuple[FloatArray, FloatArray]:
        """Times (K,) and rows (K, width) that were kept."""
        return np.array(self._times), np.array(self._rows).reshape(-1, width)


class ConvergenceBuilder(MomentKeeper):
    """Keeps estimates of a load."""

    def __init__(self) -> None:
        """Start with none."""
        super().__init__(_FIRST_SPACING, MOMENTS)

    def take(self, time: float, estimate: LoadEstimate) -> None:
        """Keep an estimate; one at a time that is there already replaces it."""
        deviations = np.sqrt(np.diag(estimate.covariance))
        bias_deviations = np.sqrt(np.diag(estimate.bias_covariance))
        states = [STATES.index(state) for state in estimate.states]
        row = np.concatenate(
            (estimate.parameters, deviations, states, estimate.bias, bias_deviations, [MODES.index(estimate.mode)])
        )
        self.keep(time, row)

    def finish(self) -> Convergence:
        """What was kept."""
        times, rows = self.list_all(43)
        return Convergence(
            times=times,
            parameters=rows[:, :10],
            deviations=rows[:, 10:20],
            states=rows[:, 20:30].astype(np.int8),
            bias=rows[:, 30:36],
            bias_deviations=rows[:, 36:42],
            modes=rows[:, 42].astype(np.int8),
        )


class TraceBuilder:
    """Puts the parts of a load's trace together.

    Attributes:
        axis: the time axis of everything.
        convergence: estimates over time.
        sums: of the residual.
        spectrum, histogram: of the residual.
        events: what happened to the load, the first two thousand.
        events_left_out: how many more there were.
    """

    def __init__(self) -> None:
        """Start with nothing."""
        self.axis = TimeAxis()
        self.convergence = ConvergenceBuilder()
        self.sums = ResidualSums()
        self.spectrum = SpectrumBuilder()
        self.histogram = HistogramBuilder()
        self.events: list[TraceEvent] = []
        self.events_left_out = 0
        self._envelope = EnvelopeBuilder(18)

    def take(self, output: LoadOutput, time_origin: int) -> None:
        """Take what came out of the chain, at least one wrench, and the stamp at which its events' times are zero."""
        times = self.axis.place(output.stamps)
        measured = output.predicted + output.residual
        self._envelope.take(times, np.hstack((measured, output.predicted, output.residual)))
        self.sums.take(measured, output.residual)
        self.histogram.take(output.residual)
        self.spectrum.take(times, output.residual)
        for event in output.events:
            self._add_event(event, output.stamps, times, time_origin)

    def finish_wrenches(self) -> SignalTrace:
        """The decimated wrenches."""
        times, low, high = self._envelope.finish()
        measured, predicted, residual = (
            Envelope(low[:, part], high[:, part]) for part in (slice(0, 6), slice(6, 12), slice(12, 18))
        )
        return SignalTrace(times, self._envelope.width, measured, predicted, residual)

    def _add_event(self, event: Event, stamps: IntArray, times: FloatArray, time_origin: int) -> None:
        if len(self.events) >= EVENTS:
            self.events_left_out += 1
            return
        stamp = time_origin + round(event.time * 1e9)
        index = int(np.abs(stamps - stamp).argmin())
        self.events.append(TraceEvent(float(times[index]), event.kind, event.message))
