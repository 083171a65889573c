"""Unknowns together with nuisances, with dense least squares of all rows as oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from inertid_ros.core.estimation.gears import Channel
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.misfit import Blocks
from inertid_ros.core.estimation.systematic_links import (
    JointSolution,
    Nuisances,
    add_courses,
    find_courses,
    solve_jointly,
)
from inertid_ros.core.records import FloatArray

TRUE = np.array([2.0, -1.0, 0.5])
GAINS, DELAY, BUMP, TILT = np.array([0.015, -0.01]), 0.004, 0.2, [0.01, -0.02]
NOISE = 0.02
ROWS = 400
GAIN = Nuisances(4, gain=0.02)


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
    return solve_jointly(channels, SquareRootInformation(np.full(3, 100.0)), start, nuisances, Blocks(np.arange(1)))


def test_nuisances_are_found_as_by_dense_nonlinear_least_squares() -> None:
    """How large bumps are follows from the one that there is: as large as it was found, and hardly uncertain."""
    lines = _rows()
    nuisances = Nuisances(4, (0.02, 0.02), 0.01, 0.02, 0.5, 0.0, (np.array([1]), np.array([], dtype=np.int64)))
    found = _solve(lines, nuisances, np.array([1.9, -0.9, 0.6]))
    deviations = np.array([abs(found.nuisances[0]), 0.02, 0.02, 0.01, 0.02, 0.02])

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


def test_bumps_that_are_not_there_cost_nothing() -> None:
    lines = _rows()
    lines[0, :, 7] -= (1.0 + GAINS[0]) * BUMP * lines[0, :, 3]
    lines[0, :, 3] = lines[0, :, 0] + 0.05 * lines[0, :, 3]  # hardly told from the first unknown
    frictions = (np.array([1]), np.array([], dtype=np.int64))
    asked, without = (
        _solve(lines[:1].repeat(2, axis=0), Nuisances(4, gain=0.02, friction=friction, frictions=frictions))
        for friction in (0.5, 0.0)
    )
    widths = [np.sqrt(np.diag(part.covariance)) for part in (asked, without)]
    assert widths[0][0] < 1.1 * widths[1][0]


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


def test_courses_are_principal_components_of_a_random_walk() -> None:
    """Against walks that are drawn: mean zero where there is motion, rms one, and most of the variance explained."""
    random = np.random.default_rng(4)
    lengths, motion = np.array([4.0, 4.0, 2.0, 2.0, 1.0, 1.0, 0.3]), np.array([0.0, 3.0, 2.0, 2.0, 1.0, 1.0, 0.2])
    courses = find_courses(lengths, motion)
    np.testing.assert_allclose(motion @ courses, 0.0, atol=1e-12)
    shares = lengths / lengths.sum()
    assert float(np.sum(shares @ courses**2)) == pytest.approx(1.0)
    fine = np.repeat(np.arange(len(lengths)), (100 * lengths).astype(int))
    walks = np.cumsum(random.normal(size=(2000, len(fine))), axis=1)
    means = np.array([walks[:, fine == part].mean(axis=1) for part in range(len(lengths))]).T
    means -= (means @ motion / motion.sum())[:, None]
    weighted, basis = means * np.sqrt(shares), courses * np.sqrt(shares)[:, None]
    left = weighted - weighted @ basis @ np.linalg.pinv(basis)
    assert np.sum(left**2) < 0.1 * np.sum(weighted**2)


def test_added_columns_are_those_of_dense_rows() -> None:
    """One column depends on another, and one is zero, as those of joints that have not moved."""
    random = np.random.default_rng(5)
    lines = random.normal(size=(ROWS, 6))
    lines[:, 3], lines[:, 4] = 2.0 * lines[:, 0], 0.0
    courses, own = random.normal(size=(4, 2)), np.array([1, 2])
    parts = np.array([np.tril(part.T @ part) for part in lines.reshape(4, -1, 6)])
    added = (np.repeat(courses, ROWS // 4, axis=0)[:, :, None] * lines[:, None, own]).reshape(ROWS, -1)
    dense = np.hstack((lines[:, :-1], added, lines[:, -1:]))
    found = add_courses(np.asarray(np.linalg.qr(lines, mode="r")), parts, own, courses)
    np.testing.assert_allclose(found.T @ found, dense.T @ dense, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_friction_that_wanders_is_its_mean_and_hides_nothing_else(share: float) -> None:
    """A drive loses 30 % of its friction: values are those of the mean, and intervals those of the noise.

    The mean is that of the whole motion, whatever early rows count.
    """
    random, blocks = np.random.default_rng(6), 12
    lines = random.normal(size=(100 * blocks, 6))
    warm = 1.0 - 0.3 * np.linspace(0.0, 1.0, len(lines))
    lines[:, 2:5] = 0.0
    lines[:, 5] = TRUE[0] * lines[:, 0] + warm * TRUE[1] * lines[:, 1] + NOISE * random.normal(size=len(lines))
    past = Blocks(np.arange(1))
    for part in lines.reshape(blocks, 100, 6):
        past.end(np.tile(np.tril(part.T @ part).ravel(), (4, 1)))
        if past.ended == blocks // 2:
            past = past.discount(np.full(36, share))
    counted = lines * np.sqrt(np.where(np.arange(len(lines)) < len(lines) // 2, share, 1.0))[:, None]
    channel = Channel(np.asarray(np.linalg.qr(counted, mode="r")), np.arange(5), len(lines), NOISE**2, 0.0)
    prior, nuisances = SquareRootInformation(np.full(2, 100.0)), Nuisances(3, frictions=(np.array([1]),))
    found, blind = (
        solve_jointly([channel], prior, TRUE[:2], replace(nuisances, wander=wander), past) for wander in (0.1, 0.0)
    )
    deviations = np.sqrt(np.diag(found.covariance))
    mean = float(np.average(warm, weights=lines[:, 1] ** 2))
    np.testing.assert_array_less(np.abs(found.values - [TRUE[0], mean * TRUE[1]]), 3.0 * deviations)
    np.testing.assert_array_less(deviations, 2.0 * NOISE / np.sqrt(share * len(lines)))
    np.testing.assert_array_less(3.0 * deviations, np.sqrt(np.diag(blind.covariance)))


@pytest.mark.parametrize(("scale", "low", "high"), [(0.0, 1.0, 1.0), (1.0, 1.0, 1.35), (5.0, 3.0, 6.0)])
def test_gains_that_differ_more_than_is_set_are_doubted(scale: float, low: float, high: float) -> None:
    """Five channels with the same unknown: what is seen of their gains tells how large the common one may be."""
    widths, errors, random = [], [], np.random.default_rng(3)
    for _ in range(30):
        a = random.normal(size=(6, 300))
        gains = 0.02 * scale * random.normal(size=6)
        y = (1.0 + gains[:, None]) * 2.0 * a + 0.005 * random.normal(size=a.shape)
        channels = [
            Channel(np.asarray(np.linalg.qr(np.stack(own, axis=1), mode="r")), np.array([0]), 300, 0.005**2, 0.0)
            for own in zip(a, y, strict=True)
        ]
        prior = SquareRootInformation(np.array([100.0]))
        found = solve_jointly(channels, prior, np.array([2.0]), Nuisances(gain=0.02), Blocks(np.arange(1)))
        widths.append(float(np.sqrt(found.covariance[0, 0])) / (2.0 * 0.02 / np.sqrt(6.0)))
        errors.append(float(found.values[0] - 2.0))
    assert low - 0.05 <= np.median(widths) <= high + 0.05, "in units of the width if gains are as set"
    assert np.mean(np.abs(errors) / (2.0 * 0.02 / np.sqrt(6.0) * np.array(widths)) > 2.0) <= 0.2
