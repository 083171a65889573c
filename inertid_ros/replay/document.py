"""estimate.json of a replay: the estimates, and what they come from, recording by recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from inertid_ros.bags.topics import Topics
from inertid_ros.files.estimate_writer import list_fit, list_links, list_load, list_tool
from inertid_ros.files.parameters import list_settings
from inertid_ros.replay.combine import Recorded, Sum
from inertid_ros.replay.residuals import Prediction, ResidualStatistics, list_residual
from inertid_ros.replay.trace import LinkTrace, LoadTrace


def make_document(found: Sum, recordings: Sequence[Recorded], notes: Sequence[str], topics: Topics) -> dict[str, Any]:
    """Put the document together."""
    last = recordings[-1].traces.either
    load = found.load
    return {
        "load": None if load is None else list_load(load, last.settings),
        "tool": None if load is None or load.tool is None else list_tool(load.tool),
        "residual": _list_residual([item.traces.load for item in recordings if item.traces.load is not None]),
        "links": None if found.links is None else _list_links(found.links),
        "health": _add_counts(recordings),
        "notes": list(notes),
        "recordings": [_list_recording(item) for item in recordings],
        "settings": list_settings(last.settings),
        "topics": asdict(topics),
        "urdf_sha256": last.origin.urdf_sha256,
        "settings_sha256": last.origin.settings_sha256,
        "versions": last.origin.versions,
    }


def _list_residual(loads: Sequence[LoadTrace]) -> dict[str, Any] | None:
    if not loads:
        return None
    return list_residual(ResidualStatistics.combine([trace.online.samples for trace in loads]), loads[-1].groups)


def _list_links(trace: LinkTrace) -> dict[str, Any]:
    return {
        **list_links(trace.estimate, trace.parameters, trace.settings),
        "fit": _list_fit(trace),
        "residual": _list_prediction(trace.online, trace),
        "urdf_residual": _list_prediction(trace.urdf, trace),
    }


def _list_fit(trace: LinkTrace) -> dict[str, Any]:
    fit = trace.estimate.fit
    assert fit is not None
    overall = list_residual(ResidualStatistics.of_fit(fit), trace.groups)["relative_rms"]
    return {"relative_rms": overall, **list_fit(fit)}


def _list_prediction(fit: Prediction, trace: LinkTrace) -> dict[str, Any]:
    """Residuals of filtered rows, with those of the samples as measured beside."""
    return {**list_residual(fit.rows, trace.groups), "raw": list_residual(fit.samples, trace.groups)}


def _list_recording(recorded: Recorded) -> dict[str, Any]:
    traces = recorded.traces
    shared = traces.either
    return {
        "directory": recorded.directory,
        "inputs": [asdict(item) for item in shared.origin.inputs],
        "first_stamp": shared.origin.first_stamp,
        "last_stamp": shared.origin.last_stamp,
        "duration": traces.duration,
        **({} if traces.load is None else _list_load_of(traces.load)),
        **({} if traces.links is None else {"links": {"fit": _list_fit(traces.links)}}),
        "topics": [asdict(topic) for topic in shared.topics],
        "health": [asdict(item) for item in traces.health],
        "notes": list(shared.notes),
    }


def _list_load_of(load: LoadTrace) -> dict[str, Any]:
    """What one recording says of the load."""
    sensor = load.estimate.sensor
    return {
        "mass": float(load.estimate.values[0]),
        **({} if sensor is None else {"bias": sensor.bias}),
        "residual": list_residual(load.online.samples, load.groups),
        "events": [asdict(event) for event in load.events],
    }


def _add_counts(recordings: Sequence[Recorded]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in (item for recorded in recordings for item in recorded.traces.health):
        name = f"{item.source}.{item.code}"
        counts[name] = counts.get(name, 0) + item.count
    return counts
