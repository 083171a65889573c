"""What drops out where the sensor that holds an object is the one that identified it: the gain common to its channels.

What is wrong with a sensor is the same in all grips, but which parameters it distorts goes with grip and motion. A gain
common to all channels multiplies all of them always. Without it objects are told apart whose masses differ by less than
the sensor's accuracy. Sensors are the same where their frames are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.objects.known import KnownObject

_SINGULAR = 1e-9
"""Part of a variance below which nothing systematic is in it: rounding."""


def remove_shared_gain(estimate: LoadEstimate, known: KnownObject) -> tuple[FloatArray, KnownObject]:
    """Covariance (10, 10) of an estimate, and an object, without the gain of the sensor that identified both."""
    if known.sensor_frame != estimate.frame:
        return estimate.covariance, known
    variance = min(
        find_scale_variance(estimate.values, estimate.covariance, estimate.repeatability),
        find_scale_variance(known.phi, known.covariance, known.repeatability),
    )
    own = known.covariance - variance * np.outer(known.phi, known.phi)
    return estimate.covariance - variance * np.outer(estimate.values, estimate.values), replace(known, covariance=own)


def find_scale_variance(phi: FloatArray, covariance: FloatArray, repeatability: FloatArray) -> float:
    """Largest variance of a factor of all parameters phi (10,) that a covariance holds besides its repeatability.

    With S the difference, the largest t for which S - t phi phiᵀ is positive semidefinite: 1 / (phiᵀ S⁻¹ phi). It is
    nothing where a parameter is exact.
    """
    units = np.sqrt(np.diag(covariance))
    if not units.all():
        return 0.0
    values, vectors = np.linalg.eigh((covariance - repeatability) / np.outer(units, units))
    along = vectors.T @ (phi / units)
    return float(1.0 / np.sum(np.square(along) / np.maximum(values, _SINGULAR)))
