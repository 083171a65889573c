"""The ten inertial parameters of a rigid body, and the ways to write them down.

    phi = [m, mcx, mcy, mcz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz]      kg, kg m, kg m²

with the inertia about the frame's origin, not about the centre of mass, in the order of Atkeson, An and Hollerbach
(1986). This is the one place that knows pinocchio's order, in which Iyy comes before Ixz.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.records import FloatArray, IntArray

PARAMETER_NAMES = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
"""Names of the ten parameters phi, in the paper's order."""
INERTIA_INDEX = np.array([[4, 5, 6], [5, 7, 8], [6, 8, 9]])
"""Where in phi the entries of the 3x3 inertia matrix are."""
UPPER_TRIANGLE = np.triu_indices(3)
"""Rows and columns of Ixx, Ixy, Ixz, Iyy, Iyz, Izz in a 3x3 matrix."""

_PINOCCHIO_ORDER = np.array([0, 1, 2, 3, 4, 5, 7, 6, 8, 9])
"""Swaps Ixz and Iyy, and is its own inverse."""
_WATER = 1000.0
"""Density [kg/m³] of what stands in for an unknown body: that of most tools and parts within a factor of ten."""
_ROUNDING = 1e-12
"""Smallest eigenvalue of a pseudo-inertia with unit diagonal that counts as positive; rounding leaves 1e-16."""


def inertia_about_origin(mass: float, com: FloatArray) -> FloatArray:
    """Return the (3, 3) inertia of a point mass at `com` about the origin, m (cᵀc 1 − c cᵀ): the parallel axis term."""
    return mass * (com @ com * np.eye(3) - np.outer(com, com))


def inertia_of_ball(mass: float) -> float:
    """Return the moment of inertia of a ball of water about its centre, 2 m r² / 5 [kg m²]."""
    return 0.4 * mass * float(np.cbrt(3.0 * mass / (4.0 * np.pi * _WATER))) ** 2


def compose(mass: float, com: FloatArray, inertia_at_com: FloatArray) -> FloatArray:
    """Return phi (10,) of a body with mass [kg], centre of mass (3,) [m] and inertia (3, 3) about it [kg m²]."""
    com = np.asarray(com, dtype=float)
    inertia = np.asarray(inertia_at_com, dtype=float) + inertia_about_origin(mass, com)
    return np.concatenate(([mass], mass * com, inertia[UPPER_TRIANGLE]))


def decompose(phi: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return mass [kg], centre of mass (3,) [m] and inertia (3, 3) about it [kg m²].

    NotIdentifiedError if the mass is not positive; such a body has no centre of mass.
    """
    mass = float(phi[0])
    if not mass > 0.0:
        raise NotIdentifiedError(f"a mass of {mass:g} kg has no centre of mass: take the nearest feasible body instead")
    com = phi[1:4] / mass
    return mass, com, phi[INERTIA_INDEX] - inertia_about_origin(mass, com)


def to_pinocchio(phi: FloatArray) -> pin.Inertia:
    """Return pinocchio's inertia; ten zeros give the massless one.

    NotIdentifiedError if the mass is not positive. Nothing else is checked, see is_feasible.
    """
    if not np.any(phi):
        return pin.Inertia.Zero()
    return pin.Inertia(*decompose(phi))


def pinocchio_columns(bodies: int) -> IntArray:
    """Where, among the columns of pinocchio's regressor for some bodies, the project's columns are, (10 bodies,)."""
    return np.asarray((10 * np.arange(bodies)[:, None] + _PINOCCHIO_ORDER).ravel(), dtype=np.int64)


def from_pinocchio(inertia: pin.Inertia) -> FloatArray:
    """Return phi (10,) of pinocchio's inertia, in the same frame."""
    return np.asarray(inertia.toDynamicParameters()[_PINOCCHIO_ORDER], dtype=float)


def pseudo_inertia(phi: FloatArray) -> FloatArray:
    """Return the (4, 4) second moment of the mass distribution, P = ∫ [x; 1] [x; 1]ᵀ dm.

    P = [[½ tr(I) 1 − I, mc], [mcᵀ, m]] is linear in phi, and positive definite exactly for the bodies that can be made
    of positive mass.
    """
    inertia = phi[INERTIA_INDEX]
    result = np.empty((4, 4))
    result[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    result[:3, 3] = result[3, :3] = phi[1:4]
    result[3, 3] = phi[0]
    return result


def from_pseudo_inertia(matrix: FloatArray) -> FloatArray:
    """Return phi (10,) of a (4, 4) pseudo-inertia: the inverse of pseudo_inertia."""
    second_moment = matrix[:3, :3]
    inertia = np.trace(second_moment) * np.eye(3) - second_moment
    return np.concatenate(([matrix[3, 3]], matrix[:3, 3], inertia[UPPER_TRIANGLE]))


def change_frame(phi: FloatArray, rotation: FloatArray, translation: FloatArray) -> FloatArray:
    """Return phi (10,) in frame A of a body given in frame B.

    With x_A = R x_B + p, R (3, 3) the axes and p (3,) the origin of B in A [m], the pseudo-inertia becomes T P Tᵀ,
    T = [[R, p], [0, 1]]: linear, whatever the mass.
    """
    transform = np.eye(4)
    transform[:3, :3] = rotation
    transform[:3, 3] = translation
    return from_pseudo_inertia(transform @ pseudo_inertia(phi) @ transform.T)


def is_feasible(phi: FloatArray) -> bool:
    """Tell whether positive mass can be distributed in space to give phi.

    That is a positive definite pseudo-inertia: positive mass, positive inertia about the centre of mass, triangle
    inequality. Scaled to a unit diagonal, its smallest eigenvalue must exceed rounding (1e-12), so a point, a rod or a
    plate without thickness is not feasible. Numbers that are not finite are not feasible.
    """
    if not np.all(np.isfinite(phi)):
        return False
    matrix = pseudo_inertia(phi)
    diagonal = matrix.diagonal()
    if np.any(diagonal <= 0.0):
        return False
    scale = 1.0 / np.sqrt(diagonal)
    return bool(np.linalg.eigvalsh(scale[:, None] * matrix * scale)[0] > _ROUNDING)


@dataclass(frozen=True, slots=True)
class Tool:
    """The bare gripper, phi (10,) in the sensor frame: identified once, then subtracted from all that is carried."""

    phi: FloatArray
    covariance: FloatArray
    sensor_frame: str


class ExpectedLoad(NamedTuple):
    """What should be attached next: its name, its mass [kg] without the tool, and the standard deviation of that."""

    name: str
    mass: float
    deviation: float


def subtract(phi: FloatArray, covariance: FloatArray, tool: Tool) -> tuple[FloatArray, FloatArray]:
    """Return parameters (10,) and covariance (10, 10) of the load alone.

    Parameters about the same origin add up, so phi_load = phi − phi_tool. The two were identified from different data,
    so their covariances add up as well.
    """
    return phi - tool.phi, covariance + tool.covariance
