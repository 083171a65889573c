"""Stamps are checked before anything is believed: zero, repeated, backward, jumping, or reset."""

from __future__ import annotations

from enum import Enum, auto

from inertid_ros.core.compiled import compiled
from inertid_ros.core.diagnosis import Health

SECOND = 1_000_000_000
"""Nanoseconds in a second."""
CONTINUITY = 10 * SECOND
"""A sample later than the last one by more than this, or earlier, does not belong to its time line without proof:
drivers pause for less. Ten seconds [ns]."""

PROOF = 3
"""Consecutive samples that must agree before a new time line is believed: two may agree by chance."""


class Verdict(Enum):
    """What to do with a sample whose stamp does not simply follow: leave it out, take it, or start time anew."""

    LEAVE = auto()
    TAKE = auto()
    RESET = auto()


@compiled
def follows(stamp: int, last: int) -> bool:
    """Whether a stamp simply follows the last good one, which is 0 if there is none."""
    return last != 0 and 0 < stamp - last <= CONTINUITY


class StampCheck:
    """Decides for the stamps of one input that do not simply follow the last good one.

    A stamp is good if it follows the last good one by more than nothing and at most ten seconds. Any other is set
    aside. When three that were set aside in a row follow each other like good ones, the third is good. If they went
    backward (bag loop, simulation reset), time was reset and the caller must forget what it knew of the time
    before.
    """

    def __init__(self, source: str, health: Health) -> None:
        """Check the stamps of one named input and report to its health."""
        self._source = source
        self._health = health
        self._last = 0
        self._aside: list[int] = []

    def judge(self, stamp: int, last: int) -> Verdict:
        """Judge a stamp that does not follow the last good one, 0 if there is none."""
        if last != self._last:  # good ones have come in between
            self._last = last
            self._aside.clear()
        if stamp <= 0:
            self._health.report(self._source, "zero_stamp", stamp)
            return Verdict.LEAVE
        if last == 0 and not self._aside:
            return Verdict.TAKE
        if stamp == last or (self._aside and stamp == self._aside[-1]):
            self._health.report(self._source, "duplicate_stamp", stamp)
            return Verdict.LEAVE
        if self._aside and not follows(stamp, self._aside[-1]):
            self._aside.clear()
        self._aside.append(stamp)
        if len(self._aside) >= PROOF:
            self._aside.clear()
            if stamp > last:
                return Verdict.TAKE
            self._health.report(self._source, "time_reset", stamp)
            return Verdict.RESET
        step = (stamp - last) / SECOND
        code = "backward_stamp" if step < 0 else "jumping_stamp"
        self._health.report(self._source, code, stamp, f"last one by {step:+.3f} s")
        return Verdict.LEAVE
