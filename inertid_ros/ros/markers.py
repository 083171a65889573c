"""What rviz draws: centre of mass and inertia with their uncertainty, predicted and residual wrench.

Everything is in the sensor frame and moves with it. What is not known yet is deleted, not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Quaternion
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, equivalent_semi_axes, semi_axis_bounds

FORCE_SCALE = 0.01
"""Metres an arrow is long for one newton."""
TORQUE_SCALE = 0.1
"""Metres an arrow is long for one newton metre."""
LONGEST_ARROW = 1.0
"""Metres; longer arrows are cut."""
DEVIATIONS = 2.0
"""Standard deviations between what is drawn and its bounds."""

_COM_RADIUS = 0.012
_SMALLEST = 1e-4
_UPRIGHT = Quaternion()
_YELLOW = (1.0, 0.8, 0.1)
_BLUE = (0.2, 0.5, 1.0)
_GREEN = (0.2, 0.8, 0.3)
_RED = (0.9, 0.2, 0.2)


class MarkerPainter:
    """Makes the markers of one load, always the same ones with other numbers: to construct messages takes long."""

    def __init__(self) -> None:
        """Make all markers."""
        self._array = MarkerArray()
        self._com = [self._add("com", index, Marker.SPHERE, _YELLOW, alpha) for index, alpha in enumerate((1.0, 0.3))]
        self._inertia = [
            self._add(name, 0, Marker.SPHERE, _BLUE, alpha)
            for name, alpha in (("inertia", 0.5), ("inertia_lower", 0.3), ("inertia_upper", 0.15))
        ]
        self._predicted, self._residual = (
            [self._add(name, index, Marker.ARROW, color, alpha) for index, alpha in enumerate((0.9, 0.5))]
            for name, color in (("wrench_predicted", _GREEN), ("wrench_residual", _RED))
        )

    def _add(self, name: str, index: int, kind: int, color: Sequence[float], alpha: float) -> Marker:
        marker = Marker(ns=name, id=index, type=kind, frame_locked=True)
        red, green, blue = color
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=alpha)
        if kind == Marker.ARROW:
            marker.points = [Point(), Point()]
            marker.scale.x, marker.scale.y = 0.008, 0.016
        self._array.markers.append(marker)
        return marker

    def paint(
        self,
        header: Header,
        lifetime: float,
        body: RigidBodyEstimate | None,
        inertia_known: bool,
        predicted: FloatArray | None,
        residual: FloatArray | None,
    ) -> MarkerArray:
        """Return all markers, until the next call.

        Args:
            header: sensor frame, and stamp of the estimate.
            lifetime: seconds after which markers that are not renewed vanish.
            body: the load, or None as long as its mass and centre of mass are not known.
            inertia_known: whether its inertia may be drawn.
            predicted: the newest predicted wrench (6,), or None where there is none.
            residual: the newest residual (6,), likewise.
        """
        duration = Duration(sec=int(lifetime), nanosec=int(lifetime % 1.0 * 1e9))
        for marker in self._array.markers:
            marker.header, marker.lifetime, marker.action = header, duration, Marker.DELETE
        if body is not None and body.com is not None:
            self._draw_com(body)
            if inertia_known:
                self._draw_inertia(body)
        for markers, wrench in ((self._predicted, predicted), (self._residual, residual)):
            if wrench is not None:
                _draw_arrow(markers[0], wrench[:3] * FORCE_SCALE)
                _draw_arrow(markers[1], wrench[3:] * TORQUE_SCALE)
        return self._array

    def _draw_com(self, body: RigidBodyEstimate) -> None:
        assert body.com is not None
        assert body.com_covariance is not None
        variances, axes = np.linalg.eigh(body.com_covariance)
        if np.linalg.det(axes) < 0.0:
            axes = -axes
        spread = DEVIATIONS * np.sqrt(np.maximum(variances, 0.0))
        _draw_ellipsoid(self._com[0], body.com, _UPRIGHT, np.full(3, _COM_RADIUS))
        _draw_ellipsoid(self._com[1], body.com, find_quaternion(axes), spread)

    def _draw_inertia(self, body: RigidBodyEstimate) -> None:
        if body.principal_moments is None:
            return
        assert body.com is not None
        assert body.principal_axes is not None
        assert body.principal_moments_std is not None
        semi_axes = equivalent_semi_axes(body.mass, body.principal_moments)
        bounds = semi_axis_bounds(body.mass, body.principal_moments, body.principal_moments_std, DEVIATIONS)
        orientation = find_quaternion(body.principal_axes)
        for marker, size in zip(self._inertia, (semi_axes, *bounds), strict=True):
            _draw_ellipsoid(marker, body.com, orientation, size)


def _draw_ellipsoid(marker: Marker, centre: FloatArray, orientation: Quaternion, semi_axes: FloatArray) -> None:
    marker.action = Marker.ADD
    position, scale = marker.pose.position, marker.scale
    position.x, position.y, position.z = centre.tolist()
    marker.pose.orientation = orientation
    scale.x, scale.y, scale.z = np.maximum(2.0 * semi_axes, _SMALLEST).tolist()


def _draw_arrow(marker: Marker, vector: FloatArray) -> None:
    length = math.hypot(*vector.tolist())
    if length >= _SMALLEST:
        marker.action = Marker.ADD
        tip = marker.points[1]
        tip.x, tip.y, tip.z = (vector * min(1.0, LONGEST_ARROW / length)).tolist()


def find_quaternion(axes: FloatArray) -> Quaternion:
    """The rotation that has these right-handed axes as columns."""
    x, y, z, w = pin.Quaternion(axes).coeffs().tolist()
    return Quaternion(x=x, y=y, z=z, w=w)
