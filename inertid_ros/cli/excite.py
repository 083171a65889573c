"""`inertid excite`: design a motion that identifies a load, or the arm itself, as well as possible."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inertid_ros.cli.command import OK, add_command, add_gravity, add_output, add_robot
from inertid_ros.core.errors import SettingError

if TYPE_CHECKING:
    from inertid_ros.cli.excite_targets import Target
    from inertid_ros.motions.motion import JointPath, Motion

SHORTEST, LONGEST = 0.5, 60.0
"""Durations [s] that can be designed; in 60 s the samples that the search looks at are 0.2 s apart."""
FEWEST = 400
"""Motions to compare, of which the first 300 are drawn at random."""

_SAMPLES = 2001
"""At which efforts and limits are looked at: every 5 ms of the usual 10 s."""


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "excite",
        run,
        "design a motion that identifies a load or the links as well as possible",
        "Design a periodic motion, from rest to rest within all limits, that brings as much information on a load or "
        "on the arm's own links as possible in the given time. Writes trajectory.csv and a bag with a "
        "trajectory_msgs/JointTrajectory, and prints the standard deviations to expect. Collisions are not checked.",
    )
    add_robot(parser)
    parser.add_argument("--target", choices=("load", "links"), required=True, help="what is to be identified")
    add_output(parser, "DIR", "directory to write to")
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
        help="what is known already: estimate.json of a replay (for a load also the file of ~/save)",
    )
    parser.add_argument("--duration", type=float, default=10.0, metavar="S", help="of the motion (default 10 s)")
    add_gravity(parser)
    parser.add_argument(
        "--candidates",
        type=int,
        metavar="N",
        help="how many motions to compare (default: as many as take about half a minute)",
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


def run(options: argparse.Namespace) -> int:
    """Design, write and show; 0 if the motion was written."""
    from inertid_ros.cli.console import ProgressBar, make_console
    from inertid_ros.cli.excite_targets import TARGETS
    from inertid_ros.core.robot.robot import Robot
    from inertid_ros.files.urdf import UrdfFile
    from inertid_ros.motions.design.search import MotionSearch
    from inertid_ros.motions.trajectory_file import prepare_directory, write_trajectory

    if not SHORTEST <= options.duration <= LONGEST:
        raise SettingError("--duration", options.duration, f"{SHORTEST:g} to {LONGEST:g} s")
    if options.candidates is not None and options.candidates < FEWEST:
        raise SettingError("--candidates", options.candidates, f"{FEWEST} or more")
    target = TARGETS[options.target](Robot.from_urdf(UrdfFile.read(options.urdf).text), options)
    prepare_directory(options.output)
    search = MotionSearch(target.information, target.limits, options.duration, options.candidates)
    with ProgressBar("comparing motions", search.candidates, "motions") as progress:
        motion = search.run(on_progress=progress.advance)
    table, bag = write_trajectory(options.output, motion, target.joint_names)
    console = make_console()
    for item in target.describe(motion):
        console.print(item, highlight=False, soft_wrap=isinstance(item, str))
    console.print(_describe_efforts(target, motion), highlight=False, soft_wrap=True)
    if not all(_is_allowed(target, other) for other in target.reference.motions):
        console.print(f"The {target.reference.name} would exceed the limits.")
    console.print(f"wrote {table} and {bag}", highlight=False, soft_wrap=True)
    console.print("Collisions are not checked: run it slowly first, or narrow the joint ranges (--limits).")
    return OK


def _describe_efforts(target: Target, motion: Motion) -> str:
    """The largest effort of each joint beside its limit."""
    import numpy as np

    peaks = np.abs(target.information.move(_sample(motion))[1]).max(axis=0)
    parts = [
        f"{name} {peak:.3g}" + (f" of {limit:.3g}" if np.isfinite(limit) else "")
        for name, peak, limit in zip(target.joint_names, peaks, target.limits.effort, strict=True)
    ]
    return f"largest efforts [Nm or N] without friction: {', '.join(parts)}"


def _is_allowed(target: Target, motion: Motion) -> bool:
    path = _sample(motion)
    return target.limits.are_held(path, target.information.move(path)[1])


def _sample(motion: Motion) -> JointPath:
    import numpy as np

    return motion.at(np.linspace(0.0, motion.duration, _SAMPLES))
