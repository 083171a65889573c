"""The services, called as a user calls them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import SetBool, Trigger
from support.bench import RATE, Bench

from inertid_ros.core.estimation.estimate import Sign
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.files.estimate import read_estimate, read_tool
from inertid_ros.sim.scenario import read_load


def trigger(bench: Bench, name: str) -> Any:
    return bench.call(Trigger, f"/inertid/{name}", Trigger.Request())


def test_reset_forgets_the_load_and_learns_it_again(bench: Bench) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.03)
    assert trigger(bench, "reset").success
    assert bench.parameters()[0] == 0.0
    bench.feed(4.0)
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.03)


def test_while_paused_nothing_is_learnt_and_predictions_go_on(bench: Bench) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.settle()
    assert bench.call(SetBool, "/inertid/pause", SetBool.Request(data=True)).success
    before = bench.parameters()
    bench.received["load/wrench_predicted"].clear()
    bench.feed(1.0)
    assert bench.spin_until(lambda: len(bench.received["load/wrench_predicted"]) > 0.75 * RATE)
    np.testing.assert_array_equal(bench.parameters(), before)
    assert bench.call(SetBool, "/inertid/pause", SetBool.Request(data=False)).success
    bench.feed(1.0)
    assert np.any(bench.parameters() != before)


def test_a_captured_tool_is_written_subtracted_and_cleared(bench: Bench, tmp_path: Path) -> None:
    bench.simulate(load="gripper")
    bench.start(save_directory=str(tmp_path), allow_path_changes=True)
    bench.describe()
    bench.feed(6.0)
    gripper = read_load("gripper")
    assert gripper is not None
    answer = trigger(bench, "capture_tool")
    assert answer.success, answer.message
    assert str(tmp_path) in answer.message
    tool = read_tool(tmp_path / "inertid_tool.yaml")
    assert tool.sensor_frame == "ft_sensor"
    assert tool.phi[0] == pytest.approx(gripper[0], abs=0.02)
    assert bench.parameters()[0] == pytest.approx(0.0, abs=0.02)
    assert trigger(bench, "clear_tool").success
    assert bench.parameters()[0] == pytest.approx(gripper[0], abs=0.02)
    assert bench.set_parameter("load.tool_file", str(tmp_path / "inertid_tool.yaml")).successful
    bench.feed(4.0)
    assert bench.parameters()[0] == pytest.approx(0.0, abs=0.02)


def test_tools_are_remembered_by_name_and_change_without_a_restart(bench: Bench, tmp_path: Path) -> None:
    bench.simulate(load="gripper")
    bench.start(save_directory=str(tmp_path), load__tool="gripper")
    bench.describe()
    bench.feed(6.0)
    assert "inertid_tool_gripper.yaml" in bench.status("tool").message, "it is not known yet"
    assert trigger(bench, "capture_tool").success
    assert bench.status("tool").level == DiagnosticStatus.OK
    assert bench.parameters()[0] == pytest.approx(0.0, abs=0.02)
    gripper = read_load("gripper")
    assert gripper is not None
    used = bench.newest("load/covariance").data[0]
    # Another one that was never captured: nothing is subtracted, and that is said; nothing that was learned is lost.
    assert bench.set_parameter("load.tool", "suction").successful
    bench.feed(0.2)
    assert bench.parameters()[0] == pytest.approx(gripper[0], abs=0.02)
    assert "inertid_tool_suction.yaml" in bench.status("tool").message
    assert bench.set_parameter("load.tool", "gripper").successful
    bench.feed(0.2)
    assert bench.parameters()[0] == pytest.approx(0.0, abs=0.02)
    assert bench.newest("load/covariance").data[0] <= 4.0 * used
    assert not bench.set_parameter("load.tool", "../gripper").successful
    assert [path.name for path in tmp_path.glob("*.yaml")] == ["inertid_tool_gripper.yaml"]


def test_capturing_a_tool_names_what_is_not_known_of_it(bench: Bench, tmp_path: Path) -> None:
    bench.simulate(load="gripper", motion="multisine", multisine_speed=0.05)
    bench.start(save_directory=str(tmp_path))
    bench.describe()
    bench.feed(12.0)
    states = bench.newest("load/parameters").layout.dim[1].label.split(", ")
    unknown = [name for name, state in zip(PARAMETER_NAMES, states, strict=True) if state != "known"]
    assert unknown
    answer = trigger(bench, "capture_tool")
    assert answer.success, answer.message
    assert f"not known of it yet: {', '.join(unknown)} (" in answer.message


def test_a_tool_is_not_captured_before_it_is_known(bench: Bench, tmp_path: Path) -> None:
    bench.start(save_directory=str(tmp_path))
    bench.describe()
    bench.feed(0.5)
    answer = trigger(bench, "capture_tool")
    assert not answer.success
    assert "not identified yet" in answer.message
    assert list(tmp_path.glob("*.yaml")) == []


def test_a_tool_file_that_cannot_be_used_is_reported_and_the_node_goes_on(bench: Bench, tmp_path: Path) -> None:
    bench.start(load__tool_file=str(tmp_path / "missing.yaml"))
    bench.describe()
    bench.feed(4.0)
    status = bench.status("tool")
    assert status.level == DiagnosticStatus.ERROR
    assert "missing.yaml" in status.message
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.03)


def test_save_writes_what_is_published_and_where_it_comes_from(bench: Bench, tmp_path: Path) -> None:
    bench.start(save_directory=str(tmp_path))
    bench.describe()
    bench.feed(6.0)
    bench.settle()
    parameters = bench.parameters()
    answer = trigger(bench, "save")
    assert answer.success, answer.message
    load = read_estimate(tmp_path / "inertid_load.yaml").need_load()
    np.testing.assert_allclose(load.values, parameters, rtol=1e-12)
    assert load.frame == "ft_sensor"
    assert load.sensor is not None
    assert load.sensor.sign is Sign.ON_LOAD
    content = yaml.safe_load((tmp_path / "inertid_load.yaml").read_text())
    assert content["load"]["method"] == "filtered"
    (samples,) = content["recordings"]
    assert samples["joint_states_received"] == samples["wrench_received"] == 6.0 * RATE
    assert 5.9 * RATE < samples["samples_used"] < 6.0 * RATE, "the first and last cannot be synchronised"
    assert 5.9e9 < samples["last_stamp"] - samples["first_stamp"] < 6.0e9
    assert "<inertial>" in (tmp_path / "inertid_load.yaml").read_text()


def test_saving_to_an_unwritable_place_says_so_and_the_node_goes_on(bench: Bench, tmp_path: Path) -> None:
    bench.start(save_directory=str(tmp_path / "missing"), allow_path_changes=True)
    bench.describe()
    bench.feed(4.0)
    for service in ("save", "capture_tool"):
        answer = trigger(bench, service)
        assert not answer.success
        assert str(tmp_path / "missing") in answer.message
    status = bench.status("output")
    assert status.level == DiagnosticStatus.WARN
    assert str(tmp_path / "missing") in status.message
    assert bench.set_parameter("save_directory", str(tmp_path)).successful
    assert bench.status("output").level == DiagnosticStatus.OK
    assert trigger(bench, "save").success
    assert (tmp_path / "inertid_load.yaml").exists()


@pytest.mark.parametrize("service", ["reset", "capture_tool", "save"])
def test_without_a_robot_the_services_say_what_is_missing(bench: Bench, service: str) -> None:
    bench.start()
    answer = trigger(bench, service)
    assert not answer.success
    assert "robot description" in answer.message
