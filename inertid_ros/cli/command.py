"""What all commands share: errors on standard error, exit codes, and what their options name."""

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
    from inertid_ros.files.estimate import SavedEstimate
    from inertid_ros.replay.plan import Plan

OK, FAILED, STOPPED = 0, 1, 130
"""Exit codes; 130 is the shells' convention for Ctrl-C. argparse itself exits with 2."""


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


def make_plan(options: argparse.Namespace, saved: SavedEstimate | None = None) -> Plan:
    """Read what the options of a replay name; InertidError if a file or value cannot be used.

    Args:
        options: of the command.
        saved: the estimate whose settings and topics are taken where the options name no others; None for defaults.
    """
    from inertid_ros.bags.topics import Topics
    from inertid_ros.files.provenance import hash_file
    from inertid_ros.replay.plan import Plan

    settings = read_parameters(options, saved)
    start, end = _read_span(options)
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


def _read_span(options: argparse.Namespace) -> tuple[float, float]:
    """Start and end [s] of the part of each bag; SettingError if there is nothing between them."""
    start = 0.0 if options.start is None else options.start
    end = math.inf if options.end is None else options.end
    if not 0.0 <= start < end:
        raise SettingError("--start", start, f"0 or more, and less than --end ({end:g})")
    return start, end
