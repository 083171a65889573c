"""`inertid reactions`: masses and first moments of an arm from poses at rest on a base sensor."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inertid_ros.cli.command import (
    add_bags,
    add_command,
    add_json,
    add_params,
    add_remap,
    add_urdf,
    finish,
    read_description,
    read_parameters,
)

if TYPE_CHECKING:
    from inertid_ros.replay.reactions import ReactionPlan


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "reactions",
        run,
        "identify masses and first moments of the links from poses at rest on a base sensor",
        "Find poses at rest in bags of joint_states and base_wrench, and print the masses and first moments that they "
        "identify, alone or in combinations, the condition number, and the best pose to add. The base may be tilted "
        "differently in each bag.",
    )
    add_bags(parser)
    add_params(parser)
    add_urdf(parser)
    orientation = parser.add_mutually_exclusive_group()
    orientation.add_argument(
        "--gravity",
        nargs=3,
        type=float,
        action="append",
        default=[],
        metavar=("X", "Y", "Z"),
        help="gravity in the root frame [m/s^2], once for all bags or once per bag (default: that of the parameters)",
    )
    orientation.add_argument(
        "--gravity-from-force",
        action="store_true",
        help="take its direction from the force of an offset-free sensor",
    )
    parser.add_argument("--no-offset", action="store_true", help="the sensor was zeroed without the robot on it")
    parser.add_argument("--poses", type=Path, metavar="FILE", help="write the poses for links.static_file")
    add_json(parser)
    add_remap(parser)


def run(options: argparse.Namespace) -> int:
    """Print what the poses identify; 0 if everything went well, 1 if something is wrong."""
    from inertid_ros.files.parameters import write_static_file
    from inertid_ros.replay.reactions import find_reactions

    reactions = find_reactions(options.bags, _make_plan(options))
    if options.poses is not None:
        write_static_file(options.poses, reactions.static)
    return finish(options, reactions.list_all(), _print_table)


def _make_plan(options: argparse.Namespace) -> ReactionPlan:
    from inertid_ros.bags.topics import Topics
    from inertid_ros.replay.reactions import ReactionPlan

    settings = read_parameters(options)
    return ReactionPlan(
        settings=settings,
        topics=Topics.from_remappings(options.remap),
        description=read_description(settings),
        gravities=tuple(map(tuple, options.gravity)),
        from_force=options.gravity_from_force,
        with_offset=not options.no_offset,
    )


def _print_table(content: dict[str, Any]) -> None:
    from rich.table import Table

    from inertid_ros.cli.console import make_console

    table = Table()
    table.add_column("identified")
    for heading in ("value", "± (95 %)", "by the URDF", "unit"):
        table.add_column(heading, justify="right")
    for entry in content["parameters"]:
        sizes = (entry["value"], 1.96 * entry["deviation"], entry["urdf"])
        table.add_row(entry["combination"], *(f"{size:.4f}" for size in sizes), entry["unit"])
    console = make_console()
    console.print(table)
    rms = content["residual_rms"]
    lines = [
        f"poses: {' + '.join(map(str, content['poses']))}, sensor at frame {content['base_frame']}",
        f"condition number: {content['condition_number']:.1f}",
        "residual rms: " + ", ".join(f"{name} {value:.3g}" for name, value in rms.items()) + " [N, Nm]",
    ]
    known, needed = content["orientations"], content["orientations_for_all"]
    if known < needed:
        lines.append(f"orientations of the base: {known}; {needed} identify all that gravity can: tilt it differently")
    if content["not_identified"]:
        lines.append("not identifiable from poses at rest: " + ", ".join(content["not_identified"]))
    for line in [*lines, _describe_suggestion(content)]:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _describe_suggestion(content: dict[str, Any]) -> str:
    pose, known = content["pose_to_add"], len(content["parameters"])
    places = ", ".join(f"{joint} {position:.2f}" for joint, position in pose["positions"].items())
    orientation = f", base as in bag {pose['base_as_in_bag']}" if len(content["poses"]) > 1 else ""
    if pose["combinations"] > known:
        gain = f"identifies {pose['combinations'] - known} more"
    elif pose["condition_number"] < content["condition_number"]:
        gain = f"lowers the condition number to {pose['condition_number']:.1f}"
    else:
        return "pose to add: none lowers the condition number"
    return f"pose to add: {places}{orientation}: {gain}"
