"""Verdicts: whether the numbers can be trusted, in plain words, and what to do if they cannot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from inertid_ros.core.diagnosis import Finding
from inertid_ros.replay.trace import Trace
from inertid_ros.text.numbers import format_count

Grade = Literal["good", "caution", "bad"]

_MOST_TIMES = 4
_MOST_PROBLEMS = 4
"""So many are named; the others are counted, as they are listed further down in the report."""


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
    grades: dict[str, Grade] = {"error": "bad", "warning": "caution", "info": "good"}
    for finding in findings:
        yield Sentence(grades[finding.level], subject, f"{finding.message}.")


def judge_input(trace: Trace) -> Iterator[Sentence]:
    """Report what was wrong with the recording."""
    for note in trace.notes:
        yield Sentence("bad", "Recording", f"{note}.")
    order = {"error": 0, "warning": 1}
    items = sorted((item for item in trace.health if item.level in order), key=lambda item: order[item.level])
    for item in items[:_MOST_PROBLEMS]:
        grade: Grade = "bad" if item.level == "error" else "caution"
        text = f"{item.message} ({format_count(item.count)}). To do: {item.remedy}."
        yield Sentence(grade, f"Input {item.source}", text)
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
