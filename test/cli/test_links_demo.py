"""The parts of the links' demonstration: the arm, the torques that are compared, the view."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from inertid_ros.cli.demo.links import (
    DemoArm,
    TorqueComparison,
    Torques,
    _conclude,
    describe,
    draw_torques,
    plot_curves,
)
from inertid_ros.cli.demo.view import Snapshot, make_table
from inertid_ros.sim.scenario import ScenarioSettings, build_simulator

STATES = ("known",) * 10 + ("uncertain",) * 3 + ("not excited yet",) * 2


@pytest.fixture(scope="module")
def arm() -> DemoArm:
    return DemoArm.of_paper()


def test_cad_model_and_truth_are_those_of_table_5(arm: DemoArm) -> None:
    texts = list(arm.model.base.texts)
    third = texts.index("link2.mcy - link3.mcz")
    assert arm.model.prior[third] == pytest.approx(3.0813, abs=1e-4)
    assert arm.truth[third] == pytest.approx(1.6863, abs=1e-4)
    assert len(texts) == 15


def test_the_truth_predicts_the_torques_and_the_cad_model_does_not(arm: DemoArm) -> None:
    settings: dict[str, Any] = {"robot": "ddarm", "links": "paper", "load": "none", "motion": "paper_link_moves"}
    sensors = {"tachometer": True, "velocity_noise": 0.0, "effort": True, "effort_noise": [0.0], "rest": 0.5}
    simulator = build_simulator(ScenarioSettings(**{**settings, **sensors}))
    comparison = TorqueComparison(arm, arm.truth)
    for start in np.arange(1.0, 6.0, 0.1).tolist():
        comparison.take([simulator.joints(start, start + 0.1)])
    torques = comparison.torques
    assert torques is not None
    assert np.all(torques.relate(torques.identified) < 0.01)
    assert np.all(torques.relate(torques.modelled) > 0.1)


def test_without_joint_states_there_is_nothing_to_compare(arm: DemoArm) -> None:
    comparison = TorqueComparison(arm, arm.truth)
    comparison.take([])
    assert comparison.torques is None


def test_shares_are_rms_over_rms() -> None:
    measured = np.array([[3.0, 1.0], [-3.0, 1.0]])
    torques = Torques(measured, measured * 0.9, measured + np.array([[0.0, 0.5], [0.0, -0.5]]))
    np.testing.assert_allclose(torques.relate(torques.modelled), [0.1, 0.1])
    np.testing.assert_allclose(torques.relate(torques.identified), [0.0, 0.5])
    assert torques.relate_all(np.array([0.0, 0.5])) == pytest.approx(0.5 / np.sqrt(10.0))


def test_the_view_shows_no_number_for_what_is_not_excited(arm: DemoArm) -> None:
    parameters = Snapshot(arm.model.base.texts, arm.truth, arm.model.prior)
    snapshot = replace(parameters, time=3.0, values=arm.truth + 0.1, covariance=np.eye(15), states=STATES)
    console = Console(file=io.StringIO(), width=140)
    console.print(make_table(snapshot, "title"))
    assert isinstance(console.file, io.StringIO)
    rows = console.file.getvalue().splitlines()
    (first,) = [row for row in rows if "link1.Izz" in row]
    assert "15.4029" in first
    assert "15.5 ± 2.0" in first
    (last,) = [row for row in rows if "link3.Izz" in row]
    assert "±" not in last
    assert "10 of 15 base parameters known, 3 uncertain, 2 not excited yet" in describe(snapshot)


def test_curves_are_drawn_from_the_highest_to_the_lowest_value() -> None:
    rising = np.linspace(-1.0, 1.0, 50)
    lines = plot_curves([("red", rising), ("green", np.full(50, 1.0))], 10, 3).plain.splitlines()
    assert [len(line) for line in lines] == [10, 10, 10]
    empty = "\u2800"
    assert lines[2][0] != empty
    assert lines[2][-1] == empty
    assert empty not in lines[0], "the level one"
    flat = plot_curves([("red", np.zeros(5))], 4, 2).plain
    assert any(character not in (empty, "\n") for character in flat)


def test_the_torques_of_every_joint_are_drawn() -> None:
    waves = np.sin(np.arange(100.0)[:, None] / 10.0) * [100.0, 10.0]
    console = Console(file=io.StringIO(), width=100)
    console.print(draw_torques(("shoulder", "elbow"), Torques(waves, 0.8 * waves, waves), slice(0, 60)))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "shoulder [-100 to 100 Nm]" in text
    assert "elbow [-10 to 10 Nm]" in text


@pytest.mark.parametrize(("left", "line"), [(0.1, "ok  the identified links leave"), (0.9, "BAD the identified links")])
def test_the_demonstration_ends_with_a_judgement(arm: DemoArm, left: float, line: str) -> None:
    """The identified links must leave less than half of what the CAD model leaves."""
    waves = np.sin(np.arange(600.0)[:, None] / 10.0) * [100.0, 10.0, 1.0]
    parameters = Snapshot(arm.model.base.texts, arm.truth, arm.model.prior)
    learned = replace(parameters, values=arm.truth, covariance=np.eye(15), states=("known",) * 15)
    console = Console(file=io.StringIO(), width=140)
    torques = Torques(waves, 0.8 * waves, (1.0 - 0.2 * left) * waves)
    code = _conclude(("one", "two", "three"), learned, torques, console)
    assert isinstance(console.file, io.StringIO)
    output = console.file.getvalue()
    assert line in output
    assert "the CAD model 20.0 %" in output
    assert code == ("BAD" in output)
