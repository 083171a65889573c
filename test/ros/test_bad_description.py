"""Frames and robot descriptions that are wrong, late or change, inputs that fall silent."""

from __future__ import annotations

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


def test_silent_inputs_and_a_clock_far_away_are_noted(bench: Bench) -> None:
    bench.start(use_sim_time=False)
    bench.describe()
    bench.feed(1.0)
    assert "behind the clock" in bench.history("wrench")["clock_apart"]
    bench.spin(4.0)
    for source in ("joint_states", "wrench"):
        status = bench.status(source)
        assert status.level == DiagnosticStatus.ERROR
        assert "no messages" in status.message
