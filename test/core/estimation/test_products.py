"""Sums of products against numpy on rows that are kept."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.load import FEATURES
from inertid_ros.core.estimation.products import (
    CONSTANT,
    MOVING,
    PIECE,
    PRODUCTS,
    RATES,
    READING,
    REMEMBERED,
    TILTED,
    ProductSums,
    complete,
    diffuse_products,
    lay_down_products,
)
from inertid_ros.core.records import FloatArray

NOTHING = np.zeros(6)


def draw(seed: int, rows: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    random = np.random.default_rng(seed)
    return random.normal(size=(rows, PRODUCTS)), random.normal(size=(rows, 6)), random.uniform(0.5, 2.0, (rows, 6))


def multiply(z: FloatArray, readings: FloatArray, variances: FloatArray) -> FloatArray:
    """The sums of z z^T / variance by numpy."""
    joined = np.repeat(z[:, None], 6, axis=1)
    joined[:, :, READING] = readings
    return np.asarray(np.einsum("nip,niq,ni->ipq", joined, joined, 1.0 / variances))


def fill(seed: int, rows: int) -> tuple[ProductSums, FloatArray]:
    z, readings, variances = draw(seed, rows)
    sums = ProductSums(np.eye(3))
    for one, reading, variance in zip(z, readings, variances, strict=True):
        if sums.add(one.copy(), reading, variance, variance, 0.02):
            sums.begin_piece(NOTHING)
    return sums, multiply(z, readings, variances)


def test_nothing_is_lost_between_pieces_and_blocks() -> None:
    sums, expected = fill(1, 700)
    assert sums.pieces == int(700 * 0.02 / PIECE + 1e-9)
    np.testing.assert_allclose(sums.total, expected, rtol=1e-12, atol=1e-9)
    z, readings, variances = draw(1, 700)
    of_window = slice(25 * (sums.pieces - 4), 25 * sums.pieces)
    latest = multiply(z[of_window], readings[of_window], variances[of_window])
    np.testing.assert_allclose(sums.window(4), latest, atol=1e-9)
    np.testing.assert_allclose(sums.blocks[0], latest[:, :FEATURES], atol=1e-9)


def test_rows_weigh_as_much_however_the_bias_wanders() -> None:
    z, readings, variances = draw(4, 30 * 25)
    sums, other = ProductSums(np.eye(16)), fill(5, 60)[0]
    for one, reading, variance in zip(z, readings, variances, strict=True):
        if sums.add(one.copy(), reading, variance, variance, 0.02):
            sums.begin_piece(np.full(6, 10.0))
    weights = (z[:, CONSTANT, None] ** 2 / variances).reshape(30, 25, 6).sum(axis=1)
    np.testing.assert_allclose(sums.total_weight, weights.sum(axis=0))
    assert (sums.total[:, CONSTANT, CONSTANT] < 0.5 * sums.total_weight).all(), "what is known of the bias does not"
    np.testing.assert_allclose(sums.condense().total_weight, weights.sum(axis=0))
    young = sums.split_off(4, 2)
    np.testing.assert_allclose(young.total_weight, weights[-4:].sum(axis=0))
    np.testing.assert_allclose(sums.total_weight, weights[:-6].sum(axis=0))
    sums.take_over(other, np.full(6, 10.0))
    np.testing.assert_allclose(sums.total_weight, weights[:-6].sum(axis=0) + other.total_weight)


def test_pieces_that_are_split_off_are_gone_and_those_dropped_are_nowhere() -> None:
    sums, everything = fill(2, 30 * 25)
    dropped = sums.window(3) - sums.window(1)
    young = sums.split_off(1, 2)
    np.testing.assert_allclose(sums.total + young.total + dropped, everything, rtol=1e-10)
    assert young.pieces == 1
    np.testing.assert_array_equal(sums.window(8), 0.0)


def test_diffusion_is_a_random_walk_of_the_bias_that_is_eliminated() -> None:
    """Minimise over the old bias b: c^T G c + (b' - b)² / q, for any other coefficients."""
    random = np.random.default_rng(3)
    _, gram = fill(3, 200)
    lower = np.tril(gram)
    variance = random.uniform(0.01, 1.0, 6)
    diffuse_products(lower, variance)
    found = complete(lower)
    for channel in range(6):
        c = random.normal(size=PRODUCTS)
        others = np.delete(np.arange(PRODUCTS), CONSTANT)
        g = gram[channel]
        bias = (c[CONSTANT] / variance[channel] - g[CONSTANT, others] @ c[others]) / (
            g[CONSTANT, CONSTANT] + 1.0 / variance[channel]
        )
        old = c.copy()
        old[CONSTANT] = bias
        expected = old @ g @ old + (c[CONSTANT] - bias) ** 2 / variance[channel]
        np.testing.assert_allclose(c @ found[channel] @ c, expected, rtol=1e-10)


def test_rates_are_those_of_a_parabola() -> None:
    random = np.random.default_rng(4)
    a, b, c = random.normal(size=(3, 22))
    a[12], b[12], c[12] = 1.0, 0.0, 0.0
    before, z, step = np.zeros(REMEMBERED), np.empty(PRODUCTS), 0.02
    for index in range(4):
        time = index * step
        lay_down_products(a + b * time + c * time**2, before, step, z)
        features = (a + b * time + c * time**2)[:12].copy()
        features[:3] -= (a + b * time + c * time**2)[13:16]
        np.testing.assert_allclose(z[:MOVING], features, rtol=1e-12)
        np.testing.assert_allclose(z[TILTED:RATES], -(a + b * time + c * time**2)[16:], rtol=1e-12)
        slopes = (b + 2.0 * c * time)[:12].copy()
        slopes[:3] -= (b + 2.0 * c * time)[13:16]
        if index == 0:
            np.testing.assert_array_equal(z[RATES:READING], 0.0)
        if index > 1:
            np.testing.assert_allclose(z[RATES:READING], slopes, atol=1e-10)


def test_filters_that_fill_are_no_motion() -> None:
    """A pose, its filters filling, then another one after they were restarted: nothing moves, so there are no rates."""
    random = np.random.default_rng(5)
    before, z = np.zeros(REMEMBERED), np.empty(PRODUCTS)
    for pose in random.normal(size=(2, 22)):
        pose[12] = 1.0
        for index in range(10):
            lay_down_products((1.0 - np.exp(-0.5 * (index + 1))) * pose, before, 0.02, z)
            np.testing.assert_allclose(z[RATES:READING], 0.0, atol=1e-10)
