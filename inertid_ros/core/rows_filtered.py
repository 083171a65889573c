"""Rows without accelerations: both sides of the load's equation go through l/(s+l), then through d/(s+d).

With v, w the sensor's velocity in its own axes, g gravity there and ( )_l the first filter,

    a_l  = l [v - (v)_l] + (w x v - g)_l        dw_l = l [w - (w)_l]        (w w^T)_l

so that the derivative is never taken. (v)_l and (w)_l start at the first value and all else at zero: the identity then
holds from the first sample, and again after a gap once started anew.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.alignment import Stretch
from inertid_ros.core.lowpass import LowPass
from inertid_ros.core.motion_signals import ROW, ROW_SIGNALS, SIGNALS, MotionSignals, suppress_noise
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.robot import FramePath

_NO_ROWS = np.empty((0, ROW))


class FilteredRows:
    """The filtered regressor (Liu et al., eq. 16, for a load)."""

    def __init__(self, path: FramePath, gravity: FloatArray, cutoff: float, smoothing: float) -> None:
        """Set the two cutoffs [rad/s]."""
        self._signals = MotionSignals(path, gravity)
        self._first = LowPass(cutoff)
        self._second = LowPass(smoothing)
        self._lead = smoothing / cutoff
        self.noise_bandwidth = cutoff * smoothing / (2.0 * (cutoff + smoothing))
        self._density_gain = (cutoff * smoothing) ** 2 / (2.0 * (cutoff + smoothing))

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._signals.start_anew()

    def process(self, stretch: Stretch, picked: IntArray) -> tuple[FloatArray, FloatArray]:
        """Features of every sample and rows at the picked ones.

        Predictions need the acceleration now. After the first filter it is late by 1/l, after the second by 1/d more; the
        difference of the two, times d/l, makes good for the first.
        """
        signals, steps, started = self._signals.process(stretch)
        if started:
            before = np.zeros(SIGNALS)
            before[:6] = signals[0, :6]
            self._first.start(signals[0], before)
            self._second.start(np.zeros(ROW_SIGNALS), np.zeros(ROW_SIGNALS))
        smooth = self._first.filter(steps, signals)
        once = np.empty((len(signals), ROW_SIGNALS))
        np.subtract(signals[:, :6], smooth[:, :6], out=once[:, :6])
        once[:, :6] *= self._first.cutoff
        once[:, :3] += smooth[:, 6:9]
        once[:, 6:] = smooth[:, 9:]
        twice = self._second.filter(steps, once)
        features = np.empty((len(signals), 13))
        features[:, :6] = once[:, :6] + self._lead * (once[:, :6] - twice[:, :6])
        features[:, :3] += signals[:, 9:12]
        features[:, 6:] = signals[:, 12:19]
        if len(picked) == 0:
            return features, _NO_ROWS
        return features, suppress_noise(twice[picked], self._density_gain)
