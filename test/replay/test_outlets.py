"""Console, exit code, /diagnostics, estimate.json and report say the same of an estimate."""

from __future__ import annotations

import html
import json
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.report_traces import link_trace, puma_trace
from support.verdicts import LINK_CASES, LOAD_CASES, Case

from inertid_ros.bags.bag import Topics
from inertid_ros.cli import replay as command
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.verdict import judge
from inertid_ros.replay import recordings
from inertid_ros.replay.combine import Recorded
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.trace import Traces


def make_traces(estimate: LoadEstimate | LinksEstimate) -> Traces:
    """What a replay would have kept, had it come to this estimate."""
    if isinstance(estimate, LoadEstimate):
        return Traces(replace(puma_trace(), estimate=estimate), None)
    full = np.zeros(len(estimate.model.unknowns.names))
    full[estimate.model.unknowns.inertial] = estimate.model.arm.parameters
    return Traces(None, replace(link_trace(), estimate=estimate, parameters=full))


@pytest.mark.parametrize("case", [*LOAD_CASES, *LINK_CASES], ids=lambda case: case.name)
def test_all_outlets_say_the_same(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    traces, verdict = make_traces(case.estimate), judge(case.estimate)
    recorded = Recorded("", traces.without_signals())
    monkeypatch.setattr(recordings, "run_here", lambda *_: [recorded])
    monkeypatch.setattr(command, "make_plan", lambda _: Plan(topics=Topics()))
    monkeypatch.setattr(command, "find_recordings", lambda *_: [recordings.Recording((tmp_path,), 1)])
    options = {
        "bags": [],
        "output": tmp_path,
        "jobs": 1,
        "scheduler": "",
        "force": True,
        "validate": [],
        "self_contained": True,
    }
    code = command.replay(Namespace(command="replay", **options))
    shown, errors = capsys.readouterr()
    assert f": {verdict.headline}\n" in shown
    assert code == int(case.fails)
    assert [line.removeprefix("inertid replay: ") for line in errors.splitlines()] == list(verdict.failures)

    document = json.loads((tmp_path / "estimate.json").read_text())
    written = document["load" if traces.load is not None else "links"]["verdict"]
    assert (written["level"], written["headline"]) == (verdict.level, verdict.headline)
    assert [reason["code"] for reason in written["reasons"]] == [case.code]
    assert document["notes"] == list(verdict.failures)

    page = html.unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    grade = "bad" if case.level == "error" else "caution"
    assert f'<section class="verdict {grade}"><h2>{verdict.headline}</h2>' in page

    diagnostics = pytest.importorskip("inertid_ros.ros.diagnostics")
    monitor = pytest.importorskip("inertid_ros.ros.monitor")
    status = diagnostics.task_status("inertid", monitor.TaskStatus("load", case.estimate, 0.0))
    assert (status.level, status.message) == (diagnostics.LEVELS[verdict.level], verdict.headline)
    assert case.code in [item.key for item in status.values]
