"""What people give: the parameter file of the node, read without ROS, load files, and poses for `links.static_file`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose, is_feasible
from inertid_ros.core.settings.settings import Settings, iterate_settings
from inertid_ros.core.static.rest_poses import StaticWrench
from inertid_ros.files.document import read_mapping, write_yaml

NODE = "inertid"
_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_OF_ROS = ("use_sim_time", "qos_overrides", "start_type_description_service")


def read_settings(path: Path) -> Settings:
    """Read the settings of the node `inertid` from a ROS 2 parameter file.

    FileAccessError or FileFormatError if it is no such file, SettingError if a parameter cannot be used.
    """
    found: dict[str, Any] = {}
    nodes = dict(_iterate_nodes("", read_mapping(path).content))
    matching = [parameters for node, parameters in nodes.items() if node.rsplit("/", 1)[-1] in ("**", "*", NODE)]
    if not matching:
        known = ", ".join(nodes) or "none"
        raise FileFormatError(f"'{path}' has no ros__parameters for /** or {NODE} (nodes in it: {known})")
    for parameters in matching:
        found |= dict(_flatten("", parameters))
    return Settings.from_flat({name: value for name, value in found.items() if name.split(".")[0] not in _OF_ROS})


def list_settings(settings: Settings) -> dict[str, Any]:
    """All settings by their dotted names."""
    return {info.name: attrgetter(info.name)(settings) for info in iterate_settings()}


def _iterate_nodes(prefix: str, content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Walk over nodes with their parameters; namespaces may be nested."""
    for name, value in content.items():
        if not isinstance(value, dict):
            continue
        path = f"{prefix}/{str(name).strip('/')}"
        parameters = value.get("ros__parameters")
        if isinstance(parameters, dict):
            yield path, parameters
        else:
            yield from _iterate_nodes(path, value)


def _flatten(prefix: str, content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in content.items():
        if isinstance(value, dict):
            yield from _flatten(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value


def load_from_yaml(path: str | Path) -> FloatArray:
    """Read a load: `mass` [kg], `com` (3) [m] in the sensor frame, `inertia_at_com` with ixx ... izz [kg m^2].

    The result is phi (10,) in the sensor frame. FileFormatError if it is not such a load, or an inconsistent one.
    """
    content = read_mapping(Path(path))
    xx, xy, xz, yy, yz, zz = content.named_numbers("inertia_at_com", _INERTIA)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    phi = compose(content.number("mass"), content.numbers("com", (3,)), inertia)
    if not is_feasible(phi):
        raise FileFormatError(
            f"{content.where} is not physically consistent: mass and principal moments of inertia must be positive, "
            "and no moment may exceed the sum of the other two"
        )
    return phi


_COMMENT = (
    "What a base sensor read at rest, pose by pose along a path: joint positions [rad or m],\n"
    "forces [N] and moments [Nm] as the driver publishes them. links.static_file may name this file."
)


def write_static_file(path: Path, static: StaticWrench) -> None:
    """Write poses; FileAccessError if the file cannot be written."""
    poses = {
        "joints": list(static.joint_names),
        "positions": static.positions.tolist(),
        "wrenches": static.wrenches.tolist(),
    }
    write_yaml(path, [(_COMMENT, poses)])


def read_static_file(path: Path) -> StaticWrench:
    """Read poses; FileAccessError or FileFormatError if the file does not contain any."""
    content = read_mapping(path)
    joints = content.value("joints", list)
    count = len(content.value("positions", list))
    if count < 2 or not all(isinstance(name, str) for name in joints):
        raise FileFormatError(f"{content.where} contains {count} poses of {joints}: at least two poses are needed")
    positions = content.numbers("positions", (count, len(joints)))
    return StaticWrench(tuple(joints), positions, content.numbers("wrenches", (count, 6)))
