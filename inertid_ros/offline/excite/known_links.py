"""What is known of an arm before a motion is designed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.link_model import LinkModel
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot import Robot
from inertid_ros.core.settings import Settings
from inertid_ros.offline.estimate_json import read_document, read_settings_of


@dataclass(frozen=True, slots=True)
class KnownLinks:
    """An earlier estimate, as far as the design of a motion needs it.

    Attributes:
        settings: with which it was made.
        model: the arm.
        values: (U,) base parameters.
        covariance: (U, U).
    """

    settings: Settings
    model: LinkModel
    values: FloatArray
    covariance: FloatArray


def read_known_links(file: Path, robot: Robot) -> KnownLinks:
    """Read the links of the estimate.json of a replay, for the robot that it was made with.

    Raises:
        FileAccessError, FileFormatError: if it cannot be used, or is of another arm.
        RobotDescriptionError: if the robot does not have its joints.
    """
    document = read_document(file)
    if document.content.get("links") is None:
        raise FileFormatError(f"'{file}' has no links: name the estimate.json of a replay that identified them")
    links, settings = document.section("links"), read_settings_of(document)
    model = LinkModel.from_settings(robot, settings, links.value("joint_names", list))
    base = links.section("base_parameters")
    if tuple(base.value("combinations", list)) != model.base.texts:
        raise FileFormatError(
            f"{base.where}: these are not the base parameters of this robot: name the URDF that the replay used"
        )
    rank = model.base.rank
    return KnownLinks(settings, model, base.numbers("values", (rank,)), base.covariance("covariance", rank))
