"""Processes that benchmarks start end with them, even if these are killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from support.processes import Process

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
CHILD = "from page import end_with_parent; end_with_parent(); import time; print('up', flush=True); time.sleep(600)"
PARENT = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(600)
"""


def _is_running(pid: int) -> bool:
    """Whether there is such a process, and not only its exit code that nobody has asked for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_node_ends_with_the_benchmark_that_was_killed() -> None:
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS)}
    with Process([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert _is_running(child)
        parent.kill()
        parent.wait()
        end = time.monotonic() + 30.0
        while _is_running(child) and time.monotonic() < end:
            time.sleep(0.01)
        assert not _is_running(child)
