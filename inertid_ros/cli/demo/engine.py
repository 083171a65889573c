"""What every demonstration has in common: two processes in a ROS graph of their own, and a listener to the estimate."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rcl_interfaces.msg import Log
from rclpy.node import Node
from rclpy.task import Future
from rich.console import Console
from std_msgs.msg import Float64MultiArray

from inertid_ros.cli.command import STOPPED
from inertid_ros.cli.demo.view import DemoView, Snapshot
from inertid_ros.core.errors import InertidError
from inertid_ros.ros.main import compile_kernels
from inertid_ros.ros.runtime import make_executor, ros_session
from inertid_ros.view.server import PORT, locate

START_LIMIT = 30.0
"""Seconds the two processes may take to start on a busy machine; on an idle one they take a few."""

_REFRESH = 0.2
"""Seconds between two updates of the view."""
_PATIENCE = 5.0
"""Seconds a process may take to end after SIGINT before it is killed."""
_LOG_LINES = 4
_FIRST_DOMAIN, _DOMAINS = 215, 17
"""ROS domains whose ports, 61150 to 65411, Linux does not hand out to other programs."""


class DemoError(InertidError):
    """The demonstration cannot continue."""


class Listener:
    """Hears an estimate and the estimator's log with a ROS node of its own, as any other would."""

    def __init__(self, parameters: str, covariance: str, frame: Snapshot, node: Node | None = None) -> None:
        """Subscribe to the topics of n values with their states, and of their (n, n) covariance.

        `frame` is what snapshots say of the parameters besides the estimate: labels, truth, CAD model. The node is one
        of its own unless another is given.
        """
        self.node = rclpy.create_node("demo") if node is None else node
        self._topic = parameters
        self._latest = frame
        self._lines: deque[str] = deque(maxlen=_LOG_LINES)
        self.node.create_subscription(Float64MultiArray, parameters, self._on_parameters, 10)
        self.node.create_subscription(Float64MultiArray, covariance, self._on_covariance, 10)
        self.node.create_subscription(Log, "/rosout", self._on_log, 100)

    @property
    def hears_estimator(self) -> bool:
        """Whether the estimator is there."""
        return bool(self.node.count_publishers(self._topic) > 0)

    @property
    def is_ready(self) -> bool:
        """Whether estimates come in."""
        return self._latest.values.size > 0 and self._latest.covariance.size > 0

    def take_snapshot(self, seconds: float) -> Snapshot:
        """Return what was heard last, at a time since the first estimate."""
        return replace(self._latest, time=seconds, lines=tuple(self._lines))

    def _on_parameters(self, message: Any) -> None:
        states = tuple(message.layout.dim[1].label.split(", "))
        self._latest = replace(self._latest, values=np.array(message.data), states=states)

    def _on_covariance(self, message: Any) -> None:
        size = message.layout.dim[0].size
        self._latest = replace(self._latest, covariance=np.array(message.data).reshape(size, size))

    def _on_log(self, message: Any) -> None:
        if message.name == "inertid":
            self._lines.append(message.msg)


class Processes:
    """Starts estimator and driver, and a page that shows them if one is wanted, and stops them whatever happens."""

    def __init__(self, estimator: Sequence[str], driver: Sequence[str], has_page: bool = False) -> None:
        """Prepare with the ROS arguments of both; nothing is started yet."""
        self._estimator, self._driver, self._has_page = estimator, driver, has_page
        self._directory = tempfile.TemporaryDirectory(prefix="inertid_demo_")
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Processes:
        """Start the estimator, and the page."""
        self._start("node", self._estimator)
        if self._has_page:
            self._start("view", ())
        return self

    def start_driver(self) -> None:
        """Start the driver too, unless it runs already."""
        if "driver" not in self._running:
            self._start("driver", self._driver)

    def __exit__(self, *_: object) -> None:
        """Stop them as a user would, and kill those that do not react."""
        for process in self._running.values():
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self._running.values():
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:  # noqa: PERF203 - three processes
                process.kill()
                process.wait()
        self._directory.cleanup()

    def check(self) -> None:
        """Raise DemoError with the last words of a process that has ended before its time."""
        for name, process in self._running.items():
            if process.poll() is not None:
                log = self._log(name).read_bytes().decode(errors="replace")
                raise DemoError(f"`inertid {name}` ended with exit code {process.returncode}: {log[-2000:]}")

    def wait(self) -> None:
        """Let them run until somebody asks this process to stop."""
        while rclpy.ok():
            self.check()
            time.sleep(_REFRESH)

    def _start(self, name: str, arguments: Sequence[str]) -> None:
        command = [sys.executable, "-m", "inertid_ros.cli.main", name, "--ros-args", *arguments]
        environment = {**os.environ, "ROS_LOG_DIR": self._directory.name, "PYTHONUNBUFFERED": "1"}
        with self._log(name).open("wb") as log:
            self._running[name] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)

    def _log(self, name: str) -> Path:
        return Path(self._directory.name) / f"{name}.log"


def list_arguments(parameters: Mapping[str, object]) -> list[str]:
    """Write parameters as ROS arguments."""
    return [argument for name, value in parameters.items() for argument in ("-p", f"{name}:={value}")]


def run_demo(
    estimator: Sequence[str],
    driver: Sequence[str],
    describe: Callable[[Snapshot], str],
    play: Callable[[Processes, DemoView], Callable[[Console], int]],
    has_page: bool = False,
) -> int:
    """Run a demonstration with the ROS arguments of both processes, and return its exit code.

    `describe` writes a snapshot in one line, where the output is not a terminal. `play` goes through the phases and
    returns what prints the judgement and returns the exit code. `has_page` serves `inertid view` meanwhile,
    and on a terminal until Ctrl-C: somebody may only have opened it by then. DemoError if it cannot continue.
    """
    console = Console()
    compile_kernels(STOPPED)  # here, since the estimator is waited for
    _isolate_ros()
    code: int | None = None
    with ros_session([]), Processes(estimator, driver, has_page) as processes:
        with DemoView(console, describe) as view:
            view.note("starting simulated driver and estimator ...")
            if has_page:
                view.note(f"open {locate(PORT)} in a browser")
            conclude = play(processes, view)
        code = conclude(console)
        if has_page and console.is_terminal:
            console.print(f"The robot goes on, and {locate(PORT)} shows it, until Ctrl-C.")
            processes.wait()
    if code is None:  # ros_session leaves the block quietly on SIGINT and SIGTERM
        raise KeyboardInterrupt
    return code


def show_phase(view: DemoView, passing_time: Iterator[Snapshot], end: float, **known: Any) -> Snapshot:
    """Show what comes until `end` [s after the first estimate], with what is known of this phase; return the last."""
    for snapshot in passing_time:
        shown = replace(snapshot, **known)
        view.show(shown)
        if snapshot.time > end:
            break
    return shown


def pass_time(listener: Listener, processes: Processes, end: float) -> Iterator[Snapshot]:
    """Yield snapshots from the first estimate until `end` seconds later."""
    executor = make_executor(listener.node)
    executor.add_node(listener.node)
    started = time.monotonic()
    origin: float | None = None
    while True:
        executor.spin_until_future_complete(Future(), timeout_sec=_REFRESH)
        now = time.monotonic()
        if not rclpy.ok():
            raise KeyboardInterrupt
        processes.check()
        if origin is None:
            if listener.hears_estimator:
                processes.start_driver()
            if listener.is_ready:
                origin = now
            elif now - started > START_LIMIT:
                raise DemoError(f"no estimate within {START_LIMIT:g} s: is another program using all of the CPU?")
            continue
        if now - origin > end:
            return
        yield listener.take_snapshot(now - origin)


def _isolate_ros() -> None:
    """Give this process and its children a ROS domain of their own that ends at this machine."""
    os.environ["ROS_DOMAIN_ID"] = str(_find_free_domain())
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ.pop("ROS_LOCALHOST_ONLY", None)
    os.environ.pop("ROS_STATIC_PEERS", None)


def _find_free_domain() -> int:
    """A domain without any participant on this machine: the first one takes a port that follows from the domain.

    Its ports are above those that Linux hands out to others, and above those of the domains that people use.
    """
    for turn in range(_DOMAINS):
        domain = _FIRST_DOMAIN + (os.getpid() + turn) % _DOMAINS
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("", 7410 + 250 * domain))  # the RTPS standard's unicast port for discovery, participant 0
            except OSError:
                continue
        return domain
    raise DemoError(f"all ROS domains from {_FIRST_DOMAIN} to {_FIRST_DOMAIN + _DOMAINS - 1} are in use")
