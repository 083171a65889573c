"""The state file: what a node knows, kept beyond a crash. Whole or not at all, with a checksum, for one robot only.

It is JSON: a header, the SHA-256 of its content, and the content. Arrays have all their digits and come back as they
were. It is read by the bounded reader, and written by the one writer, of all files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.estimation.estimate import Sign
from inertid_ros.core.estimation.remembered import RememberedLinks, RememberedLoad
from inertid_ros.core.estimation.sensor_equation import NUISANCES
from inertid_ros.core.rigid_body.inertial import Tool
from inertid_ros.files.access import write_whole
from inertid_ros.files.document import Section, format_json, read_mapping
from inertid_ros.files.estimate import read_tool_section
from inertid_ros.files.estimate_writer import list_tool

FORMAT = "inertid_ros state"
VERSION = 1
_UNKNOWN_AGE = 86400.0
"""Seconds that a state is taken to be old where the clock cannot tell: robots without one start in the past."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One estimator's memory, and when it was kept: nanoseconds of the system's clock."""

    memory: RememberedLoad | RememberedLinks
    kept_at: int

    def find_age(self, now: int) -> float:
        """Seconds until `now` [ns]; a day if the clock was set back meanwhile."""
        return (now - self.kept_at) / 1e9 if now >= self.kept_at else _UNKNOWN_AGE


@dataclass(frozen=True, slots=True)
class State:
    """All that is kept of one robot.

    Attributes:
        urdf_sha256: of the text of its description.
        load, links: what was known, None for nothing.
        tool: what was subtracted, None for nothing, and
        tool_file: what the parameters said then of where the tool is: where they say something else now, that counts.
    """

    urdf_sha256: str
    load: Kept | None = None
    links: Kept | None = None
    tool: Tool | None = None
    tool_file: str = ""


def write_state(path: Path, state: State) -> None:
    """Write a state, whole or not at all; FileAccessError if that fails."""
    content = format_json(
        {
            "urdf_sha256": state.urdf_sha256,
            "tool_file": state.tool_file,
            "tool": None if state.tool is None else list_tool(state.tool),
            "load": None if state.load is None else _list_load(state.load),
            "links": None if state.links is None else _list_links(state.links),
        }
    )
    header = {"format": FORMAT, "version": VERSION, "sha256": _hash(json.loads(content))}
    write_whole(path, format_json(header)[:-2] + f',\n "content": {content}\n}}\n')


def read_state(path: Path) -> State:
    """Read a state.

    FileAccessError if it cannot be read, FileFormatError if it is no state, of another version, or damaged.
    """
    document = read_mapping(path)
    if document.content.get("format") != FORMAT:
        raise FileFormatError(f"{document.where} is not a state file: name another one, or remove it")
    if document.content.get("version") != VERSION:
        raise FileFormatError(f"{document.where} has another version than {VERSION}: it was written by another release")
    content = document.section("content")
    if document.value("sha256", str) != _hash(content.content):
        raise FileFormatError(f"{document.where} is damaged: its checksum is wrong")
    has = {name: content.value(name, object) is not None for name in ("tool", "load", "links")}
    return State(
        urdf_sha256=content.value("urdf_sha256", str),
        tool_file=content.value("tool_file", str),
        tool=read_tool_section(content.section("tool")) if has["tool"] else None,
        load=_read_load(content.section("load")) if has["load"] else None,
        links=_read_links(content.section("links")) if has["links"] else None,
    )


def _hash(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _list_load(kept: Kept) -> dict[str, Any]:
    load = kept.memory
    assert isinstance(load, RememberedLoad)
    return {
        "kept_at": kept.kept_at,
        "sensor_frame": load.frame,
        "wrench_sign": load.sign,
        "values": load.values,
        "covariance": load.covariance,
        "misfit": load.inflation,
        "noise_density": load.noise_density,
        "noise_calibrated": load.noise_calibrated,
    }


def _read_load(load: Section) -> Kept:
    sign = load.value("wrench_sign", object)
    if sign is not None and sign not in tuple(Sign):
        raise FileFormatError(f"{load.where}: 'wrench_sign' is not one of {', '.join(Sign)}")
    memory = RememberedLoad(
        frame=load.value("sensor_frame", str),
        sign=None if sign is None else Sign(sign),
        values=load.numbers("values", (NUISANCES,)),
        covariance=load.covariance("covariance", NUISANCES),
        inflation=load.number("misfit"),
        noise_density=load.numbers("noise_density", (6,)),
        noise_calibrated=bool(load.value("noise_calibrated", object)),
    )
    return Kept(memory, load.value("kept_at", int))


def _list_links(kept: Kept) -> dict[str, Any]:
    links = kept.memory
    assert isinstance(links, RememberedLinks)
    return {
        "kept_at": kept.kept_at,
        "joint_names": links.joint_names,
        "combinations": links.names,
        "values": links.values,
        "covariance": links.covariance,
        "residuals": links.residuals,
    }


def _read_links(links: Section) -> Kept:
    names = tuple(map(str, links.value("combinations", list)))
    channels = len(links.value("residuals", list))
    memory = RememberedLinks(
        joint_names=tuple(map(str, links.value("joint_names", list))),
        names=names,
        values=links.numbers("values", (len(names),)),
        covariance=links.covariance("covariance", len(names)),
        residuals=links.numbers("residuals", (channels,)),
    )
    return Kept(memory, links.value("kept_at", int))
