"""What the node publishes: for each sample what was predicted of it, now and then what is known.

Messages of the estimates are composed, and serialised, in the worker's thread; all are published in the executor's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.full_set import complete_links
from inertid_ros.core.records import Event, FloatArray, Output
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
        first = int(np.searchsorted(output.stamps, self._newest, side="right"))
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
        self._wrenches = _create_pair(publishers, WrenchStamped, task.wrenches)
        self._efforts = _create_pair(publishers, JointState, task.efforts)
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
        if self._wrenches is not None:
            for publisher, wrenches in self._list_wanted(self._wrenches, output):
                for index, stamp in enumerate(stamps):
                    _publish(publisher, self._wrench_encoder.encode(stamp, wrenches[index, :_WRENCH]))
        if self._efforts is not None:
            part = slice(-len(joints), None)
            for publisher, efforts in self._list_wanted(self._efforts, output):
                usable = output.usable if publisher is self._efforts[1] else None
                for index, stamp in enumerate(stamps):
                    wanted = None if usable is None else usable[index, part]
                    _publish(publisher, self._effort_encoder.encode(stamp, efforts[index, part], wanted))

    def _list_wanted(self, pair: tuple[Any, Any], output: Output) -> Iterator[tuple[Any, FloatArray]]:
        """Of prediction and residual those that anybody listens to: to publish costs more than to predict."""
        predicted, residual = pair
        if predicted.get_subscription_count() > 0:
            yield predicted, output.predicted
        if residual.get_subscription_count() > 0:
            yield residual, output.residual


class LoadOutputs:
    """What is known of the load, and its markers."""

    def __init__(self, publishers: Publishers, samples: SampleOutputs) -> None:
        """Create the publishers; wrenches of the samples are drawn."""
        self._inertia = publishers.create(InertiaStamped, "~/load/inertia")
        self._parameters = publishers.create(Float64MultiArray, "~/load/parameters")
        self._covariance = publishers.create(Float64MultiArray, "~/load/covariance")
        self._repeatability = publishers.create(Float64MultiArray, "~/load/repeatability")
        self._events = publishers.create(DiagnosticArray, "~/events")
        self._markers = publishers.create(MarkerArray, "~/markers")
        self._samples = samples

    def publish_event(self, event: Event, frame: str) -> None:
        """Publish what happened to the load, at once."""
        self._events.publish(event_message(event, frame))

    def prepare(self, estimate: LoadEstimate, period: float) -> list[Callable[[], Composed]]:
        """Return jobs that compose the messages of an estimate, in any thread.

        Args:
            estimate: what is known.
            period: seconds between two estimates.
        """
        newest, self._samples.newest = self._samples.newest, None
        newest = None if estimate.sensor is None else newest
        is_drawn = self._markers.get_subscription_count() > 0

        def compose() -> Composed:
            composed = [
                (self._parameters, parameters_message(estimate)),
                (self._covariance, covariance_message(estimate, estimate.covariance)),
                (self._repeatability, covariance_message(estimate, estimate.repeatability)),
            ]
            body = known_body(estimate)
            if body is not None:
                composed.append((self._inertia, inertia_message(estimate, body)))
            if is_drawn:
                painter = MarkerPainter(estimate.frame, _MARKER_PERIODS * period)
                known = body is not None and inertia_is_known(body)
                arrows = (None, None) if newest is None else _find_arrows(newest)
                composed.append((self._markers, painter.paint(estimate.stamp, body, known, *arrows)))
            return _serialise(composed)

        return [compose]


class LinksOutputs:
    """What is known of the links."""

    def __init__(self, publishers: Publishers) -> None:
        """Create the publishers."""
        self._parameters = publishers.create(Float64MultiArray, "~/links/parameters")
        self._base_parameters = publishers.create(Float64MultiArray, "~/links/base_parameters")
        self._base_covariance = publishers.create(Float64MultiArray, "~/links/base_covariance")

    def prepare(self, estimate: LinksEstimate, _: float) -> list[Callable[[], Composed]]:
        """Return jobs that compose the messages of an estimate, in any thread.

        The feasible completion is found only if anybody listens to it: that takes longer than all the rest.
        """

        def compose() -> Composed:
            return _serialise(
                [
                    (self._base_parameters, base_parameters_message(estimate)),
                    (self._base_covariance, base_covariance_message(estimate)),
                ]
            )

        def complete() -> Composed:
            return _serialise([(self._parameters, links_message(estimate, complete_links(estimate)))])

        return [compose, complete] if self._parameters.get_subscription_count() > 0 else [compose]


def _create_pair(publishers: Publishers, kind: Any, start: str) -> tuple[Any, Any] | None:
    """Publishers of prediction and residual, None where the topics have no name."""
    if not start:
        return None
    predicted = publishers.create_for_samples(kind, f"{start}_predicted")
    return predicted, publishers.create_for_samples(kind, f"{start}_residual")


def _find_arrows(output: Output) -> tuple[FloatArray | None, FloatArray | None]:
    """Predicted and residual wrench (6,) of the newest sample, to be drawn; None where they are not finite."""
    predicted, residual = output.predicted[-1], output.residual[-1]
    return (predicted, residual) if np.isfinite(residual).all() else (None, None)


def _publish(publisher: Any, message: bytes | None) -> None:
    if message is not None:
        publisher.publish(message)


def _serialise(composed: list[tuple[Any, Any]]) -> Composed:
    return [(publisher, serialize_message(message)) for publisher, message in composed]
