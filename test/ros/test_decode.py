"""The fast decoders against rclpy's own serialisation, on good and on mangled messages."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu, JointState

from inertid_ros.core.records import JointBlock
from inertid_ros.messages.cdr_layout import LayoutError, learn_joint_state, learn_wrench_stamped, view_bytes
from inertid_ros.messages.decode import StreamDecoder, same_block
from inertid_ros.ros.inputs import imu_decoder, joint_decoder, wrench_decoder

NAMES = ("a", "joint_2", "j3")


def joint_message(
    rng: np.random.Generator,
    names: tuple[str, ...] = NAMES,
    frame: str = "base",
    velocity: bool = True,
    effort: bool = True,
) -> JointState:
    message = JointState()
    message.header.frame_id = frame
    message.header.stamp.sec = int(rng.integers(0, 2**31 - 1))
    message.header.stamp.nanosec = int(rng.integers(0, 10**9))
    message.name = list(names)
    message.position = rng.normal(size=len(names)).tolist()
    if velocity:
        message.velocity = rng.normal(size=len(names)).tolist()
    if effort:
        message.effort = rng.normal(size=len(names)).tolist()
    return message


def stamp_of(message: JointState | WrenchStamped) -> int:
    return int(message.header.stamp.sec) * 10**9 + int(message.header.stamp.nanosec)


def big_endian_wrench(frame: str, stamp: tuple[int, int], wrench: list[float]) -> bytes:
    """Serialise by hand, independently of the middleware, with 0xAA in the gaps."""
    text = frame.encode() + b"\0"
    body = np.array(stamp, dtype=">u4").tobytes() + np.array([len(text)], dtype=">u4").tobytes() + text
    body += b"\xaa" * (-len(body) % 8)
    return b"\x00\x00\x00\x00" + body + np.array(wrench, dtype=">f8").tobytes()


def scribble_over_gaps(data: bytes, rng: np.random.Generator) -> bytes:
    """Fill every byte that is neither text, length, stamp nor number with noise."""
    layout = learn_joint_state(data)
    assert layout.dtype.names is not None
    assert layout.dtype.fields is not None
    used = bytearray(len(data))
    for place in layout.fixed.tolist():
        used[place] = 0xFF
    for name in layout.dtype.names:
        kind, offset = layout.dtype.fields[name][:2]
        used[offset : offset + kind.itemsize] = b"\xff" * kind.itemsize
    noise = rng.integers(0, 256, len(data), dtype=np.uint8).tobytes()
    return bytes(byte if keep else other for byte, keep, other in zip(data, used, noise, strict=True))


@pytest.mark.parametrize("velocity", [True, False])
@pytest.mark.parametrize("effort", [True, False])
@pytest.mark.parametrize("names", [(), ("a",), ("ab", "abc", "abcd"), tuple(f"joint_{i}" for i in range(7))])
def test_joint_states_of_every_shape_are_read_as_rclpy_reads_them(
    names: tuple[str, ...], velocity: bool, effort: bool
) -> None:
    rng = np.random.default_rng(1)
    decoder = joint_decoder()
    messages = [joint_message(rng, names, velocity=velocity, effort=effort) for _ in range(5)]
    for message in messages:
        decoder.add(serialize_message(message))
    blocks = decoder.take()
    assert sum(len(block.stamps) for block in blocks) == 5
    assert all(block.names == names for block in blocks)
    assert np.concatenate([block.stamps for block in blocks]).tolist() == [stamp_of(m) for m in messages]
    np.testing.assert_array_equal(np.concatenate([b.positions for b in blocks]), [list(m.position) for m in messages])
    if velocity and names:
        velocities = np.concatenate([b.velocities for b in blocks if b.velocities is not None])
        np.testing.assert_array_equal(velocities, [list(m.velocity) for m in messages])
    else:
        assert all(block.velocities is None for block in blocks)
    if effort and names:
        efforts = np.concatenate([b.efforts for b in blocks if b.efforts is not None])
        np.testing.assert_array_equal(efforts, [list(m.effort) for m in messages])
    else:
        assert all(block.efforts is None for block in blocks)


def test_messages_of_one_layout_become_one_block_whatever_lies_in_the_gaps() -> None:
    rng = np.random.default_rng(2)
    decoder = joint_decoder()
    messages = [joint_message(rng) for _ in range(50)]
    for message in messages:
        decoder.add(scribble_over_gaps(serialize_message(message), rng))
    (block,) = decoder.take()
    np.testing.assert_array_equal(block.positions, [list(m.position) for m in messages])
    assert decoder.take() == []


def test_two_publishers_keep_their_order_and_their_names() -> None:
    rng = np.random.default_rng(3)
    decoder = joint_decoder()
    names = [("a", "b"), ("b", "a"), ("gripper",)]
    sent = [joint_message(rng, names[i % 3]) for i in range(9)]
    for message in sent:
        decoder.add(serialize_message(message))
    received = [(block.names, int(stamp)) for block in decoder.take() for stamp in block.stamps]
    assert received == [(tuple(message.name), stamp_of(message)) for message in sent]


def test_a_wrench_is_read_with_its_frame_and_stamp() -> None:
    decoder = wrench_decoder()
    for index in range(3):
        message = WrenchStamped()
        message.header.frame_id = "ft_sensor" if index < 2 else "tool0"
        message.header.stamp.sec = 7
        message.header.stamp.nanosec = index
        message.wrench.force.x, message.wrench.force.y, message.wrench.force.z = 1.0 + index, 2.0, 3.0
        message.wrench.torque.x, message.wrench.torque.y, message.wrench.torque.z = 4.0, float("nan"), float("inf")
        decoder.add(serialize_message(message))
    first, second = decoder.take()
    assert (first.frame, second.frame) == ("ft_sensor", "tool0")
    assert first.stamps.tolist() == [7 * 10**9, 7 * 10**9 + 1]
    np.testing.assert_array_equal(first.wrenches, [[1, 2, 3, 4, np.nan, np.inf], [2, 2, 3, 4, np.nan, np.inf]])


def imu_message(index: int) -> Imu:
    message = Imu()
    message.header.frame_id = "imu_link"
    message.header.stamp.nanosec = index
    rate, force = message.angular_velocity, message.linear_acceleration
    rate.x, rate.y, rate.z = 0.1 * index, 0.2, 0.3
    force.x, force.y, force.z = 1.0, 2.0, 9.0 + index
    message.orientation_covariance[0] = 7.0
    message.angular_velocity_covariance[0] = -1.0
    message.linear_acceleration_covariance[:] = np.arange(1.0, 10.0)
    return message


@pytest.mark.parametrize("one_by_one", [True, False])
def test_an_imu_is_read_in_its_own_axes(one_by_one: bool) -> None:
    """Live, the memory of a sample is used again for the next."""
    decoder, data = imu_decoder(), [serialize_message(imu_message(index)) for index in range(4)]
    if one_by_one:
        blocks = [deepcopy(block) for block in map(decoder.decode, data) if block is not None]
    else:
        for message in data:
            decoder.add(message)
        blocks = decoder.take()
    assert {block.frame for block in blocks} == {"imu_link"}
    rates, accelerations, covariances = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("rates", "accelerations", "covariances")
    )
    np.testing.assert_array_equal(np.concatenate([block.stamps for block in blocks]), np.arange(4))
    np.testing.assert_array_equal(rates, [[0.1 * index, 0.2, 0.3] for index in range(4)])
    np.testing.assert_array_equal(accelerations, [[1.0, 2.0, 9.0 + index] for index in range(4)])
    np.testing.assert_array_equal(covariances, [[-1.0, 1.0]] * 4)


def test_a_big_endian_message_is_read() -> None:
    data = big_endian_wrench("ft", (3, 5), [1.0, -2.0, 3.0, 4.0, 5.0, 6.0])
    layout = learn_wrench_stamped(data)
    assert layout.strings == ("ft",)
    decoder = wrench_decoder()
    decoder.add(data)
    decoder.add(data)
    blocks = decoder.take()
    assert sum(len(block.stamps) for block in blocks) == 2
    np.testing.assert_array_equal(blocks[0].wrenches[0], [1.0, -2.0, 3.0, 4.0, 5.0, 6.0])
    assert blocks[0].stamps[0] == 3 * 10**9 + 5


def test_short_position_arrays_pass_for_the_chain_to_judge() -> None:
    message = joint_message(np.random.default_rng(4))
    message.position = [1.0]
    decoder = joint_decoder()
    decoder.add(serialize_message(message))
    (block,) = decoder.take()
    assert block.names == NAMES
    assert block.positions.shape == (1, 1)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_efforts_of_another_length_leave_positions_and_velocities_as_they_are(count: int) -> None:
    rng = np.random.default_rng(13)
    messages = [joint_message(rng) for _ in range(3)]
    decoder = joint_decoder()
    for message in messages:
        message.effort = rng.normal(size=count).tolist()
        decoder.add(serialize_message(message))
    (block,) = decoder.take()
    np.testing.assert_array_equal(block.positions, [list(m.position) for m in messages])
    np.testing.assert_array_equal(block.velocities, [list(m.velocity) for m in messages])
    np.testing.assert_array_equal(block.efforts, [list(m.effort) for m in messages])


def test_efforts_that_a_joint_does_not_give_stay_nan_of_that_joint() -> None:
    rng = np.random.default_rng(14)
    messages = [joint_message(rng) for _ in range(3)]
    decoder = joint_decoder()
    for message in messages:
        message.effort[1] = float("nan")
        decoder.add(serialize_message(message))
    (block,) = decoder.take()
    assert block.efforts is not None
    assert np.isnan(block.efforts).tolist() == [[False, True, False]] * 3
    np.testing.assert_array_equal(block.efforts, [list(m.effort) for m in messages])


def test_a_truncated_message_is_counted_and_the_next_one_read() -> None:
    rng = np.random.default_rng(5)
    decoder = joint_decoder()
    data = serialize_message(joint_message(rng))
    decoder.add(data[:40])
    decoder.add(b"")
    decoder.add(data)
    assert decoder.undecodable == 2
    assert len(decoder.take()) == 1


def test_an_unknown_encapsulation_is_left_to_rclpy() -> None:
    data = serialize_message(joint_message(np.random.default_rng(6)))
    with pytest.raises(LayoutError, match="not plain CDR"):
        learn_joint_state(b"\x00\x09" + data[2:])
    with pytest.raises(LayoutError):
        learn_joint_state(b"\x00")


def test_blocks_that_differ_in_anything_are_not_the_same() -> None:
    block = JointBlock(("a",), np.array([1]), np.array([[np.nan]]), None)
    assert same_block(block, JointBlock(("a",), np.array([1]), np.array([[np.nan]]), None))
    assert not same_block(block, block._replace(names=("b",)))
    assert not same_block(block, block._replace(stamps=np.array([2])))
    assert not same_block(block, block._replace(positions=np.array([[0.0]])))
    assert not same_block(block, block._replace(velocities=np.array([[0.0]])))
    assert not same_block(block, block._replace(efforts=np.array([[0.0]])))
    strained = block._replace(efforts=np.array([[np.nan]]))
    assert same_block(strained, block._replace(efforts=np.array([[np.nan]])))


def test_a_thousand_mangled_messages_are_read_as_rclpy_reads_them_or_not_at_all() -> None:
    """Two decoders, one with and one without a warm cache, must agree with the middleware byte for byte."""
    rng = np.random.default_rng(7)
    good = serialize_message(joint_message(rng))
    decoder = joint_decoder()
    decoder.add(good)
    decoder.take()
    for _ in range(1000):
        mangled = bytearray(good)
        for position in rng.integers(0, len(good), rng.integers(1, 4)):
            mangled[position] = rng.integers(0, 256)
        data = bytes(mangled[: rng.integers(0, len(good))] if rng.random() < 0.2 else mangled)
        assert same_blocks(decoder, data), data.hex()


def same_blocks(decoder: StreamDecoder[JointBlock], data: bytes) -> bool:
    try:
        expected: JointState | None = deserialize_message(data, JointState)
    except Exception:  # noqa: BLE001 - whatever the middleware raises, it means unreadable
        expected = None
    block = decoder.decode(data)
    if expected is None or block is None:
        return expected is block
    reference = JointBlock(
        tuple(expected.name),
        np.array([stamp_of(expected)]),
        np.array([expected.position], dtype=float),
        np.array([expected.velocity], dtype=float) if len(expected.velocity) else None,
        np.array([expected.effort], dtype=float) if len(expected.effort) else None,
    )
    return same_block(block, reference)


@pytest.mark.parametrize("before", [0, 1])
def test_many_messages_at_once_are_read_as_one_by_one(before: int) -> None:
    """Whether their layout is known before or not."""
    rng = np.random.default_rng(11)
    for strange in (None, 3):
        messages = [serialize_message(joint_message(rng)) for _ in range(6)]
        if strange is not None:
            messages[strange] = serialize_message(joint_message(rng, names=("a", "joint_9", "j3")))
        single, many = joint_decoder(), joint_decoder()
        for data in messages:
            single.add(data)
        length = len(messages[0])
        many.add_all(view_bytes(b"".join(messages[:before])), length * np.arange(before), length)
        rest = view_bytes(b"..." + b"".join(messages[before:]))
        assert many.add_all(rest, 3 + length * np.arange(len(messages) - before), length).all()
        expected, found = single.take(), many.take()
        for name in ("stamps", "positions", "velocities", "efforts"):
            np.testing.assert_array_equal(
                np.concatenate([getattr(block, name) for block in found]),
                np.concatenate([getattr(block, name) for block in expected]),
            )
        assert {block.names for block in found} == {block.names for block in expected}
        assert many.undecodable == 0
