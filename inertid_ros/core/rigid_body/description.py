"""What the ten parameters mean: mass, centre of mass, inertia about it, principal moments and axes, with uncertainty.

The solid ellipsoid that turns like the body is the picture of its inertia.
Atkeson, An and Hollerbach (1986), eq. 10 and 11. Standard deviations are first-order: with J the Jacobian of a quantity
with respect to phi and C the covariance of phi, the covariance of the quantity is J C Jᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import INERTIA_INDEX, UPPER_TRIANGLE, decompose

SIGNIFICANT_MASS = 3.0
"""How many standard deviations above zero a mass must be for a centre of mass to be given: a quotient by less is
not normally distributed."""
DISTINCT = 5.991
"""Chi-square with two degrees of freedom at 95 %: above it two principal moments differ."""
_KNOWN_INERTIA = 0.1
"""Largest standard deviation of an entry of a known inertia, as a part of the largest principal moment: the measure by
which single parameters count as known (core.estimation.states)."""
_SMALLEST_RADIUS = 0.02
"""Of a small body it is compared with the inertia of the mass at this distance [m], as there."""
_ROUNDING = 1e-9
"""Part of the largest principal moment by which rounding may change the others."""
_OTHERS = np.array([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
"""The sum of the other two moments less the own one is twice the second moment along an axis."""


@dataclass(frozen=True, slots=True)
class RigidBodyEstimate:
    """A rigid body as one would describe it, each number with its standard deviation, in kg, m and kg m².

    While the mass is not significantly positive, only the mass is given and all else is None.

    Attributes:
        com: (3,) centre of mass in the sensor frame.
        inertia: (3, 3) about the centre of mass, in the axes of the sensor frame.
        principal_moments: (3,) eigenvalues of the inertia, smallest first.
        principal_axes: (3, 3) their axes as columns, right-handed; of the first two the largest component is positive.
        axes_unique: for each axis, whether the data tell its moment from both others at 95 %; if not, every axis in the
            plane of the two is as good.
    """

    mass: float
    mass_std: float
    com: FloatArray | None = None
    com_std: FloatArray | None = None
    com_covariance: FloatArray | None = None
    inertia: FloatArray | None = None
    inertia_std: FloatArray | None = None
    principal_moments: FloatArray | None = None
    principal_moments_std: FloatArray | None = None
    principal_axes: FloatArray | None = None
    axes_unique: tuple[bool, bool, bool] | None = None


def describe_body(phi: FloatArray, covariance: FloatArray) -> RigidBodyEstimate:
    """Return what parameters (10,) with their covariance (10, 10) say of the body."""
    mass_std = float(np.sqrt(covariance[0, 0]))
    if not phi[0] > SIGNIFICANT_MASS * mass_std:
        return RigidBodyEstimate(float(phi[0]), mass_std)
    mass, com, inertia = decompose(phi)
    com_jacobian = differentiate_com(mass, com)
    com_covariance = com_jacobian @ covariance @ com_jacobian.T
    inertia_jacobian = differentiate_inertia(com)
    moments, axes = find_principal_axes(inertia)
    # dI in principal axes: the diagonal changes the moments, the rest turns the axes.
    rotated = np.einsum("ia,ijk,jb->abk", axes, inertia_jacobian[INERTIA_INDEX - 4], axes)
    return RigidBodyEstimate(
        mass=mass,
        mass_std=mass_std,
        com=com,
        com_std=np.sqrt(com_covariance.diagonal()),
        com_covariance=com_covariance,
        inertia=inertia,
        inertia_std=_propagate(inertia_jacobian, covariance)[INERTIA_INDEX - 4],
        principal_moments=moments,
        principal_moments_std=_propagate(rotated[range(3), range(3)], covariance),
        principal_axes=axes,
        axes_unique=_find_unique_axes(moments, rotated, covariance),
    )


def inertia_is_known(body: RigidBodyEstimate) -> bool:
    """Tell whether the inertia about the centre of mass is known as a whole.

    The parameters' own states are about the origin of the frame, far from which the mass alone makes most of the
    inertia: they say little about it.
    """
    if body.inertia_std is None or body.principal_moments is None:
        return False
    scale = max(body.principal_moments.max(), body.mass * _SMALLEST_RADIUS**2)
    return bool(body.inertia_std.max() <= _KNOWN_INERTIA * scale)


def differentiate_com(mass: float, com: FloatArray) -> FloatArray:
    """Return the (3, 10) Jacobian of c = (mc)/m with respect to phi."""
    jacobian = np.zeros((3, 10))
    jacobian[:, 0] = -com / mass
    jacobian[:, 1:4] = np.eye(3) / mass
    return jacobian


def differentiate_inertia(com: FloatArray) -> FloatArray:
    """Return the (6, 10) Jacobian of Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the centre of mass with respect to phi.

    With h = mc, I_com = I − (hᵀh 1 − h hᵀ)/m, hence
    ∂I_com/∂m = cᵀc 1 − c cᵀ and ∂I_com/∂h_k = −(2 c_k 1 − e_k cᵀ − c e_kᵀ).
    """
    identity = np.eye(3)
    jacobian = np.zeros((6, 10))
    jacobian[:, 0] = (com @ com * identity - np.outer(com, com))[UPPER_TRIANGLE]
    for k, axis in enumerate(identity):
        slope = np.outer(axis, com) + np.outer(com, axis) - 2.0 * com[k] * identity
        jacobian[:, 1 + k] = slope[UPPER_TRIANGLE]
    jacobian[:, 4:] = np.eye(6)
    return jacobian


def find_principal_axes(inertia: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the moments (3,), smallest first, and the axes (3, 3) as right-handed columns."""
    moments, axes = np.linalg.eigh(inertia)
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.sign(axes[largest, range(3)])
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    return moments, axes


def _propagate(jacobian: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the standard deviations (n,) of quantities with this Jacobian (n, 10)."""
    return np.asarray(np.sqrt(np.maximum(np.sum(jacobian @ covariance * jacobian, axis=1), 0.0)))


def _find_unique_axes(moments: FloatArray, rotated: FloatArray, covariance: FloatArray) -> tuple[bool, bool, bool]:
    """Tell which axes are unique, given how the inertia in principal axes changes with phi (3, 3, 10).

    Two moments are equal when both I_aa − I_bb and 2 I_ab vanish; the estimate of the two is (λ_a − λ_b, 0). That is
    one question with two degrees of freedom: eigenvalues of a noisy matrix are never equal.
    """
    unique = [True, True, True]
    for a, b in ((0, 1), (0, 2), (1, 2)):
        jacobian = np.array([rotated[a, a] - rotated[b, b], 2.0 * rotated[a, b]])
        spread = jacobian @ covariance @ jacobian.T + (_ROUNDING * np.abs(moments).max()) ** 2 * np.eye(2)
        if (moments[b] - moments[a]) ** 2 * np.linalg.inv(spread)[0, 0] < DISTINCT:
            unique[a] = unique[b] = False
    return (unique[0], unique[1], unique[2])


def equivalent_semi_axes(mass: float, principal_moments: FloatArray) -> FloatArray:
    """Return the semi-axes (3,) [m] of the homogeneous ellipsoid with that mass [kg] and those moments (3,) [kg m²].

    Its moments are I_i = m (a_j² + a_k²) / 5, hence a_i² = 5 (I_j + I_k − I_i) / (2 m). Where the moments violate the
    triangle inequality, a_i is 0.
    """
    return semi_axis_bounds(mass, principal_moments, np.zeros(3))[0]


def semi_axis_bounds(
    mass: float, principal_moments: FloatArray, moments_std: FloatArray, deviations: float = 2.0
) -> tuple[FloatArray, FloatArray]:
    """Return the semi-axes (3,) of a smaller and a larger ellipsoid between which the body's lies.

    The squares a_i² are moved by so many standard deviations; the moments count as independent, the mass as exact,
    since it is known far better.
    """
    squares = 2.5 / mass * (_OTHERS @ principal_moments)
    margin = deviations * 2.5 / mass * np.linalg.norm(moments_std)
    return np.sqrt(np.maximum(squares - margin, 0.0)), np.sqrt(np.maximum(squares + margin, 0.0))
