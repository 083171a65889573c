"""The section `links` of estimate.json, written and read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.estimation.full_set import complete_by_ridge
from inertid_ros.core.estimation.link_records import LinkEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.document import Section
from inertid_ros.files.residual_json import Channels, list_residual
from inertid_ros.replay.summary import LinkSummary
from inertid_ros.replay.trace import LinkFit, LinkTrace, ResidualStatistics

_DRIVE = ("viscous", "coulomb", "rotor_inertia", "offset")


def list_links(links: LinkSummary, settings: Settings) -> dict[str, Any]:
    """All that is known of the links."""
    estimate, model = links.estimate, links.estimate.model
    base, offset = model.base, model.unknowns.base_offset
    has_offset = offset.stop > offset.start
    return {
        "source": model.source,
        "method": settings.links.method,
        "effort_unit": settings.links.effort_unit or None,
        "units": dict(zip(links.channels, links.units, strict=True)),
        "joint_names": model.arm.joint_names,
        "link_names": model.arm.link_names,
        "parameters": name_links(model, links.parameters),
        "ridge_parameters": name_links(model, complete_by_ridge(estimate)),
        "joints": name_drives(model, links.parameters),
        "base_offset": links.parameters[offset] if has_offset else None,
        "base_parameters": {
            "names": [base.names[column] for column in base.columns],
            "combinations": base.texts,
            "values": estimate.values,
            "standard_deviations": np.sqrt(np.diag(estimate.covariance)),
            "states": estimate.states,
            "urdf": model.prior,
            "covariance": estimate.covariance,
        },
        "fit": list_fit(links),
        "residual": list_prediction(links.online, links),
        "urdf_residual": list_prediction(links.urdf, links),
        "mode": estimate.mode,
        "rows": int(estimate.rows.max(initial=0)),
        "last_stamp": estimate.stamp,
        "findings": [asdict(finding) for finding in estimate.findings],
    }


def name_links(model: LinkModel, full: FloatArray) -> dict[str, dict[str, float]]:
    """The ten parameters of each link, of the full set (F,)."""
    rows = full[model.unknowns.inertial].reshape(-1, len(PARAMETER_NAMES)).tolist()
    return {
        link: dict(zip(PARAMETER_NAMES, row, strict=True)) for link, row in zip(model.arm.link_names, rows, strict=True)
    }


def name_drives(model: LinkModel, full: FloatArray) -> dict[str, dict[str, float]]:
    """What was identified of each joint besides, of the full set (F,)."""
    parts = {kind: full[getattr(model.unknowns, kind)].tolist() for kind in _DRIVE}
    return {
        joint: {kind: values[index] for kind, values in parts.items() if values}
        for index, joint in enumerate(model.arm.joint_names)
    }


def list_fit(links: LinkSummary) -> dict[str, Any]:
    """What the final estimate leaves of the filtered rows it was made from."""
    statistics = describe_fit(links.estimate)
    content = list_residual(statistics, channels_of(links))
    heads = {"relative_rms": "relative_rms", "rms": "rms", "measured_rms": "measured_rms", "count": "rows"}
    channels = {name: {new: entry[old] for old, new in heads.items()} for name, entry in content["channels"].items()}
    return {"relative_rms": content["relative_rms"], "channels": channels}


def describe_fit(estimate: LinkEstimate) -> ResidualStatistics:
    """What the estimate leaves of its own rows."""
    rms, measured = estimate.residual_rms, estimate.measured_rms
    relative = np.divide(rms, measured, out=np.zeros(len(rms)), where=measured > 0.0)
    nothing = np.zeros(len(rms))
    return ResidualStatistics(estimate.rows, nothing, rms, nothing, measured, relative)


def channels_of(links: LinkSummary | LinkTrace) -> Channels:
    """The channels of an arm, in groups."""
    return Channels.of_links(links.channels, links.units)


def list_prediction(fit: LinkFit, links: LinkSummary) -> dict[str, Any]:
    """Residuals of filtered rows, with those of the samples as measured beside."""
    channels = channels_of(links)
    return {**list_residual(fit.rows, channels), "raw": list_residual(fit.samples, channels)}


@dataclass(frozen=True, slots=True)
class KnownArm:
    """An arm as a replay identified it.

    Attributes:
        model: set up anew from URDF and settings.
        values: (U,) its base parameters.
        covariance: (U, U).
    """

    model: LinkModel
    values: FloatArray
    covariance: FloatArray


def read_known_arm(document: Section, robot: Robot, settings: Settings) -> KnownArm:
    """Set up the arm that an estimate.json holds, for the same URDF and the same settings.

    Args:
        document: the file.
        robot: the robot; what it says of masses does not matter.
        settings: what is identified of the arm (links.source, viscous, coulomb, rotor_inertia, offset, base_frame).

    Raises:
        FileFormatError: if there are no links in it, or they are those of another arm or of other settings.
        RobotDescriptionError: if the robot does not have its joints.
    """
    if document.value("links", object) is None:
        raise FileFormatError(f"{document.where} has no links: replay with estimators [links]")
    links = document.section("links")
    joints = _read_names(links, "joint_names")
    missing = [name for name in joints if name not in robot.joint_names]
    if missing:
        raise FileFormatError(
            f"{links.where} is of an arm with joint {missing[0]}, which the robot description does not have: "
            "name the URDF that it was made with (--urdf)"
        )
    if links.value("source", str) != settings.links.source:
        raise FileFormatError(
            f"{links.where} comes from source {links.value('source', str)}, but links.source is "
            f"{settings.links.source}: use the settings that it was made with"
        )
    model = LinkModel.from_settings(robot, settings, joints)
    base = links.section("base_parameters")
    _compare_combinations(base, _read_names(base, "combinations"), model.base.texts)
    count = model.base.rank
    return KnownArm(model, base.numbers("values", (count,)), base.covariance("covariance", count))


def _compare_combinations(base: Section, there: Sequence[str], here: Sequence[str]) -> None:
    if tuple(there) == tuple(here):
        return
    strange = next((text for text in there if text not in here), None) or next(
        (text for text in here if text not in there), "their order"
    )
    raise FileFormatError(
        f"{base.where} does not fit ({len(there)} parameters there, {len(here)} here; first difference: {strange}): "
        "use the URDF (--urdf) and the links.* settings that it was made with, or replay anew"
    )


def _read_names(section: Section, name: str) -> tuple[str, ...]:
    return tuple(str(item) for item in section.value(name, list))
