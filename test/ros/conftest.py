"""The bench on which the estimator is tested in a real ROS graph."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.bench import Bench


@pytest.fixture
def bench(ros_domain: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr("inertid_ros.ros.estimator_node.DIAGNOSTICS_PERIOD", 0.25)
    made = Bench(ros_domain)
    yield made
    made.close()
