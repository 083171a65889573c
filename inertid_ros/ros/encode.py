"""Wrenches and efforts to serialised messages, a block at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from inertid_ros.core.records import BoolArray, FloatArray, IntArray
from inertid_ros.messages.cdr_layout import Layout, learn_joint_state, learn_wrench_stamped

_SECOND = 1_000_000_000


class _Template:
    """One serialised message, in copies of which stamps and the numbers of one field are written."""

    def __init__(self, data: bytes, layout: Layout, field: str) -> None:
        """Take what the middleware's own encoder made, and where its numbers are."""
        self._dtype = layout.dtype
        self._field = field
        self._bytes = np.frombuffer(data, dtype=np.uint8)

    def fill(self, stamps: IntArray, numbers: FloatArray) -> list[bytes]:
        """Return one message for each of (N,) stamps [ns] and (N, n) numbers."""
        size = len(self._bytes)
        messages = np.empty((len(stamps), size), dtype=np.uint8)
        messages[:] = self._bytes
        records = messages.ravel().view(self._dtype)
        records["sec"], records["nanosec"] = np.divmod(stamps, _SECOND)
        records[self._field] = numbers
        data = messages.tobytes()
        return [data[start : start + size] for start in range(0, len(data), size)]


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

    def encode(self, stamps: IntArray, wrenches: FloatArray) -> list[bytes]:
        """Return one message for each finite row of (N,) stamps [ns] and (N, 6) wrenches [N, Nm]."""
        finite = np.isfinite(wrenches).all(axis=1)
        if not finite.all():
            self.withheld += int(np.count_nonzero(~finite))
            stamps, wrenches = stamps[finite], wrenches[finite]
        return self._template.fill(stamps, wrenches)


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

    def encode(self, stamps: IntArray, efforts: FloatArray, wanted: BoolArray | None = None) -> list[bytes]:
        """Return one message for each sample with at least one joint.

        Args:
            stamps: (N,) nanoseconds.
            efforts: (N, n) [Nm, N].
            wanted: (N, n) which of them are to be in a message; None for all.
        """
        finite = np.isfinite(efforts)
        present = finite if wanted is None else wanted & finite
        if not finite.all():
            self.withheld += int(np.count_nonzero(~finite if wanted is None else wanted & ~finite))
        messages: list[bytes] = []
        cuts = np.flatnonzero(np.any(present[1:] != present[:-1], axis=1)) + 1
        for start, stop in zip([0, *cuts.tolist()], [*cuts.tolist(), len(stamps)], strict=True):
            if stop > start and present[start].any():
                part, joints = slice(start, stop), present[start]
                messages += self._find_template(joints).fill(stamps[part], efforts[part][:, joints])
        return messages

    def _find_template(self, joints: BoolArray) -> _Template:
        key = joints.tobytes()
        if key not in self._templates:
            message = JointState(name=self._joints[joints].tolist(), effort=[0.0] * int(np.count_nonzero(joints)))
            data = serialize_message(message)
            self._templates[key] = _Template(data, learn_joint_state(data), "effort")
        return self._templates[key]
