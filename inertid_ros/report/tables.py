"""The numbers of the report: parameters, bodies, residuals, input, settings, provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from operator import attrgetter

import numpy as np

from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, UPPER_TRIANGLE
from inertid_ros.core.settings.settings import Settings, iterate_settings
from inertid_ros.files.estimate_writer import name_drives, name_links
from inertid_ros.files.provenance import Provenance
from inertid_ros.files.vendor_snippets import find_body, inertia_is_known
from inertid_ros.replay.trace import LinkTrace, LoadTrace, Trace, Traces
from inertid_ros.report.markup import Html, badge, bullets, element, fold, fold_long, remark, share, table
from inertid_ros.report.verdict import find_residuals
from inertid_ros.text.numbers import (
    PARAMETER_UNITS,
    count_states,
    format_estimate,
    format_nuisances,
    format_spread,
    parameter_units,
)

_BADGES = {
    "known": "good", "uncertain": "caution", "not excited yet": "none",
    "error": "bad", "warning": "caution", "info": "none",
}  # fmt: skip
"""Colour of each state of a parameter, and of each level of a problem."""
_BOTH = (
    "95 % each. Accuracy: how far from the truth, systematic error of sensor and mounting included. Repeatability: "
    "what noise alone does to repetitions on the same sensor."
)
_MOUNTING = (
    "Estimated together with the load, which is corrected for it. An interval that includes zero is no defect, but the "
    "reason why the accuracy is not as good as the repeatability."
)
MOST_LISTED = 200
"""So many events are listed; the others are counted."""


def list_parameters(trace: LoadTrace | LinkTrace) -> Html:
    """The ten parameters of a load about the sensor's origin, or the identifiable combinations of an arm's."""
    estimate = trace.estimate
    numbers = [
        "–" if state == ParameterState.NOT_EXCITED else number
        for number, state in zip(_format_all(estimate.values, estimate.deviations), estimate.states, strict=True)
    ]
    states = [_show(state) for state in estimate.states]
    if isinstance(trace, LoadTrace):
        repeats = [
            "–" if state == ParameterState.NOT_EXCITED else f"± {format_spread(float(deviation))}"
            for state, deviation in zip(estimate.states, estimate.repeatable_deviations, strict=True)
        ]
        columns = {
            "parameter": PARAMETER_NAMES,
            "value ± accuracy": numbers,
            "repeatability": repeats,
            "unit": PARAMETER_UNITS,
            "state": states,
        }
        return show_columns(columns, _BOTH, "numbers combinations")
    model = trace.estimate.model
    columns = {
        "base parameter": model.base.texts,
        "value ± 95 %": numbers,
        "URDF": [f"{prior:.4g}" for prior in model.prior],
        "unit": parameter_units(model),
        "state": states,
    }
    counted = count_states(estimate.states)
    return fold_long(counted, len(numbers), show_columns(columns, kind="numbers combinations"))


def list_body(trace: LoadTrace) -> Html:
    """The load as a rigid body, as far as it is known."""
    estimate = trace.estimate
    body = find_body(estimate.states, estimate.feasible, estimate.covariance)
    if body is None or body.com is None or body.com_std is None:
        return remark("Mass and centre of mass are not known, or there is no load.")
    names = ["mass", *(f"centre of mass {axis}" for axis in "xyz")]
    numbers = [format_estimate(body.mass, body.mass_std), *_format_all(1e3 * body.com, 1e3 * body.com_std)]
    units = ["kg", "mm", "mm", "mm"]
    if inertia_is_known(estimate.states) and body.inertia is not None and body.inertia_std is not None:
        names += [f"{name} about it" for name in PARAMETER_NAMES[4:]]
        numbers += _format_all(body.inertia[UPPER_TRIANGLE], body.inertia_std[UPPER_TRIANGLE])
        units += PARAMETER_UNITS[4:]
    return show_columns({"feasible body": names, "value ± 95 %": numbers, "unit": units})


def list_sensor(trace: LoadTrace) -> Html:
    """Bias and noise of the wrist sensor, and the residual of each axis; empty without such a sensor."""
    sensor, statistics = trace.estimate.sensor, trace.online.samples
    if sensor is None:
        return Html("")
    columns = {
        "axis": trace.channels,
        "residual / signal": map(share, statistics.relative_rms),
        "residual rms": map(format_size, statistics.rms),
        "unit": trace.units,
        "signal rms": map(format_size, statistics.measured_rms),
        "largest residual": map(format_size, statistics.largest),
        "bias": _format_all(sensor.bias, np.sqrt(np.diag(sensor.bias_covariance))),
        "noise [/√Hz]": [f"{density:.2g}" for density in sensor.noise_density],
    }
    return show_columns(columns, "Over the whole recording, including contacts and the time before convergence.")


def list_mounting(trace: LoadTrace) -> Html:
    """What is systematically wrong with the sensor, its clock and its mounting; empty where that is not known."""
    texts = {} if trace.estimate.sensor is None else format_nuisances(trace.estimate.sensor)
    if not texts:
        return Html("")
    return show_columns({"sensor and mounting": texts.keys(), "found ± 95 %": texts.values()}, _MOUNTING)


def list_bodies(trace: LinkTrace) -> Html:
    """The links as physically consistent bodies."""
    rows = []
    for link, phi in name_links(trace.estimate.model, trace.parameters).items():
        com = ", ".join(f"{1e3 * phi[name] / phi['m']:.0f}" for name in PARAMETER_NAMES[1:4])
        rows.append((link, format_size(phi["m"]), com, *(format_size(phi[name]) for name in PARAMETER_NAMES[4:])))
    inertias = [f"{name} [{unit}]" for name, unit in zip(PARAMETER_NAMES[4:], PARAMETER_UNITS[4:], strict=True)]
    about = remark("Only the base parameters are measured: how they are distributed among the links follows the URDF.")
    return Html(table(("link", "mass [kg]", "centre of mass [mm]", *inertias), rows, "numbers") + about)


def list_drives(trace: LinkTrace) -> Html:
    """Friction, rotor inertia and offset of each joint, if identified."""
    drives = name_drives(trace.estimate.model, trace.parameters)
    kinds = list(next(iter(drives.values()), {}))
    if not kinds:
        return Html("")
    rows = [(joint, *(format_size(values[kind]) for kind in kinds)) for joint, values in drives.items()]
    return table(("joint (SI units)", *(kind.replace("_", " ") for kind in kinds)), rows, "numbers")


def list_residuals(trace: LinkTrace) -> Html:
    """The residual of each channel of an arm."""
    fit, online = find_residuals(trace), trace.online.samples
    columns = {
        "channel": trace.channels,
        "residual / signal": map(share, fit.relative_rms),
        "URDF alone": map(format_percent, trace.urdf.rows.relative_rms),
        "residual rms": map(format_size, fit.rms),
        "unit": trace.units,
        "signal rms": map(format_size, fit.measured_rms),
        "online, unfiltered": map(format_percent, online.relative_rms),
        "largest residual": map(format_size, online.largest),
        "rows": fit.counts,
    }
    about = (
        "Residual: of the final estimate, for the filtered signals it was identified from. Online: every sample "
        "predicted with the estimate before it, including the time before convergence."
    )
    return show_columns(columns, about)


def list_topics(trace: Trace) -> Html:
    """Rates, gaps, jitter and skew of each topic."""
    topics = trace.topics
    if not topics:
        return remark("No topics were read.")
    skews = [f"{1e3 * (topic.latency - topics[0].latency):+.2f}" for topic in topics[1:]]
    columns: dict[str, Iterable[object]] = {
        "topic": [topic.topic for topic in topics],
        "messages": [topic.count for topic in topics],
        "rate [Hz]": [f"{topic.rate:.1f}" for topic in topics],
        "jitter [ms]": [f"{1e3 * topic.interval_deviation:.3f}" for topic in topics],
        "longest gap [ms]": [f"{1e3 * topic.longest_gap:.1f}" for topic in topics],
        "gaps > 0.15 s": [topic.gaps for topic in topics],
        "out of order": [topic.backward for topic in topics],
        "recorded after stamp [ms]": [
            f"{1e3 * topic.latency:.2f} ± {1e3 * topic.latency_deviation:.2f}" for topic in topics
        ],
        f"skew relative to {topics[0].topic} [ms]": ["–", *skews],
    }
    return show_columns(columns)


def list_health(traces: Traces) -> Html:
    """Problems with the input, and their remedies."""
    shared, health = traces.either, traces.health
    notes = bullets(shared.notes) if shared.notes else Html("")
    if not health:
        return Html(notes + remark(f"No {'other ' if shared.notes else ''}problems with the input."))
    rows = []
    for item in health:
        span = f"{_since(shared, item.first_stamp)} to {_since(shared, item.last_stamp)}"
        what = f"{item.message}{': ' + item.detail if item.detail else ''}"
        rows.append((_show(item.level), item.source, what, item.count, span, item.remedy))
    return Html(notes + table(("level", "input", "problem", "count", "when", "remedy"), rows, "problems"))


def _since(trace: Trace, stamp: int) -> str:
    return f"{(stamp - trace.origin.first_stamp) * 1e-9:.1f} s" if stamp and trace.origin.first_stamp else "–"


def list_events(trace: LoadTrace) -> Html:
    """Contacts and changes, in order."""
    if not trace.events:
        return remark("No contacts and no load changes.")
    rows = [
        (f"{event.time:.2f} s", event.kind.replace("_", " "), f"{100.0 * event.confidence:.4g} %", event.message)
        for event in trace.events[:MOST_LISTED]
    ]
    left = len(trace.events) - len(rows)
    more = remark(f"{left} more are not listed.") if left else ""
    listed = table(("time", "event", "confidence", "description"), rows)
    return fold_long(f"{len(trace.events)} contacts and changes", len(rows), Html(listed + more))


def list_settings(settings: Settings) -> Html:
    """All parameters with their units; those that differ from the default stand out."""
    rows = []
    for info in iterate_settings():
        value = attrgetter(info.name)(settings)
        text, changed = str(value) if value != "" else "(empty)", value != info.default
        rows.append((info.name, element("b", text) if changed else text, info.unit, "changed" if changed else ""))
    changed_ones = sum(bool(row[-1]) for row in rows)
    summary = f"{len(rows)} parameters, {changed_ones} of them not at their default"
    return fold(summary, table(("parameter", "value", "unit", ""), rows, "numbers"))


def list_provenance(traces: Traces, origins: Sequence[Provenance]) -> Html:
    """Files, hashes, versions and the span of time of one or more recordings."""
    origin = origins[-1]
    rows: list[tuple[object, object]] = [] if traces.load is None else [*_describe_load(traces.load).items()]
    rows += [] if traces.links is None else _describe_links(traces.links).items()
    rows += [
        ("first sample", _moment(min(item.first_stamp for item in origins))),
        ("last sample", _moment(max(item.last_stamp for item in origins))),
        ("robot description", _hash(origin.urdf_sha256)),
        ("parameter file", _hash(origin.settings_sha256)),
        *origin.versions.items(),
        *((entry.path, _hash(entry.sha256)) for item in origins for entry in item.inputs),
    ]
    return fold("Files, hashes, versions and the span of time", table(("", ""), rows, "provenance"))


def _describe_load(trace: LoadTrace) -> dict[str, object]:
    signs = {"on_load": "on the load", "on_sensor": "on the sensor"}
    estimate, sensor, tool = trace.estimate, trace.estimate.sensor, trace.estimate.tool
    return {
        "sensor frame" if sensor is not None else "frame of the load": estimate.frame,
        "joints that move it": ", ".join(trace.joint_names) or "–",
        **({} if sensor is None else {"published wrench acts": signs.get(sensor.sign or "", "unknown")}),
        "subtracted tool": "none" if tool is None else f"{tool.phi[0]:.4g} kg",
        "wrenches used" if sensor is not None else "samples used": trace.online.samples.count,
        "rows used": estimate.rows,
    }


def _describe_links(trace: LinkTrace) -> dict[str, object]:
    return {
        "joints of the arm": ", ".join(trace.estimate.model.arm.joint_names),
        "identified from": trace.estimate.model.source.replace("_", " "),
        "samples used": trace.online.samples.count,
        "rows used": trace.estimate.rows,
    }


def show_columns(columns: Mapping[str, Iterable[object]], about: str = "", kind: str = "numbers") -> Html:
    """A table given by its columns, and a remark below."""
    return Html(table(tuple(columns), zip(*columns.values(), strict=True), kind) + (remark(about) if about else ""))


def _show(word: str) -> Html:
    return badge(word, _BADGES[word])


def _format_all(values: FloatArray, deviations: FloatArray) -> list[str]:
    return [format_estimate(*pair) for pair in zip(values.tolist(), deviations.tolist(), strict=True)]


def _moment(stamp: int) -> str:
    if not stamp:
        return "–"
    try:
        time = datetime.fromtimestamp(stamp // 1_000_000_000, tz=timezone.utc)
    except (OverflowError, OSError, ValueError):
        return f"{stamp} ns"
    return f"{time:%Y-%m-%d %H:%M:%S} UTC ({stamp} ns)"


def _hash(text: str) -> Html:
    return element("code", f"sha256 {text}") if text else Html("–")


def format_size(value: float) -> str:
    """An rms or a size for which no uncertainty is known."""
    return f"{value:.3g}" if np.isfinite(value) else "–"


def format_percent(ratio: float) -> str:
    """A share."""
    return f"{100.0 * ratio:.1f} %" if np.isfinite(ratio) else "–"
