"""Completions of an estimate of base parameters to all standard parameters of the arm; one of them is feasible."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.feasible_links import make_plausible, nearest_feasible_links, solve_by_ridge
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES

_DAMPING = 1e-3
"""Damping of the ridge, as a part of the smallest eigenvalue that the data give: what they determine moves by less."""
_REACH = 0.3
"""Standard deviation of a link from the URDF's: its own mass at this distance [m], half the length of usual links."""


def complete_links(estimate: LinksEstimate) -> FloatArray:
    """The feasible completion (F,): physically consistent links that explain the data, near the URDF's otherwise.

    The URDF's values count as measured once, each with a standard deviation of the link's own mass, at 0.3 m for first
    moments and inertias. Without that, links of a hundred kilograms would do as well where only a small part of their
    inertia shows. Friction and rotor inertias are positive; offsets may be anything.
    """
    model = estimate.model
    unknowns, count = model.unknowns, len(model.unknowns.names)
    prior = np.zeros(count)
    prior[unknowns.inertial] = model.arm.parameters
    everything = np.arange(count)
    positive = np.concatenate(
        [everything[part] for part in (unknowns.viscous, unknowns.coulomb, unknowns.rotor_inertia)]
    )
    links = np.array([make_plausible(phi) for phi in model.arm.parameters.reshape(-1, len(PARAMETER_NAMES))])
    widths = links[:, :1] * np.array([1.0] + [_REACH] * 3 + [_REACH**2] * 6)
    base = model.base.rank
    combination = np.concatenate((model.base.combination, np.eye(links.size, count)))
    root = np.zeros((len(combination), len(combination)))
    root[:base, :base] = _invert_root(estimate.covariance)
    root[range(base, len(root)), range(base, len(root))] = 1.0 / widths.ravel()
    values = np.concatenate((estimate.values, links.ravel()))
    return nearest_feasible_links(prior, values, root, combination, len(links), positive)


def complete_by_ridge(estimate: LinksEstimate) -> FloatArray:
    """The completion (F,) of the paper's eq. 20: as small as the data allow, and not always physically consistent."""
    root, combination = _invert_root(estimate.repeatability), estimate.model.base.combination
    smallest = np.linalg.svd(root @ combination, compute_uv=False)[-1]
    return solve_by_ridge(root, estimate.values, combination, _DAMPING * float(smallest) ** 2)


def _invert_root(covariance: FloatArray) -> FloatArray:
    """R (B, B) with RᵀR the inverse of a covariance, whatever the units."""
    scale = np.sqrt(np.diag(covariance))
    lower = np.linalg.cholesky(covariance / np.outer(scale, scale))
    return np.asarray(solve_triangular(lower, np.diag(1.0 / scale), lower=True))
