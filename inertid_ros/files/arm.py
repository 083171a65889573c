"""An arm that was identified before, from what `~/save` or `inertid replay` wrote: `load.arm_file` names it."""

from __future__ import annotations

from pathlib import Path

from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.payload_chain import IdentifiedArm
from inertid_ros.files.document import read_json, read_yaml


def read_arm(path: Path) -> IdentifiedArm:
    """Read the base parameters of an arm.

    Raises:
        FileAccessError: if the file cannot be read.
        FileFormatError: if it holds no links.
    """
    content = read_json(path) if path.suffix == ".json" else read_yaml(path)
    if content.content.get("links") is None:
        raise FileFormatError(
            f"{content.where} has no links: name a file that inertid replay or ~/save wrote with estimators [links]"
        )
    links = content.section("links")
    base = links.section("base_parameters")
    names = tuple(str(name) for name in base.value("names", list))
    joints = tuple(str(name) for name in links.value("joint_names", list))
    return IdentifiedArm(joints, names, base.numbers("values", (len(names),)))
