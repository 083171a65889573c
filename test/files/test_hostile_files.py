"""Files that are no files, bombs, secrets and links: refused in bounded time and memory, and never quoted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inertid_ros.core.errors import FileAccessError, FileFormatError, InertidError, RobotDescriptionError
from inertid_ros.core.robot.robot import Robot, parse_urdf
from inertid_ros.files.access import LARGEST, check_directory, write_whole
from inertid_ros.files.document import read_mapping
from inertid_ros.files.estimate import read_arm, read_estimate, read_tool
from inertid_ros.files.parameters import load_from_yaml, read_settings, read_static_file
from inertid_ros.files.urdf import UrdfFile

READERS = [read_estimate, read_tool, read_arm, load_from_yaml, read_static_file, read_settings, UrdfFile.read]
SECRET = "hunter2-do-not-show"
MEMORY = 200 << 20
"""Bytes that reading the largest file may take."""

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(8)
)


@pytest.fixture(autouse=True)
def _bounded() -> Iterator[None]:
    """Nothing takes longer than 20 s, however slow the machine, or more memory than is allowed."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(20)
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    signal.alarm(0)
    assert peak < MEMORY


def _give_up(*_: object) -> None:
    raise TimeoutError("it hangs")


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("kind", ["fifo", "device", "directory", "loop", "large", "null", "user", "long"])
def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path, read: Any, kind: str) -> None:
    path = tmp_path / "file.yaml"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    elif kind == "directory":
        (path / "estimate.json").mkdir(parents=True)
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "large":
        with path.open("wb") as stream:
            stream.truncate(LARGEST + 1)
    else:
        path = Path({"null": "a\0b", "user": "~nobody-of-this-name/a.yaml", "long": "x" * 5000}[kind])
    with pytest.raises(FileAccessError, match="cannot be read: "):
        read(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bomb.yaml", BOMB),
        ("deep.yaml", "[" * 100_000),
        ("deep_block.yaml", "".join(" " * i + "a:\n" for i in range(3000))),
        ("deep.json", "[" * 100_000 + "]" * 100_000),
        ("deep_mapping.json", '{"a":' * 900 + "1" + "}" * 900),
        ("deep_flow.yaml", '{"a": ' * 5000 + "1" + "}" * 5000),
        ("digits.json", "{" + f'"a": {"9" * 100_000}' + "}"),
        ("digits.yaml", f"a: {'9' * 100_000}"),
        ("binary.yaml", "a: \x00\x01"),
        ("latin.yaml", "a: \udcff"),
    ],
)
def test_bombs_and_nonsense_are_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(FileFormatError, match=r"is not (JSON|YAML|text)"):
        read_mapping(tmp_path / name)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "text",
    [
        f"user:x:{SECRET}:[\n",
        f"{SECRET}\n",
        f"!!int {SECRET}",
        f"a: !!timestamp {SECRET}",
        f"a: !!bool {SECRET}",
        f"a: !{SECRET} 1",
        f"a: *{SECRET}",
        f"format: {SECRET}",
        f"joints: {SECRET}\npositions: {SECRET}",
        f"mass: {SECRET}\ninertia_at_com: {SECRET}",
        f"<{SECRET}/>",
        f"<a>&{SECRET};</a>",
        "\udcff" + SECRET,
    ],
)
def test_what_is_in_a_file_is_not_told(tmp_path: Path, read: Any, text: str) -> None:
    path = tmp_path / "private"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InertidError) as caught:
        read(path)
    assert SECRET not in str(caught.value)
    assert "private" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>", "elements inside each other"),
        ("<robot><link name='a\x9b2J'/></robot>", "control characters"),
        ("<robot><link name='a&#10;b'/></robot>", "line breaks"),
        ("<robot name='\udcff'/>", "not well-formed"),
        ("<robot>" + " " * (16 << 20) + "</robot>", "longer than"),
        ('<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">' + "".join(
            f'<!ENTITY a{i} "{f"&a{i - 1 if i else str()};" * 10}">' for i in range(12)
        ) + "]><robot>&a11;</robot>", "not well-formed"),
    ],
)  # fmt: skip
def test_hostile_robot_descriptions_are_refused(text: str, expected: str) -> None:
    for read in (parse_urdf, Robot.from_urdf):
        with pytest.raises(RobotDescriptionError, match=expected):
            read(text)


def test_a_name_that_would_steer_a_terminal_is_escaped() -> None:
    message = str(FileFormatError("joint 'a\x1b[2J\nb\x9b'"))
    assert message == r"joint 'a\x1b[2J b\x9b'"
    assert len(str(FileFormatError("x" * 10**6))) < 3000


# Writing


def test_nothing_is_written_through_a_link_that_was_planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _: "0" * 16)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / f".state.json.{'0' * 16}.part").symlink_to(victim)
    with pytest.raises(FileAccessError, match="cannot be written: File exists"):
        write_whole(tmp_path / "state.json", "x")
    assert victim.read_text() == "mine"


def test_a_link_in_the_place_of_the_file_is_replaced_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "state.json").symlink_to(victim)
    write_whole(tmp_path / "state.json", "x")
    assert victim.read_text() == "mine"
    assert not (tmp_path / "state.json").is_symlink()


def test_what_a_killed_process_has_left_is_removed_at_the_next_write(tmp_path: Path) -> None:
    target, other = tmp_path / "a.json", tmp_path / f".b.json.{'0' * 16}.part"
    other.touch()
    program = (
        "import os, sys, pathlib\nfrom inertid_ros.files import access\n"
        "os.fsync = lambda _: os.kill(os.getpid(), 9)\n"
        "access.write_whole(pathlib.Path(sys.argv[1]), 'x' * 100)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".a.json.*.part"))) == 1
    assert not target.exists()
    write_whole(target, "y")
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name, "a.json"]


def test_what_another_process_is_writing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sync = os.fsync
    seen: list[Path] = []

    def write_meanwhile(_: int) -> None:
        monkeypatch.setattr("os.fsync", sync)
        write_whole(tmp_path / "a.json", "second")
        seen.extend(tmp_path.glob(".a.json.*.part"))

    monkeypatch.setattr("os.fsync", write_meanwhile)
    write_whole(tmp_path / "a.json", "first")
    assert len(seen) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "first"


@pytest.mark.parametrize("path", ["x" * 5000, "a\0b", "~nobody-of-this-name", "/proc/nowhere"])
def test_a_path_that_cannot_be_is_named(path: str) -> None:
    with pytest.raises(FileAccessError, match="cannot be written to: "):
        check_directory(Path(path))
    with pytest.raises(FileAccessError, match="cannot be written: "):
        write_whole(Path(path) / "file", "x")
