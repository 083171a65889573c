"""What commands show in a terminal: tables, progress bars and curves."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from inertid_ros.core.records import FloatArray

_WIDE = 240
"""Columns where the output is not a terminal: wide enough for every table, so that none is wrapped in a file."""

_BRAILLE = 0x2800
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""Bits of the four by two dots of a braille character."""


def make_console(**options: Any) -> Console:
    """A console for tables: as wide as the terminal, or in a file or pipe as COLUMNS says, else as wide as needed."""
    is_free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(width=_WIDE if is_free else None, **options)


class _Rate(ProgressColumn):
    """How many per second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} {self._unit}/s")


class ProgressBar:
    """A bar on standard error, if that is a terminal, with rate and remaining time; it disappears at the end."""

    def __init__(self, what: str, total: int, unit: str = "messages") -> None:
        """Make a bar.

        Args:
            what: what is being done.
            total: how many to expect; 0 if that is not known.
            unit: what is counted.
        """
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            _Rate(unit),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
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


def plot_curves(curves: Sequence[tuple[str, FloatArray]], width: int, height: int) -> Text:
    """Draw curves on top of each other to the same scale, with the dots of braille characters.

    Args:
        curves: style and (N,) values of each; where two share a character, the later one gives the style.
        width: characters per line.
        height: lines.
    """
    low = min(float(values.min()) for _, values in curves)
    high = max(float(values.max()) for _, values in curves)
    cells = np.zeros((height, width), dtype=np.int64)
    styles = np.full((height, width), "", dtype=object)
    across = np.arange(2 * width)
    for style, values in curves:
        places = np.linspace(0.0, len(values) - 1.0, 2 * width)
        levels = np.interp(places, np.arange(len(values)), values)
        share = (high - levels) / (high - low) if high > low else np.full(2 * width, 0.5)
        down = np.rint(share * (4 * height - 1)).astype(np.int64)
        rows, columns = down // 4, across // 2
        np.bitwise_or.at(cells, (rows, columns), _DOTS[down % 4, across % 2])
        styles[rows, columns] = style
    text = Text()
    for row in range(height):
        for column in range(width):
            text.append(chr(_BRAILLE + int(cells[row, column])), style=str(styles[row, column]))
        text.append("\n")
    return text
