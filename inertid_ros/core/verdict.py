"""The verdict on an estimate: whether it can be trusted and, if not, why and what to do.

The console, exit codes, /diagnostics, files and the report all say what follows from it, so that none of them says more
than another. Whatever is wrong is a reason, and each reason lowers the verdict: an estimate is trustworthy only where
there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from inertid_ros.core.diagnosis import Finding, HealthItem, Level
from inertid_ros.core.equations.arm import group_channels
from inertid_ros.core.estimation.estimate import CONTRADICTION, Fit, LinksEstimate, LoadEstimate, Mode, WristSensor
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import describe_body

LEFT_OUT = "left_out"
"""Code of the reason that something was not done that was asked for: part of a recording is missing."""
NOT_KNOWN = "not_known"
"""Code of the reason that the motion has not shown everything."""
HELD_OUT = "held_out"
"""Code of the reason that the estimate does not predict another recording."""
GOOD_SHARE = 0.1
"""Residual over what is measured up to which a model is good; arms with gears reach 2 to 7 %."""

_POOR_LOAD, _POOR_ARM = 0.5, 0.25
"""Residual over the load's wrench, or over the efforts of an arm, above which the model is wrong: noise of a light load
is no reason yet, and many a URDF alone explains more of an arm."""
_WORSE = 1.05
"""What an estimate may leave more than the URDF alone: as much as weighting the channels by their noise does where both
are as good."""
_LARGE_INFLATION = 10.0
"""Variance inflation that is a reason: residuals of more than three times the noise."""
_MOSTLY = 0.5
"""Share of the rows in contact that is a reason: most of the time, contact looked more usual than the load."""
_SHORT_ARM = 0.02
"""Moments are compared at least with that of the load's force at this distance [m]."""
_FEW = 0.3
"""With a smaller share of the base parameters known, the estimate holds for this very motion only."""
_FAILURES = (LEFT_OUT, CONTRADICTION)
_SEVERITY: dict[Level, int] = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reader in a hurry takes away.

    Attributes:
        level: of the worst reason; info if nothing is wrong, though not everything may be known yet.
        headline: everything in a sentence.
        reasons: why the estimate cannot be trusted, the worst first; none if it can.
    """

    level: Level
    headline: str
    reasons: tuple[Finding, ...]

    @property
    def failures(self) -> tuple[str, ...]:
        """Messages of the reasons for which a command fails: what was left out, errors, what does not fit together."""
        failing = [reason for reason in self.reasons if is_failure(reason)]
        return tuple(reason.message for reason in sorted(failing, key=lambda reason: reason.code != LEFT_OUT))


def is_failure(reason: Finding) -> bool:
    """Whether a command fails for this reason."""
    return reason.level == "error" or reason.code in _FAILURES


def judge(estimate: LoadEstimate | LinksEstimate, others: Iterable[Finding] = ()) -> Verdict:
    """The verdict on an estimate.

    Args:
        estimate: what is known, with its findings.
        others: reasons that the estimate does not know of, such as trouble with its input.
    """
    if estimate.rows == 0:
        nothing = Finding("error", "nothing_identified", "no sample could be used")
        return Verdict("error", "Nothing was identified.", tuple(dict.fromkeys((nothing, *others))))
    own = _judge_load(estimate) if isinstance(estimate, LoadEstimate) else _judge_links(estimate)
    found = (*others, *estimate.findings, *own)  # causes first
    counted = [reason for reason in dict.fromkeys(found) if reason.level != "info" or reason not in estimate.findings]
    reasons = tuple(sorted(counted, key=lambda reason: _SEVERITY[reason.level]))
    level: Level = reasons[0].level if reasons else "info"
    if level == "error":
        return Verdict(level, f"Do not use these numbers yet: {reasons[0].message}.", reasons)
    described = _describe_load(estimate) if isinstance(estimate, LoadEstimate) else _describe_links(estimate)
    what, is_little = described
    if level == "warning":
        return Verdict(level, f"Use with care: {what}; {reasons[0].message}.", reasons)
    if reasons and all(reason.code != NOT_KNOWN for reason in reasons):
        return Verdict(level, f"Known, with a reservation: {what}.", reasons)
    word = "Trustworthy" if not reasons else "Not enough motion" if is_little else "Known in part"
    return Verdict(level, f"{word}: {what}.", reasons)


def list_input_reasons(health: Iterable[HealthItem]) -> list[Finding]:
    """What was wrong with the input as reasons: samples were left out, which does not make the others wrong.

    A gap is none: nothing is learned from it, and nothing wrong either.
    """
    return [
        Finding("warning", f"{item.source}.{item.code}", f"{item.source}: {describe_issue(item)}")
        for level in ("error", "warning")
        for item in health
        if item.level == level and item.code != "gap"
    ]


def describe_issue(item: HealthItem) -> str:
    """A health issue in a line: what, how often, and what to do."""
    often = "once" if item.count == 1 else f"{item.count} times"
    return f"{item.message} ({item.detail + '; ' if item.detail else ''}{often}): {item.remedy}"


def join_words(words: Sequence[str]) -> str:
    """Join words as in a sentence: x, y and z."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def has_no_load(estimate: LoadEstimate) -> bool:
    """Whether it is known that nothing is carried."""
    is_known = estimate.states[0] == ParameterState.KNOWN
    return is_known and describe_body(estimate.values, estimate.covariance).com is None


def find_load_shares(estimate: LoadEstimate) -> tuple[float, float] | None:
    """Residual over the wrench of the load, of force and moment; None where there is no load or no wrist sensor."""
    fit = estimate.fit
    if fit is None or estimate.sensor is None or has_no_load(estimate) or not fit.rows.any():
        return None
    return find_wrench_shares(fit.measured_rms, fit.residual_rms)


def find_wrench_shares(measured_rms: FloatArray, residual_rms: FloatArray) -> tuple[float, float]:
    """Residual (6,) over a load's wrench (6,), of force and moment."""
    (force, moment), (left_force, left_moment) = (
        [float(np.linalg.norm(rms[part])) for part in (slice(3), slice(3, 6))] for rms in (measured_rms, residual_rms)
    )
    tiny = np.finfo(float).tiny
    return left_force / max(force, tiny), left_moment / max(moment, _SHORT_ARM * force, tiny)


def find_share(fit: Fit, rms: FloatArray) -> float:
    """An rms (K,) of rows over that of what was measured: the mean over groups of channels that have one unit."""
    shares = []
    for own in group_channels(fit.channels, fit.units).values():
        weights = fit.rows[own] / max(int(fit.rows[own].max()), 1)
        measured = float(weights @ fit.measured_rms[own] ** 2)
        shares.append(float(weights @ rms[own] ** 2) / measured if measured > 0.0 else 0.0)
    return float(np.sqrt(np.mean(shares)))


def judge_prediction(left: float, ratio: float | None, *, of_load: bool) -> Iterator[Finding]:
    """What is wrong with the prediction of a recording from which the estimate was not made.

    Args:
        left: residual over what was measured.
        ratio: residual over that of the URDF alone, where that says something.
        of_load: whether a load's wrench was predicted, and not an arm's efforts.
    """
    if left > GOOD_SHARE:
        level: Level = "error" if left > (_POOR_LOAD if of_load else _POOR_ARM) else "warning"
        advice = "the load is another one there" if of_load else "the arm carries something else there"
        message = (
            f"{100.0 * left:.1f} % of the held-out recording is not explained: {advice}, or the identification has "
            "seen too little motion"
        )
        yield Finding(level, HELD_OUT, message)
    if ratio is not None and ratio > _WORSE:
        message = (
            f"the URDF alone predicts the held-out recording better: the estimate leaves {ratio:.2f} times as much"
        )
        yield Finding("error", HELD_OUT, message)


def _judge_load(estimate: LoadEstimate) -> Iterator[Finding]:
    sensor = estimate.sensor
    if sensor is None:
        yield from _judge_fit(estimate)
    else:
        yield from _judge_sensor(estimate, sensor)
    shares = find_load_shares(estimate)
    if shares is not None and max(shares) > GOOD_SHARE:
        message = (
            f"the residual is {100.0 * shares[0]:.2g} % of the load's force and {100.0 * shares[1]:.2g} % of its "
            "moment: look for cables, a moving load, a wrong frame or wrong stamps"
        )
        yield Finding("error" if max(shares) > _POOR_LOAD else "warning", "residual", message)
    missing = [part for part, is_known in _list_parts(estimate).items() if not is_known]
    if missing:
        moved = "move all joints" if sensor is None else "turn the sensor about two axes"
        verb = "is" if len(missing) == 1 else "are"
        yield Finding("info", NOT_KNOWN, f"{join_words(missing)} {verb} not known yet: {moved}, and faster")


def _judge_sensor(estimate: LoadEstimate, sensor: WristSensor) -> Iterator[Finding]:
    if sensor.variance_inflation > _LARGE_INFLATION:
        message = (
            f"the residuals are {np.sqrt(sensor.variance_inflation):.0f} times what sensor noise explains (vibration, "
            "cables, a moving load, wrong stamps): the intervals are wider by as much"
        )
        yield Finding("warning", "misfit", message)
    if sensor.contact_share > _MOSTLY:
        share = f"{100.0 * sensor.contact_share:.0f} % of the time"
        yield Finding("warning", "contact_share", f"there was contact for {share}, which is not used: move freely")
    if estimate.mode in (Mode.TESTING, Mode.CONTACT):
        message = "the wrench is inconsistent with the load by now: the numbers are those of the time before"
        yield Finding("warning", "in_contact", message)
    if not sensor.noise_calibrated:
        message = (
            "the noise of the sensor is assumed, not measured: stand still for 2 s, with a driver that publishes every "
            "reading instead of repeating the last one"
        )
        yield Finding("info", "noise_assumed", message)


def _judge_links(estimate: LinksEstimate) -> Iterator[Finding]:
    yield from _judge_fit(estimate)
    known, total = estimate.states.count(ParameterState.KNOWN), len(estimate.states)
    if known < total:
        message = f"{total - known} of {total} base parameters are not known yet: move all joints, and faster"
        yield Finding("info", NOT_KNOWN, message)


def _judge_fit(estimate: LoadEstimate | LinksEstimate) -> Iterator[Finding]:
    """What is left of the efforts or of the base wrench, by itself and beside what the URDF leaves."""
    fit = estimate.fit
    if fit is None or not fit.rows.any():
        return
    advice = "check the URDF, the unit of effort and gravity, and that nothing touches the arm"
    left = find_share(fit, fit.residual_rms)
    if left > GOOD_SHARE:
        level: Level = "error" if left > _POOR_ARM else "warning"
        yield Finding(level, "residual", f"{100.0 * left:.1f} % of what was measured is not explained: {advice}")
    if fit.urdf_rms is not None and left > _WORSE * find_share(fit, fit.urdf_rms):
        message = f"the URDF alone explains more, {describe_fit(fit)}: {advice}"
        yield Finding("error", "worse_than_urdf", message)


def describe_fit(fit: Fit) -> str:
    """What is left of the channels, and what the URDF alone leaves."""
    text = f"the residual is {100.0 * find_share(fit, fit.residual_rms):.1f} % of what was measured"
    return text + ("" if fit.urdf_rms is None else f" (URDF alone: {100.0 * find_share(fit, fit.urdf_rms):.1f} %)")


def _list_parts(estimate: LoadEstimate) -> dict[str, bool]:
    """Of mass, centre of mass and inertia whether it is known."""
    parts = {"mass": slice(1), "centre of mass": slice(4), "inertia": slice(4, None)}
    return {name: set(estimate.states[part]) == {ParameterState.KNOWN} for name, part in parts.items()}


def _describe_load(estimate: LoadEstimate) -> tuple[str, bool]:
    """What is known of a load, and whether that is nothing."""
    parts = _list_parts(estimate)
    known, missing = ([part for part in parts if parts[part] is wanted] for wanted in (True, False))
    verbs = ["is" if len(part) == 1 else "are" for part in (known, missing)]
    if not missing:
        return f"{join_words(known)} are known", False
    text = f"{join_words(missing)} {verbs[1]} not known yet"
    return (f"{join_words(known)} {verbs[0]} known, {text}", False) if known else (text, True)


def _describe_links(estimate: LinksEstimate) -> tuple[str, bool]:
    """What is known of an arm, and whether that is little."""
    known, total = estimate.states.count(ParameterState.KNOWN), len(estimate.states)
    text = f"{known} of {total} base parameters are known"
    fit = estimate.fit
    return text if fit is None or not fit.rows.any() else f"{text}; {describe_fit(fit)}", known < _FEW * total
