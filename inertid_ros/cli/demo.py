"""`inertid demo`: a simulated PUMA picks up the bar of the 1986 paper while it moves, and is weighed from outside.

Driver and estimator are two ROS 2 processes; this one only listens, shows, and asks the driver to attach and release.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console

from inertid_ros.cli.demo_listener import DemoListener
from inertid_ros.cli.demo_processes import DemoProcesses, list_arguments
from inertid_ros.cli.demo_run import Demo, pass_time, print_verdict, run_demo
from inertid_ros.cli.demo_verdict import judge
from inertid_ros.cli.demo_view import DemoView, Snapshot, make_line, make_table
from inertid_ros.sim.scenario import read_load
from inertid_ros.text.numbers import INTERVAL

ESTIMATOR_PARAMETERS = {"load.sensor_frame": "ft_sensor"}

DRIVER_PARAMETERS = {
    "robot": "puma560",
    "load": "bar",
    "attach_at": -1.0,
    "sign": "on_sensor",
    "rest": 4.0,
    "pause": 0.3,
}
"""The paper's PUMA and its bar, the wrench as most drivers publish it, and standstill first to measure its noise."""

ATTACH_AT = 8.0
RELEASE_AT = 18.0
SHOW_RELEASE = 3.0
END_AT = 30.0
"""Seconds since the first estimate."""

_NOTHING_CARRIED = 0.05


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is judged at the end: the last estimate with the load, and how long [s] the release took to be noticed."""

    loaded: Snapshot
    noticed_after: float | None


def main() -> int:
    """Run the demonstration; returns 0 if the truth was inside the stated uncertainty and the release was noticed."""
    return run_demo(
        Demo(
            list_arguments(ESTIMATOR_PARAMETERS),
            list_arguments(DRIVER_PARAMETERS),
            lambda console: DemoView(console, make_table, make_line),
            _go_through_phases,
            _conclude,
        )
    )


def _go_through_phases(processes: DemoProcesses, view: DemoView[Snapshot]) -> Outcome:
    truth = read_load(str(DRIVER_PARAMETERS["load"]))
    assert truth is not None
    nothing = np.zeros(10)
    listener = DemoListener()
    view.note("starting simulated driver and estimator ...")
    passing_time = pass_time(listener, processes, END_AT)
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
    code = print_verdict(console, lines)
    console.print(f"    {inside} of 10 truths are inside their own 95 % intervals", highlight=False)
    return code
