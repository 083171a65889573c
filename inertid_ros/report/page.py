"""The page: verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from plotly.offline import get_plotlyjs

from inertid_ros import __version__
from inertid_ros.files.document import write_whole
from inertid_ros.files.known_body import find_body, inertia_is_known
from inertid_ros.replay.trace import LoadTrace, Traces
from inertid_ros.report import tables
from inertid_ros.report.body_view import draw_body
from inertid_ros.report.convergence import draw_convergence
from inertid_ros.report.drawing import MOST_EVENTS
from inertid_ros.report.excitation import draw_deviations, draw_states
from inertid_ros.report.link_sections import iterate_link_sections
from inertid_ros.report.link_verdict import judge_arm
from inertid_ros.report.markup import Html, badge, element, put, table
from inertid_ros.report.signal_sections import show_figure, show_residual
from inertid_ros.report.signal_view import view_channels, view_load
from inertid_ros.report.signals import draw_signals
from inertid_ros.report.style import PRINT_SCRIPT, STYLE
from inertid_ros.report.verdict import Verdict, judge

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:"
)
"""What the page may load: nothing but itself. Plotly makes functions at run time for its 3D view."""

_SECTIONS = {
    "load": "The load",
    "convergence": "Convergence",
    "excitation": "Excitation, contacts and load changes",
    "wrench": "Measured against predicted",
    "residual": "What is left",
    "links": "The links",
    "link-convergence": "Convergence of the links",
    "link-excitation": "Excitation of the links",
    "effort": "Measured against predicted",
    "effort-residual": "What is left of it",
    "input": "The input",
    "settings": "Settings",
    "provenance": "Where it comes from",
}
_GRADES = {"good": "✓", "caution": "!", "bad": "✗"}


def write_report(traces: Traces, path: str | Path) -> None:
    """Write the report of a replay: one HTML file with everything in it, plotly's script too.

    Raises:
        FileAccessError: if it cannot be written there.
    """
    write_whole(Path(path), make_page(traces))


def make_page(traces: Traces) -> str:
    """HTML of the whole report."""
    shared = traces.either
    names = [Path(entry.path).name for entry in shared.origin.inputs]
    title = _find_title(traces)
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    subtitle = f"{', '.join(names[:4])}{more} · {shared.duration:.1f} s · inertid_ros {__version__}"
    sections = dict(_iterate_sections(traces))
    links = [Html(f'<a href="#{name}">{put(_SECTIONS[name])}</a>') for name in sections]
    verdicts = [judge(traces.load)] if traces.load is not None else []
    verdicts += [judge_arm(traces.links)] if traces.links is not None else []
    content = (
        element("h1", title),
        element("p", subtitle, kind="subtitle"),
        *(_show_verdict(verdict) for verdict in verdicts),
        element("nav", *links),
        *sections.values(),
    )
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{put(title)}</title><style>{STYLE}</style><script>{get_plotlyjs()}</script>"
    )
    body = f"{element('main', *content)}<script>{PRINT_SCRIPT}</script>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def _find_title(traces: Traces) -> str:
    parts = []
    if traces.load is not None:
        parts.append(f"Load on {traces.load.estimate.frame}")
    if traces.links is not None:
        names = traces.links.estimate.model.arm.link_names
        parts.append(f"links {names[0]} to {names[-1]}")
    title = ", ".join(parts)
    return title[:1].upper() + title[1:]


def _show_verdict(verdict: Verdict) -> Html:
    rows = [(badge(_GRADES[item.grade], item.grade), item.subject, item.text) for item in verdict.sentences]
    remark = element("p", "± and the bands in the plots hold 95 %.", kind="remark")
    return element("section", element("h2", verdict.headline), table((), rows), remark, kind=f"verdict {verdict.grade}")


def _iterate_sections(traces: Traces) -> Iterator[tuple[str, Html]]:
    """Walk over the sections, by name."""
    parts: list[tuple[str, Iterable[Html]]] = []
    if traces.load is not None:
        parts += _iterate_load(traces.load)
    if traces.links is not None:
        parts += iterate_link_sections(traces.links)
    shared = traces.either
    remarks = (element("p", _SKEW, kind="remark"), element("h3", "Trouble"))
    parts += [
        ("input", (tables.list_topics(shared), *remarks, tables.list_health(traces))),
        ("settings", (tables.list_settings(shared.settings),)),
        ("provenance", (tables.list_provenance(traces),)),
    ]
    for name, content in parts:
        yield name, Html(f'<section id="{name}">{element("h2", _SECTIONS[name])}{"".join(content)}</section>')


def _iterate_load(trace: LoadTrace) -> Iterator[tuple[str, Iterable[Html]]]:
    yield "load", _show_load(trace)
    if not trace.estimate.rows:
        return
    yield "convergence", (show_figure(draw_convergence(trace), "plot-convergence", _CONVERGENCE),)
    yield (
        "excitation",
        (
            show_figure(draw_states(trace), "plot-states", _STATES),
            show_figure(draw_deviations(trace), "plot-deviations", _DEVIATIONS),
            tables.list_events(trace),
        ),
    )
    view = view_channels(trace) if trace.estimate.sensor is None else view_load(trace)
    decimation = " ".join(tables.iterate_captions(view, trace.online.samples.count, MOST_EVENTS))
    yield "wrench", (show_figure(draw_signals(view), "plot-wrenches", decimation),)
    yield "residual", (tables.list_sensor(trace), *show_residual(view, decimation, "plot"))


def _show_load(trace: LoadTrace) -> Iterator[Html]:
    tool = "" if trace.estimate.tool is None else "; the tool is subtracted"
    about = f"The ten parameters are about the origin of '{trace.estimate.frame}', in its axes{tool}."
    lists = (tables.list_parameters(trace), tables.list_body(trace))
    yield element("p", about, kind="remark")
    yield element("div", *lists, kind="columns")
    estimate = trace.estimate
    body = find_body(estimate.states, estimate.feasible, estimate.covariance)
    if body is None:
        return
    caption = "The sensor's frame, the centre of mass and the homogeneous ellipsoid that turns like the load."
    shows_inertia = inertia_is_known(estimate.states)
    if not shows_inertia:
        caption = "The sensor's frame and the centre of mass. The inertia is not known, so no ellipsoid is drawn."
    yield show_figure(draw_body(body, shows_inertia), "plot-body", caption)


_CONVERGENCE = (
    "Estimate and 95 % band, drawn from the moment a parameter is excited, in the range where it is best known. "
    "Dotted lines are changes of load or bias, red ground is contact."
)
_STATES = (
    "Which parameters the data tell: grey not excited, amber uncertain, green known. Above, the mode (pale green "
    "tracking, amber testing, red contact) and the events; hover to read them."
)
_DEVIATIONS = "Standard deviations. They fall while the motion excites a parameter, and stay level while it does not."
_SKEW = (
    "Jitter is the standard deviation of the intervals. Skew is how much later a topic is recorded than its stamp "
    "says, compared with the first topic: more than a few milliseconds speak for load.wrench_delay or another clock."
)
