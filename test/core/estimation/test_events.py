"""Which event a change of the load is, and how certain."""

from __future__ import annotations

import math

import numpy as np
import pytest

from inertid_ros.core.estimation.change import (
    Decision,
    Evidence,
    Sameness,
    describe_change,
    find_probability,
    find_surprise,
)
from inertid_ros.core.records import EventKind


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (0.0, 1.8, "load_attached"),
        (-0.04, 1.8, "load_attached"),
        (1.8, 0.03, "load_released"),
        (1.8, 0.06, "load_changed"),
        (20.0, 0.3, "load_released"),
        (2.0, 2.05, "load_changed"),
        (0.0, 0.04, "load_changed"),
        (0.0, 0.05, "load_changed"),
        (0.0, 0.051, "load_attached"),
        (-1.8, -0.03, "load_released"),
        (0.41, 20.0, "load_changed"),
        (0.39, 20.0, "load_attached"),
    ],
)
def test_nothing_before_or_after_makes_the_difference(before: float, after: float, kind: str) -> None:
    event = describe_change(Decision(False, EventKind.LOAD_CHANGED, "", 0.9, (before, after)))
    assert event.kind == kind
    assert event.message.endswith(f": {before:.3f} kg before, {after:.3f} kg now")
    words = {"load_attached": "a load was attached", "load_released": "the load was released"}
    assert event.message.startswith(words.get(kind, "the load has changed"))
    assert event.confidence == 0.9


def test_zero_has_no_sign() -> None:
    event = describe_change(Decision(False, EventKind.LOAD_CHANGED, "", 0.9, (-1e-5, 1.8)))
    assert event.message == "a load was attached: 0.000 kg before, 1.800 kg now"


def test_what_is_none_may_be_a_larger_share() -> None:
    change = Decision(False, EventKind.LOAD_CHANGED, "", 0.9, (0.12, 2.0))
    assert describe_change(change).kind == "load_changed"
    assert describe_change(change, 0.1).kind == "load_attached"


def test_other_events_are_left_as_they_are() -> None:
    event = Decision(True, EventKind.CONTACT_BEGAN, "contact", 0.9, (0.0, 0.0))
    assert describe_change(event) is event


def test_probabilities_follow_from_likelihood_ratios() -> None:
    assert find_probability(0.0, 0.0) == 0.5
    assert find_probability(math.log(3.0), 0.0) == pytest.approx(0.75)
    assert find_probability(15.0, 0.0, -math.inf) == pytest.approx(1.0, abs=1e-6)
    assert find_probability(-2000.0, 0.0) == pytest.approx(0.0)
    assert find_probability(0.0, math.log(2.0), math.log(5.0)) == pytest.approx(1.0 / 8.0)
    assert find_probability(-1e9, 1e9) == pytest.approx(0.0, abs=1e-300), "no overflow"


def test_a_mass_is_a_surprise_beyond_three_and_a_half_deviations_of_both() -> None:
    believed = (2.0, 0.03)
    assert find_surprise("cup", believed, 2.0 + 3.4 * 0.05, 0.04**2) == ()
    assert find_surprise("cup", believed, 2.0 - 3.4 * 0.05, 0.04**2) == ()
    for mass, grams in ((2.0 + 3.6 * 0.05, "+180"), (2.0 - 3.6 * 0.05, "-180")):
        (finding,) = find_surprise("cup", believed, mass, 0.04**2)
        assert (finding.level, finding.code) == ("warning", "unexpected_load")
        assert f"'cup' was expected, but what was attached is {grams} ± 98 g against it" in finding.message
    (finding,) = find_surprise("cup", (-2.0, 0.03), -2.5, 0.04**2)
    assert "+500 ±" in finding.message, "in the driver's other sign it is heavier, too"


def test_evidence_is_distinct_at_150_to_1() -> None:
    nothing = np.zeros(1)
    for load, bias, is_distinct in ((20.0, 14.9, True), (14.9, 20.0, True), (20.0, 15.1, False), (15.1, 20.0, False)):
        evidence = Evidence(load, bias, nothing, nothing, nothing)
        assert evidence.is_distinct is is_distinct
        assert evidence.strongest == 20.0


def test_sameness_is_contradicted_by_either_and_doubtful_along_the_change() -> None:
    assert Sameness(0.9e-4, 1.0).is_contradicted
    assert Sameness(1.0, 0.9e-4).is_contradicted
    assert not Sameness(1.1e-4, 1.1e-4).is_contradicted
    assert Sameness(1.0, 0.049).is_doubtful
    assert not Sameness(0.01, 0.051).is_doubtful
