"""The one file of an estimate: written by ~/save, ~/capture_tool and `inertid replay`, read by all that use one.

It is YAML or JSON, by its suffix, with the same entries; docs/estimate_schema.md says what each of them means. Numbers
have all their digits and come back as they were. Files of version 1 are read as well.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np

from inertid_ros.core.diagnosis import Finding, Level
from inertid_ros.core.equations.model import IdentifiedArm, LinkModel
from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.estimation.estimate import LoadEstimate, Mode, Sign, WristSensor
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray, Name
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, Tool
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings, iterate_settings
from inertid_ros.files.access import expand
from inertid_ros.files.document import Section, read_mapping

ROLES = ("joint_states", "wrench", "base_wrench", "imu", "robot_description")
"""Inputs whose topics a file may name."""
FORMAT = "inertid_ros estimate"
VERSION = 2

_NAMED = 3
"""So many bags are named where it is said what an estimate comes from; the others are counted."""
_OLD_MODES = {"free": "tracking", "disturbed": "testing", "learning": "tracking"}
_NOT_HELD = {"mode": "waiting", "rows": 0, "findings": []}
"""What the YAML of version 1 did not hold."""


@dataclass(frozen=True, slots=True)
class SavedLinks:
    """An identified arm as a file has it; what the file does not tell is empty or None.

    Attributes:
        where: the place in the file, for messages.
        bodies: for each link its ten parameters (10,): physically consistent.
        joints: for each joint what was identified of DRIVES, by name.
        prismatic: joints that move along an axis, as far as their efforts were measured.
        names: the parameter that stands for each of U base parameters.
        combinations: (U,) the same, written out.
        values, covariance, repeatability, states: of the base parameters.
        fitted: (U,) base parameters that explain their own recording best.
        predictor, predictor_covariance: (U,), (U, U) base parameters that predict others best.
        urdf: (U,) what the URDF says of them.
        fit, urdf_fit: for each channel what the estimate and what the URDF alone leave of it, relative to its rms.
        noise: for each channel the standard deviation of what is left of other motions by itself [Nm, N].
    """

    where: str
    source: str
    joint_names: tuple[str, ...]
    bodies: dict[str, FloatArray]
    joints: dict[str, dict[str, float]]
    prismatic: tuple[str, ...]
    names: tuple[str, ...]
    combinations: tuple[str, ...]
    values: FloatArray
    covariance: FloatArray
    repeatability: FloatArray
    fitted: FloatArray
    predictor: FloatArray
    predictor_covariance: FloatArray
    states: tuple[ParameterState, ...]
    urdf: FloatArray | None
    fit: dict[str, float]
    urdf_fit: dict[str, float]
    noise: dict[str, float]

    def make_model(self, robot: Robot, settings: Settings) -> LinkModel:
        """Set up the arm again, for the same URDF, whose masses do not matter, and the same settings.

        FileFormatError if this is another arm, or was made with other settings.
        """
        missing = [name for name in self.joint_names if name not in robot.joint_names]
        if missing:
            raise FileFormatError(
                f"{self.where} is of an arm with joint {missing[0]}, which the robot description does not have: "
                "name the URDF that it was made with (--urdf)"
            )
        if self.source != settings.links.source:
            raise FileFormatError(
                f"{self.where} comes from source {self.source}, but links.source is {settings.links.source}: "
                "use the settings that it was made with"
            )
        model = LinkModel.from_settings(robot, settings, self.joint_names)
        there, here = self.combinations, model.base.texts
        if there != tuple(here):
            strange = next((text for text in (*there, *here) if (text in there) != (text in here)), "their order")
            raise FileFormatError(
                f"{self.where}, base_parameters do not fit ({len(there)} there, {len(here)} here; first difference: "
                f"{strange}): use the URDF (--urdf) and the links.* settings that it was made with, or replay again"
            )
        return model


@dataclass(frozen=True, slots=True)
class SavedEstimate:
    """What a file holds.

    Attributes:
        where: the file, for messages.
        load, tool, links: what was identified; None for what the file does not have.
        settings: those it was made with; None in a file of version 1 that ~/save wrote.
        topics: names of the inputs by role; empty where they are not known.
        urdf_sha256: of the text of the robot description.
        inputs: paths of the bags of the first recording; none of a file that a node wrote.
        origin: where the numbers come from, for people: bags, or a node, and the version of this package.
    """

    where: str
    load: LoadEstimate | None
    tool: Tool | None
    links: SavedLinks | None
    settings: Settings | None = None
    topics: dict[str, str] = field(default_factory=dict)
    urdf_sha256: str = ""
    inputs: tuple[Path, ...] = ()
    origin: str = ""

    def need_load(self) -> LoadEstimate:
        """The load; FileFormatError if there is none."""
        if self.load is None:
            raise FileFormatError(f"{self.where} has no load: identify one with estimators [load]")
        return self.load

    def need_links(self) -> SavedLinks:
        """The arm; FileFormatError if there is none."""
        if self.links is None:
            raise FileFormatError(f"{self.where} has no links: identify them with estimators [links]")
        return self.links

    def need_settings(self) -> Settings:
        """The settings; FileFormatError if there are none."""
        if self.settings is None:
            raise FileFormatError(f"{self.where} is of version 1 and has no settings: save it again, or replay")
        return self.settings


def read_estimate(path: Path) -> SavedEstimate:
    """Read a file of any version, or the estimate.json in a directory.

    FileAccessError if it cannot be read, FileFormatError if it is no such file; the message names the entry.
    """
    return parse_estimate(read_mapping(path / "estimate.json" if os.path.isdir(expand(path)) else path))  # noqa: PTH112 - never raises


def parse_estimate(content: Section) -> SavedEstimate:
    """Take the content of such a file; FileFormatError if it is none."""
    kind, version = content.content.get("format"), content.content.get("version")
    if kind not in (FORMAT, "inertid_ros replay"):
        raise FileFormatError(f"{content.where} is not an estimate: name a file that inertid replay or ~/save wrote")
    if version not in (1, VERSION):
        raise FileFormatError(f"{content.where} has version {version!r}, this package reads 1 and {VERSION}")
    if version == 1:
        content = _upgrade(content)
    tool = None if content.content.get("tool") is None else read_tool_section(content.section("tool"))
    settings = content.section("settings").content if content.content.get("settings") else {}
    known = {info.name for info in iterate_settings()}
    return SavedEstimate(
        where=content.where,
        load=None if content.content.get("load") is None else _read_load(content.section("load"), tool),
        tool=tool,
        links=None if content.content.get("links") is None else _read_links(content.section("links")),
        settings=Settings.from_flat({name: settings[name] for name in known & set(settings)}) if settings else None,
        topics=_read_topics(content),
        urdf_sha256=content.value("urdf_sha256", str),
        inputs=_read_inputs(content, slice(1)),
        origin=_describe_origin(content),
    )


def _read_topics(content: Section) -> dict[str, str]:
    """Names of the inputs; those that a later version may have more are left out."""
    topics = content.section("topics") if content.content.get("topics") else Section(content.where, {})
    return {role: topics.value(role, str) for role in ROLES if role in topics.content}


def _read_inputs(content: Section, part: slice) -> tuple[Path, ...]:
    """Paths of the bags of some recordings, where there are any."""
    listed = content.value("recordings", list)[part] if content.content.get("recordings") else []
    recordings = [content.item("recordings", item) for item in listed]
    inputs = [
        item for recording in recordings if "inputs" in recording.content for item in recording.value("inputs", list)
    ]
    return tuple(Path(content.item("inputs", item).value("path", str)) for item in inputs)


def _describe_origin(content: Section) -> str:
    names = [path.name for path in _read_inputs(content, slice(None))]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    versions = content.section("versions").content if content.content.get("versions") else {}
    version = versions.get("inertid_ros", "")
    text = f"{', '.join(names[:_NAMED])}{more}" if names else "a running node"
    return f"{text}, inertid_ros {version}" if isinstance(version, str) and version.isprintable() and version else text


def find_tool_file(settings: Settings) -> Path | None:
    """The file of the tool that the settings name; None for no tool."""
    if settings.load.tool:
        return expand(Path(settings.save_directory)) / f"inertid_tool_{settings.load.tool}.yaml"
    return Path(settings.load.tool_file) if settings.load.tool_file else None


def read_tool(path: Path) -> Tool:
    """The tool of a file; raises as `read_estimate` does, and FileFormatError if it has none."""
    saved = read_estimate(path)
    if saved.tool is None:
        raise FileFormatError(f"{saved.where} has no tool: identify the bare gripper and write it with ~/capture_tool")
    return saved.tool


def read_arm(path: Path) -> IdentifiedArm:
    """The arm of a file, for a load by efforts; raises as `read_estimate` does, FileFormatError if it has none.

    The load is what the same arm reads more than before, so what is systematically wrong with it drops out.
    """
    links = read_estimate(path).need_links()
    return IdentifiedArm(links.joint_names, links.names, links.fitted, links.repeatability)


def _read_load(load: Section, tool: Tool | None) -> LoadEstimate:
    sensor = None
    if "bias" in load.content:
        sign = load.value("wrench_sign", object)
        sensor = WristSensor(
            sign=None if sign is None else Sign(_read_choice(load, "wrench_sign", Sign)),
            bias=load.numbers("bias", (6,)),
            bias_covariance=load.covariance("bias_covariance", 6),
            noise_density=load.numbers("noise_density", (6,)),
            noise_calibrated=bool(load.value("noise_calibrated", object)),
            variance_inflation=load.number("misfit"),
            contact_share=load.number("contact_share") if "contact_share" in load.content else 0.0,
            doubt=load.number("doubt") if "doubt" in load.content else 1.0,
            **_read_nuisances(load),
        )
    covariance = load.covariance("covariance", 10)
    has_both = "repeatability_covariance" in load.content
    return LoadEstimate(
        stamp=load.value("last_stamp", int),
        mode=Mode(_read_choice(load, "mode", Mode)),
        names=PARAMETER_NAMES,
        values=load.numbers("parameters", (10,)),
        covariance=covariance,
        repeatability=load.covariance("repeatability_covariance", 10) if has_both else covariance,
        states=_read_states(load, 10),
        findings=_read_findings(load),
        rows=load.value("rows", int),
        fit=None,
        frame=load.value("sensor_frame", str),
        feasible=load.numbers("feasible", (10,)),
        tool=tool,
        sensor=sensor,
    )


def _read_nuisances(load: Section) -> dict[str, FloatArray]:
    """What is systematically wrong with the sensor, in one vector; nothing in files from before it was estimated.

    Those from before its mounting was have an exact one.
    """
    if "systematic" not in load.content:
        return {}
    systematic = load.section("systematic")
    shapes: dict[str, tuple[int, ...]] = {"delay": (), "tilt": (2,), "gains": (6, 6)}
    is_older = "rotation" not in systematic.content
    shapes |= {} if is_older else {"rotation": (3,), "offset": (3,)}
    found = {
        name: np.concatenate([systematic.numbers(part + ending, shape).ravel() for part, shape in shapes.items()])
        for name, ending in {"nuisances": "", "nuisance_deviations": "_deviation"}.items()
    }
    return {name: np.append(numbers, np.zeros(6)) for name, numbers in found.items()} if is_older else found


def _read_findings(load: Section) -> tuple[Finding, ...]:
    parts = [load.item("findings", item) for item in load.value("findings", list)]
    if not all(part.value("level", str) in get_args(Level) for part in parts):
        raise FileFormatError(f"{load.where}: 'findings' have levels that are none of {', '.join(get_args(Level))}")
    return tuple(Finding(part.content["level"], part.value("code", str), part.value("message", str)) for part in parts)


def read_tool_section(tool: Section) -> Tool:
    """The tool of a section; FileFormatError if an entry is missing or is not what it should be."""
    phi, covariance = tool.numbers("parameters", (10,)), tool.covariance("covariance", 10)
    return Tool(phi, covariance, tool.value("sensor_frame", str))


def _read_links(links: Section) -> SavedLinks:
    base, parameters, joints = (links.section(name) for name in ("base_parameters", "parameters", "joints"))
    names = _read_names(base, "names")
    count, is_new = len(names), "fitted" in base.content
    return SavedLinks(
        where=links.where,
        source=links.value("source", str),
        joint_names=_read_names(links, "joint_names"),
        bodies={link: parameters.named_numbers(link, PARAMETER_NAMES) for link in parameters.content},
        joints={joint: _read_numbers(joints, joint) for joint in joints.content},
        prismatic=_read_prismatic(links),
        names=names,
        combinations=_read_names(base, "combinations"),
        values=base.numbers("values", (count,)),
        covariance=base.covariance("covariance", count),
        repeatability=base.covariance("repeatability_covariance" if is_new else "covariance", count),
        fitted=base.numbers("fitted" if is_new else "values", (count,)),
        predictor=base.numbers("predictor" if is_new else "values", (count,)),
        predictor_covariance=base.covariance("predictor_covariance" if is_new else "covariance", count),
        states=_read_states(base, count),
        urdf=base.numbers("urdf", (count,)) if "urdf" in base.content else None,
        fit=_read_by_channel(links, "fit", "relative_rms"),
        urdf_fit=_read_by_channel(links, "urdf_residual", "relative_rms"),
        noise=_read_by_channel(links, "fit", "rms") | _read_by_channel(links, "fit", "noise"),
    )


def _read_prismatic(links: Section) -> tuple[str, ...]:
    units = links.section("units").content if "units" in links.content else {}
    return tuple(str(joint) for joint, unit in units.items() if unit == "N")


def _read_names(section: Section, name: str) -> tuple[str, ...]:
    return tuple(str(item) for item in section.value(name, list))


def _read_numbers(section: Section, name: str) -> dict[str, float]:
    names = tuple(section.value(name, dict))
    return dict(zip(names, section.named_numbers(name, names).tolist(), strict=True))


def _read_by_channel(links: Section, name: str, entry: str) -> dict[str, float]:
    """An entry of each channel, where the file has it."""
    if links.content.get(name) is None:
        return {}
    channels = links.section(name).section("channels")
    found = {channel: channels.section(channel) for channel in channels.content}
    return {channel: section.number(entry) for channel, section in found.items() if entry in section.content}


def _read_states(section: Section, count: int) -> tuple[ParameterState, ...]:
    listed = section.value("states", list)
    if len(listed) != count or not all(state in tuple(ParameterState) for state in listed):
        expected = ", ".join(ParameterState)
        raise FileFormatError(f"{section.where}: 'states' has to be {count} of {expected}")
    return tuple(map(ParameterState, listed))


def _read_choice(section: Section, name: str, kind: type[Name]) -> str:
    value = section.value(name, str)
    if value not in tuple(kind):
        raise FileFormatError(f"{section.where}: '{name}' is not one of {', '.join(kind)}")
    return str(value)


def _upgrade(content: Section) -> Section:
    """The same with the entries of version 2; FileFormatError if an entry is missing or is not what it should be."""
    if content.content["format"] == "inertid_ros replay":
        return Section(content.where, _upgrade_replay(content.content))
    provenance = content.section("provenance")
    found: dict[str, Any] = {"urdf_sha256": provenance.value("urdf_sha256", str)}
    if "load" in content.content:
        found["load"] = _upgrade_load(content, provenance)
    if "links" in content.content:
        links = dict(content.value("links", dict))
        found["links"] = links | _NOT_HELD | {"last_stamp": provenance.value("last_stamp", int)}
    else:
        found["tool"] = content.value("tool", object)
        if found["tool"] is not None:
            tool = content.section("tool")
            found["tool"] |= {"parameters": tool.named_numbers("parameters", PARAMETER_NAMES).tolist()}
    return Section(content.where, found)


def _upgrade_replay(content: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(content)
    for name in ("load", "links"):
        if isinstance(found.get(name), dict):
            mode = found[name].get("mode")
            found[name] = found[name] | {"mode": _OLD_MODES.get(mode, mode)}
    return found


def _upgrade_load(content: Section, provenance: Section) -> dict[str, Any]:
    load, bias = content.section("load"), content.section("sensor_bias")
    states = load.section("states")
    return {
        **_NOT_HELD,
        "sensor_frame": provenance.value("sensor_frame", str),
        "wrench_sign": provenance.value("wrench_sign", str) or None,
        "parameters": load.named_numbers("parameters", PARAMETER_NAMES).tolist(),
        "states": [states.value(name, str) for name in PARAMETER_NAMES],
        "covariance": load.value("covariance", list),
        "feasible": load.named_numbers("feasible", PARAMETER_NAMES).tolist(),
        "bias": bias.value("values", list),
        "bias_covariance": bias.value("covariance", list),
        "misfit": 1.0,
        "noise_density": [0.0] * 6,
        "noise_calibrated": False,
        "last_stamp": provenance.value("last_stamp", int),
    }
