"""Learning by practice: the feedforward command of the next trial from the errors of the last (thesis, chapter 6).

The first command is that of the inverse model (eq. 6.1). A trial ran with the command u_ff, to which feedback added;
its error is estimated by the inverse model from what was done and what was meant, and taken off what was commanded:

    du = R⁻¹(x) - R⁻¹(x_d)    (6.7),        u_ff' = u - du    (6.11)

Both sides of 6.7 go through the same low-pass F, and so does the feedback's part of u; what was fed forward is known
without noise and stays as it is. Accelerations are needed nowhere: with p = M(q) v and r what else the efforts are made
of, F R⁻¹(x) = d/dt F p + F r. F runs forwards and backwards, so that it delays nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.signal import butter, sosfiltfilt

from inertid_ros.control.inverse_model import Inverse
from inertid_ros.core.errors import RecordingError
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import JointPath, Motion

CUTOFF = 8.0
"""Frequency [Hz] of the low-pass, as in the thesis (6.4): above what the arm's feedback lets through, below the noise
of differentiated tachometers."""
RATE = 1000.0
"""Samples per second of a trial, as it is learned from: far above the cutoff."""
MARGIN = 0.3
"""Seconds of standstill before and after the motion that are used, if they were recorded: twice the filter's memory."""
_BEGIN = 0.05
"""Seconds at the begin of the motion over which feedback is averaged: less than the filter can follow."""
AT_NOISE = 1.5
"""Error, in units of the noise, at which practice has done all it can: the rest of what repeats is the smaller part."""
NO_BETTER = 0.7
"""Error, as a part of that of the trial before, above which practice did not do what the model had promised: a model
right within a third takes away more."""


class LearningModel(Inverse, Protocol):
    """An inverse model that can be filtered without accelerations."""

    def momentum(self, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        """Generalised momenta (N, n)."""

    def remainder(self, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        """What the efforts are besides the rate of change of the momenta, (N, n)."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One execution, at N even times [s] from the start of the motion, negative before it.

    Attributes:
        times: (N,).
        positions, velocities, efforts: (N, n) as measured; efforts are what the motors were told.
        feedforward: (N, n) the part of the efforts that was known beforehand.
    """

    times: FloatArray
    positions: FloatArray
    velocities: FloatArray
    efforts: FloatArray
    feedforward: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Practice:
    """What a trial teaches.

    Attributes:
        trial: the trial.
        desired: the motion that was meant, at the trial's times.
        command_error: (N, n) du, filtered.
        command: (N, n) to feed forward next time.
        velocity_error: (n,) rms over the motion of velocities less desired ones, as measured.
        position_error: (n,) largest distance from the desired positions.
        repeated: (n,) rms of the velocity error below the cutoff, without noise that is there by chance.
        noise: (n,) rms of the velocity error that noise explains: what is left above the cutoff, over all frequencies.
    """

    trial: Trial
    desired: JointPath
    command_error: FloatArray
    command: FloatArray
    velocity_error: FloatArray
    position_error: FloatArray
    repeated: FloatArray
    noise: FloatArray


def resample_trial(
    times: FloatArray,
    measured: Sequence[FloatArray],
    motion: Motion,
    command_times: FloatArray,
    command: FloatArray,
) -> Trial:
    """Put a recording on even times, from before the motion to after it.

    What was fed forward before the motion is not known: feedback is taken to have done then what it does at its begin.

    Args:
        times: (M,) of the recording [s], rising, 0 where the motion began.
        measured: positions, velocities and efforts, (M, n) each.
        motion: what was meant.
        command_times: (K,) from the begin of the motion [s].
        command: (K, n) what was fed forward then.

    Raises:
        RecordingError: if the recording does not hold the whole motion.
    """
    first, last = max(times[0], -MARGIN), min(times[-1], motion.duration + MARGIN)
    if first > 0.0 or last < motion.duration:
        raise RecordingError(
            f"the recording has {times[0]:.2f} to {times[-1]:.2f} s of a motion from 0 to {motion.duration:.2f} s: "
            "begin to record before the motion, and end after it"
        )
    even = np.arange(np.ceil(first * RATE), np.floor(last * RATE) + 1.0) / RATE

    def at(grid: FloatArray, values: FloatArray) -> FloatArray:
        return np.column_stack([np.interp(even, grid, column) for column in values.T])

    positions, velocities, efforts = (at(times, part) for part in measured)
    forward = at(command_times, command)
    begin = (even >= 0.0) & (even < _BEGIN)
    forward[even < 0.0] = efforts[even < 0.0] - (efforts - forward)[begin].mean(axis=0)
    return Trial(even, positions, velocities, efforts, forward)


def learn(model: LearningModel, motion: Motion, trial: Trial) -> Practice:
    """Estimate the error of the command, and correct the command."""
    desired = motion.at(trial.times)
    done = _filter_inverse(model, trial.positions, trial.velocities)
    error = done - _filter_inverse(model, desired.positions, desired.velocities)
    command = trial.feedforward + low_pass(trial.efforts - trial.feedforward) - error
    deviation = trial.velocities - desired.velocities
    inside = (trial.times >= 0.0) & (trial.times <= motion.duration)
    smooth = low_pass(deviation)
    left, share = _rms((deviation - smooth)[inside]), find_share()
    noise = left / np.sqrt(1.0 - share)
    repeated = np.sqrt(np.maximum(_rms(smooth[inside]) ** 2 - share * noise**2, 0.0))
    away = np.abs(trial.positions - desired.positions)[inside].max(axis=0)
    return Practice(trial, desired, error, command, _rms(deviation[inside]), away, repeated, noise)


def judge(practices: list[Practice]) -> tuple[str, str]:
    """Whether to go on, from trials one after the other: `learned`, `practise` or `stuck`, and why, in words.

    A model that is right takes away all errors that repeat in one trial (6.12). What a trial has left of them is
    therefore what the model is wrong by: predicted is the noise, achieved the error.
    """
    last = practices[-1]
    size = float(np.linalg.norm(last.velocity_error) / np.linalg.norm(last.noise))
    if size <= AT_NOISE:
        return "learned", f"the velocity error is {size:.2f} times the noise: more practice cannot improve it"
    if len(practices) < 2:
        return "practise", f"the velocity error is {size:.1f} times the noise: practise"
    before = practices[-2]
    promised = float(np.linalg.norm(last.noise) / np.linalg.norm(before.velocity_error))
    achieved = float(np.linalg.norm(last.velocity_error) / np.linalg.norm(before.velocity_error))
    told = f"a right model would have left {100 * promised:.0f} % of the error before, {100 * achieved:.0f} % are left"
    if achieved > NO_BETTER:
        return "stuck", f"practice does not help: {told}; the model is wrong, identify the arm and begin again"
    return "practise", f"the velocity error is {size:.1f} times the noise, and {told}: practise"


def low_pass(values: FloatArray) -> FloatArray:
    """F: (N, n) without what is above the cutoff, and without delay."""
    padding = min(len(values) - 1, int(RATE / CUTOFF))
    return np.asarray(sosfiltfilt(_SECTIONS, values, axis=0, padtype="odd", padlen=padding))


def find_share() -> float:
    """Part of the variance of white noise that the low-pass lets through."""
    impulse = np.zeros((int(RATE), 1))
    impulse[len(impulse) // 2] = 1.0
    return float(np.square(low_pass(impulse)).sum())


def _filter_inverse(model: LearningModel, positions: FloatArray, velocities: FloatArray) -> FloatArray:
    """F R⁻¹(x) = d/dt F p + F r, (N, n)."""
    momentum = low_pass(model.momentum(positions, velocities))
    return np.asarray(np.gradient(momentum, 1.0 / RATE, axis=0)) + low_pass(model.remainder(positions, velocities))


def _rms(values: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.mean(np.square(values), axis=0)))


_SECTIONS = butter(2, CUTOFF, fs=RATE, output="sos")
