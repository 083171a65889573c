"""Online least squares of a load and the sensor's bias, which tells a new load from a contact.

Unknowns are [phi (10), bias (6)] in the driver's own sign. Phi is constant until the load changes, the bias wanders
slowly. Each row is compared with what is expected of it before it is believed:

- free: the row fits, and is folded in.
- disturbed: it does not. The filters are restarted, and rows go to three candidates: the load before this one (a
  gripper that has let go), another load with the same bias, and another bias with the same load. After 0.4 s the first
  that fits is taken; the last only if gravity has turned enough to tell. No load weighs less than nothing.
- contact: none fits. Candidates start again every 0.4 s. As soon as the old load explains the wrench again, all
  goes on as before: nothing was forgotten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg.lapack import dposv

from inertid_ros.core.equations.load_regressor import UNKNOWNS, attenuate, build_equations
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.load_trial import LOAD, PRIOR_BIAS, PRIOR_LOAD, LoadTrial
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings.settings import LoadSettings

Mode = Literal["free", "disturbed", "contact"]
EventKind = Literal["load_changed", "bias_changed", "contact_began", "contact_ended"]

_TRIAL = 20
_RECOVERY = 5
_LONGEST_INTERVAL = 0.15
_USUAL_INTERVAL = 0.02
_WANDER_EVERY = 1.0
_MISFIT_MEMORY = 400.0
_MISFIT_PRIOR = 20.0
_MISFIT_MOST = 1000.0
_REPEATS = 50.0
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
        self._configured_sign = {"on_load": 1.0, "on_sensor": -1.0}.get(settings.wrench_sign, 0.0)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.main = SquareRootInformation(np.concatenate((PRIOR_LOAD, PRIOR_BIAS)))
        self.unknowns: FloatArray = np.zeros(UNKNOWNS)
        self.mode: Mode = "free"
        self.misfit = 1.0
        self._pose = [0.0] * 13
        self._repeats = 0.0
        self._excess = 0.0
        self._weight = 0.0
        self._linear_noise, self._angular_noise = np.zeros((2, 6))
        self.rows = 0
        self._last_time = math.inf
        self._since_wander = 0.0
        self._trial: LoadTrial | None = None
        self._previous: SquareRootInformation | None = None
        self._since_change = 0.0
        self._mass_sign = self._configured_sign

    def process_row(self, time: float, row: FloatArray, density: FloatArray) -> tuple[bool, Event | None]:
        """Take one row (23,), with the noise density (6,) per hertz at this time.

        Returns:
            Whether the filters must start anew after this row, and what happened, if anything did.
        """
        interval = self._measure_interval(time)
        self._let_bias_wander(interval)
        values = row.tolist()
        left_out = _variance_left_out(values)
        variance = density * (self._count_repeats(values) / interval) + left_out
        deviations = np.sqrt(variance)
        whitened = build_equations(row[:19])
        whitened /= deviations[:, None]
        regressor = whitened[:, :UNKNOWNS]
        noise = (density * self._bandwidth + left_out) / variance
        innovation = whitened[:, UNKNOWNS] - regressor.dot(self.unknowns)
        distance, leverage, within = self._measure(regressor, innovation, noise)
        fits = within or self._is_small(innovation * deviations, values)
        if self._trial is None:
            if not fits:
                self._start_trial("disturbed")
                return True, None
            self._learn_misfit(distance / 6.0, leverage)
            self._fold_in(whitened)
            self._linear_noise += values[21] ** 2 / variance
            self._angular_noise += values[22] ** 2 / variance
            return False, None
        self._trial.take(whitened, noise * self.misfit, row, fits)
        return self._judge(time)

    def covariance(self) -> FloatArray:
        """Covariance (16, 16) of the unknowns, widened by the misfit and by what noise in the motion may have done.

        Noise in a regressor adds a diagonal N to the information that carries no knowledge, and pulls the estimate x
        towards zero by P N x (errors in variables). That much is added to the covariance as a square.
        """
        covariance = self.main.covariance()
        pulled = covariance.dot(attenuate(self._linear_noise, self._angular_noise) * self.unknowns)
        return np.asarray(self.misfit * covariance + np.outer(pulled, pulled))

    def _measure_interval(self, time: float) -> float:
        """Time [s] since the last row: that of a slot where there is none, or where time has started anew."""
        since, self._last_time = time - self._last_time, time
        return min(since, _LONGEST_INTERVAL) if since > 0.0 else _USUAL_INTERVAL

    def _count_repeats(self, values: list[float]) -> float:
        """How much less a row is worth than a new one: 1, and more the longer the sensor stands in one pose.

        What is wrong with a pose (friction of a cable, drift, the kinematic model) does not average out by waiting.
        """
        amplitude = max(values[12], 1e-3)
        for value, before in zip(values, self._pose, strict=False):
            if abs(value / amplitude - before) > _SAME_POSE:
                self._pose, self._repeats = [value / amplitude for value in values[:13]], 0.0
                break
        self._repeats += 1.0
        return 1.0 + self._repeats / _REPEATS

    def _let_bias_wander(self, interval: float) -> None:
        self._since_wander += interval
        self._since_change += interval
        if self._since_wander >= _WANDER_EVERY:
            self.main.diffuse_last(LOAD, self._wander * np.sqrt(self._since_wander))
            self._since_wander = 0.0

    def _measure(self, regressor: FloatArray, innovation: FloatArray, noise: FloatArray) -> tuple[float, float, bool]:
        """Compare an innovation with what estimate and noise allow.

        Returns:
            Its squared distance in standard deviations, the leverage of the row (between 0 and 6, how many unknowns'
            worth of information it brings), and whether it is within the gate. There the estimate is given more room
            than its covariance says: the first rows of a motion are learned from noisy accelerations, and the next ones
            must be able to correct them. Once the estimate has settled this makes no difference.
        """
        spread = self.main.spread(regressor)
        expected = spread.T.dot(spread)
        leverage = 0.0
        for gain in expected.diagonal().tolist():
            leverage += gain / (1.0 + gain)
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

    def _is_small(self, innovation: FloatArray, values: list[float]) -> bool:
        """Whether an innovation [N, Nm] is too small to be called a contact, given the noise of the accelerations."""
        noise = self._settings.gate * _size_of_load(values) * (values[21] + _PLAUSIBLE_ARM * values[22])
        force = self._settings.contact_force * values[12] + noise
        torque = self._settings.contact_torque * values[12] + noise * _PLAUSIBLE_ARM
        return bool(innovation[:3] @ innovation[:3] <= force**2 and innovation[3:] @ innovation[3:] <= torque**2)

    def _fold_in(self, whitened: FloatArray) -> None:
        self.main.fold_in(whitened)
        self.unknowns = self.main.solve()
        self.rows += 1

    def _start_trial(self, mode: Mode) -> None:
        self.mode = mode
        if self._mass_sign == 0.0 and abs(self.unknowns[0]) > max(0.05, 10.0 * math.sqrt(self.covariance()[0, 0])):
            self._mass_sign = math.copysign(1.0, self.unknowns[0])
        previous = None
        if self._previous is not None:
            previous = self._previous.copy()
            previous.diffuse_last(LOAD, self._wander * math.sqrt(self._since_change))
        self._trial = LoadTrial(self.main, previous)

    def _judge(self, time: float) -> tuple[bool, Event | None]:
        trial = self._trial
        assert trial is not None
        if trial.explained >= _RECOVERY:
            was_contact = self.mode == "contact"
            self._trial, self.mode = None, "free"
            return True, Event(time, "contact_ended", "the contact has ended") if was_contact else None
        if trial.rows < _TRIAL:
            return False, None
        if trial.previous is not None and trial.previous_fits():
            return False, self._accept_load(time, trial.previous)
        if trial.load_fits() and self._is_possible(trial.load):
            return False, self._accept_load(time, trial.load)
        if trial.bias_fits():
            self.main, self._trial, self.mode = trial.bias, None, "free"
            self.unknowns = self.main.solve()
            return False, Event(time, "bias_changed", "the sensor's bias has changed: it was tared, or it drifts")
        began = self.mode != "contact"
        self._start_trial("contact")
        return True, Event(time, "contact_began", "a contact: the wrench is no rigid load's") if began else None

    def _is_possible(self, candidate: SquareRootInformation) -> bool:
        """Whether a candidate's mass is not beyond doubt below zero: that would be a push against gravity."""
        mass = self._mass_sign * float(candidate.solve()[0])
        return mass > -max(0.05, 5.0 * math.sqrt(self.misfit * float(candidate.covariance()[0, 0])))

    def _accept_load(self, time: float, candidate: SquareRootInformation) -> Event:
        before = abs(self.unknowns[0])
        self._previous, self._since_change = self.main, 0.0
        self.main, self._trial, self.mode = candidate, None, "free"
        self._linear_noise, self._angular_noise = np.zeros((2, 6))
        self.unknowns = self.main.solve()
        return Event(
            time, "load_changed", f"the load has changed: {before:.3f} kg before, {abs(self.unknowns[0]):.3f} kg now"
        )


def _squared_distance(spread: FloatArray, noise: FloatArray, innovation: FloatArray) -> float:
    """Square of an innovation (6,) in standard deviations, for a covariance (6, 6) plus independent noise (6,)."""
    expected = spread.copy()
    expected.ravel()[::7] += noise
    _, solved, _ = dposv(expected, innovation)
    return float(innovation.dot(solved))


def _size_of_load(values: list[float]) -> float:
    """A mass [kg] that the force of a row would weigh, at least 0.1."""
    return max(math.hypot(*values[13:16]) / (9.8 * max(values[12], 1e-3)), 0.1)


def _variance_left_out(values: list[float]) -> FloatArray:
    """Variance (6,) of a row's wrench for accelerations that were left out of it, for a load of a plausible size."""
    force = _size_of_load(values) ** 2 * (values[19] ** 2 + (_PLAUSIBLE_ARM * values[20]) ** 2)
    torque = force * _PLAUSIBLE_ARM**2
    return np.array([force, force, force, torque, torque, torque])
