"""The file of poses at rest on a base sensor that `inertid reactions --poses` writes and `links.static_file` names."""

from __future__ import annotations

from pathlib import Path

from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.static.rest_poses import StaticWrench
from inertid_ros.files.document import read_mapping, write_yaml

_COMMENT = (
    "What a base sensor read at rest, pose by pose along a path: joint positions [rad or m],\n"
    "forces [N] and moments [Nm] as the driver publishes them. links.static_file may name this file."
)


def write_static_file(path: Path, static: StaticWrench) -> None:
    """Write poses.

    Raises:
        FileAccessError: if the file cannot be written.
    """
    poses = {
        "joints": list(static.joint_names),
        "positions": static.positions.tolist(),
        "wrenches": static.wrenches.tolist(),
    }
    write_yaml(path, [(_COMMENT, poses)])


def read_static_file(path: Path) -> StaticWrench:
    """Read poses.

    Raises:
        FileAccessError: if the file cannot be read.
        FileFormatError: if it does not contain such poses.
    """
    content = read_mapping(path)
    joints = content.value("joints", list)
    count = len(content.value("positions", list))
    if count < 2 or not all(isinstance(name, str) for name in joints):
        raise FileFormatError(f"{content.where} contains {count} poses of {joints}: at least two poses are needed")
    positions = content.numbers("positions", (count, len(joints)))
    return StaticWrench(tuple(joints), positions, content.numbers("wrenches", (count, 6)))
