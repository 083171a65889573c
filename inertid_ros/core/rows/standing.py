"""Whether the arm has been standing in one pose for so long that another row of it tells nothing new."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray

_STILL = 2e-3
_LONG = 1.0


class Standing:
    """Keeps the pose since which no joint has moved by more than 2e-3 rad or m."""

    def __init__(self) -> None:
        """Start with no pose."""
        self._pose: FloatArray = np.empty(0)
        self._since = 0.0

    def is_long(self, time: float, pose: FloatArray) -> bool:
        """Take the pose (n,) at a time [s]; returns whether it has been the same for more than a second."""
        moved = len(self._pose) != len(pose) or float(np.abs(pose - self._pose).max()) > _STILL
        if moved or time < self._since:
            self._pose, self._since = pose.copy(), time
        return time - self._since > _LONG
