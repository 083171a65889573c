"""How well rows are predicted, for methods that do not learn from these rows themselves."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import BoolArray, FloatArray, IntArray

_MEMORY = 1500.0


class RowFit:
    """Mean squares of what is measured and of what is left of it, over the last half minute or so of rows."""

    def __init__(self, channels: int) -> None:
        """Start with no rows."""
        self._sums = np.zeros((3, channels))
        self.rows: IntArray = np.zeros(channels, dtype=np.int64)
        """How many rows there were, (K,)."""

    def take(self, measured: FloatArray, predicted: FloatArray, usable: BoolArray) -> None:
        """Take a row, (K,) each."""
        self._sums *= 1.0 - 1.0 / _MEMORY
        self._sums += usable * np.array([np.ones_like(measured), measured**2, (measured - predicted) ** 2])
        self.rows += usable

    @property
    def measured_rms(self) -> FloatArray:
        """Of what was measured, (K,)."""
        return np.asarray(np.sqrt(self._sums[1] / np.maximum(self._sums[0], 1.0)))

    @property
    def residual_rms(self) -> FloatArray:
        """Of what is left of it, (K,)."""
        return np.asarray(np.sqrt(self._sums[2] / np.maximum(self._sums[0], 1.0)))
