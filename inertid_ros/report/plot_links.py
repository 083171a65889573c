"""A picture of identified links for papers and slides: base parameters with 95 % bars, and what each channel leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.records import FloatArray
from inertid_ros.files.document import Section
from inertid_ros.report.picture_file import save_picture

_INTERVAL = 1.96
_BLUE, _AMBER, _GREY = "#1f5fa8", "#d08a00", "#8a8f98"
_GROUPS = (
    ("mass moments [kg m], masses [kg]", ("m", "mcx", "mcy", "mcz")),
    ("inertias [kg m²]", ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "rotor_inertia")),
    ("friction and offsets [SI]", ("viscous", "coulomb", "offset", "fx", "fy", "fz", "nx", "ny", "nz")),
)


@dataclass(frozen=True, slots=True)
class PlottedLinks:
    """What the picture needs of identified links.

    Attributes:
        names: the parameter that stands for each of U base parameters.
        values, deviations, urdf: (U,) estimates, their standard deviations, and what the URDF says.
        states: (U,).
        channels: what was measured.
        left, left_by_urdf: for each, rms of what is left over rms.
    """

    names: tuple[str, ...]
    values: FloatArray
    deviations: FloatArray
    urdf: FloatArray
    states: tuple[str, ...]
    channels: tuple[str, ...]
    left: tuple[float, ...]
    left_by_urdf: tuple[float, ...]


def read_plotted_links(document: Section) -> PlottedLinks:
    """Take the links out of an estimate.json; FileFormatError if there are none."""
    links = document.section("links")
    base = links.section("base_parameters")
    names = tuple(base.value("names", list))
    states = tuple(base.value("states", list))
    if len(states) != len(names):
        raise FileFormatError(f"{base.where} has {len(states)} states for {len(names)} names: replay anew")
    fit, urdf = (links.section(name).section("channels") for name in ("fit", "urdf_residual"))
    shape = (len(names),)
    return PlottedLinks(
        names=names,
        values=base.numbers("values", shape),
        deviations=base.numbers("standard_deviations", shape),
        urdf=base.numbers("urdf", shape),
        states=states,
        channels=tuple(fit.content),
        left=tuple(float(fit.named_numbers(name, ("relative_rms",))[0]) for name in fit.content),
        left_by_urdf=tuple(float(urdf.named_numbers(name, ("relative_rms",))[0]) for name in fit.content),
    )


def write_links_png(links: PlottedLinks, path: Path, dots_per_inch: int = 200) -> None:
    """Draw links into a PNG file; FileAccessError if it cannot be written."""
    save_picture(draw_links(links), path, dots_per_inch)


def draw_links(links: PlottedLinks) -> Figure:
    """Draw groups of base parameters one below the other, and the channels at the bottom."""
    kinds = [name.rpartition(".")[2] for name in links.names]
    groups = [
        (title, chosen)
        for title, members in _GROUPS
        if (chosen := [index for index, kind in enumerate(kinds) if kind in members])
    ]
    figure = Figure(figsize=(9.0, 2.1 * (len(groups) + 1)), layout="constrained")
    axes = np.atleast_1d(figure.subplots(len(groups) + 1, 1))
    for axis, (title, chosen) in zip(axes, groups, strict=False):
        _draw_group(axis, links, title, chosen)
    _draw_channels(axes[-1], links)
    figure.supxlabel("bars: 95 %; open: uncertain; grey dashes: URDF; not excited ones are left out", fontsize=8)
    return figure


def _draw_group(axis: Axes, links: PlottedLinks, title: str, chosen: Sequence[int]) -> None:
    for place, index in enumerate(chosen):
        axis.plot([place - 0.35, place + 0.35], [links.urdf[index]] * 2, color=_GREY, linewidth=1.5)
        if links.states[index] == "not excited yet":
            continue
        filled = _BLUE if links.states[index] == "known" else "white"
        bar = _INTERVAL * links.deviations[index]
        axis.errorbar(place, links.values[index], bar, fmt="o", color=_BLUE, markerfacecolor=filled, markersize=3.5,
                      capsize=2, linewidth=1.0)  # fmt: skip
    axis.axhline(0.0, color="0.88", linewidth=0.8, zorder=0)
    labels = [links.names[index] for index in chosen]
    axis.set_xticks(range(len(chosen)), labels, rotation=90, fontsize=5)
    axis.set_xlim(-0.7, len(chosen) - 0.3)
    axis.set_title(title, fontsize=9)
    _clean(axis)


def _draw_channels(axis: Axes, links: PlottedLinks) -> None:
    places = np.arange(len(links.channels))
    axis.bar(places - 0.2, 100.0 * np.array(links.left_by_urdf), 0.38, color=_AMBER, label="URDF alone")
    axis.bar(places + 0.2, 100.0 * np.array(links.left), 0.38, color=_BLUE, label="identified")
    axis.set_xticks(places, links.channels, fontsize=6)
    axis.set_ylabel("left [% of rms]", fontsize=7)
    axis.set_title("what is left of each channel", fontsize=9)
    axis.legend(fontsize=7, frameon=False)
    _clean(axis)


def _clean(axis: Axes) -> None:
    axis.tick_params(axis="y", labelsize=7)
    axis.spines[["top", "right"]].set_visible(False)
