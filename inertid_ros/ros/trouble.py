"""Which of the counted troubles are going on now, and which have just begun or ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from inertid_ros.core.diagnosis import HealthItem

LINGER = 1.5
"""Seconds after its last occurrence for which a trouble counts as going on."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One kind of trouble and whether it goes on."""

    item: HealthItem
    current: bool


class TroubleWatch:
    """Compares the counts from one look to the next. Time is the caller's, in seconds, and only moves forward."""

    def __init__(self) -> None:
        """Start without memory."""
        self._seen: dict[tuple[str, str], tuple[tuple[int, int], float]] = {}
        self._current: set[tuple[str, str]] = set()

    def look(
        self, items: Iterable[HealthItem], now: float, over: Collection[tuple[str, str]] = ()
    ) -> tuple[tuple[Trouble, ...], tuple[HealthItem, ...], tuple[HealthItem, ...]]:
        """Return all troubles, those that have begun since the last look, and those that have ended.

        Args:
            items: all that was counted so far.
            now: the time [s].
            over: source and code of those that are known to have ended.
        """
        troubles: list[Trouble] = []
        begun: list[HealthItem] = []
        ended: list[HealthItem] = []
        for item in items:
            key = item.source, item.code
            mark = item.count, item.last_stamp
            seen = self._seen.get(key)
            if seen is None or seen[0] != mark:
                self._seen[key] = seen = (mark, now)
            current = now - seen[1] < LINGER and key not in over
            if current and key not in self._current:
                begun.append(item)
                self._current.add(key)
            elif not current and key in self._current:
                ended.append(item)
                self._current.discard(key)
            troubles.append(Trouble(item, current))
        self._current &= {(t.item.source, t.item.code) for t in troubles}
        return tuple(troubles), tuple(begun), tuple(ended)
