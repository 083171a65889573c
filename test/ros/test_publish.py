"""`inertid publish` in a real ROS graph: what was recorded arrives, byte for byte, at its time and with /clock."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

from inertid_ros.ros.runtime import make_executor

PATIENCE = 20.0
"""Seconds after which something that has not happened will not happen."""
START = 1_700_000_000_000_000_000
STEP = 10_000_000
COUNT = 60


def write_bag(folder: Path, plugin: StoragePlugin = StoragePlugin.MCAP, with_unknown: bool = False) -> list[bytes]:
    """A description, then wrenches every 10 ms; returns the wrenches as they were written."""
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register(get_types_from_msg("float64 strangeness", "strange_msgs/msg/Quark"))
    types: Any = store.types
    vector = types["geometry_msgs/msg/Vector3"]
    written = []
    with Writer(folder, version=9, storage_plugin=plugin) as writer:
        description = writer.add_connection("/robot_description", "std_msgs/msg/String", typestore=store)
        wrench = writer.add_connection("/wrench", "geometry_msgs/msg/WrenchStamped", typestore=store)
        text = types["std_msgs/msg/String"]("<robot/>")
        writer.write(description, START, store.serialize_cdr(text, "std_msgs/msg/String").tobytes())
        for index in range(COUNT):
            stamp = types["builtin_interfaces/msg/Time"](*divmod(START + index * STEP, 1_000_000_000))
            message = types["geometry_msgs/msg/WrenchStamped"](
                types["std_msgs/msg/Header"](stamp, "ft_sensor"),
                types["geometry_msgs/msg/Wrench"](vector(float(index), 0.0, 9.8), vector(0.0, 0.1, 0.0)),
            )
            data = store.serialize_cdr(message, "geometry_msgs/msg/WrenchStamped").tobytes()
            writer.write(wrench, START + index * STEP, data)
            written.append(data)
        if with_unknown:
            quark = writer.add_connection("/quark", "strange_msgs/msg/Quark", typestore=store)
            unknown = types["strange_msgs/msg/Quark"](1.0)
            writer.write(quark, START, store.serialize_cdr(unknown, "strange_msgs/msg/Quark").tobytes())
    return written


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "inertid_ros.cli.main", "publish", *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


class Listener:
    """Hears wrenches as bytes, and the clock."""

    def __init__(self, domain: int) -> None:
        rclpy.init(args=[], domain_id=domain)
        self.node = Node("listener")
        self.executor = make_executor(self.node)
        self.executor.add_node(self.node)
        self.wrenches: list[bytes] = []
        self.arrivals: list[float] = []
        self.clock: list[int] = []
        self.node.create_subscription(WrenchStamped, "/wrench", self._hear, QoSProfile(depth=1000), raw=True)
        self.node.create_subscription(Clock, "/clock", self._look, QoSProfile(depth=1000))

    def _hear(self, data: bytes) -> None:
        self.wrenches.append(bytes(data))
        self.arrivals.append(time.monotonic())

    def _look(self, message: Clock) -> None:
        self.clock.append(message.clock.sec * 1_000_000_000 + message.clock.nanosec)

    def wait(self, until: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < deadline, f"only {len(self.wrenches)} wrenches"
            self.executor.spin_until_future_complete(Future(), timeout_sec=0.05)

    def close(self) -> None:
        self.executor.remove_node(self.node)
        self.node.destroy_node()
        rclpy.shutdown()


def assert_lasted(listener: Listener, seconds: float) -> None:
    """Messages may arrive late on a busy machine, but are not sent early."""
    assert seconds - 0.3 < listener.arrivals[-1] - listener.arrivals[0] < seconds + 2.0


@pytest.fixture
def listener(ros_domain: int) -> Iterator[Listener]:
    made = Listener(ros_domain)
    yield made
    made.close()


@pytest.mark.parametrize("plugin", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_publish_plays_all_bytes_in_order_with_the_clock(
    listener: Listener, tmp_path: Path, plugin: StoragePlugin
) -> None:
    written = write_bag(tmp_path / "bag", plugin)
    process = start(str(tmp_path / "bag"))
    listener.wait(lambda: len(listener.wrenches) >= COUNT and process.poll() is not None)
    assert listener.wrenches == written
    assert process.returncode == 0
    assert_lasted(listener, (COUNT - 1) * STEP * 1e-9)
    assert np.all(np.diff(listener.clock) >= 0)
    assert listener.clock[0] >= START
    assert len(listener.clock) > COUNT / 6
    assert listener.clock[-1] <= START + (COUNT - 1) * STEP


def test_publish_at_another_rate(listener: Listener, tmp_path: Path) -> None:
    write_bag(tmp_path / "bag")
    process = start(str(tmp_path / "bag"), "--rate", "0.25")
    listener.wait(lambda: process.poll() is not None)
    assert len(listener.wrenches) == COUNT
    assert_lasted(listener, 4.0 * (COUNT - 1) * STEP * 1e-9)


def test_publish_loops_until_it_is_interrupted(listener: Listener, tmp_path: Path) -> None:
    written = write_bag(tmp_path / "bag")
    process = start(str(tmp_path / "bag"), "--loop", "--rate", "5")
    listener.wait(lambda: len(listener.wrenches) > 2 * COUNT)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "Traceback" not in errors
    assert "published" in errors
    # On a busy machine the listener may be found only after the first messages.
    first = written.index(listener.wrenches[0])
    assert listener.wrenches[: 2 * COUNT] == (written * 3)[first : first + 2 * COUNT]


def test_publish_keeps_the_description_for_those_who_come_late(listener: Listener, tmp_path: Path) -> None:
    write_bag(tmp_path / "bag")
    process = start(str(tmp_path / "bag"), "--rate", "0.2")
    listener.wait(lambda: len(listener.wrenches) > 5)
    heard: list[String] = []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    listener.node.create_subscription(String, "/robot_description", heard.append, latched)
    listener.wait(lambda: bool(heard))
    assert heard[0].data == "<robot/>"
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "Traceback" not in errors


def test_publish_leaves_out_types_that_are_not_installed(listener: Listener, tmp_path: Path) -> None:
    written = write_bag(tmp_path / "bag", with_unknown=True)
    process = start(str(tmp_path / "bag"), "--rate", "10")
    listener.wait(lambda: len(listener.wrenches) >= COUNT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert listener.wrenches == written
    assert "topic /quark is left out: its type strange_msgs/msg/Quark is not installed here" in errors


@pytest.mark.usefixtures("ros_domain")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [(["nowhere"], "does not exist"), (["bag", "--rate", "0"], "expected more than 0"), (["empty"], "has no messages")],
)
def test_publish_says_what_is_wrong_and_fails(tmp_path: Path, arguments: list[str], expected: str) -> None:
    write_bag(tmp_path / "bag")
    with Writer(tmp_path / "empty", version=9, storage_plugin=StoragePlugin.MCAP):
        pass
    process = start(str(tmp_path / arguments[0]), *arguments[1:])
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert expected in errors
    assert "Traceback" not in errors
    assert len(errors.strip().splitlines()) == 1
