"""The sensor's noise density, measured whenever the robot stands still.

White noise of density S (variance per hertz) has means over blocks of length T with variance S / T. Rows of a
filtered regressor are correlated, and their residuals say little of the noise that matters; means over 0.1 s at
standstill do, and vibration of the structure drops out of them.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from inertid_ros.core.records import FloatArray, IntArray

_BLOCK = 100_000_000
_BLOCK_SECONDS = 0.1
_RUN = 20
_SHORTEST_RUN = 8
_STILL = 1e-3
_MEMORY = 200.0

UNCALIBRATED_FORCE = 0.05
"""Force noise density [N/sqrt(Hz)] assumed until the robot has stood still."""

UNCALIBRATED_TORQUE = 3e-3
"""Moment noise density [Nm/sqrt(Hz)] assumed until the robot has stood still."""


class StandstillNoise:
    """Collects means of the wrench over 0.1 s while no joint moves, and pools their variance over runs of 2 s."""

    def __init__(self, floor_force: float, floor_torque: float) -> None:
        """Set the smallest densities believed, N/sqrt(Hz) and Nm/sqrt(Hz)."""
        self._floor = np.repeat([floor_force**2, floor_torque**2], 3)
        uncalibrated = np.repeat([UNCALIBRATED_FORCE**2, UNCALIBRATED_TORQUE**2], 3)
        self.density: FloatArray = np.maximum(uncalibrated, self._floor)
        """Variance per hertz of each wrench component, (6,)."""
        self.is_calibrated = False
        self._squares: FloatArray = np.zeros(6)
        self._freedom = 0.0
        self._block = -1
        self._sum = np.zeros(6)
        self._count = 0
        self._is_spoiled = False
        self._position: FloatArray = np.empty(0)
        self._run: list[FloatArray] = []
        self._run_position: FloatArray = np.empty(0)

    def is_due(self, stamp: int) -> bool:
        """Whether the density can change by a sample: up to there samples must be taken before it is used."""
        return stamp // _BLOCK != self._block

    def discard_run(self) -> None:
        """Forget the means since the last pooling and the present block: something else than noise has happened."""
        self._run.clear()
        self._is_spoiled = True

    def process(self, stamps: IntArray, positions: FloatArray, wrenches: FloatArray, starts_anew: bool) -> None:
        """Take samples without a gap."""
        if starts_anew:
            self._end_run()
            self._block = -1
        block, count = stamps.item(0) // _BLOCK, len(stamps)
        if block == self._block and count == 1:
            np.add(self._sum, wrenches[0], self._sum)
            self._count += 1
            return
        if block == stamps.item(-1) // _BLOCK:
            self._take(block, positions, wrenches)
            return
        blocks = stamps // _BLOCK
        starts = np.flatnonzero(blocks[1:] != blocks[:-1]) + 1
        for a, b in pairwise([0, *starts.tolist(), count]):
            self._take(blocks.item(a), positions[a:b], wrenches[a:b])

    def _take(self, block: int, positions: FloatArray, wrenches: FloatArray) -> None:
        """Take samples of one block."""
        if block != self._block:
            self._close_block(positions[0].copy())
            self._block = block
        self._sum += np.ones(len(wrenches)).dot(wrenches)
        self._count += len(wrenches)

    def _close_block(self, position: FloatArray) -> None:
        """A new block starts at this position: keep the mean of the old one if the robot did not move in it."""
        mean = self._sum / max(self._count, 1)
        usable = self._block >= 0 and self._count >= 2 and not self._is_spoiled
        usable = usable and bool(np.abs(position - self._position).max() < _STILL)
        if usable:
            if not self._run:
                self._run_position = self._position
            if np.abs(position - self._run_position).max() < 2 * _STILL:
                self._run.append(mean)
            else:
                usable = False
        if not usable or len(self._run) == _RUN:
            self._end_run()
        elif len(self._run) >= _SHORTEST_RUN:
            self._set_density(*self._pool())
        self._sum = np.zeros(6)
        self._count = 0
        self._is_spoiled = False
        self._position = position

    def _pool(self) -> tuple[FloatArray, float]:
        """Sum of squares (6,) and degrees of freedom of all runs, the present one included."""
        means = np.array(self._run)
        return self._squares + ((means - means.mean(axis=0)) ** 2).sum(axis=0), self._freedom + len(means) - 1

    def _set_density(self, squares: FloatArray, freedom: float) -> None:
        """A variance estimated from few means is given the larger expectation of Student's distribution."""
        self.density = np.maximum(squares / (freedom - 2.0) * _BLOCK_SECONDS, self._floor)
        self.is_calibrated = True

    def _end_run(self) -> None:
        """Keep the variance of the run's means."""
        if len(self._run) >= _SHORTEST_RUN:
            self._squares, self._freedom = self._pool()
            self._set_density(self._squares, self._freedom)
            if self._freedom > _MEMORY:
                self._squares, self._freedom = 0.5 * self._squares, 0.5 * self._freedom
        self._run.clear()
