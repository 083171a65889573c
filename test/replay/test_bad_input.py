"""Bad input to `inertid replay`: one line that says what to do, a non-zero exit code, and what can be kept is kept."""

from __future__ import annotations

import json
import re
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bags import find_storage, joint_messages, puma_messages, text_message, wrench_messages, write_bag
from support.chain import DDARM, PUMA, puma_motion, simulate_puma

from inertid_ros.cli.main import main
from inertid_ros.core.errors import FileAccessError

PARAMETERS = """
inertid:
  ros__parameters:
    use_sim_time: true
    load:
      sensor_frame: ft_sensor
      wrench_sign: on_load
"""


class Result:
    """What a call of the command left behind."""

    def __init__(self, code: int, shown: str, errors: str, output: Path) -> None:
        self.code = code
        self.shown = shown
        self.lines = errors.strip().splitlines()
        self.output = output

    @property
    def document(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.output / "estimate.json").read_text())
        return content

    def check_failed(self, *words: str) -> None:
        assert self.code == 1
        assert len(self.lines) == 1
        assert self.lines[0].startswith("inertid replay: ")
        assert [word for word in words if word not in self.lines[0]] == []
        assert not (self.output / "estimate.json").exists()


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> Result:
        parameters = tmp_path / "parameters.yaml"
        parameters.write_text(PARAMETERS)
        capsys.readouterr()
        command = ["replay", *map(str, arguments), "--params", str(parameters), "--force", "-o", str(tmp_path / "out")]
        code = main(command)
        return Result(code, *capsys.readouterr(), tmp_path / "out")

    return call


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bag(tmp_path_factory.mktemp("bags") / "good", puma_messages(6.0))


def test_good_bag_has_no_errors(run: Run, good: Path) -> None:
    result = run(good)
    assert result.code == 0
    assert result.lines == []
    assert result.document["notes"] == []


def test_missing_bag(run: Run, tmp_path: Path) -> None:
    run(tmp_path / "nothing").check_failed("nothing", "does not exist")


def test_folder_that_is_no_bag(run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    run(tmp_path / "folder").check_failed("metadata.yaml", "rosbag2 folder")


def test_file_of_another_kind(run: Run, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("no bag")
    run(tmp_path / "text.txt").check_failed("cannot be read")


def test_wrong_topic_names_those_that_could_be_meant(run: Run, tmp_path: Path, good: Path) -> None:
    simulator = simulate_puma(puma_motion())
    messages = [*joint_messages(simulator.joints(0.0, 1.0)), *wrench_messages(simulator.wrenches(0.0, 1.0), "/ft/raw")]
    bag = write_bag(tmp_path / "bag", [text_message(PUMA, messages[0][2]), *messages])
    run(bag).check_failed("/wrench", "--remap wrench:=/ft/raw")
    run(good, "--remap", "wrong").check_failed("--remap", "wrench:=/TOPIC")
    assert run(bag, "--remap", "wrench:=/ft/raw").code == 0


def test_no_wrench(run: Run, tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", joint_messages(simulate_puma(puma_motion()).joints(0.0, 1.0)))
    run(bag).check_failed("no topic /wrench", "record geometry_msgs/msg/WrenchStamped")


def test_topic_of_another_type(run: Run, good: Path) -> None:
    run(good, "--remap", "wrench:=/joint_states").check_failed("is sensor_msgs/msg/JointState", "wrench:=/wrench")


def test_no_robot_description(run: Run, tmp_path: Path) -> None:
    run(write_bag(tmp_path / "bag", puma_messages(1.0)[1:])).check_failed("--urdf")


def test_robot_of_another_kind(run: Run, good: Path, tmp_path: Path) -> None:
    other = tmp_path / "ddarm.urdf"
    other.write_text(DDARM)
    result = run(good, "--urdf", other)
    assert result.code == 1
    assert "joint4" in result.lines[0]
    assert "--urdf" in result.lines[0]
    other.write_text(PUMA.replace("joint1", "axis1"))
    (result.output / "estimate.json").unlink()
    run(good, "--urdf", other).check_failed("axis1", "correct their names in the URDF")


def test_robot_without_the_frame_and_text_that_is_no_robot(run: Run, good: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.urdf"
    other.write_text(PUMA.replace('"ft_sensor"', '"elsewhere"'))
    run(good, "--urdf", other).check_failed("ft_sensor", "elsewhere", "add it to the URDF (--urdf)")
    other.write_text("<robot")
    run(good, "--urdf", other).check_failed("XML")
    run(good, "--urdf", tmp_path / "missing.urdf").check_failed("cannot be read", "--urdf")


def test_empty_bags(run: Run, tmp_path: Path) -> None:
    run(write_bag(tmp_path / "empty", [])).check_failed("empty")
    (tmp_path / "zero.mcap").write_bytes(b"")
    run(tmp_path / "zero.mcap").check_failed("cannot be read")


def test_output_that_cannot_be_written(run: Run, good: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file where a directory should be")
    result = run(good)
    assert result.code == 1
    assert len(result.lines) == 1
    assert "-o" in result.lines[0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_keeps_the_estimate(run: Run, good: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "predictions.mcap").symlink_to("/dev/full")
    result = run(good)
    assert result.code == 1
    assert all("predictions" in line for line in result.lines)
    assert result.document["load"]["states"][0] == "known"


@pytest.mark.parametrize(
    ("options", "lacking", "written"),
    [
        ([], r"plotly-.*\.js", ["estimate.json", "predictions.mcap", "report.html"]),
        (["--self-contained"], r"report\.html", ["estimate.json", "predictions.mcap"]),
    ],
)
def test_estimate_is_written_where_the_report_has_no_room(
    options: list[str], lacking: str, written: list[str], run: Run, good: Path
) -> None:
    """A limit on the size of files stands in for a disk that gets full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        result = run(good, *options)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert result.code == 1
    (line,) = result.lines
    assert re.search(f"{lacking}' cannot be written: File too large", line)
    assert "make room" in line
    assert sorted(path.name for path in result.output.iterdir()) == written


def test_numbers_are_shown_even_if_they_cannot_be_written(
    run: Run, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, _: object) -> None:
        raise FileAccessError(f"'{path}' cannot be written: No space left on device; make room")

    monkeypatch.setattr("inertid_ros.replay.recordings.write_estimate", refuse)
    result = run(good)
    assert result.code == 1
    assert len(result.lines) == 1
    assert "estimate.json" in result.lines[0]
    assert "kg (95 %), known" in result.shown


def test_stamps_out_of_order_are_counted_and_the_rest_is_used(run: Run, tmp_path: Path) -> None:
    messages = puma_messages(6.0)
    rng = np.random.default_rng(1)
    for index in rng.choice(np.arange(10, len(messages) - 10), 40, replace=False):
        (topic, kind, time, _), other = messages[index], messages[index - 8]
        if other[0] == topic:
            messages[index] = (topic, kind, time, other[3])
    result = run(write_bag(tmp_path / "bag", messages))
    assert result.code == 1
    assert len(result.lines) == 1
    assert "stamps are out of order" in result.lines[0]
    assert "second publisher" in result.lines[0]
    assert sum(count for name, count in result.document["health"].items() if "backward" in name) > 3
    assert result.document["load"]["states"][0] == "known"


def test_truncated_bag_is_reported(run: Run, tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", puma_messages(3.0))
    file = find_storage(bag)
    file.write_bytes(file.read_bytes()[:-1000])
    result = run(bag)
    assert result.code == 1
    assert len(result.lines) == 1
    assert "damaged" in result.lines[0]
    assert result.document["load"]["rows"] > 10


def test_damaged_bag_among_others_is_left_out(run: Run, good: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.mcap").write_bytes(b"\x89MCAP0\r\nnot really")
    result = run(good, tmp_path / "broken.mcap", good, "--jobs", "1")
    assert result.code == 1
    assert len(result.lines) == 1
    assert "broken.mcap" in result.lines[0]
    assert len(result.document["recordings"]) == 2
    assert result.document["load"]["states"][0] == "known"


def test_unknown_parameter(run: Run, good: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("/**:\n  ros__parameters:\n    load:\n      sensor_fame: x\n")
    assert main(["replay", str(good), "--params", str(other), "--force", "-o", str(tmp_path / "out")]) == 1
    other.write_text("another_node:\n  ros__parameters:\n    a: 1\n")
    assert main(["replay", str(good), "--params", str(other), "--force", "-o", str(tmp_path / "out")]) == 1
    assert run(good).code == 0


def test_undecodable_messages_count_once_where_time_goes_back(run: Run, tmp_path: Path) -> None:
    """A clock that starts again within a block must not make the decoder look at a message twice."""
    messages = puma_messages(6.0)
    broken = [index for index, message in enumerate(messages) if message[0] == "/wrench"][-23:-20]
    for index in broken:
        topic, kind, time, data = messages[index]
        messages[index] = (topic, kind, time, data[:30])
    last = messages[-1][2]
    again = [(topic, kind, last + index, data) for index, (topic, kind, _, data) in enumerate(puma_messages(3.0)[1:])]
    result = run(write_bag(tmp_path / "bag", [*messages, *again]))
    assert result.code == 1
    assert "inertid replay: 3 messages of /wrench cannot be decoded: left out" in result.lines
    counts = {topic["topic"]: topic["count"] for topic in result.document["recordings"][0]["topics"]}
    sent = [message[0] for message in (*messages, *again)]
    assert counts == {"/joint_states": sent.count("/joint_states"), "/wrench": sent.count("/wrench") - 3}
