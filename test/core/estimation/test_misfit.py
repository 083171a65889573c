"""Variance inflation by scores of blocks, with dense least squares of all rows as oracle."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.estimation.misfit import COUNTED, Blocks, ChannelScores
from inertid_ros.core.records import FloatArray

ROWS = 100
ALL = np.arange(300)


def _move(periods: int, blocks: int, seed: int) -> FloatArray:
    """Regressor (rows, 4) of a smooth motion that is repeated."""
    random = np.random.default_rng(seed)
    time = np.arange(blocks * ROWS) / ROWS
    rates = random.uniform(1.0, 6.0, (3, 4))
    phases = random.uniform(0.0, 6.0, (3, 4))
    once = np.sin(time[:, None, None] * rates + phases).sum(axis=1)
    return np.asarray(np.tile(once, (periods, 1)))


def _measure(regressor: FloatArray, errors: FloatArray, adds_up: bool = False) -> float:
    """Inflated variance of what least squares leaves of errors (rows,), with all blocks, or those that are kept."""
    values = np.linalg.lstsq(regressor, errors, rcond=None)[0]
    lines = np.column_stack((regressor, errors))
    products = np.array([np.tril(part.T @ part) for part in lines.reshape(-1, ROWS, lines.shape[1])])
    factor = np.asarray(np.linalg.qr(regressor, mode="r"))
    if adds_up:
        columns = np.tril_indices(regressor.shape[1])
        blocks = Blocks(np.ravel_multi_index(columns, products[0].shape))
        for one in products:
            blocks.end(np.tile(one.ravel(), (4, 1)))
        products = np.array([block[COUNTED].reshape(one.shape) for block in blocks.kept])
    scores = ChannelScores(products, factor, regressor.shape[1])
    return scores.find_variance(products, np.append(values, -1.0))


@pytest.mark.parametrize("periods", [1, 3])
def test_white_noise_is_not_inflated_however_often_a_motion_is_repeated(periods: int) -> None:
    random = np.random.default_rng(1)
    found = [
        _measure(regressor, 0.3 * random.normal(size=len(regressor)))
        for regressor in (_move(periods, 4, seed) for seed in range(300))
    ]
    assert np.mean(found) == pytest.approx(0.09, rel=0.1)


def test_misfit_that_returns_with_the_motion_is_counted_once() -> None:
    """Three periods with the same errors tell as much as one of them: three times the rows, three times inflated."""
    random = np.random.default_rng(2)
    ratios = []
    for seed in range(100):
        once = np.convolve(random.normal(size=6 * ROWS + 49), np.ones(50) / 7.0, "valid")
        regressor = _move(1, 6, seed)
        ratios.append(_measure(np.tile(regressor, (3, 1)), np.tile(once, 3)) / _measure(regressor, once))
    assert np.median(ratios) == pytest.approx(3.0, rel=0.05)


@pytest.mark.parametrize("blocks", [12, 40])
def test_slow_noise_is_inflated_by_what_it_does_to_the_estimate(blocks: int) -> None:
    """Against the scatter of estimates in repeated experiments: the covariance is that of white noise, inflated."""
    random = np.random.default_rng(3)
    regressor = _move(1, blocks, 0)
    covariance = np.linalg.inv(regressor.T @ regressor)
    estimates, found = [], []
    for _ in range(300):
        errors = np.convolve(random.normal(size=len(regressor) + 29), np.ones(30) / np.sqrt(30.0), "valid")
        estimates.append(np.linalg.lstsq(regressor, errors, rcond=None)[0])
        found.append(_measure(regressor, errors, True))
    actual = np.trace(np.linalg.solve(covariance, np.cov(np.transpose(estimates)))) / 4.0
    assert actual > 5.0
    assert np.mean(found) == pytest.approx(actual, rel=0.15)


def test_blocks_of_a_long_recording_are_all_in_those_that_are_kept() -> None:
    blocks, random = Blocks(ALL), np.random.default_rng(8)
    motions = random.normal(size=(5, 300))
    for index in range(200):
        blocks.end(np.stack((motions[index % 5], np.full(300, float(index)))))
    assert blocks.ended == 200
    assert not blocks.are_single
    assert len(blocks.kept) == len(blocks.numbers) == 16
    assert sorted(number for numbers in blocks.numbers for number in numbers) == list(range(200))
    for block, numbers in zip(blocks.kept, blocks.numbers, strict=True):
        assert len({number % 5 for number in numbers}) == 1
        np.testing.assert_allclose(block[0], len(numbers) * motions[numbers[0] % 5], rtol=1e-12)
        np.testing.assert_allclose(block[1], sum(numbers))


def test_blocks_of_motions_that_differ_are_added_up_with_their_neighbours() -> None:
    blocks, random = Blocks(ALL), np.random.default_rng(9)
    for _ in range(64):
        blocks.end(random.normal(size=(2, 300)))
    for numbers in blocks.numbers:
        assert max(numbers) - min(numbers) < 16


def test_parts_of_a_long_recording_have_all_of_it() -> None:
    blocks, other = Blocks(ALL[:1]), Blocks(ALL[:1])
    for index in range(100):
        (blocks if index < 70 else other).end(np.full((2, 1), float(index)))
    blocks.add(other)
    whole = blocks.with_rest(np.full((2, 1), 1000.0), 0.5)
    assert len(blocks.parts) <= 16
    assert sum(blocks.lengths) == blocks.ended == 100
    assert sum(whole.lengths) == 100.5
    starts = np.cumsum((0.0, *blocks.lengths[:-1]))
    for part, start, length in zip(blocks.parts, starts, blocks.lengths, strict=True):
        assert part[0].item() == pytest.approx(np.arange(start, start + length).sum())
    assert sum(part[0].item() for part in whole.parts) == pytest.approx(np.arange(100).sum() + 1000.0)
    assert [block[0].item() for block in blocks.kept] == [sum(numbers) for numbers in blocks.numbers]


def test_blocks_that_are_all_alike_still_show_the_noise() -> None:
    """Their scores add up to nothing after the fit, so that each is looked at for itself."""
    random = np.random.default_rng(7)
    regressor = np.tile(random.normal(size=(ROWS, 3)), (10, 1))
    found = [_measure(regressor, 0.3 * random.normal(size=len(regressor))) for _ in range(200)]
    assert np.mean(found) == pytest.approx(0.09, rel=0.1)


@pytest.mark.parametrize("periods", [4, 7, 13])
def test_white_noise_is_not_inflated_where_blocks_are_added_up(periods: int) -> None:
    random = np.random.default_rng(9)
    found = [
        _measure(regressor, 0.3 * random.normal(size=len(regressor)), True)
        for regressor in (_move(periods, 5, seed) for seed in range(200))
    ]
    assert min(found) > 0.0
    assert np.mean(found) == pytest.approx(0.09, rel=0.1)


@pytest.mark.parametrize("periods", [4, 13])
def test_where_blocks_are_added_up_misfit_that_returns_is_still_counted_once(periods: int) -> None:
    random = np.random.default_rng(10)
    ratios = []
    for seed in range(50):
        once = np.convolve(random.normal(size=5 * ROWS + 49), np.ones(50) / 7.0, "valid")
        regressor = _move(1, 5, seed)
        repeated = np.tile(regressor, (periods, 1)), np.tile(once, periods)
        assert _measure(*repeated, True) == pytest.approx(_measure(*repeated), rel=0.3)
        ratios.append(_measure(*repeated, True) / _measure(regressor, once))
    assert np.median(ratios) == pytest.approx(periods, rel=0.05)


def test_blocks_are_discounted_and_remain_what_they_are() -> None:
    blocks, random = Blocks(ALL[:4]), np.random.default_rng(5)
    products = random.normal(size=(3, 4))
    for one in products:
        blocks.end(np.stack((one, one, 2.0 * one, 3.0 * one)))
    shares = random.uniform(size=4)
    counted = blocks.discount(shares)
    counts = np.array([1.0, 1.0, 2.0, 3.0])[:, None] * products[:, None]
    expected = counts * np.stack((np.ones(4), shares, shares, shares))
    np.testing.assert_array_equal(counted.kept, expected)
    np.testing.assert_array_equal(counted.parts, expected)
    np.testing.assert_array_equal(blocks.kept, counts)
    assert counted.ended == 3
