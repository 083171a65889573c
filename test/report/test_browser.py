"""The report in a real browser, where there is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.browser import find_overflow, load
from support.report_traces import found_in, link_trace, puma_trace

from inertid_ros.replay.combine import Recorded, combine
from inertid_ros.replay.trace import Traces
from inertid_ros.report.library import name_library, place_library
from inertid_ros.report.page import write_report

PLOTS = ("body", "convergence", "states", "deviations", "wrenches", "residual", "spectrum", "distribution")


def test_all_plots_are_drawn_and_nothing_is_wrong(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    write_report(found_in(puma_trace(), None), page)
    document, errors = load(page, tmp_path / "profile")
    assert not errors
    parts = re.split(r'<div id="plot-', document)[1:]
    drawn = {part.split('"')[0]: part for part in parts}
    assert set(drawn) == set(PLOTS)
    for name in PLOTS:
        if name == "body":
            assert "<canvas" in drawn[name]
        else:
            assert 'class="main-svg"' in drawn[name]
            assert re.search(r'class="(trace |hm|points|js-line)', drawn[name]), name


def test_a_page_that_fetches_or_fails_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; script-src 'unsafe-inline'\">"
        "<img src='http://127.0.0.1:9/x.png'><script>missing.length</script>"
    )
    _, errors = load(page, tmp_path / "profile")
    assert len(errors) == 2


@pytest.mark.parametrize("count", [1, 2])
def test_nothing_sticks_out_of_the_screen(count: int, tmp_path: Path) -> None:
    """Neither of the report of a recording, nor of that which compares two."""
    page, traces = tmp_path / "report.html", Traces(puma_trace(), link_trace())
    several = combine([Recorded(f"00{number}_bag", traces.without_signals()) for number in range(count)])
    write_report(several if count > 1 else found_in(*traces), page)
    assert ('<section id="runs">' in page.read_text(encoding="utf-8")) == (count > 1)
    page.write_text(page.read_text(encoding="utf-8").replace("<details>", "<details open>"), encoding="utf-8")
    assert find_overflow([(page, 390), (page, 1280)], tmp_path / "profile") == [[], []]


def test_what_sticks_out_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!DOCTYPE html><p class='wide' style='width:500px'>x</p>", encoding="utf-8")
    views = [(page, 1280), (page, 390)]
    assert find_overflow(views, tmp_path / "profile") == [[], ["page", "P#.wide"]]


def test_plots_are_drawn_with_the_library_beside_and_missed_without(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    write_report(found_in(puma_trace()), page, name_library())
    document, _ = load(page, tmp_path / "profile")
    assert "main-svg" not in document
    assert f"No plot: {name_library()} is not where this page expects it" in document
    place_library(tmp_path)
    document, errors = load(page, tmp_path / "profile")
    assert not errors
    assert document.count('class="main-svg"') >= len(PLOTS)
