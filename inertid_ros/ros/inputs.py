"""What the node subscribes to, and how its samples are decoded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from inertid_ros.core.records import JointBlock, WrenchBlock
from inertid_ros.messages import decode
from inertid_ros.messages.decode import StreamDecoder

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

JOINTS = "joint_states"
"""The topic of the joint states; all other topics of samples carry wrenches."""


def joint_decoder() -> StreamDecoder[JointBlock]:
    """Return a decoder of sensor_msgs/JointState that falls back on rclpy's own deserialisation."""
    return decode.joint_decoder(partial(deserialize_message, message_type=JointState))


def wrench_decoder() -> StreamDecoder[WrenchBlock]:
    """Return a decoder of geometry_msgs/WrenchStamped that falls back on rclpy's own deserialisation."""
    return decode.wrench_decoder(partial(deserialize_message, message_type=WrenchStamped))


class Inputs:
    """The subscriptions of the node, from configure to cleanup. Samples come serialised."""

    def __init__(
        self,
        node: Node,
        topics: Sequence[str],
        on_sample: Callable[[str, bytes], None],
        on_description: Callable[[str], None],
    ) -> None:
        """Subscribe.

        Args:
            node: the node.
            topics: of the samples: `joint_states`, `wrench`, `base_wrench`.
            on_sample: takes topic and message of a sample.
            on_description: takes the robot description.
        """
        self._node = node
        self._subscriptions: list[Any] = [
            node.create_subscription(
                JointState if topic == JOINTS else WrenchStamped, topic, partial(on_sample, topic), SAMPLES, raw=True
            )
            for topic in topics
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
