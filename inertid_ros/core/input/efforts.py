"""Efforts of joint_states in newton metres: what cannot be believed is marked, joint by joint."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.reading_samples import (
    BELOW,
    CHANNEL_NUMBERS,
    COLUMN,
    FACTOR,
    LARGEST,
    LIMIT,
    LIMITED,
    MISSED,
)
from inertid_ros.core.input.timeline import (
    AT_LIMIT,
    MAX_GAP,
    MISSING,
    NEVER,
    ORIGIN,
    SATURATED,
    SECOND,
    Timeline,
    interpolate,
)
from inertid_ros.core.records import BoolArray, FloatArray, IntArray, JointBlock
from inertid_ros.core.robot.robot import ArmModel


class EffortInput:
    """Finds the efforts of the arm's joints in messages, and reports those that are missing or saturated.

    Attributes:
        joints: which of the arm's joints the last message has.
        channels, scales: of its efforts, see `timeline.take_readings`.
    """

    def __init__(self, arm: ArmModel, constants: FloatArray, health: Health) -> None:
        """Set what the efforts are multiplied with, (n,)."""
        self._joint_names = arm.joint_names
        self._health = health
        self._names: tuple[str, ...] | None = None
        self.joints: tuple[int, ...] = ()
        self.channels: IntArray = np.zeros((3, len(constants)), dtype=np.int64)
        self.scales: FloatArray = np.zeros((CHANNEL_NUMBERS, len(constants)))
        self.scales[FACTOR], self.scales[LIMIT] = constants, arm.effort_limits
        self.scales[BELOW] = np.minimum((1.0 - AT_LIMIT) * arm.effort_limits, LARGEST)

    def has_efforts(self, block: JointBlock) -> bool:
        """Whether a message has efforts of any of the arm's joints: of which ones is in `joints` then."""
        names, stamps, _, _, efforts = block
        if efforts is None or len(stamps) == 0:
            return False
        if efforts.shape != (len(stamps), len(names)):
            detail = f"{len(names)} names, {efforts.shape[-1]} efforts"
            self._health.report("effort", "wrong_effort_length", int(stamps[-1]), detail, len(stamps))
            return False
        if names is not self._names:
            self._names = names
            columns = [names.index(joint) if joint in names else -1 for joint in self._joint_names]
            self.channels[COLUMN] = columns
            self.joints = tuple(joint for joint, column in enumerate(columns) if column >= 0)
        return bool(self.joints)

    def are_of(self, names: tuple[str, ...], joints: tuple[int, ...] | None) -> bool:
        """Whether the last message had these names, with efforts of these joints."""
        return names is self._names and self.joints == joints

    def push(self, line: Timeline, stamps: IntArray, efforts: FloatArray) -> bool:
        """Append the efforts of the last message, and marks of those not to be believed; returns if time was reset."""
        return self._end_push(line, stamps, line.push(self.channels, self.scales, stamps, efforts))

    def push_rest(self, position: int, line: Timeline, stamps: IntArray, efforts: FloatArray) -> bool:
        """Append those from the position on at which the kernel has stopped; returns if time was reset."""
        is_reset = line.push_rest(position, self.channels, self.scales, stamps, efforts)
        return self._end_push(line, stamps, is_reset)

    def _end_push(self, line: Timeline, stamps: IntArray, is_reset: bool) -> bool:
        if line.integers.item(MISSING) or line.integers.item(SATURATED):
            self._report(line.integers, int(stamps[-1]))
        return is_reset

    def _report(self, line: IntArray, stamp: int) -> None:
        for place, kind, code in (MISSING, MISSED, "effort_missing"), (SATURATED, LIMITED, "effort_saturated"):
            if line[place]:
                names = [self._joint_names[joint] for joint in np.flatnonzero(self.channels[kind])]
                self._health.report("effort", code, stamp, ", ".join(names), int(line[place]))
            line[place] = 0
            self.channels[kind] = 0


_SILENT = 1 * SECOND
"""A publisher that is this much [ns] behind the others has fallen silent: ten periods of a slow one."""


class EffortStreams:
    """One time line of efforts for each publisher.

    Attributes:
        lines: those of each list of joints that a publisher gives.
    """

    def __init__(self, efforts: EffortInput, count: int, delay: float) -> None:
        """Make room for some number of joints, n, whose efforts are late by a delay [s]."""
        self._efforts = efforts
        self._n = count
        self._delay = round(delay * SECOND)
        self.lines: dict[tuple[int, ...], Timeline] = {}

    @property
    def newest(self) -> int:
        """Stamp up to which the efforts of all publishers that still publish can be read."""
        ends = [line.newest for line in self.lines.values()]
        return min((end for end in ends if end > max(ends) - _SILENT), default=NEVER)

    def push(self, stamps: IntArray, efforts: FloatArray, origin: int) -> None:
        """Take the efforts of a message, see `EffortInput`, on a time line since an origin [ns].

        What is wrong with the stamps has been reported for the positions of the same messages; here such samples are
        only left out.
        """
        joints = self._efforts.joints
        if joints not in self.lines:
            self.lines[joints] = Timeline(2 * self._n, "effort", Health(), origin)
        self._efforts.push(self.lines[joints], stamps - self._delay, efforts)

    def read(self, times: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Efforts (N, n) at (N,) times, and whether they are there and to be believed (N, n)."""
        efforts, usable = np.zeros((len(times), self._n)), np.zeros((len(times), self._n), dtype=bool)
        for joints, line in self.lines.items():
            if not len(line.stamps):
                continue
            known = (line.stamps[[0, -1]] - line.integers[ORIGIN]) * 1e-9
            readings, widths = np.empty((len(times), 1 + 2 * self._n)), np.zeros(len(times))
            readings[:, 0] = np.clip(times, *known)
            interpolate(line.integers, line.states, np.arange(1, 1 + 2 * self._n), readings, widths, 0)
            near = (widths <= MAX_GAP) & (readings[:, 0] == times)
            for joint in joints:
                good = near & (readings[:, 1 + self._n + joint] == 0.0)
                efforts[good, joint] = readings[good, 1 + joint]
                usable[:, joint] |= good
        return efforts, usable
