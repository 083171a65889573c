"""How regularly a topic was stamped and recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inertid_ros.core.diagnosis import HealthItem
from inertid_ros.core.input.joint_stream import MAX_GAP
from inertid_ros.core.records import FloatArray, IntArray

_LOST_BY_RESET = 2
"""Samples that are dropped before the third confirms that time was reset."""


@dataclass(frozen=True, slots=True)
class TopicStatistics:
    """How a topic was stamped and recorded.

    Attributes:
        topic: its name.
        count: messages.
        rate: mean rate by the stamps without gaps [Hz]; 0 for less than two messages.
        interval_deviation: standard deviation of the intervals without gaps: the jitter [s].
        longest_gap: longest interval between two stamps [s].
        gaps: intervals longer than 0.15 s, after which filters restart.
        backward: stamps not later than the one before.
        latency: mean delay from stamp to recording [s]; its difference between topics is their skew.
        latency_deviation: standard deviation of that delay [s].
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


class TopicWatch:
    """Sums over the stamps of one topic; a pause between two recordings does not count as a gap."""

    def __init__(self, topic: str) -> None:
        """Watch a topic by name."""
        self._topic = topic
        self._last: int | None = None
        self._count = 0
        self._steps = np.zeros(3)
        self._latencies = np.zeros(3)
        self._first_latency: float | None = None
        self._longest = 0.0
        self._gaps = 0
        self._backward = 0

    def start_recording(self) -> None:
        """Forget the last stamp: those that follow are of another recording."""
        self._last = None

    def take(self, stamps: IntArray, times: IntArray) -> None:
        """Count samples (N,) with the times of their recording (N,), nanoseconds."""
        if len(stamps) == 0:
            return
        self._count += len(stamps)
        latencies = (times - stamps) * 1e-9
        if self._first_latency is None:
            self._first_latency = float(latencies[0])
        self._latencies += _sums(latencies - self._first_latency)
        steps = np.diff(stamps, prepend=stamps[:1] if self._last is None else self._last) * 1e-9
        if self._last is None:
            steps = steps[1:]
        self._last = int(stamps[-1])
        if len(steps):
            self._longest = max(self._longest, float(steps.max()))
            self._gaps += int(np.count_nonzero(steps > MAX_GAP))
            self._backward += int(np.count_nonzero(steps <= 0.0))
            self._steps += _sums(steps[(steps > 0.0) & (steps <= MAX_GAP)])

    def summarise(self) -> TopicStatistics:
        """What was seen so far."""
        interval, interval_deviation = _mean_and_deviation(self._steps)
        latency, latency_deviation = _mean_and_deviation(self._latencies)
        return TopicStatistics(
            topic=self._topic,
            count=self._count,
            rate=1.0 / interval if interval > 0.0 else 0.0,
            interval_deviation=interval_deviation,
            longest_gap=self._longest,
            gaps=self._gaps,
            backward=self._backward,
            latency=latency + (self._first_latency or 0.0),
            latency_deviation=latency_deviation,
        )


def find_disorder(health: Sequence[HealthItem]) -> list[str]:
    """A line if stamps were out of order; none where time was only reset, which costs the first two samples."""
    counts = {(item.source, item.code): item.count for item in health}
    found = [
        (item, item.count - _LOST_BY_RESET * counts.get((item.source, "time_reset"), 0))
        for item in health
        if item.code == "backward_stamp"
    ]
    lost = [f"{count} of {item.source}" for item, count in found if count > 0]
    return [f"stamps are out of order: {', '.join(lost)} left out; {found[0][0].remedy}"] if lost else []


def _sums(values: FloatArray) -> FloatArray:
    return np.array([len(values), values.sum(), values @ values])


def _mean_and_deviation(sums: FloatArray) -> tuple[float, float]:
    count, total, squares = sums.tolist()
    if count == 0:
        return 0.0, 0.0
    mean = total / count
    return mean, float(np.sqrt(max(squares / count - mean * mean, 0.0)))
