"""The sections of the report on links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inertid_ros.replay.trace import LinkTrace
from inertid_ros.report import link_tables
from inertid_ros.report.drawing import MOST_EVENTS
from inertid_ros.report.link_convergence import draw_link_states, iterate_convergence
from inertid_ros.report.markup import Html, element
from inertid_ros.report.signal_sections import show_figure, show_residual
from inertid_ros.report.signal_view import view_channels
from inertid_ros.report.signals import draw_signals
from inertid_ros.report.tables import iterate_captions

_BASE = (
    "Of all that makes up the links, efforts and base wrench show these combinations only, each named first by the "
    "parameter that stands for it. Friction, rotor inertia and offset of a joint are named after it."
)
_STATES = "Which base parameters the data tell: grey not excited, amber uncertain, green known."
_URDF = (
    "Amber is what the URDF's own parameters predict, without friction. Blue is what was known at the time: before it "
    "had converged it may lie outside, double-click for all."
)


def iterate_link_sections(trace: LinkTrace) -> Iterator[tuple[str, Iterable[Html]]]:
    """Walk over the sections on links, by name."""
    yield "links", _show_links(trace)
    if not trace.estimate.rows:
        return
    yield (
        "link-convergence",
        (
            show_figure(figure, f"plot-links-{index}", f"{title}: estimate and 95 % band.")
            for index, (title, figure) in enumerate(iterate_convergence(trace))
        ),
    )
    yield "link-excitation", (show_figure(draw_link_states(trace), "plot-link-states", _STATES),)
    view = view_channels(trace)
    decimation = " ".join(iterate_captions(view, trace.online.samples.count, MOST_EVENTS))
    yield "effort", (show_figure(draw_signals(view), "plot-efforts", f"{_URDF} {decimation}"),)
    yield "effort-residual", (link_tables.list_fit(trace), *show_residual(view, decimation, "plot-effort"))


def _show_links(trace: LinkTrace) -> Iterator[Html]:
    yield element("p", _BASE, kind="remark")
    yield link_tables.list_base_parameters(trace)
    yield element("h3", "Links that can exist")
    yield link_tables.list_bodies(trace)
    yield link_tables.list_drives(trace)
