"""A designed motion as files: CSV, and a bag with one trajectory_msgs/JointTrajectory that a controller can follow."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.errors import WriterError
from rosbags.typesys import Stores, get_typestore

from inertid_ros.core.errors import FileAccessError
from inertid_ros.core.records import FloatArray
from inertid_ros.files.document import make_directory, write_whole
from inertid_ros.motions.motion import JointPath, Motion

TOPIC = "/joint_trajectory"
TYPE = "trajectory_msgs/msg/JointTrajectory"
RATE = 100.0
"""Points of a trajectory per second; controllers interpolate between them."""

_BAG = "trajectory"
_CSV = "trajectory.csv"


def prepare_directory(directory: Path) -> None:
    """Create the directory before the long search, so that nobody waits for what cannot be written.

    Raises:
        FileAccessError: if it cannot be written to, or holds a trajectory already.
    """
    for taken in (directory / _CSV, directory / _BAG):
        if taken.exists():
            raise FileAccessError(f"'{taken}' already exists: choose another directory, or move it away")
    make_directory(directory)


def write_trajectory(directory: Path, motion: Motion, joint_names: Sequence[str]) -> tuple[Path, Path]:
    """Write both files into a prepared directory.

    Returns:
        The CSV (time, then positions, velocities and accelerations of all joints) and the bag.

    Raises:
        FileAccessError: if they cannot be written.
    """
    times = np.linspace(0.0, motion.duration, 1 + int(np.ceil(motion.duration * RATE)))
    path = motion.at(times)
    table, bag = directory / _CSV, directory / _BAG
    try:
        _write_csv(table, times, path, joint_names)
        _write_bag(bag, times, path, joint_names)
    except (OSError, WriterError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise FileAccessError(f"'{directory}' cannot be written to: {reason}; choose another one with -o") from None
    return table, bag


def _write_csv(file: Path, times: FloatArray, path: JointPath, names: Sequence[str]) -> None:
    kinds = ("position", "velocity", "acceleration")
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(["time", *(f"{name} {kind}" for kind in kinds for name in names)])
    writer.writerows(np.column_stack([times, *path]).tolist())
    write_whole(file, stream.getvalue())


def _write_bag(folder: Path, times: FloatArray, path: JointPath, names: Sequence[str]) -> None:
    store = get_typestore(Stores.ROS2_JAZZY)
    message = _make_message(store.types, times, path, names)
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection(TOPIC, TYPE, typestore=store)
        writer.write(connection, 0, store.serialize_cdr(message, TYPE))


def _make_message(types: Any, times: FloatArray, path: JointPath, names: Sequence[str]) -> Any:
    header = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](0, 0), "")
    make_point = types["trajectory_msgs/msg/JointTrajectoryPoint"]
    make_duration = types["builtin_interfaces/msg/Duration"]
    points = [
        make_point(*state, np.empty(0), make_duration(*divmod(round(time * 1e9), 1_000_000_000)))
        for time, *state in zip(times.tolist(), *path, strict=True)
    ]
    return types[TYPE](header, list(names), points)
