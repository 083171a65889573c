"""The simulated driver in a ROS graph of its own: what it publishes, its service and its clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.ros.driver_node import LONGEST_PAUSE, SimulatedDriver
from inertid_ros.ros.runtime import make_executor
from inertid_ros.sim.scenario import ScenarioSettings, build_simulator, read_urdf

PATIENCE = 20.0
"""Seconds after which something that has not happened will not happen."""


class Bench:
    """A driver and a listener in one executor."""

    def __init__(self, base: bool = False, **parameters: Any) -> None:
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        self.driver = SimulatedDriver(parameter_overrides=overrides)
        self.listener = Node("listener")
        self.executor: Executor = make_executor(self.listener)
        for node in (self.driver, self.listener):
            self.executor.add_node(node)
        self.joints: list[JointState] = []
        self.wrenches: list[WrenchStamped] = []
        self.base_wrenches: list[WrenchStamped] = []
        many = QoSProfile(depth=1000)
        self.listener.create_subscription(JointState, "joint_states", self.joints.append, many)
        self.listener.create_subscription(WrenchStamped, "wrench", self.wrenches.append, many)
        if base:
            self.listener.create_subscription(WrenchStamped, "base_wrench", self.base_wrenches.append, many)

    def spin(self, seconds: float) -> None:
        """Let time pass."""
        self.executor.spin_until_future_complete(Future(), timeout_sec=seconds)

    def spin_until(self, condition: Callable[[], bool]) -> None:
        """Let time pass until something has happened."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "waited in vain"
            self.spin(0.02)

    def attach(self, wanted: bool) -> SetBool.Response:
        """Call the service."""
        client = self.listener.create_client(SetBool, "simulated_driver/attach")
        self.spin_until(client.service_is_ready)
        future = client.call_async(SetBool.Request(data=wanted))
        self.spin_until(future.done)
        return future.result()

    def close(self) -> None:
        """Take the nodes apart."""
        for node in (self.driver, self.listener):
            self.executor.remove_node(node)
            node.destroy_node()


@pytest.fixture
def make_bench(ros_domain: int) -> Iterator[Callable[..., Bench]]:
    """Benches that are closed when the test is over."""
    benches: list[Bench] = []
    rclpy.init(args=[], domain_id=ros_domain)

    def make(base: bool = False, **parameters: Any) -> Bench:
        benches.append(Bench(base, **parameters))
        return benches[-1]

    yield make
    for bench in benches:
        bench.close()
    rclpy.shutdown()


def stamps_of(messages: list[Any]) -> list[int]:
    """Stamps in nanoseconds."""
    return [message.header.stamp.sec * 10**9 + message.header.stamp.nanosec for message in messages]


def numbers_of(messages: list[WrenchStamped]) -> FloatArray:
    """Wrenches (N, 6)."""
    vectors = [(message.wrench.force, message.wrench.torque) for message in messages]
    return np.array([[f.x, f.y, f.z, n.x, n.y, n.z] for f, n in vectors])


def test_messages_are_the_simulator_s_samples_at_the_time_of_the_clock(make_bench: Callable[..., Bench]) -> None:
    options: dict[str, Any] = {
        "joint_rate": 100.0,
        "wrench_rate": 250.0,
        "stamp_jitter": 1e-3,
        "tachometer": True,
        "effort": True,
        "coulomb_friction": [3.0],
        "seed": 5,
    }
    bench = make_bench(base=True, rest=0.0, **options)
    before = time.time_ns()
    bench.spin_until(lambda: min(len(bench.joints), len(bench.wrenches), len(bench.base_wrenches)) >= 100)
    simulator = build_simulator(ScenarioSettings(rest=0.0, **options))
    joints, wrenches, base = (
        simulator.joints(0.0, 60.0),
        simulator.wrenches(0.0, 60.0),
        simulator.base_wrenches(0.0, 5.0),
    )
    assert joints.velocities is not None
    assert joints.efforts is not None
    first = int(np.flatnonzero((wrenches.wrenches == numbers_of(bench.wrenches[:1])).all(1))[0])
    rows = slice(first, first + len(bench.wrenches))
    start = stamps_of(bench.wrenches)[0] - int(wrenches.stamps[first])
    np.testing.assert_array_equal(numbers_of(bench.wrenches), wrenches.wrenches[rows])
    np.testing.assert_array_equal(stamps_of(bench.wrenches), start + wrenches.stamps[rows])
    first = int(np.searchsorted(joints.stamps, stamps_of(bench.joints)[0] - start))
    rows = slice(first, first + len(bench.joints))
    np.testing.assert_array_equal(stamps_of(bench.joints), start + joints.stamps[rows])
    np.testing.assert_array_equal([message.position for message in bench.joints], joints.positions[rows])
    np.testing.assert_array_equal([message.velocity for message in bench.joints], joints.velocities[rows])
    np.testing.assert_array_equal([message.effort for message in bench.joints], joints.efforts[rows])
    first = int(np.searchsorted(base.stamps, stamps_of(bench.base_wrenches)[0] - start))
    np.testing.assert_array_equal(numbers_of(bench.base_wrenches)[:50], base.wrenches[first : first + 50])
    assert tuple(bench.joints[0].name) == joints.names
    assert {message.header.frame_id for message in bench.wrenches} == {"ft_sensor"}
    assert {message.header.frame_id for message in bench.base_wrenches} == {"base_link"}
    assert before - 60 * 10**9 < start < time.time_ns()
    assert max(stamps_of(bench.wrenches)) <= time.time_ns()


def test_unless_asked_for_joint_states_have_no_velocity_and_no_effort(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench()
    bench.spin_until(lambda: len(bench.joints) > 0)
    assert len(bench.joints[0].position) == 6
    assert len(bench.joints[0].velocity) == len(bench.joints[0].effort) == 0


def test_robot_description_reaches_who_comes_late(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(robot="ddarm")
    bench.spin(0.2)
    texts: list[String] = []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    bench.listener.create_subscription(String, "robot_description", texts.append, latched)
    bench.spin_until(lambda: len(texts) > 0)
    assert texts[0].data == read_urdf("ddarm")


def test_load_is_attached_and_released_by_service(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(attach_at=-1.0, motion="hold", bias=[0.0] * 6, effort=True, effort_noise=[0.0])

    def latest_force() -> float:
        bench.wrenches.clear()
        bench.spin_until(lambda: len(bench.wrenches) >= 20)
        return float(np.linalg.norm(numbers_of(bench.wrenches)[:, :3].mean(0)))

    assert latest_force() < 1.0
    bare = np.array(bench.joints[-1].effort)
    response = bench.attach(True)
    assert response.success
    assert response.message == "load 'bar' attached"
    bench.spin(0.1)
    assert latest_force() == pytest.approx(1.8 * 9.80665, abs=0.5)
    assert np.abs(bench.joints[-1].effort - bare).max() > 1.0
    response = bench.attach(False)
    assert response.success
    assert response.message == "load released"
    bench.spin(0.1)
    assert latest_force() < 1.0
    np.testing.assert_array_equal(bench.joints[-1].effort, bare)


def test_attaching_no_load_is_refused_with_the_reason(make_bench: Callable[..., Bench]) -> None:
    response = make_bench(load="").attach(True)
    assert not response.success
    assert "parameter 'load'" in response.message


def test_driver_sends_a_thousand_samples_a_second_and_leaves_none_out(make_bench: Callable[..., Bench]) -> None:
    """Where the machine stalls for longer than LONGEST_PAUSE, the driver itself goes on at the present."""
    bench = make_bench(joint_rate=1000, wrench_rate=1000, rest=0.0)
    bench.spin_until(lambda: min(len(bench.joints), len(bench.wrenches)) > 1000)
    for messages in (bench.joints, bench.wrenches):
        steps = np.diff(stamps_of(messages)[-900:]) * 1e-9
        np.testing.assert_allclose(steps[steps < LONGEST_PAUSE], 1e-3, atol=1e-8)


def test_simulated_clock_is_followed_also_back_and_over_gaps(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(use_sim_time=True, rest=0.0, motion="hold")
    clock = bench.listener.create_publisher(Clock, "/clock", 10)

    def set_clock(nanoseconds: int) -> None:
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(nanoseconds, 10**9)
        clock.publish(message)
        bench.spin_until(lambda: bench.driver.get_clock().now().nanoseconds == nanoseconds)

    def show(begin: int, end: int) -> list[int]:
        """Run the clock by 10 ms from one hundredth of a second to another; return the stamps that came of it."""
        bench.wrenches.clear()
        for nanoseconds in range(begin * 10**7, (end + 1) * 10**7, 10**7):
            set_clock(nanoseconds)
        bench.spin_until(lambda: max(stamps_of(bench.wrenches), default=0) >= (end - 1) * 10**7)
        return stamps_of(bench.wrenches)

    bench.spin_until(lambda: clock.get_subscription_count() >= 1)
    bench.spin(0.2)
    assert bench.wrenches == []
    show(10000, 10010)
    stamps = show(10011, 10100)
    assert np.all(np.diff(stamps) == 5 * 10**6)
    assert len(stamps) in range(175, 185)
    for begin in (5000, 50000):
        stamps = show(begin, begin + 50)
        assert min(stamps) >= begin * 10**7
        assert max(stamps) < (begin + 50) * 10**7


def test_parameters_cannot_be_changed_while_it_runs(make_bench: Callable[..., Bench]) -> None:
    result = make_bench().driver.set_parameters([Parameter("force_noise", value=1.0)])[0]
    assert not result.successful


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("wrench_rate", 0.5, "1 to 2000"),
        ("wrench_rate", 5000, "1 to 2000"),
        ("wrench_rate", "fast", "a float"),
        ("sign", "both", "on_load, on_sensor"),
        ("bias", [1.0, 2.0], "6 finite numbers"),
        ("stamp_jitter", 0.4, "half a sampling period"),
    ],
)
def test_parameter_out_of_range_is_refused_with_the_range(
    make_bench: Callable[..., Bench], name: str, value: object, expected: str
) -> None:
    with pytest.raises(SettingError, match=f"'{name}'.*{expected}"):
        make_bench(**{name: value})
