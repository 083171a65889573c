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

from inertid_ros.sim.scenario import read_urdf

Edit = Callable[[Any], Any]


def numbers_in(message: Any) -> list[float]:
    """All floats of a message, however deep."""
    if isinstance(message, float):
        return [message]
    if hasattr(message, "get_fields_and_field_types"):
        names = message.get_fields_and_field_types()
        return [number for name in names for number in numbers_in(getattr(message, name))]
    if isinstance(message, (str, bytes, int)):
        return []
    return [number for item in message for number in numbers_in(item)]


def assert_all_finite(bench: Any) -> None:
    for topic, messages in bench.received.items():
        for message in messages:
            assert all(math.isfinite(number) for number in numbers_in(message)), topic


def newest_prediction(bench: Any) -> float:
    """Seconds of simulated time of the newest prediction."""
    stamp = bench.newest("load/wrench_predicted").header.stamp
    return float((stamp.sec * 10**9 + stamp.nanosec - bench.origin) * 1e-9)


def assert_recovered(bench: Any) -> None:
    bench.spin(0.1)
    assert newest_prediction(bench) > bench.time - 0.1
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.03)
    assert_all_finite(bench)


def history(status: DiagnosticStatus) -> dict[str, str]:
    return {item.key: item.value for item in status.values}


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


@pytest.mark.parametrize("name", BAD)
def test_bad_samples_are_reported_and_recovered_from(bench: Any, name: str) -> None:
    stream, edit, source, code = BAD[name]
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.feed(3.0, **{stream: edit})
    status = bench.status(source)
    assert code in history(status), history(status)
    text = history(status)[code]
    assert "since" in text
    assert "To do:" in text
    assert status.level > DiagnosticStatus.OK
    bench.feed(2.0)
    assert_recovered(bench)


def test_a_joint_that_is_always_missing_is_named(bench: Any) -> None:
    bench.start()
    bench.describe()
    bench.feed(3.0, joints=without_wrist)
    status = bench.status("joint_states")
    assert status.level == DiagnosticStatus.ERROR
    assert "joint5, joint6" in history(status)["missing_joints"]


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
def test_another_order_more_joints_or_a_full_turn_change_nothing(bench: Any, edit: Edit) -> None:
    bench.start()
    bench.describe()
    bench.feed(3.0)
    bench.feed(3.0, joints=edit)
    assert_recovered(bench)
    assert bench.status("joint_states").level == DiagnosticStatus.OK


def test_joint_states_from_two_publishers_are_put_together(bench: Any) -> None:
    other = bench.probe.create_publisher(JointState, "joint_states", 100)

    def split(message: JointState) -> JointState:
        rest = JointState(header=message.header, name=message.name[3:], position=message.position[3:])
        other.publish(rest)
        message.name, message.position = message.name[:3], message.position[:3]
        return message

    bench.start()
    bench.describe()
    bench.feed(6.0, joints=split)
    assert_recovered(bench)


@pytest.mark.parametrize("jump", [-2.0, -500.0, 3600.0])
def test_a_bag_that_loops_or_a_clock_that_is_reset_goes_on(bench: Any, jump: float) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.origin += round(jump * 1e9)
    bench.feed(2.0)
    assert_recovered(bench)


def test_a_gap_is_bridged_without_a_lie(bench: Any) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.feed(0.4, joints=lambda _: None, wrench=lambda _: None)
    bench.feed(2.0)
    assert_recovered(bench)
    assert "gap" in history(bench.status("wrench"))


def test_a_burst_after_a_pause_is_worked_through(bench: Any) -> None:
    kept: list[Any] = []
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.feed(0.5, wrench=kept.append)
    for message in kept:
        bench._wrench.publish(message)
    bench.feed(1.5)
    assert_recovered(bench)


def test_garbage_instead_of_messages_is_counted(bench: Any) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    rng = np.random.default_rng(1)
    for size in range(0, 200, 4):
        bench._joints.publish(b"\x00\x01\x00\x00" + rng.bytes(size))
        bench._wrench.publish(b"\x00\x01\x00\x00" + rng.bytes(size % 40))
        bench.spin(0.002)
    assert "undecodable" in history(bench.status("wrench"))
    bench.feed(2.0)
    assert_recovered(bench)


def test_a_wrench_in_another_frame_of_the_robot_is_refused(bench: Any) -> None:
    def in_link5(message: WrenchStamped) -> WrenchStamped:
        message.header.frame_id = "link5"
        return message

    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.feed(1.0, wrench=in_link5)
    status = bench.status("wrench")
    assert status.level == DiagnosticStatus.ERROR
    assert "'link5'" in status.message
    assert "'ft_sensor'" in status.message
    bench.feed(2.0)
    assert_recovered(bench)


def test_an_unknown_frame_is_refused_with_the_frames_there_are_and_can_be_corrected(bench: Any) -> None:
    bench.start(load__sensor_frame="wrist")
    bench.describe()
    bench.feed(1.0)
    status = bench.status("robot_description")
    assert status.level == DiagnosticStatus.ERROR
    assert "'wrist'" in status.message
    assert "link5, link6, ft_sensor" in status.message
    assert not bench.received["load/parameters"]
    assert bench.set_parameter("load.sensor_frame", "ft_sensor").successful
    bench.feed(4.0)
    assert_recovered(bench)
    assert bench.status("robot_description").level == DiagnosticStatus.OK


def test_without_a_configured_frame_the_wrench_names_it(bench: Any) -> None:
    bench.start(load__sensor_frame="")
    bench.describe()
    bench.feed(4.0)
    assert_recovered(bench)
    assert bench.newest("load/inertia").header.frame_id == "ft_sensor"


def test_a_late_description_is_waited_for(bench: Any) -> None:
    bench.start()
    bench.feed(1.0)
    status = bench.status("robot_description")
    assert status.level == DiagnosticStatus.WARN
    assert "urdf" in status.message
    bench.describe()
    bench.feed(4.0)
    assert_recovered(bench)


@pytest.mark.parametrize("text", ["", "no XML", "<robot>", "<robot name='r'><link name='base_link'/></robot>"])
def test_a_broken_description_is_reported_and_a_good_one_taken(bench: Any, text: str) -> None:
    bench.start()
    bench.describe(text)
    bench.feed(0.5)
    status = bench.status("robot_description")
    assert status.level > DiagnosticStatus.OK
    assert "To do:" in status.message
    bench.describe()
    bench.feed(4.0)
    assert_recovered(bench)
    assert bench.status("robot_description").level == DiagnosticStatus.OK


def test_a_broken_description_does_not_replace_a_good_one(bench: Any) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.describe("<robot>")
    bench.feed(1.0)
    assert bench.status("robot_description").level == DiagnosticStatus.ERROR
    assert_recovered(bench)


def test_the_same_description_again_changes_nothing_and_another_one_starts_anew(bench: Any) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.describe()
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.03)
    bench.describe(read_urdf("puma560").replace('name="puma560"', 'name="another"'))
    assert bench.parameters()[0] == 0.0
    bench.feed(4.0)
    assert_recovered(bench)


def test_silent_inputs_and_a_clock_far_away_are_noted(bench: Any) -> None:
    bench.start(use_sim_time=False)
    bench.describe()
    bench.feed(1.0)
    assert "behind the clock" in history(bench.status("wrench"))["clock_apart"]
    bench.spin(4.0)
    for source in ("joint_states", "wrench"):
        status = bench.status(source)
        assert status.level == DiagnosticStatus.ERROR
        assert "no messages" in status.message
