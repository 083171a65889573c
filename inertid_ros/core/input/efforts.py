"""Efforts of joint_states, checked and in newton metres: what cannot be believed is marked, joint by joint."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.joint_stream import MAX_GAP
from inertid_ros.core.input.sample_buffer import SampleBuffer
from inertid_ros.core.input.timestamps import StampCheck
from inertid_ros.core.records import BoolArray, FloatArray, IntArray, JointBlock
from inertid_ros.core.robot.arm import ArmModel

_AT_LIMIT = 1e-3
"""Part of its limit by which an effort may miss it and still be saturated: rounding of drivers."""


@compiled
def take_efforts(
    efforts: FloatArray,
    taken: IntArray,
    constants: FloatArray,
    below: FloatArray,
    readings: FloatArray,
    held: FloatArray,
) -> bool:
    """Write efforts in newton metres (N, n) into readings, and hold the last; returns whether all are good."""
    for k in range(len(efforts)):
        for joint in range(len(taken)):
            value = efforts[k, taken[joint]] * constants[joint]
            if not abs(value) < below[joint]:
                return False
            readings[k, joint] = value
    for joint in range(len(taken)):
        held[joint] = readings[len(efforts) - 1, joint]
    return True


class EffortInput:
    """Turns joint blocks into efforts of the arm's joints and marks of those that are missing or saturated."""

    def __init__(self, arm: ArmModel, constants: FloatArray, health: Health) -> None:
        """Set what the efforts are multiplied with, (n,)."""
        self._arm = arm
        self._constants = constants
        self._health = health
        self._n = len(arm.joint_names)
        self._below = (1.0 - _AT_LIMIT) * arm.effort_limits
        self._names: tuple[str, ...] = ()
        self._joints: tuple[int, ...] = ()
        self._given, self._taken = np.empty((2, 0), dtype=np.int64)
        self._held = np.zeros(self._n)

    def read(self, block: JointBlock) -> tuple[tuple[int, ...], FloatArray] | None:
        """Which joints the message has, and readings (N, 2 n) of all.

        Readings are efforts, and 1 where one is not to be believed (the last good one is in its place). None if the
        message has no effort of any of the arm's joints.
        """
        names, stamps, _, _, efforts = block
        if efforts is None or len(stamps) == 0:
            return None
        if efforts.shape != (len(stamps), len(names)):
            detail = f"{len(names)} names, {efforts.shape[-1]} efforts"
            self._health.report("effort", "wrong_effort_length", int(stamps[-1]), detail, len(stamps))
            return None
        if names != self._names:
            self._find_columns(names)
        if not len(self._given):
            return None
        if len(self._given) == self._n:
            readings = np.zeros((len(stamps), 2 * self._n))
            if take_efforts(efforts, self._taken, self._constants, self._below, readings, self._held):
                return self._joints, readings
        values = np.full((len(stamps), self._n), np.nan)
        values[:, self._given] = efforts[:, self._taken] * self._constants[self._given]
        return self._joints, self._mark(values, int(stamps[-1]))

    def _find_columns(self, names: tuple[str, ...]) -> None:
        joints = self._arm.joint_names
        self._names = names
        self._given = np.array([place for place, joint in enumerate(joints) if joint in names], dtype=np.int64)
        self._taken = np.array([names.index(joints[place]) for place in self._given], dtype=np.int64)
        self._joints = tuple(self._given.tolist())

    def _mark(self, values: FloatArray, stamp: int) -> FloatArray:
        missing = ~np.isfinite(values)
        absent = np.ones(self._n, dtype=bool)
        absent[self._given] = False
        self._report(missing & ~absent, "effort_missing", stamp)
        limits = self._arm.effort_limits
        saturated = np.abs(np.abs(np.where(missing, 0.0, values)) - limits) <= _AT_LIMIT * limits
        saturated &= np.isfinite(limits)
        self._report(saturated, "effort_saturated", stamp)
        bad = missing | saturated
        return np.asarray(np.concatenate((self._hold(values, bad), bad.astype(float)), axis=1))

    def _report(self, marks: BoolArray, code: str, stamp: int) -> None:
        if marks.any():
            names = [self._arm.joint_names[place] for place in np.flatnonzero(marks.any(axis=0))]
            self._health.report("effort", code, stamp, ", ".join(names), int(marks.any(axis=1).sum()))

    def _hold(self, values: FloatArray, bad: BoolArray) -> FloatArray:
        """The last good value in the place of bad ones."""
        if bad.any():
            values = np.concatenate((self._held[None], values))
            good = np.concatenate((np.ones((1, bad.shape[1]), dtype=bool), ~bad))
            latest = np.maximum.accumulate(np.where(good, np.arange(len(values))[:, None], 0), axis=0)
            values = np.take_along_axis(values, latest, axis=0)[1:]
        self._held = values[-1].copy()
        return values


_SILENT = 1.0
"""A publisher that is this much [s] behind the others has fallen silent: ten periods of a slow one."""


class EffortStreams:
    """One time line of efforts for each publisher, told apart by the joints it gives."""

    def __init__(self, count: int, delay: float) -> None:
        """Make room for some number of joints, n, whose efforts are late by a delay [s]."""
        self._n = count
        self._delay = delay
        self._streams: dict[tuple[int, ...], tuple[StampCheck, SampleBuffer]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there is no publisher."""
        return not self._streams

    @property
    def newest(self) -> float:
        """Time up to which the efforts of all publishers that still publish can be read [s]; -inf before the first."""
        ends = [samples.newest for _, samples in self._streams.values()]
        return min((end for end in ends if end > max(ends) - _SILENT), default=-np.inf)

    def push(self, joints: tuple[int, ...], stamps: IntArray, origin: int, readings: FloatArray) -> None:
        """Take readings (N, 2 n), efforts and marks of those not to be believed, of a publisher of some joints.

        What is wrong with the stamps has been reported for the positions of the same messages; here such samples are
        only left out.
        """
        check, samples = self._streams.get(joints) or (StampCheck("effort", Health()), SampleBuffer(2 * self._n))
        good, restart = check.check(stamps)
        if restart is not None:
            samples = SampleBuffer(2 * self._n)
        if good is not None:
            stamps, readings = stamps[good[restart:]], readings[good[restart:]]
        if len(stamps):
            samples.append((stamps - origin) * 1e-9 - self._delay, readings)
        self._streams[joints] = check, samples

    def read(self, times: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Efforts (N, n) at (N,) times, and whether they are there and to be believed (N, n)."""
        efforts, usable = np.zeros((len(times), self._n)), np.zeros((len(times), self._n), dtype=bool)
        for joints, (_, samples) in self._streams.items():
            if not len(samples.times):
                continue
            within = np.clip(times, samples.times[0], samples.newest)
            readings, width = np.empty((len(times), 1 + 2 * self._n)), np.zeros(len(times))
            readings[:, 0] = within
            samples.read(np.arange(1, 1 + 2 * self._n), readings, width)
            samples.forget_before(times.item(-1))
            near = (width <= MAX_GAP) & (within == times)
            for joint in joints:
                good = near & (readings[:, 1 + self._n + joint] == 0.0)
                efforts[good, joint] = readings[good, 1 + joint]
                usable[:, joint] |= good
        return efforts, usable
