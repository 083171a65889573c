"""`inertid excite`: design a motion that tells most of a load."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    """Add the command to a parser's subparsers."""
    parser = commands.add_parser(
        "excite",
        help="design a motion that tells most of a load",
        description="Design a periodic motion, from rest to rest within all limits, that tells as much of a load as "
        "can be had in the time. Writes trajectory.csv and a bag with a trajectory_msgs/JointTrajectory, and shows "
        "the standard deviations to expect. Collisions are not checked.",
        allow_abbrev=False,
    )
    parser.add_argument("urdf", type=Path, metavar="URDF", help="the robot description")
    parser.add_argument("--target", choices=("load",), required=True, help="what is to be identified")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument(
        "--limits",
        type=Path,
        metavar="FILE",
        help="YAML that narrows the URDF's limits: joints: {NAME: {lower, upper, velocity, acceleration, effort}}, in "
        "rad (or m) and seconds. Without it a joint may reach its speed in 0.5 s",
    )
    parser.add_argument(
        "--start", type=Path, metavar="ESTIMATE", help="what is known already, as ~/save or a replay wrote it"
    )
    parser.add_argument("--duration", type=float, default=10.0, metavar="S", help="of the motion (default 10 s)")
    parser.add_argument("--sensor-frame", metavar="FRAME", help="where the wrench is measured (default ft_sensor)")
    parser.add_argument(
        "--gravity",
        type=float,
        nargs=3,
        default=[0.0, 0.0, -9.80665],
        metavar=("X", "Y", "Z"),
        help="in the root frame of the URDF [m/s^2] (default 0 0 -9.80665)",
    )
    parser.add_argument(
        "--force-noise",
        type=float,
        metavar="D",
        help="density of the sensor's force noise [N/sqrt(Hz)] (default: 0.1 N at 200 Hz)",
    )
    parser.add_argument(
        "--torque-noise",
        type=float,
        metavar="D",
        help="density of the sensor's moment noise [Nm/sqrt(Hz)] (default: 5 mNm at 200 Hz)",
    )
    parser.add_argument(
        "--candidates", type=int, metavar="N", help="how many motions to compare (default: about a minute's worth)"
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from inertid_ros.cli.excite_run import run

    return run(options)
