"""Keys from a terminal, and answers from a pipe."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Iterator

import pytest

from inertid_ros.cli.keyboard import Keyboard, NoAnswerError
from inertid_ros.guide.dialogue import ENTER


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Where to write what standard input reads."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as standard_input:
        monkeypatch.setattr("sys.stdin", standard_input)
        yield writing


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """Where a person types, and the terminal that standard input is."""
    person, device = pty.openpty()
    with os.fdopen(device) as standard_input:
        monkeypatch.setattr("sys.stdin", standard_input)
        yield person, device
    os.close(person)


def test_a_pipe_is_read_letter_by_letter_when_there_is_a_question(pipe: int) -> None:
    os.write(pipe, b"T\n\xff")
    with Keyboard(agrees=False) as keyboard:
        assert keyboard.read([ENTER], asks=False) == "", "not read ahead of the question"
        assert [keyboard.read([ENTER], asks=True) for _ in range(2)] == ["t", ENTER]
        assert keyboard.read([ENTER], asks=True) == "\N{REPLACEMENT CHARACTER}"
        assert keyboard.read([ENTER], asks=True) == "", "nothing as yet"
    os.close(pipe)


def test_a_question_that_nobody_can_answer_says_what_to_do(pipe: int) -> None:
    os.close(pipe)
    with Keyboard(agrees=False) as keyboard, pytest.raises(NoAnswerError, match=r"standard input has ended.*--yes"):
        keyboard.read([ENTER], asks=True)


def test_q_stops_everything(pipe: int) -> None:
    os.write(pipe, b"Q")
    with Keyboard(agrees=False) as keyboard, pytest.raises(KeyboardInterrupt):
        keyboard.read([ENTER], asks=True)
    os.close(pipe)


def test_who_agrees_is_not_asked(pipe: int) -> None:
    os.write(pipe, b"q")
    with Keyboard(agrees=True) as keyboard:
        assert keyboard.read(["s", ENTER], asks=True) == "s"
        assert keyboard.read(["s", ENTER], asks=False) == ""
    os.close(pipe)


def test_keys_of_a_terminal_come_one_by_one_and_it_is_given_back_as_it_was(terminal: tuple[int, int]) -> None:
    person, device = terminal
    before = termios.tcgetattr(device)
    with Keyboard(agrees=False) as keyboard:
        assert not termios.tcgetattr(device)[3] & termios.ICANON
        assert keyboard.read([], asks=False) == ""
        os.write(person, b"s")
        assert keyboard.read([], asks=False) == "s"
        os.write(person, b"q")
        with pytest.raises(KeyboardInterrupt):
            keyboard.read([], asks=False)
    assert termios.tcgetattr(device) == before
