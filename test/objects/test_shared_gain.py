"""The gain that a sensor has in common with itself."""

from __future__ import annotations

import numpy as np
import pytest
from support.objects import DEVIATIONS, box

from inertid_ros.core.estimation.estimate import Mode, Solution, judge_load
from inertid_ros.core.records import FloatArray
from inertid_ros.objects.known import KnownObject
from inertid_ros.objects.recognition import Answer, recognise
from inertid_ros.objects.shared_gain import find_scale_variance


def test_the_variance_of_a_common_factor_is_found_among_other_errors() -> None:
    """A covariance is that of the factor and nine other errors: what is left without the factor has rank nine."""
    random = np.random.default_rng(3)
    phi, others, noise = random.normal(size=10), random.normal(size=(10, 9)), np.diag(random.uniform(0.1, 1.0, 10))
    systematic = 1e-4 * np.outer(phi, phi) + others @ others.T
    assert find_scale_variance(phi, systematic + noise, noise) == pytest.approx(1e-4, rel=1e-6)
    assert find_scale_variance(phi, noise, noise) < 1e-8, "noise has no common factor"
    assert find_scale_variance(phi, np.zeros((10, 10)), np.zeros((10, 10))) == 0.0, "nor has what is exact"


def test_masses_are_told_apart_within_the_gain_of_a_sensor_that_knows_them() -> None:
    """Boxes of 600 and 620 g on a sensor that reads 1 % too much, and is known to 1.5 %."""
    noise = np.diag((DEVIATIONS * [0.3, *[1.0] * 9]) ** 2)
    light, heavy = (1.01 * box(mass, 0.1, 0.1, 0.1) for mass in (0.60, 0.62))

    def make(name: str, phi: FloatArray, frame: str) -> KnownObject:
        covariance = noise + 0.015**2 * np.outer(phi, phi)
        return KnownObject(name, phi, covariance, noise, np.eye(4), frame)

    solution = Solution(0, Mode.TRACKING, heavy, make("", heavy, "").covariance, 500, None, noise)
    estimate = judge_load(solution, "ft_sensor", ())
    for frame, answer in (("ft_sensor", Answer.RECOGNISED), ("other_sensor", Answer.CANNOT_TELL)):
        library = [make("light", light, frame), make("heavy", heavy, frame)]
        assert recognise(estimate, library).answer is answer, frame
    alone = recognise(estimate, [make("light", light, "ft_sensor")])
    assert alone.answer is Answer.NONE_OF_THESE
    assert recognise(estimate, [make("light", light, "other_sensor")]).answer is Answer.RECOGNISED
