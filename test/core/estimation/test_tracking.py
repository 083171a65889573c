"""Rows of a load: how they are compared, weighed and folded in, against plain linear algebra."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from support.roots import make_root

from inertid_ros.core.estimation.tracking import (
    INFLATION,
    INFLATION_MEMORY,
    INFLATION_MOST,
    INFLATION_PRIOR,
    LEVER,
    LIGHTEST,
    REPEATS,
    ROOM,
    SAME_POSE,
    WEIGHT,
    Comparison,
    Tracked,
    advance_clock,
    compare_row,
    count_repeats,
    learn_inflation,
    squared_distance,
    track_row,
    weigh_row,
)
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rows.rows import Row


@pytest.mark.parametrize("size", [1, 3, 6])
def test_squared_distance_is_mahalanobis_s(size: int) -> None:
    random = np.random.default_rng(size)
    factor = random.normal(size=(size, size + 2))
    covariance, noise, innovation = factor @ factor.T, random.uniform(0.1, 1.0, size), random.normal(size=size)
    for scale in (0.0, 1.0, 25.0):
        whole = scale * covariance + np.diag(noise)
        expected = innovation @ np.linalg.solve(whole, innovation)
        assert squared_distance(covariance, scale, noise, innovation) == pytest.approx(expected)
    indefinite = covariance - 2.0 * np.linalg.eigvalsh(covariance)[-1] * np.eye(size)
    assert squared_distance(indefinite, 1.0, np.zeros(size), innovation) == np.inf
    assert squared_distance(np.full((size, size), np.nan), 1.0, noise, innovation) == np.inf


def make_problem(seed: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """A root of 16 unknowns, its solution and covariance, and a row [A, y] (6, 17)."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(60, 17))
    matrix = make_root(rows)
    values = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)[0]
    return matrix, values, np.linalg.inv(rows[:, :-1].T @ rows[:, :-1]), random.normal(size=(6, 17))


@pytest.mark.parametrize("seed", range(3))
def test_row_is_compared_as_the_covariances_say(seed: int) -> None:
    matrix, values, covariance, row = make_problem(seed)
    variance, noise = np.random.default_rng(seed).uniform(0.1, 2.0, (2, 6))
    whitened = np.empty((6, 17))
    found = compare_row(matrix, values, row, variance, noise, 25.0, 0.0, whitened)
    np.testing.assert_allclose(whitened, row / np.sqrt(variance)[:, None])
    innovation = row[:, -1] - row[:, :-1] @ values
    expected = row[:, :-1] @ covariance @ row[:, :-1].T
    for distance, room in ((found.distance, 1.0), (found.roomy_distance, 25.0)):
        assert distance == pytest.approx(innovation @ np.linalg.solve(room * expected + np.diag(noise), innovation))
    shares = np.diag(expected) / variance
    assert found.leverage == pytest.approx(np.sum(shares / (1.0 + shares)))
    assert found.force == pytest.approx(np.linalg.norm(innovation[:3]))
    assert found.torque == pytest.approx(np.linalg.norm(innovation[3:]))


@pytest.mark.parametrize("seed", range(3))
def test_load_s_row_counts_by_its_noise_and_what_was_left_out(seed: int) -> None:
    random = np.random.default_rng(seed)
    signals, readings = random.normal(size=16), 20.0 * random.normal(size=6)
    signals[12] = 0.7
    motion, density = random.uniform(0.1, 1.0, 4), random.uniform(0.1, 1.0, 6)
    variance, noise = np.empty(6), np.empty(6)
    found = weigh_row(signals, readings, motion, density, np.zeros(14), 0.02, 15.0, variance, noise)
    mass = max(np.linalg.norm(readings[:3]) / (9.8 * 0.7), LIGHTEST)
    assert found == pytest.approx(mass)
    extra = mass**2 * (motion[0] ** 2 + (LEVER * motion[1]) ** 2) * np.repeat([1.0, LEVER**2], 3)
    np.testing.assert_allclose(variance, density * (1.0 + 1.0 / REPEATS) / 0.02 + extra)
    np.testing.assert_allclose(noise, density * 15.0 + extra)


class Outcome(NamedTuple):
    """What track_row gave, and all that it may have changed."""

    fits: bool
    noise: float
    matrix: FloatArray
    values: FloatArray
    state: FloatArray
    whitened: FloatArray
    motion_noise: FloatArray


def track(
    seed: int, limits: FloatArray, is_tracking: bool = True, motion: FloatArray | None = None, inflation: float = 2.0
) -> Outcome:
    """A row of noise density one per second, so that its variance is (1 + 1 / REPEATS) and its noise the bandwidth."""
    matrix, values, _, row = make_problem(seed)
    signals, state, pose = np.ones(16), np.array([inflation, 3.0, 100.0]), np.zeros(14)
    motion = np.array([0.0, 0.0, 0.3, 0.6]) if motion is None else motion
    whitened, motion_noise = np.empty((6, 17)), np.zeros((4, 6))
    line = np.empty(6)
    known = Tracked(matrix, values, line, limits, state, pose, motion_noise, whitened, np.empty(6), np.empty(6))
    verdict = track_row(
        known, Row(row, signals, np.zeros(6), line, motion, line, line, line), np.ones(6), 1.0, is_tracking
    )
    return Outcome(bool(verdict.fits), verdict.total, matrix, values, state, whitened, motion_noise)


VARIANCE, BANDWIDTH_HZ = 1.0 + 1.0 / REPEATS, 0.5


def compare(seed: int) -> Comparison:
    matrix, values, _, row = make_problem(seed)
    return compare_row(
        matrix, values, row, np.full(6, VARIANCE), np.full(6, BANDWIDTH_HZ), ROOM, 0.0, np.empty((6, 17))
    )


@pytest.mark.parametrize("seed", range(3))
def test_row_that_fits_is_folded_in_and_one_that_does_not_is_left_out(seed: int) -> None:
    matrix, values, covariance, row = make_problem(seed)
    compared = compare(seed)
    least = np.sqrt(min(compared.distance, compared.roomy_distance) / 2.0)
    taken = track(seed, np.array([1.001 * least, 0.0, 0.0, BANDWIDTH_HZ]))
    assert taken.fits
    assert taken.noise == pytest.approx(2.0 * 6.0 * BANDWIDTH_HZ / VARIANCE)
    np.testing.assert_allclose(taken.whitened, row / np.sqrt(VARIANCE))
    information = np.linalg.inv(covariance) + row[:, :-1].T @ row[:, :-1] / VARIANCE
    right = np.linalg.solve(covariance, values) + row[:, :-1].T @ row[:, -1] / VARIANCE
    np.testing.assert_allclose(taken.matrix[:16, :16].T @ taken.matrix[:16, :16], information, atol=1e-9)
    np.testing.assert_allclose(taken.values, np.linalg.solve(information, right), atol=1e-9)
    np.testing.assert_allclose(taken.motion_noise, np.outer([0.09, 0.36, 0.0, 0.0], np.full(6, 1.0 / VARIANCE)))
    hidden = track(seed, np.array([10.0 * least, 0.0, 0.0, BANDWIDTH_HZ]), motion=np.array([0.0, 0.1, 0.3, 0.6]))
    found = hidden.motion_noise[:, 0] / hidden.motion_noise[0, 0]
    np.testing.assert_allclose(found, [1.0, 0.0, 0.0, 4.0], err_msg="angular accelerations do not stand out")
    assert taken.state[INFLATION] != 2.0
    for left in (
        track(seed, np.array([0.999 * least, 0.0, 0.0, BANDWIDTH_HZ]), motion=np.zeros(4)),
        track(seed, np.array([1.001 * least, 0.0, 0.0, BANDWIDTH_HZ]), is_tracking=False),
    ):
        np.testing.assert_array_equal(left.matrix, matrix)
        np.testing.assert_array_equal(left.values, values)
        np.testing.assert_array_equal(left.state, [2.0, 3.0, 100.0])
        assert not left.motion_noise.any()
    assert not track(seed, np.array([0.999 * least, 0.0, 0.0, BANDWIDTH_HZ]), motion=np.zeros(4)).fits


@pytest.mark.parametrize("seed", range(3))
def test_small_wrench_is_no_contact_and_noise_of_accelerations_gives_slack(seed: int) -> None:
    compared = compare(seed)
    still = np.zeros(4)
    enough = np.array([0.0, 1.001 * compared.force, 1.001 * compared.torque, BANDWIDTH_HZ])
    assert track(seed, enough, motion=still).fits
    for place in (1, 2):
        little = enough.copy()
        little[place] *= 0.99
        assert not track(seed, little, motion=still).fits
    gate = 1e-3
    slack = max(compared.force, compared.torque / LEVER) / (gate * LIGHTEST)
    for share, fits in ((1.001, True), (0.999, False)):
        motion = np.array([0.0, 0.0, 0.5 * share * slack, 0.5 * share * slack / LEVER])
        assert track(seed, np.array([gate, 0.0, 0.0, BANDWIDTH_HZ]), motion=motion).fits is fits


@pytest.mark.parametrize("seed", range(3))
def test_what_fits_by_noise_of_the_accelerations_alone_counts_as_that_noisy(seed: int) -> None:
    compared, gate = compare(seed), 1e-3
    slack = 2.0 * max(compared.force, compared.torque / LEVER) / (gate * LIGHTEST)
    motion = np.array([0.0, 0.0, 0.3 * slack, 0.7 * slack / LEVER])
    taken = track(seed, np.array([gate, 0.0, 0.0, BANDWIDTH_HZ]), motion=motion)
    extra = (LIGHTEST * slack) ** 2 * np.repeat([1.0, LEVER**2], 3)
    row = make_problem(seed)[3]
    np.testing.assert_allclose(taken.whitened, row / np.sqrt(VARIANCE + extra)[:, None])
    assert taken.noise == pytest.approx(2.0 * np.sum((BANDWIDTH_HZ + extra) / (VARIANCE + extra)))


def test_the_clock_tells_the_time_since_all_that_matters() -> None:
    """A row stands for 0.15 s at most; the first one, and one of another time, for a decision interval."""
    clock = np.array([np.inf, 0.0, 7.0])
    for time, interval, total in (
        (1.0, 0.02, 0.02),
        (1.03, 0.03, 0.05),
        (1.13, 0.1, 0.15),
        (9.0, 0.15, 0.3),
        (2.0, 0.02, 0.32),
    ):
        assert advance_clock(clock, time) == pytest.approx(interval)
        np.testing.assert_allclose(clock, [time, total, 7.0 + total])


def test_inflation_is_the_average_excess_of_what_is_learned() -> None:
    state = np.array([1.0, 0.0, 0.0])
    ratios, leverages = [5.0, 0.5, 3.0, 1e6], [2.0, 1.0, 3.0, 0.5]
    excess = 0.0
    for count, (ratio, leverage) in enumerate(zip(ratios, leverages, strict=True), start=1):
        learn_inflation(state, ratio, leverage)
        excess += leverage * (min(ratio, INFLATION_MOST) - 1.0)
        assert state[INFLATION] == pytest.approx(1.0 + excess / (sum(leverages[:count]) + INFLATION_PRIOR))
    for _ in range(10_000):
        learn_inflation(state, 0.2, 1.0)
    assert state[INFLATION] == 1.0
    assert state[WEIGHT] <= INFLATION_MEMORY + 1.0
    for _ in range(10_000):
        learn_inflation(state, 3.0, 1.0)
    assert state[INFLATION] == pytest.approx(3.0, rel=0.1)


def test_rows_of_one_pose_repeat_each_other() -> None:
    """Features are those of the filtered motion over its amplitude: settling filters do not make a new pose."""
    random = np.random.default_rng(0)
    signals, pose = random.normal(size=16), np.zeros(14)
    signals[12] = 1.0
    assert [count_repeats(pose, signals) for _ in range(3)] == pytest.approx([1.0 + k / REPEATS for k in (1, 2, 3)])
    assert count_repeats(pose, 0.5 * signals) == pytest.approx(1.0 + 4.0 / REPEATS)
    for index in (0, 4, 7, 13):
        near, far = signals.copy(), signals.copy()
        near[index] += 0.9 * SAME_POSE
        far[index] += 1.1 * SAME_POSE
        before = count_repeats(pose, signals)
        assert count_repeats(pose, near) > before
        assert count_repeats(pose, far) == pytest.approx(1.0 + 1.0 / REPEATS)
        assert count_repeats(pose, signals) == pytest.approx(1.0 + 1.0 / REPEATS)
    np.testing.assert_allclose(pose[:3], signals[:3] - signals[13:])
