"""Scores of noise that has passed the filters of the rows, by its autocovariance in closed form and by many draws."""

from __future__ import annotations

import numpy as np
from support.products import draw_values, make_rows, make_sums, measure

from inertid_ros.core.equations.load import LOAD
from inertid_ros.core.estimation.damping import DAMPED, UNFILTERED, Damping, add_filtered
from inertid_ros.core.estimation.products import MOVING, PIECES, READING
from inertid_ros.core.estimation.systematic import Normal, find_inflation
from inertid_ros.core.records import FloatArray

POLES = np.array([20.0, 30.0])
STEP, ROWS = 0.02, 150
CONSTANT, SIZE = 3, 4


def make_features(rows: int = ROWS) -> FloatArray:
    """(N, 4) two sines, a fast and a slow one with a mean, their product, and a constant."""
    times = STEP * np.arange(rows)
    fast, slow = np.sin(12.0 * times + 1.0), 5.0 + np.sin(4.0 * times)
    return np.column_stack((fast, slow, fast * slow, np.ones(rows)))


def correlate(times: FloatArray) -> FloatArray:
    """Autocovariance (N, N) of white noise of density one behind both poles, in closed form."""
    first, second = POLES
    apart = np.abs(np.subtract.outer(times, times))
    decay = second * np.exp(-first * apart) - first * np.exp(-second * apart)
    return np.asarray(first * second / (2.0 * (second**2 - first**2)) * decay)


def take(features: FloatArray, poles: FloatArray, weight: float = 1.0) -> Damping:
    damping = Damping(poles, SIZE, CONSTANT)
    for row in features:
        add_filtered(row, CONSTANT, weight, STEP, damping.poles, damping.states, damping.sums)
    return damping


def test_scores_are_damped_as_the_autocovariance_of_the_noise_says() -> None:
    features, weight = make_features(), 7.0
    gram = weight * features.T @ features
    expected = weight * STEP * features.T @ correlate(STEP * np.arange(ROWS)) @ features
    found = take(features, POLES, weight).damp(gram[None])[0]
    sizes = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(found / np.outer(sizes, sizes), expected / np.outer(sizes, sizes), atol=0.05)
    assert (np.diag(expected) / np.diag(gram))[0] < 0.7, "or there was nothing to be found"


def test_a_motion_that_has_only_begun_is_damped_no_more_than_it_is() -> None:
    """Its newest rows count most, and have not passed the filters yet."""
    features = np.column_stack((np.linspace(0.0, 1.0, 30) ** 3, np.ones((30, 3))))
    features[:, 1:3] = 0.0
    expected = STEP * features[:, 0] @ correlate(STEP * np.arange(30)) @ features[:, 0]
    damping = take(features, POLES)
    found = damping.damp((features.T @ features)[None])[0, 0, 0]
    assert 0.9 < found / expected < 1.15
    assert damping.sums[DAMPED, 0, 0] < 0.75 * expected, "or filters held nothing any more"


def test_shares_are_those_of_scores_about_the_mean() -> None:
    """What varies about a mean is damped as if the mean were not there."""
    features = make_features(3000)
    shares = take(features, POLES).find_shares(SIZE)
    poles = 1.0 / np.prod(1.0 + (np.array([[12.0], [4.0]]) / POLES) ** 2, axis=1)
    np.testing.assert_allclose(shares[:2], poles, rtol=0.05)
    assert shares[CONSTANT] == 1.0, "nothing of a constant varies"


def test_what_no_filter_has_damped_stays() -> None:
    features = make_features()
    gram = features.T @ features
    damping = take(features, UNFILTERED)
    np.testing.assert_allclose(damping.damp(gram[None])[0], gram, rtol=1e-8)
    np.testing.assert_allclose(damping.find_shares(SIZE), 1.0)
    np.testing.assert_allclose(Damping(POLES, SIZE, CONSTANT).damp(gram[None])[0], gram, rtol=1e-8)


def test_other_weights_of_the_same_motion_are_damped_alike() -> None:
    features = make_features()
    damping, gram = take(features, POLES), features.T @ features
    damped = damping.damp(np.stack((gram, 9.0 * gram)))
    np.testing.assert_allclose(damped[1], 9.0 * damped[0], rtol=1e-6)


def test_filters_that_were_restarted_remember_nothing() -> None:
    features = make_features()
    features[80:] *= np.minimum(np.arange(1.0, ROWS - 79.0) / 10.0, 1.0)[:, None]
    one = take(features, POLES)
    both = take(features[:80], POLES).join(take(features[80:], POLES))
    np.testing.assert_allclose(one.sums, both.sums, rtol=1e-12)


def test_a_copy_goes_on_by_itself() -> None:
    damping = take(make_features(), POLES)
    same, before = damping.copy(), damping.sums.copy()
    add_filtered(np.ones(SIZE), CONSTANT, 1.0, STEP, same.poles, same.states, same.sums)
    np.testing.assert_array_equal(damping.sums, before)


def test_a_load_scatters_as_its_repeatability_says_where_filters_damp_the_noise() -> None:
    """A fast motion, and noise behind the filters: errors of many draws, and what the inflation is then."""
    rows, noise = 8 * PIECES * 25 // 2, np.repeat([0.3, 0.02], 3)
    z, exact, random = make_rows(12, 6 * rows)[::6], draw_values(12, 0.0), np.random.default_rng(12)
    z[:, READING] = 0.0
    root = np.linalg.cholesky(STEP * correlate(STEP * np.arange(rows)) + 1e-12 * np.eye(rows))
    errors, inflations = [], []
    for _ in range(150):
        readings = measure(z, exact) + noise * (root @ random.normal(size=(rows, 6)))
        sums = make_sums(z, readings, np.zeros(39), noise, POLES)
        normal = Normal(sums, sums.total, exact, np.ones(6))
        inflations.append(find_inflation(sums, normal).mean())
        errors.append((normal.values - exact)[:LOAD])
    scatter = np.mean(np.square(errors), axis=0)
    stated, undamped = np.diag(normal.repeatability)[:LOAD], np.diag(normal.covariance)[:LOAD]
    np.testing.assert_allclose(scatter / stated, 1.0, atol=0.4)
    assert abs(np.mean(scatter / stated) - 1.0) < 0.1
    assert np.mean(scatter / undamped) < 0.8, "or there was nothing to be damped"
    assert 0.8 < np.mean(inflations) < 1.2


def test_nothing_is_damped_before_it_is_known_how_scores_scatter() -> None:
    noise, z = np.repeat([0.3, 0.02], 3), make_rows(13, 6 * 200)[::6]
    for rows, is_damped in ((140, False), (160, True)):
        sums = make_sums(z[:rows], measure(z[:rows], draw_values(13, 0.0)), np.zeros(39), noise, POLES)
        normal = Normal(sums, sums.total, sums.values, np.ones(6))
        ratio = np.diag(normal.repeatability)[0] / np.diag(normal.covariance)[0]
        assert ratio < 0.95 if is_damped else abs(ratio - 1.0) < 1e-6


def test_alarms_compare_scores_with_noise_as_filters_leave_it() -> None:
    noise, z = np.repeat([0.3, 0.02], 3), make_rows(13, 6 * 400)[::6]
    sums = make_sums(z, measure(z, draw_values(13, 0.0)), np.zeros(39), noise, POLES)
    sums.inflation = np.repeat([3.0, 0.5], 3)
    shares = sums.damping.find_shares(MOVING)
    assert 0.5 < shares.mean() < 0.95
    np.testing.assert_allclose(sums.known_noise, np.repeat([3.0 * shares.mean(), 1.0], 3), rtol=1e-12)
