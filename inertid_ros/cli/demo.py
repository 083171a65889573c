"""`inertid demo`: a simulated PUMA picks up the bar of the 1986 paper while it moves, and is weighed from outside.

Driver and estimator are two ROS 2 processes; this one only listens, shows, and asks the driver to attach and release.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.task import Future
from rich.console import Console
from rich.text import Text

from inertid_ros.cli.demo_listener import DemoListener
from inertid_ros.cli.demo_processes import DRIVER_PARAMETERS, DemoProcesses, isolate_ros
from inertid_ros.cli.demo_verdict import judge
from inertid_ros.cli.demo_view import DemoView, Snapshot, make_table
from inertid_ros.number_text import INTERVAL
from inertid_ros.ros.spinning import make_executor, ros_session
from inertid_ros.sim.scenario import read_load

START_LIMIT = 30.0
"""Seconds the two processes may take to start."""
ATTACH_AT = 8.0
RELEASE_AT = 18.0
SHOW_RELEASE = 3.0
END_AT = 30.0
"""Seconds since the first estimate."""

_REFRESH = 0.2
_NOTHING_CARRIED = 0.05


class DemoError(Exception):
    """The demonstration cannot go on."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is judged at the end: the last estimate with the load, and how long [s] the release took to be noticed."""

    loaded: Snapshot
    noticed_after: float | None


def main() -> int:
    """Run the demonstration; returns 0 if the truth was inside the stated uncertainty and the release was noticed."""
    console = Console()
    isolate_ros()
    outcome: Outcome | None = None
    try:
        with ros_session([]), DemoProcesses() as processes, DemoView(console) as view:
            outcome = _run(processes, view)
    except DemoError as error:
        console.print(str(error), style="red", highlight=False)
        return 1
    except KeyboardInterrupt:
        outcome = None
    if outcome is None:
        console.print("stopped")
        return 130
    return _conclude(console, outcome)


def _run(processes: DemoProcesses, view: DemoView) -> Outcome | None:
    """Go through the phases and keep what is judged; None if the user stops it."""
    try:
        return _go_through_phases(processes, view)
    except (KeyboardInterrupt, ExternalShutdownException):
        return None


def _go_through_phases(processes: DemoProcesses, view: DemoView) -> Outcome:
    truth = read_load(str(DRIVER_PARAMETERS["load"]))
    assert truth is not None
    nothing = np.zeros(10)
    listener = DemoListener()
    view.note("starting simulated driver and estimator ...")
    passing_time = _pass_time(listener, processes)
    for snapshot in passing_time:
        view.show(replace(snapshot, phase="nothing carried", truth=nothing))
        if snapshot.time > ATTACH_AT:
            break
    listener.attach(True)
    for snapshot in passing_time:
        view.show(replace(snapshot, phase="the bar was picked up on the way", truth=truth))
        if snapshot.time > RELEASE_AT:
            break
    loaded = replace(snapshot, phase="the bar before it was released", truth=truth)
    listener.attach(False)
    noticed_after: float | None = None
    for snapshot in passing_time:
        view.show(replace(snapshot, phase="the bar was released", truth=nothing))
        if noticed_after is None and _is_free(snapshot):
            noticed_after = snapshot.time - loaded.time
        if noticed_after is not None and snapshot.time - loaded.time > SHOW_RELEASE:
            break
    listener.node.destroy_node()
    return Outcome(loaded, noticed_after)


def _pass_time(listener: DemoListener, processes: DemoProcesses) -> Iterator[Snapshot]:
    """Yield a snapshot every now and then, from the first estimate to the end."""
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
        if now - origin > END_AT:
            return
        yield listener.take_snapshot(now - origin)


def _is_free(snapshot: Snapshot) -> bool:
    """Tell whether the estimator says that nothing is carried any more."""
    deviation = float(np.sqrt(snapshot.covariance[0, 0]))
    return snapshot.states[0] == "known" and abs(snapshot.parameters[0]) < max(_NOTHING_CARRIED, INTERVAL * deviation)


def _conclude(console: Console, outcome: Outcome) -> int:
    """Print the table against the truth and return the exit code."""
    loaded = outcome.loaded
    console.print(make_table(loaded, loaded.phase))
    verdict = judge(loaded.parameters, loaded.covariance, loaded.truth)
    all_known = all(state == "known" for state in loaded.states)
    noticed = outcome.noticed_after
    inside = int(np.count_nonzero(verdict.inside))
    where = "inside" if verdict.passes else "outside"
    distance = f"squared distance {verdict.distance:.1f}, limit {verdict.limit:.1f}"
    lines = [
        (all_known, "all ten parameters are known" if all_known else "not all parameters are known"),
        (verdict.passes, f"the truth is {where} the stated uncertainty of all ten together: {distance}"),
        (
            noticed is not None,
            "the release was not noticed" if noticed is None else f"release noticed in {noticed:.1f} s",
        ),
    ]
    for good, line in lines:
        text = Text(f"{'ok ' if good else 'BAD'} {line}", style="green" if good else "red")
        console.print(text, soft_wrap=True)
    console.print(f"    {inside} of 10 truths are inside their own 95 % intervals", highlight=False)
    return 0 if all(good for good, _ in lines) else 1
