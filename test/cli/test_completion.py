"""Completion in a real bash."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from inertid_ros.cli.completion import format_completion
from inertid_ros.cli.main import COMMANDS, main

BASH = shutil.which("bash")


def complete(*words: str) -> list[str]:
    """What bash offers for the last word."""
    assert BASH is not None
    listed = " ".join(f"'{word}'" for word in words)
    call = f"COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _inertid; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    script = f"{format_completion(COMMANDS)}\n{call}"
    return subprocess.run([BASH, "-c", script], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.skipif(BASH is None, reason="no bash on this machine")
def test_commands_options_and_choices_are_completed() -> None:
    assert complete("inertid", "rea") == ["reactions"]
    assert complete("inertid", "") == [command.name for command in COMMANDS]
    assert complete("inertid", "replay", "--pa") == ["--params"]
    assert complete("inertid", "demo", "p") == ["puma560"]
    assert complete("inertid", "node", "--r") == ["--ros-args"]
    # Nothing of ours: the shell then completes files.
    assert complete("inertid", "replay", "my_b") == []


def test_the_command_prints_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion"]) == 0
    assert capsys.readouterr().out == format_completion(COMMANDS)
