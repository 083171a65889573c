"""How the parameters of a load and of an arm converged: estimates and their 95 % bands over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.replay.trace import STATES, LinkTrace, LoadTrace
from inertid_ros.report.drawing import BAND, BLUE, GREY, Figure, mark_events
from inertid_ros.text.numbers import INTERVAL, PARAMETER_UNITS, format_estimate
from inertid_ros.text.parameters import parameter_units

_ORDER = ("m", "mcx", "mcy", "mcz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
"""Of a load's panels: the mass in a row of its own, then three per row."""
_COLUMNS = 4
"""Of an arm's panels."""
_WIDEST = 10.0
"""Bands up to so many times as wide as the last one determine the range of a panel, so that the end can be read."""


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
    for title, members in [
        *((f"{joint} and {link}", (joint, link)) for joint, link in zip(arm.joint_names, arm.link_names, strict=True)),
        ("base sensor", ("base",)),
    ]:
        indices = [index for index, owner in enumerate(owners) if owner in members]
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
        titles.append(f"<b>{name}</b>  {state if state == 'not excited yet' else number}")
    return titles


def _draw_parameters(
    figure: Figure, trace: LoadTrace | LinkTrace, indices: Sequence[int], units: Sequence[str]
) -> None:
    """Draw some of the parameters, one per panel."""
    record = trace.convergence
    for panel, index in enumerate(indices):
        excited = record.states[:, index] > STATES.index(ParameterState.NOT_EXCITED)
        values, deviations = record.values[:, index], record.deviations[:, index]
        draw_panel(figure, panel, record.times, values, deviations, excited, units[index])
    figure.label_time(trace.duration)


def draw_panel(
    figure: Figure,
    panel: int,
    times: FloatArray,
    values: FloatArray,
    deviations: FloatArray,
    excited: NDArray[np.bool_],
    unit: str,
) -> None:
    """Draw one parameter with its band while it is excited.

    Args:
        figure: with panels; the first of them represents all in the legend.
        panel: number of the panel.
        times: (K,) seconds.
        values: (K,) estimates.
        deviations: (K,) their standard deviations.
        excited: (K,) whether there is something to show.
        unit: of the values.
    """
    margins = INTERVAL * deviations
    low, high = find_range(values, margins, excited)
    figure.y(panel).update(range=[low, high], title={"text": unit, "standoff": 4})
    if not np.any(excited):
        figure.y(panel)["showticklabels"] = False
        figure.write("not excited", 0.5, 0.5, {**figure.within(panel), "font": {"color": GREY}})
    # Far outside the panel a band is only a block of colour: clipped there, its size can do no harm.
    room = 2.0 * (high - low)
    bottom, top = np.clip([values - margins, values + margins], low - room, high + room)
    x, y = outline(times, bottom, top, excited)
    figure.draw(
        "scatter", panel, x=x, y=y, fill="toself", fillcolor=BAND, line={"width": 0}, mode="lines", name="95 %",
        hoverinfo="skip", legendgroup="band", showlegend=panel == 0,
    )  # fmt: skip
    figure.draw(
        "scatter",
        panel,
        x=times,
        y=np.where(excited, values, np.nan),
        customdata=margins,
        hovertemplate="%{y:.5g} ± %{customdata:.2g} (95 %)<extra></extra>",
        line={"color": BLUE, "width": 1.6},
        name="estimate",
        legendgroup="estimate",
        showlegend=panel == 0,
    )


def find_range(values: FloatArray, margins: FloatArray, excited: NDArray[np.bool_]) -> tuple[float, float]:
    """Range of a panel that covers the bands not much wider than the last one.

    Args:
        values: (K,) estimates.
        margins: (K,) half widths of their bands.
        excited: (K,) whether there is something to show.
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
    """Closed outlines of a band, one for each run of moments at which it is shown, separated by NaN."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], shown, [False]]).astype(np.int8)))
    x: list[FloatArray] = []
    y: list[FloatArray] = []
    gap = np.array([np.nan])
    for start, stop in edges.reshape(-1, 2).tolist():
        x += [times[start:stop], times[start:stop][::-1], gap]
        y += [bottom[start:stop], top[start:stop][::-1], gap]
    return (np.concatenate(x), np.concatenate(y)) if x else (np.empty(0), np.empty(0))
