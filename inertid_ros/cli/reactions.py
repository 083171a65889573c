"""`inertid reactions`: masses and first moments of an arm from poses at rest on a base sensor."""

from __future__ import annotations

import argparse
from typing import Any

from rich.table import Table

from inertid_ros.bags.topics import Topics
from inertid_ros.cli.command import finish, read_description, read_parameters
from inertid_ros.cli.console import print_all
from inertid_ros.files.parameters import write_static_file
from inertid_ros.replay.reactions import ReactionPlan, find_reactions
from inertid_ros.text.numbers import INTERVAL, format_number


def run(options: argparse.Namespace) -> int:
    """Print what the poses identify; 0 if everything went well, 1 if something is wrong."""
    settings = read_parameters(options)
    plan = ReactionPlan(
        settings=settings,
        topics=Topics.from_remappings(options.remap),
        description=read_description(settings),
        gravities=tuple(map(tuple, options.gravity)),
        from_force=options.gravity_from_force,
        with_offset=not options.no_offset,
    )
    reactions = find_reactions(options.bags, plan)
    if options.poses is not None:
        write_static_file(options.poses, reactions.static)
    return finish(options, reactions.list_all(), _print_table)


def _print_table(content: dict[str, Any]) -> None:
    table = Table()
    table.add_column("identified")
    for heading in ("value", "± (95 %)", "by the URDF", "unit"):
        table.add_column(heading, justify="right")
    for entry in content["parameters"]:
        sizes = (entry["value"], INTERVAL * entry["deviation"], entry["urdf"])
        table.add_row(entry["combination"], *(format_number(size, ".4f") for size in sizes), entry["unit"])
    rms = content["residual_rms"]
    lines = [
        f"poses: {' + '.join(map(str, content['poses']))}, sensor at frame {content['base_frame']}",
        f"condition number: {content['condition_number']:.1f}",
        "residual rms: " + ", ".join(f"{name} {value:.3g}" for name, value in rms.items()) + " [N, Nm]",
    ]
    known, needed = content["orientations"], content["orientations_for_all"]
    if known < needed:
        lines.append(
            f"orientations of the base: {known} of the {needed} that identify all that gravity can: tilt it further"
        )
    if content["not_identified"]:
        lines.append("not identifiable from poses at rest: " + ", ".join(content["not_identified"]))
    print_all(table, *lines, _describe_suggestion(content))


def _describe_suggestion(content: dict[str, Any]) -> str:
    pose, known = content["pose_to_add"], len(content["parameters"])
    places = ", ".join(f"{joint} {format_number(position, '.2f')}" for joint, position in pose["positions"].items())
    orientation = f", base as in bag {pose['base_as_in_bag']}" if len(content["poses"]) > 1 else ""
    if pose["combinations"] > known:
        gain = f"identifies {pose['combinations'] - known} more"
    elif pose["condition_number"] < content["condition_number"]:
        gain = f"lowers the condition number to {pose['condition_number']:.1f}"
    else:
        return "pose to add: none lowers the condition number"
    return f"pose to add: {places}{orientation}: {gain}"
