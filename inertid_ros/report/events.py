"""Contacts and changes of a load on the time axis of figures."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from inertid_ros.core.records import LOAD_EVENTS, EventKind
from inertid_ros.replay.trace import TraceEvent
from inertid_ros.report.drawing import AMBER, GREY, RED, Fields, Figure, axis_number

MOST_EVENTS = 100
"""So many events are drawn; more would hide the data."""

_EVENT_COLOURS = {
    **{kind.value: "#7b4fa3" for kind in LOAD_EVENTS},
    "bias_changed": AMBER,
    "contact_began": RED,
    "contact_ended": RED,
}
_CONTACT = "rgba(192, 57, 43, 0.10)"


def mark_events(figure: Figure, events: Sequence[TraceEvent], end: float) -> None:
    """Shade contacts and draw a line at each change, behind the data, in every panel with time on its x axis.

    Of the events, in order, the first MOST_EVENTS are drawn; a contact that has not ended ends with the recording [s].
    """
    spans = [(start, stop, {"fillcolor": _CONTACT, "line": {"width": 0}}) for start, stop in find_contacts(events, end)]
    for event in events[:MOST_EVENTS]:
        if event.kind in (*LOAD_EVENTS, EventKind.BIAS_CHANGED):
            line = {"color": _EVENT_COLOURS[event.kind], "width": 1, "dash": "dot"}
            spans.append((event.time, event.time, {"line": line}))
    figure.layout["shapes"] = [
        {
            "type": "rect" if stop > start else "line",
            "layer": "below",
            "xref": f"x{axis_number(panel)}",
            "yref": f"y{axis_number(panel)} domain",
            **dict(zip(("x0", "x1", "y0", "y1"), (start, stop, 0.0, 1.0), strict=True)),
            **look,
        }
        for panel in figure.panels
        for start, stop, look in spans
    ]


def find_contacts(events: Sequence[TraceEvent], end: float) -> list[tuple[float, float]]:
    """Start and end of each contact among the first MOST_EVENTS events [s]."""
    contacts: list[tuple[float, float]] = []
    began: float | None = None
    for event in events[:MOST_EVENTS]:
        if event.kind == "contact_began" and began is None:
            began = event.time
        elif event.kind == "contact_ended" and began is not None:
            contacts.append((began, event.time))
            began = None
    return contacts if began is None else [*contacts, (began, end)]


def describe_events(events: Sequence[TraceEvent], height: str) -> Fields:
    """Markers of the first MOST_EVENTS events, at `height` on an axis of words, described on hovering."""
    drawn = events[:MOST_EVENTS]
    return {
        "x": [event.time for event in drawn],
        "y": [height] * len(drawn),
        "mode": "markers",
        "marker": {
            "size": 10,
            "symbol": ["triangle-left" if event.kind == "contact_ended" else "triangle-right" for event in drawn],
            "color": [_EVENT_COLOURS.get(event.kind, GREY) for event in drawn],
        },
        "text": [escape(f"{event.time:.2f} s: {event.message}") for event in drawn],
        "hoverinfo": "text",
        "showlegend": False,
    }
