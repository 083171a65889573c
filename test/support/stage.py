"""A driven arm in a ROS graph of its own whose time is simulated: as fast as the machine can, and no faster."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from inertid_ros.motions.trajectory import TOPIC, TYPE, Trajectory, fill_message
from inertid_ros.ros.driver_node import SimulatedDriver
from inertid_ros.ros.messages import TRAJECTORY_TYPES
from inertid_ros.ros.runtime import make_executor
from support.bags import JOINTS, Message

STEP = 50_000_000
"""Nanoseconds of simulated time between two messages on /clock."""
PATIENCE = 60.0
"""Seconds after which something that has not happened will not happen."""
SECOND = 1_000_000_000


class Stage:
    """A driven arm, and a listener that is the clock and the recorder."""

    def __init__(self, **parameters: Any) -> None:
        given = {**parameters, "motion": "driven", "use_sim_time": True}
        overrides = [Parameter(name, value=value) for name, value in given.items()]
        self.driver = SimulatedDriver(parameter_overrides=overrides)
        self.listener = Node("listener")
        self.executor = make_executor(self.listener)
        for node in (self.driver, self.listener):
            self.executor.add_node(node)
        self.joints: list[JointState] = []
        self.listener.create_subscription(JointState, "joint_states", self.joints.append, QoSProfile(depth=1000))
        self._clock = self.listener.create_publisher(Clock, "/clock", 10)
        self._sender = self.listener.create_publisher(JointTrajectory, "joint_trajectory", 10)
        self._commands = self.listener.create_publisher(Float64MultiArray, "effort_commands", 10)
        self.now = self._begin = 100 * SECOND
        publishers = self._clock, self._sender, self._commands
        self._wait(lambda: all(publisher.get_subscription_count() > 0 for publisher in publishers))
        self.executor.spin_until_future_complete(Future(), timeout_sec=0.2)
        self.run(0.5)

    def _wait(self, condition: Any) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "waited in vain"
            self.executor.spin_until_future_complete(Future(), timeout_sec=0.005)

    def _has_caught_up(self) -> bool:
        """Whether samples have come up to three steps ago, if the arm was there then."""
        due = self.now - 3 * STEP
        return due < self._begin or (bool(self.joints) and stamp_of(self.joints[-1]) >= due)

    def run(self, seconds: float) -> None:
        """Let simulated time pass, and what is sent in it arrive."""
        for _ in range(round(seconds * SECOND / STEP)):
            self.now += STEP
            message = Clock()
            message.clock.sec, message.clock.nanosec = divmod(self.now, SECOND)
            self._clock.publish(message)
            self._wait(lambda: self.driver.get_clock().now().nanoseconds == self.now)
            self._wait(self._has_caught_up)

    def send(self, trajectory: Trajectory) -> None:
        """Send a trajectory as it is, and let it arrive."""
        self._sender.publish(fill_message(trajectory, TRAJECTORY_TYPES))
        self.executor.spin_until_future_complete(Future(), timeout_sec=0.2)

    def push(self, efforts: list[float]) -> None:
        """Send raw efforts, and let them arrive."""
        self._commands.publish(Float64MultiArray(data=efforts))
        self.executor.spin_until_future_complete(Future(), timeout_sec=0.2)

    def perform(self, trajectory: Trajectory) -> list[Message]:
        """Follow a trajectory from half a second ahead; what was recorded of it."""
        sent = fill_message(replace(trajectory, stamp=self.now + SECOND // 2), TRAJECTORY_TYPES)
        first = len(self.joints)
        self._sender.publish(sent)
        self.run(trajectory.duration + 1.2)
        recorded = [(TOPIC, TYPE, stamp_of(self.joints[first]), serialize_message(sent))]
        recorded += [("/joint_states", JOINTS, stamp_of(one), serialize_message(one)) for one in self.joints[first:]]
        return recorded

    def close(self) -> None:
        """Take the nodes apart."""
        for node in (self.driver, self.listener):
            self.executor.remove_node(node)
            node.destroy_node()


def stamp_of(message: JointState) -> int:
    return int(message.header.stamp.sec * SECOND + message.header.stamp.nanosec)
