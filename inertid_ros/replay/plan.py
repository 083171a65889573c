"""What is the same for all recordings of one run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from inertid_ros.bags.bag import BLOCK
from inertid_ros.bags.topics import Topics
from inertid_ros.core.chain import Target
from inertid_ros.core.estimation.reweighted import Uncertainty
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings.choices import LoadSource
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
        frozen: what to predict with instead of learning: [phi (10), bias (6)] of a load in the driver's sign, and (U,)
            base parameters of an arm, for which links.joints must name the joints.
        uncertainty: of that arm, where it is known.
        block_size: about how many messages are carried through the chain at once.
        start, end: which part of each bag is replayed [s since its first message].
    """

    settings: Settings = field(default_factory=Settings)
    topics: Topics = field(default_factory=Topics)
    description: str = ""
    settings_sha256: str = ""
    frozen: Mapping[Target, FloatArray] = field(default_factory=dict)
    uncertainty: Uncertainty | None = None
    start: float = 0.0
    end: float = math.inf
    block_size: int = BLOCK

    @property
    def targets(self) -> tuple[Target, ...]:
        """What is identified."""
        return tuple(target for target in Target if target.value in self.settings.estimators)

    @property
    def inputs(self) -> dict[str, str]:
        """Topics that are needed, by what they are to the node, in the order in which their messages are taken."""
        settings, targets = self.settings, self.targets
        wanted = {
            "joint_states": True,
            "wrench": Target.LOAD in targets and settings.load.source is LoadSource.WRENCH,
            "base_wrench": Target.LINKS in targets and settings.links.source.has_base_wrench,
        }
        return {role: getattr(self.topics, role) for role, is_wanted in wanted.items() if is_wanted}

    @property
    def is_whole(self) -> bool:
        """Whether bags are replayed from beginning to end."""
        return self.start <= 0.0 and math.isinf(self.end)
