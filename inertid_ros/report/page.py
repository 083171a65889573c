"""The page: the verdict first, then what it is based on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from inertid_ros import __version__
from inertid_ros.files.access import write_whole
from inertid_ros.files.provenance import Provenance
from inertid_ros.files.vendor_snippets import find_body, inertia_is_known
from inertid_ros.replay.combine import Sum
from inertid_ros.replay.trace import LinkTrace, LoadTrace
from inertid_ros.report import tables
from inertid_ros.report.body_view import draw_body
from inertid_ros.report.convergence import (
    draw_deviations,
    draw_link_states,
    draw_load_convergence,
    draw_load_states,
    iterate_link_convergence,
)
from inertid_ros.report.held_out import show_validation
from inertid_ros.report.library import include_library
from inertid_ros.report.markup import STYLE, Html, badge, element, fold, put, remark, table
from inertid_ros.report.runs import show_runs
from inertid_ros.report.scripts import DRAW_SCRIPT, PRINT_SCRIPT
from inertid_ros.report.signals import SignalView, draw_signals, show_residual
from inertid_ros.report.verdict import SYMBOLS, grade, list_link_sentences, list_load_sentences, tell_prediction

_POLICY = (
    "default-src 'none'; script-src {source}'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)
"""What the page may load: nothing but itself, and plotly.js where that is not inside; it makes functions at run time
for its 3D view."""
_MISSING = (
    "No plot: {name} is not where this page expects it. Keep it beside the page, or write the report with "
    "--self-contained."
)
_SECTIONS = {
    "residual": "Residual",
    "effort-residual": "Residual of the arm",
    "validation": "Held-out recording",
    "runs": "Recordings compared",
    "load": "Load",
    "wrench": "Measured and predicted signals",
    "convergence": "Convergence",
    "excitation": "Excitation, contacts and load changes",
    "links": "Links",
    "effort": "Measured and predicted signals of the arm",
    "link-convergence": "Convergence of the links",
    "link-excitation": "Excitation of the links",
    "input": "Input",
    "settings": "Settings",
    "provenance": "Provenance",
}
"""By name, in their order."""


def write_report(found: Sum, path: Path, library: str = "") -> None:
    """Write the report of a replay: one HTML file, which loads plotly.js from that address, or contains it.

    Raises:
        FileAccessError: if it cannot be written there.
    """
    write_whole(path, make_page(found, library))


def make_page(found: Sum, library: str = "") -> str:
    """HTML of the whole report."""
    traces, load, links = found.traces, found.load, found.links
    parts = [] if load is None else [f"Load on {load.estimate.frame}"]
    if links is not None:
        names_of_links = links.estimate.model.arm.link_names
        parts.append(f"links {names_of_links[0]} to {names_of_links[-1]}")
    title = ", ".join(parts)
    title = title[:1].upper() + title[1:]
    names = [Path(entry.path).name for origin in _list_origins(found) for entry in origin.inputs]
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    duration = sum(recorded.traces.duration for recorded in found.recordings)
    subtitle = f"{', '.join(names[:4])}{more} · {duration:.1f} s · inertid_ros {__version__}"
    sections = dict(_iterate_sections(found))
    entries = [Html(f'<a href="#{name}">{put(_SECTIONS[name])}</a> ') for name in sections]
    verdicts = [_show_verdict(found, name) for name, trace in traces._asdict().items() if trace is not None]
    head = element("h1", title), element("p", subtitle, kind="subtitle")
    return make_document(title, (*head, *verdicts, element("nav", *entries), *sections.values()), library)


def make_document(title: str, content: Iterable[Html], library: str = "") -> str:
    """HTML of a whole page with its style and scripts, and plotly.js from an address or inside."""
    policy = _POLICY.format(source="'self' file: " if library else "")
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{put(title)}</title><style>{STYLE}</style>{include_library(library)}"
        f"<script>{DRAW_SCRIPT}</script>"
    )
    missing = put(_MISSING.format(name=library))
    body = f"{element('main', *content)}<script>{PRINT_SCRIPT}</script>"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body data-missing="{missing}">{body}</body></html>\n'
    )


def _show_verdict(found: Sum, name: str) -> Html:
    verdict, content = found.verdicts[name], None if found.validation is None else found.validation.content[name]
    if name == "load":
        assert found.load is not None
        sentences = list_load_sentences(found.load, verdict)
    else:
        assert found.links is not None
        sentences = list_link_sentences(found.links, verdict, content is not None)
    if content is not None:
        sentences = (*sentences, *tell_prediction(content, sentences))
    rows = [(badge(SYMBOLS[item.grade], item.grade), item.subject, item.text) for item in sentences]
    about = remark("± and the bands in the plots are 95 % intervals.")
    return element("section", element("h2", verdict.headline), table((), rows), about, kind=f"verdict {grade(verdict)}")


def _list_origins(found: Sum) -> list[Provenance]:
    return [recorded.traces.either.origin for recorded in found.recordings]


def _iterate_sections(found: Sum) -> Iterator[tuple[str, Html]]:
    """Walk over the sections, by name."""
    parts: dict[str, Iterable[Html]] = {}
    if found.load is not None:
        parts |= _iterate_load_sections(found.load)
    if found.links is not None:
        parts |= _iterate_link_sections(found.links)
    if found.validation is not None:
        parts["validation"] = show_validation(found)
    if runs := tuple(show_runs(found)):
        parts["runs"] = runs
    parts |= {
        "input": _show_inputs(found),
        "settings": (tables.list_settings(found.traces.either.settings),),
        "provenance": (tables.list_provenance(found.traces, _list_origins(found)),),
    }
    for name, heading in _SECTIONS.items():
        if name in parts:
            yield name, Html(f'<section id="{name}">{element("h2", heading)}{"".join(parts[name])}</section>')


def _show_inputs(found: Sum) -> Iterator[Html]:
    """Topics and problems; those of recordings with a report of their own are folded."""
    for recorded in found.recordings:
        topics = tables.list_topics(recorded.traces.either)
        content = (topics, element("h3", "Problems"), tables.list_health(recorded.traces))
        link = Html(f'<p><a href="{put(recorded.directory)}/report.html">Its signals and convergence</a></p>')
        yield fold(recorded.directory, link, *content) if recorded.directory else Html("".join(content))
    yield remark(_SKEW)


def _iterate_load_sections(trace: LoadTrace) -> Iterator[tuple[str, Iterable[Html]]]:
    """Walk over the sections; signals are drawn of a single recording only."""
    yield "load", _show_load(trace)
    if not trace.estimate.rows:
        return
    if not len(trace.signals.times):
        yield "residual", (tables.list_sensor(trace),)
        return
    view = SignalView.of(trace)
    yield "residual", (tables.list_sensor(trace), *show_residual(view, "plot"))
    yield "wrench", (draw_signals(view).show("plot-wrenches", view.decimation),)
    yield "convergence", (draw_load_convergence(trace).show("plot-convergence", _CONVERGENCE),)
    states = draw_load_states(trace).show("plot-states", f"{_STATES} {_MODES}")
    deviations = draw_deviations(trace).show("plot-deviations", _DEVIATIONS)
    yield "excitation", (states, deviations, tables.list_events(trace))


def _iterate_link_sections(trace: LinkTrace) -> Iterator[tuple[str, Iterable[Html]]]:
    """Walk over the sections; signals are drawn of a single recording only."""
    bodies = fold("Physically consistent links", tables.list_bodies(trace), tables.list_drives(trace))
    yield "links", (remark(_BASE), tables.list_parameters(trace), bodies)
    if not trace.estimate.rows:
        return
    if not len(trace.signals.times):
        yield "effort-residual", (tables.list_residuals(trace),)
        return
    view = SignalView.of(trace)
    yield "effort-residual", (tables.list_residuals(trace), *show_residual(view, "plot-effort"))
    yield "effort", (draw_signals(view).show("plot-efforts", f"{_URDF} {view.decimation}"),)
    figures = [
        fold(title, figure.show(f"plot-links-{index}", "Estimate and 95 % band."))
        for index, (title, figure) in enumerate(iterate_link_convergence(trace))
    ]
    yield "link-convergence", figures
    states = draw_link_states(trace).show("plot-link-states", _STATES)
    yield "link-excitation", (fold("State of each base parameter over time", states),)


def _show_load(trace: LoadTrace) -> Iterator[Html]:
    estimate, frame = trace.estimate, trace.estimate.frame
    tool = "" if estimate.tool is None else "; the tool is subtracted"
    yield remark(f"The ten parameters refer to the origin and the axes of '{frame}'{tool}.")
    parameters, others = tables.list_parameters(trace), (tables.list_body(trace), tables.list_mounting(trace))
    yield element("div", element("div", parameters), element("div", *others), kind="columns")
    body = find_body(estimate.states, estimate.feasible, estimate.covariance)
    if body is None:
        return
    caption = f"Frame '{frame}', the centre of mass and the homogeneous ellipsoid with its inertia."
    shows_inertia = inertia_is_known(estimate.states)
    if not shows_inertia:
        caption = f"Frame '{frame}' and the centre of mass. No ellipsoid is drawn, as the inertia is not known."
    yield draw_body(body, shows_inertia).show("plot-body", caption)


_BASE = (
    "Only these combinations of the links' parameters are identifiable from efforts and base wrench; each is named "
    "after the parameter it starts with. Friction, rotor inertia and offset are named after their joint."
)
_CONVERGENCE = (
    "Estimate and 95 % band of each parameter from the moment it is excited, in the range where it is known best. "
    "Dotted lines mark changes of load or bias, red areas mark contact."
)
_STATES = "Excitation of the parameters: grey not excited, amber uncertain, green known."
_MODES = "Above, the mode (pale green tracking, amber testing, red contact) and the events; hover to read them."
_DEVIATIONS = "Standard deviations fall while the motion excites a parameter, and stay level while it does not."
_URDF = (
    "Amber: prediction of the URDF's own parameters, without friction. Blue: prediction with the estimate at the time, "
    "which may lie outside the panel before convergence; double-click to see all of it."
)
_SKEW = (
    "Jitter is the standard deviation of the intervals. Skew is how much longer after its stamp a topic is recorded "
    "than the first topic; more than a few milliseconds suggest a load.wrench_delay or clocks that differ."
)
