"""What the node publishes: for each sample what was predicted of it, now and then what is known.

Messages of the estimates are composed, and serialised, in the worker's thread; all are published in the executor's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from visualization_msgs.msg import MarkerArray

from inertid_ros.core.chain import Target
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.full_set import complete_links
from inertid_ros.core.records import Event, FloatArray, Output
from inertid_ros.core.rigid_body.description import RigidBodyEstimate
from inertid_ros.core.settings.choices import Reliability
from inertid_ros.ros.encode import EffortEncoder, WrenchEncoder
from inertid_ros.ros.markers import MarkerPainter
from inertid_ros.ros.messages import (
    base_covariance_message,
    base_parameters_message,
    covariance_message,
    event_message,
    inertia_is_known,
    inertia_message,
    known_body,
    links_message,
    parameters_message,
)
from inertid_ros.ros.task import Task

_WRENCH = 6
_MARKER_PERIODS = 3.0
"""Markers that are not renewed vanish after so many periods of the estimates."""

_LOOK_PERIOD = 20_000_000
"""Nanoseconds of samples after which it is looked again who listens: sooner than anybody could notice."""

Composed = list[tuple[Any, bytes]]
"""Serialised messages, each with its publisher."""


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


class Answered:
    """Which samples were answered, each of them once: on arrival where the chain can, else when it is processed."""

    def __init__(self) -> None:
        """Start with none."""
        self._processed = -1
        self._newest = -1

    def select_processed(self, output: Output) -> Output | None:
        """Those of the processed samples, in order of their stamps, that were not answered while they were waiting.

        Stamps that do not grow mean that time was set back: what was answered before counts no more.
        """
        stamps: list[int] = output.stamps.tolist()
        first = len(stamps)
        for index, stamp in enumerate(stamps):
            if stamp <= self._processed:
                self._newest = -1
            if stamp > self._newest:
                self._newest = stamp
                first = min(first, index)
            self._processed = stamp
        return _select(output, first)

    def select_waiting(self, output: Output) -> Output | None:
        """Those of the waiting samples that were not answered before; again, time may have been set back."""
        newest = output.stamps.item(-1)
        if newest < self._newest:
            self._processed = self._newest = -1
        first = 0
        if output.stamps.item(0) <= self._newest:
            first = int(output.stamps.searchsorted(self._newest, side="right"))
        self._newest = newest
        return _select(output, first)


def _select(output: Output, first: int) -> Output | None:
    """The samples of an output from one on; None for no samples."""
    if first == 0:
        return output
    if first == len(output.stamps):
        return None
    return output._replace(
        stamps=output.stamps[first:],
        measured=output.measured[first:],
        predicted=output.predicted[first:],
        usable=output.usable[first:],
    )


class SampleOutputs:
    """Predicted and residual wrenches and efforts of one task: a message for each sample, at its stamp.

    Attributes:
        newest: what came out last; None where there is none.
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
        """Publisher, whether of residuals, whether of wrenches: of all those that anybody listens to, for to publish
        costs more than to predict."""
        self._looked_at = -_LOOK_PERIOD
        self._frame = ""
        self._joints: tuple[str, ...] = ()
        self._wrench_encoder = WrenchEncoder("")
        self._effort_encoder = EffortEncoder(())
        self._withheld = 0
        self.newest: Output | None = None

    @property
    def withheld(self) -> int:
        """How many wrenches and efforts were not published because they were not finite."""
        return self._withheld + self._wrench_encoder.withheld + self._effort_encoder.withheld

    def publish(self, output: Output, frame: str, joints: tuple[str, ...]) -> None:
        """Publish prediction and residual of each sample.

        Args:
            output: wrenches are its first six channels, efforts its last.
            frame: of the wrenches.
            joints: of the efforts.
        """
        if frame != self._frame or joints != self._joints:
            self._withheld = self.withheld
            self._frame, self._joints = frame, joints
            self._wrench_encoder, self._effort_encoder = WrenchEncoder(frame), EffortEncoder(joints)
        stamps: list[int] = output.stamps.tolist()
        self.newest = output
        if not 0 <= stamps[0] - self._looked_at < _LOOK_PERIOD:
            self._looked_at = stamps[0]
            self._wanted = [one for one in self._all if one[0].get_subscription_count() > 0]
        for publisher, is_residual, is_wrench in self._wanted:
            numbers = output.residual if is_residual else output.predicted
            if is_wrench:
                for index, stamp in enumerate(stamps):
                    _publish(publisher, self._wrench_encoder.encode(stamp, numbers[index, :_WRENCH]))
            else:
                part = slice(-len(joints), None)
                for index, stamp in enumerate(stamps):
                    usable = output.usable[index, part] if is_residual else None
                    _publish(publisher, self._effort_encoder.encode(stamp, numbers[index, part], usable))
        self._publish_deviation(output)

    def _publish_deviation(self, output: Output) -> None:
        """Publish the standard deviations of predicted efforts, for the newest sample alone: they change with rows."""
        publisher, deviation = self._deviation, output.deviation
        if publisher is not None and deviation is not None and publisher.get_subscription_count() > 0:
            numbers = deviation[-len(self._joints) :]
            _publish(publisher, self._effort_encoder.encode(output.stamps.item(-1), numbers))


class EstimateOutputs:
    """What is known, as messages: only of what anybody listens to, for to judge and to compose them takes long."""

    def __init__(self, publishers: Publishers, task: Task, samples: SampleOutputs) -> None:
        """Create the publishers; for a load, wrenches of the samples are drawn."""
        topics = _LOAD_TOPICS if task.target is Target.LOAD else _LINKS_TOPICS
        self._topics = [(publishers.create(kind, topic), compose) for topic, kind, compose in topics]
        self._events = publishers.create(DiagnosticArray, "~/events") if task.target is Target.LOAD else None
        self._samples = samples

    @property
    def wanted(self) -> list[tuple[Any, _Compose]]:
        """The publishers that anybody listens to, with what composes their messages."""
        return [one for one in self._topics if one[0].get_subscription_count() > 0]

    def publish_event(self, event: Event, frame: str) -> None:
        """Publish what happened to the load, at once."""
        if self._events is not None:
            self._events.publish(event_message(event, frame))

    def prepare(self, estimate: LoadEstimate | LinksEstimate, period: float) -> list[Callable[[], Composed]]:
        """Return jobs that compose the messages of an estimate, in any thread.

        Args:
            estimate: what is known.
            period: seconds between two estimates.
        """
        newest, self._samples.newest = self._samples.newest, None
        context = _Context(estimate, newest, _MARKER_PERIODS * period)
        return [partial(_compose, publisher, compose, context) for publisher, compose in self.wanted]


class _Context:
    """An estimate, the newest output and the lifetime of markers [s]: all that messages are composed of."""

    def __init__(self, estimate: Any, newest: Output | None, lifetime: float) -> None:
        self.estimate = estimate
        self.newest = newest
        self.lifetime = lifetime

    @cached_property
    def body(self) -> RigidBodyEstimate | None:
        """The load, None until its mass and centre of mass are known."""
        return known_body(self.estimate)


_Compose = Callable[[_Context], Any]


def _compose(publisher: Any, compose: _Compose, context: _Context) -> Composed:
    message = compose(context)
    return [] if message is None else [(publisher, serialize_message(message))]


def _draw(context: _Context) -> MarkerArray:
    estimate, body, newest = context.estimate, context.body, context.newest
    arrows: tuple[FloatArray | None, FloatArray | None] = None, None
    if estimate.sensor is not None and newest is not None and np.isfinite(newest.residual[-1]).all():
        arrows = newest.predicted[-1], newest.residual[-1]
    known = body is not None and inertia_is_known(body)
    return MarkerPainter(estimate.frame, context.lifetime).paint(estimate.stamp, body, known, *arrows)


_LOAD_TOPICS: tuple[tuple[str, Any, _Compose], ...] = (
    ("~/load/parameters", Float64MultiArray, lambda c: parameters_message(c.estimate)),
    ("~/load/covariance", Float64MultiArray, lambda c: covariance_message(c.estimate, c.estimate.covariance)),
    ("~/load/repeatability", Float64MultiArray, lambda c: covariance_message(c.estimate, c.estimate.repeatability)),
    ("~/load/inertia", InertiaStamped, lambda c: c.body and inertia_message(c.estimate, c.body)),
    ("~/markers", MarkerArray, _draw),
)
_LINKS_TOPICS: tuple[tuple[str, Any, _Compose], ...] = (
    ("~/links/base_parameters", Float64MultiArray, lambda c: base_parameters_message(c.estimate)),
    ("~/links/base_covariance", Float64MultiArray, lambda c: base_covariance_message(c.estimate)),
    ("~/links/parameters", Float64MultiArray, lambda c: links_message(c.estimate, complete_links(c.estimate))),
)


def _publish(publisher: Any, message: bytes | None) -> None:
    if message is not None:
        publisher.publish(message)
