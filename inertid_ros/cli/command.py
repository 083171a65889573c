"""What all commands share: options that are declared once, errors on standard error, exit codes."""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inertid_ros.core.errors import InertidError, SettingError

if TYPE_CHECKING:
    from inertid_ros.core.settings.settings import Settings
    from inertid_ros.replay.plan import Plan

OK, FAILED, STOPPED = 0, 1, 130
"""Exit codes; 130 is the shells' convention for Ctrl-C. argparse itself exits with 2."""

GRAVITY = (0.0, 0.0, -9.80665)
"""Standard gravity along the root frame's z axis [m/s^2]."""


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], summary: str, description: str
) -> argparse.ArgumentParser:
    """Add a command to a parser's subparsers and return the parser of its options.

    Args:
        commands: the subparsers.
        name: what is typed.
        run: does it and returns the exit code; may raise InertidError. It imports what only it needs.
        summary: one line in the list of commands.
        description: for its own --help.
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=description, allow_abbrev=False
    )
    parser.set_defaults(run=run)
    return parser


def run_command(options: argparse.Namespace) -> int:
    """Run the command that was typed and return its exit code; what goes wrong is one line on standard error."""
    try:
        return int(options.run(options))
    except InertidError as error:
        complain(options, [error])
        return FAILED
    except KeyboardInterrupt:
        complain(options, ["stopped"])
        return STOPPED


def complain(options: argparse.Namespace, messages: Iterable[object]) -> None:
    """Write messages to standard error, one line each, with the name of the command."""
    for message in messages:
        sys.stderr.write(f"inertid {options.command}: {one_line(message)}\n")


def one_line(message: object) -> str:
    """A message without line breaks."""
    return " ".join(str(message).split())


def finish(options: argparse.Namespace, content: dict[str, Any], show: Callable[[dict[str, Any]], None]) -> int:
    """Print a result as JSON or tables, and its notes to standard error; the exit code is 1 if there are notes."""
    from inertid_ros.files.document import format_json

    notes = content.get("notes", ())
    complain(options, notes)
    if options.json:
        sys.stdout.write(format_json(content) + "\n")
    else:
        show(content)
    return FAILED if notes else OK


def add_bags(parser: argparse.ArgumentParser) -> None:
    """Add the recordings to read."""
    parser.add_argument("bags", nargs="+", type=Path, metavar="BAG", help="rosbag2 folder, or .mcap or .db3 file")


def add_params(parser: argparse.ArgumentParser, default: str = "all defaults") -> None:
    """Add the parameter file of the node."""
    parser.add_argument("--params", type=Path, metavar="FILE", help=f"parameter file of the node (default: {default})")


def add_urdf(parser: argparse.ArgumentParser, default: str = "robot_description in the bag") -> None:
    """Add the robot description of a command that can find it elsewhere."""
    parser.add_argument("--urdf", type=Path, metavar="FILE", help=f"robot description (default: {default})")


def add_robot(parser: argparse.ArgumentParser) -> None:
    """Add the robot description of a command that works on nothing else."""
    parser.add_argument("urdf", type=Path, metavar="URDF", help="the robot description")


def add_output(parser: argparse.ArgumentParser, metavar: str, about: str) -> None:
    """Add where to write."""
    parser.add_argument("-o", "--output", type=Path, metavar=metavar, required=True, help=about)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the choice of JSON."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def add_gravity(parser: argparse.ArgumentParser) -> None:
    """Add the direction of gravity."""
    parser.add_argument(
        "--gravity",
        type=float,
        nargs=3,
        default=list(GRAVITY),
        metavar=("X", "Y", "Z"),
        help=f"in the root frame of the URDF [m/s^2] (default {' '.join(f'{value:g}' for value in GRAVITY)})",
    )


def add_span(parser: argparse.ArgumentParser) -> None:
    """Add the options for a part of each bag."""
    about = "seconds after the first message of the bag"
    parser.add_argument("--start", type=float, metavar="SECONDS", help=f"use each bag from this many {about}")
    parser.add_argument("--end", type=float, metavar="SECONDS", help=f"use each bag up to this many {about}")


def add_remap(parser: argparse.ArgumentParser) -> None:
    """Add the option for topics with other names."""
    parser.add_argument(
        "--remap",
        action="append",
        default=[],
        metavar="NAME:=TOPIC",
        help="topic of joint_states, wrench, base_wrench or robot_description, such as wrench:=/ft_sensor/wrench; "
        "may be repeated",
    )


def add_estimate(parser: argparse.ArgumentParser) -> None:
    """Add the file of an estimate."""
    parser.add_argument(
        "estimate",
        type=Path,
        metavar="ESTIMATE",
        help="estimate.json, the directory it is in, or the YAML file of ~/save",
    )


def read_span(options: argparse.Namespace) -> tuple[float, float]:
    """Start and end [s] of the part of each bag; SettingError if there is nothing between them."""
    start = 0.0 if options.start is None else options.start
    end = math.inf if options.end is None else options.end
    if not 0.0 <= start < end:
        raise SettingError("--start and --end", f"{start:g} and {end:g}", "a start of 0 or more, and an end after it")
    return start, end


def read_parameters(options: argparse.Namespace, known: Settings | None = None) -> Settings:
    """Settings of the parameter file, or those known, with the URDF that was named; InertidError if there are none."""
    from inertid_ros.core.settings.settings import Settings
    from inertid_ros.files.parameters import read_settings

    settings = known or (Settings() if options.params is None else read_settings(options.params))
    if options.urdf is not None:
        settings = dataclasses.replace(settings, urdf=str(options.urdf.expanduser().absolute()))
    return settings


def read_description(settings: Settings) -> str:
    """Text of the URDF that settings name, empty for none; InertidError if it cannot be used."""
    from inertid_ros.files.urdf import UrdfFile

    return UrdfFile.read(Path(settings.urdf), "--urdf").text if settings.urdf else ""


def make_plan(options: argparse.Namespace) -> Plan:
    """Read what the options of a replay name; InertidError if a file cannot be used."""
    from inertid_ros.bags.topics import Topics
    from inertid_ros.files.provenance import hash_file
    from inertid_ros.replay.plan import Plan

    settings = read_parameters(options)
    start, end = read_span(options)
    return Plan(
        settings=settings,
        topics=Topics.from_remappings(options.remap),
        description=read_description(settings),
        settings_sha256="" if options.params is None else hash_file(options.params),
        start=start,
        end=end,
    )
