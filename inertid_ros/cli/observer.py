"""What `inertid guide`, `move` and `view` hear: estimator, robot and joints, as any other node would."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from inertid_ros.cli.demo.engine import Listener
from inertid_ros.cli.demo.view import Snapshot as View
from inertid_ros.core.errors import InertidError
from inertid_ros.core.input.inputs import rename_joints
from inertid_ros.core.records import EventKind
from inertid_ros.core.robot.robot import FramePath, Robot
from inertid_ros.files.urdf import UrdfFile
from inertid_ros.guide.dialogue import Snapshot, Status
from inertid_ros.ros.diagnostics import LEVELS
from inertid_ros.ros.inputs import DESCRIPTION, SAMPLES, joint_decoder
from inertid_ros.text.numbers import parameter_label

PARAMETERS = ("gravity", "urdf", "save_directory")
"""Of the estimator that are asked for."""


class Call:
    """A service of the estimator that was asked for."""

    def __init__(self, node: Node, service: str, data: bool | None) -> None:
        """Ask for it, with data where it takes any."""
        kind = Trigger if data is None else SetBool
        self._node, self._client = node, node.create_client(kind, service)
        self._future = self._client.call_async(kind.Request() if data is None else kind.Request(data=data))

    def take_answer(self) -> tuple[bool, str] | None:
        """Whether it did what was asked, and what it said, once; None while there is no answer."""
        if self._client is None or not self._future.done():
            return None
        self._node.destroy_client(self._client)
        self._client = None
        return bool(self._future.result().success), str(self._future.result().message)


class Observer(Listener):
    """Hears an estimator by its name, the joints and the robot description, and asks the estimator for services."""

    def __init__(self, estimator: str, node: Node | None = None) -> None:
        """Subscribe; a name without a slash in front is in this node's namespace."""
        node = rclpy.create_node("guide") if node is None else node
        labels = tuple(parameter_label(index) for index in range(10))
        super().__init__(
            f"{estimator}/load/parameters", f"{estimator}/load/covariance", View(labels, np.zeros(10)), node
        )
        self._estimator = estimator
        self._hardware = node.resolve_topic_name(estimator).lstrip("/")
        self.parameters: dict[str, Any] = {}
        self.contacts: list[str] = []
        self.robot: Robot | None = None
        self._robot_joints: tuple[str, ...] = ()
        self.description = ""
        self._statuses: dict[str, Status] = {}
        self._looks = 0
        self._stamp = 0
        self._joints: dict[str, float] = {}
        self._path: FramePath | None = None
        self._frame = ""
        self._asked: Any = None
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        node.create_subscription(DiagnosticArray, f"{estimator}/events", self._on_event, 10)
        self._decoder = joint_decoder()
        self._subscribe_joints()
        node.create_subscription(String, "robot_description", self._on_description, DESCRIPTION)
        predicted = f"{estimator}/load/wrench_predicted"
        self._predicted: Any = node.create_subscription(
            WrenchStamped, predicted, self._on_prediction, qos_profile_sensor_data
        )
        self._get = node.create_client(GetParameters, f"{estimator}/get_parameters")

    def _subscribe_joints(self) -> None:
        self.node.create_subscription(JointState, "joint_states", self._on_joints, SAMPLES, raw=True)

    def listen(self) -> Snapshot:
        """What is heard by now."""
        self._ask_parameters()
        if self._frame and self._predicted is not None:  # its frame is all that was wanted of it
            self.node.destroy_subscription(self._predicted)
            self._predicted = None
        if self._path is None and self.robot is not None and self._frame and "gravity" in self.parameters:
            try:
                self._path = self.robot.path_to(self._frame)
            except InertidError:
                pass  # the estimator says so, too, and what to do
        return Snapshot(
            time=1e-9 * self._stamp,
            joints=dict(self._joints),
            inputs={name: status for name, status in self._statuses.items() if name not in ("load", "links")},
            load=self._statuses.get("load"),
            path=self._path,
            gravity=np.array(self.parameters.get("gravity", np.zeros(3)), dtype=np.float64),
            states=self._latest.states,
            looks=self._looks,
        )

    @property
    def looks(self) -> int:
        """How many diagnostics have come."""
        return self._looks

    @property
    def links(self) -> Status | None:
        """What the diagnostics say of the links; None where they are not identified."""
        return self._statuses.get("links")

    @property
    def latest(self) -> View:
        """The estimate that was heard last."""
        return self._latest

    def call(self, service: str, data: bool | None = None) -> Call:
        """Ask the estimator for a service."""
        return Call(self.node, f"{self._estimator}/{service}", data)

    def _ask_parameters(self) -> None:
        if self.parameters or not self._get.service_is_ready():
            return
        if self._asked is None:
            self._asked = self._get.call_async(GetParameters.Request(names=list(PARAMETERS)))
        elif self._asked.done():
            gravity, urdf, directory = self._asked.result().values
            self.parameters = dict(
                zip(PARAMETERS, (gravity.double_array_value, urdf.string_value, directory.string_value), strict=True)
            )
            if urdf.string_value:
                self._describe(UrdfFile.read(Path(urdf.string_value), "the estimator's parameter urdf").text)

    def _on_diagnostics(self, message: Any) -> None:
        own = [status for status in message.status if status.hardware_id == self._hardware]
        self._looks += bool(own)
        words = {level: word for word, level in LEVELS.items()}
        for status in own:
            values = {item.key: item.value for item in status.values}
            source = status.name.removeprefix(f"{self._hardware}: ")
            self._statuses[source] = Status(words[status.level], status.message, values)

    def _on_event(self, message: Any) -> None:
        self.contacts += [one.message for one in message.status if one.name == EventKind.CONTACT_BEGAN]

    def _on_joints(self, data: bytes) -> None:
        block = self._decoder.decode(data)
        if block is None or not len(block.stamps):
            return
        names: Sequence[str] = block.names
        if self._robot_joints:
            names = rename_joints(names, self._robot_joints)
        self._joints.update(zip(names, block.positions[-1].tolist(), strict=False))
        self._stamp = int(block.stamps[-1])

    def _on_description(self, message: Any) -> None:
        if not self.parameters.get("urdf"):
            self._describe(message.data)

    def _describe(self, text: str) -> None:
        try:
            self.robot, self.description, self._path = Robot.from_urdf(text), text, None
            self._robot_joints = self.robot.joint_names
        except InertidError:
            pass  # the estimator says so, too, and what to do

    def _on_prediction(self, message: Any) -> None:
        self._frame = message.header.frame_id
