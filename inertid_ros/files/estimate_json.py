"""`estimate.json`: what a replay found, for programs. docs/estimate_schema.md says what each entry means."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from inertid_ros.bags.topics import Topics
from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.load_chain import LoadEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import describe_body
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.rigid_body.tool import Tool
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.document import Section, read_json
from inertid_ros.files.links_json import list_fit, list_links
from inertid_ros.files.parameters import list_settings
from inertid_ros.files.residual_json import list_residual
from inertid_ros.files.whole_file import write_whole
from inertid_ros.replay.summary import LinkSummary, LoadSummary, Summary, combine_statistics

FORMAT = "inertid_ros replay"
VERSION = 1


def make_document(
    load: LoadEstimate | None,
    links: LinkSummary | None,
    summaries: Sequence[Summary],
    notes: Sequence[str],
    topics: Topics,
) -> dict[str, Any]:
    """Put the document together: the estimates, and what they come from, recording by recording."""
    last = summaries[-1]
    loads = [summary.load for summary in summaries if summary.load is not None]
    tool = loads[-1].tool if loads else None
    statistics = [summary.statistics for summary in loads]
    return {
        "format": FORMAT,
        "version": VERSION,
        "load": None if load is None else list_load(load),
        "tool": None if tool is None else list_tool(tool),
        "residual": list_residual(combine_statistics(statistics)) if loads else None,
        "links": None if links is None else list_links(links, last.settings),
        "health": _add_counts(summaries),
        "notes": list(notes),
        "recordings": [_list_recording(summary) for summary in summaries],
        "settings": list_settings(last.settings),
        "topics": asdict(topics),
        "urdf_sha256": last.origin.urdf_sha256,
        "settings_sha256": last.origin.settings_sha256,
        "versions": last.origin.versions,
    }


def list_load(estimate: LoadEstimate) -> dict[str, Any]:
    """All that is known of the load."""
    body = describe_body(estimate.parameters, estimate.covariance)
    return {
        "sensor_frame": estimate.sensor_frame,
        "wrench_sign": estimate.sign,
        **asdict(body),
        "parameter_names": PARAMETER_NAMES,
        "parameters": estimate.parameters,
        "deviations": np.sqrt(np.diag(estimate.covariance)),
        "states": estimate.states,
        "covariance": estimate.covariance,
        "feasible": estimate.feasible,
        "bias": estimate.bias,
        "bias_covariance": estimate.bias_covariance,
        "mode": estimate.mode,
        "misfit": estimate.misfit,
        "noise_density": estimate.noise_density,
        "noise_calibrated": estimate.noise_calibrated,
        "rows": estimate.rows,
        "last_stamp": estimate.stamp,
        "findings": [asdict(finding) for finding in estimate.findings],
    }


def list_tool(tool: Tool) -> dict[str, Any]:
    """What was subtracted."""
    return {"sensor_frame": tool.sensor_frame, "parameters": tool.phi, "covariance": tool.covariance}


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document, whole or not at all; FileAccessError if it cannot be written."""
    write_whole(path, format_json(document) + "\n")


def format_json(document: Mapping[str, Any]) -> str:
    """The text of a document, arrays as lists, with all digits."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False, default=_list_array)


def read_document(path: Path) -> Section:
    """Read a file of a replay.

    Raises:
        FileAccessError: if it cannot be read.
        FileFormatError: if it is none, or of another version.
    """
    document = read_json(path)
    content = document.content
    if content.get("format") != FORMAT:
        raise FileFormatError(f"'{path}' is no estimate of a replay: name an estimate.json that a replay wrote")
    if content.get("version") != VERSION:
        raise FileFormatError(f"'{path}' has version {content.get('version')!r}, this reads {VERSION}: replay anew")
    return document


def read_unknowns(document: Section) -> FloatArray:
    """What to predict wrenches with: [phi (10), bias (6)] of load and tool together, in the driver's own sign."""
    load = document.section("load")
    parameters = load.numbers("parameters", (10,))
    if document.value("tool", object) is not None:
        parameters = parameters + document.section("tool").numbers("parameters", (10,))
    sign = -1.0 if load.value("wrench_sign", object) == "on_sensor" else 1.0
    return np.concatenate((sign * parameters, load.numbers("bias", (6,))))


def read_settings_of(document: Section) -> Settings:
    """The settings of the replay."""
    return Settings.from_flat(document.section("settings").content)


def read_topics_of(document: Section) -> Topics:
    """The topics of the replay."""
    return Topics(**document.section("topics").content)


def _list_recording(summary: Summary) -> dict[str, Any]:
    return {
        "directory": summary.directory,
        "inputs": [asdict(item) for item in summary.origin.inputs],
        "first_stamp": summary.origin.first_stamp,
        "last_stamp": summary.origin.last_stamp,
        "duration": summary.duration,
        **({} if summary.load is None else _list_load_of(summary.load)),
        **({} if summary.links is None else {"links": {"fit": list_fit(summary.links)}}),
        "topics": [asdict(topic) for topic in summary.topics],
        "health": [asdict(item) for item in summary.health],
        "notes": list(summary.notes),
    }


def _list_load_of(load: LoadSummary) -> dict[str, Any]:
    """What one recording says of the load."""
    return {
        "mass": float(load.estimate.parameters[0]),
        "bias": load.estimate.bias,
        "residual": list_residual(load.statistics),
        "events": [asdict(event) for event in load.events],
    }


def _add_counts(summaries: Sequence[Summary]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in (item for summary in summaries for item in summary.health):
        name = f"{item.source}.{item.code}"
        counts[name] = counts.get(name, 0) + item.count
    return counts


def _list_array(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in JSON")
