"""Joint states of one publisher: unwrapped, with velocities, ready to be read at any time in between."""

from __future__ import annotations

import math

import numpy as np

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.sample_buffer import SampleBuffer
from inertid_ros.core.input.timestamps import StampCheck
from inertid_ros.core.input.velocity_check import VelocityCheck
from inertid_ros.core.records import FloatArray, IntArray

MAX_GAP = 0.15
"""Longest pause [s] that is bridged by interpolation; after a longer one filters start anew."""


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
        self._last_position: list[float] | None = None

    def push_next(self, stamp: int, position: FloatArray, velocity: FloatArray | None) -> bool:
        """Append a single sample (1, n), (1, n) if it simply continues the last one; returns whether it does.

        It does if the velocity is measured, everything is finite and no joint has moved by half a turn.
        """
        if velocity is None or self._last_position is None or not self._check.trusted:
            return False
        if position.shape != self._single or velocity.shape != self._single:
            return False
        (angles,), (rates,) = position.tolist(), velocity.tolist()
        if not (math.dist(angles, self._last_position) < math.pi and math.isfinite(sum(rates))):
            return False
        if not self._stamps.is_next(stamp):
            return False
        self.samples.append_one((stamp - self._origin) * 1e-9, position, velocity)
        self._last_position = angles
        self._check.count_one(self.samples, self._origin)
        return True

    def push(self, stamps: IntArray, positions: FloatArray, velocities: FloatArray | None) -> bool:
        """Append samples, (N,), (N, n) and (N, n), finite; returns whether time started anew."""
        restart = None
        if len(stamps) > 1 or not self._stamps.is_next(int(stamps[0])):
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
            self._last_position = positions[0].tolist()
        turns = positions.copy()
        turns[0] -= self._last_position
        turns[1:] -= positions[:-1]
        if np.vdot(turns, turns) > math.pi**2:
            turns = np.where(self._angles, -2 * np.pi * np.round(turns / (2 * np.pi)), 0.0)
            positions = positions + np.cumsum(turns, axis=0)
        self._last_position = positions[-1].tolist()
        return positions

    def _append(self, times: FloatArray, positions: FloatArray, velocities: FloatArray | None) -> None:
        if velocities is not None and self._check.trusted:
            self.samples.append(times, positions, velocities)
            self._check.count(self.samples, self._origin)
            return
        raw_times = np.concatenate((self._raw_times, times))
        raw_positions = np.concatenate((self._raw_positions, positions))
        if len(raw_times) > 2:
            self.samples.append(raw_times[1:-1], raw_positions[1:-1], slopes(raw_times, raw_positions))
        self._raw_times, self._raw_positions = raw_times[-2:], raw_positions[-2:]

    def newest(self) -> float:
        """Time up to which the stream can be read, -inf where it cannot yet."""
        return self.samples.newest


def slopes(times: FloatArray, positions: FloatArray) -> FloatArray:
    """Slopes (N-2, n) at the inner ones of (N,) times and (N, n) positions, each of the parabola through three."""
    steps = (times[1:] - times[:-1])[:, None]
    rises = (positions[1:] - positions[:-1]) / steps
    before, after = steps[:-1], steps[1:]
    return np.asarray((rises[1:] * before + rises[:-1] * after) / (before + after))
