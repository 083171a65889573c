"""`inertid excite`: design a motion that tells most of a load, or of the arm itself."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    """Add the command to a parser's subparsers."""
    parser = commands.add_parser(
        "excite",
        help="design a motion that tells most of a load or of the links",
        description="Design a periodic motion, from rest to rest within all limits, that tells as much of a load or of "
        "the arm's own links as can be had in the time. Writes trajectory.csv and a bag with a "
        "trajectory_msgs/JointTrajectory, and shows the standard deviations to expect. Collisions are not checked.",
        allow_abbrev=False,
    )
    parser.add_argument("urdf", type=Path, metavar="URDF", help="the robot description")
    parser.add_argument("--target", choices=("load", "links"), required=True, help="what is to be identified")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument(
        "--limits",
        type=Path,
        metavar="FILE",
        help="YAML that narrows the URDF's limits: joints: {NAME: {lower, upper, velocity, acceleration, effort}}, in "
        "rad (or m) and seconds. Without it a joint may reach its speed in 0.5 s",
    )
    parser.add_argument(
        "--start",
        type=Path,
        metavar="ESTIMATE",
        help="what is known already, as a replay wrote it (for a load also ~/save)",
    )
    parser.add_argument("--duration", type=float, default=10.0, metavar="S", help="of the motion (default 10 s)")
    parser.add_argument(
        "--gravity",
        type=float,
        nargs=3,
        default=[0.0, 0.0, -9.80665],
        metavar=("X", "Y", "Z"),
        help="in the root frame of the URDF [m/s^2] (default 0 0 -9.80665)",
    )
    parser.add_argument(
        "--candidates", type=int, metavar="N", help="how many motions to compare (default: about half a minute's worth)"
    )
    parser.add_argument(
        "--force-noise",
        type=float,
        metavar="D",
        help="density of the sensor's force noise [N/sqrt(Hz)] (default: 0.1 N at 200 Hz, under a base 1 N)",
    )
    parser.add_argument(
        "--torque-noise",
        type=float,
        metavar="D",
        help="density of the sensor's moment noise [Nm/sqrt(Hz)] (default: 5 mNm at 200 Hz, under a base 0.1 Nm)",
    )
    load = parser.add_argument_group("load")
    load.add_argument("--sensor-frame", metavar="FRAME", help="where the wrench is measured (default ft_sensor)")
    _add_links(parser.add_argument_group("links"))
    parser.set_defaults(run=_run)


def _add_links(links: Any) -> None:
    links.add_argument(
        "--source",
        choices=("effort", "base_wrench", "both"),
        help="what is measured: the joints' efforts (default), the wrench under the base, or both",
    )
    links.add_argument(
        "--joints", nargs="+", metavar="NAME", help="the joints of the arm (default: all that do not mimic another)"
    )
    links.add_argument(
        "--effort-noise",
        type=float,
        nargs="+",
        metavar="D",
        help="density of the efforts' noise [Nm/sqrt(Hz)], one for all joints or one for each in the order of the URDF "
        "(default: 0.5 %% of the effort limit at 200 Hz, 0.5 Nm where there is none)",
    )


def _run(options: argparse.Namespace) -> int:
    from inertid_ros.cli.excite_run import run

    return run(options)
