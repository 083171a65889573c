"""What a command line is made of: commands, and options that mean the same in all of them."""

from __future__ import annotations

import argparse
import gc
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from inertid_ros import __version__

EITHER = "either"
"""The group of a command's options that exclude each other."""


class Option(NamedTuple):
    """One argument: its names, the keywords that argparse takes with them, and its group, EITHER or a heading."""

    names: tuple[str, ...]
    keywords: dict[str, Any]
    group: str = ""


class Command(NamedTuple):
    """What can be typed after `inertid`.

    Attributes:
        name: what is typed.
        run: module of this package and function that does it; the function takes the options, may raise InertidError,
            and returns the exit code. The module is imported when the command is run.
        summary: one line in the list of commands.
        description: for its own --help.
        options: in the order of --help.
        takes_ros_arguments: whether --ros-args and what follows are for the command.
    """

    name: str
    run: str
    summary: str
    description: str
    options: tuple[Option, ...] = ()
    takes_ros_arguments: bool = False

    def execute(self, options: argparse.Namespace) -> int:
        """Import the function and call it."""
        module, function = self.run.split(".")
        gc.disable()  # imports leave no garbage: looking for it takes a tenth of their time
        try:
            run = getattr(import_module(f"inertid_ros.cli.{module}"), function)
        finally:
            gc.enable()
        return int(run(options))


def make_parser(commands: tuple[Command, ...]) -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="inertid",
        description="Identify what a robot carries and the inertial parameters of its arm, live and from bags.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in commands:
        own = parsers.add_parser(
            command.name, help=command.summary, description=command.description, allow_abbrev=False
        )
        own.set_defaults(run=command.execute, takes_ros_arguments=command.takes_ros_arguments)
        groups: dict[str, Any] = {"": own}
        for names, keywords, group in command.options:
            if group not in groups:
                groups[group] = own.add_mutually_exclusive_group() if group == EITHER else own.add_argument_group(group)
            groups[group].add_argument(*names, **keywords)
    return parser


def option(*names: str, group: str = "", **keywords: Any) -> Option:
    """Declare an option of text, or of whatever the keywords say."""
    return Option(names, keywords, group)


def file_option(*names: str, metavar: str = "FILE", **keywords: Any) -> Option:
    """Declare an option that is a path."""
    return option(*names, type=Path, metavar=metavar, **keywords)


def params(default: str = "all defaults") -> Option:
    """The parameter file of the node."""
    return file_option("--params", help=f"parameter file of the node (default: {default})")


def urdf(default: str = "robot_description in the bag") -> Option:
    """The robot description of a command that can find it elsewhere."""
    return file_option("--urdf", help=f"robot description (default: {default})")


def output(metavar: str, about: str) -> Option:
    """Where to write."""
    return file_option("-o", "--output", metavar=metavar, required=True, help=about)


SOURCES = ("effort", "base_wrench", "both")
"""What may be measured of links."""

BAG = file_option("bag", metavar="BAG", help="rosbag2 folder, or .mcap or .db3 file")
BAGS = Option(("bags",), {**BAG.keywords, "nargs": "+"})
ROBOT = file_option("urdf", metavar="URDF", help="the robot description")
"""Of a command that works on nothing else."""
ESTIMATE = file_option(
    "estimate", metavar="ESTIMATE", help="estimate.json, the directory it is in, or the YAML file of ~/save"
)
JSON = option("--json", action="store_true", help="print JSON instead of tables")
GRAVITY = option(
    "--gravity",
    type=float,
    nargs=3,
    default=[0.0, 0.0, -9.80665],
    metavar=("X", "Y", "Z"),
    help="gravity in the root frame of the URDF [m/s^2] (default 0 0 -9.80665)",
)
_AFTER = "this many seconds after the first message of the bag"
SPAN = (
    option("--start", type=float, metavar="SECONDS", help=f"use each bag from {_AFTER}"),
    option("--end", type=float, metavar="SECONDS", help=f"use each bag up to {_AFTER}"),
)
REMAP = option(
    "--remap",
    action="append",
    default=[],
    metavar="NAME:=TOPIC",
    help="topic of joint_states, wrench, base_wrench or robot_description, such as wrench:=/ft_sensor/wrench; may be "
    "repeated",
)
