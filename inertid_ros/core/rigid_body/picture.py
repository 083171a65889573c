"""What is drawn of a load and of wrenches, for rviz and for the view: ellipsoids and arrows in the sensor frame.

What is not known yet is not drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, equivalent_semi_axes, semi_axis_bounds

FORCE_SCALE = 0.01
"""Metres an arrow is long for one newton."""
TORQUE_SCALE = 0.1
"""Metres an arrow is long for one newton metre."""
LONGEST_ARROW = 1.0
"""Metres; longer arrows are cut."""
SMALLEST = 1e-4
"""Metres; shorter arrows are not drawn, and thinner ellipsoids are drawn so thick."""
DEVIATIONS = 2.0
"""Standard deviations between what is drawn and its bounds."""

_COM_RADIUS = 0.012
"""Of the centre of mass [m]: large enough to be seen beside an arm."""


class Ellipsoid(NamedTuple):
    """An ellipsoid: its centre (3,), axes (3, 3) as right-handed columns, and semi-axes (3,) [m]."""

    centre: FloatArray
    axes: FloatArray
    semi_axes: FloatArray


def draw_body(body: RigidBodyEstimate | None, inertia_known: bool) -> dict[str, Ellipsoid]:
    """Return what can be drawn of a body: `com` and `com_bound`, and `inertia` with its `_lower` and `_upper` bounds.

    The body is None as long as its mass and centre of mass are not known.
    """
    if body is None or body.com is None:
        return {}
    assert body.com_covariance is not None
    variances, axes = np.linalg.eigh(body.com_covariance)
    spread = DEVIATIONS * np.sqrt(np.maximum(variances, 0.0))
    turned = -axes if np.linalg.det(axes) < 0.0 else axes
    drawn = {
        "com": Ellipsoid(body.com, np.eye(3), np.full(3, _COM_RADIUS)),
        "com_bound": Ellipsoid(body.com, turned, np.maximum(spread, SMALLEST / 2.0)),
    }
    if not inertia_known or body.principal_moments is None:
        return drawn
    assert body.principal_axes is not None
    assert body.principal_moments_std is not None
    sizes = (
        equivalent_semi_axes(body.mass, body.principal_moments),
        *semi_axis_bounds(body.mass, body.principal_moments, body.principal_moments_std, DEVIATIONS),
    )
    for name, size in zip(("inertia", "inertia_lower", "inertia_upper"), sizes, strict=True):
        drawn[name] = Ellipsoid(body.com, body.principal_axes, np.maximum(size, SMALLEST / 2.0))
    return drawn


def draw_wrench(wrench: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the tips (3,) [m] of the arrows of force and moment of a wrench (6,); both begin at the origin."""
    return _cut(wrench[:3] * FORCE_SCALE), _cut(wrench[3:] * TORQUE_SCALE)


def _cut(vector: FloatArray) -> FloatArray:
    length = float(np.linalg.norm(vector))
    return vector * (LONGEST_ARROW / length) if length > LONGEST_ARROW else vector
