"""Encoded wrenches are what rclpy reads back."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message

from inertid_ros.ros.encode import WrenchEncoder


def test_every_number_comes_back_through_rclpy() -> None:
    rng = np.random.default_rng(1)
    stamps = rng.integers(0, 2**30 * 10**9, 20)
    wrenches = rng.normal(size=(20, 6))
    messages = WrenchEncoder("ft_sensor").encode(stamps, wrenches)
    assert all(type(message) is bytes for message in messages)
    for data, stamp, wrench in zip(messages, stamps, wrenches, strict=True):
        message = deserialize_message(data, WrenchStamped)
        assert message.header.frame_id == "ft_sensor"
        assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == stamp
        force, torque = message.wrench.force, message.wrench.torque
        assert [force.x, force.y, force.z, torque.x, torque.y, torque.z] == wrench.tolist()


def test_no_message_is_made_of_a_wrench_that_is_not_finite() -> None:
    wrenches = np.ones((4, 6))
    wrenches[1, 5] = np.nan
    wrenches[2, 0] = -np.inf
    encoder = WrenchEncoder("ft_sensor")
    messages = encoder.encode(np.arange(4), wrenches)
    assert [deserialize_message(data, WrenchStamped).header.stamp.nanosec for data in messages] == [0, 3]
    assert encoder.withheld == 2
    assert encoder.encode(np.arange(4), np.full((4, 6), np.nan)) == []
    assert encoder.withheld == 6


def test_an_empty_block_makes_no_message() -> None:
    assert WrenchEncoder("ft_sensor").encode(np.empty(0, dtype=np.int64), np.empty((0, 6))) == []
