"""How each parameter found its value: estimate and 95 % band over time."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.replay.trace import STATES, LoadTrace
from inertid_ros.report.drawing import BAND, BLUE, GREY, mark_events, style
from inertid_ros.text.numbers import PARAMETER_UNITS, format_estimate

INTERVAL = 1.96
"""Standard deviations of a 95 % interval."""

_PLACES = {
    "m": (1, 1), "mcx": (2, 1), "mcy": (2, 2), "mcz": (2, 3),
    "Ixx": (3, 1), "Iyy": (3, 2), "Izz": (3, 3), "Ixy": (4, 1), "Ixz": (4, 2), "Iyz": (4, 3),
}  # fmt: skip
_WIDEST = 10.0
_WIDE: dict[str, int] = {"colspan": 3}


def draw_convergence(trace: LoadTrace) -> go.Figure:
    """Draw the ten parameters, each in a panel of its own, in the ranges where they are excited."""
    titles = {place: _title(trace, PARAMETER_NAMES.index(name)) for name, place in _PLACES.items()}
    figure = make_subplots(
        rows=4,
        cols=3,
        shared_xaxes="all",
        specs=[[_WIDE, None, None], [{}] * 3, [{}] * 3, [{}] * 3],
        subplot_titles=[titles[place] for place in sorted(titles)],
        vertical_spacing=0.075,
        horizontal_spacing=0.07,
    )
    for name, (row, column) in _PLACES.items():
        _draw_parameter(figure, trace, PARAMETER_NAMES.index(name), row, column)
    mark_events(figure, trace.events, trace.duration)
    for column in (1, 2, 3):
        figure.update_xaxes(title_text="time [s]", row=4, col=column)
    figure.update_xaxes(range=[0.0, max(trace.duration, 1e-3)])
    return style(figure, 900)


def _draw_parameter(figure: go.Figure, trace: LoadTrace, index: int, row: int, column: int) -> None:
    record = trace.convergence
    draw_panel(
        figure,
        (row, column),
        record.times,
        record.values[:, index],
        record.deviations[:, index],
        record.states[:, index] > STATES.index("not excited yet"),
        PARAMETER_UNITS[index],
        index == 0,
    )


def draw_panel(
    figure: go.Figure,
    place: tuple[int, int],
    times: FloatArray,
    values: FloatArray,
    deviations: FloatArray,
    excited: NDArray[np.bool_],
    unit: str,
    is_first: bool,
) -> None:
    """Draw one parameter with its band, in the range where it is excited.

    Args:
        figure: with panels.
        place: row and column.
        times: (K,) seconds.
        values: (K,) estimates.
        deviations: (K,) their standard deviations.
        excited: (K,) when there is something to show.
        unit: of the values.
        is_first: whether this panel stands for all in the legend.
    """
    row, column = place
    margins = INTERVAL * deviations
    low, high = find_range(values, margins, excited)
    figure.update_yaxes(range=[low, high], title_text=unit, title_standoff=4, row=row, col=column)
    if not np.any(excited):
        _say_not_excited(figure, row, column)
    # Far outside the panel a band is only a block of colour: cut it there, so that nothing else depends on its size.
    room = 2.0 * (high - low)
    bottom, top = np.clip([values - margins, values + margins], low - room, high + room)
    x, y = outline(times, bottom, top, excited)
    figure.add_trace(
        go.Scatter(
            x=x, y=y, fill="toself", fillcolor=BAND, line={"width": 0}, mode="lines", name="95 %", hoverinfo="skip",
            legendgroup="band", showlegend=is_first,
        ),
        row=row,
        col=column,
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=times,
            y=np.where(excited, values, np.nan),
            customdata=margins,
            hovertemplate="%{y:.5g} ± %{customdata:.2g} (95 %)<extra></extra>",
            line={"color": BLUE, "width": 1.6},
            name="estimate",
            legendgroup="estimate",
            showlegend=is_first,
        ),
        row=row,
        col=column,
    )


def _say_not_excited(figure: go.Figure, row: int, column: int) -> None:
    figure.update_yaxes(showticklabels=False, row=row, col=column)
    figure.add_annotation(
        text="not excited",
        x=0.5,
        y=0.5,
        xref="x domain",
        yref="y domain",
        showarrow=False,
        font={"size": 14, "color": GREY},
        row=row,
        col=column,
    )


def find_range(values: FloatArray, margins: FloatArray, excited: NDArray[np.bool_]) -> tuple[float, float]:
    """Range of a panel: the bands that are not much wider than the last, so that the start does not dwarf the end.

    Args:
        values: (K,) estimates.
        margins: (K,) half widths of their bands.
        excited: (K,) when there is something to show.
    """
    if not np.any(excited):
        return -1.0, 1.0
    shown = excited & (margins <= _WIDEST * margins[excited][-1])
    low, high = float(np.min((values - margins)[shown])), float(np.max((values + margins)[shown]))
    padding = 0.08 * (high - low) or 1e-6
    return low - padding, high + padding


def outline(
    times: FloatArray, bottom: FloatArray, top: FloatArray, shown: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    """Closed outlines of a band, one for each run of moments at which it is shown, with NaN between them."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], shown, [False]]).astype(np.int8)))
    x: list[FloatArray] = []
    y: list[FloatArray] = []
    gap = np.array([np.nan])
    for start, stop in edges.reshape(-1, 2).tolist():
        x += [times[start:stop], times[start:stop][::-1], gap]
        y += [bottom[start:stop], top[start:stop][::-1], gap]
    return (np.concatenate(x), np.concatenate(y)) if x else (np.empty(0), np.empty(0))


def _title(trace: LoadTrace, index: int) -> str:
    state = trace.estimate.states[index]
    if state == "not excited yet":
        return f"<b>{PARAMETER_NAMES[index]}</b>  {state}"
    deviation = float(np.sqrt(trace.estimate.covariance[index, index]))
    number = format_estimate(float(trace.estimate.values[index]), deviation)
    return f"<b>{PARAMETER_NAMES[index]}</b>  {number} ({state})"
