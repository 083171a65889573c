"""How much a motion will tell of a load, before anyone moves a robot.

The estimator's rows have gone through two low-passes, and a row of interval h is worth h / S0, with S0 the density of
the wrench noise (squared). With A the regressor of the load's ten parameters and six biases after these filters, a
motion therefore brings the information sum h A^T S0^-1 A, whatever is carried. What standing still before or after adds
is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.signal import lfilter

from inertid_ros.core.inertial import to_pinocchio
from inertid_ros.core.load_regressor import FEATURES, UNKNOWNS, build_regressor, compute_products
from inertid_ros.core.load_trial import LOAD, PRIOR_BIAS, PRIOR_LOAD
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot import FramePath
from inertid_ros.core.settings import LoadSettings
from inertid_ros.sim.motion import JointPath, Motion

PREDICTION_STEP = 0.005
"""Seconds between the samples from which standard deviations are predicted."""


class WrenchNoise(NamedTuple):
    """Densities of the wrench noise; the defaults are 0.1 N and 5 mNm at 200 Hz.

    Attributes:
        force: N/sqrt(Hz).
        torque: Nm/sqrt(Hz).
    """

    force: float = 0.1 / 200.0**0.5
    torque: float = 0.005 / 200.0**0.5


class MotionValue(NamedTuple):
    """What a motion brings and what it takes.

    Attributes:
        information: (16, 16) on [phi (10), bias (6)], with what was known before.
        efforts: (N, n) of the motors, Nm or N.
    """

    information: FloatArray
    efforts: FloatArray


class LoadInformation:
    """The information on a load that joint paths bring, and the efforts they take."""

    def __init__(
        self,
        path: FramePath,
        gravity: FloatArray,
        noise: WrenchNoise,
        settings: LoadSettings,
        known: FloatArray | None = None,
        load: FloatArray | None = None,
    ) -> None:
        """Set up for one sensor frame.

        Args:
            path: the joints that move the frame.
            gravity: (3,) in the root frame, m/s^2.
            noise: of the wrench.
            settings: with the two cutoffs of the filtered method.
            known: (10, 10) covariance of what is known of the load already; None for nothing.
            load: (10,) what is carried, for the efforts; None for nothing.
        """
        self._model = path.model.copy()
        self._model.gravity.linear = np.asarray(gravity, dtype=np.float64)
        self._joints = len(path.joint_names)
        self._sensor = self._model.njoints - 1
        if load is not None:
            self._model.appendBodyToJoint(self._sensor, to_pinocchio(load), pin.SE3.Identity())
        self._data = self._model.createData()
        self._cutoffs = (settings.filter_cutoff, settings.smoothing_cutoff)
        regressors = np.array([build_regressor(feature) for feature in np.eye(FEATURES)])
        weights = 1.0 / np.repeat([noise.force, noise.torque], 3)
        self._whitened = (weights[:, None] * regressors).reshape(FEATURES, 6 * UNKNOWNS)
        self._prior = np.diag(1.0 / np.concatenate((PRIOR_LOAD, PRIOR_BIAS)) ** 2)
        if known is not None:
            self._prior[:LOAD, :LOAD] += _invert(known)

    def evaluate(self, path: JointPath, step: float) -> MotionValue:
        """Value a joint path sampled every `step` seconds, before which the robot stood still."""
        twists, felt, efforts = self._move(path)
        features: FloatArray = np.ones((len(twists), FEATURES))
        products = compute_products(twists)
        features[:, :3] = felt[:, :3] + products[:, :3]
        features[:, 3:6] = felt[:, 3:]
        features[:, 6:12] = products[:, 3:]
        for cutoff in self._cutoffs:
            features = filter_ramps(features, cutoff, step)
        rows = (features @ self._whitened).reshape(-1, UNKNOWNS)
        return MotionValue(self._prior + step * rows.T @ rows, efforts)

    def predict(self, motion: Motion) -> FloatArray:
        """Standard deviations (10,) of the load's parameters after a motion."""
        points = 1 + int(np.ceil(motion.duration / PREDICTION_STEP))
        path = motion.at(np.linspace(0.0, motion.duration, points))
        return standard_deviations(self.evaluate(path, motion.duration / (points - 1)).information)

    def _move(self, path: JointPath) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Twist (N, 6), spatial acceleration less gravity (N, 6), both of the sensor in its axes, and efforts (N, n).

        Inverse dynamics leaves all of them behind, so that one call a sample is enough.
        """
        count = len(path.positions)
        coordinates = np.zeros((count, 3, self._joints + 1))
        for kind, values in enumerate(path):
            coordinates[:, kind, :-1] = values
        twists, felt, efforts = np.empty((count, 6)), np.empty((count, 6)), np.empty((count, self._joints + 1))
        model, data, inverse_dynamics = self._model, self._data, pin.rnea
        twist, acceleration = data.v[self._sensor].vector, data.a_gf[self._sensor].vector
        for i, (q, v, a) in enumerate(coordinates):
            efforts[i] = inverse_dynamics(model, data, q, v, a)
            twists[i] = twist
            felt[i] = acceleration
        return twists, felt, efforts[:, :-1]


def filter_ramps(signals: FloatArray, cutoff: float, step: float) -> FloatArray:
    """Low-pass l/(s+l) of signals (N, C) that are straight between samples, exactly, from rest at the first one.

    With e = exp(-l h) and r = (1 - e) / (l h):  y_k = e y_(k-1) + (r - e) u_(k-1) + (1 - r) u_k.
    """
    decay = np.exp(-cutoff * step)
    ratio = (1.0 - decay) / (cutoff * step)
    filtered, _ = lfilter([1.0 - ratio, ratio - decay], [1.0, -decay], signals, axis=0, zi=ratio * signals[:1])
    return np.asarray(filtered)


def standard_deviations(information: FloatArray) -> FloatArray:
    """Of the load's parameters (10,), the biases being unknown too, from the information (16, 16) on both."""
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(information))[:LOAD]))


def log_determinant(information: FloatArray) -> float:
    """Of the information on the load alone: that on both, less what belongs to the biases (Schur complement)."""
    both, biases = np.linalg.slogdet(information), np.linalg.slogdet(information[LOAD:, LOAD:])
    return float(both[1] - biases[1])


def _invert(covariance: FloatArray) -> FloatArray:
    """Information from a covariance, both (10, 10), whatever the units; directions without variance are left out."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-30))
    units = np.outer(scale, scale)
    return np.asarray(np.linalg.pinv(covariance / units, hermitian=True) / units)
