"""A process ends with the code it should, whatever its executor was doing."""

from __future__ import annotations

import subprocess
import sys

CUT_SHORT = """
from rclpy.node import Node
from rclpy.impl.implementation_singleton import rclpy_implementation
from std_srvs.srv import Trigger
from inertid_ros.ros.runtime import ros_session, spin

with ros_session([]):
    node = Node("cut_short")
    for number in range(20):
        service = node.create_service(Trigger, f"~/service_{number}", lambda _, response: response)
    service.handle.destroy_when_not_in_use()
    try:
        spin(node)
    except rclpy_implementation.InvalidHandle:
        print("cut short")
"""
"""An executor that fails while it registers callbacks, as where a signal shuts the context down meanwhile: those of
some services are registered by then, in any order."""


def test_an_executor_that_was_cut_short_does_not_abort_the_process() -> None:
    command = [sys.executable, "-c", CUT_SHORT]
    for _ in range(3):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert "cut short" in done.stdout
        assert done.returncode == 0, done.stderr
