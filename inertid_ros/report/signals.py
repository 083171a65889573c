"""Measured and predicted signals over time, and what is left of them: over time, over frequency, its distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import numpy as np

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.replay.residuals import WRENCH
from inertid_ros.replay.trace import Envelope, LinkTrace, LoadTrace
from inertid_ros.report.drawing import (
    AMBER,
    AXIS_COLOURS,
    BLUE,
    GREY,
    LINE_COLOURS,
    RED,
    Figure,
    find_range,
    zigzag,
)
from inertid_ros.report.events import MOST_EVENTS, mark_events
from inertid_ros.report.markup import Html, fold, remark

MOST_BUCKETS = 2000
"""More than a panel has pixels in width."""
_QUARTILES = 1.34898
"""Distance between the quartiles of a normal distribution, in standard deviations."""
_SHOWN_DEVIATIONS = 8.0
"""Residuals further from the median are counted instead of drawn."""
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
    """How the signals of C channels are drawn: two panels per row; of a wrist wrench, forces left and moments right.

    Attributes:
        trace, panels: the signals, and (C,) the number of each channel's panel.
        groups, colours: channels that share the axes of a spectrum, by their title, and (C,) the colours there.
        noise: (C,) amplitude density that the estimator assumes; empty if it assumes none.
    """

    trace: LoadTrace | LinkTrace
    panels: tuple[int, ...]
    groups: dict[str, tuple[int, ...]]
    colours: tuple[str, ...]
    noise: FloatArray

    @classmethod
    def of(cls, trace: LoadTrace | LinkTrace) -> SignalView:
        """Choose panels and colours."""
        count, groups = len(trace.channels), trace.groups
        sensor = trace.estimate.sensor if isinstance(trace, LoadTrace) else None
        lines = tuple(LINE_COLOURS[index % len(LINE_COLOURS)] for index in range(count))
        return cls(
            trace=trace,
            panels=tuple(range(count)) if groups is not WRENCH else (0, 2, 4, 1, 3, 5),
            groups={_GROUP_TITLES[name]: tuple(group) for name, group in groups.groups.items()},
            colours=lines if groups is not WRENCH else AXIS_COLOURS * 2,
            noise=np.empty(0) if sensor is None else sensor.noise_density,
        )

    @property
    def rows(self) -> int:
        """Rows of panels."""
        return -(-len(self.panels) // 2)

    @property
    def decimation(self) -> str:
        """What the plots over time leave out, so that nothing is left out silently."""
        signals, events = self.trace.signals, len(self.trace.events)
        width = 1e3 * signals.bucket_width * bucket_factor(len(signals.times))
        text = (
            f"{self.trace.online.samples.count} samples, drawn as the minimum and maximum of each {width:.4g} ms: no "
            "peak is lost, but variations within an interval are not shown."
        )
        return text + (f" Of {events} events the first {MOST_EVENTS} are drawn." if events > MOST_EVENTS else "")

    def make_panels(self, height: int) -> Figure:
        """A panel over time for each channel, with the events."""
        titles = [""] * len(self.panels)
        for panel, name in zip(self.panels, self.trace.channels, strict=True):
            titles[panel] = f"<b>{escape(name)}</b>"
        figure = Figure(height, titles, 2, (0.09, 0.255 / self.rows))
        for panel, unit in zip(self.panels, self.trace.units, strict=True):
            figure.y(panel)["title"] = {"text": unit, "standoff": 4}
        figure.label_time(self.trace.duration)
        mark_events(figure, self.trace.events, self.trace.duration)
        return figure

    def draw_envelope(self, figure: Figure, name: str, envelope: Envelope, colour: str) -> None:
        """Draw one signal of all channels as a line through its minima and maxima."""
        times, low, high = merge_buckets(self.trace.signals.times, envelope)
        for index, panel in enumerate(self.panels):
            x, y = zigzag(times, low[:, index], high[:, index])
            hover = f"{name} %{{y:.4g}} {self.trace.units[index]}"
            legend = {"legendgroup": name, "showlegend": index == 0}
            figure.draw_line(panel, x, y, name, colour, 1.1, hover, mode="lines", **legend)


def draw_signals(view: SignalView) -> Figure:
    """Draw what was measured and predicted, and what the URDF alone predicts if known."""
    figure, signals = view.make_panels(100 + 180 * view.rows), view.trace.signals
    lines = [("measured", signals.measured, GREY), ("predicted", signals.predicted, BLUE)]
    if signals.by_urdf is not None:
        lines.insert(1, ("URDF alone", signals.by_urdf, AMBER))
        low = np.concatenate([signals.measured.low, signals.by_urdf.low])
        high = np.concatenate([signals.measured.high, signals.by_urdf.high])
        for index, panel in enumerate(view.panels):
            figure.y(panel)["range"] = find_range(low[:, index], high[:, index], 0.15)
    for line in lines:
        view.draw_envelope(figure, *line)
    return figure


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


def show_residual(view: SignalView, prefix: str) -> Iterator[Html]:
    """The residual over time, its spectrum and its distribution; plots are named after the prefix."""
    peaks = "Peaks in less than 1 % of the time may lie outside the panels: double-click to see them."
    yield draw_residual(view).show(f"{prefix}-residual", f"Measured minus predicted. {peaks} {view.decimation}")
    spectrum = view.trace.spectrum
    if len(spectrum.frequencies) > 1:
        noise = " Dotted: the noise that the estimator assumes." if len(view.noise) else ""
        caption = f"Spectrum of the residual, averaged over {spectrum.segments} segments.{noise}"
        yield draw_spectrum(view).show(f"{prefix}-spectrum", f"{caption} Narrow peaks indicate vibration.")
    else:
        yield remark("The recording is too short for a spectrum.")
    caption = (
        "Distribution of the residual, and the normal distribution with the same quartiles. Outside: the share beyond "
        f"{_SHOWN_DEVIATIONS:.0f} standard deviations, which is not drawn."
    )
    yield fold("Distribution of the residual", draw_distribution(view).show(f"{prefix}-distribution", caption))


def draw_residual(view: SignalView) -> Figure:
    """Draw measured minus predicted."""
    figure, residual = view.make_panels(80 + 160 * view.rows), view.trace.signals.residual
    view.draw_envelope(figure, "residual", residual, RED)
    for index, panel in enumerate(view.panels):
        # The 0.5 % most extreme buckets at either end may lie outside.
        figure.y(panel)["range"] = find_range(residual.low[:, index], residual.high[:, index], 0.25, 0.005)
    return figure


def draw_spectrum(view: SignalView) -> Figure:
    """Draw the amplitude density of the residual, with the noise that the estimator assumes."""
    titles, spectrum = [f"<b>{title}</b>" for title in view.groups], view.trace.spectrum
    figure = Figure(340, titles, len(titles), (0.1, 0.0), shares_x=False)
    frequencies = spectrum.frequencies[1:]  # a logarithmic axis has no zero
    for panel, group in enumerate(view.groups.values()):
        unit = f"{view.trace.units[group[0]]}/√Hz"
        figure.x(panel).update(type="log", title={"text": "frequency [Hz]"})
        figure.y(panel).update(type="log", title={"text": unit})
        for index in group:
            density = np.sqrt(spectrum.density[1:, index])
            shown = np.where(density > 0.0, density, np.nan)
            name, colour = escape(view.trace.channels[index]), view.colours[index]
            figure.draw_line(panel, frequencies, shown, name, colour, 1.3, f"{name} %{{y:.2g}} {unit}")
            if len(frequencies) and len(view.noise):
                figure.draw(
                    "scatter", panel, x=frequencies[[0, -1]], y=np.full(2, view.noise[index]), mode="lines",
                    line={"color": colour, "width": 1, "dash": "dot"}, hoverinfo="skip", showlegend=False,
                )  # fmt: skip
    return figure


def draw_distribution(view: SignalView) -> Figure:
    """Draw the distribution of the residual, with the normal distribution of the same quartiles."""
    trace, rows = view.trace, -(-len(view.panels) // 3)
    parts = [_find_density(*pair) for pair in zip(trace.histogram.edges, trace.histogram.counts, strict=True)]
    titles = [
        f"<b>{escape(name)}</b>  {100.0 * part.outside:.2g} % outside"
        for name, part in zip(trace.channels, parts, strict=True)
    ]
    figure = Figure(40 + 200 * rows, titles, 3, (0.06, 0.4 / rows), shares_x=False)
    for panel, part in enumerate(parts):
        figure.draw(
            "bar", panel, x=part.centres, y=part.density, width=part.widths, name="residual", legendgroup="residual",
            marker={"color": BLUE, "opacity": 0.55, "line": {"width": 0}}, showlegend=panel == 0,
            hovertemplate="%{x:.3g}: %{y:.3g}<extra></extra>",
        )  # fmt: skip
        x = part.median + part.deviation * np.linspace(-4.0, 4.0, 81)
        peak = 1.0 / (math.sqrt(2.0 * math.pi) * part.deviation)
        y = peak * np.exp(-0.5 * ((x - part.median) / part.deviation) ** 2)
        legend = {"legendgroup": "normal", "showlegend": panel == 0}
        figure.draw_line(panel, x, y, "normal distribution", RED, 1.4, "", **legend)
        figure.x(panel)["title"] = {"text": trace.units[panel], "standoff": 2}
        figure.y(panel)["showticklabels"] = False
    figure.layout |= {"bargap": 0.0, "hovermode": "closest"}
    return figure


class _Density(NamedTuple):
    """Bars (H,) of a histogram within a few standard deviations, and the share of the samples that lies outside."""

    centres: FloatArray
    widths: FloatArray
    density: FloatArray
    outside: float
    median: float
    deviation: float


def _find_density(edges: FloatArray, counts: IntArray) -> _Density:
    median, deviation = find_spread(edges, counts)
    widths, centres = np.diff(edges), 0.5 * (edges[:-1] + edges[1:])
    density = counts / max(float(np.sum(counts * widths)), 1e-300)
    shown = np.abs(centres - median) <= _SHOWN_DEVIATIONS * deviation
    outside = float(counts[~shown].sum()) / max(float(counts.sum()), 1.0)
    return _Density(centres[shown], widths[shown], density[shown], outside, median, deviation)


def find_spread(edges: FloatArray, counts: IntArray) -> tuple[float, float]:
    """Median of a histogram (H,), and the standard deviation of a normal distribution with the same quartiles."""
    below = np.concatenate([[0.0], np.cumsum(counts)]) / max(int(counts.sum()), 1)
    lower, median, upper = np.interp([0.25, 0.5, 0.75], below, edges).tolist()
    return median, max((upper - lower) / _QUARTILES, float(np.diff(edges).min()))
