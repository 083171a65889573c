"""Whether the parameters of an arm can be trusted, and what to do if they cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.replay.residuals import ResidualStatistics, list_residual
from inertid_ros.replay.trace import LinkTrace
from inertid_ros.report.verdict import Grade, Sentence, Verdict, join_words, judge_findings, judge_input, judge_nothing

_GOOD_FIT = 0.1
"""Relative residual of a well described arm; real ones with gears have 2 to 7 %."""
_POOR_FIT = 0.25
"""Relative residual above which the model is wrong; many a URDF alone does better."""
_LEAST_ANGLE, _LEAST_LENGTH = 0.05, 0.01
"""Excitation [rad, m] below which a joint counts as not moved: noise and sag are as large."""
_LEAST_KNOWN = 0.3
"""With a smaller share of the base parameters known, the estimate holds for this very motion only."""
_FAR = 4.0
"""Standard deviations between feasible and estimated parameters that noise hardly ever causes."""
_MOST_JOINTS = 4


def judge_links(trace: LinkTrace) -> Verdict:
    """Judge the estimate of an arm."""
    problems = tuple(judge_input(trace))
    if trace.estimate.rows == 0:
        return judge_nothing("Links", "no sample could be used.", problems)
    fit, parameters = _judge_fit(trace), _judge_parameters(trace)
    findings = tuple(judge_findings(trace.estimate.findings, "Data"))
    sentences = (*findings, fit, *_judge_joints(find_unmoved(trace)), parameters, *problems, *_judge_bodies(trace))
    what = f"{_count_known(trace)} base parameters are known; {_describe_fit(trace)}"
    if "bad" in [sentence.grade for sentence in (*findings, fit, parameters)]:
        return Verdict("bad", f"Do not use these numbers yet: {what}.", sentences)
    if all(sentence.grade == "good" for sentence in sentences):
        return Verdict("good", f"Trustworthy: {what}.", sentences)
    return Verdict("caution", f"Valid for motions like this one: {what}. See the remarks below.", sentences)


def find_fit(trace: LinkTrace) -> tuple[float, float]:
    """Residual of the filtered rows relative to their rms: of the estimate, and of the URDF alone."""
    found = list_residual(find_residuals(trace), trace.groups)["relative_rms"]
    return found, list_residual(trace.urdf.rows, trace.groups)["relative_rms"]


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


def _describe_fit(trace: LinkTrace) -> str:
    found, urdf = find_fit(trace)
    names = {"effort": "joint efforts", "base_wrench": "base wrench", "both": "base wrench and joint efforts"}
    channels = names[trace.estimate.model.source]
    return f"the residual is {100.0 * found:.1f} % of the {channels} (URDF alone: {100.0 * urdf:.1f} %)"


def _judge_fit(trace: LinkTrace) -> Sentence:
    found, urdf = find_fit(trace)
    relative = find_residuals(trace).relative_rms
    worst = int(relative.argmax())
    text = f"{_describe_fit(trace)}; it is largest for {trace.channels[worst]} with {100.0 * relative[worst]:.1f} %."
    if found > _POOR_FIT or found > urdf:
        advice = "check the URDF, the unit of effort and gravity, and that nothing touches the arm"
        return Sentence("bad", "Fit", f"{text} To do: {advice}.")
    grade: Grade = "good" if found <= _GOOD_FIT else "caution"
    return Sentence(grade, "Fit", f"{text} Before quoting a number, validate the estimate on another recording.")


def _judge_parameters(trace: LinkTrace) -> Sentence:
    counts = Counter(trace.estimate.states)
    known, total = counts.pop(ParameterState.KNOWN, 0), len(trace.estimate.states)
    rest = "".join(f", {counts[state]} {state}" for state in ParameterState if counts[state])
    text = f"{_count_known(trace)} are known{rest}."
    if not rest:
        return Sentence("good", "Base parameters", text)
    advice = f"move faster and over a wider range, especially {join_words(_find_weak_joints(trace))}"
    grade: Grade = "caution" if known >= _LEAST_KNOWN * total else "bad"
    return Sentence(grade, "Base parameters", f"{text} To do: {advice}.")


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


def _judge_bodies(trace: LinkTrace) -> Iterator[Sentence]:
    """Compare the feasible completion with the estimated base parameters, in standard deviations."""
    estimate = trace.estimate
    difference = estimate.base.combination @ trace.parameters - estimate.values
    largest = float((abs(difference) / estimate.covariance.diagonal() ** 0.5).max())
    if largest > _FAR:
        text = (
            f"physically consistent links differ from the estimate by up to {largest:.0f} standard deviations: the "
            "model is incomplete (friction, elasticity, delay)."
        )
        yield Sentence("caution", "Links", text)
