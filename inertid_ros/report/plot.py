"""Pictures of estimates for papers and slides, with 95 % bars.

Of a load: the ten parameters, and the body from three sides. Of an arm: the base parameters, and the residual of each
channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from inertid_ros.core.errors import FileAccessError
from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, equivalent_semi_axes
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.files.estimate import SavedLinks
from inertid_ros.files.vendor_snippets import find_body, inertia_is_known
from inertid_ros.report.drawing import AMBER, AXIS_COLOURS, BLUE, GREY
from inertid_ros.text.numbers import INTERVAL, PARAMETER_UNITS, find_unit, format_estimate

_PLANE_INTERVAL = 2.448
"""Square root of chi-square with two degrees of freedom at 95 %."""
_LOAD_GROUPS = (("mass", (0,)), ("mass moments", (1, 2, 3)), ("inertia about the sensor's origin", (4, 5, 6, 7, 8, 9)))
_LINK_GROUPS = (
    ("masses", ("m",)),
    ("mass moments", ("mcx", "mcy", "mcz")),
    ("inertias", ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "rotor_inertia")),
    ("viscous friction", ("viscous",)),
    ("Coulomb friction and offsets", ("coulomb", "offset", "fx", "fy", "fz", "nx", "ny", "nz")),
)
_SIDES = ((0, 1), (0, 2), (1, 2))


def write_png(estimate: LoadEstimate | SavedLinks, path: Path, dots_per_inch: int, origin: str) -> None:
    """Draw an estimate, and where it comes from, into a PNG file; FileAccessError if it cannot be written."""
    figure = draw_load(estimate, origin) if isinstance(estimate, LoadEstimate) else draw_links(estimate, origin)
    try:
        figure.savefig(path, dpi=dots_per_inch, format="png")
    except OSError as error:
        raise FileAccessError(f"'{path}' cannot be written: {error.strerror}; name another file with --png") from None


def draw_load(estimate: LoadEstimate, origin: str) -> Figure:
    """Draw the parameters above, the body from three sides below."""
    figure = Figure(figsize=(9.0, 6.2), layout="constrained")
    grid = figure.add_gridspec(2, 6, height_ratios=[1.0, 1.15])
    for (title, indices), span in zip(_LOAD_GROUPS, (slice(0, 1), slice(1, 3), slice(3, 6)), strict=True):
        _draw_load_parameters(figure.add_subplot(grid[0, span]), estimate, title, indices)
    body = find_body(estimate.states, estimate.feasible, estimate.covariance)
    for column, side in enumerate(_SIDES):
        axes = figure.add_subplot(grid[1, 2 * column : 2 * column + 2])
        _draw_side(axes, body, side, inertia_is_known(estimate.states))
    note = "" if inertia_is_known(estimate.states) else "; inertia not known"
    source = "efforts" if estimate.sensor is None else "wrench"
    legend = f"frame {estimate.frame}; ±, bars and dashed ellipses: 95 %; open: uncertain{note}"
    figure.supxlabel(f"{legend}\nfrom {source} in {origin}", fontsize=8, color=GREY)
    return figure


def _draw_load_parameters(axes: Axes, estimate: LoadEstimate, title: str, indices: Sequence[int]) -> None:
    labels = []
    for place, index in enumerate(indices):
        state, name = estimate.states[index], PARAMETER_NAMES[index]
        if state == ParameterState.NOT_EXCITED:
            labels.append(name)
            axes.text(place, 0.5, state, rotation=90, ha="center", va="center", color=GREY, fontsize=8,
                      transform=axes.get_xaxis_transform())  # fmt: skip
            continue
        value, deviation = float(estimate.values[index]), float(estimate.deviations[index])
        labels.append(f"{name}\n{format_estimate(value, deviation).replace(' ± ', chr(10) + '± ')}")
        _draw_interval(axes, place, value, deviation, state, markersize=5, capsize=4)
    axes.axhline(0.0, color="0.85", linewidth=0.8, zorder=0)
    axes.set_xticks(range(len(indices)), labels, fontsize=7)
    axes.set_xlim(-0.6, len(indices) - 0.4)
    axes.margins(y=0.25)
    axes.set_title(f"{title} [{PARAMETER_UNITS[indices[0]]}]", fontsize=9)
    axes.tick_params(axis="y", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_interval(axes: Axes, place: int, value: float, deviation: float, state: str, **style: Any) -> None:
    """A dot with its 95 % bar, open while it is uncertain."""
    filled = BLUE if state == ParameterState.KNOWN else "white"
    axes.errorbar(place, value, INTERVAL * deviation, fmt="o", color=BLUE, markerfacecolor=filled, **style)


def _draw_side(axes: Axes, body: RigidBodyEstimate | None, side: tuple[int, int], shows_inertia: bool) -> None:
    """Look along the third axis [mm]: sensor frame, centre of mass, outline of the ellipsoid."""
    com = np.zeros(3) if body is None or body.com is None else 1e3 * body.com
    reach = max(50.0, 1.2 * float(np.abs(com).max()))
    half_width = 1.15 * reach
    for axis, tip in zip(side, reach * np.eye(2), strict=True):
        axes.annotate("", tip, (0.0, 0.0), arrowprops={"arrowstyle": "-|>", "color": AXIS_COLOURS[axis], "lw": 1.5})
    if body is not None and body.com_covariance is not None:
        centre = com[list(side)]
        spread = 1e3 * _PLANE_INTERVAL * outline(body.com_covariance[np.ix_(side, side)])
        axes.plot(*(centre[:, None] + spread), "--", color=AMBER, linewidth=1.0)
        axes.plot(*centre, "o", color=AMBER, markersize=5)
        if shows_inertia and body.principal_axes is not None and body.principal_moments is not None:
            semi_axes = 1e3 * equivalent_semi_axes(body.mass, body.principal_moments)
            matrix = body.principal_axes * semi_axes**2 @ body.principal_axes.T
            axes.fill(*(centre[:, None] + outline(matrix[np.ix_(side, side)])), color=BLUE, alpha=0.25)
            half_width = max(half_width, 1.05 * float(np.abs(com).max() + semi_axes.max()))
    axes.set(xlim=(-half_width, half_width), ylim=(-half_width, half_width), aspect="equal")
    axes.set_xlabel(f"{'xyz'[side[0]]} [mm]", fontsize=9)
    axes.set_ylabel(f"{'xyz'[side[1]]} [mm]", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(color="0.93")
    axes.set_axisbelow(True)


def outline(matrix: FloatArray) -> FloatArray:
    """Points (2, P) of the ellipse x S^-1 x = 1 for a symmetric S (2, 2).

    For the ellipsoid x S^-1 x = 1 in space, the 2 x 2 part of S gives its outline seen along the third axis.
    """
    values, axes = np.linalg.eigh(matrix)
    angles = np.linspace(0.0, 2.0 * np.pi, 121)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    return np.asarray(axes * np.sqrt(np.maximum(values, 0.0)) @ circle)


def draw_links(links: SavedLinks, origin: str) -> Figure:
    """Draw groups of base parameters one below the other, and the residual of the channels at the bottom."""
    kinds = [name.rpartition(".")[2] for name in links.names]
    units = [find_unit(name, links.prismatic) for name in links.names]
    groups = [
        (f"{title} [{unit}]", chosen)
        for title, members in _LINK_GROUPS
        for unit in dict.fromkeys(units)
        if (chosen := [index for index, kind in enumerate(kinds) if kind in members and units[index] == unit])
    ]
    panels = len(groups) + bool(links.fit)
    figure = Figure(figsize=(9.0, 2.4 * panels), layout="constrained")
    axes = np.atleast_1d(figure.subplots(panels, 1))
    for axis, (title, chosen) in zip(axes, groups, strict=False):
        _draw_group(axis, links, title, chosen)
    if links.fit:
        _draw_channels(axes[-1], links)
    legend = "±, bars: 95 %; open: uncertain; grey dashes: URDF; parameters that are not excited have no number"
    source = links.source.replace("_", " ")
    figure.supxlabel(f"{legend}\nfrom {source} in {origin}", fontsize=8, color=GREY)
    return figure


def _draw_group(axis: Axes, links: SavedLinks, title: str, chosen: Sequence[int]) -> None:
    deviations = np.sqrt(np.diag(links.covariance))
    for place, index in enumerate(chosen):
        if links.urdf is not None:
            axis.plot([place - 0.35, place + 0.35], [links.urdf[index]] * 2, color=GREY, linewidth=1.5)
        if links.states[index] == ParameterState.NOT_EXCITED:
            continue
        value, state, style = (
            links.values[index],
            links.states[index],
            {"markersize": 3.5, "capsize": 2, "linewidth": 1},
        )
        _draw_interval(axis, place, value, deviations[index], state, **style)
    axis.axhline(0.0, color="0.88", linewidth=0.8, zorder=0)
    labels = [
        links.names[index]
        if links.states[index] == ParameterState.NOT_EXCITED
        else f"{links.names[index]}\n{format_estimate(float(links.values[index]), float(deviations[index]))}"
        for index in chosen
    ]
    axis.set_xticks(range(len(chosen)), labels, rotation=90, fontsize=5)
    axis.set_xlim(-0.7, len(chosen) - 0.3)
    axis.set_title(title, fontsize=9)
    _clean(axis)


def _draw_channels(axis: Axes, links: SavedLinks) -> None:
    places = np.arange(len(links.fit))
    if links.urdf_fit:
        by_urdf = [100.0 * links.urdf_fit[channel] for channel in links.fit]
        axis.bar(places - 0.2, by_urdf, 0.38, color=AMBER, label="URDF alone")
    axis.bar(places + 0.2, 100.0 * np.array(list(links.fit.values())), 0.38, color=BLUE, label="identified")
    axis.set_xticks(places, list(links.fit), fontsize=6)
    axis.set_ylabel("residual [% of rms]", fontsize=7)
    axis.set_title("residual of each channel", fontsize=9)
    axis.legend(fontsize=7, frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))  # above all bars
    _clean(axis)


def _clean(axis: Axes) -> None:
    axis.tick_params(axis="y", labelsize=7)
    axis.spines[["top", "right"]].set_visible(False)
