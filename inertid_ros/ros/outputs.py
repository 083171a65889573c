"""What the node publishes now and then: what is known.

Messages are composed, and serialised, in the worker's thread, and published in the executor's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property, partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import InertiaStamped, PoseWithCovarianceStamped
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64MultiArray, Header
from visualization_msgs.msg import MarkerArray

from inertid_ros.core.chain import Target
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.full_set import complete_links
from inertid_ros.core.records import Event, FloatArray
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, inertia_is_known
from inertid_ros.objects.held import Held
from inertid_ros.ros.answers import Publishers, SampleOutputs
from inertid_ros.ros.markers import MarkerPainter
from inertid_ros.ros.messages import (
    base_covariance_message,
    base_parameters_message,
    covariance_message,
    event_message,
    inertia_message,
    links_message,
    parameters_message,
    stamp_message,
)
from inertid_ros.ros.objects import grip_message, object_message
from inertid_ros.ros.session import Judged
from inertid_ros.ros.task import Task

_MARKER_PERIODS = 3.0
"""Markers that are not renewed vanish after so many periods of the estimates."""

Composed = list[tuple[Any, bytes | Exception | None]]
"""Publishers, each with its serialised message, why there is none, or None if there is nothing to say."""


_Newest = tuple[FloatArray, FloatArray]
"""What was measured and what was predicted at the newest sample."""


class EstimateOutputs:
    """What is known, as messages: only of what anybody listens to, for to judge and to compose them takes long."""

    def __init__(self, publishers: Publishers, task: Task, samples: SampleOutputs) -> None:
        """Create the publishers; for a load, wrenches of the samples are drawn."""
        topics = _LOAD_TOPICS if task.target is Target.LOAD else _LINKS_TOPICS
        self._topics = [(publishers.create(kind, topic), compose) for topic, kind, compose in topics]
        is_load = task.target is Target.LOAD
        self._events = publishers.create(DiagnosticArray, "~/events") if is_load else None
        self._object = publishers.create(DiagnosticArray, "~/object") if is_load else None
        self._grip = publishers.create(PoseWithCovarianceStamped, "~/object/grip") if is_load else None
        self._samples = samples
        self._painter = MarkerPainter()
        self._last: tuple[Hashable, list[Any], Composed] | None = None

    @property
    def wanted(self) -> list[tuple[Any, _Compose]]:
        """The publishers that anybody listens to, with what composes their messages."""
        return [one for one in self._topics if one[0].get_subscription_count() > 0]

    def publish_event(self, event: Event, frame: str) -> None:
        """Publish what happened to the load, at once."""
        if self._events is not None:
            self._events.publish(event_message(event, frame))

    def publish_held(self, held: Held, frame: str) -> None:
        """Publish what is held, and its grip where it is recognised."""
        if self._object is not None and self._grip is not None:
            self._object.publish(object_message(held, frame))
            if (grip := grip_message(held, frame)) is not None:
                self._grip.publish(grip)

    def find_last(self, known: Hashable) -> Composed | None:
        """The messages composed last, if no more is known since, and the same publishers are listened to."""
        if self._last is None or self._last[0] != known or self._last[1] != [publisher for publisher, _ in self.wanted]:
            return None
        return self._last[2]

    def keep(self, known: Hashable, composed: Composed) -> None:
        """Keep messages for as long as no more is known than this."""
        self._last = known, [publisher for publisher, _ in composed], composed

    def prepare(self, judge: Callable[[], Judged], period: float) -> Callable[[], tuple[Judged, Composed]]:
        """Return a job that judges an estimate and composes its messages, in any thread.

        Args:
            judge: gives the estimate.
            period: seconds between two estimates.
        """
        return partial(self._make, judge, self.wanted, self._samples.take_newest(), _MARKER_PERIODS * period)

    def _make(
        self, judge: Callable[[], Judged], wanted: list[tuple[Any, _Compose]], newest: _Newest | None, lifetime: float
    ) -> tuple[Judged, Composed]:
        judged = judge()
        if isinstance(judged, Exception) or not judged.is_finite:
            return judged, []
        context = _Context(judged, newest, self._painter, lifetime)
        return judged, [(publisher, _compose(compose, context)) for publisher, compose in wanted]


class _Context:
    """An estimate, the newest sample, markers and their lifetime [s]: all that messages are composed of."""

    def __init__(
        self,
        estimate: LoadEstimate | LinksEstimate,
        newest: _Newest | None,
        painter: MarkerPainter,
        lifetime: float,
    ) -> None:
        self.estimate: Any = estimate
        self.newest = newest
        self.painter = painter
        self.lifetime = lifetime

    @cached_property
    def body(self) -> RigidBodyEstimate | None:
        """The load, None until its mass and centre of mass are known."""
        body: RigidBodyEstimate | None = self.estimate.known_body
        return body


_Compose = Callable[[_Context], Any]


def _compose(compose: _Compose, context: _Context) -> bytes | Exception | None:
    try:
        message = compose(context)
        return None if message is None else serialize_message(message)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other messages must go out
        return error


def _draw(context: _Context) -> MarkerArray:
    estimate, body, newest = context.estimate, context.body, context.newest
    arrows: tuple[FloatArray | None, FloatArray | None] = None, None
    if estimate.sensor is not None and newest is not None:
        measured, predicted = newest
        if np.isfinite(measured - predicted).all():
            arrows = predicted, measured - predicted
    known = body is not None and inertia_is_known(body)
    header = Header(frame_id=estimate.frame, stamp=stamp_message(estimate.stamp))
    return context.painter.paint(header, context.lifetime, body, known, *arrows)


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
