"""`inertid publish`: play a bag into ROS, for machines without `ros2 bag`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    """Add the command to a parser's subparsers."""
    parser = commands.add_parser(
        "publish",
        help="play a bag into ROS with /clock",
        description="Publish all messages of a bag as they were recorded, and /clock with the time of recording: run "
        "nodes with use_sim_time. Where there is `ros2 bag`, `ros2 bag play --clock` does the same.",
        allow_abbrev=False,
    )
    parser.add_argument("bag", type=Path, metavar="BAG", help="a rosbag2 folder, or a file of one")
    parser.add_argument("--rate", type=float, default=1.0, metavar="R", help="times real time (default 1)")
    parser.add_argument("--loop", action="store_true", help="start again at the end, until Ctrl-C")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from inertid_ros.cli.publish_run import run

    return run(options)
