"""The page: the verdict first, then what it is based on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from inertid_ros import __version__
from inertid_ros.core.verdict import Verdict
from inertid_ros.files.access import write_whole
from inertid_ros.files.vendor_snippets import find_body, inertia_is_known
from inertid_ros.replay.trace import LinkTrace, LoadTrace, Traces
from inertid_ros.report import tables
from inertid_ros.report.body_view import draw_body
from inertid_ros.report.convergence import (
    draw_deviations,
    draw_link_states,
    draw_load_convergence,
    draw_load_states,
    iterate_link_convergence,
)
from inertid_ros.report.drawing import DRAW_SCRIPT
from inertid_ros.report.markup import PRINT_SCRIPT, STYLE, Html, badge, element, put, remark, table
from inertid_ros.report.signals import SignalView, draw_signals, show_residual
from inertid_ros.report.verdict import Sentence, grade, list_link_sentences, list_load_sentences

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:"
)
"""What the page may load: nothing but itself. plotly.js makes functions at run time for its 3D view."""

_SECTIONS = {
    "load": "Load",
    "convergence": "Convergence",
    "excitation": "Excitation, contacts and load changes",
    "wrench": "Measured and predicted signals",
    "residual": "Residual",
    "links": "Links",
    "link-convergence": "Convergence of the links",
    "link-excitation": "Excitation of the links",
    "effort": "Measured and predicted signals of the arm",
    "effort-residual": "Residual of the arm",
    "input": "Input",
    "settings": "Settings",
    "provenance": "Provenance",
}
_GRADES = {"good": "✓", "caution": "!", "bad": "✗"}


def write_report(traces: Traces, path: str | Path) -> None:
    """Write the report of a replay: one HTML file with everything in it, plotly.js included.

    Raises:
        FileAccessError: if it cannot be written there.
    """
    write_whole(Path(path), make_page(traces))


def make_page(traces: Traces) -> str:
    """HTML of the whole report."""
    shared = traces.either
    names = [Path(entry.path).name for entry in shared.origin.inputs]
    parts = [] if traces.load is None else [f"Load on {traces.load.estimate.frame}"]
    if traces.links is not None:
        names_of_links = traces.links.estimate.model.arm.link_names
        parts.append(f"links {names_of_links[0]} to {names_of_links[-1]}")
    title = ", ".join(parts)
    title = title[:1].upper() + title[1:]
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    subtitle = f"{', '.join(names[:4])}{more} · {shared.duration:.1f} s · inertid_ros {__version__}"
    sections = dict(_iterate_sections(traces))
    entries = [Html(f'<a href="#{name}">{put(_SECTIONS[name])}</a>') for name in sections]
    load, links = traces.load, traces.links
    verdicts = [] if load is None else [_show_verdict(load.verdict, list_load_sentences(load))]
    verdicts += [] if links is None else [_show_verdict(links.verdict, list_link_sentences(links))]
    head = element("h1", title), element("p", subtitle, kind="subtitle")
    return make_document(title, (*head, *verdicts, element("nav", *entries), *sections.values()))


def make_document(title: str, content: Iterable[Html]) -> str:
    """HTML of a whole page with its style and scripts, plotly.js included."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{put(title)}</title><style>{STYLE}</style><script>{_read_library()}</script>"
        f"<script>{DRAW_SCRIPT}</script>"
    )
    body = f"{element('main', *content)}<script>{PRINT_SCRIPT}</script>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def _read_library() -> str:
    """Text of plotly.js, which comes with the Python package; importing that would take longer than the report."""
    package = find_spec("plotly")
    assert package is not None
    assert package.submodule_search_locations is not None
    return Path(package.submodule_search_locations[0], "package_data", "plotly.min.js").read_bytes().decode()


def _show_verdict(verdict: Verdict, sentences: Sequence[Sentence]) -> Html:
    rows = [(badge(_GRADES[item.grade], item.grade), item.subject, item.text) for item in sentences]
    about = remark("± and the bands in the plots are 95 % intervals.")
    return element("section", element("h2", verdict.headline), table((), rows), about, kind=f"verdict {grade(verdict)}")


def _iterate_sections(traces: Traces) -> Iterator[tuple[str, Html]]:
    """Walk over the sections, by name."""
    parts: list[tuple[str, Iterable[Html]]] = []
    if traces.load is not None:
        parts += _iterate_load_sections(traces.load)
    if traces.links is not None:
        parts += _iterate_link_sections(traces.links)
    shared = traces.either
    problems = (element("h3", "Problems"), tables.list_health(traces))
    parts += [
        ("input", (tables.list_topics(shared), remark(_SKEW), *problems)),
        ("settings", (tables.list_settings(shared.settings),)),
        ("provenance", (tables.list_provenance(traces),)),
    ]
    for name, content in parts:
        yield name, Html(f'<section id="{name}">{element("h2", _SECTIONS[name])}{"".join(content)}</section>')


def _iterate_load_sections(trace: LoadTrace) -> Iterator[tuple[str, Iterable[Html]]]:
    yield "load", _show_load(trace)
    if not trace.estimate.rows:
        return
    yield "convergence", (draw_load_convergence(trace).show("plot-convergence", _CONVERGENCE),)
    states = draw_load_states(trace).show("plot-states", f"{_STATES} {_MODES}")
    deviations = draw_deviations(trace).show("plot-deviations", _DEVIATIONS)
    yield "excitation", (states, deviations, tables.list_events(trace))
    view = SignalView.of(trace)
    yield "wrench", (draw_signals(view).show("plot-wrenches", view.decimation),)
    yield "residual", (tables.list_sensor(trace), *show_residual(view, "plot"))


def _iterate_link_sections(trace: LinkTrace) -> Iterator[tuple[str, Iterable[Html]]]:
    drives = (tables.list_bodies(trace), tables.list_drives(trace))
    yield (
        "links",
        (remark(_BASE), tables.list_parameters(trace), element("h3", "Physically consistent links"), *drives),
    )
    if not trace.estimate.rows:
        return
    yield (
        "link-convergence",
        [
            figure.show(f"plot-links-{index}", f"{title}: estimate and 95 % band.")
            for index, (title, figure) in enumerate(iterate_link_convergence(trace))
        ],
    )
    yield "link-excitation", (draw_link_states(trace).show("plot-link-states", _STATES),)
    view = SignalView.of(trace)
    yield "effort", (draw_signals(view).show("plot-efforts", f"{_URDF} {view.decimation}"),)
    yield "effort-residual", (tables.list_residuals(trace), *show_residual(view, "plot-effort"))


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
