"""A real ROS graph in one process: the estimator, and a probe that plays driver, user and observer."""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import InertiaStamped, PoseWithCovarianceStamped, WrenchStamped
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import SetParameters
from rclpy.context import Context
from rclpy.experimental import EventsExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, String
from visualization_msgs.msg import MarkerArray

from inertid_ros.core.records import JointBlock, WrenchBlock
from inertid_ros.ros.node import EstimatorNode
from inertid_ros.sim.scenario import ScenarioSettings, build_simulator, read_urdf

START = 10_000_000_000_000
"""Nanoseconds of simulated time at which the simulation starts."""
CHUNK = 0.1
"""Seconds of simulated time that are sent at once."""
RATE = 100.0
"""Joint states and wrenches per second, unless a test needs more of them: half of the simulation's default."""
PATIENCE = 30.0
"""Seconds after which something that has not happened will not happen, on the slowest machine."""

OUTPUTS = {
    "load/inertia": InertiaStamped,
    "load/parameters": Float64MultiArray,
    "load/covariance": Float64MultiArray,
    "load/repeatability": Float64MultiArray,
    "events": DiagnosticArray,
    "object": DiagnosticArray,
    "object/grip": PoseWithCovarianceStamped,
    "load/wrench_predicted": WrenchStamped,
    "load/wrench_residual": WrenchStamped,
    "markers": MarkerArray,
    "links/parameters": Float64MultiArray,
    "links/base_parameters": Float64MultiArray,
    "links/base_covariance": Float64MultiArray,
    "links/effort_predicted": JointState,
    "links/effort_residual": JointState,
    "links/effort_deviation": JointState,
    "base/wrench_predicted": WrenchStamped,
    "base/wrench_residual": WrenchStamped,
}

SAMPLE_OUTPUTS = [name for name in OUTPUTS if name.endswith(("_predicted", "_residual"))]

Edit = Callable[[Any], Any]
Blocks = Sequence[JointBlock | WrenchBlock]


def unchanged(message: Any) -> Any:
    """Edit nothing."""
    return message


class Inbox(Sequence[Any]):
    """Messages of one topic, each of them deserialised when it is looked at: most are only counted."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._messages: list[Any] = []
        self._checked = 0

    def append(self, message: Any) -> None:
        self._messages.append(message)

    def clear(self) -> None:
        self._messages.clear()
        self._checked = 0

    def are_finite(self) -> bool:
        """Whether all numbers are, of messages that were not looked at before."""
        new, self._checked = self[self._checked :], len(self)
        return all(map(is_finite, new))

    def __len__(self) -> int:
        return len(self._messages)

    def __eq__(self, other: object) -> bool:
        return list(self) == other

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        message = self._messages[index]
        if isinstance(message, bytes):
            message = self._messages[index] = deserialize_message(message, self._kind)
        return message


class Bench:
    """Estimator and probe in one executor. Time is simulated: as fast as the machine can, and published as /clock."""

    def __init__(self, domain: int) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.executor = EventsExecutor(context=self.context)
        self.probe = rclpy.create_node("probe", context=self.context)
        self.executor.add_node(self.probe)
        self.received = {name: Inbox(kind) for name, kind in (*OUTPUTS.items(), ("diagnostics", DiagnosticArray))}
        reliable = QoSProfile(depth=1000)
        for name, kind in OUTPUTS.items():
            self.probe.create_subscription(kind, f"/inertid/{name}", self.received[name].append, reliable, raw=True)
        diagnostics = self.received["diagnostics"]
        self.probe.create_subscription(DiagnosticArray, "/diagnostics", diagnostics.append, 10, raw=True)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.joints = self.probe.create_publisher(JointState, "joint_states", 100)
        self.wrench = self.probe.create_publisher(WrenchStamped, "wrench", 100)
        self.base_wrench = self.probe.create_publisher(WrenchStamped, "base_wrench", 100)
        self.imu = self.probe.create_publisher(Imu, "imu", 100)
        self._description = self.probe.create_publisher(String, "robot_description", latched)
        self._clock = self.probe.create_publisher(Clock, "/clock", 10)
        self._moments = 0
        self.simulate()
        self.estimator: EstimatorNode | None = None

    def simulate(self, **settings: Any) -> None:
        """Simulate something else from now on; time goes on at zero."""
        self._simulator = build_simulator(
            ScenarioSettings(**{"rest": 1.0, "joint_rate": RATE, "wrench_rate": RATE, **settings})
        )
        self.time = 0.0
        self.origin = START

    def start(self, state: str = "active", **parameters: Any) -> EstimatorNode:
        """Create the estimator and bring it into a state; parameters by name, with __ for a dot."""
        values = {"use_sim_time": True, "load__sensor_frame": "ft_sensor", **parameters}
        overrides = [Parameter(name.replace("__", "."), value=value) for name, value in values.items()]
        self.estimator = EstimatorNode(context=self.context, parameter_overrides=overrides)
        self.executor.add_node(self.estimator)
        if state != "unconfigured":
            self.estimator.trigger_configure()
        if state == "active":
            self.estimator.trigger_activate()
        heard = {subscription.topic_name.lstrip("/") for subscription in self.estimator.subscriptions}
        inputs = {"joint_states": self.joints, "wrench": self.wrench, "base_wrench": self.base_wrench}
        wanted = [publisher for topic, publisher in inputs.items() if topic in heard]
        assert self.spin_until(lambda: all(publisher.get_subscription_count() > 0 for publisher in wanted))
        return self.estimator

    def describe(self, text: str | None = None) -> None:
        """Publish a robot description, the PUMA's by default."""
        self._description.publish(String(data=read_urdf("puma560") if text is None else text))
        self.spin(0.1)

    def spin(self, seconds: float = 0.02) -> None:
        self.executor.spin_until_future_complete(Future(), timeout_sec=seconds)

    def settle(self) -> None:
        """Spin until the node has nothing more to say of the samples that were sent."""
        before = -1
        while before != (now := sum(len(self.received[topic]) for topic in SAMPLE_OUTPUTS)):
            before = now
            self.spin(0.1)

    def spin_until(self, condition: Callable[[], bool], timeout: float = PATIENCE) -> bool:
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                return False
            self.spin(0.01)
        return True

    def feed(
        self, seconds: float, joints: Edit = unchanged, wrench: Edit = unchanged, base_wrench: Edit = unchanged
    ) -> None:
        """Send simulated samples, and wait until the node has received them.

        An edit returns what is to be sent instead of a message, or None to send nothing.
        """
        end = self.time + seconds
        while self.time < end - 1e-9:
            until = min(self.time + CHUNK, end)
            expected = self._count_received()
            block = self._simulator.joints(self.time, until)
            self._send(self.joints, [joints(message) for message in self._joint_messages(block)], expected)
            for publisher, edit, read in (
                (self.wrench, wrench, self._simulator.wrenches),
                (self.base_wrench, base_wrench, self._simulator.base_wrenches),
            ):
                if publisher.get_subscription_count() > 0:
                    messages = self._wrench_messages(read(self.time, until))
                    self._send(publisher, [edit(message) for message in messages], expected)
            self._go_on(until, expected)

    def feed_blocks(self, seconds: float, edit: Callable[[JointBlock, WrenchBlock], Blocks]) -> None:
        """The same with what an edit makes of the joint states and wrenches of each chunk, stamps included."""
        end = self.time + seconds
        while self.time < end - 1e-9:
            until, expected = min(self.time + CHUNK, end), self._count_received()
            joints = self._simulator.joints(self.time, until)
            wrenches = self._simulator.wrenches(self.time, until)
            for block in edit(
                joints._replace(stamps=joints.stamps + self.origin),
                wrenches._replace(stamps=wrenches.stamps + self.origin),
            ):
                if isinstance(block, JointBlock):
                    self._send(self.joints, list(self._joint_messages(block, 0)), expected)
                else:
                    self._send(self.wrench, list(self._wrench_messages(block, 0)), expected)
            self._go_on(until, expected)

    def _go_on(self, until: float, expected: dict[str, int]) -> None:
        """Let simulated time pass, and wait until the node has received what was sent."""
        self.time = until
        self._publish_clock(self.origin + round(until * 1e9))
        self.spin(0.005)
        assert self.spin_until(partial(self._has_received, expected)), f"{self._count_received()}, {expected}"

    def _publish_clock(self, stamp: int) -> None:
        clock = Clock()
        _set_stamp(clock.clock, stamp)
        self._clock.publish(clock)

    def play(self, messages: Sequence[tuple[str, bytes]], size: int = 40) -> None:
        """Send serialised samples by topic, some at a time, and wait until the node has received them."""
        publishers = {"/joint_states": self.joints, "/wrench": self.wrench, "/base_wrench": self.base_wrench}
        publishers["/imu"] = self.imu
        for start in range(0, len(messages), size):
            expected = self._count_received()
            for topic, data in messages[start : start + size]:
                self._send(publishers[topic], [data], expected)
            assert self.spin_until(partial(self._has_received, expected)), f"{self._count_received()}, {expected}"

    def call(self, kind: Any, name: str, request: Any) -> Any:
        client = self.probe.create_client(kind, name)
        assert self.spin_until(client.service_is_ready), f"no service {name}"
        future = client.call_async(request)
        assert self.spin_until(future.done), f"no answer from {name}"
        self.probe.destroy_client(client)
        return future.result()

    def change_state(self, transition: int) -> bool:
        request = ChangeState.Request()
        request.transition.id = transition
        return bool(self.call(ChangeState, "/inertid/change_state", request).success)

    def state(self) -> str:
        return str(self.call(GetState, "/inertid/get_state", GetState.Request()).current_state.label)

    def set_parameter(self, name: str, value: Any) -> Any:
        request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
        return self.call(SetParameters, "/inertid/set_parameters", request).results[0]

    def status(self, source: str, timeout: float = PATIENCE) -> DiagnosticStatus:
        """Wait for diagnostics of all that the node has received by now, and return what they say of one source.

        The next ones may have been made before, and be on their way: those count whose stamp is later than this moment.
        """
        before, since = len(self.received["diagnostics"]), self._find_moment()

        def is_renewed() -> bool:
            if self._is_simulated:
                self._publish_clock(since)  # the node may miss one
            return any(_get_stamp(message) >= since for message in self.received["diagnostics"][before:])

        assert self.spin_until(is_renewed, timeout), "no diagnostics"
        return next(s for s in self.received["diagnostics"][-1].status if s.name == f"inertid: {source}")

    @property
    def _is_simulated(self) -> bool:
        return self.estimator is None or bool(self.estimator.get_parameter("use_sim_time").value)

    def _find_moment(self) -> int:
        """A stamp [ns] of the node's clock that it has not reached before this moment."""
        self._moments += 1
        return self.origin + round(self.time * 1e9) + self._moments if self._is_simulated else time.time_ns()

    def newest(self, topic: str) -> Any:
        assert self.received[topic], f"nothing on {topic}"
        return self.received[topic][-1]

    def parameters(self) -> np.ndarray[Any, Any]:
        """Forget what came before and return what is known now: one may be on its way, and one being judged."""
        self.received["load/parameters"].clear()
        assert self.spin_until(lambda: len(self.received["load/parameters"]) > 2)
        return np.array(self.newest("load/parameters").data)

    def history(self, source: str) -> dict[str, str]:
        """Wait for the next diagnostics and return all they say of one source, by key."""
        return {item.key: item.value for item in self.status(source).values}

    def assert_all_finite(self) -> None:
        """Look at every number that was ever received."""
        for topic, messages in self.received.items():
            assert messages.are_finite(), topic

    def assert_recovered(self) -> None:
        """The bar is weighed right, predictions are up to date, and nothing that is not finite ever came out."""
        self.settle()
        stamp = _get_stamp(self.newest("load/wrench_predicted"))
        assert (stamp - self.origin) * 1e-9 > self.time - 0.1
        assert self.parameters()[0] == pytest.approx(1.8, abs=0.03)
        self.assert_all_finite()

    def close(self) -> None:
        for node in (self.estimator, self.probe):
            if node is not None:
                self.executor.remove_node(node)
                node.destroy_node()
        self.spin(0.0)  # what the worker has handed over would keep the node in the executor's queue for ever
        rclpy.shutdown(context=self.context)

    def _count_received(self) -> dict[str, int]:
        """How many samples an active node has received, by topic."""
        node = self.estimator
        return (
            {}
            if node is None or node._identification is None or not node._active
            else dict(node._identification.received)
        )

    def _has_received(self, expected: dict[str, int]) -> bool:
        counted = self._count_received()
        return all(counted.get(topic, count) >= count for topic, count in expected.items())

    def _send(self, publisher: Any, messages: list[Any], expected: dict[str, int]) -> None:
        """Publish messages and count them among those that the node must receive."""
        topic = publisher.topic_name.lstrip("/")
        for message in messages:
            if message is not None:
                publisher.publish(message)
                if topic in expected:
                    expected[topic] += 1

    def _joint_messages(self, block: JointBlock, origin: int | None = None) -> Iterator[JointState]:
        for i, stamp in enumerate(block.stamps.tolist()):
            message = JointState(name=list(block.names), position=block.positions[i].tolist())
            if block.velocities is not None:
                message.velocity = block.velocities[i].tolist()
            if block.efforts is not None:
                message.effort = block.efforts[i].tolist()
            _set_stamp(message.header.stamp, (self.origin if origin is None else origin) + stamp)
            yield message

    def _wrench_messages(self, block: WrenchBlock, origin: int | None = None) -> Iterator[WrenchStamped]:
        for stamp, wrench in zip(block.stamps.tolist(), block.wrenches.tolist(), strict=True):
            message = WrenchStamped()
            message.header.frame_id = block.frame
            _set_stamp(message.header.stamp, (self.origin if origin is None else origin) + stamp)
            force, torque = message.wrench.force, message.wrench.torque
            force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench
            yield message


def _set_stamp(stamp: Any, nanoseconds: int) -> None:
    stamp.sec, stamp.nanosec = divmod(nanoseconds, 1_000_000_000)


def _get_stamp(message: Any) -> int:
    return int(message.header.stamp.sec) * 1_000_000_000 + int(message.header.stamp.nanosec)


def is_finite(item: Any) -> bool:
    """Whether all floats of a message are finite, however deep they are."""
    if isinstance(item, float):
        return math.isfinite(item)
    if isinstance(item, (str, bytes, int)):
        return True
    if isinstance(item, (array, np.ndarray)):
        return bool(np.isfinite(item).all())
    parts = [getattr(item, name) for name in item.__slots__] if hasattr(item, "__slots__") else item
    return all(map(is_finite, parts))
