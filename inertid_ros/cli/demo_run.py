"""What every demonstration has in common: two processes, a view that is kept up to date, an outcome that is judged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.task import Future
from rich.console import Console
from rich.text import Text

from inertid_ros.cli.demo_processes import DemoProcesses, isolate_ros
from inertid_ros.cli.demo_view import DemoView, Shown
from inertid_ros.ros.runtime import make_executor, ros_session

START_LIMIT = 30.0
"""Seconds the two processes may take to start."""

_REFRESH = 0.2

Outcome = TypeVar("Outcome")
Taken_co = TypeVar("Taken_co", bound=Shown, covariant=True)


class DemoError(Exception):
    """The demonstration cannot go on."""


class Listener(Protocol[Taken_co]):
    """What hears the estimator."""

    node: Any

    @property
    def hears_estimator(self) -> bool:
        """Whether the estimator is there."""

    @property
    def is_ready(self) -> bool:
        """Whether estimates come in."""

    def take_snapshot(self, time: float) -> Taken_co:
        """Return what was heard last."""


@dataclass(frozen=True, slots=True)
class Demo(Generic[Outcome]):
    """One demonstration.

    Attributes:
        estimator, driver: ROS arguments of the two processes.
        make_view: makes what shows it.
        go_through: goes through the phases and returns what is judged.
        conclude: prints the judgement and returns the exit code.
    """

    estimator: Sequence[str]
    driver: Sequence[str]
    make_view: Callable[[Console], DemoView[Any]]
    go_through: Callable[[DemoProcesses, DemoView[Any]], Outcome]
    conclude: Callable[[Console, Outcome], int]


def run_demo(demo: Demo[Outcome]) -> int:
    """Run a demonstration and return its exit code: 130 if the user stops it, 1 if it cannot go on."""
    console = Console()
    isolate_ros()
    outcome: Outcome | None = None
    try:
        with ros_session([]), DemoProcesses(demo.estimator, demo.driver) as processes, demo.make_view(console) as view:
            outcome = _go_through(demo, processes, view)
    except DemoError as error:
        console.print(str(error), style="red", highlight=False)
        return 1
    except KeyboardInterrupt:
        outcome = None
    if outcome is None:
        console.print("stopped")
        return 130
    return demo.conclude(console, outcome)


def _go_through(demo: Demo[Outcome], processes: DemoProcesses, view: DemoView[Any]) -> Outcome | None:
    """Go through the phases and keep what is judged; None if the user stops it."""
    try:
        return demo.go_through(processes, view)
    except (KeyboardInterrupt, ExternalShutdownException):
        return None


def pass_time(listener: Listener[Taken_co], processes: DemoProcesses, end: float) -> Iterator[Taken_co]:
    """Yield a snapshot every now and then, from the first estimate until so many seconds later."""
    executor = make_executor(listener.node)
    executor.add_node(listener.node)
    started = time.monotonic()
    origin: float | None = None
    while True:
        executor.spin_until_future_complete(Future(), timeout_sec=_REFRESH)
        now = time.monotonic()
        dead = processes.find_dead()
        if not rclpy.ok():
            raise KeyboardInterrupt
        if dead is not None:
            raise DemoError(dead)
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


def print_verdict(console: Console, lines: Sequence[tuple[bool, str]]) -> int:
    """Print what is good and what is not; returns the exit code."""
    for good, line in lines:
        text = Text(f"{'ok ' if good else 'BAD'} {line}", style="green" if good else "red")
        console.print(text, soft_wrap=True)
    return 0 if all(good for good, _ in lines) else 1
