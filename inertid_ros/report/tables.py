"""The numbers of the report: load, residual, input, settings, provenance."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from functools import reduce
from typing import Any

import numpy as np

from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.settings.settings import Settings, iterate_settings
from inertid_ros.files.known_body import find_body, inertia_is_known
from inertid_ros.replay.trace import LinkTrace, LoadTrace, Trace, Traces
from inertid_ros.report.markup import Html, badge, bullets, element, table
from inertid_ros.report.signal_view import SignalView
from inertid_ros.report.signals import bucket_factor
from inertid_ros.report.verdict import AXES
from inertid_ros.text.numbers import PARAMETER_UNITS, format_estimate

BADGES = {"known": "good", "uncertain": "caution", "not excited yet": "none"}
"""Colour of each state of a parameter."""
MOST_LISTED = 200
"""So many events are listed; of the others, how many they are."""

_LEVELS = {"error": "bad", "warning": "caution", "info": "none"}
_UNITS = ("N",) * 3 + ("Nm",) * 3
_MATRIX = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


def list_parameters(trace: LoadTrace) -> Html:
    """The ten parameters about the sensor's origin, as they are estimated."""
    estimate = trace.estimate
    deviations = np.sqrt(np.diag(estimate.covariance)).tolist()
    rows = []
    for index, (name, unit, state) in enumerate(zip(PARAMETER_NAMES, PARAMETER_UNITS, estimate.states, strict=True)):
        number = "–"
        if state != "not excited yet":
            number = format_estimate(float(estimate.values[index]), deviations[index])
        rows.append((name, number, unit, badge(state, BADGES[state])))
    return table(("parameter", "value ± 95 %", "unit", "state"), rows, "numbers")


def list_body(trace: LoadTrace) -> Html:
    """The load as a rigid body, as far as it is known."""
    estimate = trace.estimate
    body = find_body(estimate.states, estimate.feasible, estimate.covariance)
    if body is None or body.com is None or body.com_std is None:
        return element("p", "Mass and centre of mass are not known, or nothing is carried.", kind="remark")
    rows = [("mass", format_estimate(body.mass, body.mass_std), "kg")]
    for axis, value, deviation in zip("xyz", body.com.tolist(), body.com_std.tolist(), strict=True):
        rows.append((f"centre of mass {axis}", format_estimate(1e3 * value, 1e3 * deviation), "mm"))
    if inertia_is_known(estimate.states) and body.inertia is not None and body.inertia_std is not None:
        upper = np.triu_indices(3)
        entries = zip(_MATRIX, body.inertia[upper].tolist(), body.inertia_std[upper].tolist(), strict=True)
        rows += [(f"{name} about it", format_estimate(value, deviation), "kg m²") for name, value, deviation in entries]
    return table(("nearest possible body", "value ± 95 %", "unit"), rows, "numbers")


def list_sensor(trace: LoadTrace) -> Html:
    """Bias and noise of the sensor, and what the load leaves of its signal; nothing without a wrist sensor."""
    sensor, statistics = trace.estimate.sensor, trace.online.samples
    if sensor is None:
        return Html("")
    deviations = np.sqrt(np.diag(sensor.bias_covariance)).tolist()
    rows = [
        (
            axis,
            _UNITS[index],
            format_estimate(float(sensor.bias[index]), deviations[index]),
            f"{sensor.noise_density[index]:.2g}",
            _number(statistics.measured_rms[index]),
            _number(statistics.rms[index]),
            _number(statistics.largest[index]),
            f"{100.0 * statistics.relative_rms[index]:.1f} %" if np.isfinite(statistics.relative_rms[index]) else "–",
        )
        for index, axis in enumerate(AXES)
    ]
    heads = ("axis", "unit", "bias", "noise [/√Hz]", "signal rms", "residual rms", "largest", "residual / signal")
    remark = element(
        "p", "Over the whole recording: contacts and the time before it had converged are in it.", kind="remark"
    )
    return Html(table(heads, rows, "numbers") + remark)


def list_topics(trace: Trace) -> Html:
    """Rates, gaps, jitter and skew of each topic."""
    if not trace.topics:
        return element("p", "No topic was read.", kind="remark")
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
        "topic", "messages", "rate [Hz]", "jitter [ms]", "longest gap [ms]", "gaps > 0.15 s", "not in order",
        "recorded after stamp [ms]", f"skew to {reference.topic} [ms]",
    )  # fmt: skip
    return table(heads, rows, "numbers")


def list_health(traces: Traces) -> Html:
    """What was wrong with the input, and what to do about it."""
    shared, health = traces.either, traces.health
    notes = bullets(shared.notes) if shared.notes else Html("")
    if not health:
        return Html(
            notes + element("p", "Nothing else was wrong with the input." if shared.notes else _FINE, kind="remark")
        )
    rows = []
    for item in health:
        span = f"{_since(shared, item.first_stamp)} to {_since(shared, item.last_stamp)}"
        what = f"{item.message}{': ' + item.detail if item.detail else ''}"
        rows.append((badge(item.level, _LEVELS[item.level]), item.source, what, item.count, span, item.remedy))
    heads = ("level", "input", "what", "how often", "when", "what to do")
    return Html(notes + table(heads, rows))


_FINE = "Nothing was wrong with the input."


def _since(trace: Trace, stamp: int) -> str:
    return f"{(stamp - trace.origin.first_stamp) * 1e-9:.1f} s" if stamp and trace.origin.first_stamp else "–"


def list_events(trace: LoadTrace) -> Html:
    """Contacts and changes, in order."""
    if not trace.events:
        return element("p", "No contact and no change of the load.", kind="remark")
    rows = [
        (f"{event.time:.2f} s", event.kind.replace("_", " "), event.message) for event in trace.events[:MOST_LISTED]
    ]
    left = len(trace.events) - len(rows)
    more = element("p", f"{left} more are not listed.", kind="remark") if left else Html("")
    return Html(table(("time", "what", "in words"), rows) + more)


def list_settings(settings: Settings) -> Html:
    """All parameters with their units; those that were changed stand out."""
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
    sign = [] if sensor is None else [("wrench is the one", signs.get(sensor.sign or "", "not known"))]
    return [
        ("sensor frame", estimate.frame),
        ("joints that move it", ", ".join(trace.joint_names) or "–"),
        *sign,
        ("tool subtracted", "none" if tool is None else f"yes, {tool.phi[0]:.4g} kg"),
        ("samples used" if sensor is None else "wrenches used", trace.online.samples.count),
        ("rows folded in", estimate.rows),
    ]


def _describe_links(trace: LinkTrace) -> list[tuple[object, object]]:
    model = trace.estimate.model
    return [
        ("joints of the arm", ", ".join(model.arm.joint_names)),
        ("links are known from", model.source.replace("_", " ")),
        ("samples used", trace.online.samples.count),
        ("rows folded in", trace.estimate.rows),
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


def iterate_captions(view: SignalView, count: int, drawn_events: int) -> Iterator[str]:
    """What was left out of the plots over time, so that nothing is left out silently."""
    width = 1e3 * view.signals.bucket_width * bucket_factor(len(view.signals.times))
    yield (
        f"{count} samples are drawn as the smallest and the largest value in each {width:.4g} ms: no peak is lost, "
        "what happens within is not shown."
    )
    if len(view.events) > drawn_events:
        yield f"Of {len(view.events)} events the first {drawn_events} are drawn."
