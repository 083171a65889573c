"""How the parameters of a load and of an arm converged: estimates, 95 % bands and excitation over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import BoolArray, FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.replay.trace import MODES, STATES, LinkTrace, LoadTrace
from inertid_ros.report.drawing import (
    AMBER,
    BAND,
    BLUE,
    GREEN,
    GREY,
    LINE_COLOURS,
    RED,
    Fields,
    Figure,
    find_range,
)
from inertid_ros.report.events import describe_events, mark_events
from inertid_ros.text.numbers import INTERVAL, PARAMETER_UNITS, format_estimate, parameter_units

_ORDER = ("m", "mcx", "mcy", "mcz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
"""Of a load's panels: the mass in a row of its own, then three per row."""
_COLUMNS = 4
"""Of an arm's panels."""
_WIDEST = 10.0
"""Bands up to so many times as wide as the last one determine the range of a panel, so that the end can be read."""
_STATE_COLOURS = ("#d9dce1", "#f0c55c", GREEN)
"""Of STATES: grey, amber, green."""
_MODE_COLOURS = ("#eceef1", "#cfe5d7", AMBER, RED, GREY)
"""Of MODES."""
_GROUPS = (("mass", (0,)), ("mass moments", (1, 2, 3)), ("inertia", (4, 5, 6, 7, 8, 9)))
"""Of a load's parameters: those with one unit."""


def draw_load_convergence(trace: LoadTrace) -> Figure:
    """Draw the ten parameters of a load."""
    indices = [PARAMETER_NAMES.index(name) for name in _ORDER]
    figure = Figure(900, _make_titles(trace, indices), 3, (0.07, 0.075), first_is_wide=True)
    _draw_parameters(figure, trace, indices, PARAMETER_UNITS)
    mark_events(figure, trace.events, trace.duration)
    return figure


def iterate_link_convergence(trace: LinkTrace) -> Iterator[tuple[str, Figure]]:
    """Walk over figures of an arm: one per joint with the link it moves, and one for the base sensor."""
    arm, units = trace.estimate.model.arm, parameter_units(trace.estimate.model)
    owners = [name.rpartition(".")[0] for name in trace.estimate.names]
    pairs = zip(arm.joint_names, arm.link_names, strict=True)
    members = {f"{joint} and {link}": (joint, link) for joint, link in pairs} | {"base sensor": ("base",)}
    for title, names in members.items():
        indices = [index for index, owner in enumerate(owners) if owner in names]
        if indices:
            rows = -(-len(indices) // _COLUMNS)
            figure = Figure(90 + 150 * rows, _make_titles(trace, indices), _COLUMNS, (0.06, 0.3 / rows))
            _draw_parameters(figure, trace, indices, units)
            yield title, figure


def _make_titles(trace: LoadTrace | LinkTrace, indices: Sequence[int]) -> list[str]:
    estimate, deviations = trace.estimate, trace.estimate.deviations.tolist()
    titles = []
    for index in indices:
        name, state = escape(estimate.names[index].rpartition(".")[2]), estimate.states[index]
        number = format_estimate(float(estimate.values[index]), deviations[index])
        titles.append(f"<b>{name}</b>  {state if state == ParameterState.NOT_EXCITED else number}")
    return titles


def _draw_parameters(
    figure: Figure, trace: LoadTrace | LinkTrace, indices: Sequence[int], units: Sequence[str]
) -> None:
    """Draw some of the parameters, one per panel, each with its band while it is excited."""
    record = trace.convergence
    for panel, index in enumerate(indices):
        excited = record.states[:, index] > STATES.index(ParameterState.NOT_EXCITED)
        values, margins = record.values[:, index], INTERVAL * record.deviations[:, index]
        low, high = find_band_range(values, margins, excited)
        figure.y(panel).update(range=[low, high], title={"text": units[index], "standoff": 4})
        if not np.any(excited):
            figure.y(panel)["showticklabels"] = False
            figure.write("not excited", 0.5, 0.5, {**figure.within(panel), "font": {"color": GREY}})
        # Far outside the panel a band is only a block of colour: clipped there, its size can do no harm.
        room = 2.0 * (high - low)
        bottom, top = np.clip([values - margins, values + margins], low - room, high + room)
        x, y = outline(record.times, bottom, top, excited)
        figure.draw(
            "scatter", panel, x=x, y=y, fill="toself", fillcolor=BAND, line={"width": 0}, mode="lines", name="95 %",
            hoverinfo="skip", legendgroup="band", showlegend=panel == 0,
        )  # fmt: skip
        shown = np.where(excited, values, np.nan)
        figure.draw_line(
            panel, record.times, shown, "estimate", BLUE, 1.6, "%{y:.5g} ± %{customdata:.2g} (95 %)",
            customdata=margins, legendgroup="estimate", showlegend=panel == 0,
        )  # fmt: skip
    figure.label_time(trace.duration)


def find_band_range(values: FloatArray, margins: FloatArray, excited: BoolArray) -> tuple[float, float]:
    """Range of a panel that covers the bands of values (K,) with half widths (K,) not much wider than the last one."""
    if not np.any(excited):
        return -1.0, 1.0
    shown = excited & (margins <= _WIDEST * margins[excited][-1])
    return find_range((values - margins)[shown], (values + margins)[shown], 0.08) or (-1.0, 1.0)


def outline(times: FloatArray, bottom: FloatArray, top: FloatArray, shown: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Closed outlines of a band, one for each run of moments at which it is shown, separated by NaN."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], shown, [False]]).astype(np.int8)))
    gap = np.array([np.nan])
    x: list[FloatArray] = [gap[:0]]
    y: list[FloatArray] = [gap[:0]]
    for start, stop in edges.reshape(-1, 2).tolist():
        x += [times[start:stop], times[start:stop][::-1], gap]
        y += [bottom[start:stop], top[start:stop][::-1], gap]
    return np.concatenate(x), np.concatenate(y)


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
    record = trace.convergence
    titles = [f"<b>{name}</b> [{PARAMETER_UNITS[indices[0]]}]" for name, indices in _GROUPS]
    figure = Figure(340, titles, 3, (0.07, 0.0))
    for panel, (_, indices) in enumerate(_GROUPS):
        figure.y(panel).update(type="log")
        for colour, index in zip(LINE_COLOURS, indices, strict=False):
            name, deviations = PARAMETER_NAMES[index], record.deviations[:, index]
            figure.draw_line(panel, record.times, deviations, name, colour, 1.4, f"{name} %{{y:.2g}}")
    mark_events(figure, trace.events, trace.duration)
    figure.label_time(trace.duration)
    return figure
