"""A bag played into the live node gives what a replay of the same bag gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rclpy.qos import QoSProfile
from rosbags.rosbag2 import StoragePlugin
from support.bags import simulated_messages, write_bag
from support.bench import Bench
from support.chain import BAR, puma_motion, simulate_puma

from inertid_ros.core.load_chain import LoadEstimate
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.replay.plan import Plan
from inertid_ros.replay.replay import replay_bags
from inertid_ros.ros import inputs

SECONDS = 7.0
TOLERANCE = 1e-9
"""Not zero: how samples are put into blocks changes the order of summation, here about 1e-12 of a deviation."""


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    """Stands still, moves, and picks up a bar on the way."""
    simulator = simulate_puma(puma_motion(rounds=2), seed=3, schedule=((0.0, None), (4.0, BAR)))
    return write_bag(tmp_path / "bag", simulated_messages(simulator, 0.0, SECONDS), StoragePlugin.SQLITE3)


@pytest.fixture
def lossless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the node lose nothing, however busy the machine: the samples of the whole bag have room."""
    monkeypatch.setattr(inputs, "SAMPLES", QoSProfile(depth=10_000))


def play(bench: Bench, bag: Path) -> LoadEstimate:
    """Play with `inertid publish` from another process, and return what the node holds once all has come."""
    assert bench.estimator is not None
    identification = bench.estimator._identification
    assert identification is not None
    session = identification.load
    assert session is not None
    command = [sys.executable, "-m", "inertid_ros.cli.main", "publish", str(bag), "--rate", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    ended = bench.spin_until(lambda: process.poll() is not None, timeout=60.0)
    _, errors = process.communicate()
    assert ended
    assert process.returncode == 0, errors
    count = round(200 * SECONDS)
    sent = {"joint_states": count, "wrench": count}
    assert bench.spin_until(lambda: identification.received == sent), identification.received
    bench.spin(0.1)
    estimate = session.estimate()
    assert estimate is not None
    return estimate


@pytest.mark.usefixtures("lossless")
def test_node_and_replay_agree(bench: Bench, bag: Path) -> None:
    bench.start(load__wrench_sign="on_load")
    live = play(bench, bag)
    settings = Settings(load=LoadSettings(sensor_frame="ft_sensor", wrench_sign="on_load"))
    trace = replay_bags([bag], Plan(settings=settings), lambda: None, lambda _: None).load
    assert trace is not None
    offline = trace.estimate
    assert [event.kind for event in trace.events] != []
    for name in ("stamp", "rows", "states", "mode", "sign", "findings", "noise_calibrated"):
        assert getattr(live, name) == getattr(offline, name), name
    deviations, bias_deviations = (np.sqrt(np.diag(c)) for c in (offline.covariance, offline.bias_covariance))
    np.testing.assert_allclose(live.parameters, offline.parameters, rtol=TOLERANCE, atol=0.0)
    np.testing.assert_allclose(live.bias, offline.bias, rtol=TOLERANCE, atol=0.0)
    for mine, other, scale in (
        (live.covariance, offline.covariance, deviations),
        (live.bias_covariance, offline.bias_covariance, bias_deviations),
    ):
        np.testing.assert_allclose(mine / np.outer(scale, scale), other / np.outer(scale, scale), atol=TOLERANCE)
    np.testing.assert_allclose(live.noise_density, offline.noise_density, rtol=TOLERANCE)
    assert live.misfit == pytest.approx(offline.misfit, rel=TOLERANCE)
    np.testing.assert_allclose(bench.parameters(), offline.parameters, rtol=TOLERANCE, atol=0.0)
    published = np.array(bench.newest("load/covariance").data).reshape(10, 10)
    np.testing.assert_array_equal(published, live.covariance)
