"""Whether recordings are of the same load or arm: how far their estimates are apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.estimation.estimate import CONTRADICTION, LinksEstimate
from inertid_ros.core.records import FloatArray, IntArray

_CONFIDENCE = 0.999
"""Base parameters of recordings contradict each other beyond this quantile of the largest of their differences: one
false alarm in a thousand."""


class Distances(NamedTuple):
    """How far recordings are apart in each of U parameters.

    Attributes:
        largest: (U,) largest difference of two recordings, in standard deviations of that difference.
        pairs: (U, 2) those two.
        limit: beyond which they contradict each other.
    """

    largest: FloatArray
    pairs: IntArray
    limit: float


def find_distances(values: FloatArray, deviations: FloatArray) -> Distances:
    """Compare estimates (R, U) of R recordings, at least two, with their standard deviations (R, U).

    Of all differences in units of sqrt(C_i + C_j), the largest of N counts, as if they were independent (Bonferroni).
    What is systematic and common to both makes it smaller, so that this errs on the safe side.
    """
    from statistics import NormalDist

    runs, count = values.shape
    largest, pairs = np.full(count, -1.0), np.zeros((count, 2), dtype=np.int64)
    for one in range(runs - 1):
        spread = np.hypot(deviations[one + 1 :], deviations[one])
        apart = np.abs(values[one + 1 :] - values[one])
        apart = np.divide(apart, spread, out=np.zeros_like(apart), where=np.isfinite(spread) & (spread > 0.0))
        other, distance = apart.argmax(axis=0), apart.max(axis=0)
        further = distance > largest
        largest[further] = distance[further]
        pairs[further] = np.column_stack((np.full(count, one), one + 1 + other))[further]
    tests = count * runs * (runs - 1) // 2
    return Distances(largest, pairs, NormalDist().inv_cdf(1.0 - 0.5 * (1.0 - _CONFIDENCE) / tests))


def find_contradiction(estimates: Sequence[LinksEstimate]) -> tuple[Finding, ...]:
    """A finding where two recordings' base parameters are further apart than their accuracies allow."""
    if len(estimates) < 2:
        return ()
    values, deviations = (np.array([getattr(one, name) for one in estimates]) for name in ("values", "deviations"))
    largest, pairs, limit = find_distances(values, deviations)
    worst = int(largest.argmax())
    if largest[worst] <= limit:
        return ()
    one, other = values[pairs[worst], worst]
    message = (
        f"the recordings contradict each other: {estimates[0].names[worst]} is {one:.3g} by one and {other:.3g} by "
        f"another, {largest[worst]:.1f} standard deviations apart: replay recordings of different arms or loads "
        "separately"
    )
    return (Finding("warning", CONTRADICTION, message),)
