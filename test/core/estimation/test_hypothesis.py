"""Slight changes while an arm moves, on recordings that code of its own has made (benchmarks/imperfect.py)."""

from __future__ import annotations

import numpy as np
import pytest
from detection import SCENARIOS, SENSORS, Scenario, identify, run_once
from imperfect import Arm, FloatArray, Imperfections, Motion, random_load, record, true_wrenches

from inertid_ros.core.diagnosis import has_error
from inertid_ros.core.estimation.estimate import Mode
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import EventKind

TITLED = {scenario.title: scenario for scenario in SCENARIOS}


@pytest.mark.parametrize("seed", range(4))
def test_50_g_of_2_kg_are_found_within_3_s_of_motion(seed: int) -> None:
    run = run_once("mild", TITLED["+50 g"], seed)
    assert run.delay < 3.0
    assert not run.is_wrong
    assert not run.is_false
    assert abs(run.end) < 0.04
    assert not run.ends_off


@pytest.mark.parametrize("title", ["ramp 0.1 N/s for 5 s", "ramp 0.5 N/s for 5 s"])
@pytest.mark.parametrize("sensors", SENSORS)
def test_ramp_is_no_load_while_it_grows(sensors: str, title: str) -> None:
    ramp: Scenario = TITLED[title]
    for seed in range(2):
        run = run_once(sensors, ramp._replace(wrong=(EventKind.LOAD_CHANGED,)), seed)
        assert not run.is_wrong


def test_ramp_is_a_contact_and_neither_load_nor_bias_while_it_grows() -> None:
    for seed in range(3):
        run = run_once("mild", TITLED["ramp 0.5 N/s for 5 s"], seed)
        assert run.delay < 5.0
        assert not run.is_wrong
        assert not run.is_off


def test_tare_in_motion_is_seldom_a_contact() -> None:
    """Of 30 runs some seven have a contact first."""
    runs = [run_once("mild", TITLED["tare 1 N"], seed) for seed in range(6000, 6006)]
    assert sum(run.is_wrong for run in runs) <= 3
    assert all(run.delay < 3.0 and run.ends_tracking for run in runs)


def test_tare_is_a_bias_once_gravity_has_turned() -> None:
    for seed in range(3):
        run = run_once("mild", TITLED["tare 1 N"]._replace(wrong=(EventKind.LOAD_CHANGED,)), seed)
        assert run.delay < 3.0
        assert not run.is_wrong
        assert not run.is_off
        assert run.ends_tracking


def test_nothing_is_learned_from_a_contact_before_anything_is_known() -> None:
    for seed in range(3):
        run = run_once("mild", TITLED["contact of 10 N from 1 s to 7 s"], seed)
        assert run.delay < 3.0
        assert not run.is_wrong
        assert not run.is_off
        assert run.ends_tracking


def test_cable_that_is_no_part_of_a_rigid_load_leaves_nothing_known() -> None:
    for seed in range(2, 4):
        assert not run_once("mild", TITLED["cable, 3 N by pose, always"], seed).ends_off


@pytest.mark.parametrize(("sensors", "seed"), [("ideal", 5000), ("ideal", 5011), ("mild", 5106)])
def test_mass_is_not_known_better_than_a_cable_lets_know(sensors: str, seed: int) -> None:
    run = run_once(sensors, TITLED["cable, 3 N by pose, always"], seed)
    assert not run.is_off
    assert not run.ends_off


@pytest.mark.parametrize(
    ("noise", "least", "most"),
    [(Imperfections(), 1.0, 1.5), (Imperfections(coloured=1.0, correlation=0.5), 1.5, np.inf)],
    ids=["white", "correlated"],
)
def test_correlated_noise_shows_within_seconds(noise: Imperfections, least: float, most: float) -> None:
    for seed in range(2):
        rng, arm = np.random.default_rng(seed), Arm("UR10")
        motion, phi = Motion(len(arm.joints), rng, 1.0), random_load(rng)
        published, _ = identify(arm, record(arm, motion, phi, noise, rng, 5.6, 250.0), interval=0.5)
        sensor = published[-1].estimate.sensor
        assert sensor is not None
        assert least <= sensor.variance_inflation < most


@pytest.mark.parametrize("sensors", SENSORS)
def test_nothing_is_reported_where_nothing_happens(sensors: str) -> None:
    for seed in range(2):
        rng = np.random.default_rng(100 + seed)
        arm = Arm("UR10")
        motion, phi = Motion(len(arm.joints), rng, 1.0), random_load(rng)
        published, events = identify(arm, record(arm, motion, phi, SENSORS[sensors], rng, 40.0, 250.0), interval=10.0)
        assert not events
        assert len(published) == 4
        assert abs(published[-1].estimate.values[0] - phi[0]) < 4.0 * published[-1].estimate.deviations[0]


@pytest.mark.parametrize("warm_up", [0.0, 2.0], ids=["random walk", "2 N of warm-up"])
def test_accuracy_does_not_get_worse_while_the_bias_drifts(warm_up: float) -> None:
    """What a drift leaves over is no cable, however long it lasts."""
    rng, arm = np.random.default_rng(9503), Arm("UR10")
    motion, phi = Motion(len(arm.joints), rng, 1.0), random_load(rng)
    direction = np.array([0.6, 0.0, 0.8, 0.02, -0.01, 0.0])
    recording = record(
        arm,
        motion,
        phi,
        SENSORS["mild"],
        rng,
        200.0,
        125.0,
        lambda times, _: warm_up * np.outer(1.0 - np.exp(-times / 200.0), direction),
    )
    published, events = identify(arm, recording, interval=40.0)
    assert not events
    early, late = published[0].estimate, published[-1].estimate
    assert late.deviations[0] < 1.1 * early.deviations[0]
    assert not has_error(late.findings)
    assert abs(late.values[0] - phi[0]) < 3.0 * late.deviations[0]


@pytest.mark.parametrize("seed", [9003, 9024])
def test_load_that_changes_when_the_first_motion_begins_is_a_load_change(seed: int) -> None:
    """What was learnt until then is neither the load nor the bias; it must not be a contact for ever."""
    rng = np.random.default_rng(seed)
    arm = Arm(["UR10", "Panda", "PUMA"][rng.integers(3)])
    phi = random_load(rng)
    motion, added = Motion(len(arm.joints), rng, 1.0), random_load(rng) * rng.uniform(0.2, 0.8)
    onset = motion.rest + rng.uniform(-0.1, 0.4)

    def add(times: FloatArray, gravity: FloatArray) -> FloatArray:
        return np.where((times >= onset)[:, None], true_wrenches(arm, motion, times, added, gravity), 0.0)

    published, events = identify(arm, record(arm, motion, phi, SENSORS["mild"], rng, 18.0, 125.0, add), interval=18.0)
    assert events[-1][1].kind is EventKind.LOAD_CHANGED
    estimate = published[-1].estimate
    assert estimate.mode is Mode.TRACKING
    assert set(estimate.states) == {ParameterState.KNOWN}
    assert np.abs((estimate.values - phi - added) / estimate.deviations).max() < 4.0
