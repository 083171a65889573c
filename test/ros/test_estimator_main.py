"""The node as a process of its own: how it starts and how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

START_LIMIT = 30.0


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


@pytest.mark.usefixtures("ros_domain")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_node_ends_cleanly_on_a_signal(number: signal.Signals) -> None:
    process = start()
    wait_for(process, "no robot description")
    process.send_signal(number)
    output, _ = process.communicate(timeout=10)
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
    output, _ = process.communicate(timeout=10)
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
def test_a_parameter_out_of_range_ends_the_start_with_the_range(parameter: str, expected: str) -> None:
    process = start("-p", parameter)
    output, _ = process.communicate(timeout=START_LIMIT)
    assert process.returncode == 1
    assert parameter.partition(":=")[0] in output
    assert expected in output
    assert "Traceback" not in output


@pytest.mark.usefixtures("ros_domain")
@pytest.mark.parametrize("file", sorted((Path(__file__).parents[2] / "config").glob("*.yaml")), ids=lambda f: f.name)
def test_the_node_starts_with_every_shipped_parameter_file(file: Path) -> None:
    process = start("--params-file", str(file))
    wait_for(process, "no robot description")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 0


@pytest.mark.usefixtures("ros_domain")
def test_an_empty_list_is_called_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text("/**:\n  ros__parameters:\n    links:\n      joints: []\n", encoding="utf-8")
    process = start("--params-file", str(file))
    output, _ = process.communicate(timeout=START_LIMIT)
    assert process.returncode == 1
    assert "empty list" in output
    assert "Traceback" not in output


@pytest.mark.usefixtures("ros_domain")
def test_a_node_that_cannot_be_configured_says_why_and_waits() -> None:
    process = start("-p", "estimators:=[links]")
    wait_for(process, "parameter 'links.effort_unit' is ''")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=10)
    assert process.returncode == 0
    assert "Traceback" not in output


@pytest.mark.usefixtures("ros_domain")
def test_a_parameter_file_that_is_not_there_ends_the_start() -> None:
    process = start("--params-file", "nowhere.yaml")
    output, _ = process.communicate(timeout=START_LIMIT)
    assert process.returncode == 1
    assert "nowhere.yaml" in output
    assert "To do: check the path" in output
    assert "Traceback" not in output


@pytest.mark.usefixtures("ros_domain")
def test_a_parameter_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    file.write_text("/**:\n  ros__parameters:\n    urdf: nowhere.urdf\n    load:\n      sensor_frme: tool0\n")
    process = start("--params-file", str(file))
    wait_for(process, "'load.sensor_frme' is no parameter of this node")
    wait_for(process, "nowhere.urdf")
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
