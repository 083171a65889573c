"""Figures as plain data for plotly.js: panels, colours, and the way into the page."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

from inertid_ros.core.input.timeline import MAX_GAP
from inertid_ros.core.records import FloatArray
from inertid_ros.report.markup import Html, element

Fields = dict[str, Any]
"""Part of a figure, with the names plotly.js gives to things."""

BLUE, RED, GREY, GREEN, AMBER = "#1f5fa8", "#c0392b", "#8a8f98", "#2e8b57", "#d08a00"
BAND = "rgba(31, 95, 168, 0.18)"
AXIS_COLOURS = (RED, GREEN, BLUE)
"""Of x, y and z, as rviz has them."""

LINE_COLOURS = ("#1f5fa8", "#2e8b57", "#c0392b", "#7b4fa3", "#d08a00", "#4f5b66", "#17a2b8", "#a0522d", "#e377c2")
"""Of lines that do not belong to axes."""

_GRID, _SCENE_GRID = "#EBF0F8", "#DFE8F3"
_AXIS: Fields = {
    "gridcolor": _GRID, "linecolor": _GRID, "zerolinecolor": _GRID, "zerolinewidth": 2, "ticks": "",
    "title": {"standoff": 15}, "automargin": True, "exponentformat": "power",
}  # fmt: skip
_SCENE_AXIS: Fields = {
    "backgroundcolor": "white", "gridcolor": _SCENE_GRID, "gridwidth": 2, "linecolor": _GRID, "zerolinecolor": _GRID,
    "showbackground": True, "ticks": "",
}  # fmt: skip
LOOK: Fields = {
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

_STACKED: Fields = {"margin": {"l": 48, "r": 8, "b": 40}, "dragmode": False}
"""Of figures on a narrow screen: fingers that touch one scroll the page instead of zooming."""
_NARROW_LEGEND, _LEGEND_ROW, _LETTER, _SYMBOL = 290, 20, 7, 46
"""Pixels of a legend on a narrow screen: its width, the height of a row, and the widths of a letter and of the line
before a name."""
_SCENE = 360
"""Height of a three-dimensional view on a narrow screen, which is as wide [pixels]."""
_TITLE = 30
"""Height of a panel's title [pixels]."""
PACKED = "float32"
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
        self._shares_x, self._columns, self._titled = shares_x, columns, [bool(title) for title in titles]
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
            number = axis_number(index)
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
        return self.layout[f"xaxis{axis_number(panel)}"]

    def y(self, panel: int) -> Any:
        """Y axis of a panel: its fields."""
        return self.layout[f"yaxis{axis_number(panel)}"]

    def within(self, panel: int) -> Fields:
        """Coordinates of a text from 0 to 1 across a panel."""
        return {"xref": f"x{axis_number(panel)} domain", "yref": f"y{axis_number(panel)} domain"}

    def draw(self, kind: str, panel: int = 0, **fields: Any) -> None:
        """Draw a trace of a kind (scatter, bar, heatmap) in a panel."""
        self.data.append({"type": kind, "xaxis": f"x{axis_number(panel)}", "yaxis": f"y{axis_number(panel)}", **fields})

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

    def stack(self) -> Fields:
        """What is different in the layout on a narrow screen: panels are stacked, each as high as it was."""
        names = {line.get("name", "") for line in self.data if line.get("showlegend", True) and "name" in line}
        per_row = max(1, _NARROW_LEGEND // (_SYMBOL + _LETTER * max(map(len, names), default=0)))
        margin = {**_STACKED["margin"], "t": _TITLE + _LEGEND_ROW * (-(-len(names) // per_row) if names else 0)}
        if self._columns == 1 or len(self.panels) < 2:
            height = self.layout["height"] if self.panels else min(self.layout["height"], _SCENE)
            return {**_STACKED, "margin": margin, "height": height}
        low, high = self.y(len(self.panels) - 1)["domain"]
        inside = self.layout["height"] - LOOK["layout"]["margin"]["t"] - LOOK["layout"]["margin"]["b"]
        size, gap = (high - low) * inside, _TITLE + (8 if self._shares_x else 40)
        total = len(self.panels) * (size + gap) - gap
        stacked: Fields = {**_STACKED, "margin": margin, "height": round(total + margin["t"] + margin["b"])}
        annotations = iter(self.layout["annotations"])
        moved = []
        for panel, has_title in enumerate(self._titled):
            top = 1.0 - panel * (size + gap) / total
            is_last = panel == self.panels[-1]
            axis: Fields = {"domain": [0.0, 1.0]}
            if self._shares_x:
                title = self.x(self.lowest[-1]).get("title", {}) if is_last else {"text": ""}
                axis |= {"showticklabels": is_last, "title": title}
            stacked[f"xaxis{axis_number(panel)}"] = axis
            stacked[f"yaxis{axis_number(panel)}"] = {"domain": [max(top - size / total, 0.0), top]}
            if has_title:
                moved.append({**next(annotations), "x": 0.5, "y": top})
        return {**stacked, "annotations": [*moved, *annotations]}

    def show(self, name: str, caption: str) -> Html:
        """HTML that draws the figure below its caption on a page with its scripts, always with the same text."""
        text = to_json({"data": self.data, "layout": self.layout, "narrow": self.stack()})
        holder = f'<div id="{name}" class="plotly-graph-div" style="height:{self.layout["height"]}px"></div>'
        plot = Html(f"{holder}<script>draw({json.dumps(name)}, {text});</script>")
        return element("figure", element("figcaption", caption), plot)


def axis_number(panel: int) -> str:
    """What plotly.js appends to the names of a panel's axes."""
    return str(panel + 1) if panel else ""


def to_json(value: Fields) -> str:
    """JSON that can stand in a script: nothing in it ends the script."""
    return json.dumps(value, separators=(",", ":"), default=_pack, allow_nan=False).replace("<", "\\u003c")


def _pack(value: object) -> object:
    if isinstance(value, np.ndarray):
        return {PACKED: b64encode(value.astype("<f4").tobytes()).decode()}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no JSON")


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
