"""The progress bar of all commands that take a while."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class _Rate(ProgressColumn):
    """How many a second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} {self._unit}/s")


class ProgressBar:
    """A bar with rate and time left, which goes away at the end. Use it as a context."""

    def __init__(self, what: str, total: int, unit: str = "messages", console: Console | None = None) -> None:
        """Make a bar.

        Args:
            what: is being done.
            total: to expect; 0 where that is not known.
            unit: of what is counted.
            console: where to show it; standard error if None.
        """
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            _Rate(unit),
            TimeRemainingColumn(),
            console=console or Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(what, total=total or None)

    def __enter__(self) -> ProgressBar:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take it away."""
        self._progress.stop()

    def advance(self, count: int) -> None:
        """Go on by so many."""
        self._progress.advance(self._task, count)
