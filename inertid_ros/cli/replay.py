"""`inertid replay`: recordings through the same chain as the node's."""

from __future__ import annotations

import argparse
import dataclasses
import gc
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inertid_ros.replay.plan import Plan


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "replay",
        help="identify from recordings",
        description="Replay bags through the same chain as the node's, far faster than they were recorded, and write "
        "estimate.json, predictions.mcap and report.html. A bag that begins at most 10 s after the end of the one "
        "before continues it. Others are recordings of their own: they are replayed in parallel, each into a "
        "directory of its own, and what they tell is added up in estimate.json.",
        allow_abbrev=False,
    )
    parser.add_argument("bags", nargs="+", type=Path, metavar="BAG", help="rosbag2 folder, or .mcap or .db3 file")
    parser.add_argument("--params", type=Path, metavar="FILE", help="parameter file of the node (default: defaults)")
    parser.add_argument("--urdf", type=Path, metavar="FILE", help="robot (default: robot_description in the bag)")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", required=True, help="directory for what is written")
    add_span(parser)
    add_remap(parser)
    parser.add_argument("--jobs", type=int, metavar="N", help="recordings at the same time (default: one a processor)")
    parser.set_defaults(run=run)


def add_span(parser: argparse.ArgumentParser) -> None:
    """Add the options for a part of each bag."""
    about = "seconds after the first message of a bag"
    parser.add_argument("--start", type=float, metavar="SECONDS", help=f"use each bag from so many {about}")
    parser.add_argument("--end", type=float, metavar="SECONDS", help=f"use each bag up to so many {about}")


def read_span(options: argparse.Namespace) -> tuple[float, float]:
    """Start and end [s] of the part of each bag; SettingError if there is nothing between them."""
    from inertid_ros.core.errors import SettingError

    start = 0.0 if options.start is None else options.start
    end = math.inf if options.end is None else options.end
    if not 0.0 <= start < end:
        raise SettingError("--start and --end", f"{start:g} and {end:g}", "a start of 0 or more, and an end after it")
    return start, end


def add_remap(parser: argparse.ArgumentParser) -> None:
    """Add the option for topics with other names."""
    parser.add_argument(
        "--remap",
        action="append",
        default=[],
        metavar="NAME:=TOPIC",
        help="topic for joint_states, wrench, base_wrench or robot_description, such as wrench:=/ft_sensor/wrench; "
        "can be repeated",
    )


def run(options: argparse.Namespace) -> int:
    """Replay; 0 if everything went well, 1 if something is left out or wrong."""
    from inertid_ros.cli.replay_view import make_progress_bar, print_outcome
    from inertid_ros.core.errors import InertidError
    from inertid_ros.replay.recordings import find_recordings, replay_recordings

    gc.freeze()  # what was imported stays: looking through it for garbage takes a tenth of the time
    try:
        plan = make_plan(options)
        recordings = find_recordings(options.bags, plan)
        with make_progress_bar(recordings) as progress:
            outcome = replay_recordings(recordings, plan, options.output, progress.advance, options.jobs)
    except InertidError as error:
        sys.stderr.write(f"inertid replay: {one_line(error)}\n")
        return 1
    for line in outcome.trouble:
        sys.stderr.write(f"inertid replay: {one_line(line)}\n")
    print_outcome(outcome, options.output)
    return 1 if outcome.trouble else 0


def make_plan(options: argparse.Namespace) -> Plan:
    """Read what the options name.

    Raises:
        InertidError: if a file cannot be used.
    """
    from inertid_ros.bags.topics import Topics
    from inertid_ros.core.settings.settings import Settings
    from inertid_ros.files.parameters import read_settings
    from inertid_ros.files.provenance import hash_file
    from inertid_ros.replay.plan import Plan

    settings = Settings() if options.params is None else read_settings(options.params)
    if options.urdf is not None:
        settings = dataclasses.replace(settings, urdf=str(options.urdf.expanduser().absolute()))
    start, end = read_span(options)
    return Plan(
        settings=settings,
        topics=Topics.from_remappings(options.remap),
        description=read_description(Path(settings.urdf) if settings.urdf else None),
        settings_sha256="" if options.params is None else hash_file(options.params),
        start=start,
        end=end,
    )


def read_description(path: Path | None) -> str:
    """Text of a URDF, empty for none; FileAccessError if it cannot be read."""
    from inertid_ros.core.errors import FileAccessError

    if path is None:
        return ""
    try:
        return path.expanduser().read_text(encoding="utf-8")
    except OSError as error:
        raise FileAccessError(f"robot description '{path}' cannot be read: {error.strerror}; check --urdf") from None
    except UnicodeDecodeError:
        raise FileAccessError(f"robot description '{path}' is not text: name a URDF with --urdf") from None


def one_line(message: object) -> str:
    """A message without line breaks."""
    return " ".join(str(message).split())
