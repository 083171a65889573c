"""What the node subscribes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

SAMPLES = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=200,
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.VOLATILE,
)
"""Matches reliable and best-effort publishers alike; deep enough for a pause of 0.2 s at 1 kHz."""

DESCRIPTION = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""That of robot_state_publisher."""


class Inputs:
    """The subscriptions of the node, from configure to cleanup. Samples come serialised."""

    def __init__(
        self, node: Node, samples: Mapping[str, Callable[[bytes], None]], on_description: Callable[[str], None]
    ) -> None:
        """Subscribe.

        Args:
            node: the node.
            samples: for each topic of samples that is wanted, what takes its messages: `joint_states`, and `wrench` and
                `base_wrench`.
            on_description: takes the robot description.
        """
        self._node = node
        self._subscriptions = [
            node.create_subscription(
                JointState if topic == "joint_states" else WrenchStamped, topic, take, SAMPLES, raw=True
            )
            for topic, take in samples.items()
        ]
        self._subscriptions.append(
            node.create_subscription(
                String, "robot_description", lambda message: on_description(message.data), DESCRIPTION
            )
        )

    def destroy(self) -> None:
        """Unsubscribe."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
