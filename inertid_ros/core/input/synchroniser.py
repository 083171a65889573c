"""Readings synchronised with the joint states at their own stamps, in segments without a gap."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import specialise
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.arrivals import POSITION, ROW, USED, Message, Motion, Waiting, make_arrived
from inertid_ros.core.input.joint_stream import JointStream
from inertid_ros.core.input.reading_faults import ReadingFaults
from inertid_ros.core.input.segments import (
    AFTER_GAP,
    CUT,
    FIRST,
    FOLLOWS,
    GO_ON,
    IN_GAP,
    LAST,
    MARKS,
    NOT_FINITE,
    WIDTH,
    Carrier,
    Columns,
    Segment,
)
from inertid_ros.core.input.smoothing import count_settled
from inertid_ros.core.input.timeline import (
    MAX_GAP,
    MAX_WAIT,
    NEVER,
    NEWEST,
    ORIGIN,
    PAIRED,
    PAIRED_BEFORE,
    SECOND,
    STAMPS,
    START,
    STOP,
    Timeline,
)
from inertid_ros.core.records import FloatArray, IntArray, JointBlock

_LONGEST_WAIT = 1 * SECOND
"""How long [ns] a reading waits for other readings that belong to it: until their publisher has fallen silent."""
_SILENT = 1 * SECOND
"""A publisher of joint states that is this much [ns] behind the others has fallen silent: ten periods of a slow one."""
_PUBLISHERS = 20
"""Lists of joint names that are remembered at most: a robot has a few, a broken driver any number."""


class Publisher(NamedTuple):
    """A publisher of joint states, known by the names of its joints.

    Attributes:
        taken: (m,) columns of its messages that are needed.
        columns: the joints that these are.
        stream: its time line, once there is one; shared by publishers of the same joints.
        repeated: joints that it names more than once.
    """

    taken: IntArray
    columns: tuple[int, ...]
    stream: JointStream | None
    repeated: str = ""


_NOBODY = Publisher(np.empty(0, dtype=np.int64), (), None)
"""The last publisher before there is one."""


class Synchroniser:
    """Maps joints by name, and pairs readings with joint states as soon as there is one after them.

    Attributes:
        origin: stamp [ns] of a joint state at time zero, None before the first.
        readings: those that wait for a joint state.
        columns: where in a sample what is.
        arrived: the samples of the last message that was taken in one call.
    """

    def __init__(
        self,
        joint_names: tuple[str, ...],
        is_angle: tuple[bool, ...],
        reach: FloatArray,
        channels: int,
        readings: Timeline,
        delay: float,
        health: Health,
        source: str,
        faults: ReadingFaults | None = None,
        keeps_stamps: bool = False,
    ) -> None:
        """Pair readings with the states of some joints.

        Args:
            joint_names: the joints.
            is_angle: for each, whether it may jump by 2 pi.
            reach: (2, n) positions and velocities beyond which there are none.
            channels: how many readings there are in a sample, K.
            readings: where they wait; those that are not there are zero.
            delay: a reading belongs to the joint state so much [s] before it.
            health: where to report.
            source: what readings are called there.
            faults: where to note that velocities have turned out wrong, for who can go back to before.
            keeps_stamps: whether readings come with the joint states, see `JointStream`.
        """
        self._names, self._is_angle, self._reach = joint_names, is_angle, reach
        self._n = len(joint_names)
        self.columns = Columns.of(self._n, channels)
        self._width = self.columns.predicted.stop
        self.readings = readings
        self._delay = round(delay * SECOND)
        self._health = health
        self._source = source
        self._faults = faults
        self._keeps_stamps = keeps_stamps
        self.origin: int | None = None
        self._streams: dict[tuple[int, ...], JointStream] = {}
        self._complete: list[JointStream] = []
        """The only publisher, if it gives all joints."""
        self._publishers: dict[tuple[str, ...], Publisher] = {}
        self._last_names: tuple[str, ...] | None = None
        self._last: Publisher = _NOBODY
        self._marks: FloatArray = np.empty((len(MARKS), 1))
        self._count_settled = specialise(count_settled, readings.integers, readings.states, readings.integers, 0)
        self.arrived = make_arrived(self._width)
        self._is_inside, self._left_out = False, 0
        """Whether the last reading was inside a gap of the joint states; how many were, so far."""
        self.restart()

    # Joint states

    def push_joints(self, block: JointBlock) -> None:
        """Take joint samples of one publisher; what cannot be used is counted."""
        names, stamps, positions, velocities, _ = block
        if names is not self._last_names:
            self._last_names, self._last = names, self._publishers.get(names) or self._add_publisher(names)
        taken, columns, stream, repeated = self._last
        if not columns or len(stamps) == 0:
            return
        shape = positions.shape
        if shape != (len(stamps), len(names)) or (velocities is not None and velocities.shape != shape):
            given = "no" if velocities is None else velocities.shape[-1]
            detail = f"{len(names)} names, {shape[-1]} positions, {given} velocities"
            self._health.report("joint_states", "wrong_length", int(stamps[-1]), detail)
            return
        if repeated:
            self._health.report("joint_states", "repeated_joint", int(stamps[-1]), repeated, len(stamps))
        stream = stream or self._find_stream(names, stamps)
        if stream is not None and stream.push_states(taken, stamps, positions, velocities):
            self._reset_time(keep=columns)

    def find_columns(self, names: tuple[str, ...]) -> IntArray | None:
        """Columns of the joints in messages of the publisher with these names, if it is the only one."""
        publisher = self._last if names is self._last_names else self._publishers.get(names)
        if publisher is None or not self._complete:
            return None
        taken, _, stream, repeated = publisher
        return taken if stream is self._complete[0] and not repeated else None

    def push_rest_of_joints(self, names: tuple[str, ...], message: Message, told: IntArray) -> None:
        """Take the joint states of the only publisher, which has these names, at which a kernel has stopped."""
        taken, stream = self.find_columns(names), self._complete[0]
        assert taken is not None
        stamps, positions, velocities, _ = message
        if stream.push_rest_of_states(told.item(POSITION), taken, stamps, positions, velocities):
            self._reset_time(keep=stream.columns)

    def _add_publisher(self, names: tuple[str, ...]) -> Publisher:
        columns = tuple(c for c, name in enumerate(self._names) if name in names)
        if len(self._publishers) > _PUBLISHERS:
            self._publishers.clear()
        taken = np.array([names.index(self._names[c]) for c in columns], dtype=np.int64)
        repeated = [self._names[c] for c in columns if names.count(self._names[c]) > 1]
        stream = self._streams.get(columns)
        publisher = self._publishers[names] = Publisher(taken, columns, stream, ", ".join(repeated))
        return publisher

    def _find_stream(self, names: tuple[str, ...], stamps: IntArray) -> JointStream | None:
        """The time line of the last publisher; None while there are no stamps for one to begin with."""
        taken, columns, _, repeated = self._last
        if self.origin is None:
            stamped = stamps[stamps > 0]
            if len(stamped) == 0:
                self._health.report("joint_states", "zero_stamp", 0, count=len(stamps))
                return None
            self.origin = int(stamped[0] - stamped[0] % (1000 * SECOND))
            self.readings.integers[ORIGIN] = self.origin + self._delay
        stream = self._streams.get(columns)
        if stream is None:
            is_angle = tuple(self._is_angle[c] for c in columns)
            reach = self._reach[:, list(columns)]
            stream = self._streams[columns] = JointStream(
                columns, is_angle, reach, self._n, self.origin, self._health, self._distrust, self._keeps_stamps
            )
            self._complete = []
        self._last = self._publishers[names] = Publisher(taken, columns, stream, repeated)
        return stream

    def _distrust(self, since: int, stamp: int, step: int) -> None:
        """Velocities of a publisher were wrong, see `JointStream`: readings belong to joint states before them."""
        if self._faults is not None:
            self._faults.note_velocities(since + self._delay, stamp + self._delay, step)

    def _reset_time(self, keep: tuple[int, ...]) -> None:
        """Time was reset for one publisher: what waits belongs to the time before."""
        self.readings.clear()
        self.restart()
        self._complete = []
        if len(keep) == self._n:
            self._streams = {keep: self._streams[keep]}
            self._publishers, self._last_names = {}, None

    # Both

    def restart(self) -> None:
        """Begin a new segment with the next sample: time was reset."""
        self.readings.integers[PAIRED] = NEVER

    def process(self, rows: Carrier, is_complete: bool = True, others: int | None = None) -> list[Segment]:
        """Pair all that can be paired now, and carry it on to its first row if that needs no decision.

        Args:
            rows: what carries samples on.
            is_complete: whether it may; False if readings are still to be added to those of the samples.
            others: stamp up to which other readings are there that belong to these; later ones wait for them, but none
                for longer than a second. None if there are no others.
        """
        line = self.readings.integers
        count = line.item(STOP) - line.item(START)
        if count == 0:
            return []
        streams = self._complete or self._find_covering()
        newest = line.item(NEWEST)
        horizon = self._delay + (streams[0].integers.item(NEWEST) if len(streams) == 1 else _find_horizon(streams))
        if others is not None:
            horizon = min(horizon, max(others, newest - _LONGEST_WAIT))
        given_up = 0
        if newest > horizon:
            if count == 1:
                return []
            count, given_up = self._count_ready(horizon, streams)
        if not given_up:
            for stream in streams:
                count = self._count_settled(stream.integers, stream.states, line, count)
        segments = self._read(rows, streams, count, is_complete) if count else []
        if given_up:
            line[START] += given_up
        return segments

    def prepare(
        self,
        rows: Carrier,
        kinds: int,
        message: Message,
        taken: IntArray | None,
        channels: IntArray,
        scales: FloatArray,
        told: IntArray,
    ) -> Callable[[], int] | None:
        """What takes a message in one call, see `arrival.arrive`; None unless one publisher gives all joints.

        It is good for all messages that come in the same memory, until anything else is done here.

        Args:
            rows: what carries samples on.
            kinds: what the message has.
            message: its numbers.
            taken: columns of its joints, None without.
            channels: of its readings, see `timeline.take_readings`, as for the next one.
            scales: see there.
            told: result, see `arrivals.USED`.
        """
        if not self._complete:
            return None
        stream, readings = self._complete[0], self.readings
        memory = stream.integers, stream.states, stream.joints, stream.clock, stream.targets
        motion = Motion(*memory, stream.targets if taken is None else taken)
        waiting = Waiting(readings.integers, readings.states, channels, scales)
        return partial(rows.arrive, rows.floats, rows.integers, motion, message, waiting, self.arrived, told, kinds)

    def list_arrived(self, told: IntArray) -> list[Segment]:
        """Segments of the samples that a kernel has synchronised, carried on to the first row."""
        count, (stamps, samples, marks) = told.item(USED), self.arrived
        return self._divide(stamps[:count].copy(), samples[:count].copy(), marks[:, :count], told.item(ROW))

    def get_arrived(self, first: int, end: int) -> Segment:
        """Some of the samples of the last message, with predictions."""
        stamps, samples, _ = self.arrived
        return Segment(False, stamps[first:end].copy(), samples[first:end].copy(), self.columns, end - first)

    def _read(self, rows: Carrier, streams: list[JointStream], count: int, is_complete: bool) -> list[Segment]:
        """Segments of samples between the gaps."""
        stamps, samples = np.empty(count, np.int64), np.empty((count, self._width))
        if self._marks.shape[1] < count:
            self._marks = np.empty((len(MARKS), 2 * count))
        marks, line, readings = self._marks, self.readings.integers, self.readings.states
        steps, last, row = FIRST, streams[-1], -1
        for stream in streams:
            if stream is last:
                steps |= LAST | GO_ON if is_complete else LAST
            row = rows.carry(
                rows.floats,
                rows.integers,
                stream.integers,
                stream.states,
                stream.targets,
                line,
                readings,
                stamps,
                samples,
                marks,
                steps,
            )
            steps = 0
        return self._divide(stamps, samples, marks[:, :count], row)

    def _divide(self, stamps: IntArray, samples: FloatArray, marks: FloatArray, row: int) -> list[Segment]:
        """Segments of samples that were carried on to a row, or not at all if they do not simply follow."""
        if row >= -1:
            return [Segment(False, stamps, samples, self.columns, row)]
        self._report_cuts(stamps, marks, self.readings.integers.item(PAIRED_BEFORE))
        cuts = marks[CUT]
        kept = (cuts == FOLLOWS) | (cuts == AFTER_GAP)
        stamps, samples, cuts = stamps[kept], samples[kept], cuts[kept]
        if len(stamps) == 0:
            return []
        bounds = [0, *(np.flatnonzero(cuts[1:] == AFTER_GAP) + 1).tolist(), len(stamps)]
        return [Segment(bool(cuts[a]), stamps[a:b], samples[a:b], self.columns) for a, b in pairwise(bounds)]

    def _report_cuts(self, stamps: IntArray, marks: FloatArray, before: int) -> None:
        bad = marks[CUT] == NOT_FINITE
        if bad.any():
            self._health.report(self._source, "not_finite", int(stamps[bad][-1]), count=int(bad.sum()))
        self._report_gaps(stamps[~bad], marks[:, ~bad], before == NEVER)

    def _report_gaps(self, stamps: IntArray, marks: FloatArray, is_cut: bool) -> None:
        """Count each gap once, in whatever blocks its readings come: at the first one inside it, else after it.

        `is_cut`: there is no sample just before these, but a gap that was counted, or the beginning.
        """
        if len(stamps) == 0:
            return
        is_inside = (marks[CUT] == IN_GAP) & np.isfinite(marks[WIDTH])
        was_inside = np.concatenate(([self._is_inside], is_inside[:-1]))
        was_cut = np.concatenate(([is_cut], marks[CUT, :-1] == IN_GAP))
        begins = (is_inside & ~was_inside) | ((marks[CUT] == AFTER_GAP) & ~was_cut)
        self._is_inside = bool(is_inside[-1])
        self._left_out += int(np.count_nonzero(is_inside))
        found = stamps[begins | is_inside]
        if len(found):
            detail = f"{self._left_out} readings inside gaps of joint_states are left out" if self._left_out else ""
            self._health.report(self._source, "gap", int(found[-1]), detail, int(np.count_nonzero(begins)))

    def foresee(self, rows: Carrier, after: int) -> Segment | None:
        """Readings after a stamp that wait for a later joint state, with predictions; changes nothing.

        Joint states are extrapolated, by at most one of their periods. None if nothing waits, or there is no telling.
        """
        line, readings = self.readings.integers, self.readings.states
        start, stop = line.item(START), line.item(STOP)
        if start == stop or line.item(NEWEST) <= after or self.origin is None:
            return None
        if line.item(STAMPS + start) <= after:
            start += int(self.readings.stamps.searchsorted(after, side="right"))
        streams = self._complete or self._find_covering()
        if not streams or line.item(STAMPS + start) - self._delay - _find_horizon(streams) > MAX_GAP * SECOND:
            return None
        stamps, samples = np.empty(stop - start, np.int64), np.empty((stop - start, self._width))
        steps, last = FIRST, streams[-1]
        for stream in streams:
            if stream is last:
                steps |= LAST
            if not rows.foresee(
                rows.floats,
                rows.integers,
                stream.integers,
                stream.states,
                stream.joints,
                stream.targets,
                line,
                readings,
                stamps,
                samples,
                steps,
            ):
                return None
            steps = 0
        return Segment(False, stamps, samples, self.columns)

    def _count_ready(self, horizon: int, streams: list[JointStream]) -> tuple[int, int]:
        """How many readings have a joint state, and how many after them have waited too long for one."""
        stamps = self.readings.stamps
        ready = int(stamps.searchsorted(horizon, side="right"))
        if stamps.item(-1) - stamps.item(0) <= MAX_WAIT:
            return ready, 0
        keep = max(ready, int(stamps.searchsorted(stamps[-1] - MAX_WAIT)))
        if keep > ready:
            self._give_up(stamps[ready:keep], streams)
        return ready, keep - ready

    def _find_covering(self) -> list[JointStream]:
        """The publishers that together give all joints, without those that fell silent; none if joints are missing."""
        streams = list(self._streams.values())
        if not streams:
            return []
        if len(streams) == 1 and len(streams[0].columns) == self._n:
            self._complete = streams
            return streams
        newest = max(stream.newest for stream in streams)
        live = [stream for stream in streams if stream.newest > newest - _SILENT]
        covered: set[int] = set()
        for candidate in (live, streams):
            covered = {c for stream in candidate for c in stream.columns}
            if len(covered) == self._n:
                return candidate
        missing = [name for c, name in enumerate(self._names) if c not in covered]
        stamps = self.readings.stamps
        if stamps[-1] - stamps[0] > SECOND:
            self._health.report("joint_states", "missing_joints", int(stamps[-1]), ", ".join(missing))
        return []

    def _give_up(self, stamps: IntArray, streams: list[JointStream]) -> None:
        detail, newest = "no joint states at all", _find_horizon(streams)
        if newest > NEVER:
            behind = (int(stamps[-1]) - self._delay - newest) * 1e-9
            detail = f"newest joint state is {behind:.3f} s before the wrench"
        self._health.report(self._source, "no_joint_state", int(stamps[-1]), detail, len(stamps))


def _find_horizon(streams: list[JointStream]) -> int:
    """Stamp up to which all publishers can be read."""
    return min([stream.newest for stream in streams], default=NEVER)
