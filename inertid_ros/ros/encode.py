"""Wrenches to serialised WrenchStamped, a block at a time."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.messages.cdr_layout import learn_wrench_stamped

_SECOND = 1_000_000_000


class WrenchEncoder:
    """Writes stamps and numbers into copies of one serialised message; the frame is the same in all.

    Attributes:
        withheld: how many wrenches were not encoded because they had a NaN or an infinity.
    """

    def __init__(self, frame: str) -> None:
        """Serialise the message once with the middleware's own encoder and learn where its numbers are."""
        template = WrenchStamped()
        template.header.frame_id = frame
        data = serialize_message(template)
        self._dtype = learn_wrench_stamped(data).dtype
        self._template = np.frombuffer(data, dtype=np.uint8)
        self.withheld = 0

    def encode(self, stamps: IntArray, wrenches: FloatArray) -> list[bytes]:
        """Return one message for each finite row of (N,) stamps [ns] and (N, 6) wrenches [N, Nm]."""
        finite = np.isfinite(wrenches).all(axis=1)
        if not finite.all():
            self.withheld += int(np.count_nonzero(~finite))
            stamps, wrenches = stamps[finite], wrenches[finite]
        size = len(self._template)
        messages = np.empty((len(stamps), size), dtype=np.uint8)
        messages[:] = self._template
        records = messages.ravel().view(self._dtype)
        records["sec"], records["nanosec"] = np.divmod(stamps, _SECOND)
        records["wrench"] = wrenches
        data = messages.tobytes()
        return [data[start : start + size] for start in range(0, len(data), size)]
