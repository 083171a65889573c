"""When a parameter is a number to trust."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from inertid_ros.core.estimation.states import (
    ParameterState,
    _find_moment_deviations,
    demote,
    judge_link_parameters,
    judge_load_parameters,
)
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose

BODY = compose(2.0, np.array([0.01, -0.02, 0.05]), np.diag([0.02, 0.001, 0.02]))


def _states(*deviations: float) -> tuple[str, ...]:
    return judge_load_parameters(BODY, np.diag(np.square(deviations)))


def test_small_deviations_are_known() -> None:
    assert _states(0.01, *[1e-3] * 3, *[1e-4] * 6) == ("known",) * 10


def test_deviations_as_large_as_the_body_are_not_excited() -> None:
    assert _states(5.0, *[1.0] * 3, *[0.5] * 6) == ("not excited yet",) * 10


def test_each_parameter_is_judged_by_its_own_scale() -> None:
    states = _states(0.5, 1e-3, 1e-3, 1e-3, 5e-3, 1e-4, 1e-4, 1e-4, 1e-4, 0.05)
    assert states == (
        "uncertain",
        "known",
        "known",
        "known",
        "uncertain",
        "known",
        "known",
        "known",
        "known",
        "not excited yet",
    )


def test_absurd_inertia_does_not_make_the_others_known() -> None:
    """A moment of 20 +- 20 kg m^2 says nothing about what a small inertia is."""
    phi = BODY.copy()
    phi[4] = 20.0
    covariance = np.diag(np.square([0.01, *[1e-3] * 3, 20.0, *[0.05] * 5]))
    assert judge_load_parameters(phi, covariance)[5:] == ("not excited yet",) * 5


def test_nothing_carried_can_be_known_to_be_nothing() -> None:
    assert judge_load_parameters(np.zeros(10), np.diag(np.square([1e-3] * 10)))[0] == "known"


def test_demoted_states_know_nothing_and_tell_the_rest_as_before() -> None:
    states = (ParameterState.KNOWN, ParameterState.UNCERTAIN, ParameterState.NOT_EXCITED)
    assert demote(states) == ("uncertain", "uncertain", "not excited yet")


SCALES = np.array([2.0, *[0.2] * 3, *[0.02] * 6])
"""What matters of BODY: its mass, that at 0.1 m, and its largest moment of inertia about the centre of mass."""


@pytest.mark.parametrize("which", range(10))
def test_the_limits_are_parts_of_what_matters(which: int) -> None:
    """A twentieth of it for mass and moments, a tenth for inertias, and all of it; two moments are the largest."""
    known = 0.05 if which < 4 else 0.1
    limits = (0.97 * known, "known"), (1.03 * known, "uncertain"), (0.97, "uncertain"), (1.03, "not excited yet")
    for share, state in limits:
        deviations = 1e-6 * SCALES
        deviations[which] = share * SCALES[which]
        assert _states(*deviations)[which] == state


def test_light_loads_and_small_parts_are_judged_as_if_they_were_larger() -> None:
    light = compose(0.02, np.zeros(3), np.diag([1e-7] * 3))

    def judge(*deviations: float) -> tuple[str, ...]:
        return judge_load_parameters(light, np.diag(np.square(deviations)))

    assert judge(0.0049, *[4.9e-4] * 3, *[3.9e-6] * 6) == ("known",) * 10
    assert judge(0.0051, *[5.1e-4] * 3, *[4.1e-6] * 6) == ("uncertain",) * 10
    assert judge(0.101, *[0.0101] * 3, *[4.1e-5] * 6) == ("not excited yet",) * 10


def test_deviations_of_moments_about_the_centre_of_mass_follow_from_the_slopes() -> None:
    """Against finite differences of the parallel axis theorem."""
    random = np.random.default_rng(0)
    root = random.normal(size=(10, 10))
    covariance = 1e-6 * root @ root.T

    def find_moments(phi: FloatArray) -> FloatArray:
        return np.asarray(phi[[4, 7, 9]] - (phi[1:4] @ phi[1:4] - phi[1:4] ** 2) / phi[0])

    slopes = np.stack([(find_moments(BODY + step) - find_moments(BODY - step)) / 2e-6 for step in 1e-6 * np.eye(10)])
    expected = np.sqrt(np.diag(slopes.T @ covariance @ slopes))
    np.testing.assert_allclose(_find_moment_deviations(BODY[1:4] / BODY[0], covariance), expected, rtol=1e-6)


def test_links_are_judged_by_their_value_their_own_size_and_what_was_known_before() -> None:
    class Model:
        own_sizes = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
        prior_deviations = np.full(6, 10.0)

    values = np.array([2.0, -2.0, 0.0, 0.0, 1.0, 1.0])
    deviations = np.array([0.19, 0.21, 0.09, 0.11, 2.9, 3.1])
    states = judge_link_parameters(cast("Any", Model), values, np.diag(deviations**2))
    assert states == ("known", "uncertain", "known", "uncertain", "uncertain", "not excited yet")
