"""Measured and predicted signals over time, one panel per channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.replay.residuals import WRENCH
from inertid_ros.replay.trace import Envelope, Histogram, LinkTrace, LoadTrace, SignalTrace, Spectrum, TraceEvent
from inertid_ros.report.drawing import (
    AMBER,
    AXIS_COLOURS,
    BLUE,
    GREY,
    LINE_COLOURS,
    MOST_EVENTS,
    Figure,
    mark_events,
    zigzag,
)

MOST_BUCKETS = 2000
"""More than a panel has pixels in width."""

_GROUP_TITLES = {
    "force": "force",
    "torque": "moment",
    "base_force": "force on the base",
    "base_torque": "moment on the base",
    "effort": "effort",
    "effort_force": "effort of prismatic joints",
}


@dataclass(frozen=True, slots=True)
class SignalView:
    """Signals of C channels, and how they are drawn.

    Attributes:
        names, units: (C,).
        count: samples of the channel that has most.
        panels: (C,) number of each channel's panel, in two columns.
        groups: channels that share the axes of a spectrum, by their title.
        colours: (C,) in such a group.
        noise: (C,) amplitude density that the estimator assumes; empty if it assumes none.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    count: int
    panels: tuple[int, ...]
    groups: dict[str, tuple[int, ...]]
    colours: tuple[str, ...]
    noise: FloatArray
    signals: SignalTrace
    spectrum: Spectrum
    histogram: Histogram
    events: tuple[TraceEvent, ...]
    duration: float

    @property
    def rows(self) -> int:
        """Rows of panels."""
        return -(-len(self.panels) // 2)

    @property
    def decimation(self) -> str:
        """What the plots over time leave out, so that nothing is left out silently."""
        width = 1e3 * self.signals.bucket_width * bucket_factor(len(self.signals.times))
        text = (
            f"{self.count} samples, drawn as the minimum and maximum of each {width:.4g} ms: no peak is lost, but "
            "variations within an interval are not shown."
        )
        if len(self.events) > MOST_EVENTS:
            text += f" Of {len(self.events)} events the first {MOST_EVENTS} are drawn."
        return text


def view_signals(trace: LoadTrace | LinkTrace) -> SignalView:
    """Two panels per row; of a wrist wrench, forces on the left and moments on the right."""
    count, groups = len(trace.channels), trace.groups
    sensor = trace.estimate.sensor if isinstance(trace, LoadTrace) else None
    lines = tuple(LINE_COLOURS[index % len(LINE_COLOURS)] for index in range(count))
    return SignalView(
        names=trace.channels,
        units=trace.units,
        count=trace.online.samples.count,
        panels=tuple(range(count)) if groups is not WRENCH else (0, 2, 4, 1, 3, 5),
        groups={_GROUP_TITLES[name]: tuple(group) for name, group in groups.groups.items()},
        colours=lines if groups is not WRENCH else AXIS_COLOURS * 2,
        noise=np.empty(0) if sensor is None else sensor.noise_density,
        signals=trace.signals,
        spectrum=trace.spectrum,
        histogram=trace.histogram,
        events=trace.events,
        duration=trace.duration,
    )


def draw_signals(view: SignalView) -> Figure:
    """Draw what was measured and predicted, and what the URDF alone predicts if known."""
    figure = make_panels(view, 100 + 180 * view.rows)
    lines = [("measured", view.signals.measured, GREY), ("predicted", view.signals.predicted, BLUE)]
    if view.signals.by_urdf is not None:
        lines.insert(1, ("URDF alone", view.signals.by_urdf, AMBER))
        for index, panel in enumerate(view.panels):
            figure.y(panel)["range"] = find_span([view.signals.measured, view.signals.by_urdf], index)
    for name, envelope, colour in lines:
        draw_envelope(figure, view, name, envelope, colour)
    mark_events(figure, view.events, view.duration)
    return figure


def find_span(envelopes: Sequence[Envelope], index: int) -> tuple[float, float] | None:
    """Range of one channel that covers some signals; None if there is nothing to show."""
    low, high = (np.concatenate([getattr(item, side)[:, index] for item in envelopes]) for side in ("low", "high"))
    if not np.any(np.isfinite(low)):
        return None
    bottom, top = float(np.nanmin(low)), float(np.nanmax(high))
    padding = 0.15 * (top - bottom) or 1e-6
    return bottom - padding, top + padding


def make_panels(view: SignalView, height: int) -> Figure:
    """A panel over time for each channel."""
    titles = [""] * len(view.panels)
    for panel, name in zip(view.panels, view.names, strict=True):
        titles[panel] = f"<b>{escape(name)}</b>"
    figure = Figure(height, titles, 2, (0.09, 0.255 / view.rows))
    for panel, unit in zip(view.panels, view.units, strict=True):
        figure.y(panel)["title"] = {"text": unit, "standoff": 4}
    figure.label_time(view.duration)
    return figure


def draw_envelope(figure: Figure, view: SignalView, name: str, envelope: Envelope, colour: str) -> None:
    """Draw one signal of all channels as a line through its minima and maxima."""
    times, low, high = merge_buckets(view.signals.times, envelope)
    for index, panel in enumerate(view.panels):
        x, y = zigzag(times, low[:, index], high[:, index])
        figure.draw(
            "scatter",
            panel,
            x=x,
            y=y,
            mode="lines",
            line={"color": colour, "width": 1.1},
            name=name,
            legendgroup=name,
            showlegend=index == 0,
            hovertemplate=f"{name} %{{y:.4g}} {view.units[index]}<extra></extra>",
        )


def bucket_factor(count: int) -> int:
    """How many buckets of a trace are merged into one of a plot."""
    return max(1, -(-count // MOST_BUCKETS))


def merge_buckets(times: FloatArray, envelope: Envelope) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times (B,), smallest and largest values (B, C), with at most MOST_BUCKETS buckets; no peak is lost."""
    factor = bucket_factor(len(times))
    starts = np.arange(0, len(times), factor)
    if factor == 1 or not len(starts):
        return times, envelope.low, envelope.high
    low, high = np.fmin.reduceat(envelope.low, starts), np.fmax.reduceat(envelope.high, starts)
    return times[starts], low, high
