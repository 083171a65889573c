"""Rows of the arm's equations without accelerations: both sides go through two low-pass filters.

With F_l = l/(s+l), F_d = d/(s+d) and tau = d/dt (P x) + R x (see `arm_regressor.py`),

    F_d F_l tau = [l F_d P + F_d F_l (R - l P)] x

because F_l d/dt = l (1 - F_l). P starts at its first value and all else at zero: the identity then holds from the first
sample, and again after a gap once started anew.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.alignment import Stretch
from inertid_ros.core.link_columns import LinkColumns
from inertid_ros.core.lowpass import LowPass
from inertid_ros.core.records import FloatArray

_ROW_RATE = 50.0


class FilteredLinkRows:
    """The filtered regressor (Liu et al., eq. 16) for efforts and base wrenches."""

    def __init__(self, columns: LinkColumns, cutoff: float, smoothing: float) -> None:
        """Set the two cutoffs [rad/s]."""
        self._columns = columns
        self._smoothed = LowPass(smoothing)
        self._first, self._second = LowPass(cutoff), LowPass(smoothing)
        self._is_new = True
        self._last_time = 0.0
        self.settling = 8.0 * (1.0 / cutoff + 1.0 / smoothing)
        self.repeats = max(1.0, _ROW_RATE * 2.0 * (cutoff + smoothing) / (cutoff * smoothing))
        self.used = columns.used

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._is_new = True

    def process(self, stretch: Stretch, readings: FloatArray, picked: list[int]) -> FloatArray:
        """Take samples without a gap and their readings (N, K); returns rows [A, y] (picked, K, U + 1)."""
        momentum, rest = self._columns.compute(stretch.positions, stretch.velocities)
        cutoff = self._first.cutoff
        moved = self._columns.momentum_part
        rest[:, moved] -= cutoff * momentum
        inputs = np.concatenate((rest, readings), axis=1)
        times = stretch.times
        if stretch.starts_anew or self._is_new:
            start = np.zeros(inputs.shape[1])
            start[moved] = -cutoff * momentum[0]
            self._smoothed.start(momentum[0], momentum[0])
            self._first.start(inputs[0], start)
            self._second.start(start, start)
            self._is_new, self._last_time = False, times.item(0)
        steps = np.diff(times, prepend=self._last_time)
        self._last_time = times.item(-1)
        smoothed = self._smoothed.filter(steps, momentum)
        twice = self._second.filter(steps, self._first.filter(steps, inputs))
        if not picked:
            return np.empty((0, *self._columns.row_shape))
        entries = twice[picked]
        entries[:, moved] += cutoff * smoothed[picked]
        return self._columns.assemble(entries)
