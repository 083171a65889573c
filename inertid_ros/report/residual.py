"""What the predictions leave of the signals: over time, over frequency, and its distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

import numpy as np

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.report.drawing import BLUE, RED, Figure, mark_events, show_figure
from inertid_ros.report.markup import Html, element
from inertid_ros.report.signals import SignalView, draw_envelope, make_panels

_QUARTILES = 1.34898
"""Distance between the quartiles of a normal distribution, in standard deviations."""
_SHOWN_DEVIATIONS = 8.0
"""Residuals further from the median are counted instead of drawn."""


def show_residual(view: SignalView, prefix: str) -> Iterator[Html]:
    """The residual over time, its spectrum and its distribution; plots are named after the prefix."""
    peaks = "Peaks in less than 1 % of the time may lie outside the panels: double-click to see them."
    caption = f"Measured minus predicted. {peaks} {view.decimation}"
    yield show_figure(draw_residual(view), f"{prefix}-residual", caption)
    if len(view.spectrum.frequencies) > 1:
        noise = " Dotted: the noise that the estimator assumes." if len(view.noise) else ""
        caption = f"Spectrum of the residual, averaged over {view.spectrum.segments} segments.{noise}"
        yield show_figure(draw_spectrum(view), f"{prefix}-spectrum", f"{caption} Narrow peaks indicate vibration.")
    else:
        yield element("p", "The recording is too short for a spectrum.", kind="remark")
    caption = (
        "Distribution of the residual, and the normal distribution with the same quartiles. Outside: the share beyond "
        f"{_SHOWN_DEVIATIONS:.0f} standard deviations, which is not drawn."
    )
    yield show_figure(draw_distribution(view), f"{prefix}-distribution", caption)


def draw_residual(view: SignalView) -> Figure:
    """Draw measured minus predicted."""
    figure = make_panels(view, 80 + 160 * view.rows)
    residual = view.signals.residual
    draw_envelope(figure, view, "residual", residual, RED)
    for index, panel in enumerate(view.panels):
        figure.y(panel)["range"] = find_range(residual.low[:, index], residual.high[:, index])
    mark_events(figure, view.events, view.duration)
    return figure


def find_range(low: FloatArray, high: FloatArray) -> tuple[float, float] | None:
    """Range without the 0.5 % most extreme buckets at either end; None if there is nothing to show."""
    if not np.any(np.isfinite(low)):
        return None
    bottom, top = float(np.nanquantile(low, 0.005)), float(np.nanquantile(high, 0.995))
    padding = 0.25 * (top - bottom) or 1e-6
    return bottom - padding, top + padding


def draw_spectrum(view: SignalView) -> Figure:
    """Draw the amplitude density of the residual, with the noise that the estimator assumes."""
    titles = [f"<b>{title}</b>" for title in view.groups]
    figure = Figure(340, titles, len(titles), (0.1, 0.0), shares_x=False)
    frequencies = view.spectrum.frequencies[1:]  # a logarithmic axis has no zero
    for panel, group in enumerate(view.groups.values()):
        unit = f"{view.units[group[0]]}/√Hz"
        figure.x(panel).update(type="log", title={"text": "frequency [Hz]"})
        figure.y(panel).update(type="log", exponentformat="power", title={"text": unit})
        for index in group:
            density = np.sqrt(view.spectrum.density[1:, index])
            name, colour = escape(view.names[index]), view.colours[index]
            figure.draw(
                "scatter",
                panel,
                x=frequencies,
                y=np.where(density > 0.0, density, np.nan),
                line={"color": colour, "width": 1.3},
                name=name,
                hovertemplate=f"{name} %{{y:.2g}} {unit}<extra></extra>",
            )
            if len(frequencies) and len(view.noise):
                figure.draw(
                    "scatter", panel, x=frequencies[[0, -1]], y=np.full(2, view.noise[index]), mode="lines",
                    line={"color": colour, "width": 1, "dash": "dot"}, hoverinfo="skip", showlegend=False,
                )  # fmt: skip
    return figure


def draw_distribution(view: SignalView) -> Figure:
    """Draw the distribution of the residual, with the normal distribution of the same quartiles."""
    rows = -(-len(view.names) // 3)
    parts = [_find_density(*pair) for pair in zip(view.histogram.edges, view.histogram.counts, strict=True)]
    titles = [
        f"<b>{escape(name)}</b>  {100.0 * part.outside:.2g} % outside"
        for name, part in zip(view.names, parts, strict=True)
    ]
    figure = Figure(40 + 200 * rows, titles, 3, (0.06, 0.4 / rows), shares_x=False)
    for panel, part in enumerate(parts):
        figure.draw(
            "bar",
            panel,
            x=part.centres,
            y=part.density,
            width=part.widths,
            marker={"color": BLUE, "opacity": 0.55, "line": {"width": 0}},
            name="residual",
            legendgroup="residual",
            showlegend=panel == 0,
            hovertemplate="%{x:.3g}: %{y:.3g}<extra></extra>",
        )
        x = part.median + part.deviation * np.linspace(-4.0, 4.0, 81)
        peak = 1.0 / (math.sqrt(2.0 * math.pi) * part.deviation)
        figure.draw(
            "scatter",
            panel,
            x=x,
            y=peak * np.exp(-0.5 * ((x - part.median) / part.deviation) ** 2),
            line={"color": RED, "width": 1.4},
            name="normal distribution",
            legendgroup="normal",
            showlegend=panel == 0,
            hoverinfo="skip",
        )
        figure.x(panel)["title"] = {"text": view.units[panel], "standoff": 2}
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
    """Median of a histogram, and the standard deviation of a normal distribution with the same quartiles.

    Args:
        edges: (H + 1,) of its bins.
        counts: (H,) in them.
    """
    below = np.concatenate([[0.0], np.cumsum(counts)]) / max(int(counts.sum()), 1)
    lower, median, upper = np.interp([0.25, 0.5, 0.75], below, edges).tolist()
    return median, max((upper - lower) / _QUARTILES, float(np.diff(edges).min()))
