"""The page as a file."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from support.report_traces import found_in, puma_trace

from inertid_ros.core.diagnosis import HealthItem
from inertid_ros.core.errors import FileAccessError
from inertid_ros.core.estimation.estimate import Mode
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.settings.settings import iterate_settings
from inertid_ros.replay.trace import LoadTrace, TraceEvent
from inertid_ros.report.convergence import draw_load_convergence
from inertid_ros.report.library import name_library, place_library
from inertid_ros.report.markup import Html, bullets, element, table
from inertid_ros.report.page import make_page, write_report
from inertid_ros.text.numbers import format_spread

NASTY = "<script>alert('x')</script>&\"</td>"
PLOTS = ("body", "convergence", "states", "deviations", "wrenches", "residual", "spectrum", "distribution")


class Outline(HTMLParser):
    """Tags that are not closed, and all addresses that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def without_library(page: str) -> str:
    """The page but for the script of the plotting library."""
    start = page.index("<script>")
    return page[:start] + page[page.index("</head>") :]


@pytest.fixture(scope="module")
def page() -> str:
    return make_page(found_in(puma_trace(), None))


def test_page_is_well_formed_and_fetches_nothing(page: str) -> None:
    outline = Outline()
    outline.feed(page)
    assert not outline.open
    assert outline.addresses
    assert all(address.startswith("#") for address in outline.addresses)
    assert "default-src 'none'" in page
    assert "connect-src" not in page.split("</head>", maxsplit=1)[0].split("<script>", maxsplit=1)[0]


def test_verdict_comes_first_and_all_plots_are_there(page: str) -> None:
    text = without_library(page)
    assert text.index("Trustworthy") < text.index("plot-convergence")
    for name in PLOTS:
        assert f'id="plot-{name}"' in text


def test_the_library_is_in_the_page_once_and_offers_no_upload(page: str) -> None:
    assert page.count("plotly.js v") == 1
    script = page[page.index("const look") : page.index("</head>")]
    assert script.count("Plotly.react(") == 1
    assert '"modeBarButtonsToRemove":["select2d","lasso2d","sendChartToCloud","sendDataToCloud"]' in script
    assert "Plotly.react(" not in without_library(page)
    assert without_library(page).count("<script>draw(") == len(PLOTS)


def test_everything_that_matters_is_said(page: str) -> None:
    text = without_library(page)
    assert all(info.name in text for info in iterate_settings())
    for word in ("/joint_states", "/wrench", "jitter", "longest gap", "skew", "no peak is lost", "1" * 64, "0" * 64):
        assert word in text


def test_both_intervals_and_what_is_systematically_wrong_are_listed(page: str) -> None:
    for words in (
        "value ± accuracy",
        "repeatability",
        "sensor and mounting",
        "wrench against joint states",
        "confidence",
    ):
        assert words in page
    estimate = puma_trace().estimate
    assert f"± {format_spread(float(estimate.repeatable_deviations[0]))}" in page


def test_the_same_replay_gives_the_same_bytes(page: str) -> None:
    assert make_page(found_in(puma_trace(), None)) == page


def test_text_from_outside_is_escaped() -> None:
    trace = puma_trace()
    item = HealthItem(NASTY, "gap", "warning", 1, 1, 2, NASTY, NASTY, NASTY)
    nasty = replace(
        trace,
        joint_names=(NASTY,),
        notes=(NASTY,),
        health=(item,),
        events=(TraceEvent(1.0, "load_changed", NASTY),),
        topics=tuple(replace(topic, topic=NASTY) for topic in trace.topics),
        estimate=replace(trace.estimate, frame=NASTY),
        origin=replace(trace.origin, versions={NASTY: NASTY}),
    )
    text = make_page(found_in(nasty, None))
    assert "alert('x')</script>" not in text
    assert "<script>alert" not in text
    outline = Outline()
    outline.feed(text)
    assert not outline.open


def test_a_replay_without_any_data_still_gives_a_report(tmp_path: Path) -> None:
    write_report(found_in(empty_trace(), None), tmp_path / "report.html")
    text = without_library((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Nothing was identified." in text
    assert 'id="plot-' not in text


def test_a_recording_too_short_for_a_spectrum_says_so() -> None:
    trace = puma_trace()
    spectrum = replace(trace.spectrum, frequencies=np.empty(0), density=np.empty((0, 6)), segments=0)
    assert "too short for a spectrum" in make_page(found_in(replace(trace, spectrum=spectrum), None))


def test_events_that_are_not_shown_are_counted() -> None:
    events = tuple(TraceEvent(0.01 * n, "load_changed", "again") for n in range(300))
    text = make_page(found_in(replace(puma_trace(), events=events), None))
    assert "100 more are not listed" in text
    assert "Of 300 events the first 100 are drawn" in text


def test_library_is_beside_the_pages_of_a_directory_once(tmp_path: Path) -> None:
    place_library(tmp_path)
    library = tmp_path / name_library()
    before = library.stat().st_mtime_ns
    place_library(tmp_path)
    assert library.stat().st_mtime_ns == before
    assert re.fullmatch(r"plotly-\d+\.\d+\.\d+\.min\.js", library.name)
    library.write_bytes(b"cut")
    place_library(tmp_path)
    assert library.stat().st_size > 1_000_000
    text = make_page(found_in(puma_trace()), f"../{library.name}")
    outline = Outline()
    outline.feed(text)
    assert [address for address in outline.addresses if not address.startswith("#")] == [f"../{library.name}"]
    assert len(text) < 2_500_000


def test_residuals_come_first_and_long_tables_are_folded(page: str) -> None:
    text = without_library(page)
    assert text.index('<section id="residual">') < text.index('<section id="load">')
    folded = re.findall("(?s)<details>.*?</details>", text)
    assert any("load.wrench_sign" in part for part in folded)
    assert any("1" * 64 in part for part in folded)
    assert not any("value ± accuracy" in part for part in folded)


def test_panels_are_stacked_on_a_narrow_screen() -> None:
    figure = draw_load_convergence(puma_trace())
    stacked = figure.stack()
    domains = [stacked[f"yaxis{number or ''}"]["domain"] for number in (0, *range(2, 11))]
    assert all(low > other for (low, _), (_, other) in itertools.pairwise(domains))
    assert all(stacked[f"xaxis{number or ''}"]["domain"] == [0.0, 1.0] for number in (0, *range(2, 11)))
    assert stacked["height"] > figure.layout["height"]
    titles = [text["y"] for text in stacked["annotations"][:10]]
    assert titles == [top for _, top in domains]


def test_the_size_is_bounded_by_the_trace(page: str) -> None:
    assert len(without_library(page)) < 2_500_000


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match=re.escape("nowhere")):
        write_report(found_in(puma_trace(), None), tmp_path / "nowhere" / "report.html")


def test_markup_escapes_all_but_markup() -> None:
    assert element("p", "a<b", Html("<i>c</i>")) == "<p>a&lt;b<i>c</i></p>"
    assert "<td>&lt;</td>" in table(("x",), [("<",)])
    assert bullets(["&"]) == "<ul><li>&amp;</li></ul>"


def empty_trace() -> LoadTrace:
    """What is left of a replay in which no wrench could be used."""
    trace = puma_trace()
    convergence = replace(
        trace.convergence,
        times=np.empty(0),
        values=np.empty((0, 10)),
        deviations=np.empty((0, 10)),
        states=np.empty((0, 10), dtype=np.int8),
        modes=np.empty(0, dtype=np.int8),
    )
    return replace(
        trace,
        duration=0.0,
        convergence=convergence,
        events=(),
        topics=(),
        online=replace(trace.online, samples=replace(trace.online.samples, counts=np.zeros(6, dtype=np.int64))),
        estimate=replace(trace.estimate, rows=0, stamp=0, mode=Mode.WAITING, states=(ParameterState.NOT_EXCITED,) * 10),
        origin=replace(trace.origin, first_stamp=0, last_stamp=0),
    )
