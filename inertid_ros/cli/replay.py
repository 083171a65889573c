"""`inertid replay`: recordings through the same chain as the node's."""

from __future__ import annotations

import argparse
import gc
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inertid_ros.cli.command import (
    FAILED,
    OK,
    add_bags,
    add_command,
    add_output,
    add_params,
    add_remap,
    add_span,
    add_urdf,
    complain,
    make_plan,
)

if TYPE_CHECKING:
    from rich.console import Console

    from inertid_ros.replay.recordings import Outcome


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "replay",
        run,
        "identify from recordings",
        "Replay bags through the same chain as the node's, far faster than they were recorded, and write "
        "estimate.json, predictions.mcap and report.html. A bag that begins at most 10 s after the end of the one "
        "before continues it. Others are recordings of their own: they are replayed in parallel, each into its own "
        "directory, and their information is added up in estimate.json.",
    )
    add_bags(parser)
    add_params(parser)
    add_urdf(parser)
    add_output(parser, "DIR", "directory to write to")
    add_span(parser)
    add_remap(parser)
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="recordings at the same time (default: one per processor)"
    )


def run(options: argparse.Namespace) -> int:
    """Replay; 0 if everything went well, 1 if something is left out or wrong."""
    from inertid_ros.cli.console import ProgressBar
    from inertid_ros.replay.recordings import find_recordings, replay_recordings

    gc.freeze()  # what was imported stays: looking through it for garbage takes a tenth of the time
    plan = make_plan(options)
    recordings = find_recordings(options.bags, plan)
    what = "1 recording" if len(recordings) == 1 else f"{len(recordings)} recordings"
    with ProgressBar(what, sum(recording.messages for recording in recordings)) as progress:
        outcome = replay_recordings(recordings, plan, options.output, progress.advance, options.jobs)
    complain(options, outcome.trouble)
    _print_outcome(outcome, options.output)
    return FAILED if outcome.trouble else OK


def _print_outcome(outcome: Outcome, output: Path) -> None:
    """Print what was found, how well it explains what was measured, and where the files are."""
    from rich.console import Console

    from inertid_ros.text.numbers import format_count

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
    from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
    from inertid_ros.text.numbers import format_parameter

    load = document["load"]
    for index, name in enumerate(PARAMETER_NAMES):
        deviation = math.sqrt(load["covariance"][index][index])
        text = format_parameter(index, float(load["parameters"][index]), deviation, load["states"][index])
        console.print(f"{name:>4}  {text}")
    for finding in load["findings"]:
        console.print(f"{finding['level']}: {finding['message']}")
    relative = document["residual"]["relative_rms"]
    console.print(f"residual: {100.0 * relative:.2f} % of the rms of the wrench")


def _print_links(console: Console, links: dict[str, Any]) -> None:
    from inertid_ros.text.parameters import count_states

    console.print(f"links: {count_states(links['base_parameters']['states'])}")
    for name, entry in links["fit"]["channels"].items():
        urdf = links["urdf_residual"]["channels"][name]["relative_rms"]
        console.print(f"  {name}: {100.0 * entry['relative_rms']:.2f} % left (URDF {100.0 * urdf:.1f} %)")
    for finding in links["findings"]:
        console.print(f"{finding['level']}: {finding['message']}")
    fit, urdf = links["fit"]["relative_rms"], links["urdf_residual"]["relative_rms"]
    console.print(f"fit: {100.0 * fit:.2f} % of the rms is left, {100.0 * urdf:.1f} % by the URDF alone")
