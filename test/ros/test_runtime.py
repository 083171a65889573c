"""A process ends with the code it should, whatever its executor was doing, and nothing holds its messages up."""

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


LOGGED = """
import os
import rclpy
from rclpy.node import Node
from inertid_ros.ros.runtime import ros_session, spin

def log():
    find = os.path.realpath
    os.path.realpath = lambda path, **options: looked_at.append(path) or find(path, **options)
    node.get_logger().info("something happened")
    os.path.realpath = find
    print("files:", len(looked_at))
    rclpy.shutdown()

with ros_session([]):
    node, looked_at = Node("logging"), []
    node.create_timer(0.01, log)
    spin(node)
"""
"""The first line that a node logs while it serves messages, and how many files are looked at for it."""


def test_the_first_line_of_the_log_does_not_look_at_all_modules() -> None:
    done = subprocess.run([sys.executable, "-c", LOGGED], capture_output=True, text=True, timeout=60, check=False)
    assert int(done.stdout.split("files:")[1]) < 10, done.stderr


INTERRUPTED = """
import os
import signal
import rclpy
from rclpy.node import Node
from inertid_ros.ros.runtime import ros_session, spin

def initialise(**options):
    os.kill(os.getpid(), signal.SIGINT)
    take_over(**options)

take_over, rclpy.init = rclpy.init, initialise
with ros_session([]):
    print("taken over")
    spin(Node("interrupted"))
print("ended")
"""
"""A signal that comes while rclpy takes signals over."""


def test_a_signal_in_the_middle_of_the_start_is_kept_for_rclpy() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "taken over\nended\n", done.stderr
    assert done.returncode == 0
