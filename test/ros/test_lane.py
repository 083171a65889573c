"""Messages that take turns on one topic: each is taken for what it is, not for the one before."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from support.bench import Bench

from inertid_ros.ros.messages import stamp_message

START = 10_000 * 10**9
PERIOD = 5_000_000
COUNT = 300
ARM = [f"joint{number}" for number in range(1, 7)]


def make_states(index: int) -> JointState:
    message = JointState(name=ARM, position=[0.1 * np.sin(0.01 * index)] * 6, velocity=[0.2 * np.cos(0.01 * index)] * 6)
    message.header.stamp = stamp_message(START + index * PERIOD)
    return message


def make_fingers(index: int) -> JointState:
    message = JointState(name=["finger"], position=[0.01])
    message.header.stamp = stamp_message(START + index * PERIOD + 1_000_000)
    return message


def make_wrench(index: int, frame: str = "ft_sensor") -> WrenchStamped:
    message = WrenchStamped()
    message.header.frame_id = frame
    message.header.stamp = stamp_message(START + index * PERIOD + 2_500_000)
    message.wrench.force.z = 10.0 + 0.01 * (index % 7)
    return message


def test_publishers_take_turns_on_a_topic(bench: Bench) -> None:
    bench.start(load__wrench_sign="on_sensor")
    bench.describe()
    messages = []
    for index in range(COUNT):
        messages += [("/joint_states", make_states(index)), ("/joint_states", make_fingers(index))]
        messages += [("/wrench", make_wrench(index))]
    bench.play([(topic, serialize_message(message)) for topic, message in messages])
    bench.settle()
    stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in bench.received["load/wrench_predicted"]]
    assert stamps == [START + index * PERIOD + 2_500_000 for index in range(COUNT)][-len(stamps) :]
    assert len(stamps) >= COUNT - 2
    assert "duplicate_stamp" not in bench.history("joint_states")


def test_wrenches_of_another_frame_come_in_between(bench: Bench) -> None:
    """They are counted, and not taken for wrenches of the sensor."""
    bench.start(load__wrench_sign="on_sensor")
    bench.describe()
    messages = []
    for index in range(COUNT):
        messages += [("/joint_states", make_states(index)), ("/wrench", make_wrench(index))]
        if index % 3 == 0:
            other = make_wrench(index, "base_link")
            other.header.stamp = stamp_message(START + index * PERIOD + 3_000_000)
            messages.append(("/wrench", other))
    bench.play([(topic, serialize_message(message)) for topic, message in messages])
    bench.settle()
    history = bench.history("wrench")
    assert "frame_mismatch" in history
    assert "duplicate_stamp" not in history
    stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in bench.received["load/wrench_predicted"]]
    assert len(stamps) == len(set(stamps)) >= COUNT - 2
