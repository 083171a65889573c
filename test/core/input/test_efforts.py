"""Efforts at the door: which joints a message has, what is missing, what is at its limit, what is held."""

from __future__ import annotations

import numpy as np
import pytest
from support.chain import DDARM

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.efforts import EffortInput, EffortStreams
from inertid_ros.core.input.timeline import Timeline
from inertid_ros.core.records import FloatArray, JointBlock
from inertid_ros.core.robot.robot import ArmModel, Robot

ARM = ArmModel.of(Robot.from_urdf(DDARM), np.array([0.0, 0.0, -9.8]))
SECOND = 1_000_000_000


def make_block(names: tuple[str, ...], efforts: list[list[float]] | None) -> JointBlock:
    count = 2 if efforts is None else len(efforts)
    stamps = SECOND + 10_000_000 * np.arange(count)
    values = None if efforts is None else np.array(efforts, dtype=float)
    return JointBlock(names, stamps, np.zeros((count, len(names))), None, values)


def read(block: JointBlock, constants: FloatArray | None = None) -> tuple[tuple[int, ...], FloatArray, Health]:
    """Which joints a block has, and readings (N, 2 n)."""
    health = Health()
    efforts, line = (
        EffortInput(ARM, np.ones(3) if constants is None else constants, health),
        Timeline(6, "effort", health),
    )
    assert efforts.has_efforts(block)
    assert block.efforts is not None
    efforts.push(line, block.stamps, block.efforts)
    return efforts.joints, line.states[: len(line.stamps)], health


def test_efforts_come_in_the_arm_s_order_times_their_constants() -> None:
    block = make_block(("joint3", "gripper", "joint1", "joint2"), [[3.0, 9.0, 1.0, 2.0]])
    joints, readings, health = read(block, np.array([10.0, 100.0, 1000.0]))
    assert joints == (0, 1, 2)
    np.testing.assert_array_equal(readings, [[10.0, 200.0, 3000.0, 0.0, 0.0, 0.0]])
    assert health.items() == ()


def test_what_is_not_finite_is_marked_and_the_last_good_value_held() -> None:
    block = make_block(ARM.joint_names, [[1.0, np.nan, 3.0], [4.0, 5.0, np.inf], [7.0, np.nan, 9.0]])
    _, readings, health = read(block)
    np.testing.assert_array_equal(readings[:, :3], [[1.0, 0.0, 3.0], [4.0, 5.0, 3.0], [7.0, 5.0, 9.0]])
    np.testing.assert_array_equal(readings[:, 3:], [[0, 1, 0], [0, 0, 1], [0, 1, 0]])
    (item,) = health.items()
    assert (item.code, item.detail, item.count) == ("effort_missing", "joint2, joint3", 3)


def test_what_is_at_the_limit_of_the_urdf_is_marked() -> None:
    block = make_block(ARM.joint_names, [[660.0, 229.0, 1.0], [-659.9, -230.0, 2.0], [600.0, 0.0, 3.0]])
    _, readings, health = read(block)
    np.testing.assert_array_equal(readings[:, 3:], [[1, 0, 0], [1, 1, 0], [0, 0, 0]])
    (item,) = health.items()
    assert (item.code, item.detail, item.count) == ("effort_saturated", "joint1, joint2", 2)


def test_joints_of_another_publisher_are_no_trouble() -> None:
    joints, readings, health = read(make_block(("joint2",), [[5.0]]))
    assert joints == (1,)
    np.testing.assert_array_equal(readings, [[0.0, 5.0, 0.0, 1.0, 0.0, 1.0]])
    assert health.items() == ()


@pytest.mark.parametrize(
    ("block", "codes"),
    [
        (make_block(ARM.joint_names, None), []),
        (make_block(("wheel",), [[1.0]]), []),
        (make_block(ARM.joint_names, [[1.0, 2.0]]), ["wrong_effort_length"]),
        (make_block(ARM.joint_names, [[]]), ["wrong_effort_length"]),
    ],
)
def test_messages_without_usable_effort_give_nothing(block: JointBlock, codes: list[str]) -> None:
    health = Health()
    assert not EffortInput(ARM, np.ones(3), health).has_efforts(block)
    assert [item.code for item in health.items()] == codes


def push(
    streams: EffortStreams, efforts: EffortInput, joints: tuple[int, ...], times: FloatArray, values: FloatArray
) -> None:
    """Push values (N,) of some joints at times [s]; their stamps are late by the delay."""
    names = tuple(ARM.joint_names[joint] for joint in joints)
    stamps = SECOND + np.round((times + 0.02) * 1e9).astype(np.int64)
    block = JointBlock(names, stamps, np.zeros((len(times), len(joints))), None, np.tile(values[:, None], len(joints)))
    assert block.efforts is not None
    if 2 in joints and len(times) > 5:
        block.efforts[5, joints.index(2)] = np.nan
    assert efforts.has_efforts(block)
    streams.push(stamps, block.efforts, SECOND)


def make_streams() -> tuple[EffortStreams, EffortInput]:
    """Joints 0 and 2 at 0, 0.1, ... 0.9 s, joint 1 in between; each effort is its time, joint 2's bad at 0.5 s."""
    efforts = EffortInput(ARM, np.ones(3), Health())
    streams = EffortStreams(efforts, 3, delay=0.02)
    for joints, shift in (((0, 2), 0.0), ((1,), 0.05)):
        times = 0.1 * np.arange(10) + shift
        push(streams, efforts, joints, times, times)
    return streams, efforts


def test_streams_are_read_in_between_and_less_their_delay() -> None:
    efforts, usable = make_streams()[0].read(np.array([0.12, 0.25, 0.44]))
    np.testing.assert_allclose(efforts[:2], [[0.12] * 3, [0.25] * 3], atol=1e-9)
    assert usable.tolist() == [[True, True, True], [True, True, True], [True, True, False]]


def test_nothing_is_read_where_there_is_nothing() -> None:
    streams, inputs = make_streams()
    assert not EffortStreams(inputs, 3, 0.0).read(np.array([1.0]))[1].any()
    _, usable = streams.read(np.array([-0.5, 0.02, 0.93, 2.0]))
    assert usable.tolist() == [[False] * 3, [True, False, True], [False, True, False], [False] * 3]


def test_streams_start_anew_with_time() -> None:
    streams, inputs = make_streams()
    push(streams, inputs, (0, 2), -0.52 + 0.05 * np.arange(4), np.full(4, 7.0))
    efforts, usable = streams.read(np.array([-0.4]))
    assert usable[0].tolist() == [True, False, True]
    assert efforts[0, 0] == 7.0
    assert not streams.read(np.array([0.5]))[1][0, 0]
