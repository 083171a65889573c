"""The recordings of real robots beside the repository, where they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inertid_ros.core.records import JointBlock, WrenchBlock

RECORDINGS = Path(os.environ.get("INERTID_RECORDINGS", Path(__file__).parents[3] / "shared" / "data"))


def recording(name: str) -> Path:
    """Folder of a recording; skips the test, saying so, where it is missing."""
    folder = RECORDINGS / name
    if not folder.is_dir():
        pytest.skip(f"recording {name} is not here (INERTID_RECORDINGS can name its parent folder)")
    return folder


def read_load_recording(name: str) -> tuple[str, JointBlock, WrenchBlock]:
    """URDF, joint states and wrenches of a recording."""
    folder = recording(name)
    bags: Any = pytest.importorskip("rosbags.highlevel")
    joints, wrenches = [], []
    with bags.AnyReader([folder]) as reader:
        for connection, _, raw in reader.messages():
            message: Any = reader.deserialize(raw, connection.msgtype)
            stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
            if connection.topic == "/joint_states":
                joints.append((stamp, tuple(message.name), message.position))
            elif connection.topic == "/wrench":
                force, torque = message.wrench.force, message.wrench.torque
                values = [force.x, force.y, force.z, torque.x, torque.y, torque.z]
                wrenches.append((stamp, message.header.frame_id, values))
    return (
        (folder / "robot.urdf").read_text(),
        JointBlock(joints[0][1], np.array([one[0] for one in joints]), np.array([one[2] for one in joints]), None),
        WrenchBlock(wrenches[0][1], np.array([one[0] for one in wrenches]), np.array([one[2] for one in wrenches])),
    )


def read_joint_recording(name: str) -> tuple[str, JointBlock]:
    """URDF and joint states with velocities and efforts of a recording."""
    folder = recording(name)
    bags: Any = pytest.importorskip("rosbags.highlevel")
    samples = []
    with bags.AnyReader([folder]) as reader:
        for connection, _, raw in reader.messages():
            message: Any = reader.deserialize(raw, connection.msgtype)
            stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
            samples.append((stamp, tuple(message.name), message.position, message.velocity, message.effort))
    stamps, positions, velocities, efforts = (np.array([one[index] for one in samples]) for index in (0, 2, 3, 4))
    return (folder / "robot.urdf").read_text(), JointBlock(samples[0][1], stamps, positions, velocities, efforts)
