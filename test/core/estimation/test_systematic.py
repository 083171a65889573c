"""The joint solution against rows that are kept, numerical derivatives, and linear least squares."""

from __future__ import annotations

import numpy as np
import pytest
from support.products import draw_values, expand_all, make_rows, make_sums, measure

from inertid_ros.core.equations.load import LOAD, PRIOR_BIAS, PRIOR_LOAD, REGRESSORS, UNKNOWNS
from inertid_ros.core.estimation.products import MOVING, READING
from inertid_ros.core.estimation.sensor_equation import DELAY, find_scores
from inertid_ros.core.estimation.systematic import (
    Normal,
    count_independent,
    find_attenuation,
    find_inflation,
    nuisance_deviations,
    solve_jointly,
)


@pytest.mark.parametrize("fixed", [False, True])
def test_a_step_is_that_of_the_dense_normal_equations(fixed: bool) -> None:
    random = np.random.default_rng(3)
    z, noise = make_rows(3, 100), np.repeat([0.3, 0.02], 3)
    deviations = nuisance_deviations(0.0 if fixed else 0.004, 0.008, 0.01, 0.01)
    readings = measure(z, draw_values(3, 1.0)) + noise * random.normal(size=(100, 6))
    sums = make_sums(z, readings, deviations, noise)
    values, inflation = draw_values(4, 0.5), random.uniform(1.0, 3.0, 6)
    found = Normal(sums, sums.total, values, inflation)
    coefficients, derivatives = expand_all(values)
    free = np.flatnonzero(np.append(np.ones(UNKNOWNS), deviations))
    np.testing.assert_array_equal(found.index, free)
    derivatives = derivatives[:, :, free]
    weighted = (sums.total / inflation[:, None, None]) @ derivatives
    data = np.tensordot(derivatives, weighted, axes=((0, 1), (0, 1)))
    known = sums.precision[np.ix_(free, free)]
    slope = np.tensordot(weighted, coefficients, axes=((0, 1), (0, 1))) + known @ (values - sums.mean)[free]
    covariance = np.linalg.inv(data + known)
    sizes = np.sqrt(np.diag(covariance))
    prior = np.zeros_like(known)
    prior[UNKNOWNS:, UNKNOWNS:] = known[UNKNOWNS:, UNKNOWNS:]
    systematic = covariance @ prior @ covariance / np.outer(sizes, sizes)
    np.testing.assert_allclose(
        found.find_systematic(np.eye(len(free) - UNKNOWNS)) / np.outer(sizes, sizes), systematic, atol=1e-6
    )
    whole = (found.find_systematic(np.eye(len(free) - UNKNOWNS)) + found.repeatability) / np.outer(sizes, sizes)
    np.testing.assert_allclose(whole, covariance / np.outer(sizes, sizes), atol=1e-6)
    np.testing.assert_array_equal(found.covariance, found.covariance.T)
    np.testing.assert_allclose(
        found.covariance / sizes / sizes[:, None], covariance / np.outer(sizes, sizes), atol=1e-7
    )
    np.testing.assert_allclose((found.values - values)[free] / sizes, -covariance @ slope / sizes, atol=1e-6)


def test_a_condensed_copy_has_the_same_solution() -> None:
    noise = np.repeat([0.3, 0.02], 3)
    for rows in (60, 800):
        z = make_rows(6, rows)
        sums = make_sums(z, measure(z, draw_values(6, 1.0)), nuisance_deviations(0.004, 0.008, 0.01, 0.01), noise)
        solutions = [solve_jointly(one, draw_values(6, 0.0)[:UNKNOWNS]) for one in (sums, sums.condense())]
        np.testing.assert_allclose(solutions[0].values, solutions[1].values, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(solutions[0].inflation, solutions[1].inflation, rtol=1e-9)


def test_without_nuisances_it_is_weighted_least_squares() -> None:
    z, noise = make_rows(2, 400), np.repeat([0.5, 0.03], 3)
    random = np.random.default_rng(2)
    readings = measure(z, draw_values(2, 0.0)) + noise * random.normal(size=(400, 6))
    sums = make_sums(z, readings, np.zeros(39), noise)
    sums.inflation = np.ones(6)
    solution = solve_jointly(sums, np.zeros(UNKNOWNS))
    regressor = np.einsum("nf,fcu->ncu", z[:, : MOVING + 1], REGRESSORS) / noise[:, None]
    information = np.einsum("ncu,ncv->uv", regressor, regressor) + np.diag(1.0 / np.append(PRIOR_LOAD, PRIOR_BIAS) ** 2)
    expected = np.linalg.solve(information, np.einsum("ncu,nc->u", regressor, readings / noise))
    np.testing.assert_allclose(solution.values[:UNKNOWNS], expected, rtol=1e-6, atol=1e-9)
    covariance = np.linalg.inv(information)
    np.testing.assert_allclose(solution.covariance[:UNKNOWNS, :UNKNOWNS], covariance, rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(solution.repeatability, solution.covariance, rtol=1e-6, atol=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_load_and_nuisances_are_found_within_their_intervals(seed: int) -> None:
    values, z = draw_values(seed, 1.0), make_rows(seed, 800)
    noise = np.repeat([0.3, 0.02], 3)
    readings = measure(z, values) + noise * np.random.default_rng(seed).normal(size=(800, 6))
    sums = make_sums(z, readings, nuisance_deviations(0.004, 0.008, 0.01, 0.01), noise)
    solution = solve_jointly(sums, np.zeros(UNKNOWNS))
    deviations = np.sqrt(np.diag(solution.covariance))
    assert np.abs((solution.values - values) / deviations).max() < 4.5
    assert abs(solution.values[DELAY] - values[DELAY]) < 1.5e-3
    assert deviations[DELAY] < 0.8e-3
    common = deviations[0] / values[0]
    assert 0.004 < common < 0.02, "a gain common to all axes cannot be told from the mass"
    excess = np.linalg.eigvalsh(solution.covariance - solution.repeatability)
    assert excess.min() > -1e-12
    exact = make_sums(z, readings, np.zeros(39), noise)
    wrong = solve_jointly(exact, np.zeros(UNKNOWNS))
    errors = [np.linalg.norm(one.values[4:LOAD] - values[4:LOAD]) for one in (solution, wrong)]
    assert errors[0] < 0.8 * errors[1]


def test_the_next_load_has_the_same_sensor_and_its_covariance_has_two_parts() -> None:
    noise, z = np.repeat([0.3, 0.02], 3), make_rows(8, 800)
    random = np.random.default_rng(8)
    deviations = nuisance_deviations(0.004, 0.008, 0.01, 0.01)
    readings = measure(z, draw_values(8, 1.0)) + noise * random.normal(size=(800, 6))
    first, second = (make_sums(z[part], readings[part], deviations, noise) for part in (slice(400), slice(400, 800)))
    second.mean, second.precision = solve_jointly(first, np.zeros(UNKNOWNS)).forget_load(first.prior)
    normal = Normal(second, second.total, second.values, second.inflation)
    sizes = np.sqrt(np.diag(normal.covariance))
    parts = [part / np.outer(sizes, sizes) for part in (normal.find_systematic(np.eye(39)), normal.repeatability)]
    np.testing.assert_allclose(sum(parts), normal.covariance / np.outer(sizes, sizes), atol=1e-6)
    assert min(np.linalg.eigvalsh(part).min() for part in parts) > -1e-9, "neither is a covariance less than nothing"


@pytest.mark.parametrize(("scale", "low", "high"), [(0.0, 1.0, 1.0), (1.0, 1.0, 1.3), (4.0, 2.5, 4.5)])
def test_a_sensor_that_is_worse_than_is_set_raises_doubt(scale: float, low: float, high: float) -> None:
    """The systematic part is wider by as much as the sensor is worse, what repeats show is not."""
    noise, z = np.repeat([0.03, 0.002], 3), make_rows(9, 800)
    deviations = nuisance_deviations(0.004, 0.008, 0.01, 0.01)
    readings = measure(z, draw_values(9, scale)) + noise * np.random.default_rng(9).normal(size=(800, 6))
    sums = make_sums(z, readings, deviations, noise)
    solution = solve_jointly(sums, np.zeros(UNKNOWNS))
    assert low <= solution.doubt <= high
    normal = Normal(sums, sums.total, solution.values, solution.inflation)
    excess, plain = ((matrix - solution.repeatability)[0, 0] for matrix in (solution.covariance, solution.undoubted))
    assert plain == pytest.approx(normal.find_systematic(np.eye(39))[0, 0], rel=1e-3)
    assert excess >= (1.0 - 1e-9) * solution.doubt**2 * plain
    assert excess <= (1.5 * max(solution.doubt, scale)) ** 2 * plain


@pytest.mark.parametrize("kind", ["gain", "cross_talk"])
def test_gains_that_are_far_off_are_a_reason_to_doubt_other_gains(kind: str) -> None:
    """Gains of 5 % where 1 % is set, all else as is set: the mass is off by what cannot be seen of them."""
    noise, z = np.repeat([0.03, 0.002], 3), make_rows(12, 800)
    deviations, scores = nuisance_deviations(0.004, 0.008, 0.01, 0.01), []
    is_gain = np.eye(6, dtype=bool).ravel()
    for seed in range(40):
        random, exact = np.random.default_rng(seed), draw_values(12, 0.0)
        sizes = np.where(is_gain == (kind == "gain"), 0.05, 0.003) * deviations[3:] / 0.01
        exact[UNKNOWNS + 3 :] = sizes * random.normal(size=36)
        sums = make_sums(z, measure(z, exact) + noise * random.normal(size=(800, 6)), deviations, noise)
        solution = solve_jointly(sums, np.zeros(UNKNOWNS))
        scores.append((solution.values[0] - exact[0]) / np.sqrt(solution.covariance[0, 0]))
    assert np.sqrt(np.mean(np.square(scores))) < 1.5
    assert np.mean(np.abs(scores) > 3.0) <= 0.1


@pytest.mark.parametrize(("rate", "is_slow"), [(1.0, True), (15.0, False)])
def test_what_is_left_over_is_slow_or_swings(rate: float, is_slow: bool) -> None:
    noise, z = np.repeat([0.03, 0.002], 3), make_rows(10, 800)
    left = 30.0 * noise * np.sin(rate * 0.02 * np.arange(800))[:, None]
    sums = make_sums(z, measure(z, draw_values(10, 0.0)) + left, np.zeros(39), noise)
    assert (solve_jointly(sums, np.zeros(UNKNOWNS)).slowness > 0.5) is is_slow


def test_white_residuals_need_no_inflation_and_correlated_ones_do() -> None:
    random, noise = np.random.default_rng(5), np.repeat([0.3, 0.02], 3)
    z = make_rows(5, 1500)
    wrench = measure(z, draw_values(5, 0.0))
    white = random.normal(size=(1500, 6))
    slow = np.zeros((1500, 6))
    for index in range(1, 1500):
        slow[index] = 0.96 * slow[index - 1] + random.normal(size=6) * np.sqrt(1.0 - 0.96**2)
    density_ratio = (1.0 + 0.96) / (1.0 - 0.96)
    for disturbance, expected in ((white, 1.0), (slow, density_ratio)):
        sums = make_sums(z, wrench + noise * disturbance, np.zeros(39), noise)
        values = solve_jointly(sums, np.zeros(UNKNOWNS)).values
        found = find_inflation(sums, Normal(sums, sums.total, values, sums.inflation))
        assert 0.4 * expected < found.mean() < 1.6 * max(expected, 1.0)


def test_what_is_expected_of_the_noise_counts_among_its_degrees_of_freedom() -> None:
    """Two seconds of rest and one of motion, residuals of nothing: f scores of zero beside 20 that are expected."""
    noise, z = np.repeat([0.3, 0.02], 3), make_rows(5, 160)
    z[:100] = z[0]
    exact = draw_values(5, 0.0)
    sums = make_sums(z, measure(z, exact), np.zeros(39), noise)
    assert len(sums.short_blocks) == 3
    sums.known_inflation = np.zeros(6)
    found = find_inflation(sums, Normal(sums, sums.total, exact, sums.inflation))
    freedom = 2.0 * count_independent(sums.lower[0])
    expected = 20.0 / (20.0 + freedom) * (1.0 + 2.0 / (20.0 + freedom))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_the_model_misses_of_a_motion_does_not_average_out_by_repeating_it() -> None:
    """One period of 10 s and three: intervals shrink by the root of three if residuals are noise, else they stay."""
    random, noise, rows = np.random.default_rng(6), np.repeat([0.3, 0.02], 3), 500
    period = make_rows(6, rows)
    missed = 20.0 * noise * np.sin(np.outer(np.arange(rows) * 0.02, random.uniform(1.0, 4.0, 6)))
    for misfit, expected in ((0.0 * missed, 3.0**-0.5), (missed, 1.0)):
        widths = []
        for count in (1, 3):
            z = np.tile(period, (count, 1))
            readings = measure(z, draw_values(6, 0.0)) + np.tile(misfit, (count, 1))
            sums = make_sums(z, readings + noise * random.normal(size=readings.shape), np.zeros(39), noise)
            widths.append(np.sqrt(np.diag(solve_jointly(sums, np.zeros(UNKNOWNS)).covariance))[:LOAD])
        ratio = float(np.median(widths[1] / widths[0]))
        assert ratio == pytest.approx(expected, rel=0.2)


def test_independent_features_are_counted_by_their_correlations() -> None:
    features = np.random.default_rng(7).normal(size=(10_000, MOVING + 1))
    gram = np.zeros((READING + 1, READING + 1))

    def count(columns: list[int]) -> float:
        gram[: MOVING + 1, : MOVING + 1] = np.tril(features[:, columns].T @ features[:, columns])
        return count_independent(gram)

    assert count([*range(13)]) == pytest.approx(13.0, rel=0.01)
    assert count([0] * 13) == pytest.approx(1.0)
    assert count([0, 1] * 6 + [0]) == pytest.approx(2.0, rel=0.02)


def test_a_fit_absorbs_as_much_of_the_scores_as_is_expected() -> None:
    """Scores of white noise after a fit, over many draws, against what find_inflation expects of them: one."""
    noise, z = np.repeat([0.3, 0.02], 3), make_rows(11, 320)
    deviations, random = nuisance_deviations(0.004, 0.008, 0.01, 0.01), np.random.default_rng(11)
    wrench, found = measure(z, draw_values(11, 0.5)), []
    for _ in range(12):
        sums = make_sums(z, wrench + noise * random.normal(size=wrench.shape), deviations, noise)
        sums.inflation = np.ones(6)
        normal = Normal(sums, sums.total, sums.values, sums.inflation)
        coefficients, derivatives = expand_all(normal.values)
        squares = np.einsum("bcfp,cp->bcf", sums.blocks, coefficients) ** 2
        expected = np.einsum("bcff->bcf", sums.blocks[..., : MOVING + 1])
        whole = np.zeros((55, 55))
        whole[np.ix_(normal.index, normal.index)] = normal.covariance
        scores, absorbed = find_scores(sums.blocks, normal.values, normal.covariance, normal.index)
        slopes = np.einsum("bcfp,cpu->bcfu", sums.blocks, derivatives)
        np.testing.assert_allclose(absorbed, np.einsum("bcfu,uv,bcfv->bcf", slopes, whole, slopes), rtol=1e-6)
        np.testing.assert_allclose(scores**2, squares, rtol=1e-6)
        assert (absorbed < expected).all()
        ratio, share = squares.sum(axis=0) / expected.sum(axis=0), absorbed.sum(axis=0) / expected.sum(axis=0)
        found.append(ratio.mean() / (1.0 - share).mean())
    assert absorbed.sum() > 0.25 * expected.sum(), "three blocks are few: the fit takes much away"
    assert np.mean(found) == pytest.approx(1.0, abs=0.1)


def test_attenuation_by_noise_of_the_motion_is_what_it_is_on_average() -> None:
    """Motion as it is makes the wrenches, motion with noise the products: the mean error is twice the pull."""
    rows, noise, deviation, exact = 400, np.repeat([0.3, 0.02], 3), 0.15, draw_values(0, 0.0)
    errors, pulls = [], []
    for seed in range(40):
        random, z = np.random.default_rng(seed), make_rows(seed, rows)
        readings = measure(z, exact) + noise * random.normal(size=(rows, 6))
        z[:, :6] += deviation * random.normal(size=(rows, 6))
        sums = make_sums(z, readings, np.zeros(39), noise)
        normal = Normal(sums, sums.total, exact, np.ones(6))
        motion_noise = np.zeros((4, 6))
        motion_noise[:2] = 3.0 * rows * deviation**2 / noise**2
        errors.append((normal.values - exact)[:LOAD])
        pulls.append(find_attenuation(normal, motion_noise)[0][:LOAD])
    mean, pull, scatter = np.mean(errors, axis=0), np.mean(pulls, axis=0), np.std(errors, axis=0) / np.sqrt(40)
    assert (np.abs(pull) > 3.0 * scatter).any(), "there is something to be subtracted"
    np.testing.assert_allclose((mean + 2.0 * pull) / scatter, 0.0, atol=3.5)


def test_attenuation_is_as_uncertain_as_the_part_of_it_that_is_noise() -> None:
    noise = np.repeat([0.3, 0.02], 3)
    z = make_rows(8, 100)
    sums = make_sums(z, measure(z, draw_values(8, 0.0)), np.zeros(39), noise)
    normal = Normal(sums, sums.total, draw_values(8, 0.0), np.ones(6))
    motion_noise = np.zeros((4, 6))
    motion_noise[:2] = 1e3
    pull, unsure = find_attenuation(normal, motion_noise)
    np.testing.assert_allclose(unsure, np.outer(pull, pull) / 3.0, err_msg="uniform from nothing to twice the mean")
    hidden, all_of_it = find_attenuation(normal, motion_noise[[2, 3, 0, 1]])
    assert not hidden.any()
    np.testing.assert_allclose(all_of_it, 4.0 * np.outer(pull, pull))


@pytest.mark.parametrize(("misfit", "low", "high"), [(0.0, 0.5, 2.0), (3.0, 5.0, 100.0)])
def test_a_motion_that_is_repeated_tells_noise_from_what_the_model_misses(
    misfit: float, low: float, high: float
) -> None:
    """Rest, then the same two seconds over and over: noise differs each time, what the model misses adds up."""
    noise, random = np.repeat([0.3, 0.02], 3), np.random.default_rng(13)
    rest, one, other = make_rows(14, 1).repeat(100, axis=0), make_rows(15, 100), make_rows(16, 100)
    missed = misfit * noise * np.sin(0.35 * np.arange(100))[:, None] * random.choice([-1.0, 1.0], 6)
    deviations = nuisance_deviations(0.004, 0.008, 0.01, 0.01)
    for repeats in (3, 5, 7):
        z = np.concatenate((rest, *[one, other] * repeats))
        readings = measure(z, draw_values(15, 0.0)) + noise * random.normal(size=(len(z), 6))
        readings[100:] += np.tile(missed, (2 * repeats, 1))
        assert low < float(make_sums(z, readings, deviations, noise).inflation.mean()) < high
