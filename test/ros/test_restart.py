"""A node that is killed goes on where it was: tool, load, bias and links, once the first data confirm them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import Trigger
from support.bench import Bench

from inertid_ros.files.state import read_state
from inertid_ros.sim.scenario import read_load, read_urdf


def restart(bench: Bench, **parameters: Any) -> None:
    """Replace the node by another one, without asking the old one: its worker and its memory are gone."""
    assert bench.estimator is not None
    bench.executor.remove_node(bench.estimator)
    bench.estimator.destroy_node()
    for messages in bench.received.values():
        messages.clear()
    bench.start(**parameters)
    bench.describe()


def wait_for_state(bench: Bench, path: Path) -> None:
    """Wait until the file has been written twice: what the first time is written may have been collected before."""
    for _ in range(2):
        wait_for_write(bench, path, path.stat().st_mtime_ns if path.exists() else 0)


def wait_for_write(bench: Bench, path: Path, before: int) -> None:
    """Wait until the file has been written after a time [ns]."""
    assert bench.spin_until(lambda: path.exists() and path.stat().st_mtime_ns > before)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("inertid_ros.ros.keeper.PERIOD", 0.2)
    return tmp_path / "state.json"


def restart_with_tool(bench: Bench, path: Path, **options: Any) -> None:
    """Capture what is carried as the tool, and restart once that is kept."""
    bench.start(**options)
    bench.describe()
    bench.feed(8.0)
    assert bench.call(Trigger, "/inertid/capture_tool", Trigger.Request()).success
    wait_for_state(bench, path)
    restart(bench, **options)


def test_tool_and_load_are_back_within_two_seconds_of_data(bench: Bench, path: Path) -> None:
    gripper = read_load("gripper")
    assert gripper is not None
    bench.simulate(load="gripper")
    options = {"state_file": str(path), "save_directory": str(path.parent)}
    restart_with_tool(bench, path, **options)
    bench.feed(2.0)
    assert bench.parameters()[0] == pytest.approx(0.0, abs=0.02), "the tool is subtracted"
    assert np.sqrt(bench.newest("load/covariance").data[0]) < 0.03
    assert bench.status("state").level == DiagnosticStatus.OK
    assert bench.call(Trigger, "/inertid/clear_tool", Trigger.Request()).success
    assert bench.parameters()[0] == pytest.approx(gripper[0], abs=0.02)
    wait_for_state(bench, path)
    assert read_state(path).tool is None


def test_before_its_frame_is_known_nothing_that_was_kept_is_lost(bench: Bench, path: Path) -> None:
    """Without a configured frame, the robot is known before there is anything to recall."""
    options = {"state_file": str(path), "load__sensor_frame": "", "save_directory": str(path.parent)}
    restart_with_tool(bench, path, **options)
    for _ in range(4):
        bench.status("state")
    state = read_state(path)
    assert state.tool is not None
    assert state.load is not None


def test_before_the_first_data_nothing_is_known(bench: Bench, path: Path) -> None:
    bench.start(state_file=str(path))
    bench.describe()
    bench.feed(6.0)
    wait_for_state(bench, path)
    restart(bench, state_file=str(path))
    assert bench.parameters()[0] == 0.0
    wait_for_state(bench, path)
    assert read_state(path).load is not None, "and nothing is lost meanwhile"


def test_a_load_that_was_put_down_meanwhile_is_not_believed(bench: Bench, path: Path) -> None:
    bench.start(state_file=str(path))
    bench.describe()
    bench.feed(8.0)
    wait_for_state(bench, path)
    bench.simulate(load="")
    bench.origin += 100 * 10**9
    restart(bench, state_file=str(path))
    bench.feed(3.0)
    assert bench.parameters()[0] == pytest.approx(0.0, abs=0.02)


def test_a_reset_is_kept_too(bench: Bench, path: Path) -> None:
    bench.start(state_file=str(path))
    bench.describe()
    bench.feed(6.0)
    wait_for_state(bench, path)
    assert bench.call(Trigger, "/inertid/reset", Trigger.Request()).success
    wait_for_state(bench, path)
    assert read_state(path).load is None


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: text[: len(text) // 2], "is not JSON"),
        (lambda text: text.replace('"misfit": ', '"misfit": 1'), "is damaged: its checksum is wrong"),
        (lambda text: text.replace('"version": 1', '"version": 9'), "another version"),
        (lambda text: "{}", "is not a state file"),  # noqa: ARG005
        (lambda text: "[" * 10**5, "is not JSON"),  # noqa: ARG005
    ],
)
def test_a_damaged_state_is_refused_by_name_and_written_anew(bench: Bench, path: Path, spoil: Any, words: str) -> None:
    bench.start(state_file=str(path))
    bench.describe()
    bench.feed(4.0)
    wait_for_state(bench, path)
    bench.executor.remove_node(bench.estimator)
    assert bench.estimator is not None
    bench.estimator.destroy_node()
    path.write_text(spoil(path.read_text()))
    bench.start(state_file=str(path))
    status = bench.status("state")
    assert status.level == DiagnosticStatus.ERROR
    assert words in status.message
    assert path.name in status.message
    bench.describe()
    bench.feed(4.0)
    assert bench.spin_until(lambda: bench.status("state").level == DiagnosticStatus.OK)
    assert read_state(path).load is not None


def test_the_state_of_another_robot_is_refused_and_left_alone(bench: Bench, path: Path) -> None:
    bench.start(state_file=str(path))
    bench.describe()
    bench.feed(4.0)
    wait_for_state(bench, path)
    content = path.read_bytes()
    assert bench.estimator is not None
    bench.executor.remove_node(bench.estimator)
    bench.estimator.destroy_node()
    bench.start(state_file=str(path))
    bench.describe(read_urdf("puma560").replace("<robot", "<!-- another --><robot", 1))
    bench.feed(4.0)
    status = bench.status("state")
    assert status.level == DiagnosticStatus.ERROR
    assert "another robot" in status.message
    assert path.read_bytes() == content
    bench.assert_recovered()


def test_a_place_that_cannot_be_written_is_reported(bench: Bench, tmp_path: Path, path: Path) -> None:
    bench.start(state_file=str(tmp_path / "missing" / path.name))
    bench.describe()
    bench.feed(4.0)
    status = bench.status("state")
    assert status.level == DiagnosticStatus.ERROR
    assert "cannot be written" in status.message
    bench.assert_recovered()


def test_links_are_back_before_the_arm_has_moved_much(bench: Bench, path: Path) -> None:
    bench.simulate(robot="ddarm", load="", motion="multisine", effort=True, links="paper")
    options: dict[str, Any] = {
        "state_file": str(path),
        "estimators": ["links"],
        "links__effort_unit": "newton_metre",
        "links__joints": ["joint1", "joint2", "joint3"],
    }
    bench.start(**options)
    bench.describe(read_urdf("ddarm"))
    bench.feed(10.0)
    wait_for_state(bench, path)
    known = read_state(path).links
    assert known is not None
    assert bench.estimator is not None
    bench.executor.remove_node(bench.estimator)
    bench.estimator.destroy_node()
    bench.received["links/base_parameters"].clear()
    bench.start(**options)
    bench.describe(read_urdf("ddarm"))
    bench.feed(2.0)
    bench.received["links/base_parameters"].clear()
    assert bench.spin_until(lambda: len(bench.received["links/base_parameters"]) > 1)
    found = np.array(bench.newest("links/base_parameters").data)[: len(known.memory.values)]
    deviations = np.sqrt(np.diag(known.memory.covariance))
    assert np.abs((found - known.memory.values) / deviations).max() < 3.0
    assert "state_contradicted" not in json.dumps(bench.history("state"))
