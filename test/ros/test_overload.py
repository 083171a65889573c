"""What happens when samples come faster than they can be carried or taken."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from support.bench import Bench
from support.processes import Process

from inertid_ros.ros.inputs import SAMPLES
from inertid_ros.ros.pace import BEHIND, FEWEST, LONGEST, PERIOD, Pace

_LOSE = """
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
rclpy.init()
node = rclpy.create_node("flood")
profile = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
publisher = node.create_publisher(WrenchStamped, "wrench", profile)
message = WrenchStamped()
message.header.frame_id = 60_000 * "x"
message.header.stamp.sec = 1
while rclpy.ok():
    publisher.publish(message)
"""
"""Publishes more bytes than any middleware carries."""

_FLOOD = """
import struct, sys, time
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node("flood")
joints = JointState(name=[f"joint{n}" for n in range(1, 7)], position=6 * [0.5], velocity=6 * [0.0])
wrench = WrenchStamped()
wrench.header.frame_id, wrench.wrench.force.z = "ft_sensor", -9.0
sent = []
for kind, topic, message in ((JointState, "joint_states", joints), (WrenchStamped, "wrench", wrench)):
    data = serialize_message(message)
    sent.append((node.create_publisher(kind, topic, 100), data[:4], data[12:]))
for publisher, _, _ in sent:
    while publisher.get_subscription_count() == 0:
        time.sleep(0.01)
begin = int(sys.argv[1])
for stamp in range(begin, begin + 15_000_000_000, 1_000_000):
    for publisher, head, rest in sent:
        publisher.publish(head + struct.pack("<iI", *divmod(stamp, 1_000_000_000)) + rest)
"""
"""Publishes 15,000 samples as fast as it can, which is faster than anybody can take them, from a stamp [ns] on."""


def test_messages_lost_by_the_middleware_are_counted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inertid_ros.ros.inputs.SAMPLES", SAMPLES)
    bench.start()
    with Process([sys.executable, "-c", _LOSE]) as flood:
        try:
            assert bench.spin_until(lambda: "lost" in bench.history("wrench"))
        finally:
            flood.terminate()
    found = bench.history("wrench")["lost"]
    assert int(found.split()[0].rstrip("×")) > 0, found
    assert "lost" not in bench.history("joint_states")


def test_overload_thins_predictions_until_it_is_over_and_nothing_else(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Samples that arrive are learnt from all the same."""
    monkeypatch.setattr("inertid_ros.ros.inputs.SAMPLES", SAMPLES)
    monkeypatch.setattr("inertid_ros.ros.pace.BEHIND", BEHIND)
    node = bench.start()
    bench.describe()
    bench.feed(1.0)
    identification = node._identification
    assert identification is not None
    assert "thinned" not in bench.history("output")
    (session,) = identification.sessions
    stamp = bench.origin + round(bench.time * 1e9)
    with Process([sys.executable, "-c", _FLOOD, str(stamp)]) as flood:
        assert bench.spin_until(lambda: "thinned" in bench.history("output"))
        flood.wait()
    assert bench.spin_until(lambda: node._pace.stride == 1)
    received, used = session.usage.wrenches_received, session.usage.samples_used
    assert used > 0.5 * received, "but for what was in gaps"
    assert len(bench.received["load/wrench_predicted"]) < used


def test_ordinary_pace_is_kept_whatever_the_stamps_say(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """In real time, by simulated time that runs five times slower."""
    monkeypatch.setattr("inertid_ros.ros.pace.BEHIND", BEHIND)
    monkeypatch.setattr("support.bench.CHUNK", 0.01)
    bench.start()
    bench.describe()
    for _ in range(50):
        bench.feed(0.01)
        bench.spin(0.04)
    assert "thinned" not in bench.history("output")


def _run(pace: Pace, start: float, seconds: float, step: float, ticks: float) -> float:
    """Samples every `step` seconds; ticks come with so many seconds of delay."""
    due, now = start + PERIOD, start
    for now in np.arange(start, start + seconds, step).tolist():
        pace.take_sample(now)
        if now >= due + ticks:
            due += PERIOD * np.ceil((now - due) / PERIOD)
            pace.tick(now, due - now)
    return now


def test_pause_is_no_overload_and_starved_timer_is() -> None:
    pace = Pace(0.0)
    now = _run(pace, 0.0, 10.0, 1e-3, 0.0)
    now = _run(pace, now + 3.0, 1.0, 1e-3, 0.0)
    now = _run(pace, now, 1.0, 20.0 * LONGEST, 0.0)
    now = _run(pace, now, 0.9 * (PERIOD + BEHIND), 1e-4, np.inf)
    assert pace.stride == 1
    now = _run(pace, now, 0.2 * (PERIOD + BEHIND), 1e-4, np.inf)
    assert pace.stride == 2
    now = _run(pace, now, 5.0, 1e-4, np.inf)
    assert pace.stride == FEWEST
    now = _run(pace, now, 1.0, 1e-4, 0.05)
    assert pace.stride == FEWEST
    _run(pace, now, 1.0, 1e-3, 0.0)
    assert pace.stride == 1
