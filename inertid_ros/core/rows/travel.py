"""Joints that have not moved yet: nothing is to be learned of their drives.

Noise in the velocity of a joint that stands excites the columns of its friction and rotor as a motion would, and what
is found from it is zero, with great certainty. While a joint stands where it was first seen, these columns are left out
of its rows; once it may be moving, and until that is certain, its rows are.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import BoolArray, FloatArray

_NEAR = 2e-4
"""A joint that has never been farther than this [rad or m] from where it was stands."""
_FAR = 5e-3
"""A joint that has been this far has moved."""


class Travel:
    """Follows how far each joint has come."""

    def __init__(self, joints: int) -> None:
        """Start with joints that have not moved."""
        self._low: FloatArray = np.full(joints, np.inf)
        self._high: FloatArray = np.full(joints, -np.inf)
        self._all_moved = False

    def look(self, positions: FloatArray) -> tuple[BoolArray, BoolArray] | None:
        """Whether by each of (N, n) positions a joint stands, and whether it has moved, (N, n) each.

        None if all have moved before.
        """
        if self._all_moved:
            return None
        low = np.minimum.accumulate(np.concatenate((self._low[None], positions)))[1:]
        high = np.maximum.accumulate(np.concatenate((self._high[None], positions)))[1:]
        self._low, self._high = low[-1], high[-1]
        moved = high - low > _FAR
        self._all_moved = bool(moved[-1].all())
        return high - low <= _NEAR, moved
