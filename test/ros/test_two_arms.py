"""Two arms in one graph: one description with prefixed joints, one topic of joint states, and a node for each arm."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rclpy.context import Context
from rclpy.experimental import EventsExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger
from support.bench import PATIENCE
from support.chain import BAR, PUMA, puma_motion, simulate_puma

from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.ros.node import EstimatorNode

LOADS = {"left": BAR, "right": load_from_yaml(share_path("config", "loads", "gripper.yaml"))}
SECONDS = 6.0


def put_side_by_side() -> str:
    """The description of both arms on one root."""
    (inside,) = re.findall(r"<robot[^>]*>(.*)</robot>", PUMA, re.DOTALL)
    arms = [re.sub(r'\b(name|link)="', rf'\1="{side}_', inside) for side in LOADS]
    mounts = [
        f'<joint name="{side}_mount" type="fixed"><parent link="world"/><child link="{side}_base_link"/></joint>'
        for side in LOADS
    ]
    return f'<robot name="two"><link name="world"/>{"".join(arms + mounts)}</robot>'


@pytest.fixture
def graph(ros_domain: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Any, dict[str, EstimatorNode]]]:
    """A probe, its executor, and the estimators by their namespace."""
    monkeypatch.setattr("inertid_ros.ros.inputs.SAMPLES", QoSProfile(depth=10_000))
    monkeypatch.setattr("inertid_ros.ros.pace.BEHIND", float("inf"))
    context = Context()
    rclpy.init(context=context, domain_id=ros_domain)
    executor = EventsExecutor(context=context)
    probe = rclpy.create_node("probe", context=context)
    nodes = {}
    for side in LOADS:
        remappings = ("joint_states:=/joint_states", "robot_description:=/robot_description", f"wrench:=/{side}/ft")
        arguments = ["--ros-args", *(part for remapping in remappings for part in ("-r", remapping))]
        overrides = [Parameter("load.sensor_frame", value=f"{side}_ft_sensor")]
        nodes[side] = EstimatorNode(
            context=context,
            namespace=side,
            cli_args=arguments,
            parameter_overrides=overrides,
            use_global_arguments=False,
        )
    for node in (probe, *nodes.values()):
        executor.add_node(node)
    for node in nodes.values():
        node.trigger_configure()
        node.trigger_activate()
    yield probe, executor, nodes
    for node in (*nodes.values(), probe):
        node.destroy_node()
    executor.shutdown()
    rclpy.shutdown(context=context)


def test_each_node_finds_the_load_of_its_own_arm(graph: tuple[Any, Any, dict[str, EstimatorNode]]) -> None:
    probe, executor, _ = graph
    found: dict[str, list[Any]] = {side: [] for side in LOADS}
    statuses: set[str] = set()
    for side, heard in found.items():
        probe.create_subscription(Float64MultiArray, f"/{side}/inertid/load/parameters", heard.append, 10)
    probe.create_subscription(
        DiagnosticArray, "/diagnostics", lambda message: statuses.update(status.name for status in message.status), 10
    )
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    probe.create_publisher(String, "/robot_description", latched).publish(String(data=put_side_by_side()))
    send_all(probe, executor)
    spin_until(executor, lambda: all(has_found(heard, LOADS[side][0]) for side, heard in found.items()))
    spin_until(executor, lambda: {"left/inertid: load", "right/inertid: load"} <= statuses)
    for side in LOADS:
        spin_until(executor, probe.create_client(Trigger, f"/{side}/inertid/reset").service_is_ready)


def has_found(heard: list[Any], mass: float) -> bool:
    """Whether the newest estimate has this mass."""
    return bool(heard) and abs(heard[-1].data[0] - mass) < 0.03


def send_all(probe: Any, executor: Any) -> None:
    """Send what both arms do, at once: joint states of all joints, and two wrenches."""
    simulators = {side: simulate_puma(puma_motion(), schedule=((0.0, load),)) for side, load in LOADS.items()}
    joints = {side: simulator.joints(0.0, SECONDS) for side, simulator in simulators.items()}
    wrenches = {side: simulator.wrenches(0.0, SECONDS) for side, simulator in simulators.items()}
    states = probe.create_publisher(JointState, "/joint_states", 10_000)
    sensors = {side: probe.create_publisher(WrenchStamped, f"/{side}/ft", 10_000) for side in LOADS}
    spin_until(executor, lambda: states.get_subscription_count() == 2)
    spin_until(executor, lambda: all(sensor.get_subscription_count() == 1 for sensor in sensors.values()))
    for index, stamp in enumerate(joints["left"].stamps.tolist()):
        message = JointState(name=[f"{side}_{name}" for side in LOADS for name in joints[side].names])
        message.position = np.concatenate([joints[side].positions[index] for side in LOADS]).tolist()
        set_stamp(message, stamp)
        states.publish(message)
        for side, sensor in sensors.items():
            reading = WrenchStamped()
            set_stamp(reading, wrenches[side].stamps.item(index))
            reading.header.frame_id = f"{side}_ft_sensor"
            force, torque = np.split(wrenches[side].wrenches[index], 2)
            reading.wrench.force.x, reading.wrench.force.y, reading.wrench.force.z = force.tolist()
            reading.wrench.torque.x, reading.wrench.torque.y, reading.wrench.torque.z = torque.tolist()
            sensor.publish(reading)
        if index % 20 == 0:
            executor.spin_until_future_complete(Future(), timeout_sec=0.005)


def set_stamp(message: Any, stamp: int) -> None:
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)


def spin_until(executor: Any, condition: Any) -> None:
    for _ in range(round(PATIENCE / 0.02)):
        if condition():
            return
        executor.spin_until_future_complete(Future(), timeout_sec=0.02)
    raise AssertionError("it has not happened")
