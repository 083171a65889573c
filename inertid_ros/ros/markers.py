"""What rviz draws: centre of mass and inertia with their uncertainty, predicted and residual wrench.

Everything is in the sensor frame and moves with it. What is not known yet is deleted, not drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point
from scipy.spatial.transform import Rotation
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, equivalent_semi_axes, semi_axis_bounds
from inertid_ros.ros.messages import stamp_message

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
_YELLOW = (1.0, 0.8, 0.1)
_BLUE = (0.2, 0.5, 1.0)
_GREEN = (0.2, 0.8, 0.3)
_RED = (0.9, 0.2, 0.2)


class MarkerPainter:
    """Makes the markers of one sensor frame."""

    def __init__(self, frame: str, lifetime: float) -> None:
        """Draw in a frame; markers that are not renewed vanish after `lifetime` seconds."""
        self._frame = frame
        seconds = int(lifetime)
        self._lifetime = Duration(sec=seconds, nanosec=int((lifetime - seconds) * 1e9))

    def paint(
        self,
        stamp: int,
        body: RigidBodyEstimate | None,
        inertia_known: bool,
        predicted: FloatArray | None,
        residual: FloatArray | None,
    ) -> MarkerArray:
        """Return all markers.

        Args:
            stamp: of the estimate, nanoseconds.
            body: the load, or None as long as its mass and centre of mass are not known.
            inertia_known: whether its inertia may be drawn.
            predicted: the newest predicted wrench (6,), or None where there is none.
            residual: the newest residual (6,), likewise.
        """
        markers = self._com(body) + self._inertia(body if inertia_known else None)
        markers += self._wrench("wrench_predicted", predicted, _GREEN) + self._wrench("wrench_residual", residual, _RED)
        for marker in markers:
            marker.header.stamp = stamp_message(stamp)
        return MarkerArray(markers=markers)

    def _com(self, body: RigidBodyEstimate | None) -> list[Marker]:
        if body is None or body.com is None or body.com_covariance is None:
            return [self._delete("com", 0), self._delete("com", 1)]
        variances, axes = np.linalg.eigh(body.com_covariance)
        if np.linalg.det(axes) < 0.0:
            axes = -axes
        spread = DEVIATIONS * np.sqrt(np.maximum(variances, 0.0))
        return [
            self._ellipsoid("com", 0, body.com, np.eye(3), np.full(3, _COM_RADIUS), (*_YELLOW, 1.0)),
            self._ellipsoid("com", 1, body.com, axes, spread, (*_YELLOW, 0.3)),
        ]

    def _inertia(self, body: RigidBodyEstimate | None) -> list[Marker]:
        names = ("inertia", "inertia_lower", "inertia_upper")
        if body is None or body.com is None or body.principal_moments is None:
            return [self._delete(name, 0) for name in names]
        assert body.principal_axes is not None
        assert body.principal_moments_std is not None
        semi_axes = equivalent_semi_axes(body.mass, body.principal_moments)
        lower, upper = semi_axis_bounds(body.mass, body.principal_moments, body.principal_moments_std, DEVIATIONS)
        return [
            self._ellipsoid(name, 0, body.com, body.principal_axes, size, (*_BLUE, alpha))
            for name, size, alpha in zip(names, (semi_axes, lower, upper), (0.5, 0.3, 0.15), strict=True)
        ]

    def _wrench(self, name: str, wrench: FloatArray | None, color: tuple[float, float, float]) -> list[Marker]:
        if wrench is None:
            return [self._delete(name, 0), self._delete(name, 1)]
        return [
            self._arrow(name, 0, wrench[:3] * FORCE_SCALE, (*color, 0.9)),
            self._arrow(name, 1, wrench[3:] * TORQUE_SCALE, (*color, 0.5)),
        ]

    def _ellipsoid(
        self,
        name: str,
        index: int,
        centre: FloatArray,
        axes: FloatArray,
        semi_axes: FloatArray,
        color: Sequence[float],
    ) -> Marker:
        marker = self._start(name, index, Marker.SPHERE, color)
        marker.pose.position = _point(centre)
        x, y, z, w = Rotation.from_matrix(axes).as_quat().tolist()
        orientation = marker.pose.orientation
        orientation.x, orientation.y, orientation.z, orientation.w = x, y, z, w
        marker.scale.x, marker.scale.y, marker.scale.z = np.maximum(2.0 * semi_axes, _SMALLEST).tolist()
        return marker

    def _arrow(self, name: str, index: int, vector: FloatArray, color: Sequence[float]) -> Marker:
        length = float(np.linalg.norm(vector))
        if length < _SMALLEST:
            return self._delete(name, index)
        marker = self._start(name, index, Marker.ARROW, color)
        marker.points = [Point(), _point(vector * min(1.0, LONGEST_ARROW / length))]
        marker.scale.x, marker.scale.y = 0.008, 0.016
        return marker

    def _start(self, name: str, index: int, kind: int, color: Sequence[float]) -> Marker:
        marker = Marker(ns=name, id=index, type=kind, action=Marker.ADD, frame_locked=True, lifetime=self._lifetime)
        marker.header.frame_id = self._frame
        red, green, blue, alpha = color
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=alpha)
        return marker

    def _delete(self, name: str, index: int) -> Marker:
        marker = Marker(ns=name, id=index, action=Marker.DELETE)
        marker.header.frame_id = self._frame
        return marker


def _point(vector: FloatArray) -> Point:
    x, y, z = vector.tolist()
    return Point(x=x, y=y, z=z)
