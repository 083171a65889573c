"""What all figures share: colours, fonts, events on the time axis, and the way into the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from inertid_ros.core.input.joint_stream import MAX_GAP
from inertid_ros.core.records import FloatArray
from inertid_ros.replay.trace import TraceEvent

BLUE, RED, GREY, GREEN, AMBER = "#1f5fa8", "#c0392b", "#8a8f98", "#2e8b57", "#d08a00"
BAND = "rgba(31, 95, 168, 0.18)"
AXIS_COLOURS = (RED, GREEN, BLUE)
"""Of x, y and z, as rviz has them."""

LINE_COLOURS = ("#1f5fa8", "#2e8b57", "#c0392b", "#7b4fa3", "#d08a00", "#4f5b66", "#17a2b8", "#a0522d", "#e377c2")
"""Of lines that have nothing to do with axes."""

MOST_EVENTS = 100
"""So many events are drawn; a plot with more is a plot of the events only."""

_EVENT_COLOURS = {"load_changed": "#7b4fa3", "bias_changed": AMBER, "contact_began": RED, "contact_ended": RED}
_BUTTONS_LEFT_OUT = ["select2d", "lasso2d", "sendChartToCloud", "sendDataToCloud"]
"""The last two, of newer and older versions of plotly, would send the data away."""
_CONTACT = "rgba(192, 57, 43, 0.10)"


def style(figure: go.Figure, height: int) -> go.Figure:
    """Give a figure the look of the report; height in pixels."""
    figure.update_layout(
        template="plotly_white",
        height=height,
        margin={"l": 64, "r": 16, "t": 64, "b": 44},
        font={"family": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", "size": 12, "color": "#20242b"},
        legend={"orientation": "h", "x": 0.0, "xanchor": "left", "y": 0.995, "yanchor": "top", "yref": "container"},
        hovermode="x",
    )
    figure.update_annotations(font_size=12.5)
    return figure


def mark_events(figure: go.Figure, events: Sequence[TraceEvent], end: float) -> None:
    """Shade contacts and draw a line at each change, behind the data, in every panel that has data.

    Args:
        figure: with time on its x axes.
        events: those of the trace, in order; the first MOST_EVENTS are drawn.
        end: of the recording [s], where a contact that goes on is cut.
    """
    panels = sorted({(line.xaxis or "x", line.yaxis or "y") for line in figure.data})
    spans = [(start, stop, {"fillcolor": _CONTACT, "line": {"width": 0}}) for start, stop in find_contacts(events, end)]
    for event in events[:MOST_EVENTS]:
        if event.kind in ("load_changed", "bias_changed"):
            line = {"color": _EVENT_COLOURS[event.kind], "width": 1, "dash": "dot"}
            spans.append((event.time, event.time, {"line": line}))
    # All at once: one by one they are checked again and again, which takes minutes for a hundred events.
    figure.layout.shapes = [
        {
            "type": "rect" if stop > start else "line",
            "layer": "below",
            "xref": x,
            "yref": f"{y} domain",
            "x0": start,
            "x1": stop,
            "y0": 0.0,
            "y1": 1.0,
            **look,
        }
        for x, y in panels
        for start, stop, look in spans
    ]


def find_contacts(events: Sequence[TraceEvent], end: float) -> list[tuple[float, float]]:
    """Beginning and end of each contact among the first MOST_EVENTS events [s]."""
    contacts: list[tuple[float, float]] = []
    began: float | None = None
    for event in events[:MOST_EVENTS]:
        if event.kind == "contact_began" and began is None:
            began = event.time
        elif event.kind == "contact_ended" and began is not None:
            contacts.append((began, event.time))
            began = None
    return contacts if began is None else [*contacts, (began, end)]


def event_markers(events: Sequence[TraceEvent], height: str) -> go.Scatter:
    """Markers on one line that say on hovering what happened."""
    drawn = events[:MOST_EVENTS]
    return go.Scatter(
        x=[event.time for event in drawn],
        y=[height] * len(drawn),
        mode="markers",
        marker={
            "size": 10,
            "symbol": ["triangle-left" if event.kind == "contact_ended" else "triangle-right" for event in drawn],
            "color": [_EVENT_COLOURS.get(event.kind, GREY) for event in drawn],
        },
        text=[escape(f"{event.time:.2f} s: {event.message}") for event in drawn],
        hoverinfo="text",
        showlegend=False,
    )


def zigzag(times: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Line (2B,) through smallest and largest value of each of B buckets.

    Buckets without a sample (NaN) are left out; a NaN stays where there was none for longer than MAX_GAP.
    """
    filled = np.flatnonzero(np.isfinite(low))
    long = np.diff(times[filled]) > MAX_GAP
    kept = np.sort(np.concatenate([filled, filled[:-1][long] + 1]))
    times, low, high = times[kept], low[kept], high[kept]
    return np.repeat(times, 2).astype(np.float32), np.column_stack([low, high]).ravel().astype(np.float32)


def to_div(figure: go.Figure, name: str) -> str:
    """HTML of a figure, for a page that has plotly's script already; the same figure always gives the same text."""
    config = {"responsive": True, "displaylogo": False, "modeBarButtonsToRemove": _BUTTONS_LEFT_OUT}
    return str(figure.to_html(full_html=False, include_plotlyjs=False, div_id=name, config=config))
