"""Two low-pass filters in a row, over all signals of the load's equation at once.

With F_l = l/(s+l) and F_d = d/(s+d), what rows and predictions are made of are linear combinations of

    u,   y = F_l u,   t = F_d y,   p = F_d u

Of a single sample all three are weighted sums of the same five rows: with c_l, r_l, c_d, r_d the coefficients of
Tustin's rule for its step (see `lowpass.py`),

    y = r_l y' + c_l (u + u')        p = r_d p' + c_d (u + u')        t = r_d t' + c_d (y + y')

where ' is the sample before, and y is put into the last.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rows.lowpass import filter_block


class FilterCascade:
    """u, y, t and p of every sample side by side, in memory that is used again by the next block."""

    def __init__(self, first_cutoff: float, second_cutoff: float, channels: int, unfiltered: int) -> None:
        """Set cutoffs and channels.

        Args:
            first_cutoff: l [rad/s].
            second_cutoff: d [rad/s].
            channels: how many signals there are, C.
            unfiltered: of how many, from the first on, p is wanted. These start with y, t and p at the first value, as
                if they had been constant before; the others start with y = t = 0.
        """
        self._cutoffs = first_cutoff, second_cutoff
        self._unfiltered = unfiltered
        self._weights = np.zeros((3, 5))
        self._flat_weights = self._weights.ravel()
        self._make_room(np.zeros((2, 4, channels)))

    def _make_room(self, memory: FloatArray) -> None:
        """Use memory (N + 1, 4, C) from now on, the first of which is the sample before the block."""
        self._memory = memory
        self._before, self._last, self._inputs = memory[0], memory[-1], memory[1:, 0]
        rows = memory.reshape(4 * len(memory), memory.shape[2])
        self._summands, self._sums = rows[:5], rows[5:8]
        self._results = memory[1:].reshape(len(memory) - 1, 4 * memory.shape[2])

    def start(self, first: FloatArray) -> None:
        """Start with the first signals (C,)."""
        self._before[...] = 0.0
        self._before[0] = first
        self._before[1:, : self._unfiltered] = first[: self._unfiltered]

    def room(self, count: int) -> FloatArray:
        """Memory (N, C) for the signals of the next block, which must be laid down there."""
        if count != len(self._inputs):
            memory = np.zeros((count + 1, *self._before.shape))
            memory[0] = self._before
            self._make_room(memory)
        return self._inputs

    def filter(self, steps: FloatArray) -> FloatArray:
        """Filter the signals that were laid down, which follow the sample before by (N,) steps [s].

        Returns:
            (N, 4C) u, y, t and p of each sample, valid until the next block.
        """
        if len(steps) == 1:
            self._filter_one(steps.item())
        else:
            self._filter_block(steps)
        self._before[...] = self._last
        return self._results

    def _filter_one(self, step: float) -> None:
        """Columns are u', y', t', p' and u; lines are y, t and p."""
        first, second = self._cutoffs
        first_gain, second_gain = first * step / (2.0 + first * step), second * step / (2.0 + second * step)
        weights = self._flat_weights
        weights[0] = weights[4] = first_gain
        weights[1] = decay = 1.0 - 2.0 * first_gain
        weights[5] = weights[9] = second_gain * first_gain
        weights[6] = second_gain * (1.0 + decay)
        weights[10] = weights[14] = second_gain
        weights[7] = weights[13] = 1.0 - 2.0 * second_gain
        self._weights.dot(self._summands, self._sums)

    def _filter_block(self, steps: FloatArray) -> None:
        memory, part = self._memory, slice(0, self._unfiltered)
        memory[1:, 1] = filter_block(self._cutoffs[0], steps, memory[:, 0], self._before[1])
        memory[1:, 2] = filter_block(self._cutoffs[1], steps, memory[:, 1], self._before[2])
        if self._unfiltered:
            memory[1:, 3, part] = filter_block(self._cutoffs[1], steps, memory[:, 0, part], self._before[3, part])
