"""The report in a real browser, where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.report_traces import puma_trace

from inertid_ros.offline.report import write_report
from inertid_ros.offline.trace import Traces

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PLOTS = ("body", "convergence", "states", "deviations", "wrenches", "residual", "spectrum", "distribution")


def load(page: Path, profile: Path) -> tuple[str, list[str]]:
    """The document after its scripts have run, and what the console says is wrong."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no Chromium on this machine")
    options = [
        "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-background-networking",
        "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={profile}", "--virtual-time-budget=8000",
        "--window-size=1300,900", "--enable-logging=stderr", "--dump-dom",
    ]  # fmt: skip
    done = subprocess.run([browser, *options, page.as_uri()], capture_output=True, text=True, check=True, timeout=120)
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    wrong = re.compile(r"Uncaught|Refused|violates|Failed to load|ERR_|error", re.IGNORECASE)
    return done.stdout, [line for line in console if wrong.search(line) and "GL Driver Message" not in line]


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
