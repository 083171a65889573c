"""Online least squares of a load and the sensor's bias, which tells a new load from a contact.

Unknowns are [phi (10), bias (6)] in the driver's own sign. Phi is constant until the load changes, the bias wanders
slowly. Each row is compared with what is expected of it before it is believed:

- free: the row fits, and is folded in.
- disturbed: it does not. The filters are restarted, and rows go to two candidates: another load with the same bias, and
  another bias with the same load. After 0.4 s the load is changed if the first fits, the bias if only the second does
  and gravity has turned enough to tell.
- contact: neither fits. Candidates start again every 0.4 s. As soon as the old load explains the wrench again, all goes on
  as before: nothing was forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg.lapack import dposv

from inertid_ros.core.information import SquareRootInformation
from inertid_ros.core.load_regressor import UNKNOWNS, build_regressor
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings import LoadSettings

Mode = Literal["free", "disturbed", "contact"]
EventKind = Literal["load_changed", "bias_changed", "contact_began", "contact_ended"]

LOAD = 10
PRIOR_LOAD = np.array([100.0] + [30.0] * 3 + [10.0] * 6)
"""Standard deviations [kg, kg m, kg m^2] of a load of which nothing is known."""

PRIOR_BIAS = np.array([1000.0] * 3 + [100.0] * 3)
"""Standard deviations [N, Nm] of a bias of which nothing is known."""

_TRIAL = 20
_RECOVERY = 5
_FIT = 6.0
_TURN = 2.0
_LONGEST_INTERVAL = 0.15
_WANDER_EVERY = 1.0
_MISFIT_MEMORY = 400.0
_MISFIT_PRIOR = 20.0
_MISFIT_MOST = 1000.0
_REPEATS = 50.0
_DIAGONAL = (np.arange(6), np.arange(6))
_PLAUSIBLE_ARM = 0.15
_ROOM = 25.0
_SAME_POSE = 0.02


@dataclass(frozen=True, slots=True)
class Event:
    """Something happened to the load.

    Attributes:
        time: seconds since the chain's origin.
        kind: what.
        message: the same in words.
    """

    time: float
    kind: EventKind
    message: str


class LoadEstimator:
    """Takes rows at most once per slot and keeps estimate, mode and candidates."""

    def __init__(self, settings: LoadSettings, noise_bandwidth: float) -> None:
        """Start with nothing known; `noise_bandwidth` [Hz] is the row's variance for white noise of density one."""
        self._settings = settings
        self._bandwidth = noise_bandwidth
        self._wander = np.repeat([settings.bias_drift_force, settings.bias_drift_torque], 3)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.main = SquareRootInformation(np.concatenate((PRIOR_LOAD, PRIOR_BIAS)))
        self.unknowns = np.zeros(UNKNOWNS)
        self.mode: Mode = "free"
        self.misfit = 1.0
        self._pose = np.zeros(13)
        self._repeats = 0.0
        self._excess = 0.0
        self._weight = 0.0
        self.rows = 0
        self._last_time: float | None = None
        self._since_wander = 0.0
        self._trial: _Trial | None = None

    def process_row(self, time: float, row: FloatArray, density: FloatArray) -> tuple[bool, Event | None]:
        """Take one row (23,), with the noise density (6,) per hertz at this time.

        Returns:
            Whether the filters must start anew after this row, and what happened, if anything did.
        """
        interval = 0.02 if self._last_time is None else min(time - self._last_time, _LONGEST_INTERVAL)
        self._last_time = time
        self._let_bias_wander(interval)
        left_out = _variance_left_out(row)
        variance = density * (self._count_repeats(row) / interval) + left_out
        deviations = np.sqrt(variance)
        whitened = np.empty((6, UNKNOWNS + 1))
        whitened[:, :UNKNOWNS] = build_regressor(row[:13])
        whitened[:, UNKNOWNS] = row[13:19]
        whitened /= deviations[:, None]
        noise = (density * self._bandwidth + left_out) / variance
        innovation = whitened[:, UNKNOWNS] - whitened[:, :UNKNOWNS] @ self.unknowns
        distance, leverage, within = self._measure(whitened, innovation, noise)
        fits = within or self._is_small(innovation * deviations, row)
        if self._trial is None:
            if not fits:
                self._start_trial("disturbed")
                return True, None
            self._learn_misfit(distance / 6.0, leverage)
            self._fold_in(whitened)
            return False, None
        self._trial.take(whitened, noise * self.misfit, row, fits)
        return self._judge(time)

    def _count_repeats(self, row: FloatArray) -> float:
        """How much less a row is worth than a new one: 1, and more the longer the sensor stands in one pose.

        What is wrong with a pose (friction of a cable, drift, the kinematic model) does not average out by waiting.
        """
        pose = row[:13] / max(row[12], 1e-3)
        if np.abs(pose - self._pose).max() > _SAME_POSE:
            self._pose, self._repeats = pose, 0.0
        self._repeats += 1.0
        return 1.0 + self._repeats / _REPEATS

    def _let_bias_wander(self, interval: float) -> None:
        self._since_wander += interval
        if self._since_wander >= _WANDER_EVERY:
            self.main.diffuse_last(LOAD, self._wander * np.sqrt(self._since_wander))
            self._since_wander = 0.0

    def _measure(self, whitened: FloatArray, innovation: FloatArray, noise: FloatArray) -> tuple[float, float, bool]:
        """Compare an innovation with what estimate and noise allow.

        Returns:
            Its squared distance in standard deviations, the leverage of the row (between 0 and 6, how many unknowns' worth of
            information it brings), and whether it is within the gate. There the estimate is given more room than its
            covariance says: the first rows of a motion are learned from noisy accelerations, and the next ones must be able
            to correct them. Once the estimate has settled this makes no difference.
        """
        spread = self.main.spread(whitened[:, :UNKNOWNS])
        expected = spread.T @ spread
        gains = expected.diagonal()
        leverage = float((gains / (1.0 + gains)).sum())
        distance = _squared_distance(expected, noise, innovation)
        gate = self._settings.gate**2 * self.misfit
        within = distance <= gate or _squared_distance(_ROOM * expected, noise, innovation) <= gate
        return distance, leverage, within

    def _learn_misfit(self, ratio: float, leverage: float) -> None:
        """Average the innovations' variance over what noise explains, each row weighted by what is learned from it."""
        if self._weight > _MISFIT_MEMORY:
            self._excess *= 0.5
            self._weight *= 0.5
        self._weight += leverage
        self._excess += leverage * (min(ratio, _MISFIT_MOST) - 1.0)
        self.misfit = 1.0 + max(0.0, self._excess) / (self._weight + _MISFIT_PRIOR)

    def _is_small(self, innovation: FloatArray, row: FloatArray) -> bool:
        """Whether an innovation [N, Nm] is too small to be called a contact, given the noise of the accelerations."""
        noise = self._settings.gate * _size_of_load(row) * (row[21] + _PLAUSIBLE_ARM * row[22])
        force = self._settings.contact_force * row[12] + noise
        torque = self._settings.contact_torque * row[12] + noise * _PLAUSIBLE_ARM
        return bool(innovation[:3] @ innovation[:3] <= force**2 and innovation[3:] @ innovation[3:] <= torque**2)

    def _fold_in(self, whitened: FloatArray) -> None:
        self.main.fold_in(whitened)
        self.unknowns = self.main.solve()
        self.rows += 1

    def _start_trial(self, mode: Mode) -> None:
        self.mode = mode
        self._trial = _Trial(self.main)

    def _judge(self, time: float) -> tuple[bool, Event | None]:
        trial = self._trial
        assert trial is not None
        if trial.explained >= _RECOVERY:
            was_contact = self.mode == "contact"
            self._trial, self.mode = None, "free"
            return True, Event(time, "contact_ended", "the contact has ended") if was_contact else None
        if trial.rows < _TRIAL:
            return False, None
        if trial.load_fits():
            return False, self._accept_load(time, trial)
        if trial.bias_fits():
            self.main, self._trial, self.mode = trial.bias, None, "free"
            self.unknowns = self.main.solve()
            return False, Event(time, "bias_changed", "the sensor's bias has changed: it was tared, or it drifts")
        began = self.mode != "contact"
        self._start_trial("contact")
        return True, Event(time, "contact_began", "a contact: the wrench is no rigid load's") if began else None

    def _accept_load(self, time: float, trial: _Trial) -> Event:
        before = abs(self.unknowns[0])
        self.main, self._trial, self.mode = trial.load, None, "free"
        self.unknowns = self.main.solve()
        return Event(time, "load_changed", f"the load has changed: {before:.3f} kg before, {abs(self.unknowns[0]):.3f} kg now")


def _squared_distance(spread: FloatArray, noise: FloatArray, innovation: FloatArray) -> float:
    expected = spread.copy()
    expected[_DIAGONAL] += noise
    _, solved, _ = dposv(expected, innovation)
    return float(innovation @ solved)


def _size_of_load(row: FloatArray) -> float:
    """A mass [kg] that the force of a row would weigh, at least 0.1."""
    return max(float(np.sqrt(row[13:16] @ row[13:16])) / (9.8 * max(row[12], 1e-3)), 0.1)


def _variance_left_out(row: FloatArray) -> FloatArray:
    """Variance (6,) of a row's wrench for accelerations that were left out of it, for a load of a plausible size."""
    force = _size_of_load(row) ** 2 * (row[19] ** 2 + (_PLAUSIBLE_ARM * row[20]) ** 2)
    return np.repeat([force, force * _PLAUSIBLE_ARM**2], 3)


class _Trial:
    """Rows since something did not fit, explained by another load or by another bias."""

    def __init__(self, main: SquareRootInformation) -> None:
        self.load = main.copy()
        self.load.forget_first(LOAD, PRIOR_LOAD)
        self.bias = main.copy()
        self.bias.forget_last(LOAD, PRIOR_BIAS)
        self._load_before = self.load.squares_left
        self._bias_before = self.bias.squares_left
        self.rows = 0
        self.explained = 0
        self._expected = 0.0
        self._direction: FloatArray | None = None
        self._turned = 0.0

    def take(self, whitened: FloatArray, noise: FloatArray, row: FloatArray, fits_main: bool) -> None:
        """Fold a row into both candidates."""
        self.load.fold_in(whitened)
        self.bias.fold_in(whitened)
        self.rows += 1
        self._expected += float(noise.sum())
        if row[12] > 0.5:
            self.explained = self.explained + 1 if fits_main else 0
            direction = row[:3] / row[12]
            if self._direction is None:
                self._direction = direction
            self._turned = max(self._turned, float(np.linalg.norm(direction - self._direction)))

    def load_fits(self) -> bool:
        """Whether a rigid load explains the rows."""
        return self.load.squares_left - self._load_before <= _FIT * self._expected

    def bias_fits(self) -> bool:
        """Whether another bias explains the rows, and gravity has turned enough to tell it from a load or a push."""
        return self._turned > _TURN and self.bias.squares_left - self._bias_before <= _FIT * self._expected
