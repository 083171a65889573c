"""Rows without accelerations: both sides of the load's equation go through l/(s+l), then through d/(s+d).

With v, w the sensor's velocity in its own axes, g gravity there and ( )_l the first filter,

    a_l  = l [v - (v)_l] + (w x v - g)_l        dw_l = l [w - (w)_l]        (w w^T)_l

so that the derivative is never taken. (v)_l and (w)_l start at the first value and all else at zero: the identity then
holds from the first sample, and again after a gap once started anew.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.load_regressor import FEATURES
from inertid_ros.core.input.synchroniser import Stretch
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import FramePath
from inertid_ros.core.rows.filter_cascade import FilterCascade
from inertid_ros.core.rows.motion_signals import RAW_SIGNALS, ROW_SIGNALS, SIGNALS, SUMS, MotionSignals
from inertid_ros.core.rows.noise_suppression import suppress_noise


class FilteredRows:
    """The filtered regressor (Liu et al., eq. 16, for a load)."""

    def __init__(self, path: FramePath, gravity: FloatArray, cutoff: float, smoothing: float) -> None:
        """Set the two cutoffs [rad/s]."""
        self._signals = MotionSignals(path, gravity)
        self._filters = FilterCascade(cutoff, smoothing, RAW_SIGNALS, 6)
        self._to_row = _map_to_row(cutoff)
        self.feature_map = _map_to_features(cutoff, smoothing)
        self.noise_bandwidth = cutoff * smoothing / (2.0 * (cutoff + smoothing))
        self._density_gain = (cutoff * smoothing) ** 2 / (2.0 * (cutoff + smoothing))

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._signals.start_anew()

    def process(self, stretch: Stretch, picked: list[int]) -> tuple[FloatArray, list[FloatArray]]:
        """Regressors of every sample (raw signals and what the filters make of them) and rows at the picked ones."""
        signals = self._filters.room(len(stretch.stamps))
        steps, started = self._signals.process(stretch, signals)
        if started:
            self._filters.start(signals[0])
        regressors = self._filters.filter(steps)
        rows = (
            [suppress_noise(row, self._density_gain) for row in regressors[picked].dot(self._to_row)] if picked else []
        )
        return regressors, rows


def _map_to_row(cutoff: float) -> FloatArray:
    """(140, 25) from u, y = u_l, t = u_ld and p = u_d to a row's signals, which have gone through both filters.

    The accelerations are a_ld + g_ld = l (v_d - v_ld) + (w x v)_ld and dw_ld = l (w_d - w_ld).
    """
    from_u, from_y, from_t, from_p = np.zeros((4, SIGNALS, ROW_SIGNALS))
    from_p[:6, :6] = cutoff * np.eye(6)
    from_t[:6, :6] = -cutoff * np.eye(6)
    from_t[6:9, :3] = np.eye(3)
    from_t[9:, 6:] = np.eye(SIGNALS - 9)
    return np.concatenate([SUMS @ part for part in (from_u, from_y, from_t, from_p)])


def _map_to_features(cutoff: float, smoothing: float) -> FloatArray:
    """(140, 13) from u, y = u_l, t = u_ld and p = u_d to the features that predict the wrench.

    Predictions need the acceleration now. After the first filter it is late by 1/l, after the second by 1/d more; the
    difference of the two, times d/l, makes good for the first. Everything else is taken as it is.
    """
    lead = smoothing / cutoff
    from_u, from_y, from_t, from_p = np.zeros((4, SIGNALS, FEATURES))
    velocity, turning = np.eye(6), np.eye(3, 6)
    from_u[:6, :6] = (1.0 + lead) * cutoff * velocity
    from_y[:6, :6] = -(1.0 + lead) * cutoff * velocity
    from_y[6:9, :6] = (1.0 + lead) * turning
    from_p[:6, :6] = -lead * cutoff * velocity
    from_t[:6, :6] = lead * cutoff * velocity
    from_t[6:9, :6] = -lead * turning
    from_u[9:15, 6:12] = np.eye(6)
    from_u[15:18, :3] = -np.eye(3)
    from_u[18, 12] = 1.0
    return np.concatenate([SUMS @ part for part in (from_u, from_y, from_t, from_p)])
