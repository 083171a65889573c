"""What the report says in words."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from support.report_traces import free_motion_trace, puma_trace, static_poses_trace

from inertid_ros.core.diagnosis import Finding, HealthItem
from inertid_ros.replay.trace import LoadTrace, TraceEvent
from inertid_ros.report.verdict import Sentence, advise_on_rotation, grade, list_load_sentences, list_times

KNOWN = ("known",) * 10


def list_sentences(trace: LoadTrace) -> tuple[Sentence, ...]:
    return list_load_sentences(trace, trace.verdict)


def say(trace: LoadTrace, subject: str) -> str:
    return " ".join(sentence.text for sentence in list_sentences(trace) if sentence.subject == subject)


def with_states(trace: LoadTrace, states: tuple[str, ...]) -> LoadTrace:
    return replace(trace, estimate=replace(trace.estimate, states=states))  # type: ignore[arg-type]


def test_a_well_excited_load_is_to_be_trusted() -> None:
    trace = puma_trace()
    assert grade(trace.verdict) == "good"
    assert trace.verdict.headline == "Trustworthy: mass, centre of mass and inertia are known."
    assert say(trace, "Mass").startswith("1.80")
    assert say(trace, "Mass").endswith(" kg.")
    assert re.search(r"z (59|60)\.\d ± 2\.\d mm", say(trace, "Centre of mass"))
    assert "changed once" in say(trace, "Load")
    assert re.search(r"once \(at 2\d\.\d s\), \d+ % of the time", say(trace, "Contacts"))
    assert re.fullmatch(
        r"the filtered residual is 0\.\d+ N and \d+\.?\d* mNm, [\d.]+ % of the force and [\d.]+ % of the moment\.",
        say(trace, "Fit"),
    )


def test_inertia_that_is_not_excited_gets_advice() -> None:
    trace = static_poses_trace()
    headline = "Known in part: mass and centre of mass are known, inertia is not known yet."
    assert trace.verdict.headline == headline
    assert "0.93" in say(trace, "Mass")
    advice = "not excited. To do: rotate the sensor back and forth faster about its x, y and z axes"
    assert say(trace, "Inertia").startswith(advice)


def test_states_of_a_mixed_inertia_are_named() -> None:
    trace = free_motion_trace()
    states = (*("known",) * 4, "known", "known", "uncertain", "known", "known", "not excited yet")
    text = say(with_states(trace, states), "Inertia")
    assert text.startswith("Ixx, Ixy, Iyy and Iyz known; Ixz uncertain; Izz not excited yet.")
    assert "about its z axis" in text


@pytest.mark.parametrize(
    ("weak", "axes"),
    [
        (("Ixx",), "x axis"),
        (("Ixx", "Izz", "Ixy"), "x and z axes"),
        (("Ixy",), "x and y axes"),
        (("Iyz",), "y and z axes"),
    ],
)
def test_advice_names_the_axes_that_would_show_what_is_missing(weak: tuple[str, ...], axes: str) -> None:
    names = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
    states = [*KNOWN[:4], *("uncertain" if name in weak else "known" for name in names)]
    assert f"about its {axes}, with" in advise_on_rotation(states, ["a", "b", "c", "d"])
    assert advise_on_rotation(states, ["a", "b", "c", "d"]).endswith("(b, c, d)")


def test_reasons_are_told_with_what_they_are_about() -> None:
    finding = Finding("error", "mirrored", "the frame is mirrored")
    trace = replace(puma_trace(), estimate=replace(puma_trace().estimate, findings=(finding,)), notes=("it is cut",))
    assert grade(trace.verdict) == "bad"
    assert say(trace, "Data") == "the frame is mirrored."
    assert say(trace, "Recording") == "it is cut."


def test_the_fit_is_told_once() -> None:
    finding = Finding("warning", "misfit", "the residuals are 17 times what noise explains")
    trace = puma_trace()
    subjects = [sentence.subject for sentence in list_sentences(trace)]
    assert subjects.count("Fit") == 1
    trace = replace(trace, estimate=replace(trace.estimate, findings=(finding,)))
    assert say(trace, "Fit") == "the residuals are 17 times what noise explains."


def test_errors_come_before_warnings_and_what_is_left_out_is_counted() -> None:
    gaps = [HealthItem("wrench", f"w{n}", "warning", 1, 1, 2, "", f"warning {n}", "x") for n in range(6)]
    error = HealthItem("joint_states", "e", "error", 3, 1, 2, "elbow", "an error", "y")
    trace = replace(puma_trace(), health=(*gaps, error))
    subjects = [sentence.subject for sentence in list_sentences(trace) if sentence.subject.startswith("Input")]
    assert subjects == ["Input joint_states", *["Input wrench"] * 3, "Input"]
    assert say(trace, "Input joint_states") == "joint_states: an error (elbow; 3 times): y."
    assert "3 more kinds" in say(trace, "Input")


def test_without_a_row_nothing_was_identified() -> None:
    trace = replace(puma_trace(), estimate=replace(puma_trace().estimate, rows=0))
    assert grade(trace.verdict) == "bad"
    assert [sentence.text for sentence in list_sentences(trace)] == ["no sample could be used."]


def test_nothing_carried_is_said_so() -> None:
    trace = puma_trace()
    trace = with_states(replace(trace, estimate=replace(trace.estimate, values=np.full(10, 1e-9))), KNOWN)
    assert "there is no load" in say(trace, "Mass")
    assert "there is no load" in say(trace, "Inertia")
    assert "%" not in say(trace, "Fit")


def test_events_are_told() -> None:
    trace = replace(puma_trace(), events=(TraceEvent(3.0, "bias_changed", "the bias has changed"),))
    assert "once (at 3.0 s)" in say(trace, "Sensor")


def test_times_are_listed_as_people_do() -> None:
    assert list_times([1.0, 2.0]) == "at 1.0, 2.0 s"
    assert list_times([1.0, 2.0, 3.0, 4.0, 5.0]) == "at 1.0, 2.0, 3.0, 4.0, … s"
