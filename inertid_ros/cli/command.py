"""What a command line is made of: commands, options that mean the same in all of them, errors and exit codes."""

from __future__ import annotations

import argparse
import dataclasses
import gc
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from inertid_ros import __version__
from inertid_ros.core.errors import InertidError, SettingError, make_printable

if TYPE_CHECKING:
    from inertid_ros.core.settings.settings import Settings
    from inertid_ros.files.estimate import SavedEstimate
    from inertid_ros.replay.inputs import Plan

OK, FAILED, STOPPED, PIPE_CLOSED = 0, 1, 130, 141
"""Exit codes; 130 is the shells' convention for Ctrl-C, 141 for a closed pipe. argparse itself exits with 2."""
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
        gc.disable()  # imports leave no garbage: looking for it takes a tenth of their time, and of the time after
        try:
            run = getattr(import_module(f"inertid_ros.cli.{module}"), function)
            gc.freeze()
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


@contextmanager
def show_progress(what: str, total: int, unit: str = "messages") -> Iterator[Callable[[int], None]]:
    """Show a bar while something is done, if standard error is a terminal; what this gives advances it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from inertid_ros.cli.console import ProgressBar

    with ProgressBar(what, total, unit) as bar:
        yield bar.advance


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
    return file_option("--urdf", help=f"robot description, URDF or xacro (default: {default})")


def output(metavar: str, about: str) -> Option:
    """Where to write."""
    return file_option("-o", "--output", metavar=metavar, required=True, help=about)


SOURCES = ("effort", "base_wrench", "both")
"""What may be measured of links."""

BAG = file_option("bag", metavar="BAG", help="rosbag2 folder, or .mcap or .db3 file")
BAGS = Option(("bags",), {**BAG.keywords, "nargs": "+"})
ROBOT = file_option("urdf", metavar="URDF", help="the robot description, or a xacro file: 'arm.xacro NAME:=VALUE'")
"""Of a command that works on nothing else."""
ESTIMATE = file_option(
    "estimate", metavar="ESTIMATE", help="estimate.json, the directory it is in, or the YAML file of ~/save"
)
PRINTED = file_option("-o", "--output", help="file to write (default: print it)")
ARM = file_option(
    "--arm",
    required=True,
    metavar="ESTIMATE",
    help="the identified arm: estimate.json or YAML of ~/save",
)
CARRIED = (
    urdf("as in the estimate"),
    file_option("--load", help="what the arm carries: a load file, or an estimate with a load"),
    option("--frame", metavar="FRAME", help="frame of a load file (default: load.sensor_frame of the estimate)"),
)
"""Of commands that use an identified arm, which may carry something."""
LIBRARY = file_option(
    "--library", metavar="DIR", default=Path("objects"), help="directory of the objects (default: objects)"
)
JSON = option("--json", action="store_true", help="print JSON instead of tables")
YES = option("--yes", action="store_true", help="give the usual answer to every question")


def _node_name(text: str) -> str:
    """Read the name of a node, with or without its namespace."""
    if not re.fullmatch(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"'{text}' is not the name of a node, such as inertid or /left/inertid")
    return text


ESTIMATOR = option(
    "--node", type=_node_name, default="inertid", metavar="NAME", help="name of the estimator (default inertid)"
)
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

SAFETY = (
    option(
        "--from",
        group="safety",
        dest="pose",
        metavar="POSE",
        help="where the arm is: joint=value,... [rad or m], or a YAML file as `ros2 topic echo --once /joint_states` "
        "writes it. The motion then begins with a safe way from there (default: it begins in its own pose)",
    ),
    option(
        "--floor",
        group="safety",
        nargs="+",
        default=["mount"],
        metavar="F",
        help="planes to stay above: mount, the plane on which the base is mounted (default); a height [m] above the "
        "root's origin, against gravity; or none",
    ),
    file_option(
        "--workspace",
        group="safety",
        help="YAML with boxes to keep out of, the volume of a tool, and pairs of links that may touch: keep_out, tool, "
        "ignore_pairs",
    ),
    option(
        "--margin",
        group="safety",
        type=float,
        default=0.03,
        metavar="M",
        help="distance to keep from floor and boxes [m], larger than the controller's tracking error (default 0.03)",
    ),
    option(
        "--self-margin",
        group="safety",
        type=float,
        default=0.01,
        metavar="M",
        help="distance to keep between links that are no neighbours [m] (default 0.01)",
    ),
    option(
        "--joint-margin",
        group="safety",
        type=float,
        default=0.05,
        metavar="A",
        help="distance to keep from the ends of joints [rad; a tenth of it in m for prismatic ones] (default 0.05)",
    ),
    option(
        "--speed-scale",
        group="safety",
        type=float,
        default=0.5,
        metavar="S",
        help="share of the joints' speeds and accelerations to use (default 0.5)",
    ),
    option(
        "--tool-speed",
        group="safety",
        type=float,
        default=1.0,
        metavar="V",
        help="largest speed of any point of arm and tool [m/s], inf for none (default 1)",
    ),
    option(
        "--packages",
        group="safety",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="directories that contain the packages of package:// meshes, if their workspace is not sourced",
    ),
    option(
        "--unchecked",
        group="safety",
        action="store_true",
        help="go on although links have no collision geometry, or their meshes are missing",
    ),
)
"""How `inertid excite` keeps an arm from doing harm."""


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
    except BrokenPipeError:  # `| head` has read enough; Python flushes standard output once more as it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED


def complain(options: argparse.Namespace, messages: Iterable[object]) -> None:
    """Write messages to standard error, one line each, with the name of the command."""
    say(*(f"inertid {options.command}: {message}" for message in messages))


def say(*messages: str, file: TextIO | None = None) -> None:
    """Write messages to standard error, or to another file, one line each."""
    for message in messages:
        print(make_printable(" ".join(message.split())), file=file or sys.stderr)


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


def make_plan(options: argparse.Namespace, saved: SavedEstimate | None = None) -> Plan:
    """Read what the options of a replay name, else what an estimate was made with, else the defaults."""
    from inertid_ros.bags.bag import Topics
    from inertid_ros.files.provenance import hash_file
    from inertid_ros.replay.inputs import Plan

    settings = read_parameters(options, saved)
    start = 0.0 if options.start is None else options.start
    end = math.inf if options.end is None else options.end
    if not 0.0 <= start < end:
        raise SettingError("--start", start, f"0 or more, and less than --end ({end:g})")
    return Plan(
        settings=settings,
        topics=Topics(**saved.topics) if saved and not options.remap else Topics.from_remappings(options.remap),
        description=read_description(settings),
        settings_sha256="" if options.params is None else hash_file(options.params),
        start=start,
        end=end,
    )


def read_parameters(options: argparse.Namespace, saved: SavedEstimate | None = None) -> Settings:
    """Settings of the parameter file, else of an estimate, else the defaults, with the URDF that was named."""
    from inertid_ros.core.settings.settings import Settings
    from inertid_ros.files.parameters import read_settings

    if options.params is not None:
        settings = read_settings(options.params)
    else:
        settings = Settings() if saved is None else saved.need_settings()
    if options.urdf is not None:
        settings = dataclasses.replace(settings, urdf=str(options.urdf.expanduser().absolute()))
    return settings


def read_description(settings: Settings) -> str:
    """Text of the URDF that settings name, empty for none; InertidError if it cannot be used."""
    from inertid_ros.files.urdf import UrdfFile

    return UrdfFile.read(Path(settings.urdf), "--urdf").text if settings.urdf else ""
