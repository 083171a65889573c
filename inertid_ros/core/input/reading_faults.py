"""When readings are not to be believed.

What outliers and steps of a wrench say of its sensor (two publishers on one
topic, another unit, another sign), and when the joint states beside them have turned out wrong.

Each fault lasts for an interval of stamps. Rows are asked for by their own stamps, so that it makes no difference how
many readings were pushed before they are made.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from inertid_ros.core.records import FloatArray

MIXED, SCALED, FLIPPED = "wrench_mixed", "wrench_scaled", "wrench_flipped"
"""Codes of these faults."""
_MANY = 12
"""Outliers within half a second that no disturbance makes: of two publishers, every second reading is one."""
_WINDOW = 500_000_000
"""That half second [ns]."""
_QUIET = 300_000_000
"""Time [ns] without an outlier after which there is one publisher again: of two at 100 Hz, 30 readings."""
_UNITS = 1000.0, 1e-3
"""Factors that another unit makes: millinewtons, kilonewtons."""
_ALIKE = 0.03
"""Part by which a reading may differ from the one before, times such a factor: the arm moves on between them."""
_QUIETER = 0.05
"""Part of the usual change that a reading in a unit a thousand times larger still changes by, at most."""
_OPEN = 2**63 - 1
"""End of a fault that has not ended [ns]."""


class Interval(NamedTuple):
    """A fault, since when readings may be wrong, and from when to when it is known [ns].

    It has no code where others report it.
    """

    code: str
    since: int
    start: int
    end: int


_NONE = Interval("", 0, 0, 0)
_UNSETTLED = 3
"""Steps of the joint states after which none of them has a velocity that was not to be trusted: a slope takes two."""


class ReadingFaults:
    """Intervals of stamps in which the readings of one sensor are not to be believed."""

    def __init__(self) -> None:
        """Start with none."""
        self._outliers: deque[int] = deque(maxlen=_MANY)
        self._intervals: list[Interval] = []
        self._factor = 1.0
        self._found = 0
        """Since when [ns] the last fault was known that a row has met."""

    @property
    def is_empty(self) -> bool:
        """Whether there is none that a row could meet."""
        return not self._intervals

    def believe(self) -> None:
        """Take the present unit and sign for the right ones."""
        self._factor = 1.0
        self._intervals = [interval for interval in self._intervals if interval.end < _OPEN]

    def note_outlier(self, stamp: int) -> None:
        """Note an outlier: many within a short time are those of a second publisher."""
        self._outliers.append(stamp)
        if len(self._outliers) < _MANY or not 0 <= stamp - self._outliers[0] <= _WINDOW:
            return
        last = self._intervals[-1] if self._intervals else _NONE
        if last.code == MIXED and last.start <= stamp <= last.end:
            self._intervals[-1] = last._replace(end=stamp + _QUIET)
        else:
            self._intervals.append(Interval(MIXED, self._outliers[0], stamp, stamp + _QUIET))

    def note_step(
        self, stamp: int, before: FloatArray, after: FloatArray, usual: FloatArray, free: FloatArray
    ) -> float:
        """Note a step between readings (6,): returns the factor between them if that is all that has changed, or 1.

        Args:
            stamp: of the first reading after it.
            before: the last reading before.
            after: (2, 6) two readings after it.
            usual: (6,) usual change between readings before it.
            free: (6,) changes that say nothing.
        """
        if self._outliers:
            self._outliers.pop()  # what was left out before it was its first reading
        factor = _find_factor(before, after, usual, free)
        if factor == 1.0:
            return factor
        self._intervals = [one._replace(end=stamp) if one.end == _OPEN else one for one in self._intervals]
        self._factor *= factor
        if abs(self._factor - 1.0) > _ALIKE:
            self._intervals.append(Interval(FLIPPED if factor < 0.0 else SCALED, stamp, stamp, _OPEN))
        return factor

    def note_velocities(self, since: int, stamp: int, step: int) -> None:
        """Note at a stamp that velocities were wrong since another one; joint states are a step apart [ns]."""
        self._intervals.append(Interval("", since, stamp, stamp + _UNSETTLED * step))

    def find(self, stamp: int) -> Interval | None:
        """The fault at the stamp of a row, or one that fell between it and the last row; what is over is forgotten."""
        if not self._intervals:
            return None
        known = (one for one in self._intervals if one.start <= stamp)
        found = next((one for one in known if stamp < one.end or one.start > self._found), None)
        self._intervals = [interval for interval in self._intervals if interval.end > stamp]
        if found is not None:
            self._found = found.start
        return found


def _find_factor(before: FloatArray, after: FloatArray, usual: FloatArray, free: FloatArray) -> float:
    for factor in (-1.0, *_UNITS):
        expected, noise = factor * before, 10.0 * abs(factor) * usual + free
        sizes = np.repeat([np.linalg.norm(expected[:3]), np.linalg.norm(expected[3:])], 3)
        is_seen = bool((np.abs(expected - before) > 3.0 * np.maximum(noise, 10.0 * usual + free))[:3].any())
        is_alike = bool((np.abs(after - expected) <= _ALIKE * sizes + noise).all())
        if 0.0 < factor < 1.0:
            is_alike &= bool(after.any() and (np.abs(after[1] - after[0]) <= _QUIETER * usual).all())
        if is_seen and is_alike:
            return factor
    return 1.0
