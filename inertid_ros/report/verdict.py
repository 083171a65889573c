"""Verdicts: whether the parameters of a load can be trusted, in plain words, and what to do if they cannot.

What verdicts on a load and on an arm share is here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.estimation.estimate import LoadEstimate, Mode, WristSensor
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import LOAD_EVENTS, BoolArray, EventKind
from inertid_ros.core.rigid_body.description import describe_body
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.replay.trace import MODES, LoadTrace, Trace
from inertid_ros.text.numbers import PARAMETER_UNITS, format_count, format_estimate

Grade = Literal["good", "caution", "bad"]

_GRADES: dict[str, Grade] = {"error": "bad", "warning": "caution", "info": "good"}
"""Of findings and health issues, by their level, the worst first."""
_MOST_TIMES = 4
_MOST_PROBLEMS = 4
"""So many are named; the others are counted, as they are listed further down in the report."""
_LARGE_INFLATION = 10.0
"""Variance inflation above which the reader is told: residuals of more than three times the noise."""
_GOOD_SHARE, _POOR_SHARE = 0.1, 0.5
"""Residual over the load's wrench: small up to the first, too large above the second."""
_SHORT_ARM = 0.02
"""Moments are compared at least with that of the load's force at this distance [m]."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement: how good the news is, what it is about, and the statement itself."""

    grade: Grade
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reader in a hurry takes away.

    Attributes:
        grade: overall.
        headline: everything in one line.
        sentences: the reasons, most important first.
    """

    grade: Grade
    headline: str
    sentences: tuple[Sentence, ...]


def judge_nothing(subject: str, why: str, problems: Sequence[Sentence]) -> Verdict:
    """Verdict on a recording from which nothing could be identified."""
    return Verdict("bad", "Nothing was identified.", (Sentence("bad", subject, why), *problems))


def judge_findings(findings: Sequence[Finding], subject: str) -> Iterator[Sentence]:
    """Report what in the data contradicts the configuration."""
    return (Sentence(_GRADES[finding.level], subject, f"{finding.message}.") for finding in findings)


def judge_input(trace: Trace) -> Iterator[Sentence]:
    """Report what was wrong with the recording."""
    for note in trace.notes:
        yield Sentence("bad", "Recording", f"{note}.")
    items = [item for level in ("error", "warning") for item in trace.health if item.level == level]
    for item in items[:_MOST_PROBLEMS]:
        text = f"{item.message} ({format_count(item.count)}). To do: {item.remedy}."
        yield Sentence(_GRADES[item.level], f"Input {item.source}", text)
    if len(items) > _MOST_PROBLEMS:
        text = f"{len(items) - _MOST_PROBLEMS} more kinds of problems are listed under Input."
        yield Sentence("caution", "Input", text)


def list_times(times: Sequence[float]) -> str:
    """List moments in seconds, the first few of them."""
    listed = ", ".join(f"{time:.1f}" for time in times[:_MOST_TIMES])
    return f"at {listed}{', …' if len(times) > _MOST_TIMES else ''} s"


def join_words(words: Sequence[str]) -> str:
    """Join words as in a sentence: x, y and z."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def judge_load(trace: LoadTrace) -> Verdict:
    """Judge the estimate of a load."""
    estimate = trace.estimate
    findings = tuple(_judge_convention(estimate))
    problems = (*findings, *judge_input(trace))
    if estimate.rows == 0:
        return judge_nothing("Load", "no sample could be used.", problems)
    load = (_judge_mass(estimate), _judge_com(estimate), _judge_inertia(trace))
    sensor = estimate.sensor
    fit = () if sensor is None else tuple(_judge_fit(trace, sensor))
    noise = () if sensor is None else tuple(_judge_noise(sensor))
    sentences = (*load, *problems, *_judge_events(trace), *fit, *noise)
    contradictions = (
        (findings, "the data contradict the configuration"),
        (fit, "the wrench is inconsistent with a rigid load"),
    )
    for part, reason in contradictions:
        if any(sentence.grade == "bad" for sentence in part):
            return Verdict("bad", f"Do not use these numbers yet: {reason}.", sentences)
    grade, headline = _sum_up(load)
    if grade == "good" and any(sentence.grade != "good" for sentence in sentences):
        return Verdict("caution", f"{headline} See the remarks below.", sentences)
    return Verdict(grade, headline, sentences)


def _sum_up(load: Sequence[Sentence]) -> tuple[Grade, str]:
    """Put the grades of mass, centre of mass and inertia into one line."""
    trusted = [sentence.subject.lower() for sentence in load if sentence.grade == "good"]
    rest = [sentence.subject.lower() for sentence in load if sentence.grade != "good"]
    if not rest:
        return "good", "Trustworthy: mass, centre of mass and inertia are known."
    if not trusted:
        return "bad", "Not enough motion: mass, centre of mass and inertia cannot be trusted yet."
    return "caution", f"{join_words(trusted).capitalize()} can be trusted; {join_words(rest)} cannot yet."


def _judge_mass(estimate: LoadEstimate) -> Sentence:
    state, number = estimate.states[0], format_estimate(float(estimate.values[0]), float(estimate.deviations[0]), "kg")
    advice = "hold the sensor in five or six orientations that differ by 45° or more"
    if state == ParameterState.KNOWN:
        return Sentence("good", "Mass", f"{number}: there is no load." if _has_no_load(estimate) else f"{number}.")
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


def _judge_convention(estimate: LoadEstimate) -> Iterator[Sentence]:
    """Findings on the convention of the wrench or of the efforts."""
    yield from judge_findings(estimate.findings, "Data" if estimate.sensor is None else "Wrench")
    if estimate.rows and estimate.sensor is not None and estimate.sensor.sign is None:
        text = "its sign cannot be determined yet. To do: rotate the sensor, or set load.wrench_sign."
        yield Sentence("bad", "Wrench", text)


def _judge_events(trace: LoadTrace) -> Iterator[Sentence]:
    times = {kind: [event.time for event in trace.events if event.kind == kind] for kind in EventKind}
    times[EventKind.LOAD_CHANGED] = [event.time for event in trace.events if event.kind in LOAD_EVENTS]
    often = {kind: f"{format_count(len(moments))} ({list_times(moments)})" for kind, moments in times.items()}
    if times[EventKind.LOAD_CHANGED]:
        text = f"changed {often[EventKind.LOAD_CHANGED]}; the numbers are those of the last load."
        yield Sentence("good", "Load", text)
    if times[EventKind.BIAS_CHANGED]:
        yield Sentence("caution", "Sensor", f"its bias jumped {often[EventKind.BIAS_CHANGED]}.")
    if times[EventKind.CONTACT_BEGAN]:
        modes = trace.convergence.modes
        share = float(np.mean(modes == MODES.index(Mode.CONTACT))) if len(modes) else 0.0
        text = f"{often[EventKind.CONTACT_BEGAN]}, {100.0 * share:.0f} % of the time; not used for the estimate."
        yield Sentence("caution" if share > 0.5 else "good", "Contacts", text)
    if trace.estimate.mode in (Mode.TESTING, Mode.CONTACT):
        text = "ends while the wrench is inconsistent with the load: the numbers are those of the time before."
        yield Sentence("caution", "Recording", text)


def _judge_noise(sensor: WristSensor) -> Iterator[Sentence]:
    if sensor.variance_inflation > _LARGE_INFLATION:
        text = (
            f"the residuals are {np.sqrt(sensor.variance_inflation):.0f} times what sensor noise explains (vibration, "
            "cables, a moving load, wrong stamps); the uncertainties are inflated accordingly."
        )
        yield Sentence("caution", "Fit", text)
    if not sensor.noise_calibrated:
        text = "its noise is assumed, not measured. To do: stand still for 2 s somewhere in the recording."
        yield Sentence("caution", "Sensor", text)


def _judge_fit(trace: LoadTrace, sensor: WristSensor) -> Iterator[Sentence]:
    """Compare the median of the residual with that of the load's wrench, outside contacts."""
    free = _find_free_buckets(trace)
    left, load = (
        np.fmax(np.abs(envelope.low - offset), np.abs(envelope.high - offset))[free]
        for envelope, offset in ((trace.signals.residual, 0.0), (trace.signals.measured, sensor.bias))
    )
    if len(left) == 0:
        return
    force, moment, force_size, moment_size = (
        float(np.median(np.linalg.norm(values[:, part], axis=1)))
        for values in (left, load)
        for part in (slice(3), slice(3, 6))
    )
    text = f"the median residual is {force:.3g} N and {1e3 * moment:.3g} mNm"
    if _has_no_load(trace.estimate):
        yield Sentence("good", "Fit", f"{text}.")
        return
    shares = force / force_size, moment / max(moment_size, _SHORT_ARM * force_size)
    grade: Grade = "good" if max(shares) <= _GOOD_SHARE else "caution" if max(shares) <= _POOR_SHARE else "bad"
    text += f", {100.0 * shares[0]:.2g} % of the force and {100.0 * shares[1]:.2g} % of the moment"
    if grade != "good":
        text += ". Vibration averages out; cables, a moving load, a wrong frame or wrong stamps do not. To do: look at"
        text += " the residual below"
    yield Sentence(grade, "Fit", f"{text}.")


def _find_free_buckets(trace: LoadTrace) -> BoolArray:
    """Which buckets of the signals have samples and no contact, according to the mode at the time."""
    signals, convergence = trace.signals, trace.convergence
    filled: BoolArray = np.asarray(np.isfinite(signals.residual.low).all(axis=1))
    if len(convergence.times) == 0:
        return filled
    nearest = np.searchsorted(convergence.times, signals.times).clip(max=len(convergence.times) - 1)
    return np.asarray(filled & (convergence.modes[nearest] != MODES.index(Mode.CONTACT)))


def _has_no_load(estimate: LoadEstimate) -> bool:
    return (
        estimate.states[0] == ParameterState.KNOWN and describe_body(estimate.values, estimate.covariance).com is None
    )
