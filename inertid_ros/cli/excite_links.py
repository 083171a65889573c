"""`inertid excite --target links`: what is set up and shown."""

from __future__ import annotations

import argparse
import dataclasses
from typing import NamedTuple

import numpy as np
from rich.table import Table
from rich.text import Text

from inertid_ros.cli.excite_task import ExciteTask, check_density, get_wrench_noise, refuse
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import SettingError
from inertid_ros.core.estimation.states import judge_link_parameters
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import LinksSettings, Settings
from inertid_ros.files.estimate import read_estimate
from inertid_ros.motions.design.link_information import BASE_NOISE, LinkInformation, assume_noise
from inertid_ros.motions.design.motion_limits import read_limits
from inertid_ros.motions.design.reference import LINK_MOVES, Reference, make_reference
from inertid_ros.motions.windowed_sines import WindowedSines


class _Start(NamedTuple):
    """The arm, the settings, and what is known: values (U,) and, unless it is the URDF's word, their covariance."""

    settings: Settings
    model: LinkModel
    values: FloatArray
    covariance: FloatArray | None


def prepare_links(robot: Robot, options: argparse.Namespace) -> ExciteTask:
    """Set up the search for a motion that tells most of the links."""
    refuse(options, ("sensor_frame",), "links")
    start = _begin(robot, options)
    model = start.model
    limits = read_limits(model.arm, options.limits)
    wrench = get_wrench_noise(options, BASE_NOISE)
    densities = assume_noise(model, wrench, _get_effort_noise(options, len(model.arm.joint_names)))
    information = LinkInformation(model, densities, start.settings.links, start.covariance)
    reference = make_reference(LINK_MOVES.get(robot.model.name, ()), limits.joints, options.duration)

    before = model.prior_deviations if start.covariance is None else np.sqrt(np.diag(start.covariance))

    def describe(motion: WindowedSines) -> list[Table | str]:
        noise = ", ".join(f"{name} {density:.2g}" for name, density in zip(model.channels, densities, strict=True))
        return [
            make_links_table(model, information, motion, reference, before),
            _count_known(start, information, motion, reference),
            f"assumed white noise (per root of a hertz): {noise}",
        ]

    return ExciteTask(model.arm.joint_names, information, limits, reference, describe)


def make_links_table(
    model: LinkModel, information: LinkInformation, motion: WindowedSines, reference: Reference, before: FloatArray
) -> Table:
    """The predicted standard deviations of the base parameters beside those of other motions, and of the start."""
    title = f"predicted standard deviations (SI) after {motion.duration:g} s of motion alone, without standing still"
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
    """How many base parameters will be numbers to trust."""
    counts = []
    for motions in ((motion,), reference.motions):
        states = judge_link_parameters(start.model, start.values, information.covariance(motions))
        counts.append(sum(state == "known" for state, wanted in zip(states, information.wanted, strict=True) if wanted))
    total = int(information.wanted.sum())
    return f"{counts[0]} of {total} will be known, with the {reference.name} {counts[1]} (if the URDF is about right)"


def _begin(robot: Robot, options: argparse.Namespace) -> _Start:
    if options.start is not None:
        refuse(options, ("source", "joints"), "links and --start, which says it")
        saved = read_estimate(options.start)
        settings, known = saved.need_settings(), saved.need_links()
        return _Start(settings, known.make_model(robot, settings), known.values, known.covariance)
    links = dataclasses.replace(LinksSettings(), source=options.source or "effort")
    settings = dataclasses.replace(Settings(), gravity=options.gravity, links=links)
    joints = options.joints or [name for name in robot.joint_names if name not in robot.mimics]
    model = LinkModel.from_settings(robot, settings, joints)
    return _Start(settings, model, model.prior, None)


def _get_effort_noise(options: argparse.Namespace, joints: int) -> FloatArray | None:
    if options.effort_noise is None:
        return None
    for density in options.effort_noise:
        check_density("--effort-noise", density)
    if len(options.effort_noise) not in (1, joints):
        raise SettingError("--effort-noise", options.effort_noise, f"one density, or {joints}, one for each joint")
    return np.broadcast_to(np.array(options.effort_noise), joints)
