"""Unknowns together with nuisances, with dense least squares of all rows as oracle."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.systematic_links import Blocks, Channel, JointSolution, Nuisances, solve_jointly
from inertid_ros.core.records import FloatArray

TRUE = np.array([2.0, -1.0, 0.5])
GAINS, DELAY, BUMP, TILT = np.array([0.03, -0.01]), 0.004, 0.2, [0.01, -0.02]
NOISE = 0.02
ROWS = 400


def _rows(seed: int = 0) -> FloatArray:
    """Lines (2, N, 8) [A (3), bump, tilts (2), rate, y] of two channels; the first has no third unknown."""
    random = np.random.default_rng(seed)
    lines = random.normal(size=(2, ROWS, 8))
    lines[0, :, 2] = lines[1, :, 3] = 0.0
    lines[:, :, 6] *= 10.0
    predicted = lines[:, :, :7] @ np.concatenate((TRUE, [BUMP], TILT, [DELAY]))
    lines[:, :, 7] = (1.0 + GAINS[:, None]) * predicted + NOISE * random.normal(size=(2, ROWS))
    return lines


def _solve(lines: FloatArray, nuisances: Nuisances, start: FloatArray = TRUE) -> JointSolution:
    used = ([0, 1, 3, 4, 5, 6], [0, 1, 2, 4, 5, 6])
    channels = [
        Channel(np.asarray(np.linalg.qr(own[:, [*columns, 7]], mode="r")), np.array(columns), ROWS, NOISE**2, 0.0)
        for own, columns in zip(lines, used, strict=True)
    ]
    return solve_jointly(channels, SquareRootInformation(np.full(3, 100.0)), start, nuisances, Blocks())


def test_nuisances_are_found_as_by_dense_nonlinear_least_squares() -> None:
    lines = _rows()
    nuisances = Nuisances(4, 0.02, 0.01, 0.02, 0.5, (np.array([1]), np.array([], dtype=np.int64)))
    found = _solve(lines, nuisances, np.array([1.9, -0.9, 0.6]))
    friction = np.sqrt(np.mean((lines[0, :, 1] * found.values[1]) ** 2))
    deviations = np.array([0.5 * friction, 0.02, 0.02, 0.01, 0.02, 0.02])

    def residuals(unknowns: FloatArray) -> FloatArray:
        predicted = (1.0 + unknowns[7:, None]) * (lines[:, :, :7] @ unknowns[:7])
        left = (predicted - lines[:, :, 7]).ravel() / NOISE
        return np.concatenate((left, unknowns[3:] / deviations, unknowns[:3] / 100.0))

    best = least_squares(residuals, np.concatenate((TRUE, np.zeros(6))), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    np.testing.assert_allclose(found.values, best.x[:3], rtol=1e-4)
    np.testing.assert_allclose(found.nuisances, best.x[3:], rtol=1e-3, atol=1e-6)
    deviations = np.sqrt(np.diag(np.linalg.inv(best.jac.T @ best.jac)))
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), deviations[:3], rtol=0.05)
    np.testing.assert_allclose(found.nuisance_deviations, deviations[3:], rtol=0.05)
    np.testing.assert_array_less(np.abs(found.nuisances[:4] - [BUMP, *TILT, DELAY]), 4.0 * deviations[3:7])


def test_without_nuisances_accuracy_is_repeatability() -> None:
    found = _solve(_rows(), Nuisances(4))
    np.testing.assert_allclose(found.covariance, found.repeatability, rtol=1e-9)
    assert not found.nuisances.any()
    assert not found.nuisance_deviations.any()


def test_gain_never_averages_out() -> None:
    """A gain common to all channels scales all unknowns: ten times the rows repeat better and are no more accurate."""
    few, many = (_solve(np.concatenate([_rows(seed) for seed in range(count)], axis=1), GAIN) for count in (1, 10))
    accuracy = [np.sqrt(np.diag(part.covariance)) for part in (few, many)]
    repeated = [np.sqrt(np.diag(part.repeatability)) for part in (few, many)]
    common = 0.02 * np.abs(TRUE) / np.sqrt(2.0)
    assert np.all(accuracy[1] > 0.95 * common)
    assert np.all(accuracy[1] > 0.8 * accuracy[0])
    assert np.all(repeated[1] < 0.5 * repeated[0])


GAIN = Nuisances(4, gain=0.02)
