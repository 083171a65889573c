"""Measured against predicted, and what is left: over time, over frequency, and how it is distributed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.replay.trace import Envelope
from inertid_ros.report.drawing import AMBER, BLUE, GREY, RED, mark_events, style, zigzag
from inertid_ros.report.signal_view import SignalView

MOST_BUCKETS = 2000
"""More than a screen has pixels to draw them."""

_QUARTILES = 1.34898
"""Between the quartiles of a normal distribution lie so many standard deviations."""
_SHOWN_DEVIATIONS = 8.0


def draw_signals(view: SignalView) -> go.Figure:
    """Draw what was measured and predicted, and what the URDF alone predicts where that is known."""
    figure = _make_panels(view)
    lines = [("measured", view.signals.measured, GREY), ("predicted", view.signals.predicted, BLUE)]
    if view.by_urdf is not None:
        lines.insert(1, ("by the URDF alone", view.by_urdf, AMBER))
    for name, envelope, colour in lines:
        _draw_envelope(figure, view, name, envelope, colour)
    for index, (row, column) in enumerate(view.places if view.by_urdf is not None else ()):
        assert view.by_urdf is not None
        span = find_span([view.signals.measured, view.by_urdf], index)
        figure.update_yaxes(range=span, row=row, col=column)
    mark_events(figure, view.events, view.duration)
    return style(figure, 100 + 180 * view.rows)


def draw_residual(view: SignalView) -> go.Figure:
    """Draw measured less predicted."""
    figure = _make_panels(view)
    residual = view.signals.residual
    _draw_envelope(figure, view, "residual", residual, RED)
    for index, (row, column) in enumerate(view.places):
        span = find_range(residual.low[:, index], residual.high[:, index])
        figure.update_yaxes(range=span, row=row, col=column)
    mark_events(figure, view.events, view.duration)
    return style(figure, 80 + 160 * view.rows)


def find_span(envelopes: Sequence[Envelope], index: int) -> tuple[float, float] | None:
    """Range of one channel that holds all of some signals; None if there is nothing to show."""
    low, high = (np.concatenate([getattr(item, side)[:, index] for item in envelopes]) for side in ("low", "high"))
    if not np.any(np.isfinite(low)):
        return None
    bottom, top = float(np.nanmin(low)), float(np.nanmax(high))
    padding = 0.15 * (top - bottom) or 1e-6
    return bottom - padding, top + padding


def find_range(low: FloatArray, high: FloatArray) -> tuple[float, float] | None:
    """Range without the extremes of one bucket in two hundred; None if there is nothing to show."""
    if not np.any(np.isfinite(low)):
        return None
    bottom, top = float(np.nanquantile(low, 0.005)), float(np.nanquantile(high, 0.995))
    padding = 0.25 * (top - bottom) or 1e-6
    return bottom - padding, top + padding


def _make_panels(view: SignalView) -> go.Figure:
    titles = dict(zip(view.places, view.names, strict=True))
    grid = [(row, column) for row in range(1, view.rows + 1) for column in (1, 2)]
    figure = make_subplots(
        rows=view.rows,
        cols=2,
        shared_xaxes="all",
        subplot_titles=[f"<b>{escape(titles[place])}</b>" if place in titles else "" for place in grid],
        vertical_spacing=0.255 / view.rows,
        horizontal_spacing=0.09,
    )
    for (row, column), unit in zip(view.places, view.units, strict=True):
        figure.update_yaxes(title_text=unit, title_standoff=4, row=row, col=column)
        if (row + 1, column) not in titles:
            figure.update_xaxes(title_text="time [s]", showticklabels=True, row=row, col=column)
    figure.update_xaxes(range=[0.0, max(view.duration, 1e-3)])
    return figure


def _draw_envelope(figure: go.Figure, view: SignalView, name: str, envelope: Envelope, colour: str) -> None:
    times, low, high = merge_buckets(view.signals.times, envelope)
    for index, (row, column) in enumerate(view.places):
        x, y = zigzag(times, low[:, index], high[:, index])
        line = go.Scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": colour, "width": 1.1},
            name=name,
            legendgroup=name,
            showlegend=index == 0,
            hovertemplate=f"{name} %{{y:.4g}} {view.units[index]}<extra></extra>",
        )
        figure.add_trace(line, row=row, col=column)


def bucket_factor(count: int) -> int:
    """How many buckets of a trace with so many become one in the plots."""
    return max(1, -(-count // MOST_BUCKETS))


def merge_buckets(times: FloatArray, envelope: Envelope) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times (B,), smallest and largest values (B, C), with at most MOST_BUCKETS buckets; no peak is lost."""
    factor = bucket_factor(len(times))
    starts = np.arange(0, len(times), factor)
    if factor == 1 or not len(starts):
        return times, envelope.low, envelope.high
    low, high = np.fmin.reduceat(envelope.low, starts), np.fmax.reduceat(envelope.high, starts)
    return times[starts], low, high


def draw_spectrum(view: SignalView) -> go.Figure:
    """Draw the amplitude density of the residual, with the noise the estimator counts on where it does."""
    titles = [f"<b>{title}</b>" for title in view.groups]
    figure = make_subplots(rows=1, cols=len(titles), subplot_titles=titles, horizontal_spacing=0.1)
    frequencies = view.spectrum.frequencies[1:]  # none at all is not on a logarithmic axis
    for column, group in enumerate(view.groups.values(), start=1):
        unit = f"{view.units[group[0]]}/√Hz"
        for index in group:
            density = np.sqrt(view.spectrum.density[1:, index])
            name = escape(view.names[index])
            line = go.Scatter(
                x=frequencies,
                y=np.where(density > 0.0, density, np.nan),
                line={"color": view.colours[index], "width": 1.3},
                name=name,
                hovertemplate=f"{name} %{{y:.2g}} {unit}<extra></extra>",
            )
            figure.add_trace(line, row=1, col=column)
            if len(frequencies) and len(view.noise):
                figure.add_trace(_draw_noise(view, index, frequencies), row=1, col=column)
        figure.update_yaxes(title_text=unit, row=1, col=column)
    figure.update_xaxes(type="log", title_text="frequency [Hz]")
    figure.update_yaxes(type="log", exponentformat="power")
    return style(figure, 340)


def _draw_noise(view: SignalView, index: int, frequencies: FloatArray) -> go.Scatter:
    noise = float(view.noise[index])
    return go.Scatter(
        x=frequencies[[0, -1]],
        y=[noise, noise],
        mode="lines",
        line={"color": view.colours[index], "width": 1, "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )


def draw_distribution(view: SignalView) -> go.Figure:
    """Draw how often the residual has which value, with the normal distribution of the same quartiles."""
    spreads = [find_spread(*pair) for pair in zip(view.histogram.edges, view.histogram.counts, strict=True)]
    rows = -(-len(spreads) // 3)
    figure = make_subplots(
        rows=rows, cols=3, subplot_titles=view.names, vertical_spacing=0.4 / rows, horizontal_spacing=0.06
    )
    for index, (median, deviation) in enumerate(spreads):
        place = {"row": index // 3 + 1, "col": index % 3 + 1}
        edges, counts = view.histogram.edges[index], view.histogram.counts[index]
        density = counts / max(float(np.sum(counts * np.diff(edges))), 1e-300)
        centres = 0.5 * (edges[:-1] + edges[1:])
        shown = np.abs(centres - median) <= _SHOWN_DEVIATIONS * deviation
        outside = 100.0 * float(counts[~shown].sum()) / max(float(counts.sum()), 1.0)
        figure.layout.annotations[index].text = f"<b>{escape(view.names[index])}</b>  {outside:.2g} % outside"
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
        figure.update_xaxes(title_text=view.units[index], title_standoff=2, **place)
        figure.update_yaxes(showticklabels=False, **place)
    return style(figure, 40 + 200 * rows).update_layout(bargap=0.0, hovermode="closest")


def find_spread(edges: FloatArray, counts: IntArray) -> tuple[float, float]:
    """Median and the standard deviation of a normal distribution with the same quartiles, of a histogram.

    Args:
        edges: (H + 1,) of its bins.
        counts: (H,) in them.
    """
    below = np.concatenate([[0.0], np.cumsum(counts)]) / max(int(counts.sum()), 1)
    lower, median, upper = np.interp([0.25, 0.5, 0.75], below, edges).tolist()
    return median, max((upper - lower) / _QUARTILES, float(np.diff(edges).min()))
