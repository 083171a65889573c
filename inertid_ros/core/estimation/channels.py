"""Rows of efforts or base wrenches folded into the information of each channel on its own, and added up; compiled.

A channel's matrix holds its own unknowns only, [[R, z], [0, r]] as in `folding`. Channels are weighted afterwards, when
it is known how much noise each has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import allocating, brief, compiled
from inertid_ros.core.estimation.folding import fold_row
from inertid_ros.core.records import FloatArray, IntArray


@compiled
def add_products(products: FloatArray, line: FloatArray) -> None:
    """Add the products of a line (n,) to their sums (n, n), lower triangle."""
    for i in range(len(line)):
        factor = line[i]
        if factor != 0.0:
            for j in range(i + 1):
                products[i, j] += factor * line[j]


BLOCK = 50
"""Consecutive rows (1 s) that are compared for correlation: longer than the filters remember."""


class Fitted(NamedTuple):
    """What rows of K channels have told so far.

    Attributes:
        matrices: the channels' matrices, one after the other.
        offsets: (K + 1, 2) where the matrix of each channel and its unknowns begin.
        used: the unknowns of each channel, one after the other.
        values: (U,) what is known.
        inverse: (U, U) root of its covariance, upper triangular.
        noise: (K,) variances of the channels' rows, 0 where not known.
        floors: (K,) smallest standard deviations.
        sums: (K, 6) rows, squares and sum of what was measured, and sum, squares and count of the innovations in the
            present block.
        products: (3, N) sums of products of each channel's line, by the sense of its gear, laid out as the matrices
            are; lower triangles.
    """

    matrices: FloatArray
    offsets: IntArray
    used: IntArray
    values: FloatArray
    inverse: FloatArray
    noise: FloatArray
    floors: FloatArray
    sums: FloatArray
    products: FloatArray


@allocating(brief)
def fold_channels(fitted: Fitted, row: FloatArray, usable: FloatArray, spread: FloatArray, senses: FloatArray) -> bool:
    """Fold a row [A, B, y] (K, U + V + 1) into the information of each channel on its own, where it is usable.

    The columns B belong to V nuisances, which are taken to be zero here.

    Args:
        fitted: what was told before.
        row: the row.
        usable: (K,) whether to take each channel.
        spread: (K,) variances of A x that come of what is not known, see `find_spread`.
        senses: (K,) to which sums of products a line belongs: 0, 1, or -1 for the last.

    Returns:
        Whether a channel's block is full.
    """
    offsets, values, noise, sums = fitted.offsets, fitted.values, fitted.noise, fitted.sums
    unknowns, last, is_full = len(values), row.shape[1] - 1, False
    for k in range(len(row)):
        if usable[k] == 0.0:
            continue
        start, stop = offsets[k, 1], offsets[k + 1, 1]
        size = stop - start
        line = np.empty(size + 1)
        innovation = row[k, last]
        for j in range(size):
            index = fitted.used[start + j]
            line[j] = row[k, index]
            if index < unknowns:
                innovation -= line[j] * values[index]
        line[size] = row[k, last]
        innovation *= noise[k] / (noise[k] + spread[k] + fitted.floors[k] ** 2)
        own = fitted.products[int(senses[k])][offsets[k, 0] : offsets[k + 1, 0]]
        add_products(own.reshape(size + 1, size + 1), line)
        fold_row(fitted.matrices[offsets[k, 0] : offsets[k + 1, 0]].reshape(size + 1, size + 1), line)
        sums[k, 0] += 1.0
        sums[k, 1] += row[k, last] ** 2
        sums[k, 2] += row[k, last]
        sums[k, 3] += innovation
        sums[k, 4] += innovation**2
        sums[k, 5] += 1.0
        is_full |= sums[k, 5] >= BLOCK
    return is_full


@allocating(brief)
def find_spread(row: FloatArray, root: FloatArray, is_upper: bool, spread: FloatArray) -> None:
    """Variances (K,) of A x for a row [A, ...] (K, > U), x with a root B (U, F) of its covariance B Bᵀ.

    Of a root that is upper triangular, zeros are passed over.
    """
    unknowns, columns = root.shape
    products = np.empty(columns)
    for k in range(len(spread)):
        products[:] = 0.0
        for u in range(unknowns):
            factor = row[k, u]
            if factor != 0.0:
                line = root[u]
                for column in range(u if is_upper else 0, columns):
                    products[column] += factor * line[column]
        total = 0.0
        for column in range(columns):
            total += products[column] ** 2
        spread[k] = total


@allocating(compiled)
def add_channels(
    total: FloatArray, matrices: FloatArray, offsets: IntArray, used: IntArray, weights: FloatArray
) -> None:
    """Fold the information of all channels, each with its weight, into that of all unknowns (U + 1, U + 1).

    Nuisances, which have indices from U on, are taken to be zero.
    """
    size = len(total)
    row = np.empty(size)
    for k in range(len(weights)):
        start, count = offsets[k, 1], offsets[k + 1, 1] - offsets[k, 1]
        matrix = matrices[offsets[k, 0] : offsets[k + 1, 0]].reshape(count + 1, count + 1)
        for i in range(count + 1):
            row[:] = 0.0
            for j in range(i, count):
                if used[start + j] < size - 1:
                    row[used[start + j]] = weights[k] * matrix[i, j]
            row[size - 1] = weights[k] * matrix[i, count]
            fold_row(total, row)


@allocating(compiled)
def explain_channels(
    matrices: FloatArray,
    offsets: IntArray,
    used: IntArray,
    values: FloatArray,
    inverse: FloatArray,
    left: FloatArray,
    freedom: FloatArray,
) -> None:
    """Sum of squares (K,) that values leave of each channel's rows, and how many unknowns (K,) it determines.

    The latter is the squared norm of R_k R^-1, with R_k the root of the channel's information without its weight and
    R^-1 the upper triangular inverse root of that of all.
    """
    unknowns = len(values)
    spread = np.empty(unknowns)
    for k in range(len(left)):
        start, count = offsets[k, 1], offsets[k + 1, 1] - offsets[k, 1]
        matrix = matrices[offsets[k, 0] : offsets[k + 1, 0]].reshape(count + 1, count + 1)
        left[k] = matrix[count, count] ** 2
        freedom[k] = 0.0
        for i in range(count):
            rest = -matrix[i, count]
            spread[:] = 0.0
            for j in range(i, count):
                entry, index = matrix[i, j], used[start + j]
                if index >= unknowns:
                    break
                rest += entry * values[index]
                for column in range(index, unknowns):
                    spread[column] += entry * inverse[index, column]
            left[k] += rest**2
            for column in range(unknowns):
                freedom[k] += spread[column] ** 2
