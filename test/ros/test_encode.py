"""Encoded wrenches and efforts are what rclpy reads back."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from inertid_ros.ros.encode import EffortEncoder, WrenchEncoder


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


def test_efforts_decode_to_the_joints_that_are_wanted_and_finite() -> None:
    joints = ["shoulder", "elbow_joint", "wrist"]
    stamps = np.array([1_700_000_000_000_000_001, 1_700_000_000_500_000_000, 2_000_000_003, 4_000_000_000])
    efforts = np.arange(12.0).reshape(4, 3) - 0.5
    efforts[2, 0] = np.nan
    wanted = np.ones((4, 3), dtype=bool)
    wanted[1, 1] = False
    wanted[3] = False
    encoder = EffortEncoder(joints)
    messages = [deserialize_message(data, JointState) for data in encoder.encode(stamps, efforts, wanted)]
    assert [list(message.name) for message in messages] == [joints, ["shoulder", "wrist"], ["elbow_joint", "wrist"]]
    assert [list(message.effort) for message in messages] == [[-0.5, 0.5, 1.5], [2.5, 4.5], [6.5, 7.5]]
    assert [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in messages] == stamps[:3].tolist()
    assert all(len(message.position) == len(message.velocity) == 0 for message in messages)
    assert encoder.withheld == 1
    assert len(encoder.encode(stamps[:1], efforts[:1])) == 1
    assert encoder.encode(stamps[:0], efforts[:0]) == []
