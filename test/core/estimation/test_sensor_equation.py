"""The equation of a sensor's channel against the model in words, numerical derivatives and dense sums of products."""

from __future__ import annotations

import numpy as np
from support.products import draw_values, expand_all, make_rows, measure

from inertid_ros.core.estimation.products import PRODUCTS, READING
from inertid_ros.core.estimation.sensor_equation import NUISANCES, find_scores, weigh_products


def test_coefficients_are_those_of_the_model_and_derivatives_are_their_differences() -> None:
    values = draw_values(1, 1.0)
    z = make_rows(1, 50)
    coefficients, derivatives = expand_all(values)
    z[:, READING] = 0.0
    second_order = 1e-3
    np.testing.assert_allclose(z @ coefficients.T, measure(z, values), atol=second_order)
    for unknown in range(NUISANCES):
        step = np.zeros(NUISANCES)
        step[unknown] = 1e-6
        difference = (expand_all(values + step)[0] - expand_all(values - step)[0]) / 2e-6
        np.testing.assert_allclose(derivatives[:, :, unknown], difference, atol=1e-8)


def test_products_say_what_their_rows_do() -> None:
    """Information and slope of rows that are kept, with dense derivatives of their residuals."""
    random, values = np.random.default_rng(2), draw_values(2, 1.0)
    z, inflation = make_rows(2, 80), random.uniform(0.5, 2.0, 6)
    coefficients, derivatives = expand_all(values)
    grams, data, slope = np.empty((6, PRODUCTS, PRODUCTS)), np.zeros((NUISANCES, NUISANCES)), np.zeros(NUISANCES)
    for channel, reading in enumerate((measure(z, values) + random.normal(size=(80, 6))).T):
        z[:, READING] = reading
        grams[channel] = z.T @ z
        by_unknown, residual = z @ derivatives[channel], z @ coefficients[channel]
        data += by_unknown.T @ by_unknown / inflation[channel]
        slope += by_unknown.T @ residual / inflation[channel]
    found, found_slope = weigh_products(grams, values, inflation)
    sizes = np.sqrt(np.diag(data))
    np.testing.assert_allclose(found / np.outer(sizes, sizes), data / np.outer(sizes, sizes), atol=1e-11)
    np.testing.assert_allclose(found_slope / sizes, slope / sizes, atol=1e-10)


def test_unknowns_that_are_fixed_absorb_nothing() -> None:
    values, random = draw_values(4, 1.0), np.random.default_rng(4)
    blocks = random.normal(size=(3, 6, 13, PRODUCTS))
    free = np.array([0, 3, 12, 16, 30])
    root = random.normal(size=(5, 5))
    scores, absorbed = find_scores(blocks, values, root @ root.T, free)
    coefficients, derivatives = expand_all(values)
    slopes = np.einsum("bcfp,cpu->bcfu", blocks, derivatives[:, :, free])
    np.testing.assert_allclose(scores, np.einsum("bcfp,cp->bcf", blocks, coefficients), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(absorbed, np.square(slopes @ root).sum(axis=-1), rtol=1e-9, atol=1e-9)
