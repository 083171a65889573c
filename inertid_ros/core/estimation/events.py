"""What follows from a row, and what has happened to the load: which kind of event, how certain, and in words."""

from __future__ import annotations

import math
from typing import NamedTuple

from inertid_ros.core.records import EventKind

_NO_LOAD = 0.05
"""A load lighter than this [kg] is none: half a newton is within the drift of many sensors."""
_NO_SHARE = 0.02
"""So is one lighter than this part of the other load: sensors whose gain is off by 1 % show that much of nothing."""


class Decision(NamedTuple):
    """What follows from a row.

    Attributes:
        restart: whether the filters must be restarted.
        kind: what happened to the load, if anything.
        message: the same in words.
        confidence: probability that it is this and none of what else was tested.
        masses: before and after [kg].
    """

    restart: bool
    kind: EventKind | None = None
    message: str = ""
    confidence: float = 0.0
    masses: tuple[float, float] = (0.0, 0.0)


def find_probability(accepted: float, *others: float) -> float:
    """Probability of a hypothesis from logarithms of likelihoods, its own and others', equally likely beforehand."""
    return 1.0 / (1.0 + sum(math.exp(min(other - accepted, 700.0)) for other in others))


def describe_change(decision: Decision, share: float = _NO_SHARE) -> Decision:
    """Another load, by its masses: attached where there was none, released where there is none, or changed.

    None is what is lighter than 50 g, or than a `share` of the other load.
    """
    if decision.kind is not EventKind.LOAD_CHANGED:
        return decision
    before, after = decision.masses
    nothing = max(_NO_LOAD, share * max(abs(before), abs(after)))
    was_none, is_none = abs(before) <= nothing, abs(after) <= nothing
    kind, words = EventKind.LOAD_CHANGED, "the load has changed"
    if was_none and not is_none:
        kind, words = EventKind.LOAD_ATTACHED, "a load was attached"
    elif is_none and not was_none:
        kind, words = EventKind.LOAD_RELEASED, "the load was released"
    before, after = (round(mass, 3) + 0.0 for mass in decision.masses)  # zero without a sign
    return decision._replace(kind=kind, message=f"{words}: {before:.3f} kg before, {after:.3f} kg now")
