"""What all commands share: errors as one line on standard error, exit codes, options with one meaning."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from subprocess import PIPE

import pytest
from support.processes import Process

from inertid_ros.cli.command import PIPE_CLOSED, finish, make_parser, run_command
from inertid_ros.cli.main import COMMANDS, main
from inertid_ros.core.errors import FileAccessError

WRONG: dict[str, list[str]] = {
    "config": ["nowhere"],
    "replay": ["nowhere", "-o", "out"],
    "validate": ["nowhere.json", "bag"],
    "export-urdf": ["nowhere.json", "-o", "out.urdf"],
    "csv": ["nowhere.json"],
    "plot": ["nowhere.json", "--png", "out.png"],
    "excite": ["nowhere.urdf", "--target", "load", "-o", "out"],
    "identifiability": ["nowhere.urdf"],
    "object": ["list", "--library", "nowhere"],
    "recognise": ["held.json", "--library", "nowhere"],
    "reactions": ["nowhere"],
    "weigh": ["nowhere", "--arm", "nowhere.json"],
    "publish": ["nowhere"],
    "move": ["nowhere"],
    "feedforward": ["nowhere.yaml", "--arm", "nowhere.json", "-o", "out"],
    "practise": ["nowhere", "--arm", "nowhere.json", "-o", "out"],
}


def options_of(command: str) -> dict[str, argparse.Action]:
    (commands,) = [
        action for action in make_parser(COMMANDS)._actions if isinstance(action, argparse._SubParsersAction)
    ]
    parser = commands.choices[command]
    return {name: action for action in parser._actions for name in action.option_strings or [action.dest]}


def test_every_command_is_looked_at() -> None:
    (commands,) = [
        action for action in make_parser(COMMANDS)._actions if isinstance(action, argparse._SubParsersAction)
    ]
    elsewhere = {"node", "driver", "demo", "guide", "view", "params", "completion"}
    assert set(WRONG) == set(commands.choices) - elsewhere


@pytest.mark.parametrize("command", WRONG)
def test_an_error_is_one_line_on_standard_error(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([command, *WRONG[command]]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert line.startswith(f"inertid {command}: ")
    assert "nowhere" in line
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_an_error_of_several_lines_becomes_one(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(_: argparse.Namespace) -> int:
        raise FileAccessError("first\n   second")

    assert run_command(argparse.Namespace(command="plot", run=fail)) == 1
    assert capsys.readouterr() == ("", "inertid plot: first second\n")


def test_ctrl_c_ends_any_command_with_130(capsys: pytest.CaptureFixture[str]) -> None:
    def stop(_: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    assert run_command(argparse.Namespace(command="excite", run=stop)) == 130
    assert capsys.readouterr() == ("", "inertid excite: stopped\n")


def test_notes_go_to_standard_error_and_fail(capsys: pytest.CaptureFixture[str]) -> None:
    options = argparse.Namespace(command="weigh", json=True)
    assert finish(options, {"mass": 1.5, "notes": ["a bag is damaged"]}, lambda _: None) == 1
    printed = capsys.readouterr()
    assert printed.err == "inertid weigh: a bag is damaged\n"
    assert '"mass": 1.5' in printed.out


@pytest.mark.parametrize("option", ["--params", "--urdf", "--remap", "--output", "--json", "--start", "--end", "bags"])
def test_an_option_is_the_same_in_all_commands(option: str) -> None:
    """Same metavar and number of values; `excite --start` is an estimate, and that of all others a time."""
    found = [options_of(command)[option] for command in WRONG if option in options_of(command) and command != "excite"]
    assert len({(type(action), str(action.nargs), action.type) for action in found}) == 1
    if option != "--output":
        assert len({action.metavar for action in found}) == 1


def test_a_reader_that_has_seen_enough_ends_a_command_quietly() -> None:
    """As in `inertid params | head -1`: no traceback, and the exit code of a program ended by SIGPIPE."""
    command = [sys.executable, "-c", "from inertid_ros.cli.main import main; raise SystemExit(main(['params']))"]
    with Process(command, stdout=PIPE, stderr=PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # before anything is written: a pipe that nobody reads
        said = process.stderr.read()
        assert process.wait(60) == PIPE_CLOSED
    assert "Traceback" not in said
    assert "BrokenPipe" not in said
