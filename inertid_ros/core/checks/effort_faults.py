"""Are the efforts of the joints alive? Judged once a row, by efforts that do not change although their joints move.

An effort that repeats itself exactly is suspicious only while its joint moves: at rest, drives and drivers do. It must
change soon where the gravity that the URDF predicts does, and in a longer motion in any case. Of an effort that has
never changed, or that usually changes from row to row, repeats are not learnt from.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.checks.sensor_faults import (
    CHANGES,
    GRAVITY,
    HELD,
    LAST,
    REMEMBERED,
    ROWS,
    is_noisy,
    note_channel,
)
from inertid_ros.core.compiled import brief, specialise
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.records import BoolArray, FloatArray

MOVES = 0.01
"""Velocity [rad/s or m/s] from which a joint moves: drives creep by less."""
SOON = 15.0
"""Rows of motion (0.3 s) with the same effort from which it is stuck if gravity has changed: the slowest drivers renew
efforts at some 10 Hz."""
MUST_SHOW_EFFORT = 1.0
"""That change of gravity [Nm or N]: what current and torque sensors of arms resolve, ten times over."""
LATER = 45.0
"""Rows of motion (0.9 s) with the same effort from which it is stuck in any case: friction is not as even."""

POSSIBLE, HELD_STILL, STUCK = 0.0, 1.0, 2.0
"""What a row shows of an effort: nothing wrong, one that repeats itself, one that is stuck."""
_BEFORE, _MOVED = GRAVITY, GRAVITY + 1
"""What is remembered beside `sensor_faults.LAST`: gravity at the last change, and rows of motion since."""


@brief
def watch_efforts(
    w: FloatArray, efforts: FloatArray, gravity: FloatArray, velocities: FloatArray, bad: FloatArray, found: FloatArray
) -> float:
    """Judge efforts (n,) beside the ones of the rows before; returns the worst of what they show, see POSSIBLE.

    Args:
        w: (11, n) see `sensor_faults.LAST` and _BEFORE.
        efforts: the newest ones.
        gravity: (n,) torques that the URDF predicts.
        velocities: (n,) of the joints.
        bad: (n,) 1 where there is no effort to be believed.
        found: (n,) result, see POSSIBLE.
    """
    worst = POSSIBLE
    for c in range(len(efforts)):
        found[c] = POSSIBLE
        if bad[c] != 0.0:
            w[LAST, c] = np.nan
            continue
        note_channel(w, c, efforts[c], (gravity[c], 0.0, 0.0))
        if w[ROWS, c] > 0.0 and abs(velocities[c]) > MOVES:
            w[_MOVED, c] += 1.0
        must_show = abs(gravity[c] - w[_BEFORE, c]) > MUST_SHOW_EFFORT
        if w[_MOVED, c] >= (SOON if must_show else LATER):
            found[c] = STUCK
        elif w[ROWS, c] >= HELD and (w[CHANGES, c] <= 1.0 or is_noisy(w, c)):
            found[c] = HELD_STILL
        worst = max(worst, found[c])
    return worst


class EffortFaults:
    """Faults of efforts, by those at the rows."""

    def __init__(self, joint_names: tuple[str, ...], health: Health) -> None:
        """Set the n joints, and where to report."""
        self._names, self._health = joint_names, health
        self._watched = np.zeros((REMEMBERED, len(joint_names)))
        self._watched[LAST] = np.nan
        self._found = np.zeros(len(joint_names))
        self._watch = specialise(watch_efforts, self._watched, *([self._found] * 5))

    def take(
        self, stamp: int, efforts: FloatArray, gravity: FloatArray, velocities: FloatArray, bad: FloatArray
    ) -> BoolArray | None:
        """Judge a row, see `watch_efforts`; returns (n,) whose efforts are not to be learnt from, None if all are."""
        if self._watch(self._watched, efforts, gravity, velocities, bad, self._found) == POSSIBLE:
            return None
        stuck = self._found == STUCK
        if stuck.any():
            if not efforts.any() and (bad == 0.0).all():
                self._health.report("effort", "effort_dead", stamp)
                return np.ones(len(stuck), dtype=bool)
            names = ", ".join(name for name, is_stuck in zip(self._names, stuck, strict=True) if is_stuck)
            self._health.report("effort", "effort_stuck", stamp, names)
        return np.asarray(self._found != POSSIBLE)
