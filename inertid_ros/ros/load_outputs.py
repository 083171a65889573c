"""What the node publishes of the load."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from visualization_msgs.msg import MarkerArray

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.link_records import LinkOutput
from inertid_ros.core.load_chain import LoadEstimate, LoadOutput
from inertid_ros.core.records import FloatArray
from inertid_ros.ros.encode import EffortEncoder, WrenchEncoder
from inertid_ros.ros.markers import MarkerPainter
from inertid_ros.ros.messages import (
    covariance_message,
    inertia_is_known,
    inertia_message,
    known_body,
    parameters_message,
)
from inertid_ros.ros.publishers import Publishers


class LoadOutputs:
    """The load, its wrenches and its markers."""

    def __init__(self, publishers: Publishers, source: str) -> None:
        """Create the publishers that belong to a source: wrench or effort."""
        self._inertia = publishers.create(InertiaStamped, "~/load/inertia")
        self._parameters = publishers.create(Float64MultiArray, "~/load/parameters")
        self._covariance = publishers.create(Float64MultiArray, "~/load/covariance")
        kind, what = (WrenchStamped, "wrench") if source == "wrench" else (JointState, "effort")
        self._predicted = publishers.create_for_samples(kind, f"~/load/{what}_predicted")
        self._residual = publishers.create_for_samples(kind, f"~/load/{what}_residual")
        self._markers = publishers.create(MarkerArray, "~/markers")
        self._encoder = WrenchEncoder("")
        self._frame = ""
        self._efforts = EffortEncoder(())
        self._model: LinkModel | None = None
        self._newest: tuple[FloatArray, FloatArray] | None = None

    @property
    def withheld(self) -> int:
        """How many wrenches were not published because they were not finite."""
        return self._encoder.withheld + self._efforts.withheld

    def publish_wrenches(self, frame: str, output: LoadOutput) -> None:
        """Publish prediction and residual of each wrench, at its stamp."""
        if frame != self._frame:
            self._encoder, self._frame = WrenchEncoder(frame), frame
        for publisher, wrenches in ((self._predicted, output.predicted), (self._residual, output.residual)):
            for message in self._encoder.encode(output.stamps, wrenches):
                publisher.publish(message)
        self._newest = output.predicted[-1], output.residual[-1]

    def publish_efforts(self, model: LinkModel, output: LinkOutput) -> None:
        """Publish prediction and residual of each joint state's efforts, of arm and load together."""
        if model is not self._model:
            self._efforts, self._model = EffortEncoder(model.arm.joint_names), model
        part = slice(-len(model.arm.joint_names), None)
        predicted, usable = output.predicted[:, part], output.usable[:, part]
        for message in self._efforts.encode(output.stamps, predicted):
            self._predicted.publish(message)
        for message in self._efforts.encode(output.stamps, output.measured[:, part] - predicted, usable):
            self._residual.publish(message)

    def publish_estimate(self, estimate: LoadEstimate, lifetime: float) -> None:
        """Publish what is known of the load; markers live for `lifetime` seconds."""
        self._parameters.publish(parameters_message(estimate))
        self._covariance.publish(covariance_message(estimate))
        body = known_body(estimate)
        if body is not None:
            self._inertia.publish(inertia_message(estimate, body))
        if self._markers.get_subscription_count() == 0:
            return  # to draw them takes longer than all the rest
        predicted, residual = self._take_newest()
        painter = MarkerPainter(estimate.sensor_frame, lifetime)
        markers = painter.paint(estimate.stamp, body, inertia_is_known(estimate), predicted, residual)
        self._markers.publish(markers)

    def _take_newest(self) -> tuple[FloatArray | None, FloatArray | None]:
        """The wrenches to draw: none where nothing came since the last time."""
        newest, self._newest = self._newest, None
        if newest is None or not np.isfinite(newest).all():
            return None, None
        return newest
