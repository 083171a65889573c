"""Rows of the arm's equations without accelerations: both sides go through two low-pass filters.

With F_l = l/(s+l), F_d = d/(s+d) and tau = d/dt (P x) + R x (see `arm_regressor.py`),

    F_d F_l tau = [l (F_d P - F_d F_l P) + F_d F_l R] x

because F_l d/dt = l (1 - F_l). P starts at its first value and all else at zero: the identity then holds from the first
sample, and again after a gap once started anew.

Predictions need d/dt P now. After the first filter, l (P - F_l P) is late by 1/l, after the second,
l (F_d P - F_d F_l P) by 1/d more; their difference times d/l makes good for the first. R is taken as it is.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.alignment import Stretch
from inertid_ros.core.filter_cascade import FilterCascade
from inertid_ros.core.link_columns import LinkColumns
from inertid_ros.core.lowpass import steps_between
from inertid_ros.core.records import FloatArray

_ROW_RATE = 50.0


class FilteredLinkRows:
    """The filtered regressor (Liu et al., eq. 16) for efforts and base wrenches."""

    def __init__(self, columns: LinkColumns, cutoff: float, smoothing: float) -> None:
        """Set the two cutoffs [rad/s]."""
        self._columns = columns
        self._cutoff, self._lead = cutoff, smoothing / cutoff
        moved = columns.momenta
        self._momenta, self._rest = slice(0, moved), slice(moved, moved + columns.entries)
        self._readings = slice(self._rest.stop, self._rest.stop + columns.row_shape[0])
        self._filters = FilterCascade(cutoff, smoothing, self._readings.stop, moved)
        self._is_new = True
        self._last_time = 0.0
        self._no_rows = np.empty((0, *columns.row_shape))
        self.settling = 8.0 * (1.0 / cutoff + 1.0 / smoothing)
        self.repeats = max(1.0, _ROW_RATE * (cutoff + smoothing) / (cutoff * smoothing))
        self.used = columns.used

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._is_new = True

    def process(self, stretch: Stretch, readings: FloatArray, picked: list[int]) -> tuple[FloatArray, FloatArray]:
        """Take samples without a gap and their readings (N, K).

        Returns:
            Features (N, F), signals and what the filters make of them, valid until the next call, and rows [A, y]
            (picked, K, U + 1).
        """
        starts_anew, _, times, positions, velocities, _ = stretch
        signals = self._filters.room(len(times))
        signals[:, self._readings] = readings
        self._columns.compute(positions, velocities, signals[:, self._momenta], signals[:, self._rest])
        if starts_anew or self._is_new:
            self._filters.start(signals[0])
            self._is_new, self._last_time = False, times.item(0)
        features = self._filters.filter(steps_between(times, self._last_time))
        self._last_time = times.item(-1)
        return features, self._make_rows(features[picked]) if picked else self._no_rows

    def _make_rows(self, features: FloatArray) -> FloatArray:
        filtered = features.reshape(len(features), 4, -1)
        entries = filtered[:, 2, self._rest.start :].copy()
        moved = self._momenta
        entries[:, : moved.stop] += self._cutoff * (filtered[:, 3, moved] - filtered[:, 2, moved])
        return self._columns.assemble(entries)

    def prediction_map(self, values: FloatArray) -> FloatArray:
        """Matrix (F, K) that makes predictions of features, for values (U,) of the unknowns."""
        result = np.zeros((4, self._readings.stop, self._columns.row_shape[0]))
        spread = self._columns.spread(values)
        result[0, self._rest] = spread
        momenta = self._cutoff * spread[self._momenta]
        result[:, self._momenta] = momenta * np.reshape(
            [1.0 + self._lead, -1.0 - self._lead, self._lead, -self._lead], (4, 1, 1)
        )
        return result.reshape(-1, result.shape[2])
