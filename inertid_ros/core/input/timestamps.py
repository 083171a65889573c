"""Stamps are checked before anything is believed: zero, repeated, backward, jumping, or started anew."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.records import IntArray

SECOND = 1_000_000_000
"""In nanoseconds."""
CONTINUITY = 10 * SECOND
"""A sample later than the last one by more than this, or earlier, does not belong to its time line without proof."""

PROOF = 3
"""So many samples in a row must agree before a new time line is believed."""


class StampCheck:
    """Decides for each stamp of one input whether its sample can be used.

    A stamp is good if it follows the last good one by more than nothing and at most ten seconds. Any other is set
    aside. When three that were set aside in a row follow each other like good ones, the third is good. If they went
    backward (bag loop, simulation reset), time has started anew and the caller must forget what it knew of the time
    before.
    """

    def __init__(self, source: str, health: Health) -> None:
        """Check the stamps of one named input and report to its health."""
        self._source = source
        self._health = health
        self._last = 0
        self._aside: list[int] = []

    def precedes(self, stamp: int) -> bool:
        """Whether a single stamp simply follows the last one."""
        return 0 < stamp - self._last <= CONTINUITY and self._last != 0

    def accept(self, stamp: int) -> None:
        """Take a stamp that simply follows the last one."""
        self._last = stamp
        self._aside.clear()

    def check(self, stamps: IntArray) -> tuple[IntArray | None, int | None]:
        """Find the usable samples of a block.

        Returns:
            The indices that are good (None if all are), and the position among them at which time starts anew, if it
            does (the last one, if it does more than once).
        """
        if self._are_next(stamps):
            self._last = int(stamps[-1])
            self._aside.clear()
            return None, None
        good: list[int] = []
        restart: int | None = None
        for index, stamp in enumerate(stamps.tolist()):
            if self._last and 0 < stamp - self._last <= CONTINUITY:
                self._aside.clear()
            elif self._is_proven(stamp):
                if stamp < self._last:
                    restart = len(good)
            else:
                continue
            self._last = stamp
            good.append(index)
        return np.array(good, dtype=np.int64), restart

    def _are_next(self, stamps: IntArray) -> bool:
        if not self._last or not 0 < int(stamps[0]) - self._last <= CONTINUITY:
            return False
        steps = stamps[1:] - stamps[:-1]
        return bool(((steps > 0) & (steps <= CONTINUITY)).all())

    def _is_proven(self, stamp: int) -> bool:
        """Set a stamp aside, and tell whether those set aside prove a new time line."""
        if stamp <= 0:
            self._health.report(self._source, "zero_stamp", stamp)
            return False
        if self._last == 0 and not self._aside:
            return True
        if stamp == self._last or (self._aside and stamp == self._aside[-1]):
            self._health.report(self._source, "duplicate_stamp", stamp)
            return False
        if self._aside and not 0 < stamp - self._aside[-1] <= CONTINUITY:
            self._aside.clear()
        self._aside.append(stamp)
        if len(self._aside) >= PROOF:
            self._aside.clear()
            if stamp < self._last:
                self._health.report(self._source, "time_reset", stamp)
            return True
        step = (stamp - self._last) / SECOND
        code = "backward_stamp" if step < 0 else "jumping_stamp"
        self._health.report(self._source, code, stamp, f"last one by {step:+.3f} s")
        return False
