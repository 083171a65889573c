"""What the links' demonstration hears of estimator and driver, as any other ROS node would."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import rclpy
from rcl_interfaces.msg import Log
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from inertid_ros.cli.links_demo_arm import DemoArm
from inertid_ros.cli.links_demo_view import LinksSnapshot
from inertid_ros.core.records import FloatArray, JointBlock
from inertid_ros.ros.inputs import SAMPLES, joint_decoder


class LinksListener:
    """Subscribes to the estimate of the links and to the joint states.

    Attributes:
        node: its ROS node.
    """

    def __init__(self, arm: DemoArm) -> None:
        """Subscribe."""
        self.node = rclpy.create_node("demo")
        self._arm = arm
        self._values: FloatArray | None = None
        self._covariance: FloatArray | None = None
        self._states: tuple[str, ...] = ()
        self._lines: deque[str] = deque(maxlen=4)
        self._joint_states = joint_decoder()
        self.node.create_subscription(Float64MultiArray, "/inertid/links/base_parameters", self._on_parameters, 10)
        self.node.create_subscription(Float64MultiArray, "/inertid/links/base_covariance", self._on_covariance, 10)
        self.node.create_subscription(JointState, "/joint_states", self._joint_states.add, SAMPLES, raw=True)
        self.node.create_subscription(Log, "/rosout", self._on_log, 100)

    @property
    def hears_estimator(self) -> bool:
        """Whether the estimator is there."""
        return bool(self.node.count_publishers("/inertid/links/base_parameters") > 0)

    @property
    def is_ready(self) -> bool:
        """Whether estimates come in."""
        return self._values is not None and self._covariance is not None

    def take_joints(self) -> list[JointBlock]:
        """Return the joint states since the last call."""
        return self._joint_states.take()

    def take_snapshot(self, time: float) -> LinksSnapshot:
        """Return what was heard last; the phase is for the caller to fill in."""
        assert self._values is not None
        assert self._covariance is not None
        arm = self._arm
        return LinksSnapshot(
            time,
            "",
            arm.model.base.texts,
            arm.model.prior,
            arm.truth,
            self._values,
            self._covariance,
            self._states,
            tuple(self._lines),
        )

    def _on_parameters(self, message: Any) -> None:
        self._values = np.array(message.data)
        self._states = tuple(message.layout.dim[1].label.split(", "))

    def _on_covariance(self, message: Any) -> None:
        size = message.layout.dim[0].size
        self._covariance = np.array(message.data).reshape(size, size)

    def _on_log(self, message: Any) -> None:
        if message.name == "inertid":
            self._lines.append(message.msg)
