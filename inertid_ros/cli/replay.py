"""`inertid replay` and `inertid weigh`: recordings through the same chain as the node's."""

from __future__ import annotations

import argparse
import dataclasses
import gc
import math
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from inertid_ros.bags.bag import Bag
from inertid_ros.cli.command import FAILED, OK, complain, finish, make_plan
from inertid_ros.cli.console import ProgressBar, print_all
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.settings.choices import LoadSource
from inertid_ros.core.verdict import describe_issue
from inertid_ros.replay.recordings import Outcome, find_recordings, replay_recordings
from inertid_ros.replay.replay import weigh as weigh_bags
from inertid_ros.replay.trace import LoadTrace, unite_health
from inertid_ros.text.numbers import (
    PARAMETER_UNITS,
    format_estimate,
    format_number,
    format_parameter,
    format_spread,
)
from inertid_ros.text.parameters import count_states
from inertid_ros.text.sensor import format_nuisances


def replay(options: argparse.Namespace) -> int:
    """Replay; 0 if everything went well, 1 if something is left out or wrong."""
    gc.freeze()  # what was imported stays: looking through it for garbage takes a tenth of the time
    plan = make_plan(options)
    recordings = find_recordings(options.bags, plan)
    what = "1 recording" if len(recordings) == 1 else f"{len(recordings)} recordings"
    with ProgressBar(what, sum(recording.messages for recording in recordings)) as progress:
        outcome = replay_recordings(recordings, plan, options.output, progress.advance, options.jobs)
    complain(options, outcome.trouble)
    _print_outcome(outcome, options.output)
    return FAILED if outcome.trouble else OK


def weigh(options: argparse.Namespace) -> int:
    """Print the load of a robot without a wrist sensor; 0 if everything went well, 1 if something is wrong."""
    plan = make_plan(options)
    load = plan.settings.load
    arm = str(options.arm) if options.arm is not None else load.arm_file
    frame = options.frame if options.frame is not None else load.sensor_frame
    load = dataclasses.replace(load, source=LoadSource.EFFORT, arm_file=arm, sensor_frame=frame)
    plan = dataclasses.replace(plan, settings=dataclasses.replace(plan.settings, load=load))
    total = 0
    for path in options.bags:
        with Bag(path) as bag:
            total += bag.count((plan.topics.joint_states,))
    with ProgressBar("weighing", total) as bar:
        found = weigh_bags(options.bags, plan, bar.advance)
    return finish(options, found.list_all(), _print_weighing)


def _print_outcome(outcome: Outcome, output: Path) -> None:
    """Print what was found, how well it explains what was measured, and where the files are."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    if outcome.document["load"] is not None:
        _print_load(console, outcome.document, outcome.recordings[-1].traces.load)
    if outcome.document["links"] is not None:
        _print_links(console, outcome.document["links"])
    for reason in dict.fromkeys(reason for verdict in outcome.verdicts.values() for reason in verdict.reasons):
        console.print(f"{reason.level}: {reason.message}")
    for item in unite_health(part.traces.health for part in outcome.recordings):
        if item.code == "gap":
            console.print(f"note: {item.source}: {describe_issue(item)}")
    for name, verdict in outcome.verdicts.items():
        console.print(f"verdict on the {name}: {verdict.headline}")
    console.print(f"written to {output}")


def _print_load(console: Console, document: dict[str, Any], last: LoadTrace | None) -> None:
    load, sensor = document["load"], None if last is None else last.estimate.sensor
    for index, name in enumerate(PARAMETER_NAMES):
        deviation = math.sqrt(load["covariance"][index][index])
        state = load["states"][index]
        text = format_parameter(index, float(load["parameters"][index]), deviation, state)
        repeats = format_spread(load["repeatability"][index], PARAMETER_UNITS[index])
        console.print(f"{name:>4}  {text}" + ("" if state == "not excited yet" else f"; repeats within ± {repeats}"))
    if sensor is not None:
        for name, text in format_nuisances(sensor).items():
            console.print(f"{name}: {text}")
    relative = document["residual"]["relative_rms"]
    console.print(f"residual: {100.0 * relative:.2f} % of the rms of the wrench")


def _print_links(console: Console, links: dict[str, Any]) -> None:
    console.print(f"links: {count_states(links['base_parameters']['states'])}")
    for name, entry in links["fit"]["channels"].items():
        urdf = links["urdf_residual"]["channels"][name]["relative_rms"]
        console.print(f"  {name}: {100.0 * entry['relative_rms']:.2f} % left (URDF {100.0 * urdf:.1f} %)")
    fit, urdf = links["fit"]["relative_rms"], links["urdf_residual"]["relative_rms"]
    console.print(f"fit: {100.0 * fit:.2f} % of the rms is left, {100.0 * urdf:.1f} % by the URDF alone")


def _print_weighing(content: dict[str, Any]) -> None:
    table = Table("parameter", "value ± 95 %", "state", title=f"Load in frame {content['frame']}")
    for unit, (name, entry) in zip(PARAMETER_UNITS, content["parameters"].items(), strict=True):
        table.add_row(name, format_estimate(entry["value"], entry["deviation"], unit), entry["state"])
    left = ", ".join(f"{joint} {value:.3g}" for joint, value in content["residual_rms"].items())
    lines = [f"rms of the filtered efforts not explained: {left} [Nm or N]"]
    if content["com"] is not None:
        centre = ", ".join(format_number(1e3 * value, ".1f") for value in content["com"])
        lines.append(f"centre of mass: ({centre}) mm")
    print_all(table, *lines, f"verdict: {content['verdict']['headline']}")
