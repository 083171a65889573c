"""An arm that was identified before, from what `~/save` or `inertid replay` wrote: `load.arm_file` names it."""

from __future__ import annotations

import json
from pathlib import Path

from inertid_ros.core.errors import FileAccessError, FileFormatError
from inertid_ros.core.payload_chain import IdentifiedArm
from inertid_ros.yaml_file import Section, read_yaml


def read_arm(path: Path) -> IdentifiedArm:
    """Read the base parameters of an arm.

    Raises:
        FileAccessError: if the file cannot be read.
        FileFormatError: if it holds no links.
    """
    content = _read_json(path) if path.suffix == ".json" else read_yaml(path)
    if content.content.get("links") is None:
        raise FileFormatError(
            f"{content.where} has no links: name a file that inertid replay or ~/save wrote with estimators [links]"
        )
    links = content.section("links")
    base = links.section("base_parameters")
    names = tuple(str(name) for name in base.value("names", list))
    joints = tuple(str(name) for name in links.value("joint_names", list))
    return IdentifiedArm(joints, names, base.numbers("values", (len(names),)))


def _read_json(path: Path) -> Section:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileAccessError(f"'{path}' cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise FileFormatError(f"'{path}' is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise FileFormatError(f"'{path}' holds no mapping")
    return Section(f"'{path}'", content)
