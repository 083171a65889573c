"""What `inertid replay` shows: how far it is, and in the end what was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from inertid_ros.cli.progress_bar import ProgressBar
from inertid_ros.core.inertial import PARAMETER_NAMES
from inertid_ros.number_text import format_parameter
from inertid_ros.offline.recordings import Outcome, Recording


def make_progress_bar(recordings: Sequence[Recording]) -> ProgressBar:
    """A bar over all recordings, with as many messages as the bags say they have."""
    what = "1 recording" if len(recordings) == 1 else f"{len(recordings)} recordings"
    return ProgressBar(what, sum(recording.messages for recording in recordings))


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
