"""Samples of a simulator as time goes on, computed ahead of time: little by little would cost many times as much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from inertid_ros.core.records import JointBlock, WrenchBlock
from inertid_ros.sim.sampling import NANOSECONDS

Block = TypeVar("Block", JointBlock, WrenchBlock)

STRETCH = 0.1
"""Seconds that are computed ahead."""


class Playback(Generic[Block]):
    """Gives each sample of one sensor once, when its time has come.

    Times are seconds since the start of the simulation, whose stamps must count from 0.
    """

    def __init__(self, read: Callable[[float, float], Block]) -> None:
        """Take one of a simulator's methods, such as `simulator.wrenches`."""
        self._read: Callable[[float, float], Block] = read
        self._given = 0.0
        self._computed = 0.0
        self._ahead: Block = read(0.0, 0.0)

    def advance(self, time: float) -> Block:
        """Return the samples since the last call and before a time."""
        if time > self._computed:
            self._computed = time + STRETCH
            self._ahead = self._read(self._given, self._computed)
        limits = np.rint(np.array([self._given, time]) * NANOSECONDS).astype(np.int64)
        first, last = np.searchsorted(self._ahead.stamps, limits)
        self._given = time
        return self._ahead.take(slice(int(first), int(last)))

    def skip_to(self, time: float) -> None:
        """Leave out the samples before a time, or go back to it."""
        self._given = time
        self.recompute()

    def recompute(self) -> None:
        """Forget what was computed ahead, since the simulation has changed."""
        self._computed = self._given
