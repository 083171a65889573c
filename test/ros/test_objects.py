"""What is held is told in a real graph: its name, its grip, and whether that is as expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from support.bench import Bench
from support.chain import BAR
from support.objects import box, make_known

from inertid_ros.files.objects import write_object
from inertid_ros.objects.known import KnownObject, find_transfer, make_pose

PLACE = np.array([0.0, 0.0, 0.1])


@pytest.fixture
def library(tmp_path: Path) -> str:
    """The bar of the simulation, with its frame 0.1 m in front of the sensor, and a book."""
    made = make_known("bar", find_transfer(make_pose(np.eye(3), -PLACE)) @ BAR)
    grip = make_pose(np.eye(3), PLACE)
    bar = KnownObject("bar", made.phi, 4.0 * made.covariance, made.covariance, grip, "ft_sensor")
    for known in (bar, make_known("book", box(0.62, 0.15, 0.23, 0.03))):
        write_object(tmp_path, known)
    return str(tmp_path)


def kinds(bench: Bench) -> list[str]:
    return [message.status[0].name for message in bench.received["events"]]


def test_what_is_attached_is_recognised_and_its_grip_checked(bench: Bench, library: str) -> None:
    bench.simulate(attach_at=4.0, motion="multisine")
    bench.start(objects__library=library, objects__expected="bar")
    bench.describe()
    bench.feed(12.0)
    assert bench.spin_until(lambda: "grip_as_expected" in kinds(bench) and "object_recognised" in kinds(bench))
    assert bench.spin_until(lambda: bench.newest("object").status[0].name == "bar")
    message: Any = bench.newest("object")
    values = {item.key: item.value for item in message.status[0].values}
    assert float(values["probability of bar"]) > 0.95
    assert message.header.frame_id == "ft_sensor"
    assert bench.spin_until(lambda: bool(bench.received["object/grip"]))
    grip = bench.received["object/grip"][-1].pose
    held = (grip.pose.position.x, grip.pose.position.y, grip.pose.position.z)
    np.testing.assert_allclose(held, PLACE, atol=4.0 * np.sqrt(np.array(grip.covariance).reshape(6, 6).max()))
    assert bench.spin_until(lambda: "held as expected" in bench.status("object").message)
    bench.assert_all_finite()
    assert bench.set_parameter("objects.expected", "book").successful
    assert bench.spin_until(lambda: "grip_not_as_expected" in kinds(bench))
    assert "not book, but bar" in bench.received["events"][-1].status[0].message
    assert bench.received["events"][-1].status[0].level == DiagnosticStatus.WARN


def test_a_library_that_cannot_be_used_is_said(bench: Bench, tmp_path: Path) -> None:
    bench.start(objects__library=str(tmp_path))
    bench.describe()
    bench.feed(3.0)
    assert bench.spin_until(lambda: "is empty" in bench.status("objects").message)
    assert bench.status("objects").level == DiagnosticStatus.ERROR
    assert bench.spin_until(lambda: bool(bench.received["load/parameters"]))
    assert bench.received["object"] == []
