"""Tails of chi-square against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import chdtrc

from inertid_ros.core.estimation.chi_square import find_tail


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 16, 99, 400])
def test_tails_are_those_of_scipy(freedom: int) -> None:
    squares = freedom * np.geomspace(1e-6, 30.0, 40)
    found = [find_tail(freedom, square) for square in squares.tolist()]
    np.testing.assert_allclose(found, chdtrc(freedom, squares), rtol=1e-11, atol=1e-300)


def test_all_is_beyond_nothing_and_nothing_beyond_infinity() -> None:
    assert [find_tail(freedom, square) for freedom in (1, 2) for square in (0.0, np.inf)] == [1.0, 0.0, 1.0, 0.0]
