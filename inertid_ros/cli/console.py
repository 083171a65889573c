"""What commands show in a terminal: tables, lines and progress bars."""

from __future__ import annotations

import os
import sys

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

_WIDE = 240
"""Columns where the output is not a terminal: wide enough for every table, so that none is wrapped in a file."""


def make_console() -> Console:
    """A console for tables: as wide as the terminal, or in a file or pipe as COLUMNS says, else as wide as needed."""
    is_free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(width=_WIDE if is_free else None, highlight=False, markup=False)


def print_all(*items: RenderableType) -> None:
    """Print tables, and texts in one line each; brackets are units, not markup."""
    console = make_console()
    for item in items:
        console.print(item, soft_wrap=isinstance(item, str))


class _Rate(ProgressColumn):
    """How many per second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} {self._unit}/s")


class ProgressBar:
    """A bar on standard error, which is a terminal, with rate and remaining time; it disappears at the end."""

    def __init__(self, what: str, total: int, unit: str = "messages") -> None:
        """Make a bar that says what is being done; a total of 0 is one that is not known."""
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            _Rate(unit),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(what, total=total or None)

    def __enter__(self) -> ProgressBar:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove it."""
        self._progress.stop()

    def advance(self, count: int) -> None:
        """Advance by a number of units."""
        self._progress.advance(self._task, count)
