"""What a link could be: the second moments of a body that lies in a box.

A body of mass m in a box of centre c and half size h has, along each axis k of the box,

    ∫ (x_k - c_k)² dm ≤ m h_k²

which is linear in its ten parameters, and holds its centre of mass in the box (Wensing, Kim and Slotine 2018 have the
same of an ellipsoid).
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray

_DIAGONAL = np.array([4, 7, 9])
"""Where among the ten parameters the moments of inertia are."""
_ROOM = 2.0
"""Second moments of a prior that a box has at least room for: it must not be at the bound itself."""
_NEAR = 0.02
"""Part of m h² below which the room that is left is none: a hundredth of the half size."""


def list_slacks(box: FloatArray) -> FloatArray:
    """(3, 10) rows that give m h_k² - ∫ (x_k - c_k)² dm of a body's parameters, for a box (2, 3): centre, half size."""
    centre, half = box
    rows = np.zeros((3, 10))
    rows[:, 0] = half**2 - centre**2
    rows[:, 1:4] = np.diag(2.0 * centre)
    rows[:, _DIAGONAL] = np.eye(3) - 0.5
    return rows


def widen_box(box: FloatArray, phi: FloatArray) -> FloatArray:
    """The box (2, 3), enlarged to hold a body (10,) with room to spare."""
    centre, half = box
    moments = half**2 - list_slacks(box) @ phi / phi[0]
    return np.stack((centre, np.maximum(half, np.sqrt(_ROOM * np.maximum(moments, 0.0)))))


def is_at_side(box: FloatArray, phi: FloatArray) -> bool:
    """Whether a body (10,) fills a box (2, 3) along one of its axes, as no real one does, or does not fit into it."""
    return bool(np.any(list_slacks(box) @ phi < _NEAR * phi[0] * box[1] ** 2))
