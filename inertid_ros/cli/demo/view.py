"""The live view of a demonstration, and the judgement: is the truth inside the stated uncertainty?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text
from scipy.stats import chi2

from inertid_ros.core.records import FloatArray
from inertid_ros.text.numbers import INTERVAL, format_estimate, format_number

CONFIDENCE = 0.999
"""An honest estimate fails the joint test once in a thousand runs."""

STYLES = {"known": "green", "uncertain": "yellow", "not excited yet": "red"}
_LINE_PERIOD = 1.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The estimate of n parameters at one moment, beside the truth.

    Attributes:
        labels: of the parameters.
        truth: (n,) of what is simulated.
        modelled: (n,) by the CAD model that the URDF has; None where it has none.
        time: seconds since the first estimate.
        phase: what is going on, in words.
        values, covariance, states: what the estimator says.
        lines: the newest lines of its log.
    """

    labels: tuple[str, ...]
    truth: FloatArray
    modelled: FloatArray | None = None
    time: float = 0.0
    phase: str = ""
    values: FloatArray = field(default_factory=lambda: np.empty(0))
    covariance: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    states: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def known(self) -> int:
        """How many parameters are known."""
        return sum(state == "known" for state in self.states)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far the truth is from an estimate of n parameters, by the estimate's own covariance.

    Many 95 % intervals hold all their truths together in well under 95 % of honest runs, so the judgement is on all
    together: the distance d² = (φ − φ*)ᵀ C⁻¹ (φ − φ*) has a chi-square distribution with n degrees of freedom; up to a
    limit it passes. `inside` (n,) tells of each truth whether it is inside its own 95 % interval.
    """

    inside: NDArray[np.bool_]
    distance: float
    limit: float

    @property
    def passes(self) -> bool:
        """Whether the truth is inside the joint region."""
        return self.distance <= self.limit


def judge(values: FloatArray, covariance: FloatArray, truth: FloatArray) -> Verdict:
    """Compare (n,) values of (n, n) covariance with the truth (n,)."""
    error = values - truth
    scale = np.sqrt(np.diag(covariance))
    normalised = error / scale
    distance = float(normalised @ np.linalg.solve(covariance / np.outer(scale, scale), normalised))
    return Verdict(np.abs(normalised) <= INTERVAL, distance, float(chi2.ppf(CONFIDENCE, len(error))))


class DemoView:
    """Shows snapshots: a table that is redrawn in a terminal, one line per second elsewhere."""

    def __init__(self, console: Console, describe: Callable[[Snapshot], str]) -> None:
        """Show on a console; `describe` writes the one line."""
        self._console = console
        self._describe = describe
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self._last_line = -np.inf

    def __enter__(self) -> DemoView:
        """Take over the screen."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Give the screen back."""
        if self._live is not None:
            self._live.stop()

    def show(self, snapshot: Snapshot) -> None:
        """Show the present estimate."""
        if self._live is not None:
            log = [Text(line, style="dim", overflow="ellipsis", no_wrap=True) for line in snapshot.lines]
            title = f"{snapshot.time:5.1f} s  {snapshot.phase}"
            self._live.update(Group(make_table(snapshot, title), *log), refresh=True)
        elif snapshot.time - self._last_line >= _LINE_PERIOD:
            self._last_line = snapshot.time
            self.note(f"{snapshot.time:5.1f} s  {snapshot.phase}: {self._describe(snapshot)}")

    def note(self, text: str) -> None:
        """Show one line that stays."""
        self._console.print(text, highlight=False, soft_wrap=True)


def make_table(snapshot: Snapshot, title: str) -> Table:
    """Return the parameters against the truth, and the CAD model where there is one."""
    table = Table(title=title, title_justify="left")
    table.add_column("parameter", overflow="fold", justify="right")
    columns = [snapshot.truth] if snapshot.modelled is None else [snapshot.modelled, snapshot.truth]
    for heading in (*("CAD", "truth")[-len(columns) :], "estimate ± 95 %", "inside"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("state", min_width=15)
    inside = judge(snapshot.values, snapshot.covariance, snapshot.truth).inside
    deviations = np.sqrt(np.diag(snapshot.covariance))
    for index, state in enumerate(snapshot.states):
        excited = state != "not excited yet"
        estimate = format_estimate(snapshot.values[index], deviations[index]) if excited else "-"
        mark = ("yes" if inside[index] else "no") if excited else "-"
        numbers = [format_number(column[index], ".5f") for column in columns]
        # As Text, since rich takes brackets in a plain string for markup.
        table.add_row(Text(snapshot.labels[index]), *numbers, estimate, mark, Text(state, style=STYLES[state]))
    return table


def print_verdict(console: Console, final: Snapshot, what: str, further: Sequence[tuple[bool, str]]) -> int:
    """Print whether the final estimate deserves its uncertainty; returns the exit code.

    `what` names the parameters; `further` are other lines of the judgement, each with whether it is good.
    """
    verdict = judge(final.values, final.covariance, final.truth)
    count = len(final.states)
    where = "inside" if verdict.passes else "outside"
    distance = f"squared distance {verdict.distance:.1f}, limit {verdict.limit:.1f}"
    lines = [
        (final.known == count, f"{final.known} of {count} {what} are known"),
        (verdict.passes, f"the truth is {where} the stated uncertainty of all {count} together: {distance}"),
        *further,
    ]
    for good, line in lines:
        text = Text(f"{'ok ' if good else 'BAD'} {line}", style="green" if good else "red")
        console.print(text, soft_wrap=True)
    inside = int(np.count_nonzero(verdict.inside))
    console.print(f"    {inside} of {count} truths are inside their own 95 % intervals", highlight=False)
    return 0 if all(good for good, _ in lines) else 1
