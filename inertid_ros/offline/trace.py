"""What a report needs of one replay, in memory that does not grow with the length of the recording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inertid_ros.core.health import HealthItem
from inertid_ros.core.load_chain import LoadEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings import Settings
from inertid_ros.core.tool import Tool

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
class Envelope:
    """Smallest and largest value in each of B buckets of time; NaN in a bucket without a sample.

    Attributes:
        low, high: (B, 6) force [N], then moment [Nm], in the driver's sign.
    """

    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, slots=True)
class WrenchTrace:
    """Wrenches decimated by minimum and maximum: no peak is lost.

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
    """Sums over all wrenches that could be paired.

    Attributes:
        count: how many wrenches.
        mean, rms, largest: (6,) of the residual [N, Nm]; `largest` of its absolute value.
        measured_rms: (6,) of the measured wrench less the bias of the final estimate's sensor.
        relative_rms: (6,) rms of the residual over `measured_rms`.
    """

    count: int
    mean: FloatArray
    rms: FloatArray
    largest: FloatArray
    measured_rms: FloatArray
    relative_rms: FloatArray


@dataclass(frozen=True, slots=True)
class Spectrum:
    """One-sided power density of the residual, averaged over segments without a gap (Welch, Hann window).

    Attributes:
        frequencies: (F,) Hz; empty where the recording is too short.
        density: (F, 6) N²/Hz and Nm²/Hz.
        segments: how many were averaged.
    """

    frequencies: FloatArray
    density: FloatArray
    segments: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often the residual had which value.

    Attributes:
        edges: (6, H + 1) N and Nm.
        counts: (6, H).
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
        first_stamp, last_stamp: of the wrenches used [ns]; 0 if there are none.
    """

    inputs: tuple[InputFile, ...]
    urdf_sha256: str
    settings_sha256: str
    versions: dict[str, str]
    first_stamp: int
    last_stamp: int


@dataclass(frozen=True, slots=True)
class Trace:
    """All that is kept of one replay.

    Times are seconds of data since the first wrench used; where stamps jump (the next bag, a clock that was set), a
    second passes on this axis. `notes` says what else went wrong, a line each: a damaged bag, a skipped topic.

    Attributes:
        duration: seconds on that axis.
        sensor_frame: of everything.
        joint_names: of the joints that move the sensor.
    """

    duration: float
    sensor_frame: str
    joint_names: tuple[str, ...]
    convergence: Convergence
    wrenches: WrenchTrace
    events: tuple[TraceEvent, ...]
    statistics: ResidualStatistics
    spectrum: Spectrum
    histogram: Histogram
    topics: tuple[TopicStatistics, ...]
    health: tuple[HealthItem, ...]
    notes: tuple[str, ...]
    estimate: LoadEstimate
    tool: Tool | None
    settings: Settings
    origin: Origin
