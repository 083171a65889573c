"""A few runs of the benchmark whose full table is in docs/coverage.md."""

from __future__ import annotations

import numpy as np
from imperfect import SENSOR
from load_coverage import CONDITIONS, MEAN, check, draw_recording, gather, make_chain, priors_of, run_once

from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock

RUNS = 8


def test_intervals_hold_the_truth_with_all_mild_imperfections() -> None:
    own, default = (gather(runs) for runs in zip(*(run_once("mild", seed) for seed in range(RUNS)), strict=True))
    # 80 numbers, of which about 20 are independent: 95 % may be 85 %.
    assert own.coverage.mean() > 0.85
    assert 0.6 < own.rms < 1.5
    assert default.coverage.mean() > 0.85
    assert np.all(own.tracks)


def test_what_is_wrong_with_the_sensor_would_be_missed_without_its_priors() -> None:
    errors = [find_z_scores("tilt", seed) for seed in range(RUNS)]
    assert np.mean(np.abs(errors) < 1.96) < 0.9


def test_ideal_sensors_without_priors_are_not_widened() -> None:
    outcome = gather([run_once("ideal", seed)[0] for seed in range(RUNS)])
    assert outcome.coverage.mean() > 0.85
    assert outcome.ratio < 1.3
    assert outcome.rms > 0.6


def test_limits_notice_intervals_that_are_too_narrow_or_too_wide() -> None:
    outcome = gather([run_once("1986tacho5", seed)[0] for seed in range(2)])
    draws = np.random.default_rng(1).normal(size=(400, 10))
    for factor, is_met in ((1.0, True), (0.5, False), (3.0, False)):
        errors = outcome._replace(errors=draws, deviations=np.full((400, 10), factor))
        assert bool(check("mild", errors)) is not is_met
    assert MEAN == (0.92, 0.98)


def find_z_scores(name: str, seed: int) -> FloatArray:
    """Errors over standard deviations (10,) if the sensor is believed to be perfect."""
    arm, recording = draw_recording(name, seed)
    chain = make_chain(arm, priors_of(CONDITIONS["ideal"].has))
    chain.push(JointBlock(arm.joints, recording.joint_stamps, recording.positions, recording.velocities))
    chain.push(WrenchBlock(SENSOR, recording.wrench_stamps, recording.wrenches))
    chain.process()
    estimate = chain.estimate()
    assert estimate is not None
    return np.asarray((estimate.values - recording.phi) / estimate.deviations)
