"""Serialised joint states, wrenches and readings of an IMU to blocks of samples.

Whatever a cached layout does not cover (another encoding, inconsistent lengths, a layout on which the full decoder of
the middleware or the bag library disagrees) goes through that full decoder, message by message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from inertid_ros.core.records import BoolArray, FloatArray, ImuBlock, IntArray, JointBlock, SampleBlock, WrenchBlock
from inertid_ros.messages.cdr_layout import (
    ByteArray,
    Fields,
    Layout,
    LayoutError,
    learn_imu,
    learn_joint_state,
    learn_wrench_stamped,
)

Deserialise = Callable[[bytes], Any]
"""Full decoder of one type of message; may raise anything on bytes that it cannot read."""

Block = TypeVar("Block", JointBlock, WrenchBlock, ImuBlock)

_RATES, _ACCELERATIONS, _COVARIANCES = slice(13, 16), slice(25, 28), slice(16, 29, 12)
"""Which of the 37 numbers of sensor_msgs/Imu these are; of the covariances of both the first number."""

LAYOUT_LIMIT = 16
"""Layouts that are remembered; a topic with more publishers than this is still decoded, but slowly."""


class StreamDecoder(Generic[Block]):
    """Collects the messages of one topic and returns them as blocks, in the order of arrival.

    Attributes:
        undecodable: how many messages could not be read.
    """

    def __init__(
        self,
        deserialise: Deserialise,
        learn: Callable[[bytes], Layout],
        from_fields: Callable[[Layout, IntArray, Fields], Block],
        from_message: Callable[[Any], Block],
    ) -> None:
        """Decode by layout with `learn` and `from_fields`, else by `from_message`."""
        self._decode_fully = deserialise
        self._learn = learn
        self._from_fields: Callable[[Layout, IntArray, Fields], Block] = from_fields
        self._from_message: Callable[[Any], Block] = from_message
        self._layouts: dict[int, Layout] = {}
        self._layout: Layout | None = None
        self._samples: dict[int, Block] = {}
        """Those in the memory of the layouts, by the length of their messages."""
        self._sample: Block | None = None
        self._run: list[bytes] = []
        self._blocks: list[Block] = []
        self._newest = 0
        self.undecodable = 0

    def decode(self, data: bytes) -> Block | None:
        """Return the sample of one serialised message; None if it cannot be read. Nothing may have been added.

        It is in memory that the next message of this layout overwrites.
        """
        layout = self._layouts.get(len(data))
        if layout is not None and layout.read(data):
            sample = self._samples.get(len(data))
            if sample is None or sample.stamps is not layout.stamps:
                sample = self._samples[len(data)] = self._from_fields(layout, layout.stamps, layout.fields)
            self._sample = sample
            return sample
        self._sample = None
        self.add(data)
        block = next(iter(self.take()), None)
        if block is not None:
            self._newest = block.stamps.item(-1)
        return block

    @property
    def newest(self) -> int:
        """Stamp [ns] of the message that was decoded last by itself; 0 before the first."""
        return self._newest if self._sample is None else self._sample.stamps.item(-1)

    def add(self, data: bytes) -> None:
        """Take one serialised message."""
        if self._layout is None or not self._layout.read(data):
            self._end_run()
            self._layout = self._find_layout(data)
        if self._layout is not None:
            self._run.append(data)

    def add_all(self, data: ByteArray, starts: IntArray, length: int) -> BoolArray:
        """Take serialised messages of the same length, which begin at (N,) places of some data.

        Returns:
            (N,) which of them could be read: each of these gives one sample, in their order.
        """
        is_read: BoolArray = np.ones(len(starts), dtype=bool)
        learnt = 0 if length in self._layouts else 1
        is_read[:learnt] = self._add_each(data, starts[:learnt], length)
        self._end_run()
        layout = self._layouts.get(length)
        found = None if layout is None else layout.read_all(data, starts[learnt:])
        if layout is None or found is None:
            is_read[learnt:] = self._add_each(data, starts[learnt:], length)
        elif len(starts) > learnt:
            self._layout = layout
            self._blocks.append(self._from_fields(layout, *found))
        return is_read

    def _add_each(self, data: ByteArray, starts: IntArray, length: int) -> list[bool]:
        """Take messages one by one; returns which of them could be read."""
        is_read = []
        for start in starts.tolist():
            before = self.undecodable
            self.add(data[start : start + length].tobytes())
            is_read.append(self.undecodable == before)
        return is_read

    def take(self) -> list[Block]:
        """Return what was added since the last call."""
        self._end_run()
        blocks, self._blocks = self._blocks, []
        return blocks

    def _end_run(self) -> None:
        if self._run and self._layout is not None:
            joined = np.frombuffer(b"".join(self._run), dtype=np.uint8)
            found = self._layout.read_all(joined, len(self._run[0]) * np.arange(len(self._run)))
            assert found is not None
            self._blocks.append(self._from_fields(self._layout, *found))
            self._run = []

    def _find_layout(self, data: bytes) -> Layout | None:
        layout = self._layouts.get(len(data))
        if layout is not None and layout.read(data):
            return layout
        message = self._deserialise(data)
        if message is None:
            return None
        layout = self._learn_checked(data, message)
        if layout is None:
            self._blocks.append(self._from_message(message))
        elif len(self._layouts) < LAYOUT_LIMIT or len(data) in self._layouts:
            self._layouts[len(data)] = layout
        return layout

    def _deserialise(self, data: bytes) -> Any:
        try:
            return self._decode_fully(data)
        except Exception:  # noqa: BLE001 - RMWError, MemoryError, UnicodeDecodeError: unreadable all the same
            self.undecodable += 1
            return None

    def _learn_checked(self, data: bytes, message: Any) -> Layout | None:
        try:
            layout = self._learn(data)
        except LayoutError:
            return None
        is_right = layout.read(data) and same_block(
            self._from_fields(layout, layout.stamps, layout.fields), self._from_message(message)
        )
        return layout if is_right else None


def joint_decoder(deserialise: Deserialise) -> StreamDecoder[JointBlock]:
    """Return a decoder of sensor_msgs/JointState."""
    return StreamDecoder(deserialise, learn_joint_state, _joints_from_fields, _joints_from_message)


def wrench_decoder(deserialise: Deserialise) -> StreamDecoder[WrenchBlock]:
    """Return a decoder of geometry_msgs/WrenchStamped."""
    return StreamDecoder(deserialise, learn_wrench_stamped, _wrenches_from_fields, _wrenches_from_message)


def imu_decoder(deserialise: Deserialise) -> StreamDecoder[ImuBlock]:
    """Return a decoder of sensor_msgs/Imu."""
    return StreamDecoder(deserialise, learn_imu, _imu_from_fields, _imu_from_message)


def same_block(first: SampleBlock, second: SampleBlock) -> bool:
    """Whether two blocks hold the same, with NaN equal to itself."""
    return all(_same(one, other) for one, other in zip(first, second, strict=True))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and one.tobytes() == other.tobytes()
    return type(one) is type(other) and bool(one == other)


def _joints_from_fields(layout: Layout, stamps: IntArray, fields: Fields) -> JointBlock:
    positions, velocities, efforts = fields
    if positions is None:
        positions = np.empty((len(stamps), 0))
    return JointBlock(layout.names, stamps, positions, velocities, efforts)


def _joints_from_message(message: Any) -> JointBlock:
    return JointBlock(
        names=tuple(message.name),
        stamps=_stamp_of(message),
        positions=np.array([message.position], dtype=np.float64),
        velocities=np.array([message.velocity], dtype=np.float64) if len(message.velocity) else None,
        efforts=np.array([message.effort], dtype=np.float64) if len(message.effort) else None,
    )


def _wrenches_from_fields(layout: Layout, stamps: IntArray, fields: Fields) -> WrenchBlock:
    (wrenches,) = fields
    assert wrenches is not None
    return WrenchBlock(layout.strings[0], stamps, wrenches)


def _wrenches_from_message(message: Any) -> WrenchBlock:
    force, torque = message.wrench.force, message.wrench.torque
    wrench = [force.x, force.y, force.z, torque.x, torque.y, torque.z]
    return WrenchBlock(
        frame=message.header.frame_id, stamps=_stamp_of(message), wrenches=np.array([wrench], dtype=np.float64)
    )


def _imu_from_fields(layout: Layout, stamps: IntArray, fields: Fields) -> ImuBlock:
    (numbers,) = fields
    assert numbers is not None
    return _imu_from_numbers(layout.strings[0], stamps, numbers)


def _imu_from_message(message: Any) -> ImuBlock:
    turn, rate, force = message.orientation, message.angular_velocity, message.linear_acceleration
    numbers = [turn.x, turn.y, turn.z, turn.w, *message.orientation_covariance]
    numbers += [rate.x, rate.y, rate.z, *message.angular_velocity_covariance]
    numbers += [force.x, force.y, force.z, *message.linear_acceleration_covariance]
    return _imu_from_numbers(message.header.frame_id, _stamp_of(message), np.array([numbers], dtype=np.float64))


def _imu_from_numbers(frame: str, stamps: IntArray, numbers: FloatArray) -> ImuBlock:
    return ImuBlock(frame, stamps, numbers[:, _ACCELERATIONS], numbers[:, _RATES], numbers[:, _COVARIANCES])


def _stamp_of(message: Any) -> IntArray:
    stamp = message.header.stamp
    return np.array([stamp.sec * 1_000_000_000 + stamp.nanosec], dtype=np.int64)
