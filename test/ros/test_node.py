"""The node in a real graph: from messages to a weighed load."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from support.bench import Bench
from visualization_msgs.msg import Marker

from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.ros.inputs import SAMPLES
from inertid_ros.ros.node import DIAGNOSTICS_PERIOD
from inertid_ros.sim.scenario import read_load


def stamp_of(message: Any) -> int:
    return int(message.header.stamp.sec) * 10**9 + int(message.header.stamp.nanosec)


def test_a_load_is_weighed_and_everything_is_published(bench: Bench) -> None:
    bench.simulate(sign="on_sensor")
    bench.start()
    bench.describe()
    bench.feed(0.5)
    assert bench.received["load/inertia"] == [], "nothing is known at standstill"
    bench.feed(8.0)
    parameters = bench.parameters()
    truth = read_load("bar")
    message = bench.newest("load/parameters")
    assert message.layout.dim[0].label.split() == list(PARAMETER_NAMES)
    assert [d.size for d in message.layout.dim] == [10, 1]
    assert message.layout.dim[1].label == ", ".join(["known"] * 10)
    covariance = np.array(bench.newest("load/covariance").data).reshape(10, 10)
    assert [d.size for d in bench.newest("load/covariance").layout.dim] == [10, 10]
    np.testing.assert_array_equal(covariance, covariance.T)
    repeatability = np.array(bench.newest("load/repeatability").data).reshape(10, 10)
    assert np.all(np.diag(repeatability) < np.diag(covariance))
    assert np.all(np.abs(parameters - truth) < 4.5 * np.sqrt(np.diag(covariance)))
    inertia = bench.newest("load/inertia")
    assert inertia.header.frame_id == "ft_sensor"
    assert inertia.inertia.m == pytest.approx(1.8, abs=0.01)
    assert inertia.inertia.com.z == pytest.approx(0.060, abs=0.001)
    assert inertia.inertia.ixx == pytest.approx(0.0244, abs=0.002)
    assert inertia.inertia.iyy == pytest.approx(0.0007, abs=0.002)
    drawn = [
        {marker.ns for marker in message.markers if marker.action == Marker.ADD}
        for message in bench.received["markers"]
    ]  # wrenches are drawn only while they come, so not always in the last message
    everything = {"com", "inertia", "inertia_lower", "inertia_upper", "wrench_predicted"}
    assert any(everything <= names for names in drawn)
    status = bench.status("load")
    assert status.level == DiagnosticStatus.OK
    values = {item.key: item.value for item in status.values}
    assert values["wrench sign"] == "on_sensor"
    assert values["m"].endswith("kg (95 %), known")
    accuracy, repeats = (float(values[f"mass, {word}"].split()[2]) for word in ("accuracy", "repeatability"))
    assert 0.0 < repeats < accuracy < 0.1
    assert re.fullmatch(r"0\.\d+ ± 0\.\d+ ms (late|early)", values["wrench against joint states"])
    assert values["largest gain"].endswith("%")
    assert "kg" in values["m"]


def test_predictions_come_at_the_stamps_of_the_wrenches_and_add_up(bench: Bench) -> None:
    sent = {}

    def note(message: Any) -> Any:
        force = message.wrench.force
        sent[stamp_of(message)] = np.array([force.x, force.y, force.z])
        return message

    bench.start()
    bench.describe()
    bench.feed(3.0, wrench=note)
    bench.settle()
    predicted = {stamp_of(m): m.wrench.force for m in bench.received["load/wrench_predicted"]}
    residual = {stamp_of(m): m.wrench.force for m in bench.received["load/wrench_residual"]}
    assert predicted.keys() == residual.keys() <= sent.keys()
    assert len(predicted) > 0.97 * len(sent)
    for stamp, force in predicted.items():
        rest = residual[stamp]
        np.testing.assert_allclose(
            sent[stamp], [force.x + rest.x, force.y + rest.y, force.z + rest.z], rtol=0, atol=1e-9
        )


@pytest.mark.parametrize("reliability", [ReliabilityPolicy.BEST_EFFORT, ReliabilityPolicy.RELIABLE])
def test_drivers_of_both_reliabilities_are_heard(
    bench: Bench, reliability: ReliabilityPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inertid_ros.ros.inputs.SAMPLES", SAMPLES)
    identification = bench.start()._identification
    assert identification is not None
    profile = QoSProfile(depth=10, reliability=reliability)
    publishers = [
        bench.probe.create_publisher(kind, topic, profile)
        for kind, topic in ((JointState, "joint_states"), (WrenchStamped, "wrench"))
    ]
    assert bench.spin_until(lambda: all(publisher.get_subscription_count() == 1 for publisher in publishers))
    for publisher, kind in zip(publishers, (JointState, WrenchStamped), strict=True):
        publisher.publish(kind())
    assert bench.spin_until(lambda: identification.received == {"joint_states": 1, "wrench": 1})


def test_diagnostics_come_once_a_second() -> None:
    assert DIAGNOSTICS_PERIOD == 1.0


def test_a_load_picked_up_and_released_is_followed(bench: Bench) -> None:
    bench.simulate(attach_at=4.0, release_at=8.0, sign="on_sensor")
    bench.start()
    bench.describe()
    bench.feed(3.9)
    assert bench.parameters()[0] == pytest.approx(0.0, abs=0.02)
    bench.feed(2.0)
    assert bench.parameters()[0] == pytest.approx(1.8, rel=0.02)
    assert bench.newest("load/inertia").inertia.m == pytest.approx(1.8, rel=0.02)
    bench.feed(3.5)
    bench.received["load/inertia"].clear()
    assert bench.parameters()[0] == pytest.approx(0.0, abs=0.036)
    bench.spin_until(lambda: bool(bench.received["load/inertia"]))
    assert bench.newest("load/inertia").inertia.m == 0.0
