"""Rows of the arm's equations with accelerations: joint states low-passed and differentiated, readings low-passed.

Positions and velocities go twice through p/(s+p); the acceleration is p (v_1 - v_2), the derivative of v_2. The
readings go through the same two filters.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.alignment import Stretch
from inertid_ros.core.link_columns import LinkColumns
from inertid_ros.core.lowpass import LowPass
from inertid_ros.core.records import FloatArray

_ROW_RATE = 50.0


class DifferentiatedLinkRows:
    """The regressor of the 1986 paper, with differentiated joint angles."""

    def __init__(self, columns: LinkColumns, cutoff: float) -> None:
        """Set the cutoff of both filters [rad/s]."""
        self._columns = columns
        self._first, self._second = LowPass(cutoff), LowPass(cutoff)
        self._last_time = 0.0
        self._is_new = True
        self.settling = 16.0 / cutoff
        self.repeats = max(1.0, _ROW_RATE * 4.0 / cutoff)
        self.used = columns.used

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._is_new = True

    def process(self, stretch: Stretch, readings: FloatArray, picked: list[int]) -> FloatArray:
        """Take samples without a gap and their readings (N, K); returns rows [A, y] (picked, K, U + 1)."""
        n = stretch.positions.shape[1]
        signals = np.concatenate((stretch.positions, stretch.velocities, readings), axis=1)
        times = stretch.times
        if stretch.starts_anew or self._is_new:
            self._first.start(signals[0], signals[0])
            self._second.start(signals[0], signals[0])
            self._is_new, self._last_time = False, times.item(0)
        steps = np.diff(times, prepend=self._last_time)
        self._last_time = times.item(-1)
        once = self._first.filter(steps, signals)
        twice = self._second.filter(steps, once)
        if not picked:
            return np.empty((0, *self._columns.row_shape))
        once, twice = once[picked], twice[picked]
        accelerations = self._second.cutoff * (once[:, n : 2 * n] - twice[:, n : 2 * n])
        entries = self._columns.compute_with_accelerations(twice[:, :n], twice[:, n : 2 * n], accelerations)
        return self._columns.assemble(np.concatenate((entries, twice[:, 2 * n :]), axis=1))
