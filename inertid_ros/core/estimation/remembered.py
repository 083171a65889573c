"""What is kept of an estimator beyond the end of its process, and how much of it counts after some time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from inertid_ros.core.equations.load import LOAD, UNKNOWNS
from inertid_ros.core.estimation.change import CHANGE
from inertid_ros.core.estimation.estimate import Sign
from inertid_ros.core.estimation.information import SquareRootInformation, invert_root
from inertid_ros.core.records import FloatArray

_LASTING = 3600.0
"""Seconds after which a load is likely to have been put down, and an arm's friction to have changed: an hour."""


@dataclass(frozen=True, slots=True)
class RememberedLoad:
    """What a wrist sensor carried, and its bias, in the driver's own sign; the tool is not subtracted.

    Attributes:
        frame: of the sensor.
        sign: of the driver, where it was known.
        values, covariance: (55,), (55, 55) of load, bias and nuisances, see `systematic`.
        inflation: by how much residuals scattered more than noise at standstill explains.
        noise_density: (6,) of the sensor per root of a hertz.
        noise_calibrated: whether that was measured.
    """

    frame: str
    sign: Sign | None
    values: FloatArray
    covariance: FloatArray
    inflation: float
    noise_density: FloatArray
    noise_calibrated: bool

    def widen(self, age: float, drift: FloatArray, prior: FloatArray) -> FloatArray:
        """Covariance (55, 55) after so many seconds.

        The bias has wandered by a variance (6,) per second. The load may be another one, the likelier the older this
        is. What was fixed, and is free by the precision (55, 55) of the settings now, is as uncertain as that says.
        """
        covariance, free = self.covariance.copy(), np.isfinite(np.diag(prior))
        changed = CHANGE[:LOAD] ** 2 * (1.0 - math.exp(-age / _LASTING))
        covariance[np.diag_indices(UNKNOWNS)] += np.concatenate((changed, drift * age))
        unseen = free & (np.diag(covariance) <= 0.0)
        covariance[unseen, unseen] = 1.0 / np.diag(prior)[unseen]
        return covariance

    def find_precision(self, covariance: FloatArray, prior: FloatArray) -> FloatArray:
        """Inverse (55, 55) of a covariance; what is fixed by the precision of the settings stays fixed."""
        free = np.flatnonzero(np.isfinite(np.diag(prior)))
        part, precision = np.ix_(free, free), prior.copy()
        root = invert_root(covariance[part])
        precision[part] = root.T @ root
        return precision


@dataclass(frozen=True, slots=True)
class RememberedLinks:
    """An arm as it was identified.

    Attributes:
        joint_names: its joints.
        names: (U,) of its base parameters, drives included.
        values, covariance: (U,), (U, U) of these.
        residuals: (K,) rms of what they left of the rows of each channel.
    """

    joint_names: tuple[str, ...]
    names: tuple[str, ...]
    values: FloatArray
    covariance: FloatArray
    residuals: FloatArray

    def make_prior(self, age: float) -> SquareRootInformation:
        """What is known of the arm after so many seconds: friction changes within an hour, and masses do not."""
        return SquareRootInformation.from_covariance(self.values, (1.0 + age / _LASTING) * self.covariance)
