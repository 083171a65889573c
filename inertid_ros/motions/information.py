"""The information that a motion will bring, before any robot moves.

The estimators' rows have gone through two low-passes, and a row of interval h is worth h / S0, with S0 the density of
the noise (squared). With A the regressor of all unknowns after these filters, a motion therefore brings the information
sum h A^T S0^-1 A, whatever their values. What standstill before or after adds is left out.

A motion is better the larger the determinant of the information on the wanted unknowns, all others being unknown too.
With I the information on all, I_e that on all others, and R the rows in units of the noise, I = I_0 + h R^T R,

    cost = log det I_e - log det I,     d cost / d R = -2 h R (I^-1 - I_e^-1)

the last term with zeros for what is wanted. Filters are linear, so that this goes back through them to the features of
each sample, which depend on positions, velocities and accelerations of that sample alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from inertid_ros.core.records import BoolArray, FloatArray
from inertid_ros.motions.motion import JointPath, Motion

PREDICTION_STEP = 0.005
"""Seconds between the samples from which standard deviations are predicted."""

_DIFFERENCE = 1e-6


class MotionValue(NamedTuple):
    """What a motion brings, with what was known before, and what it takes.

    The information (U, U) is on all unknowns; efforts (N, n) are the motors' [Nm or N], features (N, E) those of each
    sample before the filters, rows (N K, U) what they become after them, in units of the noise.
    """

    information: FloatArray
    efforts: FloatArray
    features: FloatArray
    rows: FloatArray


class MotionInformation(ABC):
    """The information that joint paths bring, and the efforts they take."""

    def __init__(
        self, cutoffs: tuple[float, float], whitened: FloatArray, prior: FloatArray, wanted: BoolArray
    ) -> None:
        """Set up what is common to all estimators.

        Args:
            cutoffs: of the two low-passes, rad/s.
            whitened: (E, K U) makes K rows of the features of a sample, in units of the noise.
            prior: (U, U) information on the unknowns before any motion.
            wanted: (U,) which unknowns are sought; all others must be found on the way.
        """
        self._cutoffs = cutoffs
        self._whitened = whitened
        self._prior = prior
        self.wanted = wanted

    @property
    def prior(self) -> FloatArray:
        """Information (U, U) before any motion."""
        return self._prior.copy()

    @abstractmethod
    def move(self, path: JointPath) -> tuple[FloatArray, FloatArray]:
        """Features (N, E) and efforts (N, n) of N samples, each by itself."""

    def evaluate(self, path: JointPath, step: float) -> MotionValue:
        """Evaluate a joint path sampled every `step` seconds that begins at rest."""
        features, efforts = self.move(path)
        filtered = features
        for cutoff in self._cutoffs:
            filtered = filter_ramps(filtered, cutoff, step)
        rows = (filtered @ self._whitened).reshape(-1, len(self._prior))
        return MotionValue(self._prior + step * rows.T @ rows, efforts, features, rows)

    def hold(self, positions: FloatArray, seconds: float) -> FloatArray:
        """Information (N, U, U) that each of N poses (N, n) brings by itself if it is held: low-passes let it pass."""
        rest = np.zeros_like(positions)
        features, _ = self.move(JointPath(positions, rest, rest))
        rows = (features @ self._whitened).reshape(len(positions), -1, len(self._prior))
        return np.asarray(seconds * np.einsum("nki,nkj->nij", rows, rows))

    def cost(self, information: FloatArray) -> float:
        """Minus the log-determinant of the information on what is wanted (Schur complement)."""
        everything = np.linalg.slogdet(information)[1]
        others = np.linalg.slogdet(information[~self.wanted][:, ~self.wanted])[1]
        return float(others - everything)

    def slopes(self, path: JointPath, step: float, value: MotionValue, effort_slopes: FloatArray) -> JointPath:
        """How the cost changes with each number of a path, (N, n) three times, given what `evaluate` found of it.

        The slopes (N, n) of a further cost, one of the efforts, are added.
        """
        inverse = np.linalg.inv(value.information)
        others = np.ix_(~self.wanted, ~self.wanted)
        inverse[others] -= np.linalg.inv(value.information[others])
        along = (-2.0 * step * value.rows @ inverse).reshape(len(value.features), -1) @ self._whitened.T
        for cutoff in reversed(self._cutoffs):
            along = filter_ramps_back(along, cutoff, step)
        slopes = JointPath(*(np.empty(part.shape) for part in path))
        for kind, part in enumerate(path):
            for joint in range(part.shape[1]):
                moved = part.copy()
                moved[:, joint] += _DIFFERENCE
                features, efforts = self.move(JointPath(*(*path[:kind], moved, *path[kind + 1 :])))
                change = np.einsum("ij,ij->i", features - value.features, along)
                change += np.einsum("ij,ij->i", efforts - value.efforts, effort_slopes)
                slopes[kind][:, joint] = change / _DIFFERENCE
        return slopes

    def covariance(self, motions: Sequence[Motion]) -> FloatArray:
        """Covariance (U, U) of all unknowns after motions, each from rest to rest."""
        total = self._prior.copy()
        for motion in motions:
            points = 1 + int(np.ceil(motion.duration / PREDICTION_STEP))
            path = motion.at(np.linspace(0.0, motion.duration, points))
            total += self.evaluate(path, motion.duration / (points - 1)).information - self._prior
        return np.asarray(np.linalg.inv(total))

    def predict(self, *motions: Motion) -> FloatArray:
        """Standard deviations of what is wanted after motions, each from rest to rest."""
        deviations: FloatArray = np.sqrt(np.diag(self.covariance(motions)))[self.wanted]
        return deviations


def filter_ramps(signals: FloatArray, cutoff: float, step: float) -> FloatArray:
    """Low-pass l/(s+l) of signals (N, C) that are straight between samples, exactly, from rest at the first one.

    With e = exp(-l h) and r = (1 - e) / (l h):  y_k = e y_(k-1) + (r - e) u_(k-1) + (1 - r) u_k.
    """
    decay, ratio = _constants(cutoff, step)
    filtered, _ = lfilter([1.0 - ratio, ratio - decay], [1.0, -decay], signals, axis=0, zi=ratio * signals[:1])
    return np.asarray(filtered)


def filter_ramps_back(slopes: FloatArray, cutoff: float, step: float) -> FloatArray:
    """How a cost changes with what goes into `filter_ramps`, from how it changes with what comes out, (N, C)."""
    decay, ratio = _constants(cutoff, step)
    back = np.asarray(lfilter([1.0], [1.0, -decay], slopes[::-1], axis=0))[::-1]
    result = (1.0 - ratio) * back
    result[:-1] += (ratio - decay) * back[1:]
    result[0] += ratio * back[0]
    return result


def information_of(covariance: FloatArray) -> FloatArray:
    """Information from a covariance, both (U, U), whatever the units; directions without variance are left out."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-30))
    units = np.outer(scale, scale)
    return np.asarray(np.linalg.pinv(covariance / units, hermitian=True) / units)


def _constants(cutoff: float, step: float) -> tuple[float, float]:
    decay = float(np.exp(-cutoff * step))
    return decay, (1.0 - decay) / (cutoff * step)
