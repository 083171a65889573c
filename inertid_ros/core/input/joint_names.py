"""Joints of a message found among the joints of a URDF, also where one has another prefix than the other."""

from __future__ import annotations

from collections.abc import Sequence

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.records import JointBlock

_REMEMBERED = 100
"""Lists of names that are remembered at most: publishers that change theirs all the time must not fill the memory."""


class JointNames:
    """Gives the joints of each message the names that the URDF has for them."""

    def __init__(self, known: Sequence[str], health: Health) -> None:
        """Set the URDF's names and where to report."""
        self._known = tuple(known)
        self._health = health
        self._last: tuple[str, ...] | None = None
        """The names of the last message, if they were the URDF's."""
        self._renamed: dict[tuple[str, ...], tuple[str, ...]] = {}

    def resolve(self, block: JointBlock) -> JointBlock:
        """The same block with the URDF's names."""
        if block.names is self._last:
            return block
        names = self._renamed.get(block.names)
        if names is None:
            if len(self._renamed) > _REMEMBERED:
                self._renamed.clear()
            names = self._renamed[block.names] = rename_joints(block.names, self._known)
        if names is block.names or names == block.names:
            self._last = block.names
            return block
        if len(block.stamps):
            detail = f"'{block.names[0]}' is taken for '{names[0]}'"
            self._health.report("joint_states", "renamed_joints", int(block.stamps[-1]), detail, len(block.stamps))
        return block._replace(names=names)


def rename_joints(names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Names of a message as the URDF has them.

    If none is known, and names of both would be equal but for one prefix each that is empty or ends in `_` or `/`
    (`fer_joint1` and `panda_joint1`, `left_elbow_joint` and `elbow_joint`), that prefix is exchanged. There must be
    exactly one way in which all names are found then (there are two if the URDF has two such arms), or none is changed.
    """
    if any(name in known for name in names) or not names:
        return tuple(names)
    first, last = min(names), max(names)
    shared = next(
        (place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first)
    )
    prefixes = {prefix for name in known for prefix in _prefixes(name)}
    ways = {tuple(new + name[len(old) :] for name in names) for old in _prefixes(first[:shared]) for new in prefixes}
    found = [way for way in ways if all(name in known for name in way)]
    return found[0] if len(found) == 1 else tuple(names)


def _prefixes(name: str) -> list[str]:
    """All beginnings of a name that end in `_` or `/`, and the empty one."""
    return ["", *(name[: place + 1] for place, letter in enumerate(name) if letter in "_/")]
