"""What `inertid excite` does: design a motion, write it, and show what it will tell."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from inertid_ros.cli.progress_bar import ProgressBar
from inertid_ros.core.errors import FileAccessError, FileFormatError, InertidError, RobotDescriptionError, SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot import FramePath, Robot
from inertid_ros.core.settings import LoadSettings
from inertid_ros.number_text import parameter_label
from inertid_ros.offline.excite.design import MotionSearch
from inertid_ros.offline.excite.known_load import KnownLoad, read_known_load
from inertid_ros.offline.excite.load_information import LoadInformation, WrenchNoise
from inertid_ros.offline.excite.motion_limits import MotionLimits, read_limits
from inertid_ros.offline.excite.reference import Reference, make_reference
from inertid_ros.offline.excite.trajectory_files import prepare_directory, write_trajectory
from inertid_ros.sim.windowed_sines import WindowedSines

SHORTEST, LONGEST = 0.5, 60.0
"""Durations [s] that can be designed."""
FEWEST = 400
"""Motions to compare, of which the first 300 are drawn at random."""


def run(options: argparse.Namespace) -> int:
    """Design, write and show; returns 0, or 1 after saying in a line what is wrong."""
    console = Console()
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
    noise = _get_noise(options)
    known = None if options.start is None else read_known_load(options.start)
    path = _find_path(_read_text(options.urdf), options.sensor_frame, known)
    limits = read_limits(path, options.limits)
    prepare_directory(options.output)
    covariance, load = (None, None) if known is None else (known.covariance, known.load)
    information = LoadInformation(path, np.array(options.gravity), noise, LoadSettings(), covariance, load)
    motion = _search(information, limits, options, console)
    table, bag = write_trajectory(options.output, motion, path.joint_names)
    reference = make_reference(path, limits.joints, options.duration)
    before = None if covariance is None else np.sqrt(np.diag(covariance))
    console.print(make_table(information, motion, reference, before))
    console.print(f"wrote {table} and {bag}", highlight=False, soft_wrap=True)
    console.print("Collisions are not checked: run it slowly first, or narrow the joint ranges (--limits).")


def _search(
    information: LoadInformation, limits: MotionLimits, options: argparse.Namespace, console: Console
) -> WindowedSines:
    search = MotionSearch(information, limits, options.duration, options.candidates)
    with ProgressBar("comparing motions", search.candidates, "motions", console) as progress:
        return search.run(on_progress=progress.advance)


def make_table(
    information: LoadInformation, motion: WindowedSines, reference: Reference, before: FloatArray | None
) -> Table:
    """The predicted standard deviations of all ten parameters beside those of another motion, and of the start."""
    title = f"predicted standard deviations after {motion.duration:g} s of motion alone, without standing still"
    table = Table(title=title, title_justify="left")
    headings = ["parameter", *(["at the start"] if before is not None else []), "designed", reference.name, "better by"]
    for heading in headings:
        table.add_column(heading, justify="right")
    designed, other = information.predict(motion), information.predict(reference.motion)
    for index, (deviation, beside) in enumerate(zip(designed.tolist(), other.tolist(), strict=True)):
        start = [] if before is None else [f"{before[index]:.2e}"]
        label = Text(parameter_label(index))  # as Text, since rich takes brackets in a plain string for markup
        table.add_row(label, *start, f"{deviation:.2e}", f"{beside:.2e}", f"{beside / deviation:.2f}")
    return table


def _get_noise(options: argparse.Namespace) -> WrenchNoise:
    given = {"force": options.force_noise, "torque": options.torque_noise}
    for name, density in given.items():
        if density is not None and not 0.0 < density < np.inf:
            raise SettingError(f"--{name}-noise", density, "a density above 0")
    return WrenchNoise(**{name: density for name, density in given.items() if density is not None})


def _find_path(urdf: str, sensor_frame: str | None, known: KnownLoad | None) -> FramePath:
    """Model the way to the sensor frame: the one that is named, else that of the estimate, else `ft_sensor`."""
    robot = Robot.from_urdf(urdf)
    if known is None:
        return robot.path_to("ft_sensor" if sensor_frame is None else sensor_frame)
    if sensor_frame not in (None, known.sensor_frame):
        raise FileFormatError(
            f"the estimate is of frame '{known.sensor_frame}', not of '{sensor_frame}': leave --sensor-frame out"
        )
    return robot.path_to(known.sensor_frame)


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise FileAccessError(f"'{file}' cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise RobotDescriptionError(f"'{file}' is no URDF: it is not text") from None
