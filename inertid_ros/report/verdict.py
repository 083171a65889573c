"""What the verdict on a load or an arm rests on, in plain words, with numbers and advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from inertid_ros.core.estimation.estimate import CONTRADICTION, LoadEstimate
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import LOAD_EVENTS, EventKind
from inertid_ros.core.rigid_body.description import describe_body
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.verdict import (
    GOOD_SHARE,
    HELD_OUT,
    LEFT_OUT,
    NOT_KNOWN,
    Verdict,
    describe_fit,
    find_load_shares,
    find_share,
    has_no_load,
    join_words,
)
from inertid_ros.replay.residuals import ResidualStatistics
from inertid_ros.replay.trace import LinkTrace, LoadTrace
from inertid_ros.text.numbers import PARAMETER_UNITS, format_count, format_estimate

Grade = Literal["good", "caution", "bad"]

_GRADES: dict[str, Grade] = {"error": "bad", "warning": "caution", "info": "good"}
"""Of findings and health issues, by their level, the worst first."""
SYMBOLS: dict[Grade, str] = {"good": "✓", "caution": "!", "bad": "✗"}
_MOST_TIMES = 4
_MOST_PROBLEMS = 4
"""So many are named; the others are counted, as they are listed further down in the report."""
_SUBJECTS = {
    LEFT_OUT: "Recording", "in_contact": "Recording", "contact_share": "Contacts", "noise_assumed": "Sensor",
    "residual": "Fit", "misfit": "Fit", "worse_than_urdf": "Fit", "links_inconsistent": "Links",
    HELD_OUT: "Held out", CONTRADICTION: "Recordings",
}  # fmt: skip
"""What reasons are about; the others are about the data."""
_LEAST_ANGLE, _LEAST_LENGTH = 0.05, 0.01
"""Excitation [rad, m] below which a joint counts as not moved: noise and sag are as large."""
_MOST_JOINTS = 4


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement: how good the news is, what it is about, and the statement itself."""

    grade: Grade
    subject: str
    text: str


def grade(verdict: Verdict) -> Grade:
    """How good the news of a verdict are."""
    return "good" if not verdict.reasons else "bad" if verdict.level == "error" else "caution"


def list_reasons(verdict: Verdict) -> Iterator[Sentence]:
    """Why an estimate cannot be trusted; what is not known yet is told parameter by parameter."""
    reasons = [reason for reason in verdict.reasons if reason.code != NOT_KNOWN]
    inputs = [reason for reason in reasons if "." in reason.code]
    for reason in reasons:
        if reason in inputs[_MOST_PROBLEMS:]:
            continue
        subject = f"Input {reason.code.partition('.')[0]}" if reason in inputs else _SUBJECTS.get(reason.code, "Data")
        yield Sentence(_GRADES[reason.level], subject, f"{reason.message}.")
    if len(inputs) > _MOST_PROBLEMS:
        text = f"{len(inputs) - _MOST_PROBLEMS} more kinds of problems are listed under Input."
        yield Sentence("caution", "Input", text)


def list_times(times: Sequence[float]) -> str:
    """List moments in seconds, the first few of them."""
    listed = ", ".join(f"{time:.1f}" for time in times[:_MOST_TIMES])
    return f"at {listed}{', …' if len(times) > _MOST_TIMES else ''} s"


def list_load_sentences(trace: LoadTrace, verdict: Verdict) -> tuple[Sentence, ...]:
    """What there is to say of a load, the most important first."""
    reasons = tuple(list_reasons(verdict))
    if trace.estimate.rows == 0:
        return reasons
    load = (_judge_mass(trace.estimate), _judge_com(trace.estimate), _judge_inertia(trace))
    fit = () if _has_fit(reasons) else _tell_fit(trace.estimate)
    return (*load, *reasons, *_tell_events(trace), *fit)


def _has_fit(reasons: Sequence[Sentence]) -> bool:
    """Whether the fit is a reason already: it is told once."""
    return any(reason.subject == "Fit" for reason in reasons)


def _judge_mass(estimate: LoadEstimate) -> Sentence:
    state, number = estimate.states[0], format_estimate(float(estimate.values[0]), float(estimate.deviations[0]), "kg")
    advice = "hold the sensor in five or six orientations that differ by 45° or more"
    if state == ParameterState.KNOWN:
        return Sentence("good", "Mass", f"{number}: there is no load." if has_no_load(estimate) else f"{number}.")
    if state == ParameterState.UNCERTAIN:
        return Sentence("caution", "Mass", f"{number}, uncertain. To do: {advice}.")
    return Sentence("bad", "Mass", f"not excited. To do: {advice}.")


def _judge_com(estimate: LoadEstimate) -> Sentence:
    subject, states = "Centre of mass", estimate.states[1:4]
    body = describe_body(estimate.values, estimate.covariance)
    advice = "tilt the sensor about two of its axes by 45° or more, so that gravity acts in several directions"
    if body.com is None or body.com_std is None:
        if estimate.states[0] == ParameterState.KNOWN:
            return Sentence("good", subject, "none, as there is no load.")
        return Sentence("bad", subject, f"unknown until the mass is known. To do: {advice}.")
    numbers = ", ".join(
        f"{axis} {format_estimate(1e3 * value, 1e3 * deviation)}"
        for axis, value, deviation in zip("xyz", body.com.tolist(), body.com_std.tolist(), strict=True)
    )
    weak = [axis for axis, state in zip("xyz", states, strict=True) if state != ParameterState.KNOWN]
    if not weak:
        return Sentence("good", subject, f"{numbers} mm from the origin of '{estimate.frame}'.")
    if ParameterState.NOT_EXCITED in states:
        return Sentence("bad", subject, f"not excited along {join_words(weak)}. To do: {advice}.")
    return Sentence("caution", subject, f"{numbers} mm, uncertain along {join_words(weak)}. To do: {advice}.")


def _judge_inertia(trace: LoadTrace) -> Sentence:
    subject, estimate = "Inertia", trace.estimate
    pairs = list(zip(PARAMETER_NAMES, estimate.states, strict=True))[4:]
    names = {state: [name for name, own in pairs if own == state] for state in ParameterState}
    if len(names[ParameterState.KNOWN]) == len(pairs):
        body = describe_body(estimate.values, estimate.covariance)
        if body.principal_moments is None or body.principal_moments_std is None:
            return Sentence("good", subject, "none, as there is no load.")
        moments = zip(body.principal_moments.tolist(), body.principal_moments_std.tolist(), strict=True)
        numbers = ", ".join(format_estimate(*moment) for moment in moments)
        return Sentence("good", subject, f"principal moments {numbers} {PARAMETER_UNITS[4]}.")
    advice = advise_on_rotation(estimate.states, trace.joint_names)
    unexcited = names[ParameterState.NOT_EXCITED]
    if len(unexcited) == len(pairs):
        return Sentence("bad", subject, f"not excited. To do: {advice}.")
    parts = "; ".join(f"{join_words(members)} {state}" for state, members in names.items() if members)
    return Sentence("bad" if unexcited else "caution", subject, f"{parts}. To do: {advice}.")


def advise_on_rotation(states: Sequence[str], joints: Sequence[str]) -> str:
    """Name the axes of the sensor about which to rotate faster, to excite the inertias that are not known.

    I_ab appears in the moments when the sensor accelerates about a or b. The axes are those of the moments of inertia
    that are not known or, if all three are known, those of the products that are not.

    Args:
        states: of the ten parameters.
        joints: those that move the sensor, the closest to it last.
    """
    weak = [name for name, state in zip(PARAMETER_NAMES[4:], states[4:], strict=True) if state != ParameterState.KNOWN]
    diagonal = {name[1] for name in weak if name[1] == name[2]}
    axes = sorted(diagonal or {axis for name in weak for axis in name[1:]})
    plural = "axes" if len(axes) > 1 else "axis"
    closest = f", with the joints closest to it ({', '.join(joints[-3:])})" if joints else ""
    return f"rotate the sensor back and forth faster about its {join_words(axes)} {plural}{closest}"


def _tell_events(trace: LoadTrace) -> Iterator[Sentence]:
    times = {kind: [event.time for event in trace.events if event.kind == kind] for kind in EventKind}
    times[EventKind.LOAD_CHANGED] = [event.time for event in trace.events if event.kind in LOAD_EVENTS]
    often = {kind: f"{format_count(len(moments))} ({list_times(moments)})" for kind, moments in times.items()}
    if times[EventKind.LOAD_CHANGED]:
        text = f"changed {often[EventKind.LOAD_CHANGED]}; the numbers are those of the last load."
        yield Sentence("good", "Load", text)
    if times[EventKind.BIAS_CHANGED]:
        yield Sentence("good", "Sensor", f"its bias jumped {often[EventKind.BIAS_CHANGED]}.")
    sensor = trace.estimate.sensor
    if times[EventKind.CONTACT_BEGAN] and sensor is not None:
        share = f"{100.0 * sensor.contact_share:.0f} % of the time"
        yield Sentence("good", "Contacts", f"{often[EventKind.CONTACT_BEGAN]}, {share}; not used for the estimate.")


def _tell_fit(estimate: LoadEstimate) -> Iterator[Sentence]:
    """What is left of the wrench, where that is no reason for caution."""
    fit = estimate.fit
    if fit is None or estimate.sensor is None or not fit.rows.any():
        return
    force, moment = (float(np.linalg.norm(fit.residual_rms[part])) for part in (slice(3), slice(3, 6)))
    text, shares = f"the filtered residual is {force:.3g} N and {1e3 * moment:.3g} mNm", find_load_shares(estimate)
    if shares is None:
        yield Sentence("good", "Fit", f"{text}.")
    elif max(shares) <= GOOD_SHARE:
        share = f"{100.0 * shares[0]:.2g} % of the force and {100.0 * shares[1]:.2g} % of the moment"
        yield Sentence("good", "Fit", f"{text}, {share}.")


def list_link_sentences(trace: LinkTrace, verdict: Verdict, is_validated: bool = False) -> tuple[Sentence, ...]:
    """What there is to say of an arm, the most important first."""
    reasons = tuple(list_reasons(verdict))
    if trace.estimate.rows == 0:
        return reasons
    fit = () if _has_fit(reasons) else (_tell_arm_fit(trace, is_validated),)
    return (*reasons, *fit, *_judge_joints(find_unmoved(trace)), _judge_parameters(trace))


def find_residuals(trace: LinkTrace) -> ResidualStatistics:
    """Residuals of the final estimate, of the filtered rows it was identified from."""
    assert trace.estimate.fit is not None
    return ResidualStatistics.of_fit(trace.estimate.fit)


def find_unmoved(trace: LinkTrace) -> list[str]:
    """Joints that have not moved, or so little that it could be noise."""
    arm = trace.estimate.model.arm
    least = np.where(arm.is_angle, _LEAST_ANGLE, _LEAST_LENGTH)
    return [name for name, moved in zip(arm.joint_names, trace.excitation >= least, strict=True) if not moved]


def _count_known(trace: LinkTrace) -> str:
    states = trace.estimate.states
    return f"{states.count(ParameterState.KNOWN)} of {len(states)}"


def tell_prediction(content: Mapping[str, Any], reasons: Sequence[Sentence]) -> Iterator[Sentence]:
    """How well a held-out recording is predicted, where that is no reason for caution."""
    if not any(reason.subject == _SUBJECTS[HELD_OUT] for reason in reasons):
        left, urdf = content["relative_rms"], content["urdf"]
        by_urdf = "" if urdf is None else f" (URDF alone: {100.0 * urdf['relative_rms']:.1f} %)"
        text = f"of a held-out recording, {100.0 * left:.1f} % is left{by_urdf}."
        yield Sentence("good", _SUBJECTS[HELD_OUT], text)


def _tell_arm_fit(trace: LinkTrace, is_validated: bool) -> Sentence:
    relative, fit = find_residuals(trace).relative_rms, trace.estimate.fit
    assert fit is not None
    worst = int(relative.argmax())
    text = f"{describe_fit(fit)}; it is largest for {trace.channels[worst]} with {100.0 * relative[worst]:.1f} %."
    is_good = find_share(fit, fit.residual_rms) <= GOOD_SHARE
    advice = (
        "" if is_validated else " Before quoting a number, validate the estimate on another recording (--validate)."
    )
    return Sentence("good" if is_good else "caution", "Fit", f"{text}{advice}")


def _judge_parameters(trace: LinkTrace) -> Sentence:
    counts = Counter(trace.estimate.states)
    counts.pop(ParameterState.KNOWN, None)
    rest = "".join(f", {counts[state]} {state}" for state in ParameterState if counts[state])
    text = f"{_count_known(trace)} are known{rest}."
    if not rest:
        return Sentence("good", "Base parameters", text)
    advice = f"move faster and over a wider range, especially {join_words(_find_weak_joints(trace))}"
    return Sentence("caution", "Base parameters", f"{text} To do: {advice}.")


def _find_weak_joints(trace: LinkTrace) -> list[str]:
    """Joints with the largest share of unknown parameters, their own and those of the links they move."""
    estimate, arm = trace.estimate, trace.estimate.model.arm
    owners = [name.rpartition(".")[0] for name in estimate.names]
    weak = np.array([state != ParameterState.KNOWN for state in estimate.states])
    shares = {}
    for joint, link in zip(arm.joint_names, arm.link_names, strict=True):
        own = weak[np.isin(owners, (joint, link))]
        shares[joint] = own.sum() / max(len(own), 1)
    largest = max(shares.values())
    return [joint for joint, share in shares.items() if share >= 0.8 * largest][:_MOST_JOINTS]


def _judge_joints(unmoved: Sequence[str]) -> Iterator[Sentence]:
    if unmoved:
        them = "it" if len(unmoved) == 1 else "them"
        text = f"{join_words(unmoved)} never moved, so the numbers for {them} are meaningless. To do: move {them}."
        yield Sentence("bad", "Motion", text)
