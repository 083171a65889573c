"""What happens when samples come faster than they can be carried or taken."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.bench import Bench

from inertid_ros.ros.inputs import SAMPLES

_FLOOD = """
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
rclpy.init()
node = rclpy.create_node("flood")
publisher = node.create_publisher(WrenchStamped, "wrench", QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))
message = WrenchStamped()
message.header.frame_id = 60_000 * "x"
message.header.stamp.sec = 1
while rclpy.ok():
    publisher.publish(message)
"""


def test_messages_lost_by_the_middleware_are_counted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inertid_ros.ros.inputs.SAMPLES", SAMPLES)
    bench.start()
    with subprocess.Popen([sys.executable, "-c", _FLOOD]) as flood:
        try:
            assert bench.spin_until(lambda: "lost" in bench.history("wrench"))
        finally:
            flood.terminate()
    found = bench.history("wrench")["lost"]
    assert int(found.split()[0].rstrip("×")) > 0, found
    assert "lost" not in bench.history("joint_states")
