"""Wrenches paired with the joint states at their own stamps, in stretches without a gap."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.joint_stream import MAX_GAP, JointStream
from inertid_ros.core.input.timestamps import SECOND, StampCheck
from inertid_ros.core.records import FloatArray, IntArray, JointBlock, WrenchBlock
from inertid_ros.core.robot.arm import ArmModel
from inertid_ros.core.robot.robot import FramePath

_MAX_WAIT = 2.0
"""How long [s] a wrench waits for a joint state before it is given up."""

_LARGEST = 1e300


class Stretch(NamedTuple):
    """Samples without a gap between them, at the wrenches' stamps.

    Attributes:
        starts_anew: whether there is a gap (or nothing) before the first sample.
        stamps: (N,) nanoseconds.
        times: (N,) the same in seconds since the origin.
        positions, velocities: (N, n) of the joints on the path.
        wrenches: (N, 6) in the driver's own sign.
    """

    starts_anew: bool
    stamps: IntArray
    times: FloatArray
    positions: FloatArray
    velocities: FloatArray
    wrenches: FloatArray

    def rest(self, start: int) -> Stretch:
        """What follows from one sample on."""
        return Stretch(
            False,
            self.stamps[start:],
            self.times[start:],
            self.positions[start:],
            self.velocities[start:],
            self.wrenches[start:],
        )


class Alignment:
    """Checks both inputs, maps joints by name, and pairs what can be paired."""

    def __init__(self, path: FramePath | ArmModel, wrench_delay: float, health: Health, source: str = "wrench") -> None:
        """Pair wrenches with the joints on a path.

        Args:
            path: whose joints.
            wrench_delay: a wrench belongs to the joint state so much [s] before it.
            health: where to report.
            source: what wrenches are called there; any other readings that have stamps will do as well.
        """
        self._source = source
        self._path = path
        self._delay = round(wrench_delay * SECOND)
        self._health = health
        self._n = len(path.joint_names)
        self._origin: int | None = None
        self._offset = self._delay
        self._maps: dict[tuple[str, ...], tuple[IntArray | None, tuple[int, ...]]] = {}
        self._streams: dict[tuple[int, ...], JointStream] = {}
        self._wrench_stamps = StampCheck(source, health)
        self._pending: list[tuple[IntArray, FloatArray]] = []
        self._last_time = -np.inf
        self._single_time = np.empty(1)
        self._single_state = np.empty(2 * self._n)
        self._single_position = self._single_state[None, : self._n]
        self._single_velocity = self._single_state[None, self._n :]

    @property
    def time_origin(self) -> int:
        """Stamp [ns] of a wrench at time zero."""
        return self._offset

    @property
    def origin(self) -> int | None:
        """Stamp [ns] of a joint state at time zero, None before the first."""
        return self._origin

    def push_joints(self, block: JointBlock) -> None:
        """Take joint samples of one publisher; what cannot be used is counted."""
        names, stamps, positions, velocities, _ = block
        take, columns = self._maps.get(names) or self._map(names)
        stream = self._streams.get(columns)
        if take is None and stream and len(stamps) == 1 and stream.push_next(stamps.item(), positions, velocities):
            return
        if not columns or len(stamps) == 0 or not self._has_right_shape(block):
            return
        if take is not None:
            positions = positions[:, take]
            velocities = None if velocities is None else velocities[:, take]
        stamps, positions, velocities = self._drop_not_finite(stamps, positions, velocities)
        if self._origin is None:
            stamps, positions, velocities = self._drop_zero_stamps(stamps, positions, velocities)
        if len(stamps) == 0:
            return
        stream = stream or self._make_stream(columns, stamps.item(0))
        if stream.push(stamps, positions, velocities):
            self._start_anew(keep=columns)

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

    def push_wrenches(self, block: WrenchBlock) -> None:
        """Take wrenches; what cannot be used is counted."""
        _, stamps, wrenches = block
        if len(stamps) == 1 and math.isfinite(sum(wrenches[0].tolist())) and self._wrench_stamps.is_next(stamps.item()):
            self._pending.append((stamps, wrenches))
            return
        if not np.vdot(wrenches, wrenches) < _LARGEST:
            good = np.isfinite(wrenches).all(axis=1)
            if not good.all():
                self._health.report(self._source, "not_finite", int(stamps[~good][-1]), count=int((~good).sum()))
            stamps, wrenches = stamps[good], wrenches[good]
        if len(stamps) == 0:
            return
        chosen, restart = self._wrench_stamps.check(stamps)
        if restart is not None:
            self._pending.clear()
            self._last_time = -np.inf
        if chosen is not None:
            stamps, wrenches = stamps[chosen[restart:]], wrenches[chosen[restart:]]
        if len(stamps):
            self._pending.append((stamps, wrenches))

    def process(self) -> list[Stretch]:
        """Pair all that can be paired now; what comes out is valid until the next call."""
        if not self._pending or self._origin is None:
            return []
        if len(self._pending) == 1:
            stamps, wrenches = self._pending[0]
            if len(stamps) == 1 and len(self._streams) == 1:
                stretch = self._pair_next(stamps, wrenches)
                if stretch is not None:
                    self._pending.clear()
                    return [stretch]
        else:
            stamps = np.concatenate([item[0] for item in self._pending])
            wrenches = np.concatenate([item[1] for item in self._pending])
        times = np.asarray((stamps - self._offset) * 1e-9)
        streams = self._covering_streams(stamps)
        horizon = min([stream.newest() for stream in streams], default=-np.inf)
        if times.item(-1) <= horizon:
            self._pending = []
        else:
            ready = int(np.searchsorted(times, horizon, side="right"))
            self._keep_waiting(stamps, times, wrenches, ready, streams)
            if ready == 0:
                return []
            stamps, times, wrenches = stamps[:ready], times[:ready], wrenches[:ready]
        return self._pair(streams, stamps, times, wrenches)

    def _pair_next(self, stamps: IntArray, wrenches: FloatArray) -> Stretch | None:
        """A single wrench with the only publisher, if that gives all joints and there is no gap; else None."""
        (stream,) = self._streams.values()
        samples = stream.samples
        time = (stamps.item() - self._offset) * 1e-9
        if time > samples.newest or time - self._last_time > MAX_GAP or len(stream.columns) != self._n:
            return None
        if samples.read_one(time, self._single_state) > MAX_GAP:
            return None
        samples.forget_before(time)
        self._last_time = self._single_time[0] = time
        return Stretch(False, stamps, self._single_time, self._single_position, self._single_velocity, wrenches)

    def _keep_waiting(
        self, stamps: IntArray, times: FloatArray, wrenches: FloatArray, ready: int, streams: list[JointStream]
    ) -> None:
        """Keep the wrenches that have no joint state yet, but not for ever."""
        keep = ready
        if times[-1] - times[0] > _MAX_WAIT:
            keep = max(ready, int(np.searchsorted(times, times[-1] - _MAX_WAIT)))
            if keep > ready:
                self._give_up(stamps[ready:keep], streams)
        self._pending = [(stamps[keep:], wrenches[keep:])]

    def _map(self, names: tuple[str, ...]) -> tuple[IntArray | None, tuple[int, ...]]:
        """Where the path's joints are in a message: indices there (None if as they are), and columns here."""
        columns = tuple(c for c, name in enumerate(self._path.joint_names) if name in names)
        take = np.array([names.index(self._path.joint_names[c]) for c in columns], dtype=np.int64)
        as_they_are = np.array_equal(take, np.arange(len(names)))
        if len(self._maps) > 100:
            self._maps.clear()
        self._maps[names] = (None if as_they_are else take, columns)
        return self._maps[names]

    def _make_stream(self, columns: tuple[int, ...], stamp: int) -> JointStream:
        if self._origin is None:
            self._origin = stamp - stamp % (1000 * SECOND)
            self._offset = self._origin + self._delay
        is_angle = tuple(self._path.is_angle[c] for c in columns)
        stream = self._streams[columns] = JointStream(np.array(columns), is_angle, self._origin, self._health)
        return stream

    def _start_anew(self, keep: tuple[int, ...]) -> None:
        """Time started anew for one publisher: what waits belongs to the time before."""
        self._pending.clear()
        self._last_time = -np.inf
        self._streams = {
            columns: stream for columns, stream in self._streams.items() if columns == keep or len(keep) < self._n
        }

    def _covering_streams(self, stamps: IntArray) -> list[JointStream]:
        """The publishers that together give all joints, without those that fell silent; none if joints are missing."""
        streams = list(self._streams.values())
        if len(streams) == 1 and len(streams[0].columns) == self._n:
            return streams
        newest = max((stream.newest() for stream in streams), default=-np.inf)
        live = [stream for stream in streams if stream.newest() > newest - 1.0]
        for candidate in (live, streams):
            covered = {int(c) for stream in candidate for c in stream.columns}
            if len(covered) == self._n:
                return candidate
        missing = [name for c, name in enumerate(self._path.joint_names) if c not in covered]
        if (stamps[-1] - stamps[0]) * 1e-9 > 1.0:
            self._health.report("joint_states", "missing_joints", int(stamps[-1]), ", ".join(missing))
        return []

    def _give_up(self, stamps: IntArray, streams: list[JointStream]) -> None:
        detail = "no joint states at all"
        if streams and self._origin is not None:
            newest = min(stream.newest() for stream in streams)
            behind = (int(stamps[-1]) - self._offset) * 1e-9 - newest
            detail = f"newest joint state is {behind:.3f} s before the wrench"
        self._health.report(self._source, "no_joint_state", int(stamps[-1]), detail, len(stamps))

    def _pair(
        self, streams: list[JointStream], stamps: IntArray, times: FloatArray, wrenches: FloatArray
    ) -> list[Stretch]:
        states, width = self._read(streams, times)
        usable = width <= MAX_GAP
        cuts: list[int] = []
        if not usable.all():
            in_gap = np.isfinite(width) & ~usable
            if in_gap.any():
                detail = "inside a gap of joint_states"
                self._health.report(self._source, "no_joint_state", int(stamps[in_gap][-1]), detail, int(in_gap.sum()))
            kept = np.flatnonzero(usable)
            cuts = np.flatnonzero(np.diff(kept, prepend=-1) > 1).tolist()
            stamps, times, wrenches, states = stamps[kept], times[kept], wrenches[kept], states[kept]
            if not usable[-1]:
                self._last_time = -np.inf
            if len(times) == 0:
                return []
        cuts += self._find_gaps(stamps, times)
        self._last_time = times.item(-1) if usable[-1] else -np.inf
        n = self._n
        if not cuts or cuts == [0]:
            return [Stretch(bool(cuts), stamps, times, states[:, :n], states[:, n:], wrenches)]
        bounds = sorted({0, *cuts, len(times)})
        return [
            Stretch(a in cuts, stamps[a:b], times[a:b], states[a:b, :n], states[a:b, n:], wrenches[a:b])
            for a, b in pairwise(bounds)
        ]

    def _find_gaps(self, stamps: IntArray, times: FloatArray) -> list[int]:
        """Where a sample follows the one before by too much."""
        gaps = [0] if times.item(0) - self._last_time > MAX_GAP else []
        if len(times) > 1:
            gaps += (np.flatnonzero(times[1:] - times[:-1] > MAX_GAP) + 1).tolist()
        if gaps and (len(gaps) > 1 or self._last_time > -np.inf):
            self._health.report(self._source, "gap", int(stamps[gaps[-1]]), count=len(gaps))
        return gaps

    def _read(self, streams: list[JointStream], times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """All joints at (N,) times: (N, 2n) states, (N,) distance of the joint states around each [s]."""
        newest = times.item(-1)
        n = self._n
        states, width = np.zeros((len(times), 2 * n)), np.zeros(len(times))
        for stream in streams:
            part, distance = stream.samples.read(times)
            stream.samples.forget_before(newest)
            np.maximum(width, distance, out=width)
            states[:, stream.columns] = part[:, : len(stream.columns)]
            states[:, stream.columns + n] = part[:, len(stream.columns) :]
        return states, width
