"""Numbers of which there is one for all joints, or one for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray

PerJoint = float | Sequence[float] | FloatArray


def spread_over_joints(name: str, values: PerJoint, count: int) -> FloatArray:
    """Return one number for each joint, (count,), or raise SettingError naming what was given."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape not in ((), (1,), (count,)):
        raise SettingError(name, values, f"one number, or one for each of the {count} joints")
    return np.broadcast_to(numbers, count).copy()
