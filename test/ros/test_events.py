"""What happens to the load is told on ~/events in a real graph, at the stamps of the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from std_srvs.srv import Trigger
from support.bench import Bench


def read(message: DiagnosticArray) -> tuple[str, float, float, float]:
    """Kind, confidence, and masses before and after."""
    (status,) = message.status
    values = {item.key: item.value for item in status.values}
    assert status.name == values["kind"]
    assert status.message
    return values["kind"], *(float(values[name]) for name in ("confidence", "mass_before", "mass_after"))


def seconds_of(bench: Bench, message: DiagnosticArray) -> float:
    """When it happened, in simulated time."""
    stamp = message.header.stamp
    return (int(stamp.sec) * 10**9 + int(stamp.nanosec) - bench.origin) * 1e-9


def test_a_load_is_attached_and_released(bench: Bench) -> None:
    """In kilograms of the load whatever the driver's sign, within a second of data, and nothing else is told."""
    bench.simulate(attach_at=4.0, release_at=8.0, sign="on_sensor", motion="multisine")
    bench.start()
    bench.describe()
    bench.feed(9.4)
    assert bench.spin_until(lambda: len(bench.received["events"]) >= 2)
    attached, released = bench.received["events"]
    assert read(attached)[0] == "load_attached"
    assert read(attached)[2:] == pytest.approx((0.0, 1.8), abs=0.05)
    assert read(released)[0] == "load_released"
    assert read(released)[2:] == pytest.approx((1.8, 0.0), abs=0.05)
    assert 4.0 < seconds_of(bench, attached) < 5.0
    assert 8.0 < seconds_of(bench, released) < 9.0
    for message in (attached, released):
        assert 0.9 < read(message)[1] <= 1.0, "in motion there is no doubt"
        assert message.header.frame_id == message.status[0].hardware_id == "ft_sensor"
        assert message.status[0].level == DiagnosticStatus.OK


def test_contacts_begin_and_end_and_a_sensor_is_tared(bench: Bench) -> None:
    def push(message: Any) -> Any:
        """Back and forth several times a second, which no load does."""
        nanoseconds = message.header.stamp.nanosec
        message.wrench.force.x += 40.0 if nanoseconds // 50_000_000 % 2 else -25.0
        return message

    def tare(message: Any) -> Any:
        message.wrench.force.y += 9.0
        message.wrench.force.z -= 6.0
        return message

    bench.start()
    bench.describe()
    bench.feed(7.0)
    assert bench.received["events"] == []
    bench.feed(1.5, wrench=push)
    bench.feed(2.5)
    assert bench.spin_until(lambda: len(bench.received["events"]) >= 2)
    began, ended = bench.received["events"]
    assert [read(message)[0] for message in (began, ended)] == ["contact_began", "contact_ended"]
    assert began.status[0].level == DiagnosticStatus.WARN
    assert ended.status[0].level == DiagnosticStatus.OK
    assert 7.0 < seconds_of(bench, began) < 8.5 < seconds_of(bench, ended) < 9.5
    for message in (began, ended):
        assert read(message)[2:] == pytest.approx((1.8, 1.8), abs=0.03)
        assert read(message)[1] > 0.8
    bench.feed(3.0, wrench=tare)
    assert bench.spin_until(lambda: "bias_changed" in {read(message)[0] for message in bench.received["events"]})
    assert {read(message)[0] for message in bench.received["events"][2:]} <= {
        "bias_changed",
        "contact_began",
        "contact_ended",
    }


def test_the_tool_is_no_load(bench: Bench, tmp_path: Path) -> None:
    """With the gripper captured as the tool, a part that is taken was attached to nothing."""
    bench.simulate(tool="gripper", attach_at=9.0)
    bench.start(save_directory=str(tmp_path))
    bench.describe()
    bench.feed(8.5)
    response = bench.call(Trigger, "/inertid/capture_tool", Trigger.Request())
    assert response.success, response.message
    bench.feed(1.5)
    assert bench.spin_until(lambda: bool(bench.received["events"]))
    (attached,) = bench.received["events"]
    assert read(attached)[0] == "load_attached"
    assert read(attached)[2:] == pytest.approx((0.0, 1.8), abs=0.06)
