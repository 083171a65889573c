"""Variance inflation by scores of blocks, with dense least squares of all rows as oracle."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.estimation.misfit import Blocks, ChannelScores
from inertid_ros.core.records import FloatArray

ROWS = 100


def _move(periods: int, blocks: int, seed: int) -> FloatArray:
    """Regressor (rows, 4) of a smooth motion that is repeated."""
    random = np.random.default_rng(seed)
    time = np.arange(blocks * ROWS) / ROWS
    rates = random.uniform(1.0, 6.0, (3, 4))
    phases = random.uniform(0.0, 6.0, (3, 4))
    once = np.sin(time[:, None, None] * rates + phases).sum(axis=1)
    return np.asarray(np.tile(once, (periods, 1)))


def _measure(regressor: FloatArray, errors: FloatArray, stride: int = 1) -> float:
    """Inflated variance of what least squares leaves of errors (rows,), of which every so many blocks are kept."""
    values = np.linalg.lstsq(regressor, errors, rcond=None)[0]
    lines = np.column_stack((regressor, errors))
    products = np.array([np.tril(part.T @ part) for part in lines.reshape(-1, ROWS, lines.shape[1])])
    factor = np.asarray(np.linalg.qr(regressor, mode="r"))
    kept = products[::stride]
    scores = ChannelScores(kept, factor, regressor.shape[1], len(products))
    return scores.find_variance(kept, np.append(values, -1.0))


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


def test_slow_noise_is_inflated_by_what_it_does_to_the_estimate() -> None:
    """Against the scatter of estimates in repeated experiments: the covariance is that of white noise, inflated."""
    random = np.random.default_rng(3)
    regressor = _move(1, 12, 0)
    covariance = np.linalg.inv(regressor.T @ regressor)
    estimates, found = [], []
    for _ in range(300):
        errors = np.convolve(random.normal(size=len(regressor) + 29), np.ones(30) / np.sqrt(30.0), "valid")
        estimates.append(np.linalg.lstsq(regressor, errors, rcond=None)[0])
        found.append(_measure(regressor, errors))
    actual = np.trace(np.linalg.solve(covariance, np.cov(np.transpose(estimates)))) / 4.0
    assert actual > 5.0
    assert np.mean(found) == pytest.approx(actual, rel=0.15)


def test_blocks_of_a_long_recording_are_spread_over_it() -> None:
    blocks = Blocks()
    for index in range(200):
        blocks.end(np.full((2, 1), float(index)))
    kept = [block[0].item() for block in blocks.kept]
    assert blocks.ended == 200
    assert len(kept) <= 16
    assert len(set(np.diff(kept))) == 1
    assert kept[-1] > 170.0


def test_parts_of_a_long_recording_have_all_of_it() -> None:
    blocks, other = Blocks(), Blocks()
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
    assert [block[0].item() for block in blocks.kept] == list(blocks.numbers)


def test_blocks_that_are_all_alike_still_show_the_noise() -> None:
    """Their scores add up to nothing after the fit, so that each is looked at for itself."""
    random = np.random.default_rng(7)
    regressor = np.tile(random.normal(size=(ROWS, 3)), (10, 1))
    found = [_measure(regressor, 0.3 * random.normal(size=len(regressor))) for _ in range(200)]
    assert np.mean(found) == pytest.approx(0.09, rel=0.1)


@pytest.mark.parametrize(("periods", "stride"), [(4, 2), (7, 4), (13, 8)])
def test_of_blocks_that_stand_for_others_white_noise_is_never_taken_for_less(periods: int, stride: int) -> None:
    """Pairs of different blocks stand for many, and may add up to less than nothing; a variance is none then."""
    random = np.random.default_rng(9)
    found = [
        _measure(regressor, 0.3 * random.normal(size=len(regressor)), stride)
        for regressor in (_move(periods, 5, seed) for seed in range(200))
    ]
    assert min(found) > 0.0
    assert np.quantile(found, 0.02) > 0.3 * 0.09


def test_blocks_are_discounted_and_remain_what_they_are() -> None:
    blocks, random = Blocks(), np.random.default_rng(5)
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
