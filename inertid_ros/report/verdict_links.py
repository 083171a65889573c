"""What the verdict on an arm rests on, with numbers and advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.verdict import GOOD_SHARE, describe_fit, find_share, join_words
from inertid_ros.replay.residuals import ResidualStatistics
from inertid_ros.replay.trace import LinkTrace
from inertid_ros.report.verdict import Sentence, list_reasons

_LEAST_ANGLE, _LEAST_LENGTH = 0.05, 0.01
"""Excitation [rad, m] below which a joint counts as not moved: noise and sag are as large."""
_MOST_JOINTS = 4


def list_link_sentences(trace: LinkTrace) -> tuple[Sentence, ...]:
    """What there is to say of an arm, the most important first."""
    reasons = tuple(list_reasons(trace.verdict))
    if trace.estimate.rows == 0:
        return reasons
    return (*reasons, _judge_fit(trace), *_judge_joints(find_unmoved(trace)), _judge_parameters(trace))


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


def _judge_fit(trace: LinkTrace) -> Sentence:
    relative, fit = find_residuals(trace).relative_rms, trace.estimate.fit
    assert fit is not None
    worst = int(relative.argmax())
    text = f"{describe_fit(fit)}; it is largest for {trace.channels[worst]} with {100.0 * relative[worst]:.1f} %."
    is_good = find_share(fit, fit.residual_rms) <= GOOD_SHARE
    advice = "Before quoting a number, validate the estimate on another recording."
    return Sentence("good" if is_good else "caution", "Fit", f"{text} {advice}")


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
