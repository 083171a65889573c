"""Small normal equations against numpy's dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.estimation.cholesky import factorise, factorise_safely, solve_factorised, solve_normal
from inertid_ros.core.records import FloatArray


def draw_definite(seed: int, size: int) -> FloatArray:
    rows = np.random.default_rng(seed).normal(size=(2 * size, size))
    return np.asarray(rows.T @ rows)


@pytest.mark.parametrize("size", [1, 2, 7, 55])
def test_the_factor_solves_and_inverts(size: int) -> None:
    matrix, right = draw_definite(size, size), np.random.default_rng(1).normal(size=size)
    factor, solved, inverse = matrix.copy(), right.copy(), np.empty((size, size))
    assert factorise(factor)
    np.testing.assert_allclose(np.triu(factor), np.linalg.cholesky(matrix).T, rtol=1e-10, atol=1e-12)
    solve_factorised(factor, solved, inverse)
    np.testing.assert_allclose(solved, np.linalg.solve(matrix, right), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(inverse, np.linalg.inv(matrix), rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(inverse, inverse.T)


def test_what_is_singular_but_for_rounding_gets_a_ridge_and_what_is_no_number_is_refused() -> None:
    line = np.array([1.0, 2.0, -3.0])
    singular, factor = np.outer(line, line) - 1e-16 * np.eye(3), np.zeros((3, 3))
    assert not factorise(singular.copy())
    assert factorise_safely(singular, factor)
    np.testing.assert_allclose(np.triu(factor).T @ np.triu(factor), singular, atol=1e-12)
    singular[0, 2] = np.nan
    assert not factorise_safely(singular, factor)


def test_only_free_unknowns_are_solved_for() -> None:
    """Those that are fixed have an infinite precision, and stay out of the sums."""
    data, slope = draw_definite(3, 6), np.arange(6.0)
    precision, offset = np.diag([1.0, 1e-6, np.inf, 4.0, 1e6, 2.0]), np.array([0.3, -1.0, 0.0, 2.0, 1e-3, 0.5])
    precision[3, 5] = precision[5, 3] = 0.7
    free = np.array([0, 1, 3, 4, 5])
    step, covariance = np.empty(5), np.empty((5, 5))
    assert solve_normal(data, slope, precision, offset, free, step, covariance)
    known = precision[np.ix_(free, free)]
    total = data[np.ix_(free, free)] + known
    np.testing.assert_allclose(covariance, np.linalg.inv(total), rtol=1e-9)
    np.testing.assert_allclose(step, np.linalg.solve(total, slope[free] + known @ offset[free]), rtol=1e-9)
    data[0, 1] = data[1, 0] = np.inf
    assert not solve_normal(data, slope, precision, offset, free, step, covariance)
