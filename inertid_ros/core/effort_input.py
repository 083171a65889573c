"""Efforts of joint_states, checked and in newton metres: what cannot be believed is marked, joint by joint."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.arm_model import ArmModel
from inertid_ros.core.health import Health
from inertid_ros.core.records import BoolArray, FloatArray, JointBlock

_AT_LIMIT = 1e-3


class EffortInput:
    """Turns joint blocks into efforts of the arm's joints and marks of those that are missing or saturated."""

    def __init__(self, arm: ArmModel, constants: FloatArray, health: Health) -> None:
        """Set what the efforts are multiplied with, (n,)."""
        self._arm = arm
        self._constants = constants
        self._health = health
        self._held = np.zeros(len(arm.joint_names))

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
        columns = [names.index(joint) if joint in names else -1 for joint in self._arm.joint_names]
        if max(columns) < 0:
            return None
        values = np.full((len(stamps), len(columns)), np.nan)
        given = [place for place, column in enumerate(columns) if column >= 0]
        values[:, given] = efforts[:, [columns[place] for place in given]] * self._constants[given]
        missing = ~np.isfinite(values)
        absent = [column < 0 for column in columns]
        self._report(missing & ~np.array(absent), "effort_missing", int(stamps[-1]))
        limits = self._arm.effort_limits
        saturated = np.abs(np.abs(np.where(missing, 0.0, values)) - limits) <= _AT_LIMIT * limits
        saturated &= np.isfinite(limits)
        self._report(saturated, "effort_saturated", int(stamps[-1]))
        bad = missing | saturated
        return tuple(given), np.concatenate((self._hold(values, bad), bad.astype(float)), axis=1)

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
