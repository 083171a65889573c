"""The live view of the demonstration: a table that is redrawn in a terminal, a line now and then elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from inertid_ros.cli.demo_verdict import judge
from inertid_ros.core.records import FloatArray
from inertid_ros.text.numbers import format_estimate, format_interval, parameter_label

STATE_STYLES = {"known": "green", "uncertain": "yellow", "not excited yet": "red"}
_LINE_PERIOD = 1.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is shown at one moment.

    Attributes:
        time: seconds since the first estimate.
        phase: what is going on, in words.
        truth: (10,) what is really carried.
        parameters, covariance, states: what the estimator says.
        lines: the newest lines of its log.
    """

    time: float
    phase: str
    truth: FloatArray
    parameters: FloatArray
    covariance: FloatArray
    states: tuple[str, ...]
    lines: tuple[str, ...]


class Shown(Protocol):
    """What every snapshot has."""

    @property
    def time(self) -> float:
        """Seconds since the first estimate."""

    @property
    def phase(self) -> str:
        """What is going on, in words."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The newest lines of the estimator's log."""


Taken = TypeVar("Taken", bound=Shown)


class DemoView(Generic[Taken]):
    """Shows snapshots, as well as the output can."""

    def __init__(
        self, console: Console, make_table: Callable[[Taken, str], Table], make_line: Callable[[Taken], str]
    ) -> None:
        """Show on a console, as a table with a title or in one line."""
        self._console = console
        self._make_table = make_table
        self._make_line = make_line
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self._last_line = -np.inf

    def __enter__(self) -> DemoView[Taken]:
        """Take the screen over."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Give the screen back."""
        if self._live is not None:
            self._live.stop()

    def show(self, snapshot: Taken) -> None:
        """Show how things are."""
        if self._live is not None:
            log = [Text(line, style="dim", overflow="ellipsis", no_wrap=True) for line in snapshot.lines]
            title = f"{snapshot.time:5.1f} s  {snapshot.phase}"
            self._live.update(Group(self._make_table(snapshot, title), *log), refresh=True)
        elif snapshot.time - self._last_line >= _LINE_PERIOD:
            self._last_line = snapshot.time
            self._console.print(self._make_line(snapshot), highlight=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """Show one line that stays."""
        self._console.print(text, highlight=False, soft_wrap=True)


def make_table(snapshot: Snapshot, title: str) -> Table:
    """Return the ten parameters against the truth."""
    table = Table(title=title, title_justify="left")
    for heading in ("parameter", "truth", "estimate ± 95 %", "inside"):
        table.add_column(heading, justify="right")
    table.add_column("state", min_width=15)
    inside = judge(snapshot.parameters, snapshot.covariance, snapshot.truth).inside
    deviations = np.sqrt(np.diag(snapshot.covariance))
    for index, state in enumerate(snapshot.states):
        excited = state != "not excited yet"
        estimate = format_estimate(snapshot.parameters[index], deviations[index]) if excited else "-"
        mark = ("yes" if inside[index] else "no") if excited else "-"
        # As Text, since rich takes brackets in a plain string for markup.
        label, verdict = Text(parameter_label(index)), Text(state, style=STATE_STYLES[state])
        table.add_row(label, f"{snapshot.truth[index]:.5f}", estimate, mark, verdict)
    return table


def make_line(snapshot: Snapshot) -> str:
    """Return the same in one line."""
    mass = "mass not excited yet"
    if snapshot.states[0] != "not excited yet":
        deviation = float(np.sqrt(snapshot.covariance[0, 0]))
        mass = f"mass {format_interval(snapshot.parameters[0], deviation, 'kg')}, truth {snapshot.truth[0]:.3f}"
    known = _count(snapshot.states, "known")
    return f"{snapshot.time:5.1f} s  {snapshot.phase}: {mass}, {known} of 10 parameters known"


def _count(states: Sequence[str], state: str) -> int:
    return sum(item == state for item in states)
