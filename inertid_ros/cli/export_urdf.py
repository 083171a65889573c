"""`inertid export-urdf`: the identified arm as a URDF."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inertid_ros.cli.command import (
    OK,
    add_command,
    add_estimate,
    add_output,
    add_urdf,
    one_line,
)
from inertid_ros.core.errors import RobotDescriptionError

if TYPE_CHECKING:
    from inertid_ros.files.estimate import SavedEstimate
    from inertid_ros.files.urdf import UrdfFile


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "export-urdf",
        run,
        "write an identified arm as a URDF",
        "Write the identified links of an estimate into the URDF it was made with. Only <inertial> and <dynamics> "
        "change; every link is physically consistent, and the file is checked to predict the torques of the estimate. "
        "What URDF has no element for (rotor inertia, offsets) is printed.",
    )
    add_estimate(parser)
    add_urdf(parser, "as in the replay")
    add_output(parser, "FILE", "file to write")


def run(options: argparse.Namespace) -> int:
    """Export; 0 if the file was written."""
    from inertid_ros.files.estimate import read_estimate
    from inertid_ros.files.provenance import hash_urdf
    from inertid_ros.files.urdf_inertials import export_urdf, read_links

    saved = read_estimate(options.estimate)
    bodies, joints = read_links(saved.need_links())
    source = _find_urdf(saved, options.urdf)
    exported = export_urdf(source.text, bodies, joints)
    source.write(options.output, exported.text)
    notes = list(exported.notes)
    if hash_urdf(source.text) != saved.urdf_sha256:
        notes.insert(0, "the estimate was made with another text of the URDF")
    for line in [*notes, f"{options.output}: {len(bodies)} links, predicts the torques of the estimate"]:
        sys.stdout.write(f"{one_line(line)}\n")
    return OK


def _find_urdf(saved: SavedEstimate, path: Path | None) -> UrdfFile:
    """Read the URDF of an estimate: the one named, that of its settings, or that of its first bag."""
    from inertid_ros.bags.bag import Bag
    from inertid_ros.files.urdf import UrdfFile

    of_settings = "" if saved.settings is None else saved.settings.urdf
    named = path or (Path(of_settings) if of_settings else None)
    if named is not None:
        return UrdfFile.read(named, "--urdf")
    if not saved.inputs:
        raise RobotDescriptionError("the estimate names neither a URDF nor a bag: name the URDF with --urdf")
    with Bag(saved.inputs[0]) as bag:
        return UrdfFile(bag.find_description(saved.topics["robot_description"]))
