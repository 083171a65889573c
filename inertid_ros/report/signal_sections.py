"""Figures with their captions, and what is left of the signals."""

from __future__ import annotations

from collections.abc import Iterator

import plotly.graph_objects as go

from inertid_ros.report.drawing import to_div
from inertid_ros.report.markup import Html, element
from inertid_ros.report.signal_view import SignalView
from inertid_ros.report.signals import draw_distribution, draw_residual, draw_spectrum


def show_figure(figure: go.Figure, name: str, caption: str) -> Html:
    """A figure below its caption."""
    return element("figure", element("figcaption", caption), Html(to_div(figure, name)))


def show_residual(view: SignalView, decimation: str, prefix: str) -> Iterator[Html]:
    """What is left over time, over frequency, and how it is distributed; plots are named after the prefix."""
    peaks = "Peaks in less than 1 % of the time may lie outside: double-click for all."
    caption = f"Measured less predicted. {peaks} {decimation}"
    yield show_figure(draw_residual(view), f"{prefix}-residual", caption)
    if len(view.spectrum.frequencies) > 1:
        noise = " Dotted: the noise that is counted on." if len(view.noise) else ""
        caption = f"Spectrum, averaged over {view.spectrum.segments} segments.{noise} Peaks are vibration."
        yield show_figure(draw_spectrum(view), f"{prefix}-spectrum", caption)
    else:
        yield element("p", "The recording is too short for a spectrum.", kind="remark")
    caption = (
        "Distribution of the residual, and the normal one with the same quartiles; what lies further out is not drawn."
    )
    yield show_figure(draw_distribution(view), f"{prefix}-distribution", caption)
