"""`inertid identifiability`: what can be identified of a robot's links, from its URDF alone."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from rich.table import Table

from inertid_ros.cli.command import finish
from inertid_ros.cli.console import make_console
from inertid_ros.core.equations.base_parameters import BaseParameters, find_identifiable
from inertid_ros.core.errors import SettingError, UnsupportedJointError
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.settings.choices import Source
from inertid_ros.files.urdf import UrdfFile
from inertid_ros.text.numbers import PARAMETER_UNITS, format_number

MEASURED = {
    "effort": "the efforts of the joints",
    "base_wrench": "the force and moment under the base",
    "both": "the efforts of the joints and the force and moment under the base",
}


def run(options: argparse.Namespace) -> int:
    """Print what is identifiable; 0 if everything went well, 1 if something is wrong."""
    arm = _read_arm(options)
    base = find_identifiable(arm, Source(options.source))
    return finish(options, _list_all(arm, base, options.source), lambda _: _print_tables(arm, base, options.source))


def _read_arm(options: argparse.Namespace) -> ArmModel:
    if not np.all(np.isfinite(options.gravity)):
        raise SettingError("--gravity", options.gravity, "three finite numbers")
    robot = Robot.from_urdf(UrdfFile.read(options.urdf).text)
    try:
        return ArmModel.of(robot, np.array(options.gravity), options.joints)
    except UnsupportedJointError as error:
        raise UnsupportedJointError(f"{error}; name the other joints with --joints") from None


def _list_all(arm: ArmModel, base: BaseParameters, source: str) -> dict[str, Any]:
    """What the tables say, and more, as JSON can hold it."""
    values = base.combination @ arm.parameters
    combinations = [
        {
            "combination": text,
            "urdf_value": float(value),
            "coefficients": {base.names[index]: float(row[index]) for index in row.nonzero()[0]},
        }
        for text, value, row in zip(base.texts, values, base.combination, strict=True)
    ]
    return {
        "source": source,
        "joints": arm.joint_names,
        "links": arm.link_names,
        "rank": base.rank,
        "alone": [base.names[index] for index in base.alone],
        "combined": [base.names[index] for index in base.combined],
        "not_at_all": [base.names[index] for index in base.absent],
        "base_parameters": combinations,
    }


def _print_tables(arm: ArmModel, base: BaseParameters, source: str) -> None:
    console = make_console()
    together = base.rank - len(base.alone)
    console.print(f"From {MEASURED[source]}, of {len(base.names)} parameters of {len(arm.link_names)} links:")
    console.print(
        f"{len(base.alone):4} ● identifiable alone\n"
        f"{len(base.combined):4} ○ identifiable in combinations only, {together} of them\n"
        f"{len(base.absent):4} · not identifiable\n"
        f"{base.rank:4} base parameters in all ({len(base.alone)} + {together}), by QR and by SVD"
    )
    console.print(_tabulate_links(arm, base))
    if together:
        console.print(_tabulate_combinations(arm, base))
    console.print(
        "m is the mass [kg], mc the mass times the centre of mass [kg m], I the inertia about the origin of the link's "
        "frame, not about the centre of mass [kg m²]. Links fixed to another one count as part of it."
    )


def _tabulate_links(arm: ArmModel, base: BaseParameters) -> Any:
    marks = ["·"] * len(base.names)
    for group, mark in ((base.alone, "●"), (base.combined, "○")):
        for index in group:
            marks[index] = mark
    table = Table("joint", "link")
    for name in PARAMETER_NAMES:
        table.add_column(name, justify="center")
    for number, (joint, link) in enumerate(zip(arm.joint_names, arm.link_names, strict=True)):
        table.add_row(joint, link, *marks[10 * number : 10 * number + 10])
    return table


def _tabulate_combinations(arm: ArmModel, base: BaseParameters) -> Any:
    table = Table("", "combination", title="The combinations", title_justify="left")
    table.add_column("by the URDF", justify="right", no_wrap=True)
    values = base.combination @ arm.parameters
    alone = set(base.alone)
    rows = [row for row in zip(base.columns, base.texts, values, strict=True) if row[0] not in alone]
    for number, (column, text, value) in enumerate(rows, start=1):
        table.add_row(str(number), text, f"{format_number(value, '.6g')} {PARAMETER_UNITS[column % 10]}")
    return table
