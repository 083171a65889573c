"""The report in a real browser, where there is one."""

from __future__ import annotations

import re
from pathlib import Path

from support.browser import load
from support.report_traces import puma_trace

from inertid_ros.replay.trace import Traces
from inertid_ros.report.page import write_report

PLOTS = ("body", "convergence", "states", "deviations", "wrenches", "residual", "spectrum", "distribution")


def test_all_plots_are_drawn_and_nothing_is_wrong(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    write_report(Traces(puma_trace(), None), page)
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
