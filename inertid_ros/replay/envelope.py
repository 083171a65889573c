"""Minimum and maximum in buckets of time: as many as fit a screen, however long the recording."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray

BUCKETS = 4096
_FIRST_WIDTH = 0.01


class EnvelopeBuilder:
    """Keeps minimum and maximum of some channels; when the buckets are used up, each two become one.

    Attributes:
        width: of a bucket [s].
    """

    def __init__(self, channels: int) -> None:
        """Start with the narrowest buckets."""
        self.width = _FIRST_WIDTH
        self._low = np.full((BUCKETS, channels), np.inf)
        self._high = np.full((BUCKETS, channels), -np.inf)
        self._used = 0

    def take(self, times: FloatArray, values: FloatArray) -> None:
        """Take (N, channels) values at (N,) times [s], not negative and not decreasing."""
        while times.item(-1) >= BUCKETS * self.width:
            self._merge()
        buckets = (times / self.width).astype(np.int64)
        starts = np.flatnonzero(np.diff(buckets, prepend=-1))
        chosen = buckets[starts]
        self._low[chosen] = np.minimum(self._low[chosen], np.minimum.reduceat(values, starts))
        self._high[chosen] = np.maximum(self._high[chosen], np.maximum.reduceat(values, starts))
        self._used = max(self._used, buckets.item(-1) + 1)

    def finish(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Beginnings (B,) of the buckets [s], minima and maxima (B, channels); NaN where there was nothing."""
        low, high = self._low[: self._used].copy(), self._high[: self._used].copy()
        empty = low > high
        low[empty] = high[empty] = np.nan
        return np.arange(self._used) * self.width, low, high

    def _merge(self) -> None:
        half = BUCKETS // 2
        self._low[:half] = np.minimum(self._low[0::2], self._low[1::2])
        self._high[:half] = np.maximum(self._high[0::2], self._high[1::2])
        self._low[half:], self._high[half:] = np.inf, -np.inf
        self.width *= 2.0
        self._used = (self._used + 1) // 2
