"""A chain that takes messages step by step, so that a test can replace each step."""

from __future__ import annotations

from inertid_ros.core.chain import Chain
from inertid_ros.core.records import SampleBlock


class SteppedChain(Chain):
    """Takes no message in one compiled call."""

    def prepare_take(self, block: SampleBlock) -> None:  # noqa: ARG002
        """No message can be taken so."""
        return
