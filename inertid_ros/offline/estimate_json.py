"""`estimate.json`: what a replay found, for programs. docs/estimate_schema.md says what each entry means."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from inertid_ros.core.body import describe_body
from inertid_ros.core.errors import FileAccessError, FileFormatError
from inertid_ros.core.inertial import PARAMETER_NAMES
from inertid_ros.core.load_chain import LoadEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings import Settings
from inertid_ros.core.tool import Tool
from inertid_ros.offline.parameter_file import list_settings
from inertid_ros.offline.summary import Summary, combine_statistics
from inertid_ros.offline.topics import Topics
from inertid_ros.offline.trace import ResidualStatistics
from inertid_ros.offline.whole_file import write_whole
from inertid_ros.yaml_file import Section

FORMAT = "inertid_ros replay"
VERSION = 1
CHANNELS = ("fx", "fy", "fz", "nx", "ny", "nz")


def make_document(
    estimate: LoadEstimate, summaries: Sequence[Summary], notes: Sequence[str], topics: Topics
) -> dict[str, Any]:
    """Put the document together: the estimate, and what it comes from, recording by recording."""
    last = summaries[-1]
    return {
        "format": FORMAT,
        "version": VERSION,
        "load": list_load(estimate),
        "tool": None if last.tool is None else list_tool(last.tool),
        "residual": list_residual(combine_statistics([summary.statistics for summary in summaries])),
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


def list_residual(statistics: ResidualStatistics) -> dict[str, Any]:
    """How well the wrenches are explained: relative to rms, all together, force, moment, and each channel."""
    force, torque = (_relate(statistics, part) for part in (slice(0, 3), slice(3, 6)))
    names = ("mean", "rms", "largest", "measured_rms", "relative_rms")
    return {
        "count": statistics.count,
        "relative_rms": float(np.sqrt((force**2 + torque**2) / 2.0)),
        "force": {"relative_rms": force},
        "torque": {"relative_rms": torque},
        "channels": {
            channel: {name: float(getattr(statistics, name)[index]) for name in names}
            for index, channel in enumerate(CHANNELS)
        },
    }


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
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileAccessError(f"'{path}' cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise FileFormatError(f"'{path}' is not JSON ({error}): name an estimate.json that a replay wrote") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FileFormatError(f"'{path}' is no estimate of a replay: name an estimate.json that a replay wrote")
    if content.get("version") != VERSION:
        raise FileFormatError(f"'{path}' has version {content.get('version')!r}, this reads {VERSION}: replay anew")
    return Section(f"'{path}'", content)


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
        "mass": float(summary.estimate.parameters[0]),
        "bias": summary.estimate.bias,
        "residual": list_residual(summary.statistics),
        "topics": [asdict(topic) for topic in summary.topics],
        "health": [asdict(item) for item in summary.health],
        "events": [asdict(event) for event in summary.events],
        "notes": list(summary.notes),
    }


def _add_counts(summaries: Sequence[Summary]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in (item for summary in summaries for item in summary.health):
        name = f"{item.source}.{item.code}"
        counts[name] = counts.get(name, 0) + item.count
    return counts


def _relate(statistics: ResidualStatistics, part: slice) -> float:
    residual, measured = (float(np.linalg.norm(values[part])) for values in (statistics.rms, statistics.measured_rms))
    return residual / measured if measured > 0.0 else 0.0


def _list_array(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in JSON")
