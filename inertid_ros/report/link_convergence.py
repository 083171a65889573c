"""How each base parameter found its value, joint by joint, and when the data said something about it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from inertid_ros.replay.trace import STATES, LinkTrace
from inertid_ros.report.convergence import draw_panel
from inertid_ros.report.drawing import style
from inertid_ros.report.excitation import STATE_COLOURS, draw_strip
from inertid_ros.text.numbers import format_estimate
from inertid_ros.text.parameters import parameter_units

_COLUMNS = 4


def list_names(trace: LinkTrace) -> list[str]:
    """The parameters that stand for the base parameters."""
    base = trace.estimate.base
    return [base.names[column] for column in base.columns]


def iterate_convergence(trace: LinkTrace) -> Iterator[tuple[str, go.Figure]]:
    """Walk over figures, one for each joint with the link it moves, and one for the base sensor."""
    arm = trace.estimate.model.arm
    owners = [name.rpartition(".")[0] for name in list_names(trace)]
    for title, members in [
        *((f"{joint} and {link}", (joint, link)) for joint, link in zip(arm.joint_names, arm.link_names, strict=True)),
        ("base sensor", ("base",)),
    ]:
        indices = [index for index, owner in enumerate(owners) if owner in members]
        if indices:
            yield title, _draw(trace, indices)


def _draw(trace: LinkTrace, indices: list[int]) -> go.Figure:
    rows = -(-len(indices) // _COLUMNS)
    record = trace.convergence
    figure = make_subplots(
        rows=rows,
        cols=_COLUMNS,
        shared_xaxes="all",
        subplot_titles=[_title(trace, index) for index in indices],
        vertical_spacing=0.3 / rows,
        horizontal_spacing=0.06,
    )
    units = parameter_units(trace.estimate.model)
    for count, index in enumerate(indices):
        place = count // _COLUMNS + 1, count % _COLUMNS + 1
        excited = record.states[:, index] > STATES.index("not excited yet")
        draw_panel(
            figure,
            place,
            record.times,
            record.values[:, index],
            record.deviations[:, index],
            excited,
            units[index],
            count == 0,
        )
        if count + _COLUMNS >= len(indices):
            figure.update_xaxes(title_text="time [s]", showticklabels=True, row=place[0], col=place[1])
    figure.update_xaxes(range=[0.0, max(trace.duration, 1e-3)])
    return style(figure, 90 + 150 * rows)


def _title(trace: LinkTrace, index: int) -> str:
    state = trace.estimate.states[index]
    name = escape(list_names(trace)[index].rpartition(".")[2])
    if state == "not excited yet":
        return f"<b>{name}</b>  {state}"
    deviation = float(np.sqrt(trace.estimate.covariance[index, index]))
    return f"<b>{name}</b>  {format_estimate(float(trace.estimate.values[index]), deviation)}"


def draw_link_states(trace: LinkTrace) -> go.Figure:
    """Draw the state of each base parameter over time."""
    names = list_names(trace)
    record = trace.convergence
    figure = go.Figure(
        draw_strip(record.times, record.states.T, [escape(name) for name in names], STATES, STATE_COLOURS)
    )
    figure.update_yaxes(autorange="reversed", tickfont={"size": 9}, dtick=1)
    figure.update_xaxes(title_text="time [s]", range=[0.0, max(trace.duration, 1e-3)])
    return style(figure, 110 + 13 * len(names)).update_layout(hovermode="closest", margin={"l": 170})
