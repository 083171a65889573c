"""The two ROS 2 processes of the demonstration, apart from every other ROS graph."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

_PATIENCE = 5.0


def list_arguments(parameters: Mapping[str, object]) -> list[str]:
    """Write parameters as ROS arguments."""
    return [argument for name, value in parameters.items() for argument in ("-p", f"{name}:={value}")]


def isolate_ros() -> None:
    """Give this process and its children a ROS domain of their own that ends at this machine."""
    os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % 100)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ.pop("ROS_LOCALHOST_ONLY", None)
    os.environ.pop("ROS_STATIC_PEERS", None)


class DemoProcesses:
    """Starts estimator and driver, and stops them whatever happens."""

    def __init__(self, estimator: Sequence[str], driver: Sequence[str]) -> None:
        """Prepare with the ROS arguments of both; nothing is started yet."""
        self._estimator, self._driver = estimator, driver
        self._directory = tempfile.TemporaryDirectory(prefix="inertid_demo_")
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> DemoProcesses:
        """Start the estimator."""
        self._start("node", self._estimator)
        return self

    def start_driver(self) -> None:
        """Start the driver too, unless it runs already."""
        if "driver" not in self._processes:
            self._start("driver", self._driver)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop both as a user would, and harder if they do not listen."""
        for process in self._processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self._processes.values():
            _wait(process)
        self._directory.cleanup()

    def find_dead(self) -> str | None:
        """Return the last words of a process that has ended before its time, or None."""
        for name, process in self._processes.items():
            if process.poll() is not None:
                log = self._log(name).read_text(encoding="utf-8", errors="replace")
                return f"`inertid {name}` ended with exit code {process.returncode}:\n{log[-2000:]}"
        return None

    def _start(self, name: str, arguments: Sequence[str]) -> None:
        command = [sys.executable, "-m", "inertid_ros.cli.main", name, "--ros-args", *arguments]
        environment = {**os.environ, "ROS_LOG_DIR": self._directory.name, "PYTHONUNBUFFERED": "1"}
        with self._log(name).open("wb") as log:
            self._processes[name] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)

    def _log(self, name: str) -> Path:
        return Path(self._directory.name) / f"{name}.log"


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
