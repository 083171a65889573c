"""Square-root information against the normal equations, solved in full."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.estimation.channels import add_channels
from inertid_ros.core.estimation.information import SquareRootInformation, invert_root, make_definite
from inertid_ros.core.records import FloatArray


def _make(seed: int = 0) -> tuple[SquareRootInformation, FloatArray, FloatArray, float]:
    """Forty rows in five unknowns: the thing, and information, estimate and squares left by the normal equations."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(40, 5))
    y = A @ rng.normal(size=5) + 0.1 * rng.normal(size=40)
    root = SquareRootInformation(np.full(5, 10.0))
    for start in range(0, 40, 4):
        root.fold_in(np.column_stack((A, y))[start : start + 4])
    information = A.T @ A + np.eye(5) / 100.0
    estimate = np.linalg.solve(information, A.T @ y)
    left = float(np.sum((y - A @ estimate) ** 2) + estimate @ estimate / 100.0)
    return root, information, estimate, left


def test_agrees_with_the_normal_equations() -> None:
    root, information, estimate, left = _make()
    np.testing.assert_allclose(root.solve(), estimate, atol=1e-13)
    np.testing.assert_allclose(root.factor.T @ root.factor, information, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(root.covariance(), np.linalg.inv(information), rtol=1e-11, atol=1e-15)
    assert root.squares_left == pytest.approx(left)
    other = np.random.default_rng(1).normal(size=5)
    away = other - estimate
    assert root.squares_at(other) == pytest.approx(left + away @ information @ away)
    assert root.squares_at(estimate) == pytest.approx(left)


def test_rows_at_once_are_rows_one_by_one() -> None:
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(30, 6))
    once = SquareRootInformation.from_rows(rows)
    folded = SquareRootInformation(np.full(5, np.inf))
    folded.fold_in(rows)
    expected, (left,), *_ = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)
    for root in (once, folded):
        np.testing.assert_allclose(root.solve(), expected, atol=1e-12)
        assert root.squares_left == pytest.approx(left)


def test_mean_is_where_it_starts() -> None:
    root, mean = SquareRootInformation(np.array([1.0, 2.0, 4.0])), np.array([3.0, -1.0, 0.5])
    root.set_mean(mean)
    np.testing.assert_allclose(root.solve(), mean)
    np.testing.assert_allclose(root.covariance(), np.diag([1.0, 4.0, 16.0]))


def test_rows_of_some_unknowns_are_rows_of_all() -> None:
    some, _, estimate, left = _make(7)
    used = np.array([0, 2, 3, 6, 7])
    whole = SquareRootInformation(np.full(8, 1e6))
    offsets = np.array([[0, 0], [some.matrix.size, len(used)]])
    add_channels(whole.matrix, some.matrix.ravel(), offsets, used, np.ones(1))
    np.testing.assert_allclose(whole.solve()[used], estimate, atol=1e-9)
    assert whole.squares_left == pytest.approx(left)
    np.testing.assert_allclose(np.diag(whole.covariance())[[1, 4, 5]], 1e12)


def test_forgetting_the_first_keeps_the_marginal_of_the_others() -> None:
    root, information, estimate, left = _make(2)
    root.forget_first(2, np.array([3.0, 4.0]))
    covariance = np.linalg.inv(information)
    np.testing.assert_allclose(root.covariance()[2:, 2:], covariance[2:, 2:], atol=1e-15)
    np.testing.assert_allclose(root.solve(), np.concatenate((np.zeros(2), estimate[2:])), atol=1e-13)
    np.testing.assert_allclose(np.diag(root.covariance())[:2], [9.0, 16.0])
    assert root.squares_left == pytest.approx(left)


def test_forgetting_the_last_keeps_the_marginal_of_the_others() -> None:
    root, information, estimate, left = _make(3)
    root.forget_last(3, np.array([3.0, 4.0]))
    covariance = np.linalg.inv(information)
    np.testing.assert_allclose(root.covariance()[:3, :3], covariance[:3, :3], atol=1e-15)
    np.testing.assert_allclose(root.solve(), np.concatenate((estimate[:3], np.zeros(2))), atol=1e-13)
    np.testing.assert_allclose(np.diag(root.covariance())[3:], [9.0, 16.0])
    np.testing.assert_allclose(root.covariance()[:3, 3:], 0.0, atol=1e-15)
    assert root.squares_left == pytest.approx(left)


def test_wandering_adds_variance_and_moves_nothing() -> None:
    root, information, estimate, left = _make(4)
    root.diffuse_last(3, np.array([0.3, 0.2]))
    expected = np.linalg.inv(information)
    expected[3:, 3:] += np.diag([0.09, 0.04])
    np.testing.assert_allclose(root.covariance(), expected, atol=1e-15)
    np.testing.assert_allclose(root.solve(), estimate, atol=1e-13)
    assert root.squares_left == pytest.approx(left)


def test_copy_is_independent() -> None:
    root, _, estimate, _ = _make(5)
    other = root.copy()
    other.fold_in(np.random.default_rng(0).normal(size=(3, 6)))
    np.testing.assert_allclose(root.solve(), estimate, atol=1e-13)


def test_never_loses_positivity_over_a_million_equal_rows() -> None:
    """One direction a million times, where the normal equations and forgetting would fail."""
    root = SquareRootInformation(np.full(3, 100.0))
    row = np.array([[1.0, 1.0, 1.0, 2.0]])
    for _ in range(1000):
        root.fold_in(np.repeat(row, 1000, axis=0))
        root.diffuse_last(2, np.array([1e-3]))
    assert np.all(np.isfinite(root.covariance()))
    assert np.linalg.eigvalsh(root.covariance())[0] > 0.0
    assert root.solve().sum() == pytest.approx(2.0, abs=1e-3)


def _correlate(seed: int) -> FloatArray:
    """A covariance (5, 5) of strongly correlated variables of very different sizes."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(5, 5)) + 3.0 * rng.normal(size=(5, 1))
    sizes = np.array([1e3, 1.0, 1e-2, 1e-4, 10.0])
    return np.asarray(sizes[:, None] * (mixed @ mixed.T) * sizes)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_known_by_a_covariance_has_this_covariance(seed: int) -> None:
    covariance, values = _correlate(seed), np.array([1.0, -2.0, 3.0, 0.5, 0.0])
    root = SquareRootInformation.from_covariance(values, covariance)
    np.testing.assert_allclose(root.solve(), values, rtol=1e-9, atol=1e-9)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    np.testing.assert_allclose(root.covariance() / scale, covariance / scale, atol=1e-9)
    assert root.squares_left == 0.0
    assert (np.diag(root.factor) > 0.0).all()
    assert not np.tril(root.factor, -1).any()


def test_inverse_root_is_one_also_where_variables_are_the_same() -> None:
    covariance = _correlate(4)
    root = invert_root(covariance)
    np.testing.assert_allclose(root.T @ root @ covariance, np.eye(5), atol=1e-6)
    same = np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    root = invert_root(same)
    assert np.isfinite(root).all()
    sizes = np.linalg.svd(root * [1.0, 2.0, 3.0], compute_uv=False)
    assert sizes[2] == pytest.approx(1.0 / np.sqrt(3.0)), "of the sum of all three, each scaled to one"
    assert sizes[:2] == pytest.approx([1.0 / (3.0 * np.sqrt(np.finfo(float).eps))] * 2, rel=1e-6)


def test_a_covariance_that_rounding_has_spoiled_is_made_definite_by_as_little_as_does() -> None:
    covariance = _correlate(5)
    np.testing.assert_array_equal(make_definite(covariance), 0.5 * (covariance + covariance.T))
    deviations = np.sqrt(np.diag(covariance))
    direction = deviations * np.linalg.eigh(covariance / np.outer(deviations, deviations))[1][:, 0]
    spoiled = np.outer(deviations, deviations) * 0.999999999999999
    spoiled -= 1e-15 * np.outer(direction, direction)
    definite = make_definite(spoiled)
    np.linalg.cholesky(definite)
    np.testing.assert_array_equal(definite, definite.T)
    np.testing.assert_allclose(definite / np.outer(deviations, deviations), np.ones((5, 5)), atol=1e-12)
    assert np.isnan(make_definite(np.full((2, 2), np.nan))).all(), "nothing makes that definite"


def test_what_was_made_definite_is_so_for_whoever_factors_it() -> None:
    """In any order of its variables, however near to singular it is, and whatever their units are."""
    random = np.random.default_rng(0)
    for _ in range(300):
        sizes = 10.0 ** np.append(random.uniform(-17.0, -13.0, 4), random.uniform(-6.0, 0.0, 6))
        directions = np.linalg.qr(random.normal(size=(10, 10)))[0]
        units = 10.0 ** random.uniform(-3.0, 6.0, 10)
        definite = make_definite((directions * sizes) @ directions.T * np.outer(units, units))
        for _ in range(10):
            order = random.permutation(10)
            np.linalg.cholesky(definite[np.ix_(order, order)])
