"""What a report needs of one replay, in memory that does not grow with the length of the recording."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inertid_ros.core.estimation.link_estimator import LinkEstimator
from inertid_ros.core.estimation.link_records import LinkEstimate
from inertid_ros.core.diagnosis import HealthItem
from inertid_ros.core.load_chain import LoadEstimate
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.tool import Tool
from inertid_ros.core.settings.settings import Settings

STATES = ("not excited yet", "uncertain", "known")
"""What the numbers in `Convergence.states` mean."""

MODES = ("waiting", "free", "disturbed", "contact", "paused")
"""What the numbers in `Convergence.modes` mean."""


@dataclass(frozen=True, slots=True)
class Convergence:
    """Estimates at a fixed spacing of data time, K of them.

    Attributes:
        times: (K,) seconds since the start.
        parameters: (K, 10) of the load.
        deviations: (K, 10) their standard deviations.
        states: (K, 10) indices into STATES.
        bias: (K, 6) of the sensor, in the driver's sign.
        bias_deviations: (K, 6).
        modes: (K,) indices into MODES.
    """

    times: FloatArray
    parameters: FloatArray
    deviations: FloatArray
    states: NDArray[np.int8]
    bias: FloatArray
    bias_deviations: FloatArray
    modes: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class LinkConvergence:
    """Estimates of an arm's U base parameters at a fixed spacing of data time, K of them.

    Attributes:
        times: (K,) seconds since the start.
        values: (K, U).
        deviations: (K, U) their standard deviations.
        states: (K, U) indices into STATES.
    """

    times: FloatArray
    values: FloatArray
    deviations: FloatArray
    states: NDArray[np.int8]


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
    """

    times: FloatArray
    bucket_width: float
    measured: Envelope
    predicted: Envelope
    residual: Envelope


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """Something that happened to the load: seconds since the start, kind and words of `core.load_estimator.Event`."""

    time: float
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class ResidualStatistics:
    """Sums over all samples that could be paired.

    Attributes:
        counts: (C,) how many samples of each channel.
        mean, rms, largest: (C,) of the residual; `largest` of its absolute value.
        measured_rms: (C,) of what was measured; of a wrench less the bias of the final estimate's sensor.
        relative_rms: (C,) rms of the residual over `measured_rms`.
    """

    counts: IntArray
    mean: FloatArray
    rms: FloatArray
    largest: FloatArray
    measured_rms: FloatArray
    relative_rms: FloatArray

    @property
    def count(self) -> int:
        """Samples of the channel that has most."""
        return int(self.counts.max(initial=0))


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
class TopicStatistics:
    """How a topic was stamped and recorded.

    Attributes:
        topic: its name.
        count: messages.
        rate: mean rate by the stamps without gaps [Hz]; 0 for less than two messages.
        interval_deviation: standard deviation of the intervals without gaps: the jitter [s].
        longest_gap: longest interval between two stamps [s].
        gaps: intervals longer than 0.15 s, after which filters start anew.
        backward: stamps not later than the one before.
        latency: mean time of recording less stamp [s]; its difference between topics is their skew.
        latency_deviation: standard deviation of that [s].
    """

    topic: str
    count: int
    rate: float
    interval_deviation: float
    longest_gap: float
    gaps: int
    backward: int
    latency: float
    latency_deviation: float


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that was read, and what it held."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the numbers come from.

    Attributes:
        inputs: the files of the bags, in the order they were read.
        urdf_sha256: of the text of the robot description.
        settings_sha256: of the parameter file; empty if there was none.
        versions: of this package and the libraries that make the numbers, by name.
        first_stamp, last_stamp: of the samples used [ns]; 0 if there are none.
    """

    inputs: tuple[InputFile, ...]
    urdf_sha256: str
    settings_sha256: str
    versions: dict[str, str]
    first_stamp: int
    last_stamp: int


@dataclass(frozen=True, slots=True)
class Trace:
    """What is kept of a replay, whatever was identified.

    Times are seconds of data since the first sample used; where stamps jump (the next bag, a clock that was set), a
    second passes on this axis. `notes` says what else went wrong, a line each: a damaged bag, a skipped topic.

    Attributes:
        duration: seconds on that axis.
    """

    duration: float
    topics: tuple[TopicStatistics, ...]
    health: tuple[HealthItem, ...]
    notes: tuple[str, ...]
    settings: Settings
    origin: Origin


@dataclass(frozen=True, slots=True)
class LoadTrace(Trace):
    """All that is kept of identifying a load.

    Attributes:
        sensor_frame: of everything.
        joint_names: of the joints that move the sensor.
    """

    sensor_frame: str
    joint_names: tuple[str, ...]
    convergence: Convergence
    wrenches: SignalTrace
    events: tuple[TraceEvent, ...]
    statistics: ResidualStatistics
    spectrum: Spectrum
    histogram: Histogram
    estimate: LoadEstimate
    tool: Tool | None


@dataclass(frozen=True, slots=True)
class LinkFit:
    """How well an arm is predicted by some parameters.

    Attributes:
        rows: filtered on both sides, as the fit is judged: the number people quote.
        samples: as measured.
    """

    rows: ResidualStatistics
    samples: ResidualStatistics


@dataclass(frozen=True, slots=True)
class LinkTrace(Trace):
    """All that is kept of identifying the links of an arm with K channels.

    Attributes:
        channels, units: (K,) what is measured: efforts, or components of the base wrench.
        travel: (n,) how far each joint has moved, from its lowest to its highest position [rad or m].
        signals: measured, predicted and residual, as they were known at the time.
        by_urdf: what the URDF alone predicts, in the buckets of `signals`.
        online: how well the channels were predicted on the way.
        urdf: how well the URDF alone predicts them.
        parameters: (F,) the full set, in which every link is a body that can exist.
        estimator: the information, to be added to that of other recordings.
    """

    channels: tuple[str, ...]
    units: tuple[str, ...]
    travel: FloatArray
    convergence: LinkConvergence
    signals: SignalTrace
    by_urdf: Envelope
    online: LinkFit
    urdf: LinkFit
    spectrum: Spectrum
    histogram: Histogram
    estimate: LinkEstimate
    parameters: FloatArray
    estimator: LinkEstimator


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


def unite_health(parts: Iterable[Sequence[HealthItem]]) -> tuple[HealthItem, ...]:
    """What was wrong by several accounts, each kind once."""
    return tuple({(item.source, item.code): item for part in parts for item in part}.values())
