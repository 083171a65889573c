"""Which parameters the motion excited when, and what happened meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.replay.trace import MODES, STATES, LinkTrace, LoadTrace
from inertid_ros.report.drawing import (
    AMBER,
    GREEN,
    GREY,
    LINE_COLOURS,
    RED,
    Fields,
    Figure,
    describe_events,
    mark_events,
)
from inertid_ros.text.numbers import PARAMETER_UNITS

_STATE_COLOURS = ("#d9dce1", "#f0c55c", GREEN)
"""Of STATES: grey, amber, green."""
_MODE_COLOURS = ("#eceef1", "#cfe5d7", AMBER, RED, GREY)
"""Of MODES."""

_GROUPS = (("mass", (0,)), ("mass moments", (1, 2, 3)), ("inertia", (4, 5, 6, 7, 8, 9)))


def draw_load_states(trace: LoadTrace) -> Figure:
    """Draw the state of each parameter, the mode and the events on one time axis."""
    record = trace.convergence
    figure = Figure(420, ("", ""), 1, (0.0, 0.05), heights=(0.2, 0.8))
    figure.draw("heatmap", 0, **_describe_strip(record.times, record.modes[None, :], ["mode"], MODES, _MODE_COLOURS))
    figure.draw("scatter", 0, **describe_events(trace.events, "events"))
    figure.draw("heatmap", 1, **_describe_strip(record.times, record.states.T, PARAMETER_NAMES, STATES, _STATE_COLOURS))
    figure.y(0).update(type="category", range=[-0.6, 1.6])
    figure.y(1)["autorange"] = "reversed"
    figure.layout["hovermode"] = "closest"
    figure.label_time(trace.duration)
    mark_events(figure, trace.events, trace.duration)
    return figure


def draw_link_states(trace: LinkTrace) -> Figure:
    """Draw the state of each base parameter over time."""
    names = [escape(name) for name in trace.estimate.names]
    record = trace.convergence
    figure = Figure(110 + 13 * len(names))
    figure.draw("heatmap", **_describe_strip(record.times, record.states.T, names, STATES, _STATE_COLOURS))
    figure.y(0).update(autorange="reversed", tickfont={"size": 9}, dtick=1)
    figure.layout |= {"hovermode": "closest", "margin": {"l": 170}}
    figure.label_time(trace.duration)
    return figure


def _describe_strip(
    times: FloatArray, numbers: NDArray[np.int8], rows: Sequence[str], words: Sequence[str], colours: Sequence[str]
) -> Fields:
    """Heatmap with rows of coloured time; `numbers` (R, K) at `times` (K,) are indices into words and colours."""
    steps = np.linspace(0.0, 1.0, len(colours) + 1).tolist()
    scale = [[edge, colour] for colour, *edges in zip(colours, steps[:-1], steps[1:], strict=True) for edge in edges]
    return {
        "x": times,
        "y": list(rows),
        "z": numbers.tolist(),
        "zmin": -0.5,
        "zmax": len(words) - 0.5,
        "colorscale": scale,
        "showscale": False,
        "customdata": np.array(words)[numbers].tolist(),
        "hovertemplate": "%{y} at %{x:.1f} s: %{customdata}<extra></extra>",
        "ygap": 2,
    }


def draw_deviations(trace: LoadTrace) -> Figure:
    """Draw the standard deviation of each of a load's parameters over time: it falls while the motion excites it."""
    titles = [f"<b>{name}</b> [{PARAMETER_UNITS[indices[0]]}]" for name, indices in _GROUPS]
    figure = Figure(340, titles, 3, (0.07, 0.0))
    for panel, (_, indices) in enumerate(_GROUPS):
        figure.y(panel).update(type="log", exponentformat="power")
        for colour, index in zip(LINE_COLOURS, indices, strict=False):
            figure.draw(
                "scatter",
                panel,
                x=trace.convergence.times,
                y=trace.convergence.deviations[:, index],
                line={"width": 1.4, "color": colour},
                name=PARAMETER_NAMES[index],
                hovertemplate=f"{PARAMETER_NAMES[index]} %{{y:.2g}}<extra></extra>",
            )
    mark_events(figure, trace.events, trace.duration)
    figure.label_time(trace.duration)
    return figure
