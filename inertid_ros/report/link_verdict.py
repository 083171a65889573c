"""Can the links be believed? In plain words, with what to do where they cannot."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from inertid_ros.replay.residuals import ResidualStatistics, list_residual
from inertid_ros.replay.trace import LinkTrace
from inertid_ros.report.verdict import Grade, Sentence, Verdict, join_words, judge_input

GOOD_FIT = 0.1
"""What may be left of the efforts of an arm that is well described; real ones with gears leave 2 to 7 %."""
POOR_FIT = 0.25
_LEAST_ANGLE, _LEAST_LENGTH = 0.05, 0.01
_MOST_JOINTS = 4
_LEAST_KNOWN = 0.3
"""With a smaller part of the base parameters known, only torques of the same motion are explained."""


def judge_arm(trace: LinkTrace) -> Verdict:
    """Say what can be believed of the links."""
    troubles = tuple(judge_input(trace))
    if trace.estimate.rows == 0:
        why = "No sample could be used, so there is nothing to judge."
        return Verdict("bad", "Nothing was identified.", (Sentence("bad", "Links", why), *troubles))
    fit, parameters = _judge_fit(trace), _judge_parameters(trace)
    findings = tuple(_judge_findings(trace))
    sentences = (*findings, fit, *_judge_joints(trace), parameters, *troubles, *_judge_bodies(trace))
    what = f"{_count_known(trace)} base parameters known; {_say_fit(trace)}"
    if "bad" in [sentence.grade for sentence in (*findings, fit, parameters)]:
        return Verdict("bad", f"Do not use these numbers yet: {what}.", sentences)
    grades = [sentence.grade for sentence in sentences]
    if all(grade == "good" for grade in grades):
        return Verdict("good", f"Trust it: {what}.", sentences)
    headline = f"Trust it for motions like this one: {what}. Read the remarks below."
    return Verdict("caution", headline, sentences)


def find_fit(trace: LinkTrace) -> tuple[float, float]:
    """What is left of the filtered rows, relative to rms: by the estimate, and by the URDF alone."""
    found = list_residual(describe_fit(trace), trace.groups)["relative_rms"]
    return found, list_residual(trace.urdf.rows, trace.groups)["relative_rms"]


def describe_fit(trace: LinkTrace) -> ResidualStatistics:
    """What the estimate leaves of its own rows."""
    assert trace.estimate.fit is not None
    return ResidualStatistics.of_fit(trace.estimate.fit)


def find_unmoved(trace: LinkTrace) -> list[str]:
    """Joints that have not moved, or so little that it could be noise."""
    arm = trace.estimate.model.arm
    least = np.where(arm.is_angle, _LEAST_ANGLE, _LEAST_LENGTH)
    return [name for name, moved in zip(arm.joint_names, trace.excitation >= least, strict=True) if not moved]


def _count_known(trace: LinkTrace) -> str:
    states = trace.estimate.states
    return f"{states.count('known')} of {len(states)}"


def _say_fit(trace: LinkTrace) -> str:
    found, urdf = find_fit(trace)
    return f"{_name_channels(trace)} explained to {100.0 * found:.1f} % (by the URDF alone {100.0 * urdf:.1f} %)"


def _name_channels(trace: LinkTrace) -> str:
    names = {"effort": "joint efforts", "base_wrench": "base wrench", "both": "base wrench and joint efforts"}
    return names[trace.estimate.model.source]


def _judge_fit(trace: LinkTrace) -> Sentence:
    found, urdf = find_fit(trace)
    relative = describe_fit(trace).relative_rms
    worst = int(relative.argmax())
    detail = f"worst is {trace.channels[worst]} with {100.0 * relative[worst]:.1f} %"
    text = f"{_say_fit(trace)}; {detail}."
    if found > POOR_FIT or found > urdf:
        advice = "make sure that URDF, unit of effort and gravity are right, and that nothing touches the arm"
        return Sentence("bad", "Fit", f"{text} To do: {advice}.")
    grade: Grade = "good" if found <= GOOD_FIT else "caution"
    return Sentence(grade, "Fit", f"{text} To quote a number, validate with a recording that was not used.")


def _judge_parameters(trace: LinkTrace) -> Sentence:
    states = trace.estimate.states
    weak = {state: states.count(state) for state in ("uncertain", "not excited yet")}
    rest = ", ".join(f"{count} {state}" for state, count in weak.items() if count)
    text = f"{_count_known(trace)} are known{', ' + rest if rest else ''}."
    if not rest:
        return Sentence("good", "Base parameters", text)
    joints = join_words(_find_weak_joints(trace))
    advice = f"move faster and through more of the range, above all {joints}"
    grade: Grade = "caution" if states.count("known") >= _LEAST_KNOWN * len(states) else "bad"
    return Sentence(grade, "Base parameters", f"{text} To do: {advice}.")


def _judge_findings(trace: LinkTrace) -> Iterator[Sentence]:
    """What the data say against the configuration."""
    for finding in trace.estimate.findings:
        message = finding.message[0].upper() + finding.message[1:]
        yield Sentence("bad" if finding.level == "error" else "caution", "Data", f"{message}.")


def _find_weak_joints(trace: LinkTrace) -> list[str]:
    """Joints with the largest share of parameters that are not known, theirs and those of the links they move."""
    model = trace.estimate.model
    names = [model.base.names[column].rpartition(".")[0] for column in model.base.columns]
    shares = {}
    for joint, link in zip(model.arm.joint_names, model.arm.link_names, strict=True):
        own = [
            state != "known" for name, state in zip(names, trace.estimate.states, strict=True) if name in (joint, link)
        ]
        shares[joint] = sum(own) / max(len(own), 1)
    largest = max(shares.values())
    weak = [joint for joint, share in shares.items() if share >= 0.8 * largest]
    return weak[:_MOST_JOINTS]


def _judge_joints(trace: LinkTrace) -> Iterator[Sentence]:
    unmoved = find_unmoved(trace)
    if unmoved:
        verb = "has" if len(unmoved) == 1 else "have"
        them = "it" if len(unmoved) == 1 else "them"
        text = f"{join_words(unmoved)} {verb} never moved. To do: move {them}; what is said of {them} means nothing."
        yield Sentence("bad", "Motion", text)


def _judge_bodies(trace: LinkTrace) -> Iterator[Sentence]:
    """What possible bodies leave over what the base parameters leave, in standard deviations."""
    estimate = trace.estimate
    difference = estimate.base.combination @ trace.parameters - estimate.values
    largest = float((abs(difference) / estimate.covariance.diagonal() ** 0.5).max())
    if largest > _FAR:
        text = (
            f"links that can exist must differ from the estimate by up to {largest:.0f} standard deviations: "
            "the model lacks something (friction, elasticity, delay)."
        )
        yield Sentence("caution", "Links", text)


_FAR = 4.0
