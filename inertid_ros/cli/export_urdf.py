"""`inertid export-urdf`: the identified arm as a URDF."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "export-urdf",
        help="write an identified arm as a URDF",
        description="Write what an estimate says of the links into the URDF it was made with. Only <inertial> and "
        "<dynamics> change; every link is a body that can exist, and the file predicts the torques of the estimate, "
        "which is checked. What URDF has no element for (rotor inertia, offsets) is printed.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "estimate",
        type=Path,
        metavar="ESTIMATE",
        help="estimate.json, the directory it is in, or the YAML file of ~/save",
    )
    parser.add_argument("--urdf", type=Path, metavar="FILE", help="robot (default: as in the replay)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", required=True, help="where to write")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Export; 0 if the file was written."""
    from inertid_ros.cli.replay import one_line
    from inertid_ros.core.errors import InertidError
    from inertid_ros.files.estimate import read_estimate
    from inertid_ros.files.export_urdf import export_urdf, read_links
    from inertid_ros.files.urdf import find_urdf, write_urdf

    try:
        saved = read_estimate(options.estimate)
        bodies, joints = read_links(saved.need_links())
        source = find_urdf(saved, options.urdf)
        exported = export_urdf(source.text, bodies, joints)
        write_urdf(options.output, exported.text, source.encoding)
    except InertidError as error:
        sys.stderr.write(f"inertid export-urdf: {one_line(error)}\n")
        return 1
    for line in (*source.notes, *exported.notes):
        sys.stdout.write(f"{one_line(line)}\n")
    sys.stdout.write(f"{options.output}: {len(bodies)} links, predicts the torques of the estimate\n")
    return 0
