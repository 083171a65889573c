"""What others in the ROS graph may do to the node: nothing kills it, hangs it, fills it, or makes it tell secrets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from support.bench import Bench
from support.random_robots import make_long_urdf

from inertid_ros.core.settings.rules import PATHS
from inertid_ros.ros.identification import Identification

SECRET = "hunter2-do-not-show"


def make_hostile_files(folder: Path) -> list[str]:
    """Paths of what must not be read, and of what cannot be."""
    os.mkfifo(folder / "fifo")
    (folder / "deep.yaml").write_text("[" * 50_000)
    (folder / "deep.json").write_text('{"a":' * 50_000)
    (folder / "bomb.yaml").write_text(
        "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"b{i}: &b{i} [{','.join(['*a'] * 9)}]\n" for i in range(9))
    )
    (folder / "secret").write_text(f"root:x:{SECRET}: [\n")
    (folder / "secret.xml").write_text(f"<{SECRET}>&{SECRET};")
    names = ("fifo", "deep.yaml", "deep.json", "bomb.yaml", "secret", "secret.xml", "missing", "")
    return [str(folder / name) for name in names] + ["/dev/zero", "~nobody-of-this-name/x"]


@pytest.mark.parametrize("name", PATHS)
def test_paths_are_read_only_unless_that_was_allowed(bench: Bench, name: str) -> None:
    node = bench.start("unconfigured")
    before = node.get_parameter(name).value
    for parameter, value in ((name, "/etc/passwd"), ("allow_path_changes", True)):
        result = bench.set_parameter(parameter, value)
        assert not result.successful
        assert "read-only" in result.reason
    assert node.get_parameter(name).value == before


@pytest.mark.parametrize("name", ["urdf", "load.tool_file"])
def test_no_file_kills_hangs_or_fills_the_node_or_is_quoted(bench: Bench, tmp_path: Path, name: str) -> None:
    bench.start(allow_path_changes=True, save_directory=str(tmp_path))
    bench.describe()
    source = "tool" if name == "load.tool_file" else "robot_description"
    for path in make_hostile_files(tmp_path):
        assert bench.set_parameter(name, path).successful
        status = bench.status(source)
        assert status.level == DiagnosticStatus.ERROR, path
    assert bench.set_parameter(name, "").successful
    assert SECRET not in "".join(map(str, bench.received["diagnostics"]))
    bench.feed(4.0)
    bench.assert_recovered()


@pytest.mark.parametrize("path", ["x" * 4000, "/dev/null", "/proc/self/mem", "x/" * 2000])
def test_no_directory_kills_the_node(bench: Bench, path: str) -> None:
    bench.start(allow_path_changes=True)
    bench.describe()
    bench.feed(4.0)
    assert bench.set_parameter("save_directory", path).successful
    for service in ("save", "capture_tool"):
        answer = bench.call(Trigger, f"/inertid/{service}", Trigger.Request())
        assert not answer.success
        assert "cannot be written" in answer.message
    assert bench.call(Trigger, "/inertid/clear_tool", Trigger.Request()).success
    bench.assert_recovered()


@pytest.mark.parametrize("value", ["x" * 5000, "a\nb", "\x1b[2J"])
def test_a_text_that_is_too_long_or_steers_terminals_is_refused(bench: Bench, value: str) -> None:
    bench.start("unconfigured", allow_path_changes=True)
    for name in ("save_directory", "load.sensor_frame"):
        result = bench.set_parameter(name, value)
        assert not result.successful
        assert len(result.reason) < 300
        assert result.reason.isprintable()


def test_an_error_that_should_not_happen_in_a_service_is_answered(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> Any:
        raise ZeroDivisionError("never")

    bench.start()
    bench.describe()
    bench.feed(4.0)
    for method in ("prepare_save", "reset"):
        with monkeypatch.context() as patch:
            patch.setattr(Identification, method, fail)
            name = method.removeprefix("prepare_")
            answer = bench.call(Trigger, f"/inertid/{name}", Trigger.Request())
        assert not answer.success
        assert "internal error" in answer.message
    bench.assert_recovered()


@pytest.mark.parametrize(
    "text",
    [
        "<robot name='a'>" + "<link>" * 20_000 + "</link>" * 20_000 + "</robot>",
        "<robot name='a'><link name='b\x9b31m'/></robot>",
        "<robot name='a'><joint name='j' type='revolute'><parent link='a'/><child link='a'/></joint></robot>",
        "<robot>" + "x" * (17 << 20) + "</robot>",
    ],
)
def test_a_hostile_description_is_reported_and_the_last_good_one_stays(bench: Bench, text: str) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.describe(text)
    status = bench.status("robot_description")
    assert status.level == DiagnosticStatus.ERROR
    assert status.message.isprintable()
    assert len(status.message) < 3000
    bench.assert_recovered()


def test_a_robot_of_3000_joints_costs_no_memory_and_is_forgotten_with_the_next_description(bench: Bench) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    bench.describe(make_long_urdf(3000).replace("link3000", "ft_sensor"))
    status = bench.status("robot_description")
    assert status.level == DiagnosticStatus.ERROR
    assert "3000 joints, more than 150" in status.message
    bench.describe()
    bench.feed(4.0)
    bench.assert_recovered()


def test_names_cannot_steer_terminals(bench: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b[2J\n[INFO] all is well\x9b31m" + "x" * 100_000

    def rename_joints(message: JointState) -> JointState:
        message.name = [evil + name for name in message.name]
        return message

    def rename_frame(message: WrenchStamped) -> WrenchStamped:
        message.header.frame_id = evil
        return message

    bench.start()
    bench.describe()
    bench.feed(0.5, joints=rename_joints, wrench=rename_frame)
    bench.status("wrench")
    bench.status("joint_states")
    texts = [
        text
        for message in bench.received["diagnostics"]
        for status in message.status
        for text in (status.name, status.message, *(part for item in status.values for part in (item.key, item.value)))
    ]
    assert all(text.isprintable() for text in texts)
    assert max(map(len, texts)) < 5000
    log = capfd.readouterr().err
    assert evil[:10] not in log
    assert "\n[INFO] all is well" not in log
