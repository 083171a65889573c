"""Publishers of a lifecycle node that come and go together."""

from __future__ import annotations

from typing import Any

from rclpy.lifecycle import LifecycleNode
from rclpy.qos import QoSProfile, ReliabilityPolicy


class Publishers:
    """The publishers of one part of the node, from configure to cleanup. They are silent unless the node is active."""

    def __init__(self, node: LifecycleNode, reliability: str) -> None:
        """Create none yet; `reliability` is that of what goes out for every sample, `reliable` or `best_effort`."""
        self._node = node
        policy = ReliabilityPolicy.RELIABLE if reliability == "reliable" else ReliabilityPolicy.BEST_EFFORT
        self._sample_qos = QoSProfile(depth=50, reliability=policy)
        self._publishers: list[Any] = []

    def create(self, message_type: Any, topic: str) -> Any:
        """Create a publisher of what goes out now and then."""
        return self._create(message_type, topic, 10)

    def create_for_samples(self, message_type: Any, topic: str) -> Any:
        """Create a publisher of what goes out for every sample."""
        return self._create(message_type, topic, self._sample_qos)

    def destroy(self) -> None:
        """Take the publishers down."""
        for publisher in self._publishers:
            self._node.destroy_lifecycle_publisher(publisher)

    def _create(self, message_type: Any, topic: str, qos: Any) -> Any:
        publisher = self._node.create_lifecycle_publisher(message_type, topic, qos)
        self._publishers.append(publisher)
        return publisher
