"""Completion in a real bash and a real zsh."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from inertid_ros.cli.completion import format_completion
from inertid_ros.cli.main import COMMANDS, main

BASH, ZSH = shutil.which("bash"), shutil.which("zsh")


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


@pytest.mark.skipif(ZSH is None, reason="no zsh on this machine")
def test_zsh_completes_what_bash_completes_and_nothing_has_to_be_done_before(tmp_path: Path) -> None:
    assert ZSH is not None
    script = tmp_path / "completion"
    script.write_text(format_completion(COMMANDS))
    terminal, other_end = pty.openpty()
    environment = {"TERM": "dumb", "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    with subprocess.Popen(
        [ZSH, "-fi"], stdin=other_end, stdout=other_end, stderr=other_end, env=environment, start_new_session=True
    ) as shell:
        try:
            os.write(terminal, f"source {script}; print lo''aded\n".encode())
            read_until(terminal, b"loaded")
            os.write(terminal, b"inertid rea\t")
            read_until(terminal, b"inertid reactions ")
            os.write(terminal, b"--gravity-f\t")
            read_until(terminal, b"--gravity-from-force ")
        finally:
            shell.kill()
            os.close(terminal)
            os.close(other_end)


def read_until(terminal: int, wanted: bytes) -> None:
    """Read what a shell shows until something is there, or 60 s have passed."""
    shown = b""
    deadline = time.monotonic() + 60.0
    while wanted not in shown:
        assert select.select([terminal], [], [], deadline - time.monotonic())[0], shown
        shown += os.read(terminal, 4096).replace(b"\r", b"")


def test_the_command_prints_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion"]) == 0
    assert capsys.readouterr().out == format_completion(COMMANDS)
