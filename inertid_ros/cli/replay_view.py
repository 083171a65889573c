"""What `inertid replay` shows: how far it is, and in the end what was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from inertid_ros.cli.progress_bar import ProgressBar
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.replay.recordings import Outcome, Recording
from inertid_ros.text.numbers import format_count, format_parameter
from inertid_ros.text.parameters import count_states


def make_progress_bar(recordings: Sequence[Recording]) -> ProgressBar:
    """A bar over all recordings, with as many messages as the bags say they have."""
    what = "1 recording" if len(recordings) == 1 else f"{len(recordings)} recordings"
    return ProgressBar(what, sum(recording.messages for recording in recordings))


def print_outcome(outcome: Outcome, output: Path) -> None:
    """Print what was found, how well it explains what was measured, and where the files are."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    if outcome.document["load"] is not None:
        _print_load(console, outcome.document)
    if outcome.document["links"] is not None:
        _print_links(console, outcome.document["links"])
    for item in {item.code: item for part in outcome.recordings for item in part.traces.health}.values():
        if item.level != "info":
            detail = f"{item.detail}; {format_count(item.count)}" if item.detail else format_count(item.count)
            console.print(f"{item.level}: {item.source}: {item.message} ({detail}); {item.remedy}")
    console.print(f"written to {output}")


def _print_load(console: Console, document: dict[str, Any]) -> None:
    load = document["load"]
    for index, name in enumerate(PARAMETER_NAMES):
        deviation = float(np.sqrt(load["covariance"][index][index]))
        text = format_parameter(index, float(load["parameters"][index]), deviation, load["states"][index])
        console.print(f"{name:>4}  {text}")
    for finding in load["findings"]:
        console.print(f"{finding['level']}: {finding['message']}")
    relative = document["residual"]["relative_rms"]
    console.print(f"residual: {100.0 * relative:.2f} % of the rms of the wrench")


def _print_links(console: Console, links: dict[str, Any]) -> None:
    console.print(f"links: {count_states(links['base_parameters']['states'])}")
    for name, entry in links["fit"]["channels"].items():
        urdf = links["urdf_residual"]["channels"][name]["relative_rms"]
        console.print(f"  {name}: {100.0 * entry['relative_rms']:.2f} % left (URDF {100.0 * urdf:.1f} %)")
    for finding in links["findings"]:
        console.print(f"{finding['level']}: {finding['message']}")
    fit, urdf = links["fit"]["relative_rms"], links["urdf_residual"]["relative_rms"]
    console.print(f"fit: {100.0 * fit:.2f} % of the rms is left, {100.0 * urdf:.1f} % by the URDF alone")
