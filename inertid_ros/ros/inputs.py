"""What the node subscribes to."""

from __future__ import annotations

from collections.abc import Callable

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
        self,
        node: Node,
        on_joint_state: Callable[[bytes], None],
        on_wrench: Callable[[bytes], None],
        on_description: Callable[[str], None],
    ) -> None:
        """Subscribe."""
        self._node = node
        self._subscriptions = [
            node.create_subscription(JointState, "joint_states", on_joint_state, SAMPLES, raw=True),
            node.create_subscription(WrenchStamped, "wrench", on_wrench, SAMPLES, raw=True),
            node.create_subscription(
                String, "robot_description", lambda message: on_description(message.data), DESCRIPTION
            ),
        ]

    def destroy(self) -> None:
        """Unsubscribe."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
