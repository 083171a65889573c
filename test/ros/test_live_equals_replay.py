"""A bag played into the live node gives what a replay of the same bag gives."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin
from support.bags import (
    Message,
    imu_messages,
    joint_messages,
    simulated_messages,
    text_message,
    wrench_messages,
    write_bag,
)
from support.bench import Bench
from support.chain import BAR, PUMA, puma_motion, simulate_puma
from support.leaning_base import URDF, LeaningBase, Swing

from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.settings.choices import GravitySource, SignChoice
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


def play(bench: Bench, messages: list[Message], description: str = PUMA) -> LoadEstimate:
    """Send all samples, and return what the node holds once all have come."""
    bench.describe(description)
    bench.play([(topic, data) for topic, _, _, data in messages if topic != "/robot_description"])
    assert bench.estimator is not None
    identification = bench.estimator._identification
    assert identification is not None
    sent = Counter(topic.strip("/") for topic, *_ in messages)
    assert identification.received == {topic: sent[topic] for topic in identification.received}
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
    trace = replay_bags([bag], Plan(settings=settings, moments=0), lambda: None, lambda _: None).load
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


def test_they_agree_on_a_base_that_leans(bench: Bench, tmp_path: Path) -> None:
    base = LeaningBase({"pitch": Swing(0.4, 9.0, start=2.0)}, rounds=1)
    messages = [*joint_messages(base.joints()), *imu_messages(base.imu()), *wrench_messages(base.wrenches())]
    messages.sort(key=lambda message: message[2])
    bench.start(load__wrench_sign="on_load", gravity_source="imu")
    live = play(bench, messages, URDF)
    bag = write_bag(tmp_path / "bag", [text_message(URDF, messages[0][2]), *messages])
    load = LoadSettings(sensor_frame="ft_sensor", wrench_sign=SignChoice.ON_LOAD)
    plan = Plan(settings=Settings(gravity_source=GravitySource.IMU, load=load), moments=0)
    trace = replay_bags([bag], plan, lambda: None, lambda _: None).load
    assert trace is not None
    assert not trace.health
    assert (live.stamp, live.rows) == (trace.estimate.stamp, trace.estimate.rows)
    np.testing.assert_allclose(live.values, trace.estimate.values, rtol=TOLERANCE, atol=0.0)
    assert abs(live.values[0] - BAR[0]) < 0.03
