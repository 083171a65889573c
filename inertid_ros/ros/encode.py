"""Wrenches and efforts to serialised messages: stamp and numbers are written into a copy of a template."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from inertid_ros.core.records import BoolArray, FloatArray
from inertid_ros.messages.cdr_layout import ENCAPSULATION_SIZE, Layout, learn_joint_state, learn_wrench_stamped

_SECOND = 1_000_000_000


class _Template:
    """One serialised message, in which the stamp and the numbers of one field are written."""

    def __init__(self, message: Any, learn: Callable[[bytes], Layout], field: str) -> None:
        """Take what the middleware's own encoder makes of a message, and where its layout has the field."""
        data = serialize_message(message)
        fields = learn(data).dtype.fields
        assert fields is not None
        numbers, start = fields[field][:2]
        self._head, self._middle = data[:ENCAPSULATION_SIZE], data[ENCAPSULATION_SIZE + 8 : start]
        self._end = data[start + numbers.itemsize :]
        order, count = "<" if data[1] else ">", numbers.itemsize // 8
        self._format = struct.Struct(f"{order}{ENCAPSULATION_SIZE}siI{len(self._middle)}s{count}d{len(self._end)}s")

    def fill(self, stamp: int, numbers: Sequence[float]) -> bytes:
        """Return a message with a stamp [ns] and its numbers."""
        return self._format.pack(self._head, *divmod(stamp, _SECOND), self._middle, *numbers, self._end)


class WrenchEncoder:
    """Makes WrenchStamped messages, all in one frame.

    Attributes:
        withheld: how many wrenches were not encoded because they had a NaN or an infinity.
    """

    def __init__(self, frame: str) -> None:
        """Make the template."""
        message = WrenchStamped()
        message.header.frame_id = frame
        self._template = _Template(message, learn_wrench_stamped, "wrench")
        self.withheld = 0

    def encode(self, stamp: int, wrench: FloatArray) -> bytes | None:
        """Return the message of a stamp [ns] and a wrench (6,) [N, Nm]; None if it is not finite."""
        numbers = wrench.tolist()
        if not math.isfinite(sum(numbers)):
            self.withheld += 1
            return None
        return self._template.fill(stamp, numbers)


class EffortEncoder:
    """Makes JointState messages that have efforts only, of joints that may differ from sample to sample.

    Attributes:
        withheld: how many efforts were left out although they were wanted, because they were not finite.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        """Set the n joints."""
        self._joints = np.array(joints, dtype=object)
        self._templates: dict[bytes, _Template] = {}
        self._whole = self._find_template(np.ones(len(joints), dtype=bool))
        self.withheld = 0

    def encode(self, stamp: int, efforts: FloatArray, wanted: BoolArray | None = None) -> bytes | None:
        """Return the message of one sample; None if no joint is left.

        Args:
            stamp: nanoseconds.
            efforts: (n,) [Nm, N].
            wanted: (n,) which of them are to be in the message; None for all.
        """
        if wanted is None or wanted.all():
            numbers = efforts.tolist()
            if math.isfinite(sum(numbers)):
                return self._whole.fill(stamp, numbers)
            wanted = np.ones(len(efforts), dtype=bool)
        present = wanted & np.isfinite(efforts)
        self.withheld += int(np.count_nonzero(wanted & ~present))
        return self._find_template(present).fill(stamp, efforts[present].tolist()) if present.any() else None

    def _find_template(self, joints: BoolArray) -> _Template:
        key = joints.tobytes()
        if key not in self._templates:
            message = JointState(name=self._joints[joints].tolist(), effort=[0.0] * int(np.count_nonzero(joints)))
            self._templates[key] = _Template(message, learn_joint_state, "effort")
        return self._templates[key]
