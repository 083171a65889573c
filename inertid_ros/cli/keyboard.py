"""Single keys from a terminal, without waiting for them; letters and line ends from whatever else standard input is."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from typing import Any

from inertid_ros.core.errors import InertidError
from inertid_ros.guide.dialogue import ENTER


class NoAnswerError(InertidError):
    """There is a question, and nobody who could answer it."""


class Keyboard:
    """Reads keys while it is entered; with `agrees`, the usual answer to every question is given at once."""

    def __init__(self, agrees: bool) -> None:
        """Prepare for standard input."""
        self._agrees = agrees
        self._input = sys.stdin.fileno()
        self._is_terminal = os.isatty(self._input)
        self._before: list[Any] = []

    def __enter__(self) -> Keyboard:
        """Let keys come one by one."""
        if self._is_terminal:
            self._before = termios.tcgetattr(self._input)
            tty.setcbreak(self._input)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the terminal back as it was."""
        if self._before:
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)

    def read(self, keys: list[str], asks: bool) -> str:
        """The key that was pressed, empty for none; `q` stops everything.

        Args:
            keys: that mean something, the usual answer first.
            asks: whether nothing goes on without one of them; only then something other than a terminal is read.
        """
        if asks and self._agrees:
            return keys[0]
        if not (asks or self._is_terminal) or not select.select([self._input], [], [], 0.0)[0]:
            return ""
        letter = os.read(self._input, 1).decode(errors="replace").lower()
        if not letter:
            raise NoAnswerError(
                "there is a question, and standard input has ended: run it in a terminal, or with --yes"
            )
        if letter == "q":
            raise KeyboardInterrupt
        return ENTER if letter in "\r\n" else letter
