"""Rows integrated over a window, eq. 25-27 of the 1986 paper: velocities at its ends stand for accelerations inside.

    int a dt = v|  + int (w x v - g) dt        int dw dt = w|        int w w^T dt

divided by the window's length, so that a row is in newtons like those of the other methods.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from inertid_ros.core.equations.load_regressor import FEATURES
from inertid_ros.core.input.synchroniser import Stretch
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import FramePath
from inertid_ros.core.rows.lowpass import LowPass
from inertid_ros.core.rows.motion_signals import RAW_SIGNALS, ROW_SIGNALS, SIGNALS, SUMS, MotionSignals
from inertid_ros.core.rows.noise_suppression import suppress_noise


class IntegralRows:
    """The paper's integral form with a sliding window."""

    def __init__(self, path: FramePath, gravity: FloatArray, window: float, prediction_cutoff: float) -> None:
        """Set the window [s], and the cutoff [rad/s] of the accelerations that predictions use."""
        self._signals = MotionSignals(path, gravity)
        self._window = window
        self._velocity_filter = LowPass(prediction_cutoff)
        self._acceleration_filter = LowPass(prediction_cutoff)
        self._last_signals = np.zeros(SIGNALS)
        self._sums = np.zeros(SIGNALS - 6)
        self._past: deque[tuple[float, FloatArray, FloatArray]] = deque()
        self.noise_bandwidth = 1.0 / window
        self.feature_map: FloatArray = np.eye(FEATURES)

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._signals.start_anew()

    def process(self, stretch: Stretch, picked: list[int]) -> tuple[FloatArray, list[FloatArray]]:
        """Features of every sample and rows at the picked ones."""
        raw = np.empty((len(stretch.stamps), RAW_SIGNALS))
        steps, started = self._signals.process(stretch, raw)
        signals = raw.dot(SUMS)
        if started:
            self._last_signals = signals[0]
            self._velocity_filter.start(signals[0, :6], signals[0, :6])
            self._acceleration_filter.start(np.zeros(6), np.zeros(6))
            self._sums = np.zeros(SIGNALS - 6)
            self._past = deque([(stretch.times.item(0), self._sums, self._last_signals[:6])])
        features = np.empty((len(signals), FEATURES))
        late = self._velocity_filter.cutoff * (signals[:, :6] - self._velocity_filter.filter(steps, signals[:, :6]))
        features[:, :6] = 2.0 * late - self._acceleration_filter.filter(steps, late)
        features[:, :3] += signals[:, 6:9] - signals[:, 15:18]
        features[:, 6:12] = signals[:, 9:15]
        features[:, 12] = signals[:, 18]
        before = np.concatenate((self._last_signals[None], signals[:-1]))
        areas = (0.5 * steps)[:, None] * (signals[:, 6:] + before[:, 6:])
        integrals = self._sums + np.cumsum(areas, axis=0)
        window_ends = 2.0 / self._window**2
        rows = [
            suppress_noise(self._row(stretch.times.item(i), integrals[i], signals[i, :6]), 0.0, window_ends)
            for i in picked
        ]
        self._last_signals = signals[-1]
        self._sums = integrals[-1]
        return features, rows

    def _row(self, time: float, integral: FloatArray, twist: FloatArray) -> FloatArray:
        """The row whose window ends here; a window that is not yet full gives a proportionally smaller row."""
        self._past.append((time, integral, twist))
        while len(self._past) > 2 and self._past[1][0] <= time - self._window:
            self._past.popleft()
        _, earlier_integral, earlier_twist = self._past[0]
        row = np.empty(ROW_SIGNALS)
        row[:6] = twist - earlier_twist
        row[6:] = integral[3:] - earlier_integral[3:]
        row[:3] += integral[:3] - earlier_integral[:3]
        row /= self._window
        return row
