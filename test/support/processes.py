"""Processes that end with the test that has started them."""

from __future__ import annotations

import subprocess
from typing import Any


class Process(subprocess.Popen[str]):
    """A process with text in its pipes. As a context it is killed at the end: a test that has failed waits for none."""

    def __init__(self, command: list[str], **options: Any) -> None:
        super().__init__(command, text=True, **options)

    def __exit__(self, *error: Any) -> None:
        if self.poll() is None:
            self.kill()
        super().__exit__(*error)
