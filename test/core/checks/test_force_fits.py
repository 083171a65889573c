"""Sums that are fitted in closed form, and divisions into runs, against least squares and all divisions there are."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from inertid_ros.core.checks.gravity_hypotheses import _RUN, divide, find_residual, sum_up
from inertid_ros.core.checks.wrench_convention import _explain_moments, _judge_moments
from inertid_ros.core.records import FloatArray


def draw(seed: int, count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Accelerations and forces (N, 3), far from their means, and weights (N,)."""
    random = np.random.default_rng(seed)
    felt = random.normal([1.0, -2.0, 3.0], 1.0, (count, 3))
    return felt, random.normal([5.0, 0.0, -7.0], 2.0, (count, 3)), random.uniform(0.5, 4.0, count)


def fit(felt: FloatArray, forces: FloatArray, weights: FloatArray) -> float:
    """What the best mass and bias of f = m a + b leave of the weighed squares, by least squares."""
    matrix = np.column_stack((felt.ravel(), np.tile(np.eye(3), (len(felt), 1))))
    root = np.sqrt(np.repeat(weights, 3))
    left = root[:, None] * matrix @ np.linalg.lstsq(root[:, None] * matrix, root * forces.ravel())[0]
    return float(((left - root * forces.ravel()) ** 2).sum())


@pytest.mark.parametrize("seed", range(3))
def test_sums_leave_what_least_squares_leave_of_all_runs(seed: int) -> None:
    felt, forces, weights = draw(seed, 9)
    sums = sum_up(felt, forces, weights)
    for start, stop in combinations(range(10), 2):
        left = find_residual(sums[start], sums[stop])
        if stop - start > 1:
            run = slice(start, stop)
            assert left == pytest.approx(fit(felt[run], forces[run], weights[run]), rel=1e-6, abs=1e-6)
        else:
            assert left == pytest.approx(0.0, abs=1e-6), "a bias explains one pose"


@pytest.mark.parametrize("seed", range(4))
def test_no_division_is_cheaper_than_the_one_that_is_found(seed: int) -> None:
    """Each run but the first has a cost of its own."""
    felt, forces, weights = draw(seed, 9)
    forces = forces + np.repeat([[0.0, 40.0, 0.0], [30.0, 0.0, 0.0], [0.0, 0.0, 9.0]], 3, axis=0)
    costs = {}
    for count in range(9):
        for cuts in combinations(range(1, 9), count):
            runs = list(pairwise((0, *cuts, 9)))
            left = sum(fit(felt[a:b], forces[a:b], weights[a:b]) for a, b in runs if b - a > 1)
            costs[tuple(runs)] = left + _RUN * (len(runs) - 1)
    best = min(costs, key=lambda runs: costs[runs])
    cost, found = divide(felt, forces, weights)
    assert tuple(found) == best
    assert cost == pytest.approx(costs[best], rel=1e-6)
    assert len(best) > 1


def draw_moments(seed: int, noise: float) -> tuple[FloatArray, FloatArray]:
    """Accelerations and the moments of a centre of mass (N, 3)."""
    random = np.random.default_rng(seed)
    felt = random.normal(size=(50, 3)) * [3.0, 4.0, 5.0]
    return felt, np.cross([0.1, -0.2, 0.3], felt) + noise * random.normal(size=(50, 3))


@pytest.mark.parametrize("seed", range(3))
def test_moments_are_explained_as_far_as_least_squares_explain_them(seed: int) -> None:
    felt, moments = draw_moments(seed, 1.0)
    centred = np.cov(np.hstack((felt, moments)).T)
    a, n = felt - felt.mean(axis=0), moments - moments.mean(axis=0)
    matrix = np.stack([np.cross(axis, a).ravel() for axis in np.eye(3)], axis=1)
    arm = np.linalg.lstsq(matrix, n.ravel())[0]
    explained = ((matrix @ arm) ** 2).sum() / (len(felt) - 1)
    assert _explain_moments(centred[:3, :3], centred[:3, 3:]) == pytest.approx(explained)


@pytest.mark.parametrize("signs", [(1.0, 1.0, 1.0), (-1.0, -1.0, -1.0), (1.0, 1.0, -1.0), (-1.0, 1.0, 1.0)])
@pytest.mark.parametrize("noise", [0.01, 30.0])
def test_moments_are_of_another_handedness_if_a_mirror_image_explains_them(
    signs: tuple[float, float, float], noise: float
) -> None:
    felt, moments = draw_moments(1, noise)
    centred = np.cov(np.hstack((felt, moments * np.array(signs))).T)
    found = _judge_moments(centred[:3, :3], centred[:3, 3:], centred[3:, 3:])
    is_mirrored = noise < 1.0 and signs not in ((1.0, 1.0, 1.0), (-1.0, -1.0, -1.0))
    assert [finding.code for finding in found] == (["moments_mirrored"] if is_mirrored else [])
    assert _judge_moments(centred[:3, :3], 1e-4 * centred[:3, 3:], 1e-8 * centred[3:, 3:]) == (), "too small to tell"
