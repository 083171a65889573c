"""Plays recorded messages into ROS as the bytes they were recorded in, and /clock with their time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Set
from importlib import import_module
from typing import Any

import rclpy
from builtin_interfaces.msg import Time
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock

from inertid_ros.core.errors import RecordingError

CLOCK_PERIOD = 0.01
"""Seconds between two messages on /clock, by the clock on the wall."""
LISTENER_WAIT = 10.0
"""Seconds to wait for somebody who listens, before the first message: on a busy machine discovery takes some."""
DISCOVERY_WAIT = 1.0
"""Seconds more for all others to be found."""
FAREWELL = Duration(seconds=2)
"""How long listeners have to confirm the last messages."""
DEPTH = 1000
NANOSECONDS = 1_000_000_000

RecordedMessage = tuple[str, int, bytes]
"""Topic, time of recording [ns], bytes."""


class BagPublisher:
    """A node with one publisher for each topic of a bag that can be published.

    Attributes:
        left_out: topics whose type is not installed, a line each that says what to do.
        published: how many messages were sent.
    """

    def __init__(self, kinds: Mapping[str, str], latched: Set[str]) -> None:
        """Build publishers.

        Args:
            kinds: type of each topic by its name.
            latched: topics that are kept for those who come late.

        Raises:
            RecordingError: if no topic can be published.
        """
        self.left_out: list[str] = []
        self.published = 0
        types = {topic: self._find_type(topic, kind) for topic, kind in kinds.items() if topic != "/clock"}
        found = {topic: kind for topic, kind in types.items() if kind is not None}
        if not found:
            raise RecordingError("; ".join(["nothing to publish", *self.left_out]))
        self._node = Node("inertid_publish", start_parameter_services=False, enable_rosout=False)
        self._publishers = {
            topic: self._node.create_publisher(kind, topic, _make_qos(topic in latched))
            for topic, kind in found.items()
        }
        self._clock = self._node.create_publisher(Clock, "/clock", QoSProfile(depth=1))
        self._next_clock = 0.0

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that are published."""
        return tuple(self._publishers)

    def wait_for_listeners(self) -> bool:
        """Wait a moment until somebody listens; returns whether anybody does."""
        deadline = time.monotonic() + LISTENER_WAIT
        while not any(publisher.get_subscription_count() for publisher in self._publishers.values()):
            if time.monotonic() > deadline or not rclpy.ok():
                return False
            time.sleep(CLOCK_PERIOD)
        time.sleep(DISCOVERY_WAIT)
        return True

    def play(self, messages: Iterable[RecordedMessage], rate: float) -> None:
        """Publish messages when their time comes, `rate` times as fast as recorded; stops when ROS is shut down."""
        started, first, now = time.monotonic(), None, 0
        for topic, stamp, data in messages:
            if first is None:
                first = now = stamp
                self._tell_time(now)
            while True:
                if not rclpy.ok():
                    return
                wall = time.monotonic()
                now = max(now, min(stamp, first + int((wall - started) * rate * NANOSECONDS)))
                if wall >= self._next_clock:
                    self._tell_time(now)
                if now >= stamp:
                    break
                time.sleep(min(CLOCK_PERIOD, (stamp - now) / NANOSECONDS / rate))
            self._publishers[topic].publish(data)
            self.published += 1
        if first is not None:
            self._tell_time(now)

    def close(self) -> None:
        """Wait until all messages have been received, and destroy the node."""
        if rclpy.ok():
            for publisher in self._publishers.values():
                publisher.wait_for_all_acked(FAREWELL)
        self._node.destroy_node()

    def _tell_time(self, stamp: int) -> None:
        seconds, nanoseconds = divmod(stamp, NANOSECONDS)
        self._clock.publish(Clock(clock=Time(sec=seconds, nanosec=nanoseconds)))
        self._next_clock = time.monotonic() + CLOCK_PERIOD

    def _find_type(self, topic: str, kind: str) -> Any:
        """Return the class of a type such as sensor_msgs/msg/JointState, or note that there is none."""
        package, _, name = kind.replace("/msg/", "/").partition("/")
        try:
            return getattr(import_module(f"{package}.msg"), name)
        except (ImportError, AttributeError, ValueError):
            deb = package.replace("_", "-")
            self.left_out.append(
                f"topic {topic} is left out: its type {kind} is not installed here; install the package {package} "
                f"(ros-jazzy-{deb})"
            )
            return None


def _make_qos(is_latched: bool) -> QoSProfile:
    """Reliable, which everybody can listen to, with room for bursts."""
    durability = DurabilityPolicy.TRANSIENT_LOCAL if is_latched else DurabilityPolicy.VOLATILE
    return QoSProfile(depth=DEPTH, durability=durability)
