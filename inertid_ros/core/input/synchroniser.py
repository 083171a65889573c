"""Readings synchronised with the joint states at their own stamps, in segments without a gap."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.interpolation import AFTER_GAP, FOLLOWS, IN_GAP, NOT_FINITE, lay_down, synchronise
from inertid_ros.core.input.joint_stream import MAX_GAP, JointStream
from inertid_ros.core.input.timestamps import SECOND, StampCheck
from inertid_ros.core.records import FloatArray, IntArray, JointBlock

_MAX_WAIT = 2.0
"""How long [s] a reading waits for a joint state before it is given up: drivers stall, and networks retry, for less."""
_LONGEST_WAIT = 1.0
"""How long [s] a reading waits for other readings that belong to it: until their publisher has fallen silent."""
_SILENT = 1.0
"""A publisher of joint states that is this much [s] behind the others has fallen silent: ten periods of a slow one."""
_LARGEST = 1e300
"""Sums of squares above this are looked at one by one: some number may not be finite."""
_MAPS = 100
"""Lists of joint names that are remembered at most: a robot has a few, a broken driver any number."""


class Columns(NamedTuple):
    """Where in a sample positions, velocities, readings and the marks of those that are not usable are."""

    positions: slice
    velocities: slice
    readings: slice
    bad: slice


class Segment(NamedTuple):
    """Samples without a gap between them, at the readings' stamps, for n joints and K readings.

    Attributes:
        starts_anew: whether there is a gap (or nothing) before the first sample.
        stamps: (N,) nanoseconds.
        samples: (N, 1 + 2 n + 2 K) time [s since the origin], positions, velocities, readings in the driver's own sign,
            and 1 for each reading that is not usable.
        columns: where these are.
    """

    starts_anew: bool
    stamps: IntArray
    samples: FloatArray
    columns: Columns

    @property
    def times(self) -> FloatArray:
        """Times (N,) [s]."""
        return self.samples[:, 0]

    @property
    def positions(self) -> FloatArray:
        """Positions (N, n)."""
        return self.samples[:, self.columns.positions]

    @property
    def velocities(self) -> FloatArray:
        """Velocities (N, n)."""
        return self.samples[:, self.columns.velocities]

    @property
    def readings(self) -> FloatArray:
        """Readings (N, K)."""
        return self.samples[:, self.columns.readings]

    @property
    def bad(self) -> FloatArray:
        """1 for each reading that is not usable, (N, K)."""
        return self.samples[:, self.columns.bad]


class Synchroniser:
    """Checks both inputs, maps joints by name, and pairs what can be paired.

    Attributes:
        origin: stamp [ns] of a joint state at time zero, None before the first.
    """

    def __init__(
        self,
        joint_names: tuple[str, ...],
        is_angle: tuple[bool, ...],
        channels: int,
        delay: float,
        health: Health,
        source: str,
    ) -> None:
        """Pair readings with the states of some joints.

        Args:
            joint_names: the joints.
            is_angle: for each, whether it may jump by 2 pi.
            channels: how many readings there are in a sample, K.
            delay: a reading belongs to the joint state so much [s] before it.
            health: where to report.
            source: what readings are called there.
        """
        self._source = source
        self._names, self._is_angle = joint_names, is_angle
        first = 1 + 2 * len(joint_names)
        edges = (1, 1 + len(joint_names), first, first + channels, first + 2 * channels)
        self._columns = Columns(*(slice(a, b) for a, b in pairwise(edges)))
        self._first, self._width = first, edges[-1]
        self._delay = round(delay * SECOND)
        self._health = health
        self._n = len(joint_names)
        self.origin: int | None = None
        self._offset = self._delay
        self._maps: dict[tuple[str, ...], tuple[IntArray | None, tuple[int, ...]]] = {}
        self._complete: list[JointStream] = []
        """The only publisher, if it gives all joints."""
        self._last_names: tuple[str, ...] | None = None
        self._last_stream: JointStream | None = None
        self._streams: dict[tuple[int, ...], JointStream] = {}
        self._stamps = StampCheck(source, health)
        self._pending: list[tuple[IntArray, FloatArray]] = []
        self._last_time = -np.inf

    # Joint states

    def push_joints(self, block: JointBlock) -> None:
        """Take joint samples of one publisher; what cannot be used is counted."""
        names, stamps, positions, velocities, _ = block
        last = self._last_stream if names is self._last_names and len(stamps) == 1 else None
        if last is not None and last.push_next(stamps.item(), positions, velocities):
            return
        take, columns = self._maps.get(names) or self._map(names)
        stream = self._streams.get(columns)
        if not columns or len(stamps) == 0 or not self._has_right_shape(block):
            return
        if take is not None:
            positions = positions[:, take]
            velocities = None if velocities is None else velocities[:, take]
        stamps, positions, velocities = self._drop_not_finite(stamps, positions, velocities)
        if self.origin is None:
            stamps, positions, velocities = self._drop_zero_stamps(stamps, positions, velocities)
        if len(stamps) == 0:
            return
        stream = stream or self._make_stream(columns, stamps.item(0))
        if stream.push(stamps, positions, velocities):
            self._reset_time(keep=columns)
        self._last_names, self._last_stream = (names, stream) if take is None else (None, None)

    def _drop_zero_stamps(
        self, stamps: IntArray, positions: FloatArray, velocities: FloatArray | None
    ) -> tuple[IntArray, FloatArray, FloatArray | None]:
        """Leave out what has no stamp, as long as there is no time line to compare with."""
        good = stamps > 0
        if not good.all():
            self._health.report("joint_states", "zero_stamp", 0, count=int((~good).sum()))
        return stamps[good], positions[good], None if velocities is None else velocities[good]

    def _has_right_shape(self, block: JointBlock) -> bool:
        names, stamps, positions, velocities, _ = block
        expected = len(stamps), len(names)
        if positions.shape == expected and (velocities is None or velocities.shape == expected):
            return True
        shapes = f"{positions.shape[-1]} positions, {'no' if velocities is None else velocities.shape[-1]} velocities"
        self._health.report("joint_states", "wrong_length", int(stamps[-1]), f"{len(names)} names, {shapes}")
        return False

    def _drop_not_finite(
        self, stamps: IntArray, positions: FloatArray, velocities: FloatArray | None
    ) -> tuple[IntArray, FloatArray, FloatArray | None]:
        """Leave out what is not finite; velocities that are all NaN count as not measured."""
        size = np.vdot(positions, positions) + (0.0 if velocities is None else np.vdot(velocities, velocities))
        if size < _LARGEST:
            return stamps, positions, velocities
        if velocities is not None and np.isnan(velocities).all():
            velocities = None
        good = np.isfinite(positions).all(axis=1)
        if velocities is not None:
            good &= np.isfinite(velocities).all(axis=1)
        if not good.all():
            self._health.report("joint_states", "not_finite", int(stamps[~good][-1]), count=int((~good).sum()))
        return stamps[good], positions[good], None if velocities is None else velocities[good]

    def _map(self, names: tuple[str, ...]) -> tuple[IntArray | None, tuple[int, ...]]:
        """Where the joints are in a message: indices there (None if as they are), and columns here."""
        columns = tuple(c for c, name in enumerate(self._names) if name in names)
        take = np.array([names.index(self._names[c]) for c in columns], dtype=np.int64)
        as_they_are = np.array_equal(take, np.arange(len(names)))
        if len(self._maps) > _MAPS:
            self._maps.clear()
        self._maps[names] = (None if as_they_are else take, columns)
        return self._maps[names]

    def _make_stream(self, columns: tuple[int, ...], stamp: int) -> JointStream:
        if self.origin is None:
            self.origin = stamp - stamp % (1000 * SECOND)
            self._offset = self.origin + self._delay
        chosen = np.array(columns)
        stream = JointStream(chosen, tuple(self._is_angle[c] for c in columns), self.origin, self._health)
        stream.targets = np.concatenate((1 + chosen, 1 + self._n + chosen))
        self._streams[columns] = stream
        self._complete = []
        return stream

    def _reset_time(self, keep: tuple[int, ...]) -> None:
        """Time was reset for one publisher: what waits belongs to the time before."""
        self._pending.clear()
        self._last_time = -np.inf
        self._complete = []
        self._streams = {
            columns: stream for columns, stream in self._streams.items() if columns == keep or len(keep) < self._n
        }

    # Readings

    def push_readings(self, stamps: IntArray, readings: FloatArray) -> None:
        """Take readings (N, K), or (N, 2 K) with marks of those that are not usable; what cannot be used is counted."""
        if len(stamps) == 1 and self._stamps.precedes(stamps.item()):
            self._stamps.accept(stamps.item())
        elif len(stamps):
            chosen, restart = self._stamps.check(stamps)
            if restart is not None:
                self._pending.clear()
                self._last_time = -np.inf
            if chosen is not None:
                stamps, readings = stamps[chosen[restart:]], readings[chosen[restart:]]
        if len(stamps):
            self._pending.append((stamps, readings))

    # Both

    def process(self, others: float = np.inf) -> list[Segment]:
        """Pair all that can be paired now.

        Args:
            others: time [s] up to which other readings are there that belong to these; later ones wait for them, but
                none for longer than a second.
        """
        if not self._pending:
            return []
        stamps, readings = self._pending[0] if len(self._pending) == 1 else self._join_pending()
        streams = [] if self.origin is None else self._find_covering(stamps)
        horizon = streams[0].samples.newest if len(streams) == 1 else _find_horizon(streams)
        newest = (stamps.item(-1) - self._offset) * 1e-9
        if others < np.inf:
            horizon = min(horizon, max(others, newest - _LONGEST_WAIT))
        if newest <= horizon:
            self._pending = []
        else:
            stamps, readings = self._keep_waiting(stamps, readings, horizon, streams)
            if len(stamps) == 0:
                return []
        return self._read(streams, stamps, readings)

    def _join_pending(self) -> tuple[IntArray, FloatArray]:
        if len(self._pending) > 1:
            stamps, readings = (np.concatenate(parts) for parts in zip(*self._pending, strict=True))
            self._pending = [(stamps, readings)]
        return self._pending[0]

    def _read(self, streams: list[JointStream], stamps: IntArray, readings: FloatArray) -> list[Segment]:
        """Segments of samples between the gaps."""
        count = len(stamps)
        samples, widths, cuts = np.empty((count, self._width)), np.zeros(count), np.empty(count, dtype=np.int64)
        if len(streams) > 1:
            lay_down(stamps, self._offset, readings, self._first, samples)
            for stream in streams[:-1]:
                stream.samples.read(stream.targets, samples, widths)
        last, before = streams[-1].samples, self._last_time
        marked = synchronise(
            last.all_times,
            last.all_states,
            last.start,
            last.stop,
            streams[-1].targets,
            stamps,
            self._offset,
            readings,
            self._first,
            samples,
            widths,
            before,
            MAX_GAP,
            cuts,
        )
        self._last_time = samples.item(-1, 0)
        for stream in streams:
            stream.samples.forget_before(self._last_time)
        if marked == 0:
            return [Segment(False, stamps, samples, self._columns)]
        self._report_cuts(stamps, cuts, widths, before)
        finite = np.flatnonzero(cuts != NOT_FINITE)
        if len(finite) == 0:
            self._last_time = before
            return []
        self._last_time = -np.inf if cuts[finite[-1]] == IN_GAP else samples.item(int(finite[-1]), 0)
        kept = (cuts == FOLLOWS) | (cuts == AFTER_GAP)
        stamps, samples, cuts = stamps[kept], samples[kept], cuts[kept]
        if len(stamps) == 0:
            return []
        bounds = [0, *(np.flatnonzero(cuts[1:] == AFTER_GAP) + 1).tolist(), len(stamps)]
        return [Segment(bool(cuts[a]), stamps[a:b], samples[a:b], self._columns) for a, b in pairwise(bounds)]

    def _report_cuts(self, stamps: IntArray, cuts: IntArray, widths: FloatArray, before: float) -> None:
        bad = cuts == NOT_FINITE
        if bad.any():
            self._health.report(self._source, "not_finite", int(stamps[bad][-1]), count=int(bad.sum()))
        in_gap = (cuts == IN_GAP) & np.isfinite(widths)
        if in_gap.any():
            detail = "inside a gap of joint_states"
            self._health.report(self._source, "no_joint_state", int(stamps[in_gap][-1]), detail, int(in_gap.sum()))
        gaps = np.flatnonzero(cuts == AFTER_GAP)
        if len(gaps) > 1 or (len(gaps) == 1 and before > -np.inf):
            self._health.report(self._source, "gap", int(stamps[gaps[-1]]), count=len(gaps))

    def foresee(self, after: int) -> tuple[IntArray, FloatArray, FloatArray] | None:
        """Readings after a stamp that wait for a later joint state: stamps, readings, and samples.

        Samples are [time, positions, velocities]; joint states are extrapolated, by at most one of their periods. None
        if nothing waits, or there is no telling.
        """
        if not self._pending or self.origin is None:
            return None
        stamps, readings = self._pending[0] if len(self._pending) == 1 else self._join_pending()
        if stamps.item(0) <= after:
            first = int(stamps.searchsorted(after, side="right"))
            stamps, readings = stamps[first:], readings[first:]
        streams = self._find_covering(stamps) if len(stamps) else []
        if not streams or (stamps.item(0) - self._offset) * 1e-9 - _find_horizon(streams) > MAX_GAP:
            return None
        samples = np.empty((len(stamps), self._first))
        samples[:, 0] = (stamps - self._offset) * 1e-9
        if not all(stream.extrapolate(samples) for stream in streams):
            return None
        return stamps, readings, samples

    def _keep_waiting(
        self, stamps: IntArray, readings: FloatArray, horizon: float, streams: list[JointStream]
    ) -> tuple[IntArray, FloatArray]:
        """Keep the readings that have no joint state yet, but not for ever; returns those that have one."""
        times = (stamps - self._offset) * 1e-9
        ready = int(np.searchsorted(times, horizon, side="right"))
        keep = ready
        if times[-1] - times[0] > _MAX_WAIT:
            keep = max(ready, int(np.searchsorted(times, times[-1] - _MAX_WAIT)))
            if keep > ready:
                self._give_up(stamps[ready:keep], streams)
        self._pending = [(stamps[keep:], readings[keep:])]
        return stamps[:ready], readings[:ready]

    def _find_covering(self, stamps: IntArray) -> list[JointStream]:
        """The publishers that together give all joints, without those that fell silent; none if joints are missing."""
        if self._complete:
            return self._complete
        streams = list(self._streams.values())
        if len(streams) == 1 and len(streams[0].columns) == self._n:
            self._complete = streams
            return streams
        newest = max((stream.newest for stream in streams), default=-np.inf)
        live = [stream for stream in streams if stream.newest > newest - _SILENT]
        covered: set[int] = set()
        for candidate in (live, streams):
            covered = {int(c) for stream in candidate for c in stream.columns}
            if len(covered) == self._n:
                return candidate
        missing = [name for c, name in enumerate(self._names) if c not in covered]
        if (stamps[-1] - stamps[0]) * 1e-9 > 1.0:
            self._health.report("joint_states", "missing_joints", int(stamps[-1]), ", ".join(missing))
        return []

    def _give_up(self, stamps: IntArray, streams: list[JointStream]) -> None:
        detail = "no joint states at all"
        if streams and self.origin is not None:
            newest = min(stream.newest for stream in streams)
            behind = (int(stamps[-1]) - self._offset) * 1e-9 - newest
            detail = f"newest joint state is {behind:.3f} s before the wrench"
        self._health.report(self._source, "no_joint_state", int(stamps[-1]), detail, len(stamps))


def _find_horizon(streams: list[JointStream]) -> float:
    """Time up to which all publishers can be read; -inf where there is none."""
    return min((stream.newest for stream in streams), default=-np.inf)
