"""A picture of identified links for papers and slides: base parameters with 95 % bars, and what each channel leaves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from inertid_ros.files.estimate import SavedLinks
from inertid_ros.report.picture_file import save_picture

_INTERVAL = 1.96
_BLUE, _AMBER, _GREY = "#1f5fa8", "#d08a00", "#8a8f98"
_GROUPS = (
    ("mass moments [kg m], masses [kg]", ("m", "mcx", "mcy", "mcz")),
    ("inertias [kg m²]", ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "rotor_inertia")),
    ("friction and offsets [SI]", ("viscous", "coulomb", "offset", "fx", "fy", "fz", "nx", "ny", "nz")),
)


def write_links_png(links: SavedLinks, path: Path, dots_per_inch: int = 200) -> None:
    """Draw links into a PNG file; FileAccessError if it cannot be written."""
    save_picture(draw_links(links), path, dots_per_inch)


def draw_links(links: SavedLinks) -> Figure:
    """Draw groups of base parameters one below the other, and the channels at the bottom."""
    kinds = [name.rpartition(".")[2] for name in links.names]
    groups = [
        (title, chosen)
        for title, members in _GROUPS
        if (chosen := [index for index, kind in enumerate(kinds) if kind in members])
    ]
    panels = len(groups) + bool(links.fit)
    figure = Figure(figsize=(9.0, 2.1 * panels), layout="constrained")
    axes = np.atleast_1d(figure.subplots(panels, 1))
    for axis, (title, chosen) in zip(axes, groups, strict=False):
        _draw_group(axis, links, title, chosen)
    if links.fit:
        _draw_channels(axes[-1], links)
    figure.supxlabel("bars: 95 %; open: uncertain; grey dashes: URDF; not excited ones are left out", fontsize=8)
    return figure


def _draw_group(axis: Axes, links: SavedLinks, title: str, chosen: Sequence[int]) -> None:
    deviations = np.sqrt(np.diag(links.covariance))
    for place, index in enumerate(chosen):
        if links.urdf is not None:
            axis.plot([place - 0.35, place + 0.35], [links.urdf[index]] * 2, color=_GREY, linewidth=1.5)
        if links.states[index] == "not excited yet":
            continue
        filled = _BLUE if links.states[index] == "known" else "white"
        bar = _INTERVAL * deviations[index]
        axis.errorbar(place, links.values[index], bar, fmt="o", color=_BLUE, markerfacecolor=filled, markersize=3.5,
                      capsize=2, linewidth=1.0)  # fmt: skip
    axis.axhline(0.0, color="0.88", linewidth=0.8, zorder=0)
    labels = [links.names[index] for index in chosen]
    axis.set_xticks(range(len(chosen)), labels, rotation=90, fontsize=5)
    axis.set_xlim(-0.7, len(chosen) - 0.3)
    axis.set_title(title, fontsize=9)
    _clean(axis)


def _draw_channels(axis: Axes, links: SavedLinks) -> None:
    places = np.arange(len(links.fit))
    if links.urdf_fit:
        by_urdf = [100.0 * links.urdf_fit[channel] for channel in links.fit]
        axis.bar(places - 0.2, by_urdf, 0.38, color=_AMBER, label="URDF alone")
    axis.bar(places + 0.2, 100.0 * np.array(list(links.fit.values())), 0.38, color=_BLUE, label="identified")
    axis.set_xticks(places, list(links.fit), fontsize=6)
    axis.set_ylabel("left [% of rms]", fontsize=7)
    axis.set_title("what is left of each channel", fontsize=9)
    axis.legend(fontsize=7, frameon=False)
    _clean(axis)


def _clean(axis: Axes) -> None:
    axis.tick_params(axis="y", labelsize=7)
    axis.spines[["top", "right"]].set_visible(False)
