"""What is replayed and how, and the messages of a bag as blocks of samples, handed on so that none is lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from inertid_ros.bags.bag import BLOCK, TYPES, Topics, get_message_types
from inertid_ros.bags.blocks import Block, Column
from inertid_ros.core.chain import Target
from inertid_ros.core.diagnosis import HealthItem
from inertid_ros.core.estimation.reweighted import Uncertainty
from inertid_ros.core.input.timeline import MAX_GAP
from inertid_ros.core.records import FloatArray, IntArray, SampleBlock
from inertid_ros.core.settings.choices import GravitySource, LoadSource
from inertid_ros.core.settings.settings import Settings
from inertid_ros.messages.decode import StreamDecoder, imu_decoder, joint_decoder, wrench_decoder

Progress = Callable[[int], None]
"""Is told how many messages were read since the last time."""
_LOST_BY_RESET = 2
"""Samples that are dropped before the third confirms that time was reset."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How recordings are replayed.

    Attributes:
        settings: those of the node.
        topics: names of the inputs.
        description: text of the URDF; empty to take it from the bag.
        settings_sha256: of the parameter file; empty if there is none.
        frozen: what to predict with instead of learning: [phi (10), bias (6)] of a load in the driver's sign, and (U,)
            base parameters of an arm, for which links.joints must name the joints.
        uncertainty: of that arm, where it is known.
        block_size: about how many messages are carried through the chain at once.
        start, end: which part of each bag is replayed [s since its first message].
        held_out: bags to predict with what was identified; none of those it is identified from.
        is_self_contained: whether plotly.js is inside each report, and not once in the directory.
        moments: estimates that are kept on the way: the default is enough for a curve, 0 where none is drawn.
    """

    settings: Settings = field(default_factory=Settings)
    topics: Topics = field(default_factory=Topics)
    description: str = ""
    settings_sha256: str = ""
    frozen: Mapping[Target, FloatArray] = field(default_factory=dict)
    uncertainty: Uncertainty | None = None
    start: float = 0.0
    end: float = math.inf
    block_size: int = BLOCK
    held_out: tuple[Path, ...] = ()
    is_self_contained: bool = False
    moments: int = 128

    @property
    def targets(self) -> tuple[Target, ...]:
        """What is identified."""
        return tuple(target for target in Target if target.value in self.settings.estimators)

    @property
    def inputs(self) -> dict[str, str]:
        """Topics that are needed, by what they are to the node, in the order in which their messages are taken."""
        settings, targets = self.settings, self.targets
        wanted = {
            "joint_states": True,
            "imu": Target.LOAD in targets and settings.gravity_source is GravitySource.IMU,
            "wrench": Target.LOAD in targets and settings.load.source is LoadSource.WRENCH,
            "base_wrench": Target.LINKS in targets and settings.links.source.has_base_wrench,
        }
        return {role: getattr(self.topics, role) for role, is_wanted in wanted.items() if is_wanted}

    @property
    def is_whole(self) -> bool:
        """Whether bags are replayed from beginning to end."""
        return self.start <= 0.0 and math.isinf(self.end)


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


Taker = Callable[[Any], None]
"""Takes a block of samples, of the kind that the topic carries."""


_DECODERS: dict[str, Callable[..., StreamDecoder[Any]]] = {"joint_states": joint_decoder, "imu": imu_decoder}
"""By role; all others carry wrenches."""


class _Placed(NamedTuple):
    """Samples, and (N,) which messages they came in."""

    block: SampleBlock
    places: IntArray


class _Topic:
    """A topic that is read: its decoder, how it was stamped, and who takes its samples."""

    def __init__(self, role: str, topic: str, takers: Sequence[Taker]) -> None:
        store = get_message_types()
        self.decoder = _DECODERS.get(role, wrench_decoder)(lambda data: store.deserialize_cdr(data, TYPES[role]))
        self.watch = TopicWatch(topic)
        self._takers = takers
        self._last_stamp = 0

    def push(self, block: SampleBlock) -> None:
        for take in self._takers:
            take(block)

    def decode(self, column: Column) -> list[_Placed]:
        """Samples of messages; those of several publishers, which differ in length, one after the other."""
        found: list[_Placed] = []
        lengths = column.lengths
        for length in dict.fromkeys(lengths.tolist()) if (lengths != lengths[0]).any() else [int(lengths[0])]:
            alike = lengths == length
            is_read = self.decoder.add_all(column.data, column.starts[alike], length)
            where, first = column.places[alike][is_read], 0
            for block in self.decoder.take():
                found.append(_Placed(block, where[first : first + len(block.stamps)]))
                first += len(block.stamps)
        return found

    def watch_stamps(self, samples: Sequence[_Placed], times: IntArray) -> bool:
        """Count samples with the times of recording (M,) of all messages; returns whether stamps went back."""
        if not samples:
            return False
        stamps, places = samples[0].block.stamps, samples[0].places
        if len(samples) > 1:
            places = np.concatenate([part.places for part in samples])
            order = np.argsort(places)
            places, stamps = places[order], np.concatenate([part.block.stamps for part in samples])[order]
        self.watch.take(stamps, times[places])
        before, self._last_stamp = self._last_stamp, int(stamps[-1])
        return bool(stamps[0] < before or (stamps[1:] < stamps[:-1]).any())


class Inputs:
    """Decodes the topics of recordings and hands their samples on."""

    def __init__(self, topics: Mapping[str, str], takers: Mapping[str, Sequence[Taker]]) -> None:
        """Read topics, and hand the samples of each to some takers; both by role (joint_states, wrench, …)."""
        self._topics = {topic: _Topic(role, topic, takers[role]) for role, topic in topics.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The topics."""
        return tuple(self._topics)

    def start_recording(self) -> None:
        """Expect stamps that have nothing to do with those before."""
        for topic in self._topics.values():
            topic.watch.start_recording()

    def feed(self, messages: Block) -> None:
        """Hand a block of messages on.

        Joint states go first, so that the wrenches among them find those around. Where time goes back within the
        block, that would forget the wrenches from before: there, samples are handed on in the order of their messages.
        """
        decoded: dict[_Topic, list[_Placed]] = {}
        goes_back = False
        for name, topic in self._topics.items():
            if name in messages.columns:
                decoded[topic] = topic.decode(messages.columns[name])
                goes_back |= topic.watch_stamps(decoded[topic], messages.times)
        if goes_back:
            _push_in_order(decoded)
            return
        for topic, samples in decoded.items():
            for part in samples:
                topic.push(part.block)

    def summarise(self) -> tuple[TopicStatistics, ...]:
        """How the topics were stamped and recorded so far."""
        return tuple(topic.watch.summarise() for topic in self._topics.values())

    def list_undecodable(self) -> list[str]:
        """A line for each topic with messages that cannot be decoded."""
        return [
            f"{topic.decoder.undecodable} messages of {name} cannot be decoded: left out"
            for name, topic in self._topics.items()
            if topic.decoder.undecodable
        ]


def _push_in_order(decoded: Mapping[_Topic, Sequence[_Placed]]) -> None:
    """Hand samples on in the order of their messages, as many at once as follow each other in one block."""
    parts = [(topic, part) for topic, samples in decoded.items() for part in samples]
    places = np.concatenate([part.places for _, part in parts])
    owners = np.repeat(np.arange(len(parts)), [len(part.places) for _, part in parts])
    rows = np.concatenate([np.arange(len(part.places)) for _, part in parts])
    order = np.argsort(places)
    cuts = np.flatnonzero(np.diff(owners[order])) + 1
    for run in np.split(order, cuts):
        topic, part = parts[int(owners[run[0]])]
        topic.push(part.block.take(slice(int(rows[run[0]]), int(rows[run[-1]]) + 1)))
