"""Least squares that lasts: the square root of the information matrix, updated by orthogonal transformations."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dtpqrt, dtrtri, dtrtrs

from inertid_ros.core.records import FloatArray, IntArray


class SquareRootInformation:
    """Weighted linear least squares as an upper triangular system R x = z, and the sum of squares it leaves.

    The matrix kept is [[R, z], [0, r]], of which [A, y] is folded in row by row by one QR (LAPACK dtpqrt). It never
    forms A^T A, so it never loses positivity, however long it runs. It lies in memory column by column, so that
    LAPACK takes its first n columns as they are.
    """

    def __init__(self, prior_deviations: FloatArray) -> None:
        """Start at zero with independent standard deviations (n,)."""
        n = len(prior_deviations)
        self._n = n
        self._matrix = np.zeros((n + 1, n + 1), order="F")
        self._matrix[np.arange(n), np.arange(n)] = 1.0 / prior_deviations

    def copy(self) -> SquareRootInformation:
        """An independent copy."""
        other = object.__new__(SquareRootInformation)
        other._matrix = self._matrix.copy(order="F")
        other._n = self._n
        return other

    def set_mean(self, mean: FloatArray) -> None:
        """Start at (n,) values instead of zero; only before anything is folded in."""
        n = self._n
        self._matrix[:n, n] = self._matrix[:n, :n] @ mean

    def triangle(self) -> FloatArray:
        """All that is known, as n + 1 rows [A, y]."""
        return np.asfortranarray(np.triu(self._matrix))

    def scaled(self, weight: float) -> FloatArray:
        """The same with a weight."""
        return np.asfortranarray(weight * np.triu(self._matrix))

    def fold_in_triangle(self, rows: FloatArray, used: IntArray) -> None:
        """Take rows [A, y] of some of the unknowns only."""
        whole = np.zeros((len(rows), self._n + 1), order="F")
        whole[:, used] = rows[:, :-1]
        whole[:, -1] = rows[:, -1]
        self.fold_in(whole)

    def squares_at(self, values: FloatArray) -> float:
        """Sum of squares that (n,) values leave of all rows so far."""
        n = self._n
        left = self.factor @ values - self._matrix[:n, n]
        return float(left @ left) + self.squares_left

    def fold_in(self, rows: FloatArray) -> None:
        """Take (M, n + 1) whitened rows [A, y] of equations A x = y with unit variance."""
        self._matrix = dtpqrt(0, min(8, self._n + 1), self._matrix, rows, overwrite_a=1)[0]

    @property
    def factor(self) -> FloatArray:
        """R, upper triangular (n, n)."""
        return np.triu(self._matrix[: self._n, : self._n])

    @property
    def squares_left(self) -> float:
        """Sum of squares of the whitened residuals of all rows so far."""
        return float(self._matrix[self._n, self._n]) ** 2

    def solve(self) -> FloatArray:
        """The estimate x (n,)."""
        n = self._n
        solution, _ = dtrtrs(self._matrix[:, :n], self._matrix[:n, n])
        return np.asarray(solution)

    def inverse_factor(self) -> FloatArray:
        """R^-1, upper triangular (n, n); the covariance is R^-1 R^-T."""
        inverse, _ = dtrtri(self.factor)
        return np.asarray(inverse)

    def covariance(self) -> FloatArray:
        """Covariance (n, n)."""
        inverse = self.inverse_factor()
        return np.asarray(inverse @ inverse.T)

    def information(self) -> FloatArray:
        """Information matrix R^T R (n, n)."""
        factor = self.factor
        return np.asarray(factor.T @ factor)

    def spread(self, rows: FloatArray) -> FloatArray:
        """R^-T A^T (n, M) for (M, n) rows A, so that its Gram matrix is A P A^T."""
        spread, _ = dtrtrs(self._matrix[:, : self._n], rows.T, trans=1)
        return np.asarray(spread)

    def forget_first(self, count: int, deviations: FloatArray) -> None:
        """Forget all that is known of the first unknowns, keep all that is known of the others on their own.

        The lower right block of R is the information on the last unknowns after the first are eliminated, so only
        the first rows are replaced: by zero, with the given standard deviations (count,).
        """
        self._matrix[:count] = 0.0
        self._matrix[np.arange(count), np.arange(count)] = 1.0 / deviations

    def forget_last(self, first: int, deviations: FloatArray) -> None:
        """Forget all that is known of the unknowns from `first` on, keep what is known of the others on their own."""
        n = self._n
        order = np.r_[first:n, 0:first, n]
        turned = np.asarray(np.linalg.qr(self._matrix[:, order], mode="r"))
        count = n - first
        kept = turned[count:, count:]
        self._matrix[:] = 0.0
        self._matrix[:first, :first] = kept[:first, :first]
        self._matrix[:first, n] = kept[:first, first]
        self._matrix[n, n] = kept[first, first]
        self._matrix[np.arange(first, n), np.arange(first, n)] = 1.0 / deviations

    def diffuse_last(self, first: int, deviations: FloatArray) -> None:
        """Let the unknowns from `first` on wander by independent steps with the given standard deviations (n - first,).

        With x' = x + u, u of covariance Q: the system [[Q^-1/2, 0], [-R_b, R_b]] in (u, x') is triangularised and u
        eliminated.
        """
        n = self._n
        count = n - first
        if not np.any(deviations > 0):
            return
        system = np.zeros((count + n, count + n + 1))
        system[np.arange(count), np.arange(count)] = 1.0 / np.maximum(deviations, 1e-12)
        factor = self._matrix[:n, :n]
        system[count:, :count] = -np.triu(factor)[:, first:]
        system[count:, count : count + n] = np.triu(factor)
        system[count:, count + n] = self._matrix[:n, n]
        turned = np.asarray(np.linalg.qr(system, mode="r"))
        left = self._matrix[n, n]
        self._matrix[:n, :] = turned[count : count + n, count:]
        self._matrix[n, n] = left
