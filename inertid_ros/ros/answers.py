"""Answers to samples: predicted and residual wrenches and efforts.

Messages are not composed: stamp and numbers are written into a copy of a serialised template.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from inertid_ros.core.records import BoolArray, FloatArray, Output
from inertid_ros.core.settings.choices import Reliability
from inertid_ros.messages.cdr_layout import ENCAPSULATION_SIZE, Layout, learn_joint_state, learn_wrench_stamped
from inertid_ros.ros.task import Task

_WRENCH = 6
_LOOK_PERIOD = 20_000_000
"""Nanoseconds of samples after which it is looked again who listens: sooner than anybody could notice."""


class Publishers:
    """The publishers of a lifecycle node, from configure to cleanup. They are silent unless the node is active."""

    def __init__(self, node: LifecycleNode, reliability: Reliability) -> None:
        """Create none yet; `reliability` is that of what goes out for every sample."""
        self._node = node
        policy = ReliabilityPolicy.RELIABLE if reliability is Reliability.RELIABLE else ReliabilityPolicy.BEST_EFFORT
        self._sample_qos = QoSProfile(depth=50, reliability=policy)
        self._publishers: list[Any] = []

    def create(self, message_type: Any, topic: str) -> Any:
        """Create a publisher of what goes out now and then."""
        return self._create(message_type, topic, 10)

    def create_for_samples(self, message_type: Any, topic: str) -> Any:
        """Create a publisher of what goes out for every sample."""
        return self._create(message_type, topic, self._sample_qos)

    def destroy(self) -> None:
        """Take the publishers down."""
        for publisher in self._publishers:
            self._node.destroy_lifecycle_publisher(publisher)

    def _create(self, message_type: Any, topic: str, qos: Any) -> Any:
        publisher = self._node.create_lifecycle_publisher(message_type, topic, qos)
        self._publishers.append(publisher)
        return publisher


_SECOND = 1_000_000_000


class _Template:
    """One serialised message, in which the stamp and the numbers of one field are written."""

    def __init__(self, message: Any, learn: Callable[[bytes], Layout], field: str) -> None:
        """Take what the middleware's own encoder makes of a message, and where its layout has the field."""
        data = serialize_message(message)
        fields = learn(data).dtype.fields
        assert fields is not None
        numbers, start = fields[field][:2]
        self._head, self._middle = data[:ENCAPSULATION_SIZE], data[ENCAPSULATION_SIZE + 8 : start]
        self._end = data[start + numbers.itemsize :]
        order, count = "<" if data[1] else ">", numbers.itemsize // 8
        self._format = struct.Struct(f"{order}{ENCAPSULATION_SIZE}siI{len(self._middle)}s{count}d{len(self._end)}s")

    def fill(self, stamp: int, numbers: Sequence[float]) -> bytes:
        """Return a message with a stamp [ns] and its numbers."""
        return self._format.pack(self._head, *divmod(stamp, _SECOND), self._middle, *numbers, self._end)


class WrenchEncoder:
    """Makes WrenchStamped messages, all in one frame.

    Attributes:
        withheld: how many wrenches were not encoded because they had a NaN or an infinity.
    """

    def __init__(self, frame: str) -> None:
        """Make the template."""
        message = WrenchStamped()
        message.header.frame_id = frame
        self._template = _Template(message, learn_wrench_stamped, "wrench")
        self.withheld = 0

    def encode(self, stamp: int, numbers: Sequence[float]) -> bytes | None:
        """Return the message of a stamp [ns] and the six numbers of a wrench [N, Nm]; None if it is not finite."""
        if not math.isfinite(sum(numbers)):
            self.withheld += 1
            return None
        return self._template.fill(stamp, numbers)


class EffortEncoder:
    """Makes JointState messages that have efforts only, of joints that may differ from sample to sample.

    Attributes:
        withheld: how many efforts were left out although they were wanted, because they were not finite.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        """Set the n joints."""
        self._joints = np.array(joints, dtype=object)
        self._templates: dict[bytes, _Template] = {}
        self._whole = self._find_template(np.ones(len(joints), dtype=bool))
        self.withheld = 0

    def encode(self, stamp: int, efforts: FloatArray, wanted: BoolArray | None = None) -> bytes | None:
        """Return the message of one sample; None if no joint is left.

        Args:
            stamp: nanoseconds.
            efforts: (n,) [Nm, N].
            wanted: (n,) which of them are to be in the message; None for all.
        """
        if wanted is None or wanted.all():
            message = self.encode_all(stamp, efforts.tolist())
            if message is not None:
                return message
            wanted = np.ones(len(efforts), dtype=bool)
        present = wanted & np.isfinite(efforts)
        self.withheld += int(np.count_nonzero(wanted & ~present))
        return self._find_template(present).fill(stamp, efforts[present].tolist()) if present.any() else None

    def encode_all(self, stamp: int, numbers: Sequence[float]) -> bytes | None:
        """Return the message of all joints; None if their efforts are not all finite."""
        return self._whole.fill(stamp, numbers) if math.isfinite(sum(numbers)) else None

    def _find_template(self, joints: BoolArray) -> _Template:
        key = joints.tobytes()
        if key not in self._templates:
            message = JointState(name=self._joints[joints].tolist(), effort=[0.0] * int(np.count_nonzero(joints)))
            self._templates[key] = _Template(message, learn_joint_state, "effort")
        return self._templates[key]


class SampleOutputs:
    """Predicted and residual wrenches and efforts of one task: a message for each sample, at its stamp.

    Attributes:
        generation: counts the chains that all this comes of.
        thinned: how many samples were passed over.
    """

    def __init__(self, publishers: Publishers, task: Task) -> None:
        """Create the publishers of what the task predicts."""
        self._all = [
            (publishers.create_for_samples(kind, f"{start}_{what}"), what == "residual", kind is WrenchStamped)
            for kind, start in ((WrenchStamped, task.wrenches), (JointState, task.efforts))
            for what in ("predicted", "residual")
            if start
        ]
        self._deviation = (
            publishers.create_for_samples(JointState, f"{task.efforts}_deviation") if task.efforts else None
        )
        self._wanted: list[tuple[Any, bool, bool]] = []
        """What publishes, whether residuals, whether wrenches: of all that anybody listens to, for to publish costs
        more than to predict. Not the publishers' own methods, which check again for each message whether the node is
        active and of what type the message is."""
        self._looked_at = -_LOOK_PERIOD
        self._efforts = slice(0)
        self._wrench_encoder = WrenchEncoder("")
        self._effort_encoder = EffortEncoder(())
        self._withheld = self._since_published = 0
        self.thinned = 0
        self._newest: tuple[FloatArray | list[float], FloatArray | list[float]] | None = None
        self.generation = 0

    @property
    def withheld(self) -> int:
        """How many wrenches and efforts were not published because they were not finite."""
        return self._withheld + self._wrench_encoder.withheld + self._effort_encoder.withheld

    def start(self, generation: int, frame: str, joints: tuple[str, ...]) -> None:
        """Publish what comes of a new chain: wrenches in a frame, and efforts of some joints."""
        self.generation = generation
        self._withheld = self.withheld
        self._wrench_encoder, self._effort_encoder = WrenchEncoder(frame), EffortEncoder(joints)
        self._efforts = slice(-len(joints), None)

    def publish(self, output: Output, stride: int = 1) -> None:
        """Publish prediction and residual of each sample: wrenches are the first six channels, efforts the last.

        With a stride, of so many samples one.
        """
        stamps: list[int] = output.stamps.tolist()
        self._newest = output.measured[-1], output.predicted[-1]
        if not 0 <= stamps[0] - self._looked_at < _LOOK_PERIOD:
            self._look(stamps[0])
        chosen = range(len(stamps)) if stride == 1 else self._choose(len(stamps), stride)
        for publish, is_residual, is_wrench in self._wanted:
            numbers = output.residual if is_residual else output.predicted
            for index in chosen:
                stamp = stamps[index]
                if is_wrench:
                    message = self._wrench_encoder.encode(stamp, numbers[index, :_WRENCH].tolist())
                else:
                    usable = output.usable[index, self._efforts] if is_residual else None
                    message = self._effort_encoder.encode(stamp, numbers[index, self._efforts], usable)
                if message is not None:
                    publish(message)
        if chosen and output.deviation is not None:
            self._publish_deviation(stamps[-1], output.deviation)

    def publish_sample(
        self, stamp: int, measured: list[float], predicted: list[float], deviation: FloatArray | None
    ) -> None:
        """Publish the same of one sample, all of whose readings are usable and predictions finite."""
        self._newest = measured, predicted
        if not 0 <= stamp - self._looked_at < _LOOK_PERIOD:
            self._look(stamp)
        for publish, is_residual, is_wrench in self._wanted:
            numbers = predicted
            if is_residual:
                numbers = [value - expected for value, expected in zip(measured, predicted, strict=True)]
            if is_wrench:
                message = self._wrench_encoder.encode(stamp, numbers[:_WRENCH])
            else:
                message = self._effort_encoder.encode_all(stamp, numbers[self._efforts])
            if message is not None:
                publish(message)
        if deviation is not None:
            self._publish_deviation(stamp, deviation)

    def take_newest(self) -> tuple[FloatArray, FloatArray] | None:
        """Measured and predicted numbers of the newest sample, once; None if there is none."""
        newest, self._newest = self._newest, None
        return None if newest is None else (np.array(newest[0]), np.array(newest[1]))

    def _look(self, stamp: int) -> None:
        """Look who listens."""
        self._looked_at = stamp
        self._wanted = [
            (publisher.handle.publish_raw, is_residual, is_wrench)
            for publisher, is_residual, is_wrench in self._all
            if publisher.get_subscription_count() > 0
        ]

    def _choose(self, count: int, stride: int) -> range:
        """Which of the next samples are published: one after so many that were not."""
        chosen = range(max(stride - 1 - self._since_published, 0), count, stride)
        self._since_published = count - 1 - chosen[-1] if chosen else self._since_published + count
        self.thinned += count - len(chosen)
        return chosen

    def _publish_deviation(self, stamp: int, deviation: FloatArray) -> None:
        """Publish the standard deviations of predicted efforts, for the newest sample alone: they change with rows."""
        publisher = self._deviation
        if publisher is not None and publisher.get_subscription_count() > 0:
            message = self._effort_encoder.encode(stamp, deviation[self._efforts])
            if message is not None:
                publisher.publish(message)
