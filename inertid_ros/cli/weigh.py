"""`inertid weigh`: the load of a robot without a wrist sensor, from bags."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from inertid_ros.cli.command import (
    add_bags,
    add_command,
    add_json,
    add_params,
    add_remap,
    add_span,
    add_urdf,
    finish,
    make_plan,
)


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "weigh",
        run,
        "identify a load from joint efforts, without a wrist sensor",
        "Identify the load that the arm carries in bags of joint_states with effort. The arm itself must have been "
        "identified before, without the load: by inertid replay with estimators [links], or live by ~/save.",
    )
    add_bags(parser)
    parser.add_argument("--arm", type=Path, metavar="FILE", help="estimate.json or YAML of the arm (load.arm_file)")
    parser.add_argument("--frame", metavar="FRAME", help="frame the load is fixed to (load.sensor_frame)")
    add_params(parser, "all defaults; use the one the arm was identified with")
    add_urdf(parser)
    add_span(parser)
    add_remap(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the load; 0 if everything went well, 1 if something is wrong."""
    from inertid_ros.bags.bag import Bag
    from inertid_ros.cli.console import ProgressBar
    from inertid_ros.replay.replay import weigh

    plan = make_plan(options)
    load = plan.settings.load
    arm = str(options.arm) if options.arm is not None else load.arm_file
    frame = options.frame if options.frame is not None else load.sensor_frame
    load = dataclasses.replace(load, source="effort", arm_file=arm, sensor_frame=frame)
    plan = dataclasses.replace(plan, settings=dataclasses.replace(plan.settings, load=load))
    total = 0
    for path in options.bags:
        with Bag(path) as bag:
            total += bag.count((plan.topics.joint_states,))
    with ProgressBar("weighing", total) as bar:
        weighing = weigh(options.bags, plan, bar.advance)
    return finish(options, weighing.list_all(), _print_table)


def _print_table(content: dict[str, Any]) -> None:
    from rich.table import Table

    from inertid_ros.cli.console import make_console
    from inertid_ros.text.numbers import PARAMETER_UNITS, format_estimate

    table = Table(title=f"Load in frame {content['frame']}")
    for heading in ("parameter", "value ± 95 %", "state"):
        table.add_column(heading)
    for unit, (name, entry) in zip(PARAMETER_UNITS, content["parameters"].items(), strict=True):
        table.add_row(name, format_estimate(entry["value"], entry["deviation"], unit), entry["state"])
    console = make_console()
    console.print(table)
    left = ", ".join(f"{joint} {value:.3g}" for joint, value in content["residual_rms"].items())
    lines = [f"rms of the filtered efforts not explained: {left} [Nm or N]"]
    if content["com"] is not None:
        centre = ", ".join(f"{1e3 * value:.1f}" for value in content["com"])
        lines.append(f"centre of mass: ({centre}) mm")
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
