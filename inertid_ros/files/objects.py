"""The library of objects: a directory with one YAML file for each, written by `inertid object add`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from inertid_ros.core.errors import FileAccessError, FileFormatError, SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.settings.settings import ObjectSettings
from inertid_ros.files.access import make_directory
from inertid_ros.files.document import read_mapping, write_yaml
from inertid_ros.objects.held import Watch
from inertid_ros.objects.known import KnownObject

FORMAT = "inertid_ros object"
VERSION = 1

_COMMENT = (
    "An object of the library, identified once to be recognised again. Parameters are in the object's own frame, in\n"
    "kg, kg m and kg m², inertia about its origin; grip is where that frame was in the sensor's frame. repeatability\n"
    "is the part of the covariance that noise causes."
)
_NAME = re.compile(r"[\w][\w .,()+-]*")


def write_object(directory: Path, known: KnownObject) -> Path:
    """Write an object to a library, which is created if need be, and return the path.

    SettingError if the name cannot be that of a file, FileAccessError if it exists already or cannot be written.
    """
    if not _NAME.fullmatch(known.name):
        raise SettingError("name", known.name, "letters, digits, blanks and .,()+-_, for a file is named after it")
    path = directory.expanduser() / f"{known.name}.yaml"
    if path.exists():
        raise FileAccessError(f"'{path}' exists already: remove it, or choose another name")
    make_directory(path.parent)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "name": known.name,
        "sensor_frame": known.sensor_frame,
        "grip": known.grip.tolist(),
        "parameters": dict(zip(PARAMETER_NAMES, known.phi.tolist(), strict=True)),
        "covariance": known.covariance.tolist(),
        "repeatability": known.repeatability.tolist(),
    }
    write_yaml(path, [(_COMMENT, content)])
    return path


def read_object(path: Path) -> KnownObject:
    """Read an object; FileAccessError or FileFormatError if the file does not hold one."""
    content = read_mapping(path)
    if content.content.get("format") != FORMAT or content.content.get("version") != VERSION:
        raise FileFormatError(f"{content.where} is not an object: add objects with `inertid object add`")
    phi = content.named_numbers("parameters", PARAMETER_NAMES)
    if not phi[0] > 0.0:
        raise FileFormatError(f"{content.where}, parameters: the mass is {phi[0]:g} kg, and must be positive")
    return KnownObject(
        name=content.value("name", str),
        phi=phi,
        covariance=content.covariance("covariance", 10),
        repeatability=content.covariance("repeatability", 10),
        grip=_check_pose(content.where, content.numbers("grip", (4, 4))),
        sensor_frame=content.value("sensor_frame", str),
    )


def read_library(directory: Path) -> list[KnownObject]:
    """All objects of a library, by name.

    FileAccessError if there is no such directory or nothing in it; raises as `read_object` does.
    """
    place = directory.expanduser()
    if not place.is_dir():
        raise FileAccessError(f"there is no library '{directory}': add objects to it with `inertid object add`")
    found = [read_object(path) for path in sorted(place.glob("*.yaml"))]
    if not found:
        raise FileAccessError(f"the library '{directory}' is empty: add objects to it with `inertid object add`")
    names = [known.name for known in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise FileFormatError(f"the library '{directory}' has two objects with the name '{twice}': rename one of them")
    return found


def read_watch(settings: ObjectSettings) -> Watch | None:
    """What may be held and what should be, None where no library is set; InertidError where that cannot be used."""
    if not settings.library:
        if settings.expected:
            raise SettingError("objects.expected", settings.expected, "none without objects.library")
        return None
    return Watch.from_settings(settings, read_library(Path(settings.library)))


def _check_pose(where: str, pose: FloatArray) -> FloatArray:
    rotation = pose[:3, :3]
    is_rotation = np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-6) and np.linalg.det(rotation) > 0.0
    if not is_rotation or not np.array_equal(pose[3], [0.0, 0.0, 0.0, 1.0]):
        raise FileFormatError(f"{where}: 'grip' is not a pose: rotation and position, with 0, 0, 0, 1 below")
    return pose
