"""When the data said something about which parameter, and what happened meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.replay.trace import MODES, STATES, LoadTrace
from inertid_ros.report.drawing import (
    AMBER,
    GREEN,
    GREY,
    LINE_COLOURS,
    RED,
    event_markers,
    mark_events,
    style,
)
from inertid_ros.text.numbers import PARAMETER_UNITS

STATE_COLOURS = ("#d9dce1", "#f0c55c", GREEN)
"""Of STATES: grey, amber, green."""
MODE_COLOURS = ("#eceef1", "#cfe5d7", AMBER, RED, GREY)
"""Of MODES."""

_GROUPS = (("mass", (0,)), ("mass moments", (1, 2, 3)), ("inertia", (4, 5, 6, 7, 8, 9)))


def draw_states(trace: LoadTrace) -> go.Figure:
    """Draw the state of each parameter, the mode and the events on one time axis."""
    record = trace.convergence
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.2, 0.8], vertical_spacing=0.05)
    figure.add_trace(draw_strip(record.times, record.modes[None, :], ["mode"], MODES, MODE_COLOURS), row=1, col=1)
    figure.add_trace(event_markers(trace.events, "events"), row=1, col=1)
    states = draw_strip(record.times, record.states.T, PARAMETER_NAMES, STATES, STATE_COLOURS)
    figure.add_trace(states, row=2, col=1)
    figure.update_yaxes(type="category", range=[-0.6, 1.6], row=1, col=1)
    figure.update_yaxes(autorange="reversed", row=2, col=1)
    figure.update_xaxes(range=[0.0, max(trace.duration, 1e-3)])
    figure.update_xaxes(title_text="time [s]", row=2, col=1)
    mark_events(figure, trace.events, trace.duration)
    return style(figure, 420).update_layout(hovermode="closest")


def draw_strip(
    times: FloatArray, numbers: NDArray[np.int8], rows: Sequence[str], words: Sequence[str], colours: Sequence[str]
) -> go.Heatmap:
    """Rows of coloured time; `numbers` (R, K) at `times` (K,) are indices into words and colours."""
    steps = np.linspace(0.0, 1.0, len(colours) + 1)
    scale = [[edge, colour] for colour, *edges in zip(colours, steps[:-1], steps[1:], strict=True) for edge in edges]
    return go.Heatmap(
        x=times,
        y=list(rows),
        z=numbers.tolist(),
        zmin=-0.5,
        zmax=len(words) - 0.5,
        colorscale=scale,
        showscale=False,
        customdata=np.array(words)[numbers].tolist(),
        hovertemplate="%{y} at %{x:.1f} s: %{customdata}<extra></extra>",
        ygap=2,
    )


def draw_deviations(trace: LoadTrace) -> go.Figure:
    """Draw the standard deviation of each parameter over time: it falls while the motion excites it."""
    titles = [f"<b>{name}</b> [{PARAMETER_UNITS[indices[0]]}]" for name, indices in _GROUPS]
    figure = make_subplots(rows=1, cols=3, subplot_titles=titles, horizontal_spacing=0.07, shared_xaxes="all")
    for column, (_, indices) in enumerate(_GROUPS, start=1):
        for colour, index in zip(LINE_COLOURS, indices, strict=False):
            line = go.Scatter(
                x=trace.convergence.times,
                y=trace.convergence.deviations[:, index],
                line={"width": 1.4, "color": colour},
                name=PARAMETER_NAMES[index],
                hovertemplate=f"{PARAMETER_NAMES[index]} %{{y:.2g}}<extra></extra>",
            )
            figure.add_trace(line, row=1, col=column)
    mark_events(figure, trace.events, trace.duration)
    figure.update_yaxes(type="log", exponentformat="power")
    figure.update_xaxes(title_text="time [s]", range=[0.0, max(trace.duration, 1e-3)])
    return style(figure, 340)
