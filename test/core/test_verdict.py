"""One rule says whether an estimate can be trusted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.verdicts import LINK_CASES, LOAD_CASES, SENSOR, Case, good_links, good_load

from inertid_ros.core.diagnosis import Finding, HealthItem
from inertid_ros.core.verdict import LEFT_OUT, join_words, judge, judge_prediction, list_input_reasons


def test_an_estimate_without_a_reason_against_it_is_trusted() -> None:
    load, links = judge(good_load()), judge(good_links())
    assert load.headline == "Trustworthy: mass, centre of mass and inertia are known."
    assert links.headline.startswith("Trustworthy: 18 of 18 base parameters are known; the residual is 2.0 % of")
    assert links.headline.endswith("(URDF alone: 20.0 %).")
    for verdict in (load, links):
        assert (verdict.level, verdict.reasons, verdict.failures) == ("info", (), ())


@pytest.mark.parametrize("case", [*LOAD_CASES, *LINK_CASES], ids=lambda case: case.name)
def test_each_reason_lowers_the_verdict(case: Case) -> None:
    verdict = judge(case.estimate)
    assert [reason.code for reason in verdict.reasons] == [case.code]
    assert verdict.level == case.level
    assert "rust" not in verdict.headline
    assert verdict.headline.startswith("Do not use these numbers yet: ") == (case.level == "error")
    assert bool(verdict.failures) == case.fails
    if case.level != "info":
        assert verdict.reasons[0].message in verdict.headline


def test_all_that_is_known_is_not_called_known_in_part_for_a_reservation() -> None:
    verdict = judge(good_load(sensor=replace(SENSOR, noise_calibrated=False)))
    assert verdict.headline == "Known, with a reservation: mass, centre of mass and inertia are known."


def test_the_worst_reason_decides_and_comes_first() -> None:
    others = [Finding("warning", "a", "first"), Finding("error", "b", "second"), Finding("warning", "a", "first")]
    verdict = judge(good_load(), others)
    assert verdict.level == "error"
    assert verdict.headline == "Do not use these numbers yet: second."
    assert [reason.code for reason in verdict.reasons] == ["b", "a"]


def test_what_was_left_out_fails_a_command_and_leaves_the_numbers_usable() -> None:
    verdict = judge(good_links(), [Finding("warning", LEFT_OUT, "the bag is cut")])
    assert verdict.level == "warning"
    assert verdict.failures == ("the bag is cut",)


@pytest.mark.parametrize(
    ("left", "ratio", "of_load", "levels"),
    [
        (0.02, 0.2, False, []),
        (0.02, None, True, []),
        (0.2, 0.5, False, ["warning"]),
        (0.3, 0.5, False, ["error"]),
        (0.3, None, True, ["warning"]),
        (0.6, None, True, ["error"]),
        (0.05, 1.04, False, []),
        (0.05, 1.5, False, ["error"]),
    ],
)
def test_a_held_out_recording_is_judged_as_the_fit_is(
    left: float, ratio: float | None, of_load: bool, levels: list[str]
) -> None:
    found = list(judge_prediction(left, ratio, of_load=of_load))
    assert [finding.level for finding in found] == levels
    assert judge(good_load(), found).level == (levels or ["info"])[0]


def test_trouble_with_the_input_is_a_warning_and_names_the_remedy() -> None:
    items = [
        HealthItem("wrench", "duplicate_stamp", "warning", 3, 1, 2, "", "stamps repeat", "look for a publisher"),
        HealthItem("wrench", "gap", "warning", 3, 1, 2, "", "no sample", "look for lost messages"),
        HealthItem("joint_states", "not_finite", "error", 1, 1, 2, "elbow", "values are NaN", "look at the driver"),
        HealthItem("wrench", "time_reset", "info", 1, 1, 2, "", "time was reset", "nothing"),
    ]
    reasons = list_input_reasons(items)
    assert [reason.code for reason in reasons] == ["joint_states.not_finite", "wrench.duplicate_stamp"]
    assert [reason.message for reason in reasons] == [
        "joint_states: values are NaN (elbow; once): look at the driver",
        "wrench: stamps repeat (3 times): look for a publisher",
    ]
    verdict = judge(good_load(), reasons)
    assert (verdict.level, verdict.failures) == ("warning", ())


def test_without_a_row_nothing_was_identified() -> None:
    verdict = judge(good_load(rows=0))
    assert (verdict.level, verdict.headline) == ("error", "Nothing was identified.")


def test_words_are_joined_as_people_do() -> None:
    assert join_words(["x"]) == "x"
    assert join_words(["x", "y", "z"]) == "x, y and z"
