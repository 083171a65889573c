"""Can the numbers be believed? In plain words, with what to do where they cannot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, describe_body
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.replay.trace import MODES, LoadTrace, Trace
from inertid_ros.text.numbers import PARAMETER_UNITS, format_count, format_estimate

Grade = Literal["good", "caution", "bad"]

_POOR_FIT = 10.0
"""Misfit above which the reader is told: residuals of more than three times the noise."""
_GOOD_SHARE, _POOR_SHARE = 0.1, 0.5
"""Shares of the load's wrench: what is left over is small up to the first, and too much above the second."""
_SHORT_ARM = 0.02
"""Moments are not small beside those of the load's weight at this distance [m]."""
_MOST_TIMES = 4
_MOST_TROUBLES = 4


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
        grade: of all together.
        headline: the whole in one line.
        sentences: what it rests on, the most important first.
    """

    grade: Grade
    headline: str
    sentences: tuple[Sentence, ...]


def judge(trace: LoadTrace) -> Verdict:
    """Say what can be believed of a load."""
    estimate = trace.estimate
    troubles = (*_judge_findings(estimate), *judge_input(trace))
    if estimate.rows == 0:
        why = "No wrench could be paired with joint states, so there is nothing to judge."
        return Verdict("bad", "Nothing was identified.", (Sentence("bad", "Load", why), *troubles))
    load = (_judge_mass(estimate), _judge_com(estimate), _judge_inertia(trace))
    sentences = (*load, *troubles, *_judge_events(trace), *_judge_fit(trace))
    if any(sentence.grade == "bad" for sentence in _judge_findings(estimate)):
        return Verdict("bad", "Do not use these numbers yet: the wrench contradicts the configuration.", sentences)
    if any(sentence.grade == "bad" for sentence in _judge_agreement(trace)):
        headline = "Do not use these numbers yet: the wrench is not that of a rigid load."
        return Verdict("bad", headline, sentences)
    grade, headline = _sum_up(load)
    if grade == "good" and any(sentence.grade != "good" for sentence in sentences):
        return Verdict("caution", f"{headline} Read the remarks below.", sentences)
    return Verdict(grade, headline, sentences)


def _sum_up(load: Sequence[Sentence]) -> tuple[Grade, str]:
    """Put grades of mass, centre of mass and inertia into one line."""
    trusted = [sentence.subject.lower() for sentence in load if sentence.grade == "good"]
    rest = [sentence.subject.lower() for sentence in load if sentence.grade != "good"]
    if not rest:
        return "good", "Trust it: mass, centre of mass and inertia are known."
    if not trusted:
        return "bad", "Not enough motion: neither mass, centre of mass nor inertia can be trusted."
    pronoun = "it" if len(trusted) == 1 else "them"
    return "caution", f"{join_words(trusted).capitalize()}: trust {pronoun}. {join_words(rest).capitalize()}: not yet."


def _judge_mass(estimate: LoadEstimate) -> Sentence:
    state, deviation = estimate.states[0], float(np.sqrt(estimate.covariance[0, 0]))
    number = format_estimate(float(estimate.values[0]), deviation, "kg")
    poses = "put the sensor into five or six poses, each turned by 45° or more"
    if state == "known":
        carried = describe_body(estimate.values, estimate.covariance).com is not None
        return Sentence("good", "Mass", f"{number}: trust it." if carried else f"{number}: nothing is carried.")
    if state == "uncertain":
        return Sentence("caution", "Mass", f"{number}: only roughly known. To do: {poses}.")
    return Sentence("bad", "Mass", f"not excited. To do: {poses}.")


def _judge_com(estimate: LoadEstimate) -> Sentence:
    subject = "Centre of mass"
    body = describe_body(estimate.values, estimate.covariance)
    poses = "tilt the sensor about two of its axes, by 45° or more, so that gravity pulls from several sides"
    if body.com is None or body.com_std is None:
        if estimate.states[0] == "known":
            return Sentence("good", subject, "none, as nothing is carried.")
        return Sentence("bad", subject, f"not known before the mass is. To do: {poses}.")
    numbers = ", ".join(
        f"{axis} {format_estimate(1e3 * value, 1e3 * deviation)}"
        for axis, value, deviation in zip("xyz", body.com.tolist(), body.com_std.tolist(), strict=True)
    )
    states = estimate.states[1:4]
    if all(state == "known" for state in states):
        return Sentence("good", subject, f"{numbers} mm from the origin of '{estimate.frame}': trust it.")
    weak = join_words([axis for axis, state in zip("xyz", states, strict=True) if state != "known"])
    if "not excited yet" in states:
        return Sentence("bad", subject, f"not excited along {weak}. To do: {poses}.")
    return Sentence("caution", subject, f"{numbers} mm, but {weak} only roughly. To do: {poses}.")


def _judge_inertia(trace: LoadTrace) -> Sentence:
    subject, estimate = "Inertia", trace.estimate
    states = estimate.states[4:]
    body = describe_body(estimate.values, estimate.covariance)
    if all(state == "known" for state in states):
        return Sentence("good", subject, _say_moments(body))
    advice = advise_on_turning(estimate.states, trace.joint_names)
    unexcited = _names_in_state(estimate, "not excited yet")
    if len(unexcited) == len(states):
        return Sentence("bad", subject, f"not excited. To do: {advice}.")
    parts = [
        f"{join_words(names)} {state}"
        for state in ("known", "uncertain", "not excited yet")
        if (names := _names_in_state(estimate, state))
    ]
    return Sentence("bad" if unexcited else "caution", subject, f"{'; '.join(parts)}. To do: {advice}.")


def advise_on_turning(states: Sequence[str], joints: Sequence[str]) -> str:
    """Say about which axes of the sensor to turn faster, so that the inertias that are not known show.

    An entry I_ab shows in the moments when the sensor is accelerated about a or b, so the axes are those of the moments
    of inertia that are not known; where all three are, those of the products that are not.

    Args:
        states: of the ten parameters.
        joints: those that move the sensor, the nearest to it last.
    """
    weak = [name for name, state in zip(PARAMETER_NAMES[4:], states[4:], strict=True) if state != "known"]
    diagonal = {name[1] for name in weak if name[1] == name[2]}
    axes = sorted(diagonal or {axis for name in weak for axis in name[1:]})
    plural = "axes" if len(axes) > 1 else "axis"
    nearest = f", with the joints nearest to it ({', '.join(joints[-3:])})" if joints else ""
    return f"swing the sensor back and forth faster about its {join_words(axes)} {plural}{nearest}"


def _say_moments(body: RigidBodyEstimate) -> str:
    if body.principal_moments is None or body.principal_moments_std is None:
        return "none, as nothing is carried."
    pairs = zip(body.principal_moments.tolist(), body.principal_moments_std.tolist(), strict=True)
    numbers = ", ".join(format_estimate(moment, deviation) for moment, deviation in pairs)
    return f"principal moments {numbers} {PARAMETER_UNITS[4]}: trust it."


def _names_in_state(estimate: LoadEstimate, state: str) -> list[str]:
    return [name for name, own in zip(PARAMETER_NAMES[4:], estimate.states[4:], strict=True) if own == state]


def _judge_findings(estimate: LoadEstimate) -> Iterator[Sentence]:
    """Findings of the chain on the wrench's convention."""
    grades: dict[str, Grade] = {"error": "bad", "warning": "caution", "info": "good"}
    for finding in estimate.findings:
        yield Sentence(grades[finding.level], "Wrench", finding.message)
    if estimate.rows and estimate.sensor is not None and estimate.sensor.sign is None:
        text = "its sign cannot be told yet: turn the sensor, or set load.wrench_sign."
        yield Sentence("bad", "Wrench", text)


def judge_input(trace: Trace) -> Iterator[Sentence]:
    """Say what was wrong with the recording."""
    for note in trace.notes:
        yield Sentence("bad", "Recording", note)
    order = {"error": 0, "warning": 1}
    items = sorted((item for item in trace.health if item.level in order), key=lambda item: order[item.level])
    for item in items[:_MOST_TROUBLES]:
        grade: Grade = "bad" if item.level == "error" else "caution"
        text = f"{item.message} ({format_count(item.count)}). To do: {item.remedy}."
        yield Sentence(grade, f"Input {item.source}", text)
    if len(items) > _MOST_TROUBLES:
        yield Sentence(
            "caution", "Input", f"{len(items) - _MOST_TROUBLES} more kinds of trouble are listed further down."
        )


def _judge_events(trace: LoadTrace) -> Iterator[Sentence]:
    changes = [event.time for event in trace.events if event.kind == "load_changed"]
    if changes:
        text = f"changed {format_count(len(changes))} ({list_times(changes)}); the numbers are of the last one."
        yield Sentence("good", "Load", text)
    biases = [event.time for event in trace.events if event.kind == "bias_changed"]
    if biases:
        yield Sentence("caution", "Sensor", f"its bias jumped {format_count(len(biases))} ({list_times(biases)}).")
    contacts = [event.time for event in trace.events if event.kind == "contact_began"]
    share = float(np.mean(trace.convergence.modes == MODES.index("contact"))) if len(trace.convergence.modes) else 0.0
    if contacts:
        often = f"{format_count(len(contacts))} ({list_times(contacts)}), {100.0 * share:.0f} % of the time"
        text = f"{often}; nothing was learnt then."
        yield Sentence("caution" if share > 0.5 else "good", "Contacts", text)
    if trace.estimate.mode in ("testing", "contact"):
        text = "it ends while the wrench does not fit the load: the numbers are of the time before."
        yield Sentence("caution", "Recording", text)


def _judge_fit(trace: LoadTrace) -> Iterator[Sentence]:
    yield from _judge_agreement(trace)
    sensor = trace.estimate.sensor
    if sensor is None:
        return
    if sensor.variance_inflation > _POOR_FIT:
        text = (
            f"what a rigid load leaves over is {np.sqrt(sensor.variance_inflation):.0f} times what the sensor's noise "
            "explains (vibration, cables, a load that moves, wrong stamps); uncertainties have been widened by that."
        )
        yield Sentence("caution", "Fit", text)
    if not sensor.noise_calibrated:
        text = "noise is assumed, not measured: let the robot stand still for 2 s somewhere in the recording."
        yield Sentence("caution", "Sensor", text)


def _judge_agreement(trace: LoadTrace) -> Iterator[Sentence]:
    """How large the residual is beside the wrench of the load, half of the time, while there is no contact."""
    sensor = trace.estimate.sensor
    if sensor is None:
        return
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
    text = (
        f"half of the time, measured and predicted wrench agree to {force:.3g} N and {1e3 * moment:.3g} mNm or better"
    )
    if _carries_nothing(trace.estimate):
        yield Sentence("good", "Fit", f"{text}.")
        return
    shares = force / force_size, moment / max(moment_size, _SHORT_ARM * force_size)
    grade: Grade = "good" if max(shares) <= _GOOD_SHARE else "caution" if max(shares) <= _POOR_SHARE else "bad"
    text += f": {100.0 * shares[0]:.2g} % of the force and {100.0 * shares[1]:.2g} % of the moment"
    if grade != "good":
        text += ". Vibration averages out; cables, a load that moves, a wrong frame or wrong stamps do not. To do: look"
        text += " at what is left, further down"
    yield Sentence(grade, "Fit", f"{text}.")


def _find_free_buckets(trace: LoadTrace) -> NDArray[np.bool_]:
    """Which buckets of the wrenches have samples and no contact, as far as the convergence tells."""
    wrenches, convergence = trace.signals, trace.convergence
    filled: NDArray[np.bool_] = np.asarray(np.isfinite(wrenches.residual.low).all(axis=1))
    if len(convergence.times) == 0:
        return filled
    nearest = np.searchsorted(convergence.times, wrenches.times).clip(max=len(convergence.times) - 1)
    in_contact: NDArray[np.bool_] = np.asarray(np.equal(convergence.modes[nearest], MODES.index("contact")))
    return filled & ~in_contact


def _carries_nothing(estimate: LoadEstimate) -> bool:
    return estimate.states[0] == "known" and describe_body(estimate.values, estimate.covariance).com is None


AXES = ("fx", "fy", "fz", "nx", "ny", "nz")
"""Names of the six components of a wrench."""


def list_times(times: Sequence[float]) -> str:
    """List moments in seconds, the first few of them."""
    listed = ", ".join(f"{time:.1f}" for time in times[:_MOST_TIMES])
    return f"at {listed}{', …' if len(times) > _MOST_TIMES else ''} s"


def join_words(words: Sequence[str]) -> str:
    """Join words as people do: x, y and z."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
