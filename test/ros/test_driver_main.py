"""The simulated driver as a process: remapping, start-up errors, and a clean end."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import pytest
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.task import Future

from inertid_ros.cli.main import main
from inertid_ros.ros.runtime import make_executor

PATIENCE = 60.0
"""Seconds after which something that has not happened will not happen."""


def start(*arguments: str) -> subprocess.Popen[str]:
    """Start a driver with parameters and remappings."""
    command = [sys.executable, "-m", "inertid_ros.cli.main", "driver", "--ros-args", *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def listen(ros_domain: int) -> Iterator[Callable[[str], None]]:
    """Wait until a wrench arrives on a topic."""
    rclpy.init(args=[], domain_id=ros_domain)
    node = Node("listener")
    executor = make_executor(node)
    executor.add_node(node)

    def wait(topic: str) -> None:
        received: list[WrenchStamped] = []
        node.create_subscription(WrenchStamped, topic, received.append, 10)
        deadline = time.monotonic() + PATIENCE
        while not received:
            assert time.monotonic() < deadline, f"nothing on {topic}"
            executor.spin_until_future_complete(Future(), timeout_sec=0.05)

    yield wait
    executor.remove_node(node)
    node.destroy_node()
    rclpy.shutdown()


def refuse(arguments: Sequence[str], capfd: pytest.CaptureFixture[str]) -> str:
    """Start a driver in this process, which must not succeed, and return what it says."""
    assert main(["driver", "--ros-args", *arguments]) == 1
    return capfd.readouterr().err


def test_driver_ends_cleanly_when_asked_to(listen: Callable[[str], None]) -> None:
    process = start("-r", "__ns:=/arm", "-r", "wrench:=ft/raw", "-p", "seed:=3")
    listen("/arm/ft/raw")
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "Traceback" not in errors
    assert "FATAL" not in errors
    assert "simulating puma560" in errors


@pytest.mark.parametrize("delay", [0.3, 0.7])
@pytest.mark.usefixtures("ros_domain")
def test_driver_ends_cleanly_when_asked_to_while_starting(delay: float) -> None:
    process = start()
    time.sleep(delay)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, -signal.SIGTERM)  # the latter before rclpy has taken over
    assert "Traceback" not in errors


@pytest.mark.usefixtures("ros_domain")
@pytest.mark.parametrize(
    ("parameter", "expected"),
    [("joint_rate:=0.1", "parameter 'joint_rate' is 0.1: expected 1 to 2000"), ("robot:=r2d2", "urdf/r2d2.urdf")],
)
def test_driver_says_what_is_wrong_and_fails(parameter: str, expected: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert expected in refuse(["-p", parameter], capfd)


@pytest.mark.usefixtures("ros_domain")
def test_driver_ends_quietly_whatever_it_is_doing() -> None:
    processes = [start("-p", "joint_rate:=2000.0", "-p", "wrench_rate:=2000.0", "-p", "load:=none") for _ in range(2)]
    for number, process in enumerate(processes):
        assert process.stderr is not None
        assert "load 'none'" in process.stderr.readline()
        time.sleep(0.1 + 0.03 * number)
        process.send_signal(signal.SIGINT)
    for process in processes:
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert not re.search("FATAL|ERROR|Exception|Traceback", errors), errors


@pytest.mark.usefixtures("ros_domain")
@pytest.mark.parametrize(
    ("arguments", "expected", "remedy"),
    [
        (("--params-file", "nowhere.yaml"), "nowhere.yaml", "check the path"),
        (("-p", "gravity:=[0,0,-9.81]"), "gravity:=[0,0,-9.81]", "all of them with a decimal point"),
        (("-p", "load:="), "load:=", "for an empty text"),
        (("--parms-file", "arm.yaml"), "--parms-file", "--params-file FILE"),
    ],
)
def test_a_command_line_ros_cannot_read_is_explained(
    arguments: tuple[str, ...], expected: str, remedy: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (line,) = [line for line in refuse(arguments, capfd).splitlines() if "FATAL" in line]
    assert expected in line.partition("To do: ")[0]
    assert remedy in line.partition("To do: ")[2]
    assert ".c:" not in line
