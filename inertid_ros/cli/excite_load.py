"""`inertid excite --target load`: what is set up and shown."""

from __future__ import annotations

import argparse

import numpy as np
from rich.table import Table
from rich.text import Text

from inertid_ros.cli.excite_task import ExciteTask, get_wrench_noise, refuse
from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import FramePath, Robot
from inertid_ros.core.settings.settings import LoadSettings
from inertid_ros.motions.design.known_load import KnownLoad, read_known_load
from inertid_ros.motions.design.load_information import LoadInformation, WrenchNoise
from inertid_ros.motions.design.motion_limits import read_limits
from inertid_ros.motions.design.reference import LOAD_MOVES, Reference, make_reference
from inertid_ros.motions.windowed_sines import WindowedSines
from inertid_ros.text.numbers import parameter_label


def prepare_load(robot: Robot, options: argparse.Namespace) -> ExciteTask:
    """Set up the search for a motion that tells most of a load."""
    refuse(options, ("source", "joints", "effort_noise"), "load")
    noise = get_wrench_noise(options, WrenchNoise())
    known = None if options.start is None else read_known_load(options.start)
    path = _find_path(robot, options.sensor_frame, known)
    limits = read_limits(path, options.limits)
    covariance, load = (None, None) if known is None else (known.covariance, known.load)
    information = LoadInformation(path, np.array(options.gravity), noise, LoadSettings(), covariance, load)
    reference = make_reference(LOAD_MOVES.get(robot.model.name, ()), limits.joints, options.duration)
    before = None if covariance is None else np.sqrt(np.diag(covariance))
    return ExciteTask(
        path.joint_names,
        information,
        limits,
        reference,
        lambda motion: [make_load_table(information, motion, reference, before)],
    )


def make_load_table(
    information: LoadInformation, motion: WindowedSines, reference: Reference, before: FloatArray | None
) -> Table:
    """The predicted standard deviations of all ten parameters beside those of another motion, and of the start."""
    title = f"predicted standard deviations after {motion.duration:g} s of motion alone, without standing still"
    table = Table(title=title, title_justify="left")
    headings = ["parameter", *(["at the start"] if before is not None else []), "designed", reference.name, "better by"]
    for heading in headings:
        table.add_column(heading, justify="right")
    designed, other = information.predict(motion), information.predict(*reference.motions)
    for index, (deviation, beside) in enumerate(zip(designed.tolist(), other.tolist(), strict=True)):
        start = [] if before is None else [f"{before[index]:.2e}"]
        label = Text(parameter_label(index))  # as Text, since rich takes brackets in a plain string for markup
        table.add_row(label, *start, f"{deviation:.2e}", f"{beside:.2e}", f"{beside / deviation:.2f}")
    return table


def _find_path(robot: Robot, sensor_frame: str | None, known: KnownLoad | None) -> FramePath:
    """Model the way to the sensor frame: the one that is named, else that of the estimate, else `ft_sensor`."""
    if known is None:
        return robot.path_to("ft_sensor" if sensor_frame is None else sensor_frame)
    if sensor_frame not in (None, known.sensor_frame):
        raise FileFormatError(
            f"the estimate is of frame '{known.sensor_frame}', not of '{sensor_frame}': leave --sensor-frame out"
        )
    return robot.path_to(known.sensor_frame)
