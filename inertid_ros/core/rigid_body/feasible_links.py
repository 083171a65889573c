"""Completions of the standard parameters of an arm from its base parameters: by ridge, and a feasible one near a prior.

Of the F standard parameters x (ten for each link, then friction, rotor inertias and offsets), the data determine
B combinations C x = b, the base parameters, with the information Λ = RᵀR. Everything else is a choice.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.feasibility import MARGIN, express_units
from inertid_ros.core.rigid_body.inertial import compose, decompose, inertia_of_ball
from inertid_ros.core.rigid_body.interior_point import descend

SMALL_NUMBER = 1e-3
"""Prior of a number that must be positive where the caller's is smaller [Nm s, Nm, kg m²]: that of small drives."""
_SMALLEST_MASS = 1e-3
"""Mass [kg] below which a URDF's link is a placeholder that says nothing."""
_UNKNOWN_MASS = 0.1
"""Mass [kg] that stands in for such a link's: that of a small part."""
_THINNEST = 0.01
"""Smallest second moment about the centre of mass that is plausible, as a part of that of a ball of water: a plate or a
rod, not a plane or a line."""
_AT_BOUND = 1.01
"""Multiple of that up to which a link is at the bound: rounding, and nothing else."""


def solve_by_ridge(root: FloatArray, estimate: FloatArray, combination: FloatArray, damping: float) -> FloatArray:
    """Return the standard parameters (F,) by ridge regression.

    Atkeson, An and Hollerbach (1986), eq. 20, phi = (KᵀK + d 1)⁻¹ Kᵀ τ, with KᵀK = Cᵀ Λ C and Kᵀ τ = Cᵀ Λ b: what
    the data do not determine comes out as small as possible, and nothing makes the links physically consistent.

    Args:
        root: (M, B) with RᵀR the information of the base parameters.
        estimate: (B,) the base parameters b.
        combination: (B, F) C.
        damping: d, positive and much smaller than the smallest eigenvalue of CᵀΛC that is not zero.
    """
    left, values, axes = np.linalg.svd(root @ combination, full_matrices=False)
    return np.asarray((left.T @ (root @ estimate)) * values / (values**2 + damping) @ axes)


def nearest_feasible_links(
    prior: FloatArray,
    estimate: FloatArray,
    root: FloatArray,
    combination: FloatArray,
    links: int,
    positive: IntArray,
) -> FloatArray:
    """Return the feasible completion (F,): the physically consistent links that explain the data best, near a prior.

        minimise (C x − b)ᵀ Λ (C x − b)   subject to   P(x_link) positive definite for every link, x_positive > 0

    and of all x that do, the one with the least Σ [tr(P(prior)⁻¹ P(x)) − log det P(x)], a distance that depends neither
    on units nor on frames. The minimum is met within a chi-square of feasibility.TOLERANCE.

    Args:
        prior: (F,) the URDF's own values, ten for each link first; inconsistent links are replaced, see make_plausible.
        estimate: (B,) the base parameters b.
        root: (M, B) with RᵀR their information Λ.
        combination: (B, F) C.
        links: how many links there are.
        positive: indices of the numbers beyond the links' that must be positive; all others are free.

    Raises:
        NotIdentifiedError: if something is not finite.
    """
    if not all(np.all(np.isfinite(item)) for item in (prior, estimate, root, combination)):
        raise NotIdentifiedError("an estimate that is not finite has no nearest links: reset the estimator")
    last = 10 * links
    units = np.array([express_units(make_plausible(phi))[0] for phi in prior[:last].reshape(links, 10)])
    free = np.setdiff1d(np.arange(last, len(prior)), positive)
    scales = np.maximum(prior[positive], SMALL_NUMBER)
    weighted = root @ combination
    bodies = weighted[:, :last].reshape(-1, links, 1, 10) @ units.transpose(0, 2, 1)
    matrix = np.hstack((bodies.reshape(-1, last), weighted[:, positive] * scales, weighted[:, free]))
    found = descend(matrix, root @ estimate - weighted[:, free] @ prior[free], links, len(positive))
    result = np.empty_like(prior)
    result[:last] = (found[:last].reshape(links, 1, 10) @ units).ravel()
    result[positive] = found[last : last + len(positive)] * scales
    result[free] = found[last + len(positive) :] + prior[free]
    return result


def make_plausible(phi: FloatArray) -> FloatArray:
    """Return a link (10,) as it is given, or a physically consistent one in its place.

    Without mass it becomes a small ball of water at the origin. Otherwise mass and centre of mass are kept, and where
    it is too thin, or thinner than nothing, it is made thicker.
    """
    if phi[0] < _SMALLEST_MASS:
        return compose(_UNKNOWN_MASS, np.zeros(3), inertia_of_ball(_UNKNOWN_MASS) * np.eye(3))
    mass, com, _ = decompose(phi)
    moments, axes, thinnest = _find_thickness(phi)
    if moments[0] >= thinnest:
        return phi
    spread = axes * np.maximum(moments, thinnest) @ axes.T
    return compose(mass, com, np.trace(spread) * np.eye(3) - spread)


def is_at_bound(phi: FloatArray) -> bool:
    """Whether a link (10,) is as thin as can be, which no real one is: the data ask for what is not consistent."""
    moments, _, thinnest = _find_thickness(phi)
    return bool(moments[0] < _AT_BOUND * thinnest)


def _find_thickness(phi: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Second moments (3,) of a body (10,) about its centre of mass, their axes (3, 3), and the least plausible one."""
    mass, com, inertia = decompose(phi)
    moments, axes = np.linalg.eigh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    about_origin = float(np.abs(moments).sum() + mass * com @ com)
    return moments, axes, max(_THINNEST * 0.5 * inertia_of_ball(mass), 100.0 * MARGIN * about_origin)
