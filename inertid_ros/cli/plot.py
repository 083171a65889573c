"""`inertid plot`: a picture of an estimate, for papers and slides."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from inertid_ros.cli.command import OK, add_command, add_estimate


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "plot",
        run,
        "draw an estimate into a PNG file",
        "Draw the ten parameters of a load with their 95 % intervals, and its ellipsoid from three sides; for links, "
        "the base parameters and the residual of each channel. If an estimate has both, the links go into a second "
        "file, FILE_links.",
    )
    add_estimate(parser)
    parser.add_argument("--png", type=Path, required=True, metavar="FILE", help="file to write")
    parser.add_argument(
        "--dpi", type=_resolution, default=200, metavar="N", help="dots per inch (default 200, 9 inches wide)"
    )


def _resolution(text: str) -> int:
    value = int(text)
    if not 20 <= value <= 1200:
        raise argparse.ArgumentTypeError(f"{value} is not between 20 and 1200")
    return value


def run(options: argparse.Namespace) -> int:
    """Draw; 0 if the files were written."""
    from inertid_ros.files.estimate import read_estimate
    from inertid_ros.report.plot import write_png

    saved = read_estimate(options.estimate)
    if saved.load is not None or saved.links is None:
        write_png(saved.need_load(), options.png, options.dpi)
    if saved.links is not None:
        beside = options.png.with_name(f"{options.png.stem}_links{options.png.suffix}")
        write_png(saved.links, options.png if saved.load is None else beside, options.dpi)
    return OK
