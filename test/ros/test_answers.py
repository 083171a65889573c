"""Encoded wrenches and efforts are what rclpy reads back."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from inertid_ros.ros.answers import EffortEncoder, WrenchEncoder


def test_every_number_comes_back_through_rclpy() -> None:
    rng = np.random.default_rng(1)
    stamps = rng.integers(0, 2**30 * 10**9, 20)
    wrenches = rng.normal(size=(20, 6))
    encoder = WrenchEncoder("ft_sensor")
    for stamp, wrench in zip(stamps.tolist(), wrenches, strict=True):
        data = encoder.encode(stamp, wrench.tolist())
        assert type(data) is bytes
        message = deserialize_message(data, WrenchStamped)
        assert message.header.frame_id == "ft_sensor"
        assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == stamp
        force, torque = message.wrench.force, message.wrench.torque
        assert [force.x, force.y, force.z, torque.x, torque.y, torque.z] == wrench.tolist()


def test_no_message_is_made_of_a_wrench_that_is_not_finite() -> None:
    encoder = WrenchEncoder("ft_sensor")
    assert encoder.encode(0, [1.0] * 6) is not None
    for index, value in ((5, np.nan), (0, -np.inf)):
        wrench = [1.0] * 6
        wrench[index] = value
        assert encoder.encode(1, wrench) is None
    assert encoder.encode(2, [np.inf, -np.inf, 0.0, 0.0, 0.0, 0.0]) is None
    assert encoder.withheld == 3


def test_messages_made_before_do_not_change() -> None:
    encoder = WrenchEncoder("ft_sensor")
    first = encoder.encode(1, [1.0] * 6)
    assert first is not None
    copy = bytes(first)
    encoder.encode(2, [0.0] * 6)
    assert first == copy


def test_efforts_decode_to_the_joints_that_are_wanted_and_finite() -> None:
    joints = ["shoulder", "elbow_joint", "wrist"]
    stamps = np.array([1_700_000_000_000_000_001, 1_700_000_000_500_000_000, 2_000_000_003, 4_000_000_000])
    efforts = np.arange(12.0).reshape(4, 3) - 0.5
    efforts[2, 0] = np.nan
    wanted = np.ones((4, 3), dtype=bool)
    wanted[1, 1] = False
    wanted[3] = False
    encoder = EffortEncoder(joints)
    encoded = [encoder.encode(*sample) for sample in zip(stamps.tolist(), efforts, wanted, strict=True)]
    assert encoded[3] is None
    messages = [deserialize_message(data, JointState) for data in encoded if data is not None]
    assert [list(message.name) for message in messages] == [joints, ["shoulder", "wrist"], ["elbow_joint", "wrist"]]
    assert [list(message.effort) for message in messages] == [[-0.5, 0.5, 1.5], [2.5, 4.5], [6.5, 7.5]]
    assert [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in messages] == stamps[:3].tolist()
    assert all(len(message.position) == len(message.velocity) == 0 for message in messages)
    assert encoder.withheld == 1
    assert encoder.encode(1, efforts[0]) is not None
    assert encoder.encode(1, np.full(3, np.nan)) is None
    assert encoder.withheld == 4
