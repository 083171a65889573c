"""Is the wrist sensor alive and within its range? Judged once a row, by readings that do not change although they must.

A channel that repeats its reading exactly is suspicious only where gravity turns in the sensor by so much that the load
must show in it: at rest, many a driver repeats itself. Of a sensor whose noise was seen in every row before, repeats
are not learnt from in any case. A reading that does not change and is the largest or smallest so far is the end of the
sensor's range, from then on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import brief, compiled, specialise
from inertid_ros.core.diagnosis import Finding, Health, find_issue
from inertid_ros.core.equations.equation import WRENCH_NAMES
from inertid_ros.core.input.reading_faults import ReadingFaults
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.tree import Vector
from inertid_ros.core.rows.advance import INTERVAL
from inertid_ros.core.settings.settings import LoadSettings

REPEATED = 3
"""Rows (0.06 s) with the same reading from which it does not change."""
HELD = 5
"""Rows (0.1 s) with the same reading that are not learnt from, where readings usually change."""
USUALLY = 50.0
"""Changed rows (1 s) from which it is known whether readings usually change."""
SELDOM = 0.2
"""Part of them that repeats may be where readings usually change."""
MUST_SHOW_FORCE, MUST_SHOW_MOMENT = 1.0, 0.1
"""Changes [N, Nm] of the load's weight in a channel that must show, unless the sensor is coarse: what most of them
resolve, ten times over."""
STEPS = 10.0
"""How many of its smallest steps a change must have to show: what is known of the load may be wrong by some."""
TURNED = 1.0
"""Change of gravity [m/s²] in the sensor, 6°, by which some channel must change, whatever is carried: noise does."""
AT_LIMIT = 1e-3
"""Part of the end of its range by which a reading may miss it: rounding of drivers."""

LAST, GRAVITY, ROWS, CHANGES, REPEATS, LOW, HIGH, LEAST, MOST, STEP = 0, 1, 4, 5, 6, 7, 8, 9, 10, 11
"""What is remembered of each channel: its reading, gravity (3) and rows since it has changed, how many rows have
changed and how many have not, its smallest and largest reading, the ends of its range, as far as they are known, and
its smallest change."""
REMEMBERED = 12
"""How many numbers of each channel these are."""
GOOD, HOLD, DEAD, FROZEN, STUCK, SATURATED = range(6)
"""What a row shows."""
CODES = "", "", "sensor_dead", "sensor_frozen", "axis_stuck", "sensor_saturated"
"""Codes of the health issues."""


@brief
def watch_reading(w: FloatArray, reading: FloatArray, gravity: FloatArray, load: FloatArray, found: FloatArray) -> int:
    """Judge a reading (6,) beside the ones of the rows before.

    Args:
        w: (12, 6) see LAST.
        reading: the newest one.
        gravity: (3,) in the sensor.
        load: (10,) parameters of what is carried, in the driver's sign, as far as it is known.
        found: (6,) result: 1 for each channel that shows it.

    Returns:
        See GOOD.
    """
    least_rows, is_zero, is_held, result, newest = 1e9, True, False, GOOD, 0
    cause = gravity[0], gravity[1], gravity[2]
    for c in range(6):
        note_channel(w, c, reading[c], cause)
        w[LOW, c], w[HIGH, c] = min(w[LOW, c], reading[c]), max(w[HIGH, c], reading[c])
        if w[ROWS, c] < least_rows:
            least_rows, newest = w[ROWS, c], c
        is_zero &= reading[c] == 0.0
        is_held |= w[ROWS, c] >= HELD and is_noisy(w, c)
        found[c] = 0.0
    for c in range(6):
        shown = judge_channel(w, reading[c], cause, load, c)
        found[c] = 0.0 if shown == GOOD else 1.0
        result = max(result, shown)
    x, y, z = find_change(w, cause, newest)
    has_turned = x * x + y * y + z * z > TURNED**2
    if least_rows >= REPEATED and (result != GOOD or has_turned or (is_zero and is_held)):
        return DEAD if is_zero else FROZEN
    return result if result != GOOD or not is_held else HOLD


@compiled
def note_channel(w: FloatArray, c: int, reading: float, cause: Vector) -> None:
    """Note a reading of a channel, and what acts on it (3,) where it has changed."""
    if reading == w[LAST, c]:
        w[ROWS, c] += 1.0
        return
    w[CHANGES, c] += 1.0
    if w[CHANGES, c] > 1.0:
        w[STEP, c] = min(w[STEP, c], abs(reading - w[LAST, c]))
    w[REPEATS, c] += w[ROWS, c] if w[ROWS, c] < HELD or not is_noisy(w, c) else 0.0
    w[LAST, c], w[ROWS, c] = reading, 0.0
    w[GRAVITY, c], w[GRAVITY + 1, c], w[GRAVITY + 2, c] = cause


@compiled
def is_noisy(w: FloatArray, c: int) -> bool:
    """Whether a channel usually changes from row to row."""
    return bool(w[CHANGES, c] >= USUALLY and w[REPEATS, c] <= SELDOM * w[CHANGES, c])


@compiled
def find_change(w: FloatArray, cause: Vector, c: int) -> Vector:
    """How far what acts on a channel is from what it was when its reading changed last."""
    x, y, z = cause
    return x - w[GRAVITY, c], y - w[GRAVITY + 1, c], z - w[GRAVITY + 2, c]


@compiled
def judge_channel(w: FloatArray, reading: float, gravity: Vector, load: FloatArray, c: int) -> int:
    """Whether a channel is at the end of its range, or stuck, see `watch_reading`."""
    room = AT_LIMIT * abs(reading)
    if reading > w[MOST, c] + room:
        w[MOST, c] = np.inf
    if reading < w[LEAST, c] - room:
        w[LEAST, c] = -np.inf
    if reading >= w[MOST, c] - room or reading <= w[LEAST, c] + room:
        return SATURATED
    x, y = (c + 1) % 3, (c + 2) % 3
    change = find_change(w, gravity, c)
    expected = load[0] * change[c] if c < 3 else load[1 + x] * change[y] - load[1 + y] * change[x]
    must_show = MUST_SHOW_FORCE if c < 3 else MUST_SHOW_MOMENT
    if w[CHANGES, c] > 2.0 and w[REPEATS, c] > SELDOM * w[CHANGES, c]:
        must_show = max(must_show, STEPS * w[STEP, c])
    if w[ROWS, c] < REPEATED or abs(expected) <= must_show:
        return GOOD
    if w[LOW, c] == w[HIGH, c] or w[LOW, c] < reading < w[HIGH, c]:
        return STUCK
    w[MOST if reading == w[HIGH, c] else LEAST, c] = reading
    return SATURATED


class Fault(NamedTuple):
    """What is wrong with the sensor at a row.

    Attributes:
        code: of the health issue; empty if it only repeats itself, which is nothing to learn from, or if it is one of
            the joint states.
        since: stamp [ns] of the first reading that may be wrong.
    """

    code: str
    since: int


class SensorFaults:
    """Faults of a wrist sensor, by its readings at the rows and by what is known of all readings.

    Attributes:
        watched, found: what `watch_reading` remembers and finds.
    """

    def __init__(self, settings: LoadSettings, readings: ReadingFaults, health: Health) -> None:
        """Set the ends of the sensor's range, where they are given, and where to report."""
        self._readings, self._health = readings, health
        self.watched = np.zeros((REMEMBERED, 6))
        self.watched[LAST], self.watched[STEP] = np.nan, np.inf
        self.watched[LOW], self.watched[HIGH] = np.inf, -np.inf
        limits = np.repeat([settings.force_limit, settings.torque_limit], 3)
        limits[limits == 0.0] = np.inf
        self.watched[LEAST], self.watched[MOST] = -limits, limits
        self.found = np.zeros(6)
        self._watch = specialise(watch_reading, self.watched, *([self.found] * 4))

    def believe(self) -> None:
        """Take the present unit and sign for the right ones."""
        self._readings.believe()

    def take(self, stamp: int, reading: FloatArray, gravity: FloatArray, load: FloatArray) -> Fault | None:
        """Judge a row by its stamp, the newest reading (6,), gravity (3,) in the sensor and the load (10,)."""
        return self.name(stamp, self._watch(self.watched, reading, gravity, load, self.found))

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is wrong with any reading so far that a row could meet, but for what the row itself shows."""
        return self._readings.is_empty

    def name(self, stamp: int, kind: int) -> Fault | None:
        """The fault of a row by its stamp, and by what `watch_reading` has found, if there is one."""
        known = self._readings.find(stamp)
        if known is not None:
            if known.code:
                self._health.report("wrench", known.code, stamp)
            return Fault(known.code, known.since)
        if kind == GOOD:
            return None
        code, rows, detail = CODES[kind], self.watched[ROWS], ""
        if kind in (STUCK, SATURATED):
            rows = rows[self.found > 0.0]
            detail = ", ".join(name for name, is_found in zip(WRENCH_NAMES, self.found, strict=True) if is_found)
        if code:
            self._health.report("wrench", code, stamp, detail)
        return Fault(code, stamp - int(rows[rows >= min(REPEATED, rows.max())].min() + 1.0) * INTERVAL)


def describe_fault(code: str) -> Finding:
    """A fault as what makes an estimate unusable while it lasts."""
    return Finding("error", code, find_issue(code))
