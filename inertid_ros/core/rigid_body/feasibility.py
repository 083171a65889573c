"""The nearest physically consistent body: what to publish beside a raw estimate that is no rigid body.

    minimise (x − phi)ᵀ Λ (x − phi)   subject to   P(x) positive definite

with Λ the information (inverse covariance) of the estimate and P the pseudo-inertia, linear in x. The metric matters:
a change along a direction the data hardly determine is cheap, along a well-known one it is not.

With C a plausible body, a ball of water that has the estimate's mass and centre of mass, what is minimised is

    ½ (x − phi)ᵀ Λ (x − phi) + μ [tr(P(C)⁻¹ P(x)) − log det P(x)],     μ a small number

by a primal-dual interior-point method. The barrier in brackets is least at C itself, so that directions without
information come out as C has them; where a standard deviation is less than about a hundred times the parameter's value
in C, that pull has no effect. Every iterate is a feasible body, so stopping early is safe.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.lapack import dposv
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose, inertia_of_ball, is_feasible, pseudo_inertia

MARGIN = 1e-7
"""Thinnest body returned: smallest second moment about the COM, as a part of tr ∫ x xᵀ dm about the origin;
a smaller one is lost to rounding in single precision."""
TOLERANCE = 1e-3
"""Chi-square by which the result may exceed the minimum (0.03 standard deviations), or part of a minimum above 1."""

_SMALLEST_MASS = 1e-4
"""Mass [kg] of the plausible body at least: below what any force sensor resolves."""
_LONGEST_LEVER = 2.0
"""Distance [m] of the plausible body's centre of mass from the sensor at most: beyond any tool."""
_TO_BOUNDARY = 0.95
"""Part of the way to the boundary that a step may go: interior-point methods use 0.9 to 0.995."""
_MAXIMUM_STEPS = 40
"""Steps after which the search stops, feasible anyway."""


def _make_units() -> FloatArray:
    """Return (10, 4, 4): an orthonormal basis of the symmetric matrices."""
    rows, columns = np.triu_indices(4)
    units = np.zeros((10, 4, 4))
    units[range(10), rows, columns] = units[range(10), columns, rows] = np.where(rows == columns, 1.0, np.sqrt(0.5))
    return units


def _make_parameters() -> FloatArray:
    """Return (10, 16): what each parameter adds to the pseudo-inertia less the margin, its 4x4 entries in a row."""
    matrices = np.array([pseudo_inertia(unit) for unit in np.eye(10)])
    second_moments = np.trace(matrices[:, :3, :3], axis1=1, axis2=2)
    matrices[:, :3, :3] -= MARGIN * second_moments[:, None, None] * np.eye(3)
    return matrices.reshape(10, 16)


UNITS = _make_units()
"""(10, 4, 4) the orthonormal basis in which pseudo-inertias are measured."""
_PARAMETERS = _make_parameters()
_INVERSE_PARAMETERS = np.linalg.pinv(_PARAMETERS)


def nearest_feasible(phi: FloatArray, information: FloatArray) -> FloatArray:
    """Return the feasible body (10,) nearest to phi (10,) in the metric of its information (10, 10).

    A feasible phi is returned as it is. The information may be singular. NotIdentifiedError if the estimate or its
    information is not finite.
    """
    if is_feasible(phi):
        return phi
    if not (np.all(np.isfinite(phi)) and np.all(np.isfinite(information))):
        raise NotIdentifiedError("an estimate that is not finite has no nearest body: reset the estimator")
    jacobian, root = express_units(_plausible_body(phi))
    weights, axes = np.linalg.eigh(jacobian @ information @ jacobian.T)
    basis = axes.T @ UNITS.reshape(10, 16)
    half = np.linalg.solve(root, (phi @ _PARAMETERS).reshape(4, 4))
    target = basis @ np.linalg.solve(root, half.T).ravel()
    body = _minimise(target, np.maximum(weights, 0.0), basis)
    return np.asarray((root @ body @ root.T).ravel() @ _INVERSE_PARAMETERS)


def express_units(body: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (10, 10) the parameters of each of UNITS, measured by a body (10,), less its margin, and L (4, 4).

    In these units, P = L S Lᵀ, that body is S = 1, whatever its size and place.
    """
    root = np.linalg.cholesky((body @ _PARAMETERS).reshape(4, 4))
    return (root @ UNITS @ root.T).reshape(10, 16) @ _INVERSE_PARAMETERS, root


def _plausible_body(phi: FloatArray) -> FloatArray:
    """Return a ball of water (10,) with the mass and, within reach, the centre of mass of phi."""
    mass = max(abs(float(phi[0])), _SMALLEST_MASS)
    com = phi[1:4] / mass
    com *= _LONGEST_LEVER / max(float(np.linalg.norm(com)), _LONGEST_LEVER)
    return compose(mass, com, inertia_of_ball(mass) * np.eye(3))


def _minimise(target: FloatArray, weights: FloatArray, basis: FloatArray) -> FloatArray:
    """Return the (4, 4) positive definite S = Σ x_k E_k minimising ½ Σ weights (x − target)² + μ (tr S − log det S).

    The E_k are the rows of the basis (10, 16), orthonormal. With the multiplier Z of the constraint the conditions are

        weights (x − target) + μ tr(E_k) = tr(E_k Z),    S Z = μ 1

    Newton's steps on both follow μ down to its final value. Coordinates in which the information is diagonal keep the
    equations solvable by Cholesky, whatever its condition number.
    """
    traces = basis @ np.eye(4).ravel()
    point, step = traces, 0.5
    cost = float(weights @ (point - target) ** 2)
    pair = np.array([np.eye(4), max(cost, TOLERANCE) / 8.0 * np.eye(4)])  # S and Z
    for _ in range(_MAXIMUM_STEPS):
        final = max(1.0, cost) * TOLERANCE / 8.0
        mean = float(np.vdot(pair[0], pair[1])) / 4.0
        if step > 0.9 and mean < 1.5 * final:
            break
        centre = max(final, max(0.1, 1.0 - step) * mean)  # less ambitious after a short step
        inverse = np.linalg.inv(pair)
        products = np.multiply.outer(inverse[0], pair[1]).transpose(0, 2, 1, 3).reshape(16, 16)
        curvature = basis @ products @ basis.T
        curvature[np.diag_indices(10)] += weights
        slope = weights * (point - target) + centre * (traces - basis @ inverse[0].ravel())
        _, newton, failure = dposv(curvature, slope)
        if failure or not np.all(np.isfinite(newton)):
            break
        change = -(newton @ basis).reshape(4, 4)
        product = inverse[0] @ change @ pair[1]
        changes = np.array([change, centre * inverse[0] - pair[1] - 0.5 * (product + product.T)])
        fastest = float(-np.linalg.eigvals(inverse @ changes).real.min())
        step = 1.0 if fastest < _TO_BOUNDARY else _TO_BOUNDARY / fastest
        point = point - step * newton
        pair = pair + step * changes
        cost = float(weights @ (point - target) ** 2)
    return np.asarray(pair[0])
