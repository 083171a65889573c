"""Efforts of joint_states, checked and in newton metres: what cannot be believed is marked, joint by joint."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.records import BoolArray, FloatArray, JointBlock
from inertid_ros.core.robot.arm import ArmModel

_AT_LIMIT = 1e-3


class EffortInput:
    """Turns joint blocks into efforts of the arm's joints and marks of those that are missing or saturated."""

    def __init__(self, arm: ArmModel, constants: FloatArray, health: Health) -> None:
        """Set what the efforts are multiplied with, (n,)."""
        self._arm = arm
        self._constants = constants
        self._health = health
        self._n = len(arm.joint_names)
        self._below: list[float] = ((1.0 - _AT_LIMIT) * arm.effort_limits).tolist()
        self._as_they_are = False
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
            values = efforts if self._as_they_are else efforts[:, self._taken] * self._constants
            if self._are_all_good(values):
                return self._joints, self._take_all(values)
        else:
            values = np.full((len(stamps), self._n), np.nan)
            values[:, self._given] = efforts[:, self._taken] * self._constants[self._given]
        return self._joints, self._mark(values, int(stamps[-1]))

    def _find_columns(self, names: tuple[str, ...]) -> None:
        joints = self._arm.joint_names
        self._names = names
        self._given = np.array([place for place, joint in enumerate(joints) if joint in names], dtype=np.int64)
        self._taken = np.array([names.index(joints[place]) for place in self._given], dtype=np.int64)
        self._joints = tuple(self._given.tolist())
        self._as_they_are = names == joints and bool((self._constants == 1.0).all())

    def _are_all_good(self, values: FloatArray) -> bool:
        """Whether all are finite and below their limits."""
        if len(values) == 1:
            return all(-limit < value < limit for value, limit in zip(values[0].tolist(), self._below, strict=True))
        return bool((np.abs(values).max(axis=0) < self._below).all())

    def _take_all(self, values: FloatArray) -> FloatArray:
        """All are good."""
        readings = np.zeros((len(values), 2 * self._n))
        readings[:, : self._n] = values
        self._held = values[-1]
        return readings

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
