"""What the demonstration hears of the estimator, as any other ROS node would."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import rclpy
from rcl_interfaces.msg import Log
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool

from inertid_ros.cli.demo_view import Snapshot
from inertid_ros.core.records import FloatArray


class DemoListener:
    """Subscribes to the estimate and asks the driver to attach and release the load.

    Attributes:
        node: its ROS node.
        parameters: (10,), or None before the first.
        covariance: (10, 10), or None before the first.
        states: of each parameter.
        lines: the newest lines of the estimator's log.
    """

    def __init__(self) -> None:
        """Subscribe."""
        self.node = rclpy.create_node("demo")
        self.parameters: FloatArray | None = None
        self.covariance: FloatArray | None = None
        self.states: tuple[str, ...] = ()
        self.lines: deque[str] = deque(maxlen=4)
        self.node.create_subscription(Float64MultiArray, "/inertid/load/parameters", self._on_parameters, 10)
        self.node.create_subscription(Float64MultiArray, "/inertid/load/covariance", self._on_covariance, 10)
        self.node.create_subscription(Log, "/rosout", self._on_log, 100)
        self._attach = self.node.create_client(SetBool, "/simulated_driver/attach")

    @property
    def hears_estimator(self) -> bool:
        """Whether the estimator is there."""
        return bool(self.node.count_publishers("/inertid/load/parameters") > 0)

    @property
    def is_ready(self) -> bool:
        """Whether estimates come in and the driver can be asked."""
        return self.parameters is not None and self.covariance is not None and self._attach.service_is_ready()

    def take_snapshot(self, time: float) -> Snapshot:
        """Return what was heard last; the phase and the truth are for the caller to fill in."""
        assert self.parameters is not None
        assert self.covariance is not None
        return Snapshot(time, "", np.zeros(10), self.parameters, self.covariance, self.states, tuple(self.lines))

    def attach(self, attached: bool) -> None:
        """Ask the driver to attach or release the load; the estimator is not told."""
        self._attach.call_async(SetBool.Request(data=attached))

    def _on_parameters(self, message: Any) -> None:
        self.parameters = np.array(message.data)
        self.states = tuple(message.layout.dim[1].label.split(", "))

    def _on_covariance(self, message: Any) -> None:
        self.covariance = np.array(message.data).reshape(10, 10)

    def _on_log(self, message: Any) -> None:
        if message.name == "inertid":
            self.lines.append(message.msg)
