"""The solid ellipsoid that turns like a body: the picture of an inertia."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray

_OTHERS = np.array([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
"""The sum of the other two moments less the own one is twice the second moment along an axis."""


def equivalent_semi_axes(mass: float, principal_moments: FloatArray) -> FloatArray:
    """Return the semi-axes (3,) [m] of the homogeneous ellipsoid with that mass [kg] and those moments (3,) [kg m²].

    Its moments are I_i = m (a_j² + a_k²) / 5, hence a_i² = 5 (I_j + I_k − I_i) / (2 m). Where the moments violate the
    triangle inequality, a_i is 0.
    """
    return np.asarray(np.sqrt(np.maximum(_squares(mass, principal_moments), 0.0)))


def semi_axis_bounds(
    mass: float, principal_moments: FloatArray, moments_std: FloatArray, deviations: float = 2.0
) -> tuple[FloatArray, FloatArray]:
    """Return the semi-axes (3,) of a smaller and a larger ellipsoid between which the body's lies.

    The squares a_i² are moved by so many standard deviations; the moments count as independent, the mass as exact,
    since it is known far better.
    """
    squares = _squares(mass, principal_moments)
    margin = deviations * 2.5 / mass * np.linalg.norm(moments_std)
    return np.sqrt(np.maximum(squares - margin, 0.0)), np.sqrt(np.maximum(squares + margin, 0.0))


def _squares(mass: float, principal_moments: FloatArray) -> FloatArray:
    return np.asarray(2.5 / mass * (_OTHERS @ principal_moments))
