"""Rows of the arm's equations with accelerations: joint states low-passed and differentiated, readings low-passed.

Positions and velocities go twice through p/(s+p); the acceleration is p (v_1 - v_2), the derivative of v_2. The
readings go through the same two filters.

Predictions take positions and velocities as they are, and the acceleration p (3 v_1 - 5 v_2 + 2 v_3), v_3 after one
more filter, in which the delay of two is made good.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.link_columns import LinkColumns
from inertid_ros.core.input.synchroniser import Stretch
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rows.lowpass import LowPass, steps_between

_ROW_RATE = 50.0


class DifferentiatedLinkRows:
    """The regressor of the 1986 paper, with differentiated joint angles."""

    def __init__(self, columns: LinkColumns, cutoff: float) -> None:
        """Set the cutoff of both filters [rad/s]."""
        self._columns = columns
        self._first, self._second, self._third = LowPass(cutoff), LowPass(cutoff), LowPass(cutoff)
        self._map: FloatArray = np.empty((0, 0))
        self._motion: tuple[FloatArray, FloatArray, FloatArray] = (np.empty(0),) * 3
        self._last_time = 0.0
        self._is_new = True
        self.settling = 16.0 / cutoff
        self.repeats = max(1.0, _ROW_RATE * 4.0 / cutoff)
        self.used = columns.used
        self.drives = columns.drives
        self.judged: FloatArray = np.empty((0, *columns.row_shape))

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._is_new = True

    def process(self, stretch: Stretch, readings: FloatArray, picked: list[int]) -> FloatArray:
        """Take samples without a gap and their readings (N, K); returns rows [A, y] (picked, K, U + 1)."""
        n = stretch.positions.shape[1]
        signals = np.concatenate((stretch.positions, stretch.velocities, readings), axis=1)
        times, rates, cutoff = stretch.times, slice(n, 2 * n), self._first.cutoff
        if stretch.starts_anew or self._is_new:
            self._first.start(signals[0], signals[0])
            self._second.start(signals[0], signals[0])
            self._third.start(signals[0, rates], signals[0, rates])
            self._is_new, self._last_time = False, times.item(0)
        steps = steps_between(times, self._last_time)
        self._last_time = times.item(-1)
        once = self._first.filter(steps, signals)
        twice = self._second.filter(steps, once)
        thrice = self._third.filter(steps, twice[:, rates])
        now = cutoff * (3.0 * once[:, rates] - 5.0 * twice[:, rates] + 2.0 * thrice)
        self._motion = stretch.positions, stretch.velocities, now
        if not picked:
            self.judged = np.empty((0, *self._columns.row_shape))
            return self.judged
        accelerations = cutoff * (once[picked, rates] - twice[picked, rates])
        smooth = twice[picked]
        entries = self._columns.compute_with_accelerations(smooth[:, :n], smooth[:, rates], accelerations)
        self.judged = self._columns.assemble(np.concatenate((entries, smooth[:, 2 * n :]), axis=1))
        return self.judged

    def set_values(self, values: FloatArray) -> None:
        """Predict with these values (U,) of the unknowns from now on."""
        self._map = self._columns.spread(values)

    def predict(self, start: int, stop: int) -> FloatArray:
        """Readings (stop - start, K) of some samples of the last stretch."""
        positions, velocities, accelerations = (part[start:stop] for part in self._motion)
        return np.asarray(self._columns.compute_with_accelerations(positions, velocities, accelerations) @ self._map)
