"""A bag played into the live node gives what a replay of the same bag gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin
from support.bags import Message, simulated_messages, write_bag
from support.bench import Bench
from support.chain import BAR, PUMA, puma_motion, simulate_puma

from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.settings.choices import SignChoice
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.replay import replay_bags

SECONDS = 7.0
TOLERANCE = 1e-9
"""Not zero: how samples are put into blocks changes the order of summation, here about 1e-12 of a deviation."""


@pytest.fixture
def messages() -> list[Message]:
    """Stands still, moves, and picks up a bar on the way."""
    simulator = simulate_puma(puma_motion(rounds=2), seed=3, schedule=((0.0, None), (4.0, BAR)))
    return simulated_messages(simulator, 0.0, SECONDS)


def play(bench: Bench, messages: list[Message]) -> LoadEstimate:
    """Send all samples, and return what the node holds once all have come."""
    bench.describe(PUMA)
    bench.play([(topic, data) for topic, _, _, data in messages if topic != "/robot_description"])
    assert bench.estimator is not None
    identification = bench.estimator._identification
    assert identification is not None
    assert set(identification.received.values()) == {round(200 * SECONDS)}
    judge = identification.sessions[0].prepare_estimate()
    assert judge is not None
    estimate = judge()
    assert isinstance(estimate, LoadEstimate)
    return estimate


def test_node_and_replay_agree(bench: Bench, messages: list[Message], tmp_path: Path) -> None:
    bench.start(load__wrench_sign="on_load")
    live = play(bench, messages)
    bag = write_bag(tmp_path / "bag", messages, StoragePlugin.SQLITE3)
    settings = Settings(load=LoadSettings(sensor_frame="ft_sensor", wrench_sign=SignChoice.ON_LOAD))
    trace = replay_bags([bag], Plan(settings=settings), lambda: None, lambda _: None).load
    assert trace is not None
    offline = trace.estimate
    assert [event.kind for event in trace.events] != []
    for name in ("stamp", "rows", "states", "mode", "findings"):
        assert getattr(live, name) == getattr(offline, name), name
    deviations = offline.deviations
    np.testing.assert_allclose(live.values, offline.values, rtol=TOLERANCE, atol=0.0)
    scale = np.outer(deviations, deviations)
    np.testing.assert_allclose(live.covariance / scale, offline.covariance / scale, atol=TOLERANCE)
    assert live.sensor is not None
    assert offline.sensor is not None
    for name in ("sign", "noise_calibrated"):
        assert getattr(live.sensor, name) == getattr(offline.sensor, name), name
    for name in ("bias", "noise_density", "variance_inflation"):
        mine, other = getattr(live.sensor, name), getattr(offline.sensor, name)
        np.testing.assert_allclose(mine, other, rtol=TOLERANCE, atol=0.0, err_msg=name)
    np.testing.assert_allclose(live.sensor.bias_covariance, offline.sensor.bias_covariance, rtol=TOLERANCE, atol=1e-15)
    np.testing.assert_allclose(bench.parameters(), offline.values, rtol=TOLERANCE, atol=0.0)
    published = np.array(bench.newest("load/covariance").data).reshape(10, 10)
    np.testing.assert_array_equal(published, live.covariance)
