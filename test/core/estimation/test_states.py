"""When a parameter is a number to trust."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.estimation.states import ParameterState, demote, judge_load_parameters
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
