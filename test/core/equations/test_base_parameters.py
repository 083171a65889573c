"""Base parameters of matrices whose structure is known."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.equations.base_parameters import find_base_parameters, format_combination
from inertid_ros.core.errors import RankError
from inertid_ros.core.records import FloatArray

NAMES = ("a", "b", "c", "d", "e")


def make_matrix(seed: int = 0) -> FloatArray:
    """Column b is zero and d = 2 a - 3 c."""
    a, c, e = np.random.default_rng(seed).normal(size=(3, 50))
    return np.column_stack((a, np.zeros(50), c, 2.0 * a - 3.0 * c, e))


def test_columns_are_kept_in_order_and_the_others_added_to_them() -> None:
    base = find_base_parameters(make_matrix(), NAMES)
    np.testing.assert_array_equal(base.columns, [0, 2, 4])
    np.testing.assert_array_equal(base.combination, [[1, 0, 0, 2, 0], [0, 0, 1, -3, 0], [0, 0, 0, 0, 1]])
    assert base.rank == 3
    assert base.texts == ("a + 2 d", "c - 3 d", "e")


def test_groups_do_not_depend_on_the_order() -> None:
    for order in (None, [4, 3, 2, 1, 0], [3, 0, 1, 2, 4]):
        base = find_base_parameters(make_matrix(), NAMES, order)
        np.testing.assert_array_equal(base.alone, [4])
        np.testing.assert_array_equal(base.combined, [0, 2, 3])
        np.testing.assert_array_equal(base.absent, [1])
    base = find_base_parameters(make_matrix(), NAMES, [3, 0, 1, 2, 4])
    np.testing.assert_array_equal(base.columns, [0, 3, 4])
    np.testing.assert_allclose(base.combination[:2], [[1, 0, 2 / 3, 0, 0], [0, 0, -1 / 3, 1, 0]], rtol=1e-9)
    assert base.texts == ("a + 0.6667 c", "d - 0.3333 c", "e")


@pytest.mark.parametrize("seed", range(20))
def test_base_parameters_predict_the_same_whatever_the_units(seed: int) -> None:
    """Random matrices of random rank, with columns that differ by ten orders of magnitude."""
    random = np.random.default_rng(seed)
    rank = int(random.integers(1, 20))
    mixing = random.normal(size=(rank, 25)) * (random.random((rank, 25)) < 0.3)
    scale = 10.0 ** random.uniform(-5.0, 5.0, 25)
    matrix = random.normal(size=(200, rank)) @ mixing * scale
    base = find_base_parameters(matrix, [str(index) for index in range(25)])
    assert base.rank == np.linalg.matrix_rank(mixing)
    np.testing.assert_array_equal(base.combination[:, base.columns], np.eye(base.rank))
    np.testing.assert_array_equal(base.absent, np.flatnonzero(~mixing.any(axis=0)))
    values = random.normal(size=25) / scale
    np.testing.assert_allclose(matrix[:, base.columns] @ (base.combination @ values), matrix @ values, atol=1e-4)
    assert sorted((*base.alone, *base.combined, *base.absent)) == list(range(25))


def test_zeros_have_no_base_parameters() -> None:
    base = find_base_parameters(np.zeros((10, 2)), ("a", "b"))
    assert base.rank == 0
    np.testing.assert_array_equal(base.absent, [0, 1])


def test_a_column_between_dependent_and_not_is_reported() -> None:
    """Each column stands out of those before it by more than 1e-5, but together they do by less."""
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 5)))[0]
    matrix = np.column_stack((vectors[:, 0], vectors[:, 0] + 1.1e-5 * vectors[:, 1]))
    with pytest.raises(RankError, match="2 or 1 base parameters"):
        find_base_parameters(matrix, ("a", "b"))


@pytest.mark.parametrize(
    ("coefficients", "text"),
    [
        ([1.0, 0.0, -1.0, 0.2025, 0.0], "a - c + 0.2025 d"),
        ([-1.0, 0.0, 0.0, 0.0, 1.0], "-a + e"),
        ([-0.45, 1.0, 0.45, 1e6, -0.45], "-0.45 (a - c + e) + b + 1e+06 d"),
        ([0.0, 0.99999, 1e-9, 0.0, 0.0], "b + 1e-09 c"),
        ([0.0] * 5, ""),
    ],
)
def test_combinations_are_written_for_people(coefficients: list[float], text: str) -> None:
    assert format_combination(np.array(coefficients), NAMES) == text
