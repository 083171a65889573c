"""The bench on which the estimator is tested in a real ROS graph."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rclpy.qos import QoSProfile
from support.bench import Bench


@pytest.fixture
def bench(ros_domain: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A node that loses and thins nothing, however busy the machine, and says four times a second what is wrong."""
    monkeypatch.setattr("inertid_ros.ros.node.DIAGNOSTICS_PERIOD", 0.25)
    monkeypatch.setattr("inertid_ros.ros.inputs.SAMPLES", QoSProfile(depth=10_000))
    monkeypatch.setattr("inertid_ros.ros.pace.BEHIND", float("inf"))
    made = Bench(ros_domain)
    yield made
    made.close()
