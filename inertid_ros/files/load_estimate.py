"""The file that `~/save` and `~/capture_tool` write and that `load.tool_file` names.

    format, version    what the file is
    provenance         where the numbers come from
    load               the estimate (only in a file of ~/save)
    links              the estimate of an arm, in a file of its own (see links_file.py)
    sensor_bias        what the sensor shows without a load (only in a file of ~/save)
    tool               what is subtracted; null where nothing is
    paste              the load for other software (only in a file of ~/save)

`load.body` and `paste` are for people and are not read back. All other numbers have all their digits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inertid_ros import __version__
from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import describe_body
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.rigid_body.tool import Tool
from inertid_ros.files.document import Section, read_yaml, write_yaml
from inertid_ros.files.vendor_snippets import find_missing, make_snippets

FORMAT = "inertid_ros estimate"
VERSION = 1

_COMMENTS = {
    "format": """\
What inertid_ros has identified, in SI units. The ten parameters are mass, mass times centre of mass, and the inertia
about the origin of the frame: the sensor's for a load, the link's own for a link.""",
    "provenance": "Where the numbers come from. Stamps are those of the messages, in nanoseconds.",
    "load": """\
What is carried, without the tool. 'feasible' is the nearest body that can exist. 'body' is the same as 'parameters',
but about the centre of mass, in the axes of the sensor frame; what is not known yet is null.""",
    "links": """\
The arm. 'parameters' are bodies that can exist, as near to the URDF's as the data allow; 'joints' has what was asked.
'base_parameters' are the combinations that the data determine, each named by the parameter that stands for it.""",
    "sensor_bias": "What the sensor shows without any load: force, then moment, in the driver's own sign.",
    "tool": "What hangs on the sensor when nothing is gripped. load.tool_file may name this file.",
    "paste": """\
The feasible body for other software, in the sensor frame. UR and Franka expect the frame of the flange: where that is
another, move the centre of mass and turn the inertia first. What sits between the flange and the sensor's measuring
element is not in these numbers.
A UR counts the tool as payload, so it is included there; setting the payload also zeroes the UR's own force sensor.
Before PolyScope 5.10 the call is set_payload, without the inertia. Franka has the hand configured elsewhere.""",
}


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an estimate comes from.

    Attributes:
        urdf_sha256: of the robot description's text, hexadecimal.
        sensor_frame: frame of all numbers.
        wrench_sign: "on_load" or "on_sensor"; empty while that is not known.
        method: filtered, differentiated or integral.
        gravity: (x, y, z) in the root frame of the URDF [m/s²].
        first_stamp: of the first sample used [ns].
        last_stamp: of the last sample used [ns].
        joint_samples: how many joint states were used.
        wrench_samples: how many wrenches were used.
        package_version: of this package.
    """

    urdf_sha256: str
    sensor_frame: str
    wrench_sign: str
    method: str
    gravity: tuple[float, float, float]
    first_stamp: int
    last_stamp: int
    joint_samples: int
    wrench_samples: int
    package_version: str = __version__


@dataclass(frozen=True, slots=True)
class SavedEstimate:
    """What `~/save` writes.

    Attributes:
        provenance: where it comes from.
        phi: (10,) raw estimate of the load alone.
        covariance: (10, 10) of phi, including the tool's.
        feasible_phi: (10,) nearest feasible body.
        states: of the ten parameters, "known" or another word.
        bias: (6,) of the sensor, in the driver's sign [N, Nm].
        bias_covariance: (6, 6).
        tool: what was subtracted, or None.
    """

    provenance: Provenance
    phi: FloatArray
    covariance: FloatArray
    feasible_phi: FloatArray
    states: tuple[str, ...]
    bias: FloatArray
    bias_covariance: FloatArray
    tool: Tool | None


def write_estimate(path: str | Path, saved: SavedEstimate) -> None:
    """Write an estimate; whatever happens, there is either the old file or the whole new one.

    Raises:
        FileAccessError: if it cannot be written there.
    """
    body = describe_body(saved.phi, saved.covariance)
    is_carried = body.com is not None
    load = {
        "parameters": _name(saved.phi.tolist()),
        "states": _name(saved.states),
        "feasible": _name(saved.feasible_phi.tolist()),
        "covariance": saved.covariance.tolist(),
        "body": _list_known(dataclasses.asdict(body), find_missing(saved.states, is_carried)),
    }
    sections = {
        "provenance": _list_provenance(saved.provenance),
        "load": load,
        "sensor_bias": {"values": saved.bias.tolist(), "covariance": saved.bias_covariance.tolist()},
        "tool": None if saved.tool is None else _list_tool(saved.tool),
        "paste": make_snippets(saved.feasible_phi, saved.states, is_carried, saved.tool),
    }
    write_sections(path, sections)


def write_tool(path: str | Path, tool: Tool, provenance: Provenance) -> None:
    """Write a tool; whatever happens, there is either the old file or the whole new one.

    Raises:
        FileAccessError: if it cannot be written there.
    """
    write_sections(path, {"provenance": _list_provenance(provenance), "tool": _list_tool(tool)})


def read_estimate(path: str | Path) -> SavedEstimate:
    """Read a file that write_estimate wrote.

    Raises:
        FileAccessError: if it cannot be read.
        FileFormatError: if it is no such file; the message names the entry.
    """
    content = read_sections(path)
    load, bias = content.section("load"), content.section("sensor_bias")
    states = load.section("states")
    return SavedEstimate(
        provenance=_read_provenance(content.section("provenance")),
        phi=load.named_numbers("parameters", PARAMETER_NAMES),
        covariance=load.covariance("covariance", 10),
        feasible_phi=load.named_numbers("feasible", PARAMETER_NAMES),
        states=tuple(states.value(name, str) for name in PARAMETER_NAMES),
        bias=bias.numbers("values", (6,)),
        bias_covariance=bias.covariance("covariance", 6),
        tool=_read_tool(content),
    )


def read_tool(path: str | Path) -> Tool:
    """Read the tool of a file that write_tool or write_estimate wrote.

    Raises:
        FileAccessError: if it cannot be read.
        FileFormatError: if it is no such file, or has no tool.
    """
    tool = _read_tool(read_sections(path))
    if tool is None:
        raise FileFormatError(f"'{path}' has no tool: identify the bare gripper and write it with ~/capture_tool")
    return tool


def write_sections(path: str | Path, sections: dict[str, Any]) -> None:
    """Write sections below the header that says what the file is; raises FileAccessError if that fails."""
    header = (_COMMENTS["format"], {"format": FORMAT, "version": VERSION})
    write_yaml(Path(path), [header] + [(_COMMENTS[name], {name: section}) for name, section in sections.items()])


def read_sections(path: str | Path) -> Section:
    """Read a file with that header.

    Raises:
        FileAccessError: if it cannot be read.
        FileFormatError: if it is no such file.
    """
    content = read_yaml(Path(path))
    if content.value("format", object) != FORMAT:
        raise FileFormatError(f"'{path}' was not written by ~/save or ~/capture_tool: its format is not '{FORMAT}'")
    version = content.value("version", object)
    if version != VERSION:
        raise FileFormatError(f"'{path}' has version {version!r}, this package reads {VERSION}: save it anew")
    return content


def _list_provenance(provenance: Provenance) -> dict[str, Any]:
    return dataclasses.asdict(provenance) | {"gravity": list(provenance.gravity)}


def _read_provenance(section: Section) -> Provenance:
    x, y, z = section.numbers("gravity", (3,)).tolist()
    texts = ("urdf_sha256", "sensor_frame", "wrench_sign", "method", "package_version")
    counts = ("first_stamp", "last_stamp", "joint_samples", "wrench_samples")
    return Provenance(
        gravity=(x, y, z),
        **{name: section.value(name, str) for name in texts},
        **{name: section.value(name, int) for name in counts},
    )


def _list_tool(tool: Tool) -> dict[str, Any]:
    return {
        "sensor_frame": tool.sensor_frame,
        "parameters": _name(tool.phi.tolist()),
        "covariance": tool.covariance.tolist(),
    }


def _read_tool(content: Section) -> Tool | None:
    if content.value("tool", object) is None:
        return None
    tool = content.section("tool")
    return Tool(
        phi=tool.named_numbers("parameters", PARAMETER_NAMES),
        covariance=tool.covariance("covariance", 10),
        sensor_frame=tool.value("sensor_frame", str),
    )


def _list_known(body: dict[str, Any], missing: Sequence[str]) -> dict[str, Any]:
    """Turn a body into what YAML holds, null where it is not known."""
    needs = {"mass": "mass", "com": "centre of mass"}  # by the first word of a name; all others need the inertia
    return {
        name: None if needs.get(name.split("_")[0], "inertia") in missing else np.asarray(value).tolist()
        for name, value in body.items()
    }


def _name(values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(PARAMETER_NAMES, values, strict=True))
