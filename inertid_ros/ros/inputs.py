"""What comes in: subscriptions, how samples are decoded, and the robot description from a file or its topic.

Frames that it lacks may come from /tf_static, or from /tf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.event_handler import SubscriptionEventCallbacks, UnsupportedEventTypeError
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String

from inertid_ros.core.errors import InertidError
from inertid_ros.core.records import ImuBlock, JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.urdf import UrdfFile
from inertid_ros.messages import decode
from inertid_ros.messages.decode import StreamDecoder
from inertid_ros.ros.health import NodeHealth
from inertid_ros.ros.static_frames import TOPIC, WATCHED_TOPIC, StaticFrames, TFMessage

SAMPLES = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=200,
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.VOLATILE,
)
"""Matches reliable and best-effort publishers alike; deep enough for a pause of 0.2 s at 1 kHz."""

DESCRIPTION = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""That of robot_state_publisher."""

STATIC_FRAMES = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""That of tf2's static broadcasters; each of them keeps its own."""

MOVING_FRAMES = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=100,
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.VOLATILE,
)
"""Matches tf2's broadcasters; what is lost comes again."""

TYPES = {"joint_states": JointState, "imu": Imu, "wrench": WrenchStamped, "base_wrench": WrenchStamped}
"""Topics of samples with their types."""
SOURCE = "robot_description"
_ISSUES = ("no_description", "broken_description", "broken_file")


def joint_decoder() -> StreamDecoder[JointBlock]:
    """Return a decoder of sensor_msgs/JointState that falls back on rclpy's own deserialisation."""
    return decode.joint_decoder(partial(deserialize_message, message_type=JointState))


def wrench_decoder() -> StreamDecoder[WrenchBlock]:
    """Return a decoder of geometry_msgs/WrenchStamped that falls back on rclpy's own deserialisation."""
    return decode.wrench_decoder(partial(deserialize_message, message_type=WrenchStamped))


def imu_decoder() -> StreamDecoder[ImuBlock]:
    """Return a decoder of sensor_msgs/Imu that falls back on rclpy's own deserialisation."""
    return decode.imu_decoder(partial(deserialize_message, message_type=Imu))


_DECODERS: dict[str, Callable[[], StreamDecoder[Any]]] = {"joint_states": joint_decoder, "imu": imu_decoder}


def make_decoder(topic: str) -> StreamDecoder[Any]:
    """Return the decoder of a topic of samples."""
    return _DECODERS.get(topic, wrench_decoder)()


class Inputs:
    """The subscriptions of the node, from configure to cleanup. Samples come serialised."""

    def __init__(
        self,
        node: Node,
        on_sample: Mapping[str, Callable[[bytes], None]],
        on_description: Callable[[str], None],
        on_frames: Callable[[Iterable[Any]], None],
        on_moving: Callable[[Iterable[Any]], None],
        on_lost: Callable[[str, int], None],
    ) -> None:
        """Subscribe.

        Args:
            node: the node.
            on_sample: topics of samples, see TYPES, each with what takes a message.
            on_description: takes the robot description.
            on_frames: takes static transforms.
            on_moving: takes those of /tf, while they are listened to.
            on_lost: takes topic and number of samples that the middleware has lost.
        """
        self._node, self._on_moving = node, on_moving
        self._moving: Any = None
        self._subscriptions: list[Any] = [
            self._subscribe(topic, take, partial(on_lost, topic)) for topic, take in on_sample.items()
        ]
        self._subscriptions.append(
            node.create_subscription(String, SOURCE, lambda message: on_description(message.data), DESCRIPTION)
        )

        if TFMessage is not None:
            self._subscriptions.append(
                node.create_subscription(TFMessage, TOPIC, lambda message: on_frames(message.transforms), STATIC_FRAMES)
            )

    def _subscribe(self, topic: str, on_sample: Callable[[bytes], None], on_lost: Callable[[int], None]) -> Any:
        """Subscribe to samples, and to their loss where the middleware tells it."""
        kind = TYPES[topic]
        told = SubscriptionEventCallbacks(message_lost=lambda event: on_lost(event.total_count_change))
        try:
            return self._node.create_subscription(kind, topic, on_sample, SAMPLES, raw=True, event_callbacks=told)
        except UnsupportedEventTypeError:
            return self._node.create_subscription(kind, topic, on_sample, SAMPLES, raw=True)

    def watch_frames(self, is_wanted: bool) -> None:
        """Listen to /tf, or no longer: it has all links at a high rate, and is of no use where no frame is missing."""
        if TFMessage is None or is_wanted == (self._moving is not None):
            return
        if is_wanted:
            self._moving = self._node.create_subscription(
                TFMessage, WATCHED_TOPIC, lambda message: self._on_moving(message.transforms), MOVING_FRAMES
            )
        else:
            self._node.destroy_subscription(self._moving)
            self._moving = None

    def destroy(self) -> None:
        """Unsubscribe."""
        self.watch_frames(False)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)


class DescriptionSource:
    """Keeps the last description that could be used.

    Attributes:
        robot: what it describes, or None before the first.
        text: the description itself.
    """

    def __init__(self, health: NodeHealth) -> None:
        """Start without a robot; what is wrong with a description is reported."""
        self._health = health
        self._published = ""
        self._file = ""
        self._frames = StaticFrames()
        self.robot: Robot | None = None
        self.text = ""

    def use_file(self, path: str) -> bool:
        """Take the description from a file, or with no path from the topic; returns whether it is another one."""
        self._file = path
        return self._read()

    def publish(self, text: str) -> bool:
        """Take what was published; returns whether the description is now another one."""
        self._published = text
        return self._read()

    def take_frames(self, transforms: Iterable[Any]) -> bool:
        """Take static transforms; returns whether the robot has other frames now."""
        if not self._frames.take(transforms) or self.robot is None:
            return False
        return self._add_frames(self.robot)

    def watch_frames(self, transforms: Iterable[Any]) -> bool:
        """Take transforms of /tf; returns whether the robot has other frames now."""
        if self.robot is None or not self._frames.watch(transforms, self.robot.frame_names):
            return False
        return self._add_frames(self.robot)

    def _add_frames(self, before: Robot) -> bool:
        self.robot = Robot.from_urdf(self._frames.add_to(self.text))
        return self.robot.frame_names != before.frame_names

    def may_move(self, frame: str) -> bool:
        """Whether a frame is missing, or comes from /tf, so that this is to be listened to."""
        return self.robot is not None and (frame not in self.robot.frame_names or self._frames.is_watched(frame))

    def check_frame(self, frame: str) -> None:
        """Refuse a frame of /tf that moves; RobotDescriptionError."""
        self._frames.check(frame)

    def _read(self) -> bool:
        text = self._published
        if self._file:
            try:
                text = UrdfFile.read(Path(self._file), "the parameter urdf").text
            except InertidError as error:
                self._report("broken_file", str(error))
                return False
        elif not text:
            self._report("no_description")
            return False
        changed = self.robot is None or text != self.text
        if changed:
            try:
                self.robot = Robot.from_urdf(self._frames.add_to(text))
            except Exception as error:  # noqa: BLE001 - whatever pinocchio makes of it, the node must live on
                self._report("broken_file" if self._file else "broken_description", str(error))
                return False
            self.text = text
        self._report("")
        return changed

    def _report(self, issue: str, detail: str = "") -> None:
        """Say what is wrong with the description now, and with that what no longer is; empty for nothing."""
        for code in _ISSUES:
            if code == issue:
                self._health.begin(SOURCE, code, detail)
            else:
                self._health.end(SOURCE, code)
