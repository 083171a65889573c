"""Rates of the inputs, silence, and stamps that are far from the clock."""

from __future__ import annotations

from collections.abc import Mapping

from inertid_ros.ros.node_health import NodeHealth

SILENCE = 3.0
"""Seconds without a message from which on an input is silent."""
FAR = 1.0
"""Seconds between a stamp and the clock from which on it is worth a note."""


class InputWatch:
    """Looks at the inputs once in a while, a second or so."""

    def __init__(self, health: NodeHealth, now: float) -> None:
        """Start to count at time `now` [s]."""
        self._health = health
        self._counts: dict[str, int] = {}
        self._heard: dict[str, float] = {}
        self._start = now
        self._time = now

    def look(self, received: Mapping[str, int], now: float) -> dict[str, float]:
        """Return the rate [Hz] of each input since the last look, and report those that are silent.

        Args:
            received: how many messages came so far.
            now: seconds of a clock that only moves forward.
        """
        elapsed = max(now - self._time, 1e-3)
        self._time = now
        rates = {}
        for source, count in received.items():
            new = count - self._counts.get(source, 0)
            self._counts[source] = count
            rates[source] = new / elapsed
            if new:
                self._heard[source] = now
                self._health.end(source, "silent")
            elif now - self._heard.get(source, self._start) >= SILENCE:
                self._health.begin(source, "silent")
        return rates

    def compare_clocks(self, source: str, newest_stamp: int, clock: int) -> None:
        """Report an input's newest stamp far from the node's clock, both in nanoseconds."""
        ahead = (newest_stamp - clock) / 1e9
        if abs(ahead) > FAR:
            size = f"{abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} the clock"
            self._health.begin(source, "clock_apart", size)
        else:
            self._health.end(source, "clock_apart")
