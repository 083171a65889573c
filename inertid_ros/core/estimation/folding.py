"""Rows folded into the square root of the information, compiled: plain Givens rotations, which need no LAPACK here.

The matrix kept is [[R, z], [0, r]], upper triangular: R x = z is the least-squares solution of all rows so far, and r
the root of the sum of squares that it leaves.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import allocating, compiled
from inertid_ros.core.records import FloatArray


@compiled
def fold_row(matrix: FloatArray, row: FloatArray) -> None:
    """Fold one whitened row [A, y] (n + 1,) into the matrix (n + 1, n + 1); the row is used up."""
    size = len(row)
    for i in range(size):
        b = row[i]
        if b == 0.0:
            continue
        line = matrix[i]
        a = line[i]
        length = np.sqrt(a * a + b * b)
        if not 1e-150 < length < 1e150:
            length = np.hypot(a, b)
        c, s = a / length, b / length
        line[i] = length
        for j in range(i + 1, size):
            above, below = line[j], row[j]
            line[j] = c * above + s * below
            row[j] = c * below - s * above


@allocating(compiled)
def fold_rows(matrix: FloatArray, rows: FloatArray) -> None:
    """Fold (M, n + 1) whitened rows in; they are left as they are.

    Reflections of all rows at once would take half the time, but lose digits of what little is known beside large rows.
    """
    row = np.empty(rows.shape[1])
    for index in range(len(rows)):
        row[:] = rows[index]
        fold_row(matrix, row)


@allocating(compiled)
def diffuse(matrix: FloatArray, first: int, deviations: FloatArray) -> None:
    """Let the unknowns from `first` on wander by independent steps u with these standard deviations (n - first,).

    With x' = x + u e_b, one unknown b after the other, the rows [1 / deviation, 0, 0] and [-R_b, R, z] in (u, x') are
    rotated until only the first has u, and that one is left out. From row b upwards R stays triangular.
    """
    size = len(matrix)
    pivot = np.empty(size)
    for b in range(first, size - 1):
        if not deviations[b - first] > 0.0:
            continue
        own = 1.0 / deviations[b - first]
        pivot[:] = 0.0
        for i in range(b, -1, -1):
            line = matrix[i]
            other = -line[b]
            if other == 0.0:
                continue
            length = np.hypot(own, other)
            c, s = own / length, other / length
            own = length
            for j in range(i, size):
                above, below = pivot[j], line[j]
                pivot[j] = c * above + s * below
                line[j] = c * below - s * above


@compiled
def solve_triangle(matrix: FloatArray, values: FloatArray) -> None:
    """Solve R x = z into (n,)."""
    n = len(values)
    for i in range(n - 1, -1, -1):
        left = matrix[i, n]
        for j in range(i + 1, n):
            left -= matrix[i, j] * values[j]
        values[i] = left / matrix[i, i]


@compiled
def spread_rows(matrix: FloatArray, spreads: FloatArray) -> None:
    """Replace rows A (K, n) by A R^-1: the products of two of them are those of A P A^T."""
    channels, n = spreads.shape
    for i in range(n):
        line, scale = matrix[i], 1.0 / matrix[i, i]
        for k in range(channels):
            spread = spreads[k]
            solved = scale * spread[i]
            spread[i] = solved
            if solved != 0.0:
                for j in range(i + 1, n):
                    spread[j] -= solved * line[j]
