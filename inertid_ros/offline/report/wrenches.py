"""Measured against predicted wrench, and what is left: over time, over frequency, and how it is distributed."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.offline.report.drawing import AXIS_COLOURS, BLUE, GREY, RED, mark_events, style, zigzag
from inertid_ros.offline.report.verdict import AXES
from inertid_ros.offline.trace import Envelope, Trace

MOST_BUCKETS = 2000
"""More than a screen has pixels to draw them."""

_UNITS = ("N", "Nm")
_QUARTILES = 1.34898
"""Between the quartiles of a normal distribution lie so many standard deviations."""
_SHOWN_DEVIATIONS = 8.0


def draw_wrenches(trace: Trace) -> go.Figure:
    """Draw force and moment, measured and predicted."""
    figure = _make_panels(trace)
    for name, envelope, colour in (
        ("measured", trace.wrenches.measured, GREY),
        ("predicted", trace.wrenches.predicted, BLUE),
    ):
        _draw_envelope(figure, trace, name, envelope, colour)
    mark_events(figure, trace.events, trace.duration)
    return style(figure, 640)


def draw_residual(trace: Trace) -> go.Figure:
    """Draw measured less predicted."""
    figure = _make_panels(trace)
    _draw_envelope(figure, trace, "residual", trace.wrenches.residual, RED)
    for index in range(6):
        span = find_range(trace.wrenches.residual.low[:, index], trace.wrenches.residual.high[:, index])
        figure.update_yaxes(range=span, row=index % 3 + 1, col=index // 3 + 1)
    mark_events(figure, trace.events, trace.duration)
    return style(figure, 560)


def find_range(low: FloatArray, high: FloatArray) -> tuple[float, float] | None:
    """Range without the extremes of one bucket in two hundred; None if there is nothing to show."""
    if not np.any(np.isfinite(low)):
        return None
    bottom, top = float(np.nanquantile(low, 0.005)), float(np.nanquantile(high, 0.995))
    padding = 0.25 * (top - bottom) or 1e-6
    return bottom - padding, top + padding


def _make_panels(trace: Trace) -> go.Figure:
    titles = [f"<b>{name}</b>" for pair in zip(AXES[:3], AXES[3:], strict=True) for name in pair]
    figure = make_subplots(
        rows=3, cols=2, shared_xaxes="all", subplot_titles=titles, vertical_spacing=0.085, horizontal_spacing=0.09
    )
    for column, unit in enumerate(_UNITS, start=1):
        figure.update_yaxes(title_text=unit, title_standoff=4, col=column)
        figure.update_xaxes(title_text="time [s]", row=3, col=column)
    figure.update_xaxes(range=[0.0, max(trace.duration, 1e-3)])
    return figure


def _draw_envelope(figure: go.Figure, trace: Trace, name: str, envelope: Envelope, colour: str) -> None:
    times, low, high = merge_buckets(trace.wrenches.times, envelope)
    for index in range(6):
        x, y = zigzag(times, low[:, index], high[:, index])
        line = go.Scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": colour, "width": 1.1},
            name=name,
            legendgroup=name,
            showlegend=index == 0,
            hovertemplate=f"{name} %{{y:.4g}} {_UNITS[index // 3]}<extra></extra>",
        )
        figure.add_trace(line, row=index % 3 + 1, col=index // 3 + 1)


def bucket_factor(count: int) -> int:
    """How many buckets of a trace with so many become one in the plots."""
    return max(1, -(-count // MOST_BUCKETS))


def merge_buckets(times: FloatArray, envelope: Envelope) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times (B,), smallest and largest values (B, 6), with at most MOST_BUCKETS buckets; no peak is lost."""
    factor = bucket_factor(len(times))
    starts = np.arange(0, len(times), factor)
    if factor == 1 or not len(starts):
        return times, envelope.low, envelope.high
    low, high = np.fmin.reduceat(envelope.low, starts), np.fmax.reduceat(envelope.high, starts)
    return times[starts], low, high


def draw_spectrum(trace: Trace) -> go.Figure:
    """Draw the amplitude density of the residual, with the noise the estimator counts on."""
    figure = make_subplots(rows=1, cols=2, subplot_titles=["<b>force</b>", "<b>moment</b>"], horizontal_spacing=0.1)
    frequencies = trace.spectrum.frequencies[1:]  # none at all is not on a logarithmic axis
    for index in range(6):
        column, colour = index // 3 + 1, AXIS_COLOURS[index % 3]
        density = np.sqrt(trace.spectrum.density[1:, index])
        unit = f"{_UNITS[index // 3]}/√Hz"
        line = go.Scatter(
            x=frequencies,
            y=np.where(density > 0.0, density, np.nan),
            line={"color": colour, "width": 1.3},
            name=AXES[index],
            hovertemplate=f"{AXES[index]} %{{y:.2g}} {unit}<extra></extra>",
        )
        figure.add_trace(line, row=1, col=column)
        if len(frequencies):
            noise = float(trace.estimate.noise_density[index])
            dashed = go.Scatter(
                x=frequencies[[0, -1]],
                y=[noise, noise],
                mode="lines",
                line={"color": colour, "width": 1, "dash": "dot"},
                hoverinfo="skip",
                showlegend=False,
            )
            figure.add_trace(dashed, row=1, col=column)
        figure.update_yaxes(title_text=unit, row=1, col=column)
    figure.update_xaxes(type="log", title_text="frequency [Hz]")
    figure.update_yaxes(type="log", exponentformat="power")
    return style(figure, 340)


def draw_distribution(trace: Trace) -> go.Figure:
    """Draw how often the residual has which value, with the normal distribution of the same quartiles."""
    spreads = [find_spread(*pair) for pair in zip(trace.histogram.edges, trace.histogram.counts, strict=True)]
    figure = make_subplots(rows=2, cols=3, subplot_titles=AXES, vertical_spacing=0.2, horizontal_spacing=0.06)
    for index, (median, deviation) in enumerate(spreads):
        place = {"row": index // 3 + 1, "col": index % 3 + 1}
        edges, counts = trace.histogram.edges[index], trace.histogram.counts[index]
        density = counts / max(float(np.sum(counts * np.diff(edges))), 1e-300)
        centres = 0.5 * (edges[:-1] + edges[1:])
        shown = np.abs(centres - median) <= _SHOWN_DEVIATIONS * deviation
        outside = 100.0 * float(counts[~shown].sum()) / max(float(counts.sum()), 1.0)
        figure.layout.annotations[index].text = f"<b>{AXES[index]}</b>  {outside:.2g} % outside"
        bars = go.Bar(
            x=centres[shown],
            y=density[shown],
            width=np.diff(edges)[shown],
            marker={"color": BLUE, "opacity": 0.55, "line": {"width": 0}},
            name="residual",
            legendgroup="residual",
            showlegend=index == 0,
            hovertemplate="%{x:.3g}: %{y:.3g}<extra></extra>",
        )
        figure.add_trace(bars, **place)
        x = median + deviation * np.linspace(-4.0, 4.0, 81)
        curve = go.Scatter(
            x=x,
            y=np.exp(-0.5 * ((x - median) / deviation) ** 2) / (math.sqrt(2.0 * math.pi) * deviation),
            line={"color": RED, "width": 1.4},
            name="normal distribution",
            legendgroup="normal",
            showlegend=index == 0,
            hoverinfo="skip",
        )
        figure.add_trace(curve, **place)
        figure.update_xaxes(title_text=_UNITS[index // 3], title_standoff=2, **place)
        figure.update_yaxes(showticklabels=False, **place)
    return style(figure, 440).update_layout(bargap=0.0, hovermode="closest")


def find_spread(edges: FloatArray, counts: IntArray) -> tuple[float, float]:
    """Median and the standard deviation of a normal distribution with the same quartiles, of a histogram.

    Args:
        edges: (H + 1,) of its bins.
        counts: (H,) in them.
    """
    below = np.concatenate([[0.0], np.cumsum(counts)]) / max(int(counts.sum()), 1)
    lower, median, upper = np.interp([0.25, 0.5, 0.75], below, edges).tolist()
    return median, max((upper - lower) / _QUARTILES, float(np.diff(edges).min()))
