"""The simulated direct drive arm practises the trajectory of table 6.1 over ROS, by the commands of the README."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
import yaml
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from support.bags import JOINTS, Message, joint_messages, text_message, write_bag
from trajectory_msgs.msg import JointTrajectory

from inertid_ros.cli.main import main
from inertid_ros.motions.motion import MinimumJerk, with_rest
from inertid_ros.motions.trajectory import (
    TOPIC,
    TYPE,
    Trajectory,
    fill_message,
    read_trajectory,
    sample_motion,
    write_trajectory,
)
from inertid_ros.ros.driver_node import SimulatedDriver
from inertid_ros.ros.messages import TRAJECTORY_TYPES
from inertid_ros.ros.runtime import make_executor
from inertid_ros.sim.scenario import ScenarioSettings, build_simulator, read_urdf

NAMES = ("joint1", "joint2", "joint3")
POSE = [0.5, 5.0, 4.0]
MOVE = MinimumJerk([POSE, [4.5, 1.0, -0.5]], [1.5])
ARM: dict[str, Any] = {
    "robot": "ddarm",
    "links": "paper",
    "load": "none",
    "tachometer": True,
    "velocity_noise": 0.01,
    "effort": True,
    "effort_noise": [0.0],
    "joint_rate": 500.0,
    "viscous_friction": [0.66, 0.23, 0.23],
    "coulomb_friction": [6.6, 2.3, 2.3],
}
STEP = 50_000_000
"""Nanoseconds of simulated time between two messages on /clock."""
PATIENCE = 30.0
SECOND = 1_000_000_000


class Stage:
    """A driven arm, and a listener that is the clock and the recorder."""

    def __init__(self) -> None:
        parameters = {**ARM, "motion": "driven", "pose": POSE, "drive_noise": [1.3, 0.46, 0.46], "use_sim_time": True}
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        self.driver = SimulatedDriver(parameter_overrides=overrides)
        self.listener = Node("listener")
        self.executor = make_executor(self.listener)
        for node in (self.driver, self.listener):
            self.executor.add_node(node)
        self.joints: list[JointState] = []
        self.listener.create_subscription(JointState, "joint_states", self.joints.append, QoSProfile(depth=1000))
        self._clock = self.listener.create_publisher(Clock, "/clock", 10)
        self._sender = self.listener.create_publisher(JointTrajectory, "joint_trajectory", 10)
        self.now = self._begin = 100 * SECOND
        self._wait(lambda: self._clock.get_subscription_count() > 0 and self._sender.get_subscription_count() > 0)
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
        for node in (self.driver, self.listener):
            self.executor.remove_node(node)
            node.destroy_node()


def stamp_of(message: JointState) -> int:
    return int(message.header.stamp.sec * SECOND + message.header.stamp.nanosec)


def identify(folder: Path) -> Path:
    """The estimate of the arm, from its own recording, without friction in the model, as in the thesis."""
    simulator = build_simulator(ScenarioSettings(**{**ARM, "effort_noise": [2.0]}, motion="paper_link_moves"))
    messages = list(joint_messages(simulator.joints(0.01, 14.0)))
    bag = write_bag(folder / "bag", [text_message(read_urdf("ddarm"), messages[0][2]), *messages])
    drives = dict.fromkeys(("viscous", "coulomb", "rotor_inertia", "offset"), False)
    content = {"estimators": ["links"], "links": {"effort_unit": "newton_metre", **drives}}
    (folder / "arm.yaml").write_text(yaml.safe_dump({"/**": {"ros__parameters": content}}))
    main(["replay", str(bag), "--params", str(folder / "arm.yaml"), "-o", str(folder / "result")])
    return folder / "result" / "estimate.json"


@pytest.mark.long
def test_three_practice_movements_bring_the_velocity_error_to_the_noise(
    ros_domain: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arm = identify(tmp_path)
    rested = with_rest(MOVE, 0.5, 0.3)
    back = with_rest(MOVE.reversed(), 0.3, 0.3)
    for name, motion in (("there", rested), ("back", back)):
        plain = sample_motion(motion, NAMES)
        (tmp_path / name).mkdir()
        write_trajectory(tmp_path / name, plain)
        output = tmp_path / f"{name}_filled"
        assert main(["feedforward", str(tmp_path / name), "--arm", str(arm), "-o", str(output)]) == 0
    rclpy.init(args=[], domain_id=ros_domain)
    stage = Stage()
    bags: list[str] = []
    try:
        following = read_trajectory(tmp_path / "there_filled")
        for number in range(4):
            bags.append(str(write_bag(tmp_path / f"trial{number}", stage.perform(following))))
            stage.perform(read_trajectory(tmp_path / "back_filled"))
            output = tmp_path / f"next{number}"
            capfd.readouterr()
            assert main(["practise", *bags, "--arm", str(arm), "-o", str(output)]) == 0
            following = read_trajectory(output)
    finally:
        stage.close()
        rclpy.shutdown()
    said = capfd.readouterr().out
    assert "more practice cannot improve it" in said
    assert "practice converges" in said
    assert np.isfinite(following.path.positions).all()
