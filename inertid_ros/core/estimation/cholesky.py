"""Small systems of normal equations, solved and inverted by Cholesky's factor; compiled.

With some fifty unknowns a call of LAPACK costs more than these loops, which go along rows in memory.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import allocating, compiled
from inertid_ros.core.records import FloatArray, IntArray

EPSILON = float(np.finfo(float).eps)
"""Rounding of a number: what makes a matrix that is singular but for it definite is of this size."""


@compiled
def factorise(matrix: FloatArray) -> bool:
    """Put U, with U^T U the matrix, in place of its upper triangle; False if it is not positive definite."""
    size = len(matrix)
    for k in range(size):
        line = matrix[k]
        if not line[k] > 0.0:
            return False
        pivot = np.sqrt(line[k])
        line[k] = pivot
        for j in range(k + 1, size):
            line[j] /= pivot
        for i in range(k + 1, size):
            below, factor = matrix[i], line[i]
            for j in range(i, size):
                below[j] -= factor * line[j]
    return True


@compiled
def factorise_safely(matrix: FloatArray, factor: FloatArray) -> bool:
    """Factorise (V, V) what is positive definite but for rounding; False if it is not finite."""
    size, ridge = len(matrix), 0.0
    while True:
        largest = 0.0
        for i in range(size):
            largest = max(largest, matrix[i, i])
            for j in range(i, size):
                factor[i, j] = matrix[i, j]
            factor[i, i] += ridge
        if factorise(factor):
            return True
        for i in range(size):
            for j in range(i, size):
                if not np.isfinite(matrix[i, j]):
                    return False
        ridge = max(10.0 * ridge, size * EPSILON * largest)


@allocating(compiled)
def solve_factorised(factor: FloatArray, right: FloatArray, inverse: FloatArray) -> None:
    """Solve for a right side (V,), in place, and invert (V, V), exactly symmetric, by the factor U."""
    size = len(factor)
    root = np.zeros((size, size))
    for i in range(size):
        own = root[i]
        own[i] = 1.0 / factor[i, i]
        for k in range(i):
            above, part = root[k], factor[k, i] * own[i]
            right[i] -= factor[k, i] * right[k]
            for j in range(k + 1):
                own[j] -= part * above[j]
        right[i] *= own[i]
    inverse[:] = 0.0
    for k in range(size):
        own = root[k]
        for i in range(k + 1):
            line, part = inverse[i], own[i]
            for j in range(i + 1):
                line[j] += part * own[j]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            right[i] -= factor[i, k] * right[k]
            inverse[i, k] = inverse[k, i]
        right[i] /= factor[i, i]


@allocating(compiled)
def solve_normal(
    data: FloatArray,
    slope: FloatArray,
    precision: FloatArray,
    offset: FloatArray,
    free: IntArray,
    step: FloatArray,
    covariance: FloatArray,
) -> bool:
    """Solve (data + precision) step = slope + precision offset for the unknowns that are free, in units of the prior.

    Args:
        data: (U, U) information of the data, as for the next ones.
        slope: (U,) of half the weighted squares.
        precision: (U, U) of the prior.
        offset: (U,) of what these are about from the mean of the prior.
        free: (V,) unknowns that are.
        step: (V,) the result, and
        covariance: (V, V) the inverse of the left side.

    Returns:
        Whether all numbers are finite.
    """
    size = len(free)
    scale, matrix, factor = np.empty(size), np.empty((size, size)), np.empty((size, size))
    for i in range(size):
        scale[i] = 1.0 / np.sqrt(precision[free[i], free[i]])
    for i in range(size):
        total = 0.0
        for j in range(size):
            known = precision[free[i], free[j]]
            total += known * offset[free[j]]
            matrix[i, j] = (data[free[i], free[j]] + known) * (scale[i] * scale[j])
        step[i] = scale[i] * (slope[free[i]] + total)
    if not factorise_safely(matrix, factor):
        return False
    solve_factorised(factor, step, covariance)
    for i in range(size):
        step[i] *= scale[i]
        for j in range(size):
            covariance[i, j] *= scale[i] * scale[j]
    return True
