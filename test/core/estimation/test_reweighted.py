"""Online least squares of the links against a dense batch solution, and its weights against the noise put in."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.estimation.channels import BLOCK
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.reweighted import ReweightedEstimator
from inertid_ros.core.records import FloatArray, IntArray

USED = [np.array([0, 1, 2, 4]), np.array([1, 2, 3]), np.array([0, 3, 4])]
TRUTH = np.array([3.0, -2.0, 0.5, 8.0, -1.0])
PRIOR = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
DEVIATIONS = np.array([10.0, 10.0, 5.0, 50.0, 20.0])
FLOORS = np.array([1e-3, 1e-3, 1e-3])
NOISE = np.array([0.1, 1.0, 10.0])


def make_rows(seed: int, count: int) -> FloatArray:
    """Rows [A, y] (count, 3, 6) of three channels with different white noise."""
    random = np.random.default_rng(seed)
    rows = np.zeros((count, 3, 6))
    for k, used in enumerate(USED):
        rows[:, k, used] = random.normal(size=(count, len(used)))
        rows[:, k, -1] = rows[:, k, :-1] @ TRUTH + NOISE[k] * random.normal(size=count)
    return rows


def make_estimator(used: list[IntArray] = USED) -> ReweightedEstimator:
    prior = SquareRootInformation(DEVIATIONS)
    prior.set_mean(PRIOR)
    return ReweightedEstimator(used, prior, FLOORS[: len(used)], correlation=1.0)


def feed(estimator: ReweightedEstimator, rows: FloatArray, usable: tuple[bool, ...] = (True,) * 3) -> None:
    for index, row in enumerate(rows):
        estimator.take(row, np.array(usable, dtype=float))
        if index % 25 == 24:
            estimator.update()


def solve_batch(rows: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values and covariance by normal equations over all rows at once, each with the variance of its channel."""
    information = np.diag(1.0 / DEVIATIONS**2)
    right = PRIOR / DEVIATIONS**2
    for k, variance in enumerate(variances):
        information = information + rows[:, k, :-1].T @ rows[:, k, :-1] / variance
        right = right + rows[:, k, :-1].T @ rows[:, k, -1] / variance
    covariance = np.linalg.inv(information)
    return covariance @ right, covariance


def test_solution_is_that_of_a_dense_batch_with_the_same_weights() -> None:
    rows = make_rows(0, 400)
    estimator = make_estimator()
    feed(estimator, rows)
    solution = estimator.solve()
    settled = solution.variances * solution.correlations
    values, covariance = solve_batch(rows, settled)
    np.testing.assert_allclose(solution.values, values, rtol=1e-5)
    np.testing.assert_allclose(solution.information.covariance(), covariance, rtol=1e-3, atol=1e-9)
    left = rows[:, :, -1] - rows[:, :, :-1] @ solution.values
    np.testing.assert_allclose(solution.residual_rms, np.sqrt(np.mean(left**2, axis=0)), rtol=1e-6)
    np.testing.assert_allclose(solution.measured_rms, np.sqrt(np.mean(rows[:, :, -1] ** 2, axis=0)), rtol=1e-9)
    assert solution.rows.tolist() == [400, 400, 400]


def test_variances_are_those_of_the_noise() -> None:
    estimator = make_estimator()
    feed(estimator, make_rows(1, 3000))
    solution = estimator.solve()
    np.testing.assert_allclose(np.sqrt(solution.variances), NOISE, rtol=0.05)
    np.testing.assert_allclose(solution.correlations, 1.0, atol=0.5)


def test_intervals_of_white_noise_cover() -> None:
    inside = []
    for seed in range(40):
        estimator = make_estimator()
        feed(estimator, make_rows(seed, 200))
        solution = estimator.solve()
        deviations = np.sqrt(np.diag(solution.information.covariance()))
        inside.append(np.abs(solution.values - TRUTH) < 1.96 * deviations)
    assert 0.90 < np.mean(inside) < 0.99


def test_noise_that_stays_the_same_for_long_is_worth_less() -> None:
    """Noise held over ten rows is as good as a tenth of the rows; white noise was expected."""
    rows = make_rows(2, 6000)
    slow = np.repeat(np.random.default_rng(3).normal(size=(600, 3)), 10, axis=0)
    rows[:, :, -1] = rows[:, :, :-1] @ TRUTH + NOISE * slow
    estimator = make_estimator()
    feed(estimator, rows)
    np.testing.assert_allclose(estimator.solve().correlations, 10.0, rtol=0.4)


def test_first_innovations_are_not_taken_for_correlated_noise() -> None:
    """A prior that is far off leaves innovations that all look alike until the first solutions are there."""
    rows = make_rows(4, 10 * BLOCK)
    rows[:, :, :-1] = np.abs(rows[:, :, :-1])
    random = np.random.default_rng(5)
    rows[:, :, -1] = rows[:, :, :-1] @ (3.0 * TRUTH) + NOISE * random.normal(size=rows.shape[:2])
    estimator = make_estimator()
    feed(estimator, rows)
    assert estimator.solve().correlations.max() < 1.6


@pytest.mark.parametrize("blocks", [1, 3, 7])
def test_added_estimators_are_one_pass_over_both(blocks: int) -> None:
    rows, split = make_rows(6, 8 * BLOCK), blocks * BLOCK
    first, second, whole = make_estimator(), make_estimator(), make_estimator()
    for estimator, part in ((first, rows[:split]), (second, rows[split:]), (whole, rows)):
        for row in part:
            estimator.take(row, np.ones(3))
    first.add(second)
    together, once = first.solve(), whole.solve()
    np.testing.assert_allclose(together.values, once.values, rtol=1e-9)
    np.testing.assert_allclose(together.information.covariance(), once.information.covariance(), rtol=1e-9, atol=1e-15)
    assert together.rows.tolist() == once.rows.tolist()


def test_channel_that_is_not_usable_counts_for_nothing() -> None:
    rows = make_rows(7, 300)
    spoiled = rows.copy()
    spoiled[:, 1] = np.nan
    partial, two = make_estimator(), make_estimator([USED[0], USED[2]])
    feed(partial, np.where(np.isnan(spoiled), 1e6, spoiled), usable=(True, False, True))
    for index, row in enumerate(rows[:, [0, 2]]):
        two.take(np.ascontiguousarray(row), np.ones(2))
        if index % 25 == 24:
            two.update()
    np.testing.assert_allclose(partial.solve().values, two.solve().values, rtol=1e-9)
    assert partial.solve().rows.tolist() == [300, 0, 300]


def test_without_rows_there_is_the_prior() -> None:
    estimator = make_estimator()
    estimator.update()
    np.testing.assert_allclose(estimator.values, PRIOR)
    covariance = estimator.solve().information.covariance()
    np.testing.assert_allclose(covariance, np.diag(DEVIATIONS**2))


def test_reset_forgets_all() -> None:
    estimator, fresh = make_estimator(), make_estimator()
    feed(estimator, make_rows(8, 100))
    estimator.reset()
    rows = make_rows(9, 100)
    feed(estimator, rows)
    feed(fresh, rows)
    np.testing.assert_array_equal(estimator.solve().values, fresh.solve().values)
    np.testing.assert_array_equal(estimator.solve().variances, fresh.solve().variances)


def test_discounted_rows_count_less_with_nuisances_and_as_before_without() -> None:
    estimator = make_estimator()
    feed(estimator, make_rows(5, 400))
    before = estimator.solve()
    noise = before.variances * before.correlations
    estimator.discount(np.array([0.0, 0.05, 0.0]) * noise)
    after = estimator.solve()
    np.testing.assert_allclose(after.values, before.values, rtol=1e-9)
    np.testing.assert_allclose(after.covariance(), before.covariance(), rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(after.residual_rms, before.residual_rms, rtol=1e-9)
    np.testing.assert_allclose(estimator.find_rms(after.values), before.residual_rms, rtol=1e-9)
    share = 1.0 / (1.0 + 400 * 0.05)
    kept, early = (
        np.square(estimator._channel(1, one).factor).sum() for one in (estimator._matrices, estimator._early)
    )
    assert kept / (kept + early) == pytest.approx(share, rel=1e-6)
    assert estimator._early_rows == pytest.approx([0.0, 400 * (1.0 - share), 0.0], rel=1e-6)
    other = make_estimator()
    other.add(estimator)
    np.testing.assert_allclose(other.solve().covariance(), before.covariance(), rtol=1e-3, atol=1e-12)
