"""Frames and robot descriptions that are wrong, late or change, inputs that fall silent."""

from __future__ import annotations

from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from support.bench import Bench

from inertid_ros.sim.scenario import read_urdf


def test_a_wrench_in_another_frame_of_the_robot_is_refused(bench: Bench) -> None:
    def in_link5(message: WrenchStamped) -> WrenchStamped:
        message.header.frame_id = "link5"
        return message

    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.feed(1.0, wrench=in_link5)
    status = bench.status("wrench")
    assert status.level == DiagnosticStatus.ERROR
    assert "'link5'" in status.message
    assert "'ft_sensor'" in status.message
    bench.feed(2.0)
    bench.assert_recovered()


def test_an_unknown_frame_is_refused_with_the_frames_there_are_and_can_be_corrected(bench: Bench) -> None:
    bench.start(load__sensor_frame="wrist")
    bench.describe()
    bench.feed(1.0)
    status = bench.status("robot_description")
    assert status.level == DiagnosticStatus.ERROR
    assert "'wrist'" in status.message
    assert "link5, link6, ft_sensor" in status.message
    assert not bench.received["load/parameters"]
    assert bench.set_parameter("load.sensor_frame", "ft_sensor").successful
    bench.feed(4.0)
    bench.assert_recovered()
    assert bench.status("robot_description").level == DiagnosticStatus.OK


def test_without_a_configured_frame_the_wrench_names_it(bench: Bench) -> None:
    bench.start(load__sensor_frame="")
    bench.describe()
    bench.feed(4.0)
    bench.assert_recovered()
    assert bench.newest("load/inertia").header.frame_id == "ft_sensor"


@pytest.mark.parametrize("description_first", [True, False])
def test_a_wrench_without_a_frame_is_an_error_that_lists_the_frames(bench: Bench, description_first: bool) -> None:
    def without_frame(message: WrenchStamped) -> WrenchStamped:
        message.header.frame_id = ""
        return message

    bench.start(load__sensor_frame="")
    if description_first:
        bench.describe()
    bench.feed(1.0, wrench=without_frame)
    if not description_first:
        bench.describe()
    status = bench.status("wrench")
    assert status.level == DiagnosticStatus.ERROR
    assert "no frame_id" in status.message
    assert "set load.sensor_frame to one of: " in status.message
    assert "link5, link6, ft_sensor" in status.message
    assert bench.set_parameter("load.sensor_frame", "ft_sensor").successful
    bench.feed(4.0, wrench=without_frame)
    bench.assert_recovered()
    status = bench.status("wrench")
    assert status.level == DiagnosticStatus.WARN
    assert "not in the robot description" in status.message


def test_a_late_description_is_waited_for(bench: Bench) -> None:
    bench.start()
    bench.feed(1.0)
    status = bench.status("robot_description")
    assert status.level == DiagnosticStatus.WARN
    assert "urdf" in status.message
    bench.describe()
    bench.feed(4.0)
    bench.assert_recovered()


@pytest.mark.parametrize("text", ["", "no XML", "<robot>", "<robot name='r'><link name='base_link'/></robot>"])
def test_a_broken_description_is_reported_and_a_good_one_taken(bench: Bench, text: str) -> None:
    bench.start()
    bench.describe(text)
    bench.feed(0.5)
    status = bench.status("robot_description")
    assert status.level > DiagnosticStatus.OK
    assert "To do:" in status.message
    bench.describe()
    bench.feed(4.0)
    bench.assert_recovered()
    assert bench.status("robot_description").level == DiagnosticStatus.OK


def test_a_broken_description_does_not_replace_a_good_one(bench: Bench) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.describe("<robot>")
    bench.feed(1.0)
    assert bench.status("robot_description").level == DiagnosticStatus.ERROR
    bench.assert_recovered()


@pytest.mark.parametrize("text", ["no XML", "", None])
def test_a_file_that_is_no_description_is_reported_until_it_is_no_longer_asked_for(
    bench: Bench, tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / "arm.urdf"
    if text is not None:
        file.write_text(text)
    bench.start(allow_path_changes=True)
    assert bench.set_parameter("urdf", str(file)).successful
    status = bench.status("robot_description")
    assert status.level == DiagnosticStatus.ERROR
    assert "set urdf to another file" in status.message
    assert "publish it again" not in status.message
    assert bench.set_parameter("urdf", "").successful
    status = bench.status("robot_description")
    assert status.level == DiagnosticStatus.WARN
    assert "no robot description has arrived yet" in status.message
    file.write_text(read_urdf("puma560"), encoding="utf-16")
    assert bench.set_parameter("urdf", str(file)).successful
    assert bench.status("robot_description").level == DiagnosticStatus.OK
    bench.feed(4.0)
    bench.assert_recovered()


def test_the_same_description_again_changes_nothing_and_another_one_starts_anew(bench: Bench) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.describe()
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.03)
    bench.describe(read_urdf("puma560").replace('name="puma560"', 'name="another"'))
    assert bench.parameters()[0] == 0.0
    bench.feed(4.0)
    bench.assert_recovered()


def test_silent_inputs_and_a_clock_far_away_are_noted(bench: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    bench.start(use_sim_time=False)
    bench.describe()
    bench.feed(1.0)
    assert "behind the clock" in bench.history("wrench")["clock_apart"]
    assert bench.status("load").level == DiagnosticStatus.OK
    bench.spin(4.0)
    load = bench.status("load")
    assert load.level == DiagnosticStatus.WARN
    assert "stale, no wrench was used for 4" in load.message
    for source in ("joint_states", "wrench"):
        status = bench.status(source)
        assert status.level == DiagnosticStatus.ERROR
        assert "no messages" in status.message
    capfd.readouterr()
    bench.feed(1.0)
    assert bench.status("load").level == DiagnosticStatus.OK
    assert "wrench: resolved: no messages (once)" in capfd.readouterr().err
