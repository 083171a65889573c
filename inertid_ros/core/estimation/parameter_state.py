"""Which parameters are numbers to trust, told from the information alone."""

from __future__ import annotations

from typing import Literal

import numpy as np

from inertid_ros.core.records import FloatArray

ParameterState = Literal["known", "uncertain", "not excited yet"]

_SMALLEST_MASS = 0.1
_ARM = 0.1


def judge_parameters(phi: FloatArray, covariance: FloatArray) -> tuple[ParameterState, ...]:
    """State of each of the ten parameters.

    A standard deviation is compared with what matters for that parameter: for the mass, the mass (at least 0.1 kg); for
    the mass moments, the mass at 0.1 m; for the inertias, the largest moment of inertia about the centre of mass that
    the data vouch for, and at least the mass at 2 cm. Below a twentieth of it (a tenth for the inertias) a parameter is
    known; above all of it, it is not excited yet.
    """
    deviations = np.sqrt(np.diag(covariance))
    mass = max(abs(float(phi[0])), _SMALLEST_MASS)
    com = phi[1:4] / mass
    moments = phi[[4, 7, 9]] - mass * (com @ com - com**2)
    believed = np.abs(moments) - 2.0 * deviations[[4, 7, 9]]
    largest = max(float(believed.max()), mass * 0.02**2)
    scales = np.array([mass] + [mass * _ARM] * 3 + [largest] * 6)
    known = np.array([0.05] * 4 + [0.1] * 6) * scales
    return tuple(
        "known" if s <= k else "uncertain" if s <= scale else "not excited yet"
        for s, k, scale in zip(deviations, known, scales, strict=True)
    )
