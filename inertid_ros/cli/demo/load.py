"""`inertid demo`: a simulated PUMA picks up the bar of the 1986 paper while it moves, and the load is identified.

Driver and estimator are two ROS 2 processes; this one only listens, shows, and asks the driver to attach and release.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from rich.console import Console
from std_srvs.srv import SetBool

from inertid_ros.cli.demo.engine import Listener, Processes, list_arguments, pass_time, run_demo, show_phase
from inertid_ros.cli.demo.view import DemoView, Snapshot, make_table, print_verdict
from inertid_ros.sim.scenario import read_load
from inertid_ros.text.numbers import INTERVAL, format_interval, parameter_label

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
"""Seconds since the first estimate, and seconds that the released state is shown."""

_NOTHING_CARRIED = 0.05
"""Mass [kg] that counts as none; the bar has 1.8 kg."""


class LoadListener(Listener):
    """Hears the estimate of the load, and asks the driver to attach and release it."""

    def __init__(self) -> None:
        """Subscribe."""
        frame = Snapshot(tuple(parameter_label(index) for index in range(10)), np.zeros(10))
        super().__init__("/inertid/load/parameters", "/inertid/load/covariance", frame)
        self._attach = self.node.create_client(SetBool, "/simulated_driver/attach")

    @property
    def is_ready(self) -> bool:
        """Whether estimates come in and the driver can be asked."""
        return super().is_ready and bool(self._attach.service_is_ready())

    def attach(self, attached: bool) -> None:
        """Ask the driver to attach or release the load; the estimator is not informed."""
        self._attach.call_async(SetBool.Request(data=attached))


def main(has_page: bool = False) -> int:
    """Run the demonstration; returns 0 if the truth is inside the stated uncertainty and the release was detected."""
    return run_demo(list_arguments(ESTIMATOR_PARAMETERS), list_arguments(DRIVER_PARAMETERS), describe, _play, has_page)


def describe(snapshot: Snapshot) -> str:
    """Write the mass, and how many parameters are known."""
    mass = "mass not excited yet"
    if snapshot.states[0] != "not excited yet":
        deviation = float(np.sqrt(snapshot.covariance[0, 0]))
        mass = f"mass {format_interval(snapshot.values[0], deviation, 'kg')}, truth {snapshot.truth[0]:.3f}"
    return f"{mass}, {snapshot.known} of {len(snapshot.states)} parameters known"


def _play(processes: Processes, view: DemoView) -> Callable[[Console], int]:
    truth = read_load(str(DRIVER_PARAMETERS["load"]))
    assert truth is not None
    listener = LoadListener()
    passing_time = pass_time(listener, processes, END_AT)
    show_phase(view, passing_time, ATTACH_AT, phase="nothing carried")
    listener.attach(True)
    loaded = show_phase(view, passing_time, RELEASE_AT, phase="the bar was picked up on the way", truth=truth)
    listener.attach(False)
    detected_after: float | None = None
    for snapshot in passing_time:
        view.show(replace(snapshot, phase="the bar was released"))
        if detected_after is None and _is_free(snapshot):
            detected_after = snapshot.time - loaded.time
        if detected_after is not None and snapshot.time - loaded.time > SHOW_RELEASE:
            break
    listener.node.destroy_node()
    return partial(_conclude, loaded, detected_after)


def _is_free(snapshot: Snapshot) -> bool:
    """Tell whether the estimator says that nothing is carried any more."""
    deviation = float(np.sqrt(snapshot.covariance[0, 0]))
    return snapshot.states[0] == "known" and abs(snapshot.values[0]) < max(_NOTHING_CARRIED, INTERVAL * deviation)


def _conclude(loaded: Snapshot, after: float | None, console: Console) -> int:
    """Print the last estimate with the load against the truth, and how long [s] the release took to be detected."""
    console.print(make_table(loaded, "the bar before it was released"))
    release = "the release was not detected" if after is None else f"release detected in {after:.1f} s"
    return print_verdict(console, loaded, "parameters", [(after is not None, release)])
