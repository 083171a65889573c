"""`inertid plot`: a picture of an estimate, for papers and slides."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from inertid_ros.core.errors import InertidError


def add_parser(commands: Any) -> None:
    """Add the command to a parser's subparsers."""
    parser = commands.add_parser(
        "plot",
        help="draw an estimate into a PNG file",
        description="Draw the ten parameters of a load with their 95 % intervals, and the body from three sides; of "
        "links, the base parameters, and what they leave of each channel. Where an estimate has both, the links go "
        "into a second file, FILE_links.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "estimate", type=Path, metavar="ESTIMATE", help="estimate.json of a replay, or the YAML file of ~/save"
    )
    parser.add_argument("--png", type=Path, required=True, metavar="FILE", help="where to write")
    parser.add_argument(
        "--dpi", type=_resolution, default=200, metavar="N", help="dots per inch (default 200, 9 inches wide)"
    )
    parser.set_defaults(run=_run)


def _resolution(text: str) -> int:
    value = int(text)
    if not 20 <= value <= 1200:
        raise argparse.ArgumentTypeError(f"{value} is not between 20 and 1200")
    return value


def _run(options: argparse.Namespace) -> int:
    from inertid_ros.files.estimate import read_estimate
    from inertid_ros.report.plot import write_png

    try:
        saved = read_estimate(options.estimate)
        if saved.load is not None or saved.links is None:
            write_png(saved.need_load(), options.png, options.dpi)
        if saved.links is not None:
            beside = options.png.with_name(f"{options.png.stem}_links{options.png.suffix}")
            write_png(saved.links, options.png if saved.load is None else beside, options.dpi)
    except InertidError as error:
        print(f"inertid plot: {error}", file=sys.stderr)
        return 1
    return 0
