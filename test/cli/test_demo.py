"""The demonstration: its judgement, its view, and the whole of it."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import chi2

from inertid_ros.cli.demo import load
from inertid_ros.cli.demo.load import describe
from inertid_ros.cli.demo.view import CONFIDENCE, DemoView, Snapshot, judge, make_table
from inertid_ros.core.records import FloatArray
from inertid_ros.text.numbers import parameter_label

STATES = ("known",) * 4 + ("uncertain",) * 3 + ("not excited yet",) * 3


def make_covariance(rng: np.random.Generator) -> FloatArray:
    scales = np.diag([1e-3] + [1e-4] * 3 + [1e-5] * 6)
    factor = rng.normal(size=(10, 30))
    return np.asarray(scales @ factor @ factor.T @ scales)


def test_an_honest_estimate_passes_as_often_as_promised() -> None:
    rng = np.random.default_rng(1)
    covariance = make_covariance(rng)
    root = np.linalg.cholesky(covariance)
    verdicts = [judge(root @ rng.normal(size=10), covariance, np.zeros(10)) for _ in range(4000)]
    distances = np.array([verdict.distance for verdict in verdicts])
    assert distances.mean() == pytest.approx(10.0, abs=0.4)
    assert np.mean(distances > chi2.ppf(0.95, 10)) == pytest.approx(0.05, abs=0.015)
    assert np.mean([verdict.passes for verdict in verdicts]) >= CONFIDENCE - 0.002
    assert np.mean([verdict.inside for verdict in verdicts]) == pytest.approx(0.95, abs=0.01)


def test_an_estimate_that_claims_half_its_error_fails() -> None:
    rng = np.random.default_rng(2)
    covariance = make_covariance(rng)
    root = np.linalg.cholesky(covariance)
    verdicts = [judge(2.5 * root @ rng.normal(size=10), covariance, np.zeros(10)) for _ in range(500)]
    assert np.mean([verdict.passes for verdict in verdicts]) < 0.2


def make_snapshot(**changes: object) -> Snapshot:
    values = {
        "time": 3.0,
        "phase": "moving",
        "truth": np.zeros(10),
        "labels": tuple(parameter_label(index) for index in range(10)),
        "values": np.arange(10.0),
        "covariance": np.eye(10),
        "states": STATES,
        "lines": ("the load has changed",),
        **changes,
    }
    return Snapshot(**values)  # type: ignore[arg-type]


def test_the_view_shows_no_number_for_what_is_not_excited() -> None:
    console = Console(file=io.StringIO(), width=120)
    console.print(make_table(make_snapshot(), "title"))
    assert isinstance(console.file, io.StringIO)
    rows = console.file.getvalue().splitlines()
    (mass,) = [row for row in rows if "m [kg]" in row]
    assert "0.0 ± 2.0" in mass
    assert "yes" in mass
    (last,) = [row for row in rows if "Izz" in row]
    assert "±" not in last
    assert "not excited yet" in last
    assert "4 of 10 parameters known" in describe(make_snapshot())


def test_without_a_terminal_the_view_prints_a_line_a_second() -> None:
    console = Console(file=io.StringIO(), width=200)
    with DemoView(console, describe) as view:
        for instant in np.arange(0.0, 3.0, 0.2):
            view.show(make_snapshot(time=float(instant)))
    assert isinstance(console.file, io.StringIO)
    assert len(console.file.getvalue().splitlines()) == 3


@pytest.mark.parametrize(
    ("changes", "after", "line"),
    [
        ({}, 0.8, "ok  release detected in 0.8 s"),
        ({}, None, "BAD the release was not detected"),
        ({"truth": np.full(10, 9.0)}, 0.8, "BAD the truth is outside the stated uncertainty"),
        ({"states": STATES}, 0.8, "BAD 4 of 10 parameters are known"),
    ],
)
def test_the_demonstration_ends_with_a_judgement(changes: dict[str, object], after: float | None, line: str) -> None:
    everything = {"states": ("known",) * 10, "truth": np.arange(10.0), **changes}
    console = Console(file=io.StringIO(), width=120)
    code = load._conclude(make_snapshot(**everything), after, console)
    assert isinstance(console.file, io.StringIO)
    output = console.file.getvalue()
    assert line in output
    assert code == ("BAD" in output)


def test_nothing_is_carried_once_the_mass_is_known_to_be_small() -> None:
    small = make_snapshot(values=np.full(10, 0.04), covariance=1e-6 * np.eye(10))
    assert load._is_free(small)
    assert not load._is_free(make_snapshot(values=np.ones(10), covariance=1e-6 * np.eye(10)))
    assert not load._is_free(replace(small, states=("uncertain",) * 10))


def run_demo(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "inertid_ros.cli.main", "demo", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "COLUMNS": "120"},
    )


def children_of(process: subprocess.Popen[str]) -> list[str]:
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


@pytest.mark.long
def test_the_whole_demonstration_ends_within_a_minute_with_the_truth_inside() -> None:
    started = time.monotonic()
    output, _ = run_demo().communicate(timeout=60)
    assert time.monotonic() - started < 60.0
    assert "ok  10 of 10 parameters are known" in output
    assert "ok  the truth is inside the stated uncertainty" in output
    assert "ok  release detected" in output
    assert "Traceback" not in output


def test_the_demonstration_stops_cleanly_on_ctrl_c() -> None:
    process = run_demo()
    assert process.stdout is not None
    for line in process.stdout:
        if "nothing carried" in line:
            break
    children = children_of(process)
    assert len(children) == 2
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=15)
    assert process.returncode == 130
    assert "Traceback" not in output
    for child in children:
        assert not Path(f"/proc/{child}").exists()


@pytest.mark.long
def test_the_whole_demonstration_of_the_links_ends_within_a_minute_and_beats_the_cad_model() -> None:
    started = time.monotonic()
    process = run_demo("ddarm")
    output, _ = process.communicate(timeout=60)
    assert time.monotonic() - started < 60.0
    assert process.returncode == 0, output
    assert "ok  15 of 15 base parameters are known" in output
    assert "ok  the truth is inside the stated uncertainty" in output
    assert re.search(r"ok  the identified links leave \S+ % of the torques unexplained, the CAD model \S+ %", output)
    assert "Traceback" not in output
