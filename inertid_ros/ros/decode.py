"""The decoders of the node: rclpy's own deserialisation where a layout does not help."""

from __future__ import annotations

from functools import partial

from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from inertid_ros.core.records import JointBlock, WrenchBlock
from inertid_ros.messages import decode
from inertid_ros.messages.decode import StreamDecoder


def joint_decoder() -> StreamDecoder[JointBlock]:
    """Return a decoder of sensor_msgs/JointState."""
    return decode.joint_decoder(partial(deserialize_message, message_type=JointState))


def wrench_decoder() -> StreamDecoder[WrenchBlock]:
    """Return a decoder of geometry_msgs/WrenchStamped."""
    return decode.wrench_decoder(partial(deserialize_message, message_type=WrenchStamped))
