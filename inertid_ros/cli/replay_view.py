"""What `inertid replay` shows: how far it is, and in the end what was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from inertid_ros.core.inertial import PARAMETER_NAMES
from inertid_ros.number_text import format_parameter
from inertid_ros.offline.recordings import Outcome, Recording


class _Rate(ProgressColumn):
    """Messages a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} messages/s")


class ReplayProgress:
    """A bar over all recordings, on standard error."""

    def __init__(self, recordings: Sequence[Recording]) -> None:
        """Expect as many messages as the bags say they have."""
        total = sum(recording.messages for recording in recordings)
        what = "1 recording" if len(recordings) == 1 else f"{len(recordings)} recordings"
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            _Rate(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(what, total=total or None)

    def __enter__(self) -> ReplayProgress:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take it away."""
        self._progress.stop()

    def advance(self, messages: int) -> None:
        """Go on by so many messages."""
        self._progress.advance(self._task, messages)


def print_outcome(outcome: Outcome, output: Path) -> None:
    """Print the ten parameters, how well they explain the wrenches, and where the files are."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    load = outcome.document["load"]
    for index, name in enumerate(PARAMETER_NAMES):
        deviation = float(np.sqrt(load["covariance"][index][index]))
        text = format_parameter(index, float(load["parameters"][index]), deviation, load["states"][index])
        console.print(f"{name:>4}  {text}")
    for finding in load["findings"]:
        console.print(f"{finding['level']}: {finding['message']}")
    relative = outcome.document["residual"]["relative_rms"]
    console.print(f"residual: {100.0 * relative:.2f} % of the rms of the wrench")
    console.print(f"written to {output}")
