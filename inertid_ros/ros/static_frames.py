"""Frames that the URDF does not have, from /tf_static and /tf: an adapter or a sensor that was calibrated elsewhere.

A frame on /tf is one once it was seen for a while and has not moved on its parent; one that moves is none, for good.
Messages of tf2_msgs come with a ROS that is installed, there are no wheels of them: without, nothing is listened to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import RobotDescriptionError
from inertid_ros.core.robot.robot import parse_urdf

try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None

__all__ = ["REMEDY", "TOPIC", "WATCHED_TOPIC", "StaticFrames", "TFMessage"]

TOPIC = "/tf_static"
WATCHED_TOPIC = "/tf"
REMEDY = (
    "set load.sensor_frame to a frame of the robot description that the arm moves, or publish on /tf_static (or on "
    "/tf, if it does not move on its parent) where the sensor is"
)
if TFMessage is None:
    REMEDY += " (which are not listened to here: the package tf2_msgs is not installed)"

SEEN = 20
"""Transforms of a frame on /tf before it counts as fixed: two seconds of a slow broadcaster."""
WATCHED = 1_000_000_000
"""Time [ns] for which it must have been seen: longer than a frame that moves stays where it is, while the arm moves."""
STILL = 1e-4
"""Distance [m] and angle [rad] by which it may differ from where it was first: a calibration is repeated unchanged, but
for rounding, and a tenth of a millimetre does not matter to a load."""


class _Mount(NamedTuple):
    """Where a frame is: its parent, and the pose there."""

    parent: str
    pose: pin.SE3

    def is_like(self, other: _Mount) -> bool:
        """Whether it is the same but for rounding."""
        return self.parent == other.parent and bool(np.abs(pin.log6(self.pose.actInv(other.pose)).vector).max() < STILL)


class _Watched(NamedTuple):
    """Where a frame of /tf was first, the first stamp [ns], and how often it was seen; never again if it has moved."""

    mount: _Mount
    first: int
    times: int
    has_moved: bool = False


class StaticFrames:
    """Keeps the transforms, and adds to a URDF the frames that are fixed to one of its links."""

    def __init__(self) -> None:
        """Start without any."""
        self._mounts: dict[str, _Mount] = {}
        self._watched: dict[str, _Watched] = {}

    def take(self, transforms: Iterable[Any]) -> bool:
        """Take geometry_msgs/TransformStamped; returns whether one is new. Those that are no poses are left out."""
        before = dict(self._mounts)
        for transform in transforms:
            mount = _read(transform)
            child = transform.child_frame_id
            if mount is not None and not (child in before and before[child].is_like(mount)):
                self._mounts[child] = mount
        return self._mounts != before

    def watch(self, transforms: Iterable[Any], known: Iterable[str]) -> bool:
        """Take transforms of /tf, but for frames that the URDF has; returns whether one is fixed now, or no longer."""
        before, others = dict(self._mounts), set(known) - set(self._watched)
        for transform in transforms:
            child, mount = transform.child_frame_id, _read(transform)
            if mount is None or child in others:
                continue
            stamp = transform.header.stamp.sec * 1_000_000_000 + transform.header.stamp.nanosec
            seen = self._watched.get(child, _Watched(mount, stamp, 0))
            moved = seen.has_moved or not seen.mount.is_like(mount)
            self._watched[child] = seen = _Watched(seen.mount, seen.first, seen.times + 1, moved)
            if moved:
                self._mounts.pop(child, None)
            elif seen.times >= SEEN and stamp - seen.first >= WATCHED:
                self._mounts[child] = seen.mount
        return self._mounts != before

    def is_watched(self, frame: str) -> bool:
        """Whether a frame comes from /tf, and may move."""
        return frame in self._watched

    def check(self, frame: str) -> None:
        """Refuse a frame that was seen to move; RobotDescriptionError."""
        seen = self._watched.get(frame)
        if seen is not None and seen.has_moved:
            raise RobotDescriptionError(
                f"frame '{frame}' of /tf moves on '{seen.mount.parent}', and is not in the robot description: the "
                "frame of a wrench must be fixed to a link"
            )

    def add_to(self, text: str) -> str:
        """A URDF with all frames that are fixed, directly or by others, to a link of it, and that it lacks."""
        known = {link.get("name") for link in parse_urdf(text).iter("link")} if self._mounts else set()
        added: list[str] = []
        while waiting := [
            child for child, mount in self._mounts.items() if mount.parent in known and child not in known
        ]:
            for child in waiting:
                parent, pose = self._mounts[child]
                known.add(child)
                origin = f'<origin xyz="{_list(pose.translation)}" rpy="{_list(pin.rpy.matrixToRpy(pose.rotation))}"/>'
                added.append(
                    f'<link name={quoteattr(child)}/><joint name={quoteattr(f"{child} of {TOPIC}")} type="fixed">'
                    f"<parent link={quoteattr(parent)}/><child link={quoteattr(child)}/>{origin}</joint>"
                )
        return re.sub(r"(</robot\s*>)(?!.*</robot)", lambda end: "".join(added) + end[1], text, flags=re.DOTALL)


def _read(transform: Any) -> _Mount | None:
    """Where a transform has its frame; None if it is no pose."""
    move, turn = transform.transform.translation, transform.transform.rotation
    place, quaternion = np.array([move.x, move.y, move.z]), np.array([turn.x, turn.y, turn.z, turn.w])
    norm = np.linalg.norm(quaternion)
    if not (np.isfinite([*place, norm]).all() and abs(norm - 1.0) < 0.01):
        return None
    rotation = pin.Quaternion(quaternion / norm).toRotationMatrix()
    return _Mount(transform.header.frame_id, pin.SE3(rotation, place))


def _list(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(number)) for number in numbers)
