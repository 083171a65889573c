"""Wrenches and efforts to serialised messages: stamp and numbers are written into a copy of a template."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from inertid_ros.core.records import BoolArray, FloatArray
from inertid_ros.messages.cdr_layout import Layout, learn_joint_state, learn_wrench_stamped

_SECOND = 1_000_000_000


class _Template:
    """One serialised message, in which the stamp and the numbers of one field are written."""

    def __init__(self, data: bytes, layout: Layout, field: str) -> None:
        """Take what the middleware's own encoder made, and where its numbers are."""
        self._data = bytearray(data)
        record = np.frombuffer(self._data, dtype=layout.dtype)
        self._seconds, self._nanoseconds, self._numbers = record["sec"], record["nanosec"], record[field][0]

    def fill(self, stamp: int, numbers: FloatArray) -> bytes:
        """Return a message with a stamp [ns] and numbers (n,)."""
        self._seconds[0], self._nanoseconds[0] = divmod(stamp, _SECOND)
        self._numbers[:] = numbers
        return bytes(self._data)


class WrenchEncoder:
    """Makes WrenchStamped messages, all in one frame.

    Attributes:
        withheld: how many wrenches were not encoded because they had a NaN or an infinity.
    """

    def __init__(self, frame: str) -> None:
        """Make the template."""
        message = WrenchStamped()
        message.header.frame_id = frame
        data = serialize_message(message)
        self._template = _Template(data, learn_wrench_stamped(data), "wrench")
        self.withheld = 0

    def encode(self, stamp: int, wrench: FloatArray) -> bytes | None:
        """Return the message of a stamp [ns] and a wrench (6,) [N, Nm]; None if it is not finite."""
        if not math.isfinite(sum(wrench.tolist())):
            self.withheld += 1
            return None
        return self._template.fill(stamp, wrench)


class EffortEncoder:
    """Makes JointState messages that have efforts only, of joints that may differ from sample to sample.

    Attributes:
        withheld: how many efforts were left out although they were wanted, because they were not finite.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        """Set the n joints."""
        self._joints = np.array(joints, dtype=object)
        self._templates: dict[bytes, _Template] = {}
        self.withheld = 0

    def encode(self, stamp: int, efforts: FloatArray, wanted: BoolArray | None = None) -> bytes | None:
        """Return the message of one sample; None if no joint is left.

        Args:
            stamp: nanoseconds.
            efforts: (n,) [Nm, N].
            wanted: (n,) which of them are to be in the message; None for all.
        """
        present = np.isfinite(efforts)
        if wanted is not None:
            self.withheld += int(np.count_nonzero(wanted & ~present))
            present &= wanted
        elif not present.all():
            self.withheld += int(np.count_nonzero(~present))
        if present.all():
            return self._find_template(present).fill(stamp, efforts)
        return self._find_template(present).fill(stamp, efforts[present]) if present.any() else None

    def _find_template(self, joints: BoolArray) -> _Template:
        key = joints.tobytes()
        if key not in self._templates:
            message = JointState(name=self._joints[joints].tolist(), effort=[0.0] * int(np.count_nonzero(joints)))
            data = serialize_message(message)
            self._templates[key] = _Template(data, learn_joint_state(data), "effort")
        return self._templates[key]
