"""Sums of recordings are judged as a single one is: findings belong to them, and uncertainty is widened."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from support.bags import joint_messages, text_message, wrench_messages, write_bag
from support.chain import BAR, DDARM, PUMA, puma_motion, simulate_puma
from support.link_bags import BY_EFFORT, FRICTION, true_links

from inertid_ros.cli.main import main
from inertid_ros.core.records import FloatArray, WrenchBlock
from inertid_ros.core.settings.choices import SignChoice
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.replay.contradiction import find_distances
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.recordings import Outcome, find_recordings, replay_recordings
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import DEFAULT_START, Simulator

LOAD = Settings(load=LoadSettings(sensor_frame="ft_sensor", wrench_sign=SignChoice.ON_LOAD))
QUARTER_TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def record(path: Path, seed: int, turn: FloatArray, load: FloatArray = BAR, seconds: float = 18.0) -> Path:
    """A PUMA whose sensor is mounted otherwise than its URDF says; it stands still for two seconds."""
    simulator = simulate_puma(puma_motion(rounds=4), seed=seed, schedule=[(0.0, load)])
    frame, stamps, wrenches = simulator.wrenches(0.0, seconds)
    block = WrenchBlock(frame, stamps, wrenches @ np.kron(np.eye(2), turn).T)
    messages = [*joint_messages(simulator.joints(0.0, seconds)), *wrench_messages(block)]
    messages.sort(key=lambda message: message[2])
    return write_bag(path, [text_message(PUMA, messages[0][2]), *messages])


def replay(bags: list[Path], settings: Settings, output: Path) -> Outcome:
    plan = Plan(settings=settings, moments=0)
    return replay_recordings(find_recordings(bags, plan), plan, output, lambda _: None, 1)


def test_a_turned_frame_is_not_forgotten_in_the_sum(tmp_path: Path) -> None:
    """Two recordings show it and a third, at rest, cannot; together they must not look better than each alone."""
    bags = [record(tmp_path / f"bag_{seed}", seed, QUARTER_TURN) for seed in (0, 1)]
    bags.append(record(tmp_path / "still", 2, QUARTER_TURN, seconds=2.0))
    outcome = replay(bags, LOAD, tmp_path / "out")
    found = []
    for recorded in outcome.recordings:
        assert recorded.traces.load is not None
        found.append([finding.code for finding in recorded.traces.load.estimate.findings])
        assert "known" not in recorded.traces.load.estimate.states
    assert found == [["frame_turned"], ["frame_turned"], []]
    load = json.loads((tmp_path / "out" / "estimate.json").read_text())["load"]
    assert "frame_turned" in [finding["code"] for finding in load["findings"]]
    assert "known" not in load["states"]


def test_recordings_of_different_loads_contradict_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bags = [record(tmp_path / f"bag_{seed}", seed, np.eye(3), factor * BAR) for seed, factor in ((1, 1.0), (2, 2.0))]
    parameters = tmp_path / "parameters.yaml"
    parameters.write_text("/**: {ros__parameters: {load: {sensor_frame: ft_sensor, wrench_sign: on_load}}}")
    assert (
        main(["replay", *map(str, bags), "--params", str(parameters), "--jobs", "1", "-o", str(tmp_path / "out")]) == 1
    )
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "contradict each other" in line
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    row = re.search(r'<tr><td>m</td><td><span class="badge bad">([\d.]+)</span>.*?</tr>', page)
    assert row is not None, "the masses contradict each other"
    document = json.loads((tmp_path / "out" / "estimate.json").read_text())
    assert "recordings_contradict" in [finding["code"] for finding in document["load"]["findings"]]
    assert document["notes"] == [
        finding["message"] for finding in document["load"]["findings"] if finding["code"] == "recordings_contradict"
    ]


def test_the_sum_of_links_is_widened_as_a_single_recording_is(tmp_path: Path) -> None:
    """In a slow motion errors in the equations count for more than noise, and twice the data do not remove them."""
    full = np.ones(3)
    motion = Multisine(JointLimits(-full, full, 0.3 * full, 0.6 * full), period=8.0, seed=1)
    sensors = SensorModel(joint_rate=100.0, velocity_noise=0.0, effort_noise=0.001)
    bags = []
    for seed in (1, 2):
        start = DEFAULT_START + seed * 10**12
        simulator = Simulator(
            DDARM, "ft_sensor", motion, sensors, seed=seed, start_stamp=start, friction=FRICTION, links=true_links()
        )
        messages = list(joint_messages(simulator.joints(0.0, 8.0)))
        bags.append(write_bag(tmp_path / f"bag_{seed}", [text_message(DDARM, messages[0][2]), *messages]))
    outcome = replay(bags, BY_EFFORT, tmp_path / "out")
    singles = [recorded.traces.links for recorded in outcome.recordings if recorded.traces.links is not None]
    summed = outcome.found.links
    assert summed is not None
    ratios = summed.estimate.deviations / singles[0].estimate.deviations
    by_noise = np.sqrt(np.diag(summed.estimator.solve().information.covariance()))
    assert np.median(summed.estimate.deviations / by_noise) > 2.0
    assert np.median(ratios) > 0.9, "noise alone would leave 0.7"
    listed = outcome.document["links"]["base_parameters"]["standard_deviations"]
    np.testing.assert_array_equal(listed, summed.estimate.deviations)


def drive(path: Path, seed: int, links: FloatArray) -> Path:
    """A DDArm with these links, fast enough to show all of them."""
    full = np.ones(3)
    motion = Multisine(JointLimits(-full, full, 3.0 * full, 12.0 * full), period=8.0, seed=seed)
    sensors = SensorModel(joint_rate=100.0, velocity_noise=1e-3, effort_noise=0.1)
    start = DEFAULT_START + seed * 10**12
    simulator = Simulator(
        DDARM, "ft_sensor", motion, sensors, seed=seed, start_stamp=start, friction=FRICTION, links=links
    )
    messages = list(joint_messages(simulator.joints(0.0, 16.0)))
    return write_bag(path, [text_message(DDARM, messages[0][2]), *messages])


def test_distances_are_those_of_the_two_that_are_furthest_apart() -> None:
    generator = np.random.default_rng(4)
    values, deviations = generator.normal(size=(5, 3)), generator.uniform(0.1, 1.0, (5, 3))
    found = find_distances(values, deviations)
    for index in range(3):
        apart = {
            (one, other): abs(values[one, index] - values[other, index])
            / math.sqrt(deviations[one, index] ** 2 + deviations[other, index] ** 2)
            for one, other in itertools.combinations(range(5), 2)
        }
        assert found.largest[index] == pytest.approx(max(apart.values()))
        assert tuple(found.pairs[index]) == max(apart, key=lambda pair: apart[pair])
    assert 2.0 * norm.sf(found.limit) * 30 == pytest.approx(1e-3)


def test_recordings_of_different_arms_contradict_each_other(tmp_path: Path) -> None:
    """A last link that carries a load in one recording is told from repeats of the same arm."""
    loaded = true_links()
    loaded[-10:] *= 1.5
    bags = [
        drive(tmp_path / f"{seed}", seed, links) for seed, links in ((1, true_links()), (2, true_links()), (3, loaded))
    ]
    same, different = (replay(one, BY_EFFORT, tmp_path / name) for one, name in ((bags[:2], "same"), (bags[1:], "not")))
    codes = [[finding["code"] for finding in outcome.document["links"]["findings"]] for outcome in (same, different)]
    assert "recordings_contradict" not in codes[0]
    assert "recordings_contradict" in codes[1]
    pages = [(tmp_path / name / "report.html").read_text(encoding="utf-8") for name in ("same", "not")]
    assert [page.count('<section id="runs">') for page in pages] == [1, 1]
    assert "parameters, of which none contradict" in pages[0]
    assert re.search(r"parameters, of which \d+ contradict", pages[1])
    assert all(f'<a href="{run.directory}/report.html">' in pages[1] for run in different.recordings)
    names = {path.name for path in (tmp_path / "not").glob("**/plotly-*.js")}
    assert len(names) == 1
    verdict = different.found.verdicts["links"]
    assert verdict.level != "info"
    assert any("contradict each other" in failure for failure in verdict.failures)
