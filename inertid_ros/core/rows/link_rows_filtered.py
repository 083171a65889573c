"""Rows of the arm's equations without accelerations: both sides go through two low-pass filters.

With F_l = l/(s+l), F_d = d/(s+d) and tau = d/dt (P x) + R x (see `arm_regressor.py`),

    F_d F_l tau = [l (F_d P - F_d F_l P) + F_d F_l R] x

because F_l d/dt = l (1 - F_l). P starts at its first value and all else at zero: the identity then holds from the first
sample, and again after a gap once started anew.

Predictions need d/dt P x now. After the faster filter, a = d (P - F_d P) x is late by 1/d. It goes through two more,
F_q with q = l + 2 d; with b = F_q a and c = F_q b, b + (1 + q/d) (b - c) makes good for the delay of both, and lets far
less noise of the velocities through than a does. R is taken as it is.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.link_columns import LinkColumns
from inertid_ros.core.input.synchroniser import Stretch
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rows.filter_cascade import FilterCascade
from inertid_ros.core.rows.lowpass import steps_between

_ROW_RATE = 50.0


class FilteredLinkRows:
    """The filtered regressor (Liu et al., eq. 16) for efforts and base wrenches."""

    def __init__(self, columns: LinkColumns, cutoff: float, smoothing: float) -> None:
        """Set the two cutoffs [rad/s]."""
        self._columns = columns
        self._cutoff, self._smoothing = cutoff, smoothing
        prediction = cutoff + 2.0 * smoothing
        self._lead = 1.0 + prediction / smoothing
        self._smooth = FilterCascade(prediction, prediction, columns.row_shape[0], 0)
        moved = columns.momenta
        self._momenta, self._rest = slice(0, moved), slice(moved, moved + columns.entries)
        self._readings = slice(self._rest.stop, self._rest.stop + columns.row_shape[0])
        self._filters = FilterCascade(cutoff, smoothing, self._readings.stop, moved)
        self._is_new = True
        self._last_time = 0.0
        self._no_rows = np.empty((0, *columns.row_shape))
        self.judged: FloatArray = self._no_rows
        self._signals: FloatArray = np.empty((0, 0))
        self._features: FloatArray = np.empty((0, 0))
        self._steps: FloatArray = np.empty(0)
        self._map: FloatArray = np.empty((0, 0))
        self.settling = 8.0 * (1.0 / cutoff + 1.0 / smoothing)
        self.repeats = max(1.0, _ROW_RATE * 2.0 * (cutoff + smoothing) / (cutoff * smoothing))
        self.used = columns.used
        self.drives = columns.drives

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._is_new = True

    def process(self, stretch: Stretch, readings: FloatArray, picked: list[int]) -> FloatArray:
        """Take samples without a gap and their readings (N, K); returns rows [A, y] (picked, K, U + 1)."""
        starts_anew, _, times, positions, velocities, _ = stretch
        signals = self._filters.room(len(times))
        signals[:, self._readings] = readings
        if signals is not self._signals:
            self._signals = signals
            self._columns.lay_out(signals[:, self._momenta], signals[:, self._rest])
        self._columns.compute(positions, velocities)
        if starts_anew or self._is_new:
            self._filters.start(signals[0])
            self._smooth.start(np.zeros(self._columns.row_shape[0]))
            self._is_new, self._last_time = False, times.item(0)
        self._steps = steps_between(times, self._last_time)
        self._features = self._filters.filter(self._steps)
        self._last_time = times.item(-1)
        self.judged = self._make_rows(self._features[picked]) if picked else self._no_rows
        return self.judged

    def _make_rows(self, features: FloatArray) -> FloatArray:
        filtered = features.reshape(len(features), 4, -1)
        entries = filtered[:, 2, self._rest.start :].copy()
        moved = self._momenta
        entries[:, : moved.stop] += self._cutoff * (filtered[:, 3, moved] - filtered[:, 2, moved])
        return self._columns.assemble(entries)

    def set_values(self, values: FloatArray) -> None:
        """Predict with these values (U,) of the unknowns from now on."""
        channels = self._columns.row_shape[0]
        result = np.zeros((4, self._readings.stop, 2 * channels))
        spread = self._columns.spread(values)
        result[0, self._rest, :channels] = spread
        momenta = self._smoothing * spread[self._momenta]
        result[0, self._momenta, channels:] = momenta
        result[3, self._momenta, channels:] = -momenta
        self._map = result.reshape(-1, 2 * channels)

    def predict(self, start: int, stop: int) -> FloatArray:
        """Readings (stop - start, K) of some samples of the last stretch; all of them must be asked for, in order."""
        both = self._features[start:stop].dot(self._map)
        channels = self._columns.row_shape[0]
        self._smooth.room(stop - start)[...] = both[:, channels:]
        smoothed = self._smooth.filter(self._steps[start:stop])
        late, later = smoothed[:, channels : 2 * channels], smoothed[:, 2 * channels : 3 * channels]
        now = late - later
        now *= self._lead
        now += late
        now += both[:, :channels]
        return now
