"""Joints of a message found among the joints of a URDF, also where one has another prefix than the other."""

from __future__ import annotations

from collections.abc import Sequence

from inertid_ros.core.health import Health
from inertid_ros.core.records import JointBlock

_REMEMBERED = 100


class JointNames:
    """Gives the joints of each message the names that the URDF has for them."""

    def __init__(self, known: Sequence[str], health: Health) -> None:
        """Set the URDF's names and where to report."""
        self._known = tuple(known)
        self._health = health
        self._renamed: dict[tuple[str, ...], tuple[str, ...]] = {}

    def resolve(self, block: JointBlock) -> JointBlock:
        """The same block with the URDF's names."""
        names = self._renamed.get(block.names)
        if names is None:
            if len(self._renamed) > _REMEMBERED:
                self._renamed.clear()
            names = self._renamed[block.names] = rename_joints(block.names, self._known)
        if names is block.names or names == block.names:
            return block
        if len(block.stamps):
            detail = f"'{block.names[0]}' is taken for '{names[0]}'"
            self._health.report("joint_states", "renamed_joints", int(block.stamps[-1]), detail, len(block.stamps))
        return block._replace(names=names)


def rename_joints(names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Names of a message as the URDF has them.

    If none is known, and names of both would be equal but for one prefix each that ends in `_` or `/` (`fer_joint1` and
    `panda_joint1`), that prefix is exchanged. All names must be found then, or none is changed.
    """
    if any(name in known for name in names) or not names:
        return tuple(names)
    old = _shared_prefix(names)
    for new in {_prefix(name) for name in known}:
        renamed = tuple(new + name[len(old) :] for name in names)
        if all(name in known for name in renamed):
            return renamed
    return tuple(names)


def _shared_prefix(names: Sequence[str]) -> str:
    first, last = min(names), max(names)
    length = next(
        (place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first)
    )
    return _prefix(first[:length])


def _prefix(name: str) -> str:
    """All up to the last `_` or `/`."""
    return name[: max(name.rfind("_"), name.rfind("/")) + 1]
