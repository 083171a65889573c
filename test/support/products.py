"""Rows of a random motion, wrenches by the words of the joint model, and sums of their products."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.load import LOAD, PRIOR_BIAS, PRIOR_LOAD, REGRESSORS
from inertid_ros.core.estimation.damping import UNFILTERED
from inertid_ros.core.estimation.products import MOVING, PRODUCTS, RATES, READING, TILTED, ProductSums
from inertid_ros.core.estimation.sensor_equation import (
    DELAY,
    GAIN,
    INVOLVED,
    NUISANCES,
    TILT,
    differentiate,
    find_coefficients,
)
from inertid_ros.core.estimation.systematic import make_precision, nuisance_deviations, update
from inertid_ros.core.records import FloatArray

PHI = np.array([2.0, 0.05, -0.04, 0.2, 0.05, 0.002, -0.003, 0.04, 0.001, 0.02])
BIAS = np.array([3.0, -2.0, 1.0, 0.1, -0.2, 0.05])


def make_rows(seed: int, rows: int) -> FloatArray:
    """z (N, P) of a smooth random motion, without readings."""
    random = np.random.default_rng(seed)
    times = np.arange(rows) * 0.02
    z = np.zeros((rows, PRODUCTS))
    rates, phases = random.uniform(0.5, 3.0, (3, MOVING)), random.uniform(0.0, 6.0, (3, MOVING))
    sizes = np.repeat([4.0, 2.0, 1.0], (3, 3, 6)) * random.uniform(0.5, 1.0, (3, MOVING))
    for rate, phase, size in zip(rates, phases, sizes, strict=True):
        z[:, :MOVING] += size * np.sin(np.outer(times, rate) + phase)
        z[:, RATES:READING] += size * rate * np.cos(np.outer(times, rate) + phase)
    z[:, MOVING] = 1.0
    z[:, TILTED:RATES] = 9.8 * np.sin(np.outer(times, random.uniform(0.5, 2.0, 6)))
    return z


def measure(z: FloatArray, values: FloatArray) -> FloatArray:
    """Wrenches (N, 6) by the words of the model: features late and tilted, regressor, then gains and bias."""
    features = z[:, : MOVING + 1].copy()
    features[:, :MOVING] -= values[DELAY] * z[:, RATES:READING]
    for axis in range(2):
        features[:, :3] += values[TILT + axis] * z[:, TILTED + 3 * axis : TILTED + 3 * axis + 3]
    wrench = np.einsum("nf,fcu,u->nc", features[:, :MOVING], REGRESSORS[:MOVING, :, :LOAD], values[:LOAD])
    return np.asarray(wrench @ (np.eye(6) + values[GAIN:].reshape(6, 6)).T + values[LOAD:DELAY])


def make_sums(
    z: FloatArray, readings: FloatArray, deviations: FloatArray, noise: FloatArray, poles: FloatArray = UNFILTERED
) -> ProductSums:
    prior = np.concatenate((PRIOR_LOAD, PRIOR_BIAS, deviations))
    sums = ProductSums(make_precision(prior), poles)
    for one, reading in zip(z, readings, strict=True):
        if sums.add(one.copy(), reading, noise**2, noise**2, 0.02):
            sums.begin_piece(np.zeros(6))
            update(sums)
    return sums


def draw_values(seed: int, scale: float) -> FloatArray:
    random = np.random.default_rng(seed)
    return np.concatenate((PHI, BIAS, scale * nuisance_deviations(0.004, 0.008, 0.01, 0.01) * random.normal(size=39)))


def expand_all(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients (6, P) of z in each channel's residual, and their derivatives (6, P, 55) by all unknowns."""
    parts = differentiate(values)
    derivatives = np.zeros((6, PRODUCTS, NUISANCES))
    for channel, unknowns in enumerate(INVOLVED):
        derivatives[channel, :, unknowns] = parts[channel].T
    return find_coefficients(values), derivatives
