"""Figures as plain data for plotly.js: panels, colours, events on the time axis, and the way into the page."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from inertid_ros.core.input.timeline import MAX_GAP
from inertid_ros.core.records import LOAD_EVENTS, EventKind, FloatArray
from inertid_ros.replay.trace import TraceEvent
from inertid_ros.report.markup import Html, element

Fields = dict[str, Any]
"""Part of a figure, with the names plotly.js gives to things."""

BLUE, RED, GREY, GREEN, AMBER = "#1f5fa8", "#c0392b", "#8a8f98", "#2e8b57", "#d08a00"
BAND = "rgba(31, 95, 168, 0.18)"
AXIS_COLOURS = (RED, GREEN, BLUE)
"""Of x, y and z, as rviz has them."""

LINE_COLOURS = ("#1f5fa8", "#2e8b57", "#c0392b", "#7b4fa3", "#d08a00", "#4f5b66", "#17a2b8", "#a0522d", "#e377c2")
"""Of lines that do not belong to axes."""

MOST_EVENTS = 100
"""So many events are drawn; more would hide the data."""

_EVENT_COLOURS = {
    **{kind.value: "#7b4fa3" for kind in LOAD_EVENTS},
    "bias_changed": AMBER,
    "contact_began": RED,
    "contact_ended": RED,
}
_CONTACT = "rgba(192, 57, 43, 0.10)"

_GRID, _SCENE_GRID = "#EBF0F8", "#DFE8F3"
_AXIS: Fields = {
    "gridcolor": _GRID, "linecolor": _GRID, "zerolinecolor": _GRID, "zerolinewidth": 2, "ticks": "",
    "title": {"standoff": 15}, "automargin": True,
}  # fmt: skip
_SCENE_AXIS: Fields = {
    "backgroundcolor": "white", "gridcolor": _SCENE_GRID, "gridwidth": 2, "linecolor": _GRID, "zerolinecolor": _GRID,
    "showbackground": True, "ticks": "",
}  # fmt: skip
_LOOK: Fields = {
    "layout": {
        "font": {"family": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", "size": 12, "color": "#20242b"},
        "legend": {"orientation": "h", "x": 0.0, "xanchor": "left", "y": 0.995, "yanchor": "top", "yref": "container"},
        "margin": {"l": 64, "r": 16, "t": 64, "b": 44},
        "hovermode": "x",
        "hoverlabel": {"align": "left"},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        "scene": {"xaxis": _SCENE_AXIS, "yaxis": _SCENE_AXIS, "zaxis": _SCENE_AXIS},
    }
}
"""Template of all figures, in the page once."""

_CONFIG: Fields = {
    "responsive": True,
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "sendChartToCloud", "sendDataToCloud"],
}
"""The last two buttons, of newer and older versions of plotly.js, would send the data away."""

_PACKED = "float32"
"""Key of a packed array: base64 of 32-bit floats, which have more digits than a screen can show."""


class Figure:
    """Panels in a grid, each with an x and a y axis, in rows from the top left.

    Attributes:
        data: what is drawn, as plotly.js takes it; numbers may be numpy arrays.
        layout: the rest of the figure, where it differs from the look that all figures share.
        lowest: the panels with no other below them.
    """

    def __init__(
        self,
        height: int,
        titles: Sequence[str] = ("",),
        columns: int = 1,
        spacing: tuple[float, float] = (0.0, 0.0),
        *,
        shares_x: bool = True,
        heights: Sequence[float] = (),
        first_is_wide: bool = False,
    ) -> None:
        """Lay out one panel for each title, in HTML as plotly.js understands it, in a figure of a height [pixels].

        The spacing between columns and between rows is in shares of the figure, the heights of rows are relative to
        each other. Where panels share the x axis, the lowest only are labelled. The first may take a whole row.
        """
        self.data: list[Fields] = []
        self.layout: Fields = {"height": height, "annotations": []}
        places = [divmod(index, columns) for index in range(len(titles))]
        if first_is_wide:
            places = [(0, 0), *((row + 1, column) for row, column in places[:-1])]
        rows = 1 + max((row for row, _ in places), default=0)
        self.lowest = [index for index, (row, column) in enumerate(places) if (row + 1, column) not in places]
        shares = np.array(heights) if heights else np.ones(rows)
        shares *= (1.0 - spacing[1] * (rows - 1)) / shares.sum()
        tops = 1.0 - np.concatenate([[0.0], np.cumsum(shares + spacing[1])])
        width = (1.0 - spacing[0] * (columns - 1)) / columns
        for index, ((row, column), title) in enumerate(zip(places, titles, strict=True)):
            is_wide = first_is_wide and index == 0
            left = column * (width + spacing[0])
            right, top = 1.0 if is_wide else left + width, float(tops[row])
            number = _number(index)
            self.layout[f"xaxis{number}"] = {"anchor": f"y{number}", "domain": [left, right]}
            self.layout[f"yaxis{number}"] = {"anchor": f"x{number}", "domain": [max(top - shares[row], 0.0), top]}
            if shares_x:
                is_labelled = is_wide or index in self.lowest
                self.x(index).update({"matches": "x"} if index else {}, showticklabels=is_labelled)
            if title:
                self.write(title, 0.5 * (left + right), top, {"xref": "paper", "yref": "paper", "yanchor": "bottom"})

    @property
    def panels(self) -> range:
        """Numbers of the panels."""
        return range(sum(name.startswith("xaxis") for name in self.layout))

    def x(self, panel: int) -> Any:
        """X axis of a panel: its fields."""
        return self.layout[f"xaxis{_number(panel)}"]

    def y(self, panel: int) -> Any:
        """Y axis of a panel: its fields."""
        return self.layout[f"yaxis{_number(panel)}"]

    def within(self, panel: int) -> Fields:
        """Coordinates of a text from 0 to 1 across a panel."""
        return {"xref": f"x{_number(panel)} domain", "yref": f"y{_number(panel)} domain"}

    def draw(self, kind: str, panel: int = 0, **fields: Any) -> None:
        """Draw a trace of a kind (scatter, bar, heatmap) in a panel."""
        self.data.append({"type": kind, "xaxis": f"x{_number(panel)}", "yaxis": f"y{_number(panel)}", **fields})

    def draw_line(
        self, panel: int, x: FloatArray, y: FloatArray, name: str, colour: str, width: float, hover: str, **fields: Any
    ) -> None:
        """Draw a line that says `hover`, a template of plotly.js, on hovering; nothing if that is empty."""
        says = {"hovertemplate": f"{hover}<extra></extra>"} if hover else {"hoverinfo": "skip"}
        self.draw("scatter", panel, x=x, y=y, name=name, line={"color": colour, "width": width}, **says, **fields)

    def write(self, text: str, x: float, y: float, fields: Fields) -> None:
        """Write a text at a place, in the coordinates that the fields name."""
        font = {"size": 12.5, **fields.pop("font", {})}
        self.layout["annotations"].append(
            {"text": text, "x": x, "y": y, "xanchor": "center", "showarrow": False, "font": font, **fields}
        )

    def label_time(self, duration: float) -> None:
        """Make the x axes seconds from 0 to `duration`."""
        for panel in self.panels:
            self.x(panel)["range"] = [0.0, max(duration, 1e-3)]
        for panel in self.lowest:
            self.x(panel)["title"] = {"text": "time [s]"}

    def show(self, name: str, caption: str) -> Html:
        """HTML that draws the figure below its caption on a page with `DRAW_SCRIPT`, always with the same text."""
        text = _to_json({"data": self.data, "layout": self.layout})
        holder = f'<div id="{name}" class="plotly-graph-div" style="height:{self.layout["height"]}px"></div>'
        plot = Html(f"{holder}<script>draw({json.dumps(name)}, {text});</script>")
        return element("figure", element("figcaption", caption), plot)


def _number(panel: int) -> str:
    """What plotly.js appends to the names of a panel's axes."""
    return str(panel + 1) if panel else ""


def _to_json(value: Fields) -> str:
    """JSON that can stand in a script: nothing in it ends the script."""
    return json.dumps(value, separators=(",", ":"), default=_pack, allow_nan=False).replace("<", "\\u003c")


def _pack(value: object) -> object:
    if isinstance(value, np.ndarray):
        return {_PACKED: b64encode(value.astype("<f4").tobytes()).decode()}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no JSON")


DRAW_SCRIPT = f"""
const look = {_to_json(_LOOK)}, config = {_to_json(_CONFIG)};
const unpack = value => {{
  if (Array.isArray(value)) return value.map(unpack);
  if (value === null || typeof value !== 'object') return value;
  if ('{_PACKED}' in value) {{
    const bytes = Uint8Array.from(atob(value.{_PACKED}), letter => letter.charCodeAt(0));
    return new Float32Array(bytes.buffer);
  }}
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpack(item)]));
}};
const draw = (name, figure) =>
  Plotly.newPlot(name, unpack(figure.data), {{template: look, ...figure.layout}}, config);
"""
"""Defines draw(name, figure): unpacks the arrays and draws the figure in the element of that name."""


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
            "xref": f"x{_number(panel)}",
            "yref": f"y{_number(panel)} domain",
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


def zigzag(times: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Line (2B,) through smallest and largest value of each of B buckets.

    Buckets without a sample (NaN) are left out; a NaN stays where there was none for longer than MAX_GAP.
    """
    filled = np.flatnonzero(np.isfinite(low))
    long = np.diff(times[filled]) > MAX_GAP
    kept = np.sort(np.concatenate([filled, filled[:-1][long] + 1]))
    times, low, high = times[kept], low[kept], high[kept]
    return np.repeat(times, 2), np.column_stack([low, high]).ravel()


def find_range(low: FloatArray, high: FloatArray, padding: float, left_out: float = 0.0) -> tuple[float, float] | None:
    """Range of an axis that covers values (N,) from low to high; None if there is nothing to show.

    On either side, `padding` is added as a part of the range, after leaving out a share of the most extreme values.
    """
    if not np.any(np.isfinite(low)):
        return None
    bottom, top = float(np.nanquantile(low, left_out)), float(np.nanquantile(high, 1.0 - left_out))
    margin = padding * (top - bottom) or 1e-6
    return bottom - margin, top + margin
