"""Joint states of one publisher: unwrapped, with velocities, ready to be read at any time in between."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.interpolation import append_next, compare_velocities
from inertid_ros.core.input.sample_buffer import SampleBuffer
from inertid_ros.core.input.timestamps import StampCheck
from inertid_ros.core.records import FloatArray, IntArray

MAX_GAP = 0.15
"""Longest pause [s] that is bridged by interpolation: joint states at 10 Hz with jitter; after a longer one filters are
restarted."""

_CHUNK = 100
"""Samples after which measured velocities are compared with the positions: few enough for the first second."""
_MOVED = 0.01
"""Changes of position [rad or m] in a chunk below this say nothing of the velocities: noise integrates to as much."""
_JUDGED = 0.1
"""Root of the summed squares of changes [rad or m] from which velocities are judged: ten times the smallest one."""
_TOLERANCE = 0.4
"""Part by which the integral of velocities may miss the change of position; a wrong unit or order misses by more."""


class JointStream:
    """A time line of joint positions and velocities, in seconds since the chain's origin.

    Velocities are the measured ones, or, where there are none or they contradict the positions, the slope at the middle
    of the parabola through three positions on their true stamps, which is one sample late.
    """

    def __init__(self, columns: IntArray, is_angle: tuple[bool, ...], origin: int, health: Health) -> None:
        """Make a stream for some columns of the path's coordinates.

        Args:
            columns: indices of this stream's joints among the path's.
            is_angle: for each of these joints, whether it may jump by 2 pi.
            origin: stamp of time zero, nanoseconds.
            health: where to report.
        """
        self.columns = columns
        self.targets: IntArray = np.concatenate((columns, len(columns) + columns))
        """Columns of a sample that the states belong to."""
        self._angles = np.array(is_angle)
        self._origin = origin
        self._stamps = StampCheck("joint_states", health)
        self._check = VelocityCheck(len(columns), health)
        self._n = len(columns)
        self._single = 1, self._n
        self._forget()

    def _forget(self) -> None:
        self.samples = SampleBuffer(2 * self._n)
        self._raw_times: FloatArray = np.empty(0)
        self._raw_positions: FloatArray = np.empty((0, self._n))
        self._last_position: FloatArray | None = None

    def push_next(self, stamp: int, position: FloatArray, velocity: FloatArray | None) -> bool:
        """Append a single sample (1, n), (1, n) if it simply continues the last one; returns whether it does.

        It does if the velocity is measured, everything is finite and no joint has moved by half a turn.
        """
        last = self._last_position
        if velocity is None or last is None or not self._check.trusted:
            return False
        if position.shape != self._single or velocity.shape != self._single or not self._stamps.precedes(stamp):
            return False
        samples, time = self.samples, (stamp - self._origin) * 1e-9
        if samples.stop == len(samples.all_times):
            samples.make_room(1)
        if not append_next(samples.all_times, samples.all_states, samples.stop, last, time, position, velocity):
            return False
        samples.stop += 1
        samples.newest = time
        self._stamps.accept(stamp)
        self._check.count_one(self.samples, self._origin)
        return True

    def push(self, stamps: IntArray, positions: FloatArray, velocities: FloatArray | None) -> bool:
        """Append samples, (N,), (N, n) and (N, n), finite; returns whether time was reset."""
        good, restart = self._stamps.check(stamps)
        if good is not None:
            good = good[restart:]
            stamps, positions = stamps[good], positions[good]
            velocities = None if velocities is None else velocities[good]
        if restart is not None:
            self._forget()
        if len(stamps):
            times = (stamps - self._origin) * 1e-9
            positions = self._unwrap(positions)
            for part in self._check.split(len(times)):
                self._append(times[part], positions[part], None if velocities is None else velocities[part])
        return restart is not None

    def _unwrap(self, positions: FloatArray) -> FloatArray:
        """Remove jumps by 2 pi, continuing from the last sample."""
        if self._last_position is None:
            self._last_position = positions[0].copy()
        steps = positions.copy()
        steps[0] -= self._last_position
        steps[1:] -= positions[:-1]
        if np.vdot(steps, steps) > np.pi**2:
            turns = np.where(self._angles, -2 * np.pi * np.round(steps / (2 * np.pi)), 0.0)
            positions = positions + np.cumsum(turns, axis=0)
        self._last_position = positions[-1].copy()
        return positions

    def _append(self, times: FloatArray, positions: FloatArray, velocities: FloatArray | None) -> None:
        if velocities is not None and self._check.trusted:
            self.samples.append(times, np.concatenate((positions, velocities), axis=1))
            self._check.count(self.samples, self._origin)
            return
        raw_times = np.concatenate((self._raw_times, times))
        raw_positions = np.concatenate((self._raw_positions, positions))
        if len(raw_times) > 2:
            slopes = find_slopes(raw_times, raw_positions)
            self.samples.append(raw_times[1:-1], np.concatenate((raw_positions[1:-1], slopes), axis=1))
        self._raw_times, self._raw_positions = raw_times[-2:], raw_positions[-2:]

    @property
    def newest(self) -> float:
        """Time up to which the stream can be read, -inf where it cannot yet."""
        return self.samples.newest

    def extrapolate(self, samples: FloatArray) -> bool:
        """Lay down states at the times of samples shortly after the newest one; False without two of them."""
        if len(self._raw_times) == 2 and self._raw_times[1] > self.samples.newest:
            times, (before, position) = self._raw_times, self._raw_positions
            velocity = (position - before) / (times[1] - times[0])
        elif len(self.samples.times) > 1:
            times, newest = self.samples.times[-2:], self.samples.states[-1]
            position, velocity = newest[: self._n], newest[self._n :]
        else:
            return False
        earlier, latest = times.tolist()
        ahead = np.minimum(samples[:, 0] - latest, latest - earlier)
        samples[:, self.targets[: self._n]] = position + ahead[:, None] * velocity
        samples[:, self.targets[self._n :]] = velocity
        return True


def find_slopes(times: FloatArray, positions: FloatArray) -> FloatArray:
    """Slopes (N-2, n) at the inner ones of (N,) times and (N, n) positions, each of the parabola through three."""
    steps = (times[1:] - times[:-1])[:, None]
    rises = (positions[1:] - positions[:-1]) / steps
    before, after = steps[:-1], steps[1:]
    return np.asarray((rises[1:] * before + rises[:-1] * after) / (before + after))


class VelocityCheck:
    """Are measured velocities velocities? Judged in chunks, by comparing their integral with the change of position.

    Attributes:
        trusted: whether they are; once velocities contradict the positions they are not trusted any more.
    """

    def __init__(self, joints: int, health: Health) -> None:
        """Start trusting."""
        self.trusted = True
        self._health = health
        self._seen = 0
        self._product = np.zeros(joints)
        self._power = np.zeros(joints)

    def split(self, count: int) -> Iterator[slice]:
        """Cut a block where a chunk ends, so that results do not depend on how samples arrive."""
        start = 0
        while start < count:
            stop = min(count, start + _CHUNK - self._seen)
            self._seen = (self._seen + stop - start) % _CHUNK
            yield slice(start, stop)
            start = stop

    def count_one(self, samples: SampleBuffer, origin: int) -> None:
        """Count a single sample just appended."""
        self._seen += 1
        if self._seen == _CHUNK:
            self._seen = 0
            self.count(samples, origin)

    def count(self, samples: SampleBuffer, origin: int) -> None:
        """Look at the last chunk if one has just ended."""
        if self._seen:
            return
        start = max(samples.start, samples.stop - _CHUNK)
        if samples.stop - start < 3:
            return
        all_times, all_states = samples.all_times, samples.all_states
        compare_velocities(all_times, all_states, start, samples.stop, _MOVED, self._product, self._power)
        judged = self._power > _JUDGED**2
        if not judged.any():
            return
        slope = np.divide(self._product, self._power, out=np.ones(len(judged)), where=judged)
        wrong = judged & (np.abs(slope - 1.0) > _TOLERANCE)
        if wrong.any():
            self.trusted = False
            slopes = [f"joint {joint}: {slope[joint]:.2f}" for joint in np.flatnonzero(wrong)]
            detail = ", ".join(slopes) + " times the change of position"
            self._health.report("joint_states", "velocity_unusable", int(samples.newest * 1e9) + origin, detail)
