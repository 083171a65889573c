"""Whether the parameters of a load can be trusted, and what to do if they cannot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from inertid_ros.core.estimation.estimate import LoadEstimate, WristSensor
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, describe_body
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.replay.trace import MODES, LoadTrace
from inertid_ros.report.verdict import (
    Grade,
    Sentence,
    Verdict,
    join_words,
    judge_findings,
    judge_input,
    judge_nothing,
    list_times,
)
from inertid_ros.text.numbers import PARAMETER_UNITS, format_count, format_estimate

_LARGE_INFLATION = 10.0
"""Variance inflation above which the reader is told: residuals of more than three times the noise."""
_GOOD_SHARE, _POOR_SHARE = 0.1, 0.5
"""Residual over the load's wrench: small up to the first, too large above the second."""
_SHORT_ARM = 0.02
"""Moments are compared at least with that of the load's force at this distance [m]."""


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
    state, deviation = estimate.states[0], float(np.sqrt(estimate.covariance[0, 0]))
    number = format_estimate(float(estimate.values[0]), deviation, "kg")
    advice = "hold the sensor in five or six orientations that differ by 45° or more"
    if state == "known":
        has_load = describe_body(estimate.values, estimate.covariance).com is not None
        return Sentence("good", "Mass", f"{number}." if has_load else f"{number}: there is no load.")
    if state == "uncertain":
        return Sentence("caution", "Mass", f"{number}, uncertain. To do: {advice}.")
    return Sentence("bad", "Mass", f"not excited. To do: {advice}.")


def _judge_com(estimate: LoadEstimate) -> Sentence:
    subject = "Centre of mass"
    body = describe_body(estimate.values, estimate.covariance)
    advice = "tilt the sensor about two of its axes by 45° or more, so that gravity acts in several directions"
    if body.com is None or body.com_std is None:
        if estimate.states[0] == "known":
            return Sentence("good", subject, "none, as there is no load.")
        return Sentence("bad", subject, f"unknown until the mass is known. To do: {advice}.")
    numbers = ", ".join(
        f"{axis} {format_estimate(1e3 * value, 1e3 * deviation)}"
        for axis, value, deviation in zip("xyz", body.com.tolist(), body.com_std.tolist(), strict=True)
    )
    states = estimate.states[1:4]
    if all(state == "known" for state in states):
        return Sentence("good", subject, f"{numbers} mm from the origin of '{estimate.frame}'.")
    weak = join_words([axis for axis, state in zip("xyz", states, strict=True) if state != "known"])
    if "not excited yet" in states:
        return Sentence("bad", subject, f"not excited along {weak}. To do: {advice}.")
    return Sentence("caution", subject, f"{numbers} mm, uncertain along {weak}. To do: {advice}.")


def _judge_inertia(trace: LoadTrace) -> Sentence:
    subject, states = "Inertia", trace.estimate.states[4:]
    if all(state == "known" for state in states):
        body = describe_body(trace.estimate.values, trace.estimate.covariance)
        return Sentence("good", subject, _describe_moments(body))
    advice = advise_on_rotation(trace.estimate.states, trace.joint_names)
    names: dict[str, list[str]] = {"known": [], "uncertain": [], "not excited yet": []}
    for name, state in zip(PARAMETER_NAMES[4:], states, strict=True):
        names[state].append(name)
    unexcited = names["not excited yet"]
    if len(unexcited) == len(states):
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
    weak = [name for name, state in zip(PARAMETER_NAMES[4:], states[4:], strict=True) if state != "known"]
    diagonal = {name[1] for name in weak if name[1] == name[2]}
    axes = sorted(diagonal or {axis for name in weak for axis in name[1:]})
    plural = "axes" if len(axes) > 1 else "axis"
    closest = f", with the joints closest to it ({', '.join(joints[-3:])})" if joints else ""
    return f"rotate the sensor back and forth faster about its {join_words(axes)} {plural}{closest}"


def _describe_moments(body: RigidBodyEstimate) -> str:
    if body.principal_moments is None or body.principal_moments_std is None:
        return "none, as there is no load."
    pairs = zip(body.principal_moments.tolist(), body.principal_moments_std.tolist(), strict=True)
    numbers = ", ".join(format_estimate(moment, deviation) for moment, deviation in pairs)
    return f"principal moments {numbers} {PARAMETER_UNITS[4]}."


def _judge_convention(estimate: LoadEstimate) -> Iterator[Sentence]:
    """Findings on the convention of the wrench or of the efforts."""
    yield from judge_findings(estimate.findings, "Data" if estimate.sensor is None else "Wrench")
    if estimate.rows and estimate.sensor is not None and estimate.sensor.sign is None:
        text = "its sign cannot be determined yet. To do: rotate the sensor, or set load.wrench_sign."
        yield Sentence("bad", "Wrench", text)


def _judge_events(trace: LoadTrace) -> Iterator[Sentence]:
    changes = [event.time for event in trace.events if event.kind == "load_changed"]
    if changes:
        text = f"changed {format_count(len(changes))} ({list_times(changes)}); the numbers are those of the last load."
        yield Sentence("good", "Load", text)
    biases = [event.time for event in trace.events if event.kind == "bias_changed"]
    if biases:
        yield Sentence("caution", "Sensor", f"its bias jumped {format_count(len(biases))} ({list_times(biases)}).")
    contacts = [event.time for event in trace.events if event.kind == "contact_began"]
    share = float(np.mean(trace.convergence.modes == MODES.index("contact"))) if len(trace.convergence.modes) else 0.0
    if contacts:
        often = f"{format_count(len(contacts))} ({list_times(contacts)}), {100.0 * share:.0f} % of the time"
        yield Sentence("caution" if share > 0.5 else "good", "Contacts", f"{often}; not used for the estimate.")
    if trace.estimate.mode in ("testing", "contact"):
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


def _find_free_buckets(trace: LoadTrace) -> NDArray[np.bool_]:
    """Which buckets of the signals have samples and no contact, according to the mode at the time."""
    signals, convergence = trace.signals, trace.convergence
    filled: NDArray[np.bool_] = np.asarray(np.isfinite(signals.residual.low).all(axis=1))
    if len(convergence.times) == 0:
        return filled
    nearest = np.searchsorted(convergence.times, signals.times).clip(max=len(convergence.times) - 1)
    in_contact: NDArray[np.bool_] = np.asarray(np.equal(convergence.modes[nearest], MODES.index("contact")))
    return filled & ~in_contact


def _has_no_load(estimate: LoadEstimate) -> bool:
    return estimate.states[0] == "known" and describe_body(estimate.values, estimate.covariance).com is None
