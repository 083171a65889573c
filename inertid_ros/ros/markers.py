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
from inertid_ros.core.rigid_body.description import RigidBodyEstimate
from inertid_ros.core.rigid_body.picture import SMALLEST, Ellipsoid, draw_body, draw_wrench

_YELLOW = (1.0, 0.8, 0.1)
_BLUE = (0.2, 0.5, 1.0)
_GREEN = (0.2, 0.8, 0.3)
_RED = (0.9, 0.2, 0.2)


class MarkerPainter:
    """Makes the markers of one load, always the same ones with other numbers: to construct messages takes long."""

    def __init__(self) -> None:
        """Make all markers."""
        self._array = MarkerArray()
        self._body = {
            "com": self._add("com", 0, Marker.SPHERE, _YELLOW, 1.0),
            "com_bound": self._add("com", 1, Marker.SPHERE, _YELLOW, 0.3),
            "inertia": self._add("inertia", 0, Marker.SPHERE, _BLUE, 0.5),
            "inertia_lower": self._add("inertia_lower", 0, Marker.SPHERE, _BLUE, 0.3),
            "inertia_upper": self._add("inertia_upper", 0, Marker.SPHERE, _BLUE, 0.15),
        }
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
        for name, ellipsoid in draw_body(body, inertia_known).items():
            _draw_ellipsoid(self._body[name], ellipsoid)
        for markers, wrench in ((self._predicted, predicted), (self._residual, residual)):
            if wrench is not None:
                for marker, tip in zip(markers, draw_wrench(wrench), strict=True):
                    _draw_arrow(marker, tip)
        return self._array


def _draw_ellipsoid(marker: Marker, ellipsoid: Ellipsoid) -> None:
    marker.action = Marker.ADD
    position, scale = marker.pose.position, marker.scale
    position.x, position.y, position.z = ellipsoid.centre.tolist()
    marker.pose.orientation = find_quaternion(ellipsoid.axes)
    scale.x, scale.y, scale.z = (2.0 * ellipsoid.semi_axes).tolist()


def _draw_arrow(marker: Marker, vector: FloatArray) -> None:
    if math.hypot(*vector.tolist()) >= SMALLEST:
        marker.action = Marker.ADD
        tip = marker.points[1]
        tip.x, tip.y, tip.z = vector.tolist()


def find_quaternion(axes: FloatArray) -> Quaternion:
    """The rotation that has these right-handed axes as columns."""
    in_columns = np.asfortranarray(axes)  # of any other matrix eigenpy makes a copy that is never freed
    x, y, z, w = pin.Quaternion(in_columns).coeffs().tolist()
    return Quaternion(x=x, y=y, z=z, w=w)
