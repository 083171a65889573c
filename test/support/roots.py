"""Roots of information by numpy."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray


def make_root(rows: FloatArray) -> FloatArray:
    """[[R, z], [0, r]] of rows [A, y] by numpy, with positive diagonal."""
    root = np.asarray(np.linalg.qr(rows, mode="r"))
    return np.asarray(np.sign(np.diag(root))[:, None] * root)
