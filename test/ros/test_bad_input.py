"""Whatever comes in: no crash, only finite numbers out, a clear diagnostic, and recovery within two seconds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from support.bench import Bench

Edit = Callable[[Any], Any]


def with_position(value: float, joint: int = 2) -> Edit:
    def edit(message: JointState) -> JointState:
        message.position[joint] = value
        return message

    return edit


def with_force(value: float) -> Edit:
    def edit(message: WrenchStamped) -> WrenchStamped:
        message.wrench.force.y = value
        return message

    return edit


def with_velocity(value: float) -> Edit:
    def edit(message: JointState) -> JointState:
        message.velocity = [value] * 6
        return message

    return edit


def short_positions(message: JointState) -> JointState:
    message.position = message.position[:3]
    return message


def no_positions(message: JointState) -> JointState:
    message.position = []
    return message


def long_velocities(message: JointState) -> JointState:
    message.velocity = [0.0] * 9
    return message


def empty(_: JointState) -> JointState:
    return JointState()


def without_wrist(message: JointState) -> JointState:
    message.name, message.position = message.name[:4], message.position[:4]
    return message


def zero_stamp(message: Any) -> Any:
    message.header.stamp.sec = message.header.stamp.nanosec = 0
    return message


def frozen_stamp(message: Any) -> Any:
    message.header.stamp.sec, message.header.stamp.nanosec = 1003, 0
    return message


def future_stamp(message: Any) -> Any:
    message.header.stamp.sec += 100_000 * (1 + message.header.stamp.nanosec % 7)
    return message


def backward_stamp(message: Any) -> Any:
    message.header.stamp.sec -= 500 * (1 + message.header.stamp.nanosec // 1000 % 7)
    return message


BAD: dict[str, tuple[str, Edit, str, str]] = {
    "nan position": ("joints", with_position(math.nan), "joint_states", "not_finite"),
    "infinite position": ("joints", with_position(-math.inf), "joint_states", "not_finite"),
    "infinite velocity": ("joints", with_velocity(math.inf), "joint_states", "not_finite"),
    "nan force": ("wrench", with_force(math.nan), "wrench", "not_finite"),
    "infinite force": ("wrench", with_force(math.inf), "wrench", "not_finite"),
    "short positions": ("joints", short_positions, "joint_states", "wrong_length"),
    "no positions": ("joints", no_positions, "joint_states", "wrong_length"),
    "long velocities": ("joints", long_velocities, "joint_states", "wrong_length"),
    "zero joint stamps": ("joints", zero_stamp, "joint_states", "zero_stamp"),
    "zero wrench stamps": ("wrench", zero_stamp, "wrench", "zero_stamp"),
    "frozen joint stamps": ("joints", frozen_stamp, "joint_states", "duplicate_stamp"),
    "frozen wrench stamps": ("wrench", frozen_stamp, "wrench", "duplicate_stamp"),
    "future wrench stamps": ("wrench", future_stamp, "wrench", "jumping_stamp"),
    "future joint stamps": ("joints", future_stamp, "joint_states", "jumping_stamp"),
    "backward wrench stamps": ("wrench", backward_stamp, "wrench", "backward_stamp"),
    "no joint states": ("joints", lambda _: None, "wrench", "no_joint_state"),
    "no wrist joints": ("joints", without_wrist, "wrench", "no_joint_state"),
    "empty joint states": ("joints", empty, "wrench", "no_joint_state"),
}


SERIES = (
    ("frozen joint stamps", "nan position", "nan force", "short positions", "zero joint stamps", "no joint states"),
    ("frozen wrench stamps", "infinite position", "infinite force", "no positions", "zero wrench stamps"),
    ("infinite velocity", "long velocities", "future joint stamps", "backward wrench stamps", "empty joint states"),
    ("future wrench stamps", "no wrist joints"),
)
"""What one node meets one after the other, each with another diagnostic; the frozen stamps are of the first seconds."""


def test_everything_bad_is_tried() -> None:
    assert sorted(name for names in SERIES for name in names) == sorted(BAD)


@pytest.mark.parametrize("names", SERIES, ids=lambda names: names[0])
def test_bad_samples_are_reported_and_recovered_from(bench: Bench, names: tuple[str, ...]) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    for name in names:
        stream, edit, source, code = BAD[name]
        assert code not in bench.history(source), name
        bench.feed(3.0 if code == "no_joint_state" else 1.0, **{stream: edit})
        history = bench.history(source)
        assert code in history, (name, history)
        assert "since" in history[code]
        assert "To do:" in history[code]
        assert bench.status(source).level > DiagnosticStatus.OK
        bench.feed(2.0)
        bench.assert_recovered()


def test_a_joint_that_is_always_missing_is_named(bench: Bench) -> None:
    bench.start()
    bench.describe()
    bench.feed(3.0, joints=without_wrist)
    assert bench.status("joint_states").level == DiagnosticStatus.ERROR
    assert "joint5, joint6" in bench.history("joint_states")["missing_joints"]


def reversed_order(message: JointState) -> JointState:
    message.name, message.position = message.name[::-1], message.position[::-1]
    return message


def with_gripper(message: JointState) -> JointState:
    message.name = ["finger", *message.name]
    message.position = [0.01, *message.position]
    return message


def turned(message: JointState) -> JointState:
    message.position[5] -= 2 * math.pi
    message.position[3] += 2 * math.pi
    return message


@pytest.mark.parametrize("edit", [reversed_order, with_gripper, turned])
def test_another_order_more_joints_or_a_full_turn_change_nothing(bench: Bench, edit: Edit) -> None:
    bench.start()
    bench.describe()
    bench.feed(3.0)
    bench.feed(3.0, joints=edit)
    bench.assert_recovered()
    assert bench.status("joint_states").level == DiagnosticStatus.OK


def test_joint_states_from_two_publishers_are_put_together(bench: Bench) -> None:
    other = bench.probe.create_publisher(JointState, "joint_states", 100)

    def split(message: JointState) -> JointState:
        rest = JointState(header=message.header, name=message.name[3:], position=message.position[3:])
        other.publish(rest)
        message.name, message.position = message.name[:3], message.position[:3]
        return message

    bench.start()
    bench.describe()
    bench.feed(6.0, joints=split)
    bench.assert_recovered()


@pytest.mark.parametrize("jump", [-2.0, -500.0, 3600.0])
def test_a_bag_that_loops_or_a_clock_that_is_reset_goes_on(bench: Bench, jump: float) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.origin += round(jump * 1e9)
    bench.feed(2.0)
    bench.assert_recovered()


def test_a_gap_is_bridged_without_a_lie(bench: Bench) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.feed(0.4, joints=lambda _: None, wrench=lambda _: None)
    bench.feed(2.0)
    bench.assert_recovered()
    history = bench.history("wrench")
    # The first wrench after the gap may come before the first joint state: then it is the one that is left out.
    assert "gap" in history


def test_a_burst_after_a_pause_is_worked_through(bench: Bench) -> None:
    kept: list[Any] = []
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.feed(0.5, wrench=kept.append)
    for message in kept:
        bench.wrench.publish(message)
    bench.feed(1.5)
    bench.assert_recovered()


def test_garbage_instead_of_messages_is_counted(bench: Bench) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    rng = np.random.default_rng(1)
    for size in range(0, 200, 4):
        bench.joints.publish(b"\x00\x01\x00\x00" + rng.bytes(size))
        bench.wrench.publish(b"\x00\x01\x00\x00" + rng.bytes(size % 40))
        bench.spin(0.002)
    assert "undecodable" in bench.history("wrench")
    bench.feed(2.0)
    bench.assert_recovered()
