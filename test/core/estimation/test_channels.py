"""Rows folded channel by channel against all of them at once."""

from __future__ import annotations

import numpy as np
import pytest
from support.roots import make_root

from inertid_ros.core.estimation.channels import (
    BLOCK,
    Fitted,
    add_channels,
    explain_channels,
    find_spread,
    fold_channels,
)


def test_channels_are_folded_each_on_its_own() -> None:
    """Matrices, sums of what was measured, and innovations weighted by how little of them is the estimate's."""
    random = np.random.default_rng(5)
    used = [np.array([0, 2, 3]), np.array([1, 2]), np.array([0, 1, 2, 3])]
    offsets = np.zeros((4, 2), dtype=np.int64)
    offsets[1:, 0], offsets[1:, 1] = np.cumsum([16, 9, 25]), np.cumsum([3, 2, 4])
    matrices, sums, products = np.zeros(50), np.zeros((3, 6)), np.zeros((3, 50))
    values, noise, floors = random.normal(size=4), random.uniform(0.1, 1.0, 3), random.uniform(0.1, 1.0, 3)
    inverse = np.triu(random.normal(size=(4, 4)))
    covariance = inverse @ inverse.T
    rows = np.zeros((70, 3, 5))
    for k, columns in enumerate(used):
        rows[:, k, [*columns, 4]] = random.normal(size=(70, len(columns) + 1))
    usable = (random.random((70, 3)) < 0.7).astype(float)
    senses = random.integers(-1, 2, (70, 3)).astype(float)
    joined, counts = np.concatenate(used), np.cumsum(usable, axis=0)
    fitted = Fitted(matrices, offsets, joined, values, inverse, noise, floors, sums, products)
    spread = np.empty(3)
    for row, chosen, count, sense in zip(rows, usable, counts, senses, strict=True):
        find_spread(row, inverse, True, spread)
        is_full = fold_channels(fitted, row, chosen, spread, sense)
        assert is_full == bool(np.any((count >= BLOCK) & (chosen == 1.0)))
    for k, columns in enumerate(used):
        own = rows[usable[:, k] == 1.0, k]
        size = len(columns) + 1
        matrix = matrices[offsets[k, 0] : offsets[k + 1, 0]].reshape(size, size).copy()
        matrix[-1, -1] = abs(matrix[-1, -1])
        np.testing.assert_allclose(matrix, make_root(own[:, [*columns, 4]]), atol=1e-12)
        for sense in (0, 1, -1):
            lines = rows[(usable[:, k] == 1.0) & (senses[:, k] == sense), k][:, [*columns, 4]]
            summed = products[sense, offsets[k, 0] : offsets[k + 1, 0]].reshape(size, size)
            np.testing.assert_allclose(summed, np.tril(lines.T @ lines), atol=1e-12)
        expected = np.einsum("ni,ij,nj->n", own[:, :-1], covariance, own[:, :-1])
        innovations = (own[:, -1] - own[:, :-1] @ values) * noise[k] / (noise[k] + expected + floors[k] ** 2)
        measured = own[:, -1]
        assert sums[k] == pytest.approx(
            [
                len(own),
                np.square(measured).sum(),
                measured.sum(),
                innovations.sum(),
                np.square(innovations).sum(),
                len(own),
            ]
        )


def test_channels_are_added_and_explained_as_their_rows_are() -> None:
    """Against all rows of all channels at once: their QR, what a solution leaves of them, and the hat matrix."""
    random = np.random.default_rng(4)
    used = [np.array([0, 2, 3]), np.array([1, 2, 4, 5]), np.array([5])]
    weights = np.array([0.5, 2.0, 3.0])
    rows = [random.normal(size=(20, len(one) + 1)) for one in used]
    matrices = [np.asarray(np.linalg.qr(part, mode="r")) for part in rows]
    sizes = np.array([[0, 0]] + [[(len(one) + 1) ** 2, len(one)] for one in used])
    flat, offsets = np.concatenate([matrix.ravel() for matrix in matrices]), np.cumsum(sizes, axis=0)
    together = np.concatenate(used)
    total = np.zeros((7, 7))
    add_channels(total, flat, offsets, together, weights)
    whole = []
    for weight, one, part in zip(weights, used, rows, strict=True):
        spread = np.zeros((20, 7))
        spread[:, one], spread[:, -1] = weight * part[:, :-1], weight * part[:, -1]
        whole.append(spread)
    everything = np.concatenate(whole)
    np.testing.assert_allclose(total.T @ total, everything.T @ everything, atol=1e-10)
    values = random.normal(size=6)
    inverse = np.linalg.inv(np.linalg.qr(everything[:, :-1], mode="r"))
    left, freedom = np.empty((2, 3))
    explain_channels(flat, offsets, together, values, np.ascontiguousarray(np.triu(inverse)), left, freedom)
    hat = np.diag(everything[:, :-1] @ inverse @ inverse.T @ everything[:, :-1].T).reshape(3, 20).sum(axis=1)
    np.testing.assert_allclose(weights**2 * freedom, hat)
    for index, (one, part) in enumerate(zip(used, rows, strict=True)):
        np.testing.assert_allclose(left[index], np.square(part[:, :-1] @ values[one] - part[:, -1]).sum())
