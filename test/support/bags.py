"""Bags written by the rosbags library from blocks of samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from inertid_ros.core.records import ImuBlock, JointBlock, WrenchBlock
from inertid_ros.sim.simulator import Simulator
from support.chain import PUMA, puma_motion, simulate_puma

STORE = get_typestore(Stores.ROS2_JAZZY)
JOINTS, WRENCH, TEXT = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped", "std_msgs/msg/String"
IMU = "sensor_msgs/msg/Imu"
LATENCY = 2_000_000
"""Messages are recorded so many nanoseconds after their stamp."""

Message = tuple[str, str, int, bytes]
"""Topic, type, time of recording and bytes."""


def joint_messages(block: JointBlock, topic: str = "/joint_states") -> Iterator[Message]:
    kinds: Any = STORE.types
    empty = np.empty(0)
    for index, stamp in enumerate(block.stamps.tolist()):
        message = kinds[JOINTS](
            header=make_header(stamp, ""),
            name=list(block.names),
            position=block.positions[index],
            velocity=empty if block.velocities is None else block.velocities[index],
            effort=empty if block.efforts is None else block.efforts[index],
        )
        yield topic, JOINTS, stamp + LATENCY, bytes(STORE.serialize_cdr(message, JOINTS))


def wrench_messages(block: WrenchBlock, topic: str = "/wrench") -> Iterator[Message]:
    kinds: Any = STORE.types
    vector = kinds["geometry_msgs/msg/Vector3"]
    for stamp, values in zip(block.stamps.tolist(), block.wrenches.tolist(), strict=True):
        wrench = kinds["geometry_msgs/msg/Wrench"](force=vector(*values[:3]), torque=vector(*values[3:]))
        message = kinds[WRENCH](header=make_header(stamp, block.frame), wrench=wrench)
        yield topic, WRENCH, stamp + LATENCY, bytes(STORE.serialize_cdr(message, WRENCH))


def imu_messages(block: ImuBlock, topic: str = "/imu") -> Iterator[Message]:
    kinds: Any = STORE.types
    vector, turn = kinds["geometry_msgs/msg/Vector3"], kinds["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)
    for index, stamp in enumerate(block.stamps.tolist()):
        rates, accelerations = (np.eye(1, 9, 0)[0] * first for first in block.covariances[index].tolist())
        message = kinds[IMU](
            header=make_header(stamp, block.frame),
            orientation=turn,
            orientation_covariance=-np.eye(1, 9, 0)[0],
            angular_velocity=vector(*block.rates[index].tolist()),
            angular_velocity_covariance=rates,
            linear_acceleration=vector(*block.accelerations[index].tolist()),
            linear_acceleration_covariance=accelerations,
        )
        yield topic, IMU, stamp + LATENCY, bytes(STORE.serialize_cdr(message, IMU))


def text_message(text: str, time: int, topic: str = "/robot_description") -> Message:
    kinds: Any = STORE.types
    return topic, TEXT, time, bytes(STORE.serialize_cdr(kinds[TEXT](data=text), TEXT))


def make_header(stamp: int, frame: str) -> Any:
    kinds: Any = STORE.types
    time = kinds["builtin_interfaces/msg/Time"](*divmod(stamp, 1_000_000_000))
    return kinds["std_msgs/msg/Header"](stamp=time, frame_id=frame)


def simulated_messages(simulator: Simulator, start: float, end: float, description: str = PUMA) -> list[Message]:
    """A simulation as it would be recorded, in the order of recording."""
    messages = [*joint_messages(simulator.joints(start, end)), *wrench_messages(simulator.wrenches(start, end))]
    messages.sort(key=lambda message: message[2])
    return ([text_message(description, messages[0][2])] if description else []) + messages


def puma_messages(seconds: float = 8.0, seed: int = 0) -> list[Message]:
    """A PUMA that stands still, then moves with the paper's bar."""
    return list(_simulate_messages(seconds, seed))


@cache
def _simulate_messages(seconds: float, seed: int) -> tuple[Message, ...]:
    return tuple(simulated_messages(simulate_puma(puma_motion(rounds=4), seed=seed), 0.0, seconds))


def write_bag(
    path: Path,
    messages: Iterable[Message],
    storage: StoragePlugin = StoragePlugin.MCAP,
    compression: CompressionMode = CompressionMode.NONE,
) -> Path:
    """Write messages, as they come, into a rosbag2 folder."""
    writer = Writer(path, version=9, storage_plugin=storage)
    writer.set_compression(compression, CompressionFormat.ZSTD)
    with writer:
        connections = {}
        for topic, kind, time, data in messages:
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=STORE)
            writer.write(connections[topic], time, data)
    return path


def find_storage(path: Path) -> Path:
    """The one file with messages in a folder."""
    (storage,) = [item for item in path.iterdir() if item.name != "metadata.yaml"]
    return storage
