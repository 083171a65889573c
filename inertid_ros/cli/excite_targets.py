"""What `inertid excite` designs a motion for: a load on a wrist sensor, or the arm's own links."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import FileFormatError, SettingError
from inertid_ros.core.estimation.states import judge_link_parameters
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import FramePath, Robot
from inertid_ros.core.settings.choices import Source
from inertid_ros.core.settings.settings import LinksSettings, LoadSettings, Settings
from inertid_ros.files.estimate import read_estimate
from inertid_ros.motions.design.information import MotionInformation
from inertid_ros.motions.design.limits import MotionLimits, read_limits
from inertid_ros.motions.design.reference import LINK_MOVES, LOAD_MOVES, Reference, make_reference
from inertid_ros.motions.design.targets import (
    BASE_NOISE,
    KnownLoad,
    LinkInformation,
    LoadInformation,
    WrenchNoise,
    assume_noise,
    read_known_load,
)
from inertid_ros.motions.multisine import WindowedSines
from inertid_ros.text.numbers import parameter_label


@dataclass(frozen=True, slots=True)
class Target:
    """What a motion is designed for, ready for the search.

    Attributes:
        joint_names: the joints that move.
        information: what motions bring.
        limits: what they have to hold.
        reference: what the result is compared with.
        describe: what to show of the result, beside the reference.
    """

    joint_names: tuple[str, ...]
    information: MotionInformation
    limits: MotionLimits
    reference: Reference
    describe: Callable[[WindowedSines], Sequence[RenderableType]]


def prepare_load(robot: Robot, options: argparse.Namespace) -> Target:
    """Set up the search for a motion that identifies a load."""
    _refuse(options, ("source", "joints", "effort_noise"), "load")
    noise = _get_wrench_noise(options, WrenchNoise())
    known = None if options.start is None else read_known_load(options.start)
    path = _find_path(robot, options.sensor_frame, known)
    limits = read_limits(path, options.limits)
    covariance, load = (None, None) if known is None else (known.covariance, known.load)
    information = LoadInformation(path, np.array(options.gravity), noise, LoadSettings(), covariance, load)
    reference = make_reference(LOAD_MOVES.get(robot.model.name, ()), limits.joints, options.duration)
    before = None if covariance is None else np.sqrt(np.diag(covariance))
    return Target(
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
    title = f"predicted standard deviations after {motion.duration:g} s of motion alone, without standstill"
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
    """Model the path to the sensor frame: the one that is named, else that of the estimate, else `ft_sensor`."""
    if known is None:
        return robot.path_to("ft_sensor" if sensor_frame is None else sensor_frame)
    if sensor_frame not in (None, known.sensor_frame):
        raise FileFormatError(
            f"the estimate is in frame '{known.sensor_frame}', not in '{sensor_frame}': leave --sensor-frame out"
        )
    return robot.path_to(known.sensor_frame)


class _Start(NamedTuple):
    """The arm, the settings, and what is known: values (U,) and their covariance, None for those of the URDF."""

    settings: Settings
    model: LinkModel
    values: FloatArray
    covariance: FloatArray | None


def prepare_links(robot: Robot, options: argparse.Namespace) -> Target:
    """Set up the search for a motion that identifies the links."""
    _refuse(options, ("sensor_frame",), "links")
    start = _begin(robot, options)
    model = start.model
    limits = read_limits(model.arm, options.limits)
    wrench = _get_wrench_noise(options, BASE_NOISE)
    densities = assume_noise(model, wrench, _get_effort_noise(options, len(model.arm.joint_names)))
    information = LinkInformation(model, densities, start.settings.links, start.covariance)
    reference = make_reference(LINK_MOVES.get(robot.model.name, ()), limits.joints, options.duration)

    before = model.prior_deviations if start.covariance is None else np.sqrt(np.diag(start.covariance))

    def describe(motion: WindowedSines) -> list[Table | str]:
        noise = ", ".join(f"{name} {density:.2g}" for name, density in zip(model.channels, densities, strict=True))
        return [
            make_links_table(model, information, motion, reference, before),
            _count_known(start, information, motion, reference),
            f"assumed white noise [unit/sqrt(Hz)]: {noise}",
        ]

    return Target(model.arm.joint_names, information, limits, reference, describe)


def make_links_table(
    model: LinkModel, information: LinkInformation, motion: WindowedSines, reference: Reference, before: FloatArray
) -> Table:
    """The predicted standard deviations of the base parameters beside those of other motions, and of the start."""
    title = f"predicted standard deviations (SI) after {motion.duration:g} s of motion alone, without standstill"
    table = Table(title=title, title_justify="left")
    table.add_column("base parameter", overflow="fold")
    for heading in ("URDF", "at the start", "designed", reference.name, "better by"):
        table.add_column(heading, justify="right", no_wrap=True)
    wanted, inertial = np.flatnonzero(information.wanted), model.unknowns.inertial.stop
    predicted = information.predict(motion), information.predict(*reference.motions)
    for index, deviation, beside in zip(wanted, *(part.tolist() for part in predicted), strict=True):
        value = f"{model.prior[index]:.3g}" if model.base.columns[index] < inertial else ""
        better = beside / deviation
        numbers = (f"{deviation:.2e}", f"{beside:.2e}", f"{better:.2f}" if better < 10.0 else f"{better:.0f}")
        table.add_row(Text(model.base.texts[index]), value, f"{before[index]:.2g}", *numbers)
    return table


def _count_known(start: _Start, information: LinkInformation, motion: WindowedSines, reference: Reference) -> str:
    """How many base parameters will be known."""
    counts = []
    for motions in ((motion,), reference.motions):
        states = judge_link_parameters(start.model, start.values, information.covariance(motions))
        counts.append(sum(state == "known" for state, wanted in zip(states, information.wanted, strict=True) if wanted))
    total = int(information.wanted.sum())
    return f"{counts[0]} of {total} will be known, with the {reference.name} {counts[1]} (if the URDF is about right)"


def _begin(robot: Robot, options: argparse.Namespace) -> _Start:
    if options.start is not None:
        _refuse(options, ("source", "joints"), "links and --start, which says it")
        saved = read_estimate(options.start)
        settings, known = saved.need_settings(), saved.need_links()
        return _Start(settings, known.make_model(robot, settings), known.values, known.covariance)
    links = dataclasses.replace(LinksSettings(), source=Source(options.source or Source.EFFORT))
    settings = dataclasses.replace(Settings(), gravity=options.gravity, links=links)
    joints = options.joints or [name for name in robot.joint_names if name not in robot.mimics]
    model = LinkModel.from_settings(robot, settings, joints)
    return _Start(settings, model, model.prior, None)


def _get_effort_noise(options: argparse.Namespace, joints: int) -> FloatArray | None:
    if options.effort_noise is None:
        return None
    for density in options.effort_noise:
        _check_density("--effort-noise", density)
    if len(options.effort_noise) not in (1, joints):
        raise SettingError("--effort-noise", options.effort_noise, f"one density, or {joints}, one for each joint")
    return np.broadcast_to(np.array(options.effort_noise), joints)


def _get_wrench_noise(options: argparse.Namespace, usual: WrenchNoise) -> WrenchNoise:
    """The noise that the options name, else the usual one."""
    given = {"force": options.force_noise, "torque": options.torque_noise}
    for name, density in given.items():
        if density is not None:
            _check_density(f"--{name}-noise", density)
    return usual._replace(**{name: density for name, density in given.items() if density is not None})


def _check_density(name: str, density: float) -> None:
    """Refuse what is not a noise density."""
    if not 0.0 < density < np.inf:
        raise SettingError(name, density, "a density above 0")


def _refuse(options: argparse.Namespace, names: Sequence[str], target: str) -> None:
    """Refuse options that have no meaning for this target."""
    for name in names:
        value = getattr(options, name)
        if value is not None:
            raise SettingError(f"--{name.replace('_', '-')}", value, f"no such option with --target {target}")


TARGETS: dict[str, Callable[[Robot, argparse.Namespace], Target]] = {"load": prepare_load, "links": prepare_links}
"""What can be asked for, by the name of --target; each raises InertidError if an option or file cannot be used."""
