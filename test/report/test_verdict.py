"""What the report says in words."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.report_traces import free_motion_trace, puma_trace, static_poses_trace

from inertid_ros.core.diagnosis import Finding, HealthItem
from inertid_ros.core.records import FloatArray
from inertid_ros.replay.trace import MODES, Envelope, LoadTrace, SignalTrace, TraceEvent
from inertid_ros.report.verdict import Verdict, advise_on_rotation, join_words, judge_load, list_times

KNOWN = ("known",) * 10


def say(verdict: Verdict, subject: str) -> str:
    return " ".join(sentence.text for sentence in verdict.sentences if sentence.subject == subject)


def with_states(trace: LoadTrace, states: tuple[str, ...]) -> LoadTrace:
    return replace(trace, estimate=replace(trace.estimate, states=states))  # type: ignore[arg-type]


def test_a_well_excited_load_is_to_be_trusted() -> None:
    trace = puma_trace()
    verdict = judge_load(trace)
    assert verdict.grade == "good"
    assert verdict.headline == "Trustworthy: mass, centre of mass and inertia are known."
    assert say(verdict, "Mass").startswith("1.80")
    assert say(verdict, "Mass").endswith(" kg.")
    assert re.search(r"z (59|60)\.\d ± 1\.\d mm", say(verdict, "Centre of mass"))
    assert "changed once" in say(verdict, "Load")
    assert "once (at 2" in say(verdict, "Contacts")


def test_inertia_that_is_not_excited_gets_advice() -> None:
    verdict = judge_load(static_poses_trace())
    assert verdict.grade == "caution"
    assert verdict.headline == "Mass and centre of mass can be trusted; inertia cannot yet."
    assert "0.93" in say(verdict, "Mass")
    advice = "not excited. To do: rotate the sensor back and forth faster about its x, y and z axes"
    assert say(verdict, "Inertia").startswith(advice)


def test_states_of_a_mixed_inertia_are_named() -> None:
    trace = free_motion_trace()
    states = (*("known",) * 4, "known", "known", "uncertain", "known", "known", "not excited yet")
    text = say(judge_load(with_states(trace, states)), "Inertia")
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


def test_an_error_in_the_convention_is_worse_than_any_precision() -> None:
    trace = puma_trace()
    finding = Finding("error", "mirrored", "the frame is mirrored")
    verdict = judge_load(replace(trace, estimate=replace(trace.estimate, findings=(finding,))))
    assert verdict.grade == "bad"
    assert verdict.headline.startswith("Do not use these numbers")
    assert "the frame is mirrored." in say(verdict, "Wrench")


def test_unknown_sign_is_an_error() -> None:
    trace = puma_trace()
    verdict = judge_load(with_sensor(trace, sign=None))
    assert verdict.grade == "bad"
    assert "load.wrench_sign" in say(verdict, "Wrench")


def test_trouble_with_the_input_lowers_the_grade_and_names_the_remedy() -> None:
    item = HealthItem("wrench", "gap", "warning", 3, 1, 2, "", "no sample", "look for lost messages")
    verdict = judge_load(replace(puma_trace(), health=(item,)))
    assert verdict.grade == "caution"
    assert say(verdict, "Input wrench") == "no sample (3 times). To do: look for lost messages."


def test_errors_come_before_warnings_and_what_is_left_out_is_counted() -> None:
    gaps = [HealthItem("wrench", f"w{n}", "warning", 1, 1, 2, "", f"warning {n}", "x") for n in range(6)]
    error = HealthItem("joint_states", "e", "error", 1, 1, 2, "", "an error", "y")
    verdict = judge_load(replace(puma_trace(), health=(*gaps, error)))
    subjects = [sentence.subject for sentence in verdict.sentences if sentence.subject.startswith("Input")]
    assert subjects == ["Input joint_states", *["Input wrench"] * 3, "Input"]
    assert "3 more kinds" in say(verdict, "Input")


def test_notes_of_the_replay_are_passed_on() -> None:
    assert say(judge_load(replace(puma_trace(), notes=("the bag is cut",))), "Recording") == "the bag is cut."


def test_without_a_row_nothing_was_identified() -> None:
    trace = puma_trace()
    verdict = judge_load(replace(trace, estimate=replace(trace.estimate, rows=0)))
    assert (verdict.grade, verdict.headline) == ("bad", "Nothing was identified.")


def test_no_excitation_at_all() -> None:
    trace = puma_trace()
    trace = replace(trace, estimate=replace(trace.estimate, covariance=np.eye(10) * 100.0))
    verdict = judge_load(with_states(trace, ("not excited yet",) * 10))
    assert verdict.grade == "bad"
    assert verdict.headline.startswith("Not enough motion")
    assert "not excited" in say(verdict, "Mass")


def test_nothing_carried_is_said_so() -> None:
    trace = puma_trace()
    trace = replace(trace, estimate=replace(trace.estimate, values=np.full(10, 1e-9)))
    verdict = judge_load(with_states(trace, KNOWN))
    assert "there is no load" in say(verdict, "Mass")
    assert "there is no load" in say(verdict, "Inertia")


def test_a_bad_fit_is_told_in_multiples_of_the_noise() -> None:
    trace = puma_trace()
    assert "5 times" in say(judge_load(with_sensor(trace, variance_inflation=25.0)), "Fit")
    assert "times" not in say(judge_load(with_sensor(trace, variance_inflation=2.0)), "Fit")


def with_sensor(trace: LoadTrace, **changes: Any) -> LoadTrace:
    """The same with something else of the sensor."""
    assert trace.estimate.sensor is not None
    return replace(trace, estimate=replace(trace.estimate, sensor=replace(trace.estimate.sensor, **changes)))


def with_wrenches(trace: LoadTrace, residual: FloatArray, measured: FloatArray) -> LoadTrace:
    """The same with other wrenches, one in each bucket; both (B, 6)."""
    assert trace.estimate.sensor is not None
    bias = trace.estimate.sensor.bias
    wrenches = SignalTrace(
        times=np.arange(len(residual), dtype=float),
        bucket_width=1.0,
        measured=Envelope(measured + bias, measured + bias),
        predicted=Envelope(measured - residual, measured - residual),
        residual=Envelope(np.minimum(residual, 0.0), np.maximum(residual, 0.0)),
        by_urdf=None,
    )
    return replace(trace, signals=wrenches)


def test_fit_is_the_median_of_the_peaks_beside_that_of_the_load() -> None:
    residual, measured = np.zeros((5, 6)), np.zeros((5, 6))
    residual[:4, 0] = [0.3, 0.1, 0.2, 50.0]
    residual[:4, 3] = [-0.003, -0.001, -0.002, -5.0]
    residual[4] = np.nan
    measured[:, 1], measured[:, 4] = 20.0, 0.5
    text = say(judge_load(with_wrenches(puma_trace(), residual, measured)), "Fit")
    assert "residual is 0.25 N and 2.5 mNm, 1.2 % of the force and 0.5 % of the moment." in text


@pytest.mark.parametrize(
    ("force", "moment", "grade"),
    [
        (1.9, 0.0, "good"),
        (2.1, 0.0, "caution"),
        (9.9, 0.0, "caution"),
        (10.1, 0.0, "bad"),
        (0.0, 0.039, "good"),
        (0.0, 0.041, "caution"),
        (0.0, 0.21, "bad"),
    ],
)
def test_what_is_left_over_decides_on_the_fit(force: float, moment: float, grade: str) -> None:
    """Beside 20 N; the moment, none, counts as that of 20 N at 2 cm."""
    verdict = judge_load(
        with_wrenches(
            puma_trace(), np.tile([force, 0, 0, moment, 0, 0], (9, 1)), np.tile([0, 20.0, 0, 0, 0, 0], (9, 1))
        )
    )
    assert [sentence.grade for sentence in verdict.sentences if sentence.subject == "Fit"] == [grade]
    assert verdict.grade == grade
    assert verdict.headline.startswith("Do not use these numbers yet") == (grade == "bad")


def test_contacts_do_not_count_as_a_bad_fit() -> None:
    """In the first ten of nineteen seconds something pushes."""
    trace = puma_trace()
    residual = np.zeros((19, 6))
    residual[:10, 0] = 50.0
    pushed = with_wrenches(trace, residual, np.full((19, 6), 10.0))
    modes = np.where(trace.convergence.times <= 10.0, MODES.index("contact"), MODES.index("tracking")).astype(np.int8)
    free = replace(trace.convergence, modes=np.full_like(modes, MODES.index("tracking")))
    fits = [
        next(
            sentence.grade
            for sentence in judge_load(replace(pushed, convergence=item)).sentences
            if sentence.subject == "Fit"
        )
        for item in (replace(free, modes=modes), free)
    ]
    assert fits == ["good", "bad"]


def test_nothing_carried_is_no_bad_fit() -> None:
    trace = puma_trace()
    trace = replace(trace, estimate=replace(trace.estimate, values=np.full(10, 1e-9)))
    noise = np.full((9, 6), 0.1)
    assert "%" not in say(judge_load(with_wrenches(with_states(trace, KNOWN), noise, noise)), "Fit")


def test_bias_jumps_are_a_caution() -> None:
    trace = puma_trace()
    verdict = judge_load(replace(trace, events=(TraceEvent(3.0, "bias_changed", "the bias has changed"),)))
    assert verdict.grade == "caution"
    assert "once (at 3.0 s)" in say(verdict, "Sensor")


def test_words_and_times_are_joined_as_people_do() -> None:
    assert join_words(["x"]) == "x"
    assert join_words(["x", "y", "z"]) == "x, y and z"
    assert list_times([1.0, 2.0]) == "at 1.0, 2.0 s"
    assert list_times([1.0, 2.0, 3.0, 4.0, 5.0]) == "at 1.0, 2.0, 3.0, 4.0, … s"
