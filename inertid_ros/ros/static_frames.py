"""Frames that the URDF does not have, from /tf_static: an adapter or a sensor that something else has calibrated.

Messages of tf2_msgs come with a ROS that is installed, there are no wheels of them: without, nothing is listened to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pinocchio as pin

from inertid_ros.core.robot.robot import parse_urdf

try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None

__all__ = ["REMEDY", "TOPIC", "StaticFrames", "TFMessage"]

TOPIC = "/tf_static"
REMEDY = (
    "set load.sensor_frame to a frame of the robot description that the arm moves, or publish on /tf_static where the "
    "sensor is"
)
if TFMessage is None:
    REMEDY += " (which is not listened to here: the package tf2_msgs is not installed)"


class StaticFrames:
    """Keeps the static transforms, and adds to a URDF the frames that are fixed to one of its links."""

    def __init__(self) -> None:
        """Start without any."""
        self._mounts: dict[str, tuple[str, str]] = {}

    def take(self, transforms: Iterable[Any]) -> bool:
        """Take geometry_msgs/TransformStamped; returns whether one is new. Those that are no poses are left out."""
        before = dict(self._mounts)
        for transform in transforms:
            move, turn = transform.transform.translation, transform.transform.rotation
            place, quaternion = np.array([move.x, move.y, move.z]), np.array([turn.x, turn.y, turn.z, turn.w])
            norm = np.linalg.norm(quaternion)
            if np.isfinite([*place, norm]).all() and abs(norm - 1.0) < 0.01:
                angles = pin.rpy.matrixToRpy(pin.Quaternion(quaternion / norm).toRotationMatrix())
                origin = f'<origin xyz="{_list(place)}" rpy="{_list(angles)}"/>'
                self._mounts[transform.child_frame_id] = (transform.header.frame_id, origin)
        return self._mounts != before

    def add_to(self, text: str) -> str:
        """A URDF with all frames that are fixed, directly or by others, to a link of it, and that it lacks."""
        known = {link.get("name") for link in parse_urdf(text).iter("link")} if self._mounts else set()
        added: list[str] = []
        while waiting := [
            child for child, (parent, _) in self._mounts.items() if parent in known and child not in known
        ]:
            for child in waiting:
                parent, origin = self._mounts[child]
                known.add(child)
                added.append(
                    f'<link name={quoteattr(child)}/><joint name={quoteattr(f"{child} of {TOPIC}")} type="fixed">'
                    f"<parent link={quoteattr(parent)}/><child link={quoteattr(child)}/>{origin}</joint>"
                )
        return re.sub(r"(</robot\s*>)(?!.*</robot)", lambda end: "".join(added) + end[1], text, flags=re.DOTALL)


def _list(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(number)) for number in numbers)
