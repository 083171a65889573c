"""What a report needs of one replay, in memory that does not grow with the length of the recording."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inertid_ros.core.diagnosis import Finding, HealthItem
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate, Mode
from inertid_ros.core.estimation.full_set import judge_completion
from inertid_ros.core.estimation.reweighted import ReweightedEstimator
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings.settings import Settings
from inertid_ros.core.verdict import LEFT_OUT, Verdict, describe_issue, judge, list_input_reasons
from inertid_ros.files.provenance import Provenance
from inertid_ros.replay.inputs import TopicStatistics
from inertid_ros.replay.residuals import Channels, Prediction

STATES = tuple(state.value for state in reversed(ParameterState))
"""What the numbers in `Convergence.states` mean."""

MODES = tuple(mode.value for mode in Mode)
"""What the numbers in `Convergence.modes` mean."""


@dataclass(frozen=True, slots=True)
class Convergence:
    """Estimates of U parameters at a fixed spacing of data time, K of them.

    Attributes:
        times: (K,) seconds since the start.
        values: (K, U).
        deviations: (K, U) their standard deviations.
        states: (K, U) indices into STATES.
        modes: (K,) indices into MODES.
    """

    times: FloatArray
    values: FloatArray
    deviations: FloatArray
    states: NDArray[np.int8]
    modes: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Envelope:
    """Smallest and largest value of C channels in each of B buckets of time; NaN in a bucket without a sample.

    Attributes:
        low, high: (B, C) in the driver's sign; of a wrench force [N], then moment [Nm].
    """

    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, slots=True)
class SignalTrace:
    """What was measured and predicted, decimated by minimum and maximum: no peak is lost.

    Attributes:
        times: (B,) beginning of each bucket, seconds since the start.
        bucket_width: seconds.
        measured, predicted, residual: one envelope each.
        by_urdf: what the URDF alone predicts; None where that is not known.
    """

    times: FloatArray
    bucket_width: float
    measured: Envelope
    predicted: Envelope
    residual: Envelope
    by_urdf: Envelope | None


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """Something that happened to the load: seconds since the start, all else as in `core.records.Event`."""

    time: float
    kind: str
    message: str
    confidence: float = 1.0
    mass_before: float = 0.0
    mass_after: float = 0.0


@dataclass(frozen=True, slots=True)
class Spectrum:
    """One-sided power density of the residual, averaged over segments without a gap (Welch, Hann window).

    Attributes:
        frequencies: (F,) Hz; empty where the recording is too short.
        density: (F, C) N²/Hz and Nm²/Hz.
        segments: how many were averaged.
    """

    frequencies: FloatArray
    density: FloatArray
    segments: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often the residual had which value.

    Attributes:
        edges: (C, H + 1) N and Nm.
        counts: (C, H).
    """

    edges: FloatArray
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Trace:
    """All that is kept of identifying a load or an arm, with C channels.

    Times are seconds of data since the first sample used; where stamps jump (the next bag, a clock that was set), a
    second passes on this axis. `notes` says what else went wrong, a line each: a damaged bag, a skipped topic.

    Attributes:
        duration: seconds on that axis.
        channels, units: (C,) what is measured: components of a wrench, or efforts of joints.
        joint_names: (n,) of the joints that matter: those that move the sensor, or those of the arm.
        excitation: (n,) how far each has moved, from its lowest to its highest position [rad or m].
        signals: measured and predicted, the latter by what was known before the sample.
        events: what happened to the load.
        online: how well the channels were predicted on the way.
    """

    duration: float
    topics: tuple[TopicStatistics, ...]
    health: tuple[HealthItem, ...]
    notes: tuple[str, ...]
    settings: Settings
    origin: Provenance
    channels: tuple[str, ...]
    units: tuple[str, ...]
    joint_names: tuple[str, ...]
    excitation: FloatArray
    convergence: Convergence
    signals: SignalTrace
    events: tuple[TraceEvent, ...]
    online: Prediction
    spectrum: Spectrum
    histogram: Histogram

    @property
    def groups(self) -> Channels:
        """The channels in groups with one unit."""
        return Channels.of(self.channels, self.units)

    @property
    def trouble(self) -> list[Finding]:
        """What went wrong with the recording and its input, as reasons of a verdict."""
        return [*list_notes(self.notes), *list_input_reasons(self.health)]


@dataclass(frozen=True, slots=True)
class LoadTrace(Trace):
    """All that is kept of identifying a load."""

    estimate: LoadEstimate

    @property
    def verdict(self) -> Verdict:
        """Whether the load can be trusted."""
        return judge(self.estimate, self.trouble)


@dataclass(frozen=True, slots=True)
class LinkTrace(Trace):
    """All that is kept of identifying an arm.

    Attributes:
        urdf: how well the URDF alone predicts the channels.
        parameters: (F,) feasible completion of the standard parameters.
        estimator: the information, to be added to that of other recordings.
    """

    estimate: LinksEstimate
    urdf: Prediction
    parameters: FloatArray
    estimator: ReweightedEstimator

    @property
    def verdict(self) -> Verdict:
        """Whether the arm can be trusted."""
        return judge(self.estimate, [*self.trouble, *judge_completion(self.estimate, self.parameters)])


class Traces(NamedTuple):
    """What a replay gives: a trace of each estimator that was asked for and had something to go by."""

    load: LoadTrace | None
    links: LinkTrace | None

    @property
    def either(self) -> Trace:
        """One of them, for what they share."""
        trace = self.load or self.links
        assert trace is not None
        return trace

    @property
    def health(self) -> tuple[HealthItem, ...]:
        """What was wrong with the input; what both estimators found is listed once."""
        return unite_health(trace.health for trace in self if trace is not None)

    @property
    def duration(self) -> float:
        """Seconds of the longer one."""
        return max(trace.duration for trace in self if trace is not None)

    def note(self, lines: Sequence[str]) -> Traces:
        """The same with more notes."""
        notes = (*self.either.notes, *lines)
        return self._map(lambda trace: dataclasses.replace(trace, notes=notes))

    def without_signals(self) -> Traces:
        """The same without what only a report draws, for the sum of many recordings."""
        return self._map(_drop_signals)

    def _map(self, change: Callable[[Any], Any]) -> Traces:
        return Traces(*(None if trace is None else change(trace) for trace in (self.load, self.links)))


def list_notes(notes: Iterable[str]) -> list[Finding]:
    """What was left out or went wrong on the way, as reasons of a verdict."""
    return [Finding("warning", LEFT_OUT, note) for note in notes]


def unite_health(parts: Iterable[Sequence[HealthItem]]) -> tuple[HealthItem, ...]:
    """What was wrong by several accounts, each kind once."""
    return tuple({(item.source, item.code): item for part in parts for item in part}.values())


def list_gaps(recordings: Iterable[Traces]) -> list[str]:
    """Gaps of each input, those of all recordings together, a line each; they are no reasons of a verdict."""
    found: dict[str, HealthItem] = {}
    for item in (item for traces in recordings for item in traces.health if item.code == "gap"):
        other = found.get(item.source)
        found[item.source] = (
            item if other is None else dataclasses.replace(item, count=item.count + other.count, detail="")
        )
    return [f"{source}: {describe_issue(item)}" for source, item in found.items()]


def _drop_signals(trace: Trace) -> Trace:
    empty = np.empty((0, 0))
    nothing = Envelope(empty, empty)
    numbers = np.empty((0, 0), dtype=np.int8)
    return dataclasses.replace(
        trace,
        convergence=Convergence(empty.ravel(), empty, empty, numbers, numbers.ravel()),
        signals=SignalTrace(empty.ravel(), trace.signals.bucket_width, nothing, nothing, nothing, None),
        spectrum=Spectrum(empty.ravel(), empty, 0),
        histogram=Histogram(empty, empty.astype(np.int64)),
    )
