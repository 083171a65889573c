"""Evidence of a change against brute-force Gaussian integrals over rows that are kept, and what it says of changes."""

from __future__ import annotations

import numpy as np
import pytest
from support.products import draw_values, make_rows, make_sums, measure

from inertid_ros.core.equations.load import FEATURES, LOAD, PRIOR_BIAS, PRIOR_LOAD, REGRESSORS, UNKNOWNS
from inertid_ros.core.estimation.change import (
    CERTAIN,
    CHANGE,
    Evidence,
    find_sameness,
    looks_the_same,
    tells_more_than_pose,
    weigh_change,
)
from inertid_ros.core.estimation.products import CONSTANT, PRODUCTS, ProductSums
from inertid_ros.core.estimation.sensor_equation import find_coefficients
from inertid_ros.core.estimation.systematic import nuisance_deviations
from inertid_ros.core.records import FloatArray

NOISE = np.repeat([0.5, 0.03], 3)
NO_NUISANCES = np.zeros(39)
SENSOR = nuisance_deviations(0.004, 0.008, 0.01, 0.01)
PART_OF_100_G = 0.1 * np.concatenate(([1.0, 0.02, 0.01, 0.1], [0.0105, -2e-4, -2e-3, 0.0108, -1e-3, 9e-4]))
TARE = np.array([0.5, 0.0, -0.5, 0.0, 0.02, 0.0])
CHANGES = {
    "nothing": np.zeros(UNKNOWNS),
    "load": np.concatenate((PART_OF_100_G, np.zeros(6))),
    "bias": np.concatenate((np.zeros(LOAD), TARE)),
}


class Recorded:
    """Rows before (B) and in a window (W) after something has changed, and the sums of both."""

    def __init__(self, seed: int, change: str, deviations: FloatArray, before: int = 600, window: int = 100) -> None:
        random = np.random.default_rng(seed)
        values = draw_values(seed, 1.0 if deviations.any() else 0.0)
        later = values.copy()
        later[:UNKNOWNS] += CHANGES[change]
        z = make_rows(seed, before + window)
        wrenches = np.concatenate((measure(z[:before], values), measure(z[before:], later)))
        self.readings = wrenches + NOISE * random.normal(size=wrenches.shape)
        self.z, self.before = z, before
        self.sums = make_sums(z[:before], self.readings[:before], deviations, NOISE)
        self.sums.inflation = np.ones(6)

    def products(self, rows: slice) -> FloatArray:
        return make_sums(self.z[rows], self.readings[rows], NO_NUISANCES, NOISE).total

    def weigh(self) -> Evidence:
        return weigh_change(self.sums, self.sums.total, self.products(slice(self.before, None)))


def integrate(z: FloatArray, readings: FloatArray, covariance: FloatArray, mean: FloatArray) -> float:
    """Logarithm of the probability of all readings of some rows if load and bias are N(mean, covariance)."""
    regressor = np.einsum("nf,fcu->ncu", z[:, :FEATURES], REGRESSORS).reshape(-1, UNKNOWNS)
    spread = regressor @ covariance @ regressor.T + np.diag(np.tile(NOISE**2, len(z)))
    residual = readings.ravel() - regressor @ mean
    _, size = np.linalg.slogdet(spread)
    return float(-0.5 * (residual @ np.linalg.solve(spread, residual) + size))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("seed", range(3))
def test_evidence_is_the_ratio_of_integrals_over_all_rows(seed: int, change: str) -> None:
    recorded = Recorded(seed, change, NO_NUISANCES, before=200, window=25)
    old, new = slice(0, 200), slice(200, None)
    regressor = np.einsum("nf,fcu->ncu", recorded.z[old, :FEATURES], REGRESSORS) / NOISE[:, None]
    prior = np.diag(1.0 / np.concatenate((PRIOR_LOAD, PRIOR_BIAS)) ** 2)
    covariance = np.linalg.inv(np.einsum("ncu,ncv->uv", regressor, regressor) + prior)
    mean = covariance @ np.einsum("ncu,nc->u", regressor, recorded.readings[old] / NOISE)
    nothing, *changed = (
        integrate(recorded.z[new], recorded.readings[new], covariance + np.diag(CHANGE**2 * part), mean)
        for part in (np.zeros(UNKNOWNS), np.arange(UNKNOWNS) < LOAD, np.arange(UNKNOWNS) >= LOAD)
    )
    evidence = recorded.weigh()
    # Directions of which the window says next to nothing are left out, at most 0.005 for each of sixteen.
    np.testing.assert_allclose([evidence.load, evidence.bias], np.array(changed) - nothing, atol=0.08)


@pytest.mark.parametrize("deviations", [NO_NUISANCES, SENSOR], ids=["exact sensor", "imperfect sensor"])
@pytest.mark.parametrize("seed", range(5))
def test_changes_are_found_and_told_apart(seed: int, deviations: FloatArray) -> None:
    load, bias = (Recorded(seed, change, deviations).weigh() for change in ("load", "bias"))
    assert load.strongest > CERTAIN
    assert bias.strongest > CERTAIN
    assert load.is_distinct
    assert load.load > load.bias
    assert bias.is_distinct
    assert bias.bias > bias.load


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_found_where_nothing_has_changed(seed: int) -> None:
    assert Recorded(seed, "nothing", SENSOR).weigh().strongest < 0.0


def test_change_is_estimated_with_its_covariance() -> None:
    recorded = Recorded(3, "load", NO_NUISANCES)
    evidence = recorded.weigh()
    truth = draw_values(3, 0.0)[:UNKNOWNS] + CHANGES["load"]
    z_scores = (evidence.changed[:UNKNOWNS] - truth) / np.sqrt(np.diag(evidence.covariance)[:UNKNOWNS])
    assert np.abs(z_scores).max() < 4.0
    assert evidence.covariance[0, 0] < 0.1 * CHANGE[0] ** 2


@pytest.mark.parametrize("change", CHANGES)
def test_what_looks_the_same_need_not_be_weighed(change: str) -> None:
    """A hundred rows after the change, four pieces, beside those before it: a glance at single scores tells."""
    recorded = Recorded(2, change, NO_NUISANCES)
    sums = recorded.sums.copy()
    values = sums.values.copy()
    for z, reading in zip(recorded.z[600:], recorded.readings[600:], strict=True):
        if sums.add(z.copy(), reading, NOISE**2, NOISE**2, 0.02):
            sums.begin_piece(np.zeros(6))
    sums.inflation = np.ones(6)
    assert looks_the_same(sums, find_coefficients(values), sums.known_noise, 4) is (change == "nothing")
    assert looks_the_same(recorded.sums, find_coefficients(values), recorded.sums.known_noise, 4)


def test_how_much_residuals_scatter_decides_what_stands_out() -> None:
    recorded = Recorded(2, "load", NO_NUISANCES)
    sums = recorded.sums.copy()
    for z, reading in zip(recorded.z[600:], recorded.readings[600:], strict=True):
        if sums.add(z.copy(), reading, NOISE**2, NOISE**2, 0.02):
            sums.begin_piece(np.zeros(6))
    sums.inflation = np.full(6, 1e4)
    assert looks_the_same(sums, find_coefficients(recorded.sums.values), sums.known_noise, 4)


def make_next(change: FloatArray) -> tuple[ProductSums, Evidence, FloatArray]:
    """What is suspected of 100 g more, and a piece after it in which the load has changed by this instead."""
    recorded = Recorded(4, "load", SENSOR)
    values, z = draw_values(4, 1.0), make_rows(4, 725)[700:]
    values[:UNKNOWNS] += change
    readings = measure(z, values) + NOISE * np.random.default_rng(9).normal(size=(25, 6))
    return recorded.sums, recorded.weigh(), make_sums(z, readings, NO_NUISANCES, NOISE).total


def test_a_change_that_stays_is_not_contradicted() -> None:
    assert not find_sameness(*make_next(CHANGES["load"])).is_contradicted


@pytest.mark.parametrize("factor", [0.0, 2.5], ids=["it has passed", "it has grown"])
def test_a_change_that_passes_or_grows_is_contradicted(factor: float) -> None:
    assert find_sameness(*make_next(factor * CHANGES["load"])).is_contradicted


def hold(*poses: tuple[float, float, float]) -> FloatArray:
    """Products (6, P, P) of a window in which these proper accelerations are held one after the other."""
    z = np.zeros((len(poses), PRODUCTS))
    z[:, :3], z[:, CONSTANT] = poses, 1.0
    return np.tile(z.T @ z, (6, 1, 1))


@pytest.mark.parametrize(
    ("window", "before", "tells"),
    [
        (hold((0.0, 0.0, 9.8)), hold((0.0, 9.8, 0.0)), False),
        (hold((0.0, 0.0, 9.8), (0.0, 0.1, 9.8)), hold((0.0, 9.8, 0.0)), False),
        (hold((0.0, 0.0, 9.8)), hold((0.0, 0.05, 9.8)), True),
        (hold((0.0, 0.0, 9.8), (0.0, 2.0, 9.6)), hold((0.0, 9.8, 0.0)), True),
    ],
)
def test_one_pose_tells_nothing_unless_it_was_held_before(window: FloatArray, before: FloatArray, tells: bool) -> None:
    assert tells_more_than_pose(window, before) is tells
