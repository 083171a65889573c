"""Whether the node keeps up with its input, and how many predictions are left out while it does not.

A timer of the executor waits behind the messages that wait: where samples come one after the other and the timer does
not, there is more to do than there is time for. That depends on no stamp and no clock but the steady one. A single long
pause (a start, a suspended machine) counts for little: the node catches up by itself. All of this needs rclpy's
EventsExecutor; the other one takes turns.
"""

from __future__ import annotations

PERIOD = 0.1
"""Seconds between two ticks of the timer."""
BEHIND = 0.1
"""Seconds of samples after a tick was due from which on the node is behind: half of what its queues hold at 1 kHz."""
LONGEST = 5e-3
"""Seconds between two samples that count at most: longer ones are pauses, and the interpreter changes threads as
often."""
IN_TIME = 0.02
"""Seconds by which a tick may be late where nothing waits: a scheduler's time slice or two."""
FEWEST = 32
"""Of so many predictions at least one is published: some thirty per second at 1 kHz."""


class Pace:
    """Counts time from one period after a tick on. All times are seconds of a clock that only moves forward.

    Attributes:
        stride: of so many predictions one is published.
        noted_from: samples before this time need not be noted.
    """

    def __init__(self, now: float) -> None:
        """Start at a time, keeping up."""
        self.stride = 1
        self.noted_from = now + PERIOD
        self._last = self._due = now
        self._spent = 0.0

    def take_sample(self, now: float) -> int:
        """Note a sample; returns the stride."""
        if now > self.noted_from:
            self._spent += min(now - max(self._last, self.noted_from), LONGEST)
            if self._spent > BEHIND:
                self._spent = 0.0
                self.stride = min(2 * self.stride, FEWEST)
        self._last = now
        return self.stride

    def tick(self, now: float, until_next: float) -> None:
        """Note a tick, and in how many seconds the next one is due: one in time means that nothing waits."""
        if now <= self._due + IN_TIME:
            self.stride = max(self.stride // 2, 1)
        self._due, self.noted_from = now + until_next, now + PERIOD
        self._spent = 0.0
