"""Which event a change of the load is, and how certain."""

from __future__ import annotations

import math

import pytest

from inertid_ros.core.estimation.change import Decision, describe_change, find_probability
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
    ],
)
def test_nothing_before_or_after_makes_the_difference(before: float, after: float, kind: str) -> None:
    event = describe_change(Decision(False, EventKind.LOAD_CHANGED, "", 0.9, (before, after)))
    assert event.kind == kind
    assert event.message.endswith(f": {before:.3f} kg before, {after:.3f} kg now")
    assert event.confidence == 0.9


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
