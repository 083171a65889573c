"""What was measured and known over time, as curves for plots."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.text.numbers import INTERVAL
from inertid_ros.view.instant import Instant

POINTS = 400
"""Of a curve at most: a plot is no wider on any screen."""


WINDOW = 60.0
"""Seconds of the past that plots of a running estimator show."""
RESET = 1.0
"""Seconds that time goes back where it was reset: stamps of several publishers of joint states differ by less."""
WIDEST = 5.0
"""Times the present interval that a former one is drawn wide, at least: the first ones are wider by orders."""


class Track:
    """Rows of W numbers over time: all of them, or those of the last seconds."""

    def __init__(self, window: float = math.inf) -> None:
        """Begin with none, and keep as many seconds."""
        self._window = window
        self._times: list[float] = []
        self._rows: list[FloatArray] = []

    @classmethod
    def of(cls, times: FloatArray, rows: Sequence[FloatArray]) -> Track:
        """Take rows at times that do not decrease."""
        track = cls()
        track._times, track._rows = times.tolist(), list(rows)
        return track

    def append(self, time: float, row: FloatArray) -> None:
        """Add a row, unless it is not newer than the last one.

        Where time was reset, or rows have become wider or narrower, everything before is forgotten.
        """
        if self._times and (time < self._times[-1] - RESET or len(row) != len(self._rows[-1])):
            self._times, self._rows = [], []
        if self._times and time <= self._times[-1]:
            return
        self._times.append(time)
        self._rows.append(row)
        first = int(np.searchsorted(self._times, time - self._window))
        del self._times[:first], self._rows[:first]

    def look(self, until: float, *columns: int) -> tuple[FloatArray, ...]:
        """Times and columns, each (N,), up to a time, at most POINTS of them; those with NaN are left out."""
        last = int(np.searchsorted(self._times, until, side="right"))
        chosen = slice((last - 1) % max(1, math.ceil(last / POINTS)), last, max(1, math.ceil(last / POINTS)))
        picked = [row[list(columns)] for row in self._rows[chosen]]
        rows = np.array(picked).reshape(len(picked), len(columns))
        finite = np.isfinite(rows).all(axis=1)
        return np.array(self._times[chosen])[finite], *rows[finite].T


class Tracks:
    """The parameters with their uncertainty, and the channels, over time."""

    def __init__(self, parameters: Track, channels: Track) -> None:
        """Rows of `parameters` are U values and U standard deviations, of `channels` K measured and K predicted."""
        self.parameters, self.channels = parameters, channels

    def append(self, instant: Instant) -> None:
        """Add what is known now."""
        if instant.parameters is not None:
            row = np.concatenate((instant.parameters.shown, instant.parameters.deviations))
            self.parameters.append(instant.time, row)
        if instant.signals is not None:
            self.channels.append(instant.time, np.concatenate((instant.signals.measured, instant.signals.predicted)))

    def draw_parameter(self, index: int, count: int, until: float) -> tuple[FloatArray, ...]:
        """Times, lower and upper end of the 95 % interval and value of one of so many parameters, each (N,).

        Intervals that would dwarf the curve are cut.
        """
        times, values, deviations = self.parameters.look(until, index, count + index)
        widths = INTERVAL * deviations
        if len(times):
            margin = max(float(np.ptp(values)), WIDEST * float(widths[-1]))
            widths = np.minimum(widths, margin)
        return times, values - widths, values + widths, values

    def draw_channel(self, index: int, count: int, until: float) -> tuple[FloatArray, ...]:
        """Times, measured, predicted and residual of one of so many channels, each (N,)."""
        times, measured, predicted = self.channels.look(until, index, count + index)
        return times, measured, predicted, measured - predicted
