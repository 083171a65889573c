"""Least squares that lasts: the square root of the information matrix, updated by orthogonal transformations."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.estimation.folding import diffuse, fold_rows, solve_triangle
from inertid_ros.core.lapack import dpotrf, dtrtri
from inertid_ros.core.records import FloatArray


class SquareRootInformation:
    """Weighted linear least squares as an upper triangular system R x = z, and the sum of squares it leaves.

    The matrix kept is [[R, z], [0, r]], see `folding`. It never forms A^T A, so it never loses positivity, however long
    it runs.

    Attributes:
        matrix: (n + 1, n + 1).
    """

    def __init__(self, prior_deviations: FloatArray) -> None:
        """Start at zero with independent standard deviations (n,)."""
        n = len(prior_deviations)
        self._n = n
        self.matrix: FloatArray = np.zeros((n + 1, n + 1))
        self.matrix[np.arange(n), np.arange(n)] = 1.0 / prior_deviations

    @classmethod
    def of(cls, matrix: FloatArray) -> SquareRootInformation:
        """Take a matrix (n + 1, n + 1) over."""
        made = object.__new__(cls)
        made.matrix, made._n = matrix, len(matrix) - 1
        return made

    @classmethod
    def from_rows(cls, rows: FloatArray) -> SquareRootInformation:
        """What (M, n + 1) whitened rows [A, y] tell, M > n."""
        return cls.of(np.ascontiguousarray(np.linalg.qr(rows, mode="r")))

    def copy(self) -> SquareRootInformation:
        """An independent copy."""
        return SquareRootInformation.of(self.matrix.copy())

    def set_mean(self, mean: FloatArray) -> None:
        """Start at (n,) values instead of zero; only before anything is folded in."""
        n = self._n
        self.matrix[:n, n] = self.matrix[:n, :n] @ mean

    def squares_at(self, values: FloatArray) -> float:
        """Sum of squares that (n,) values leave of all rows so far."""
        n = self._n
        left = self.matrix[:n, :n] @ values - self.matrix[:n, n]
        return float(left @ left) + self.squares_left

    def fold_in(self, rows: FloatArray) -> None:
        """Take (M, n + 1) whitened rows [A, y] of equations A x = y with unit variance."""
        fold_rows(self.matrix, np.ascontiguousarray(rows))  # of another layout it would be compiled anew

    @classmethod
    def from_covariance(cls, values: FloatArray, covariance: FloatArray) -> SquareRootInformation:
        """What is known if the estimate (n,) has this covariance (n, n)."""
        deviations = np.sqrt(np.diag(covariance))
        same, n = cls(deviations), len(values)
        root = np.linalg.qr(invert_root(covariance))[1]
        root *= np.sign(np.diag(root))[:, None]
        same.matrix[:n, :n], same.matrix[:n, n] = root, root @ values
        return same

    @property
    def factor(self) -> FloatArray:
        """R, upper triangular (n, n)."""
        return np.asarray(self.matrix[: self._n, : self._n])

    @property
    def squares_left(self) -> float:
        """Sum of squares of the whitened residuals of all rows so far."""
        return float(self.matrix[self._n, self._n]) ** 2

    def solve(self) -> FloatArray:
        """The estimate x (n,)."""
        values = np.empty(self._n)
        solve_triangle(self.matrix, values)
        return values

    def inverse_factor(self) -> FloatArray:
        """R^-1, upper triangular (n, n); the covariance is R^-1 R^-T."""
        inverse, _ = dtrtri(self.factor)
        return np.asarray(inverse)

    def covariance(self) -> FloatArray:
        """Covariance (n, n)."""
        inverse = self.inverse_factor()
        return np.asarray(inverse @ inverse.T)

    def forget_first(self, count: int, deviations: FloatArray) -> None:
        """Forget all that is known of the first unknowns, keep all that is known of the others on their own.

        The lower right block of R is the information on the last unknowns after the first are eliminated, so only
        the first rows are replaced: by zero, with the given standard deviations (count,).
        """
        self.matrix[:count] = 0.0
        self.matrix[np.arange(count), np.arange(count)] = 1.0 / deviations

    def forget_last(self, first: int, deviations: FloatArray) -> None:
        """Forget all that is known of the unknowns from `first` on, keep what is known of the others on their own."""
        n = self._n
        order = np.r_[first:n, 0:first, n]
        turned = np.asarray(np.linalg.qr(self.matrix[:, order], mode="r"))
        count = n - first
        kept = turned[count:, count:]
        self.matrix[:] = 0.0
        self.matrix[:first, :first] = kept[:first, :first]
        self.matrix[:first, n] = kept[:first, first]
        self.matrix[n, n] = kept[first, first]
        self.matrix[np.arange(first, n), np.arange(first, n)] = 1.0 / deviations

    def diffuse_last(self, first: int, deviations: FloatArray) -> None:
        """Let the unknowns from `first` on wander by independent steps with the given standard deviations (n - first,).

        See `folding.diffuse`.
        """
        diffuse(self.matrix, first, deviations)


def invert_root(covariance: FloatArray) -> FloatArray:
    """W (n, n) with W^T W the inverse of a covariance (n, n), however strongly its variables are correlated.

    Directions in which rounding has left nothing of the correlations are given the least that could be told from it.
    """
    deviations = np.sqrt(np.diag(covariance))
    variances, directions = np.linalg.eigh(covariance / np.outer(deviations, deviations))
    least = len(variances) * np.finfo(float).eps * variances[-1]
    return np.asarray(directions.T / np.sqrt(np.maximum(variances, least))[:, None] / deviations)


def make_definite(covariance: FloatArray) -> FloatArray:
    """A covariance (n, n) that rounding may have made indefinite, as little larger as makes it positive definite.

    It is so for whoever looks: a Cholesky factorisation of any order and triangle succeeds where the correlations have
    no eigenvalue below n (n + 1) roundings (Demmel 1989), so that one which succeeds with twice that taken away tells.
    """
    definite = 0.5 * (covariance + covariance.T)
    margin = len(definite) * (len(definite) + 1) * np.finfo(float).eps
    least = 2.0 * margin
    while dpotrf(definite - np.diag(margin * np.diag(definite)))[1] != 0 and np.isfinite(definite).all():
        deviations = np.sqrt(np.maximum(np.diag(definite), np.finfo(float).tiny))
        variances, directions = np.linalg.eigh(definite / np.outer(deviations, deviations))
        raised = (directions * np.maximum(variances, least * variances[-1])) @ directions.T
        definite = 0.5 * (raised + raised.T) * np.outer(deviations, deviations)
        least *= 10.0
    return np.asarray(definite)
