"""The node as a process of its own: how it starts and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import rclpy
from rclpy.context import Context
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from inertid_ros.cli.main import main
from inertid_ros.files.parameters import read_settings
from inertid_ros.ros.node import EstimatorNode

START_LIMIT = 300.0
"""Seconds after which something that has not happened will not happen, even where kernels are compiled first."""


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "inertid_ros.cli.main", "node", "--ros-args", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    """Read the log up to a line with this text."""
    assert process.stdout is not None
    end = time.monotonic() + START_LIMIT
    for line in process.stdout:
        if text in line:
            return
        assert time.monotonic() < end, f"'{text}' does not come"
    raise AssertionError(f"the node ended without '{text}'")


def refuse(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    """Start a node in this process, which must not succeed, and return what it says."""
    before = sys.getswitchinterval()
    try:
        assert main(["node", "--ros-args", *arguments]) == 1
    finally:
        sys.setswitchinterval(before)
    return capfd.readouterr().err


@pytest.mark.usefixtures("ros_domain")
def test_the_node_ends_cleanly_on_a_signal() -> None:
    process = start()
    wait_for(process, "no robot description")
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=START_LIMIT)
    assert process.returncode == 0
    assert "Traceback" not in output
    assert "FATAL" not in output


@pytest.mark.usefixtures("ros_domain")
def test_the_node_ends_cleanly_however_often_it_is_interrupted() -> None:
    """A terminal sends SIGINT to all, and launch once more to each."""
    process = start()
    wait_for(process, "no robot description")
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    output, _ = process.communicate(timeout=START_LIMIT)
    assert process.returncode == 0
    assert "Traceback" not in output


@pytest.mark.usefixtures("ros_domain")
@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("load.gate:=1.0", "3 to 100"),
        ("load.method:=magic", "filtered, differentiated, integral"),
        ("estimate_rate:=often", "0.1 to 50"),
    ],
)
def test_a_parameter_out_of_range_ends_the_start_with_the_range(
    parameter: str, expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    output = refuse(["-p", parameter], capfd)
    assert parameter.partition(":=")[0] in output
    assert expected in output


@pytest.fixture
def make_node(ros_domain: int) -> Iterator[Callable[..., EstimatorNode]]:
    """Make nodes in this process with the command line of a process."""
    context, nodes = Context(), []

    def make(*arguments: str) -> EstimatorNode:
        rclpy.init(args=["--ros-args", *arguments], context=context, domain_id=ros_domain)
        nodes.append(EstimatorNode(context=context))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.mark.parametrize("file", sorted((Path(__file__).parents[2] / "config").glob("*.yaml")), ids=lambda f: f.name)
def test_the_node_starts_with_every_shipped_parameter_file(file: Path, make_node: Callable[..., EstimatorNode]) -> None:
    node = make_node("--params-file", str(file))
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert node.settings == read_settings(file)


@pytest.mark.usefixtures("ros_domain")
def test_an_empty_list_is_called_by_its_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text("/**:\n  ros__parameters:\n    links:\n      joints: []\n", encoding="utf-8")
    assert "empty list" in refuse(["--params-file", str(file)], capfd)


def test_a_node_that_cannot_be_configured_says_why_and_waits(
    make_node: Callable[..., EstimatorNode], capfd: pytest.CaptureFixture[str]
) -> None:
    node = make_node("-p", "estimators:=[links]")
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert "parameter 'links.effort_unit' is ''" in capfd.readouterr().err
    node.set_parameters([Parameter("links.effort_unit", value="newton_metre")])
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS


@pytest.mark.usefixtures("ros_domain")
def test_a_parameter_file_that_is_not_there_ends_the_start(capfd: pytest.CaptureFixture[str]) -> None:
    output = refuse(["--params-file", "nowhere.yaml"], capfd)
    assert "nowhere.yaml" in output
    assert "To do: check the path" in output


@pytest.mark.usefixtures("ros_domain")
def test_a_parameter_file_that_would_never_end_is_not_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """While rclpy reads it, neither Ctrl-C nor SIGTERM would be heard."""
    pipe = tmp_path / "arm.yaml"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        assert f"'{path}' cannot be read: it is not a regular file" in refuse(["--params-file", str(path)], capfd)


def test_a_parameter_file_is_read(tmp_path: Path, make_node: Callable[..., EstimatorNode]) -> None:
    file = tmp_path / "arm.yaml"
    file.write_text("/**:\n  ros__parameters:\n    urdf: nowhere.urdf\n")
    assert make_node("--params-file", str(file)).settings.urdf == "nowhere.urdf"
