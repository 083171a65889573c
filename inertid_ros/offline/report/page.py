"""The page: verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from inertid_ros import __version__
from inertid_ros.offline.known_body import find_body, inertia_is_known
from inertid_ros.offline.report import tables
from inertid_ros.offline.report.body_view import draw_body
from inertid_ros.offline.report.convergence import draw_convergence
from inertid_ros.offline.report.drawing import MOST_EVENTS, to_div
from inertid_ros.offline.report.excitation import draw_deviations, draw_states
from inertid_ros.offline.report.markup import Html, badge, element, put, table
from inertid_ros.offline.report.style import PRINT_SCRIPT, STYLE
from inertid_ros.offline.report.verdict import Verdict, judge
from inertid_ros.offline.report.wrenches import (
    bucket_factor,
    draw_distribution,
    draw_residual,
    draw_spectrum,
    draw_wrenches,
)
from inertid_ros.offline.trace import Trace
from inertid_ros.offline.whole_file import write_whole

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
    "input": "The input",
    "settings": "Settings",
    "provenance": "Where it comes from",
}
_GRADES = {"good": "✓", "caution": "!", "bad": "✗"}


def write_report(trace: Trace, path: str | Path) -> None:
    """Write the report of a replay: one HTML file with everything in it, plotly's script too.

    Raises:
        FileAccessError: if it cannot be written there.
    """
    write_whole(Path(path), make_page(trace))


def make_page(trace: Trace) -> str:
    """HTML of the whole report."""
    names = [Path(entry.path).name for entry in trace.origin.inputs]
    title = f"Load on {trace.sensor_frame}"
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    subtitle = f"{', '.join(names[:4])}{more} · {trace.duration:.1f} s · inertid_ros {__version__}"
    links = [Html(f'<a href="#{name}">{put(text)}</a>') for name, text in _SECTIONS.items()]
    content = (
        element("h1", title),
        element("p", subtitle, kind="subtitle"),
        _show_verdict(judge(trace)),
        element("nav", *links),
        *_iterate_sections(trace),
    )
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{put(title)}</title><style>{STYLE}</style><script>{get_plotlyjs()}</script>"
    )
    body = f"{element('main', *content)}<script>{PRINT_SCRIPT}</script>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def _show_verdict(verdict: Verdict) -> Html:
    rows = [(badge(_GRADES[item.grade], item.grade), item.subject, item.text) for item in verdict.sentences]
    remark = element("p", "± and the bands in the plots hold 95 %.", kind="remark")
    return element("section", element("h2", verdict.headline), table((), rows), remark, kind=f"verdict {verdict.grade}")


def _iterate_sections(trace: Trace) -> Iterator[Html]:
    yield _section("load", *_show_load(trace))
    if trace.estimate.rows:
        yield _section("convergence", _figure(draw_convergence(trace), "plot-convergence", _CONVERGENCE))
        yield _section(
            "excitation",
            _figure(draw_states(trace), "plot-states", _STATES),
            _figure(draw_deviations(trace), "plot-deviations", _DEVIATIONS),
            tables.list_events(trace),
        )
        decimation = " ".join(tables.iterate_captions(trace, bucket_factor(len(trace.wrenches.times)), MOST_EVENTS))
        yield _section("wrench", _figure(draw_wrenches(trace), "plot-wrenches", decimation))
        yield _section("residual", *_show_residual(trace, decimation))
    yield _section(
        "input",
        tables.list_topics(trace),
        element("p", _SKEW, kind="remark"),
        element("h3", "Trouble"),
        tables.list_health(trace),
    )
    yield _section("settings", tables.list_settings(trace.settings))
    yield _section("provenance", tables.list_provenance(trace))


def _show_load(trace: Trace) -> Iterator[Html]:
    tool = "" if trace.tool is None else "; the tool is subtracted"
    about = f"The ten parameters are about the origin of '{trace.sensor_frame}', in its axes{tool}."
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
    yield _figure(draw_body(body, shows_inertia), "plot-body", caption)


def _show_residual(trace: Trace, decimation: str) -> Iterator[Html]:
    yield tables.list_sensor(trace)
    peaks = "Peaks in less than 1 % of the time may lie outside: double-click for all."
    yield _figure(draw_residual(trace), "plot-residual", f"Measured less predicted. {peaks} {decimation}")
    if len(trace.spectrum.frequencies) > 1:
        segments = f"averaged over {trace.spectrum.segments} segments"
        caption = f"Spectrum, {segments}. Dotted: the noise that is counted on. Peaks are vibration."
        yield _figure(draw_spectrum(trace), "plot-spectrum", caption)
    else:
        yield element("p", "The recording is too short for a spectrum.", kind="remark")
    caption = (
        "Distribution of the residual, and the normal one with the same quartiles; what lies further out is not drawn."
    )
    yield _figure(draw_distribution(trace), "plot-distribution", caption)


def _section(name: str, *content: Html) -> Html:
    return Html(f'<section id="{name}">{element("h2", _SECTIONS[name])}{"".join(content)}</section>')


def _figure(figure: go.Figure, name: str, caption: str) -> Html:
    return element("figure", element("figcaption", caption), Html(to_div(figure, name)))


_CONVERGENCE = (
    "Estimate and 95 % band, drawn from the moment a parameter is excited, in the range where it is best known. "
    "Dotted lines are changes of load or bias, red ground is contact."
)
_STATES = (
    "Which parameters the data tell: grey not excited, amber uncertain, green known. Above, the mode (pale green free, "
    "amber disturbed, red contact) and the events; hover to read them."
)
_DEVIATIONS = "Standard deviations. They fall while the motion excites a parameter, and stay level while it does not."
_SKEW = (
    "Jitter is the standard deviation of the intervals. Skew is how much later a topic is recorded than its stamp "
    "says, compared with the first topic: more than a few milliseconds speak for load.wrench_delay or another clock."
)
