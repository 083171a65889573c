"""Is the truth inside the stated uncertainty?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from inertid_ros.core.records import FloatArray
from inertid_ros.text.numbers import INTERVAL

CONFIDENCE = 0.999
"""An honest estimate fails the joint test once in a thousand runs."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far the truth is from an estimate of n parameters, by the estimate's own covariance.

    Many 95 % intervals hold all their truths together in well under 95 % of honest runs, so the judgement is on all
    together: d² = (φ − φ*)ᵀ C⁻¹ (φ − φ*) has a chi-square distribution with n degrees of freedom.

    Attributes:
        inside: (n,) whether each truth is inside its own 95 % interval.
        distance: d².
        limit: the largest d² that passes.
    """

    inside: NDArray[np.bool_]
    distance: float
    limit: float

    @property
    def passes(self) -> bool:
        """Whether the truth is inside the joint region."""
        return self.distance <= self.limit


def judge(parameters: FloatArray, covariance: FloatArray, truth: FloatArray) -> Verdict:
    """Compare (n,) parameters of (n, n) covariance with the truth (n,)."""
    error = parameters - truth
    scale = np.sqrt(np.diag(covariance))
    normalised = error / scale
    distance = float(normalised @ np.linalg.solve(covariance / np.outer(scale, scale), normalised))
    return Verdict(np.abs(normalised) <= INTERVAL, distance, float(chi2.ppf(CONFIDENCE, len(error))))
