"""What is the same for all recordings of one run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from inertid_ros.bags.bag import BLOCK
from inertid_ros.bags.topics import Topics
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings.settings import Settings

Progress = Callable[[int], None]
"""Is told how many messages were read since the last time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How recordings are replayed.

    Attributes:
        settings: those of the node.
        topics: names of the inputs.
        description: text of the URDF; empty to take it from the bag.
        settings_sha256: of the parameter file; empty if there is none.
        frozen: [phi (10), bias (6)] of a load in the driver's sign to predict with instead of learning, or None.
        frozen_links: (U,) base parameters of the arm to predict with instead of learning, or None; links.joints must
            name the joints then.
        start, end: which part of each bag is replayed [s since its first message].
        block_size: messages that are carried through the chain at once.
    """

    settings: Settings = field(default_factory=Settings)
    topics: Topics = field(default_factory=Topics)
    description: str = ""
    settings_sha256: str = ""
    frozen: FloatArray | None = None
    frozen_links: FloatArray | None = None
    start: float = 0.0
    end: float = math.inf
    block_size: int = BLOCK

    @property
    def inputs(self) -> dict[str, str]:
        """Topics that are needed, by what they are to the node, in the order in which their messages are taken."""
        wanted = {"joint_states": True, "wrench": self.has_load, "base_wrench": self.has_base_sensor}
        return {role: getattr(self.topics, role) for role, is_wanted in wanted.items() if is_wanted}

    @property
    def is_whole(self) -> bool:
        """Whether bags are replayed from beginning to end."""
        return self.start <= 0.0 and math.isinf(self.end)

    @property
    def has_load(self) -> bool:
        """Whether a load is identified."""
        return "load" in self.settings.estimators

    @property
    def has_links(self) -> bool:
        """Whether links are identified."""
        return "links" in self.settings.estimators

    @property
    def has_base_sensor(self) -> bool:
        """Whether links are identified by a sensor under the base."""
        return self.has_links and self.settings.links.source != "effort"
