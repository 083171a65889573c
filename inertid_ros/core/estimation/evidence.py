"""How wide priors are, found from the data: as wide as makes these most probable (MacKay 1992, evidence)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.lapack import dpotrf, dtrtri
from inertid_ros.core.records import FloatArray, IntArray

_ROUNDS = 60
"""Steps after which strengths no longer change: they are linear in what is far from settled, and most need ten."""
_SETTLED = 0.01
"""Relative change of a strength that is none: estimates change by a hundredth of that."""
_WEAKEST = 1e-4
"""Strength that is as good as none; its inverse is as good as any."""


class Evidence(NamedTuple):
    """Parameters with the priors that the data ask for.

    Attributes:
        strengths: (G,) by how much the priors of each kind are wider than given.
        widths: (N,) standard deviations of the priors with that; of the step before, where steps ran out.
        mean: (N,) of the parameters, in units of these.
        root: (N, N) L with LᵀL their covariance, the same.
    """

    strengths: FloatArray
    widths: FloatArray
    mean: FloatArray
    root: FloatArray


def find_evidence(
    information: FloatArray,
    pull: FloatArray,
    sizes: FloatArray,
    kinds: IntArray,
    start: FloatArray,
    believed: float = 0.0,
    steps: int = _ROUNDS,
) -> Evidence:
    """Find one strength w_g for the priors of each kind of parameters.

    Parameters x are expected at zero with standard deviations w_g s. With m_i and v_i mean and variance of x_i given
    the data in units of these, evidence is largest where

        w_g² = (w_g² Σ m_i² + n) / (Σ (1 - v_i) + n)

    over the parameters of a kind; the sum below the line is how many of them the data determine. Sizes as given count
    as much as n parameters that were found to have them: where data say little, strengths stay near one.

    Args:
        information: (N, N) A^T A of the data, and
        pull: (N,) A^T y.
        sizes: (N,) s.
        kinds: (N,) g; -1 where the size is that of the prior.
        start: (G,) strengths to begin with.
        believed: n.
        steps: towards the largest evidence, at most.

    Raises:
        LinAlgError: if the information is not finite, or too large to be told from a singular one.
    """
    groups = np.where(kinds < 0, len(start), kinds)
    strengths, count = np.append(start, 1.0), len(start) + 1
    for _ in range(steps):
        widths = strengths[groups] * sizes
        scaled = widths[:, None] * information * widths
        scaled.flat[:: len(sizes) + 1] += 1.0
        factor, failed = dpotrf(scaled.T, lower=1, overwrite_a=1)  # in LAPACK's own order, so that nothing is copied
        if failed or not np.isfinite(factor.flat[:: len(sizes) + 1]).all():  # LAPACK takes what is no number for one
            raise np.linalg.LinAlgError("the information that priors are weighed by is not positive or not finite")
        root, _ = dtrtri(factor, lower=1, overwrite_c=1)
        mean = root.T @ (root @ (widths * pull))
        determined = np.bincount(groups, 1.0 - np.einsum("ij,ij->j", root, root), count) + believed
        squares = np.bincount(groups, mean**2, count) + believed / strengths**2
        found = strengths * np.sqrt(squares / np.maximum(determined, np.finfo(float).tiny))
        found = np.clip(found, _WEAKEST, 1.0 / _WEAKEST)
        found[-1] = 1.0
        if (np.abs(np.log(found / strengths)) < _SETTLED).all():
            break
        strengths = found
    return Evidence(strengths[:-1], widths, mean, root)
