"""The numbers of the report: parameters, bodies, residuals, input, settings, provenance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from functools import reduce
from typing import Any

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.settings.settings import Settings, iterate_settings
from inertid_ros.files.estimate_writer import name_drives, name_links
from inertid_ros.files.vendor_snippets import find_body, inertia_is_known
from inertid_ros.replay.trace import LinkTrace, LoadTrace, Trace, Traces
from inertid_ros.report.markup import Html, badge, bullets, element, table
from inertid_ros.report.verdict_links import find_residuals
from inertid_ros.text.numbers import PARAMETER_UNITS, format_estimate
from inertid_ros.text.parameters import parameter_units

_BADGES = {"known": "good", "uncertain": "caution", "not excited yet": "none"}
"""Colour of each state of a parameter."""
MOST_LISTED = 200
"""So many events are listed; the others are counted."""

_LEVELS = {"error": "bad", "warning": "caution", "info": "none"}
_MATRIX = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


def list_parameters(trace: LoadTrace) -> Html:
    """The ten parameters of a load about the sensor's origin, as estimated."""
    estimate = trace.estimate
    numbers = _format_all(estimate.values, estimate.covariance, estimate.states)
    rows = zip(PARAMETER_NAMES, numbers, PARAMETER_UNITS, _show_states(estimate.states), strict=True)
    return table(("parameter", "value ± 95 %", "unit", "state"), rows, "numbers")


def list_base_parameters(trace: LinkTrace) -> Html:
    """The identifiable combinations of an arm's parameters."""
    estimate = trace.estimate
    numbers = _format_all(estimate.values, estimate.covariance, estimate.states)
    priors = [f"{prior:.4g}" for prior in estimate.model.prior.tolist()]
    units = parameter_units(estimate.model)
    rows = zip(estimate.base.texts, numbers, priors, units, _show_states(estimate.states), strict=True)
    return table(("base parameter", "value ± 95 %", "URDF", "unit", "state"), rows, "numbers combinations")


def _format_all(values: FloatArray, covariance: FloatArray, states: Sequence[str]) -> list[str]:
    deviations = np.sqrt(np.diag(covariance)).tolist()
    return [
        "–" if state == "not excited yet" else format_estimate(value, deviation)
        for value, deviation, state in zip(values.tolist(), deviations, states, strict=True)
    ]


def _show_states(states: Iterable[str]) -> list[Html]:
    return [badge(state, _BADGES[state]) for state in states]


def list_body(trace: LoadTrace) -> Html:
    """The load as a rigid body, as far as it is known."""
    estimate = trace.estimate
    body = find_body(estimate.states, estimate.feasible, estimate.covariance)
    if body is None or body.com is None or body.com_std is None:
        return element("p", "Mass and centre of mass are not known, or there is no load.", kind="remark")
    rows = [("mass", format_estimate(body.mass, body.mass_std), "kg")]
    for axis, value, deviation in zip("xyz", body.com.tolist(), body.com_std.tolist(), strict=True):
        rows.append((f"centre of mass {axis}", format_estimate(1e3 * value, 1e3 * deviation), "mm"))
    if inertia_is_known(estimate.states) and body.inertia is not None and body.inertia_std is not None:
        upper = np.triu_indices(3)
        entries = zip(_MATRIX, body.inertia[upper].tolist(), body.inertia_std[upper].tolist(), strict=True)
        rows += [(f"{name} about it", format_estimate(value, deviation), "kg m²") for name, value, deviation in entries]
    return table(("feasible body", "value ± 95 %", "unit"), rows, "numbers")


def list_sensor(trace: LoadTrace) -> Html:
    """Bias and noise of the wrist sensor, and the residual of each axis; empty without such a sensor."""
    sensor, statistics = trace.estimate.sensor, trace.online.samples
    if sensor is None:
        return Html("")
    deviations = np.sqrt(np.diag(sensor.bias_covariance)).tolist()
    rows = [
        (
            axis,
            trace.units[index],
            format_estimate(float(sensor.bias[index]), deviations[index]),
            f"{sensor.noise_density[index]:.2g}",
            _number(statistics.measured_rms[index]),
            _number(statistics.rms[index]),
            _percent(statistics.relative_rms[index]),
            _number(statistics.largest[index]),
        )
        for index, axis in enumerate(trace.channels)
    ]
    heads = (
        "axis", "unit", "bias", "noise [/√Hz]", "signal rms", "residual rms", "residual / signal", "largest residual",
    )  # fmt: skip
    remark = "Over the whole recording, including contacts and the time before convergence."
    return Html(table(heads, rows, "numbers") + element("p", remark, kind="remark"))


def list_bodies(trace: LinkTrace) -> Html:
    """The links as physically consistent bodies."""
    model = trace.estimate.model
    rows = []
    for link, phi in name_links(model, trace.parameters).items():
        com = ", ".join(f"{1e3 * phi[name] / phi['m']:.0f}" for name in PARAMETER_NAMES[1:4])
        rows.append((link, f"{phi['m']:.3g}", com, *(f"{phi[name]:.3g}" for name in PARAMETER_NAMES[4:])))
    inertias = [f"{name} [{unit}]" for name, unit in zip(PARAMETER_NAMES[4:], PARAMETER_UNITS[4:], strict=True)]
    heads = ("link", "mass [kg]", "centre of mass [mm]", *inertias)
    remark = "Only the base parameters are measured: how they are distributed among the links follows the URDF."
    return Html(table(heads, rows, "numbers") + element("p", remark, kind="remark"))


def list_drives(trace: LinkTrace) -> Html:
    """Friction, rotor inertia and offset of each joint, if identified."""
    drives = name_drives(trace.estimate.model, trace.parameters)
    kinds = list(next(iter(drives.values()), {}))
    if not kinds:
        return Html("")
    rows = [(joint, *(f"{values[kind]:.3g}" for kind in kinds)) for joint, values in drives.items()]
    return table(("joint (SI units)", *(kind.replace("_", " ") for kind in kinds)), rows, "numbers")


def list_residuals(trace: LinkTrace) -> Html:
    """The residual of each channel of an arm."""
    fit, online, urdf = find_residuals(trace), trace.online.samples, trace.urdf.rows
    rows = [
        (
            name,
            trace.units[index],
            f"{fit.measured_rms[index]:.3g}",
            f"{fit.rms[index]:.3g}",
            _percent(fit.relative_rms[index]),
            _percent(urdf.relative_rms[index]),
            _percent(online.relative_rms[index]),
            f"{online.largest[index]:.3g}",
            int(fit.counts[index]),
        )
        for index, name in enumerate(trace.channels)
    ]
    heads = (
        "channel", "unit", "signal rms", "residual rms", "residual / signal", "URDF alone", "online, unfiltered",
        "largest residual", "rows",
    )  # fmt: skip
    remark = (
        "Residual: of the final estimate, for the filtered signals it was identified from. Online: every sample "
        "predicted with the estimate before it, including the time before convergence."
    )
    return Html(table(heads, rows, "numbers") + element("p", remark, kind="remark"))


def list_topics(trace: Trace) -> Html:
    """Rates, gaps, jitter and skew of each topic."""
    if not trace.topics:
        return element("p", "No topics were read.", kind="remark")
    reference = trace.topics[0]
    rows = []
    for topic in trace.topics:
        skew = "–" if topic is reference else f"{1e3 * (topic.latency - reference.latency):+.2f}"
        rows.append(
            (
                topic.topic,
                topic.count,
                f"{topic.rate:.1f}",
                f"{1e3 * topic.interval_deviation:.3f}",
                f"{1e3 * topic.longest_gap:.1f}",
                topic.gaps,
                topic.backward,
                f"{1e3 * topic.latency:.2f} ± {1e3 * topic.latency_deviation:.2f}",
                skew,
            )
        )
    heads = (
        "topic", "messages", "rate [Hz]", "jitter [ms]", "longest gap [ms]", "gaps > 0.15 s", "out of order",
        "recorded after stamp [ms]", f"skew relative to {reference.topic} [ms]",
    )  # fmt: skip
    return table(heads, rows, "numbers")


def list_health(traces: Traces) -> Html:
    """Problems with the input, and their remedies."""
    shared, health = traces.either, traces.health
    notes = bullets(shared.notes) if shared.notes else Html("")
    if not health:
        text = f"No {'other ' if shared.notes else ''}problems with the input."
        return Html(notes + element("p", text, kind="remark"))
    rows = []
    for item in health:
        span = f"{_since(shared, item.first_stamp)} to {_since(shared, item.last_stamp)}"
        what = f"{item.message}{': ' + item.detail if item.detail else ''}"
        rows.append((badge(item.level, _LEVELS[item.level]), item.source, what, item.count, span, item.remedy))
    heads = ("level", "input", "problem", "count", "when", "remedy")
    return Html(notes + table(heads, rows, "problems"))


def _since(trace: Trace, stamp: int) -> str:
    return f"{(stamp - trace.origin.first_stamp) * 1e-9:.1f} s" if stamp and trace.origin.first_stamp else "–"


def list_events(trace: LoadTrace) -> Html:
    """Contacts and changes, in order."""
    if not trace.events:
        return element("p", "No contacts and no load changes.", kind="remark")
    rows = [
        (f"{event.time:.2f} s", event.kind.replace("_", " "), event.message) for event in trace.events[:MOST_LISTED]
    ]
    left = len(trace.events) - len(rows)
    more = element("p", f"{left} more are not listed.", kind="remark") if left else Html("")
    return Html(table(("time", "event", "description"), rows) + more)


def list_settings(settings: Settings) -> Html:
    """All parameters with their units; those that differ from the default stand out."""
    rows = []
    for info in iterate_settings():
        value: Any = reduce(getattr, info.name.split("."), settings)
        text = str(value) if value != "" else "(empty)"
        changed = value != info.default
        rows.append((info.name, element("b", text) if changed else text, info.unit, "" if not changed else "changed"))
    return table(("parameter", "value", "unit", ""), rows, "numbers")


def list_provenance(traces: Traces) -> Html:
    """Files, hashes, versions and the span of time."""
    origin = traces.either.origin
    rows: list[tuple[object, object]] = []
    if traces.load is not None:
        rows += _describe_load(traces.load)
    if traces.links is not None:
        rows += _describe_links(traces.links)
    rows += [
        ("first sample", _moment(origin.first_stamp)),
        ("last sample", _moment(origin.last_stamp)),
        ("robot description", _hash(origin.urdf_sha256)),
        ("parameter file", _hash(origin.settings_sha256)),
    ]
    rows += [(name, version) for name, version in origin.versions.items()]
    rows += [(entry.path, _hash(entry.sha256)) for entry in origin.inputs]
    return table(("", ""), rows, "provenance")


def _describe_load(trace: LoadTrace) -> list[tuple[object, object]]:
    signs = {"on_load": "on the load", "on_sensor": "on the sensor"}
    estimate, sensor, tool = trace.estimate, trace.estimate.sensor, trace.estimate.tool
    sign = [] if sensor is None else [("published wrench acts", signs.get(sensor.sign or "", "unknown"))]
    return [
        ("sensor frame" if sensor is not None else "frame of the load", estimate.frame),
        ("joints that move it", ", ".join(trace.joint_names) or "–"),
        *sign,
        ("subtracted tool", "none" if tool is None else f"{tool.phi[0]:.4g} kg"),
        ("wrenches used" if sensor is not None else "samples used", trace.online.samples.count),
        ("rows used", estimate.rows),
    ]


def _describe_links(trace: LinkTrace) -> list[tuple[object, object]]:
    model = trace.estimate.model
    return [
        ("joints of the arm", ", ".join(model.arm.joint_names)),
        ("identified from", model.source.replace("_", " ")),
        ("samples used", trace.online.samples.count),
        ("rows used", trace.estimate.rows),
    ]


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


def _number(value: float) -> str:
    return f"{value:.3g}" if np.isfinite(value) else "–"


def _percent(ratio: float) -> str:
    return f"{100.0 * ratio:.1f} %" if np.isfinite(ratio) else "–"
