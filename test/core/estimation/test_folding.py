"""Rows folded into a root of the information against numpy's QR."""

from __future__ import annotations

import numpy as np
import pytest
from support.roots import make_root

from inertid_ros.core.estimation.folding import fold_row, fold_rows, solve_triangle, spread_rows

SIZES = [1, 5, 16]


@pytest.mark.parametrize("n", SIZES)
def test_folded_rows_are_numpy_s_qr(n: int) -> None:
    rows = np.random.default_rng(n).normal(size=(4 * n + 4, n + 1))
    rows[:3, : n // 2] = 0.0
    one_by_one, at_once = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    for row in rows:
        fold_row(one_by_one, row.copy())
    kept = rows.copy()
    fold_rows(at_once, rows)
    np.testing.assert_array_equal(rows, kept)
    for folded in (one_by_one, at_once):
        assert not np.tril(folded, -1).any()
        folded[-1, -1] = abs(folded[-1, -1])
        np.testing.assert_allclose(folded, make_root(rows), atol=1e-12)


@pytest.mark.parametrize("scale", [1e120, 1e-120])
def test_rows_whose_squares_leave_the_range_of_numbers_are_folded_all_the_same(scale: float) -> None:
    rows = np.random.default_rng(3).normal(size=(20, 6))
    root = make_root(rows)
    matrix = scale * root
    fold_rows(matrix, scale * rows)
    np.testing.assert_allclose(matrix / scale, np.sqrt(2.0) * root, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
def test_solution_is_numpy_s_lstsq(n: int) -> None:
    rows = np.random.default_rng(n).normal(size=(5 * n + 5, n + 1))
    matrix, values = np.zeros((n + 1, n + 1)), np.empty(n)
    fold_rows(matrix, rows)
    solve_triangle(matrix, values)
    expected, (left,), *_ = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)
    np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-12)
    assert matrix[n, n] ** 2 == pytest.approx(left)


@pytest.mark.parametrize("n", SIZES)
def test_spread_of_a_row_is_its_standard_deviation(n: int) -> None:
    random = np.random.default_rng(n)
    rows = random.normal(size=(5 * n + 5, n + 1))
    covariance = np.linalg.inv(rows[:, :-1].T @ rows[:, :-1])
    row, other = random.normal(size=(2, n))
    spreads = np.stack((row, other))
    spread_rows(make_root(rows), spreads)
    spread, second = spreads
    assert spread @ spread == pytest.approx(row @ covariance @ row)
    assert spread @ second == pytest.approx(row @ covariance @ other)
