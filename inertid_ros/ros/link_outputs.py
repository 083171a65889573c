"""What the node publishes of the links."""

from __future__ import annotations

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.link_records import LinkEstimate, LinkOutput
from inertid_ros.core.records import BoolArray, FloatArray, IntArray
from inertid_ros.ros.encode import EffortEncoder, WrenchEncoder
from inertid_ros.ros.link_messages import base_covariance_message, base_parameters_message, links_message
from inertid_ros.ros.publishers import Publishers

_WRENCH = 6


class LinkOutputs:
    """Parameters of the links, and for every sample what they predict of what is measured."""

    def __init__(self, publishers: Publishers, source: str) -> None:
        """Create the publishers that belong to a source: effort, base_wrench or both."""
        self._parameters = publishers.create(Float64MultiArray, "~/links/parameters")
        self._base_parameters = publishers.create(Float64MultiArray, "~/links/base_parameters")
        self._base_covariance = publishers.create(Float64MultiArray, "~/links/base_covariance")
        self._has_base, self._has_efforts = source != "effort", source != "base_wrench"
        if self._has_efforts:
            self._effort_predicted = publishers.create_for_samples(JointState, "~/links/effort_predicted")
            self._effort_residual = publishers.create_for_samples(JointState, "~/links/effort_residual")
        if self._has_base:
            self._wrench_predicted = publishers.create_for_samples(WrenchStamped, "~/base/wrench_predicted")
            self._wrench_residual = publishers.create_for_samples(WrenchStamped, "~/base/wrench_residual")
        self._model: LinkModel | None = None
        self._wrenches = WrenchEncoder("")
        self._efforts = EffortEncoder(())
        self._withheld = 0

    @property
    def withheld(self) -> int:
        """How many results were not published because they were not finite."""
        return self._withheld + self._wrenches.withheld + self._efforts.withheld

    @property
    def are_bodies_wanted(self) -> bool:
        """Whether anybody listens to the parameters of the links: to find them takes longer than all the rest."""
        return bool(self._parameters.get_subscription_count() > 0)

    def publish_samples(self, model: LinkModel, base_frame: str, output: LinkOutput) -> None:
        """Publish prediction and residual of each sample, at its stamp."""
        if model is not self._model:
            self._withheld = self.withheld
            self._model = model
            self._wrenches, self._efforts = WrenchEncoder(base_frame), EffortEncoder(model.arm.joint_names)
        residual = output.measured - output.predicted
        first = 0
        if self._has_base:
            first = _WRENCH
            self._publish_wrenches(output.stamps, output.predicted[:, :first], residual[:, :first])
        if self._has_efforts:
            part = slice(first, None)
            self._publish_efforts(output.stamps, output.predicted[:, part], residual[:, part], output.usable[:, part])

    def _publish_wrenches(self, stamps: IntArray, predicted: FloatArray, residual: FloatArray) -> None:
        for publisher, wrenches in ((self._wrench_predicted, predicted), (self._wrench_residual, residual)):
            for message in self._wrenches.encode(stamps, wrenches):
                publisher.publish(message)

    def _publish_efforts(
        self, stamps: IntArray, predicted: FloatArray, residual: FloatArray, usable: BoolArray
    ) -> None:
        for message in self._efforts.encode(stamps, predicted):
            self._effort_predicted.publish(message)
        for message in self._efforts.encode(stamps, residual, usable):
            self._effort_residual.publish(message)

    def publish_estimate(self, estimate: LinkEstimate, full: FloatArray | None) -> None:
        """Publish what is known of the links; `full` is the full set (F,), or None to leave it out."""
        self._base_parameters.publish(base_parameters_message(estimate))
        self._base_covariance.publish(base_covariance_message(estimate))
        if full is not None:
            self._parameters.publish(links_message(estimate, full))
