"""What `inertid excite` does: design a motion, write it, and show what it will tell."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.text import Text

from inertid_ros.cli.excite_links import prepare_links
from inertid_ros.cli.excite_load import prepare_load
from inertid_ros.cli.excite_task import ExciteTask
from inertid_ros.cli.progress_bar import ProgressBar
from inertid_ros.cli.table_console import make_console
from inertid_ros.core.errors import FileAccessError, InertidError, RobotDescriptionError, SettingError
from inertid_ros.core.robot.robot import Robot
from inertid_ros.motions.design.design import MotionSearch
from inertid_ros.motions.motion import JointPath, Motion
from inertid_ros.motions.trajectory_file import prepare_directory, write_trajectory

SHORTEST, LONGEST = 0.5, 60.0
"""Durations [s] that can be designed."""
FEWEST = 400
"""Motions to compare, of which the first 300 are drawn at random."""

_SAMPLES = 2001


def run(options: argparse.Namespace) -> int:
    """Design, write and show; returns 0, or 1 after saying in a line what is wrong."""
    console = make_console()
    try:
        _design(options, console)
    except InertidError as error:
        console.print(Text(f"inertid excite: {error}", style="red"), soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print("stopped; nothing was written")
        return 130
    return 0


def _design(options: argparse.Namespace, console: Console) -> None:
    if not SHORTEST <= options.duration <= LONGEST:
        raise SettingError("--duration", options.duration, f"{SHORTEST:g} to {LONGEST:g} s")
    if options.candidates is not None and options.candidates < FEWEST:
        raise SettingError("--candidates", options.candidates, f"{FEWEST} or more")
    prepare = prepare_load if options.target == "load" else prepare_links
    task = prepare(Robot.from_urdf(_read_text(options.urdf)), options)
    prepare_directory(options.output)
    search = MotionSearch(task.information, task.limits, options.duration, options.candidates)
    with ProgressBar("comparing motions", search.candidates, "motions", console) as progress:
        motion = search.run(on_progress=progress.advance)
    table, bag = write_trajectory(options.output, motion, task.joint_names)
    for item in task.describe(motion):
        console.print(item, highlight=False, soft_wrap=isinstance(item, str))
    console.print(describe_efforts(task, motion), highlight=False, soft_wrap=True)
    if not all(_is_allowed(task, other) for other in task.reference.motions):
        console.print(f"The {task.reference.name} would exceed the limits.")
    console.print(f"wrote {table} and {bag}", highlight=False, soft_wrap=True)
    console.print("Collisions are not checked: run it slowly first, or narrow the joint ranges (--limits).")


def describe_efforts(task: ExciteTask, motion: Motion) -> str:
    """The largest effort of each joint beside its limit."""
    peaks = np.abs(task.information.move(_sample(motion))[1]).max(axis=0)
    parts = [
        f"{name} {peak:.3g}" + (f" of {limit:.3g}" if np.isfinite(limit) else "")
        for name, peak, limit in zip(task.joint_names, peaks, task.limits.effort, strict=True)
    ]
    return f"largest efforts [Nm or N] without friction: {', '.join(parts)}"


def _is_allowed(task: ExciteTask, motion: Motion) -> bool:
    path = _sample(motion)
    return task.limits.are_held(path, task.information.move(path)[1])


def _sample(motion: Motion) -> JointPath:
    return motion.at(np.linspace(0.0, motion.duration, _SAMPLES))


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise FileAccessError(f"'{file}' cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise RobotDescriptionError(f"'{file}' is no URDF: it is not text") from None
