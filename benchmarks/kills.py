"""Kills the node at random moments, half of them while it writes, and looks at what it knows when it is back.

The node is a process of its own in a real ROS graph, beside the simulated driver in real time: a PUMA whose gripper was
captured as the tool, and that carries the bar of the 1986 paper. It keeps its state ten times a second, and is asked to
save again as soon as it has saved. Every other kill (SIGKILL) waits for a temporary file to appear. After each of them

- all files must be whole: the state with its checksum, and what ~/save writes;
- the node is started again, and gets two seconds of data: the mass, less the tool, must be within 20 g;
- what the killed writer has left must be gone by then.

Kills are shared among as many graphs as there are processors, each with a tool and a state of its own. Where this
program is killed itself, its nodes are, too.

    python benchmarks/kills.py --count 200 --write

Exits with 1 if one of these fails.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import rclpy
from geometry_msgs.msg import InertiaStamped
from page import describe_run, end_with_parent, run_benchmark
from rclpy.context import Context
from rclpy.experimental import EventsExecutor
from rclpy.parameter import Parameter
from rclpy.task import Future
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from inertid_ros.core.errors import InertidError
from inertid_ros.files.estimate import read_estimate
from inertid_ros.files.state import read_state
from inertid_ros.ros.driver_node import SimulatedDriver
from inertid_ros.sim.scenario import read_load

NODE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from page import end_with_parent
end_with_parent()
from inertid_ros.ros import keeper, main, node
keeper.PERIOD, node.DIAGNOSTICS_PERIOD = 0.0, 0.1
sys.exit(main.run_estimator(sys.argv))
"""
USEFUL = 0.02
"""Error of the mass [kg] up to which the node is useful."""
DATA = 2.0
"""Seconds of data after which it must be."""
LEARNING = 12.0
"""Seconds of data from which gripper and bar are learnt at first."""
PATIENCE = 300.0
"""Seconds after which something that has not happened will not happen."""


class Graph:
    """The driver and a probe, and the node as a process."""

    def __init__(self, folder: Path, domain: int) -> None:
        """Start the driver, with the gripper alone."""
        self.folder = folder
        self._domain = domain
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain)
        self._executor = EventsExecutor(context=self._context)
        self._probe = rclpy.create_node("probe", context=self._context)
        self._executor.add_node(self._probe)
        self._parameters: list[Float64MultiArray] = []
        self._probe.create_subscription(Float64MultiArray, "/inertid/load/parameters", self._parameters.append, 10)
        self._newest = 0.0
        self._probe.create_subscription(InertiaStamped, "/inertid/load/inertia", self._take_inertia, 10)
        self._clients = {
            name: self._probe.create_client(Trigger, f"/inertid/{name}") for name in ("save", "capture_tool")
        }
        self._driver: SimulatedDriver | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._saving: Any = None

    def _take_inertia(self, message: InertiaStamped) -> None:
        """Note up to when [s] the node has used data."""
        self._newest = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec

    def drive(self, load: str, tool: str) -> None:
        """Simulate another robot from now on."""
        if self._driver is not None:
            self._executor.remove_node(self._driver)
            self._driver.destroy_node()
        values = {"load": load, "tool": tool, "rest": 1.0, "pause": 0.1}
        overrides = [Parameter(name, value=value) for name, value in values.items()]
        self._driver = SimulatedDriver(context=self._context, parameter_overrides=overrides)
        self._executor.add_node(self._driver)

    def start(self) -> None:
        """Start the node, and wait until it has used data."""
        topic = "/inertid/load/parameters"
        self.wait(lambda: self._probe.count_publishers(topic) == 0, "another node is in this domain: choose --domain")
        given = {"state_file": str(self.folder / "state.json"), "save_directory": str(self.folder)}
        options = [part for name, value in given.items() for part in ("-p", f"{name}:={value}")]
        command = [sys.executable, "-c", NODE, "--ros-args", "--log-level", "error", *options]
        environment = {**os.environ, "ROS_DOMAIN_ID": str(self._domain)}
        self._process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        self._saving, self._newest = None, 0.0
        self.wait(lambda: self._newest > 0.0, "no estimate")

    def wait_for_write(self) -> None:
        """Wait for a file that is being written, not longer than two seconds."""
        end = time.monotonic() + 2.0
        while time.monotonic() < end and not any(path.suffix == ".part" for path in self.folder.iterdir()):
            pass

    def kill(self) -> None:
        """Kill the node."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def spin(self, seconds: float) -> None:
        """Let time pass, and save meanwhile as often as possible."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self._save()
            self._executor.spin_until_future_complete(Future(), timeout_sec=min(left, 0.02))

    def learn(self, seconds: float) -> None:
        """The same until the node has used so many seconds of data, however busy the machine."""
        start = self._newest

        def has_learnt() -> bool:
            self._save()
            return self._newest >= start + seconds

        self.wait(has_learnt, "no estimate")

    def _save(self) -> None:
        if self._saving is None or self._saving.done():
            client = self._clients["save"]
            self._saving = client.call_async(Trigger.Request()) if client.service_is_ready() else None

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something; TimeoutError if it does not happen."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(what)
            self._executor.spin_until_future_complete(Future(), timeout_sec=0.02)

    def find_mass(self) -> float:
        """The mass [kg] that is published next."""
        self._parameters.clear()
        self.wait(lambda: len(self._parameters) > 1, "no estimate")
        return float(self._parameters[-1].data[0])

    def capture_tool(self) -> None:
        """Keep what is carried as the tool; RuntimeError if that fails."""
        future = self._clients["capture_tool"].call_async(Trigger.Request())
        self.wait(future.done, "no answer")
        if not future.result().success:
            raise RuntimeError(future.result().message)

    def close(self) -> None:
        """End everything."""
        if self._process is not None:
            self.kill()
        rclpy.shutdown(context=self._context)


def check_files(folder: Path) -> list[str]:
    """What is wrong with the files of a node that was killed."""
    found = (_try(lambda: read_state(folder / "state.json")), _try(lambda: read_estimate(folder / "inertid_load.yaml")))
    return [text for text in found if text]


def _try(read: Callable[[], object]) -> str:
    """Why something cannot be read; empty if it can."""
    try:
        read()
    except InertidError as error:
        return str(error)
    return ""


class Kills(NamedTuple):
    """What came of some kills.

    Attributes:
        errors: of the mass [kg] after each.
        hits: how many were in the middle of a write.
        wrong: what was wrong.
    """

    errors: list[float]
    hits: int
    wrong: list[str]


def run(count: int, seed: int, domain: int) -> Kills:
    """Kill a node so many times."""
    bar = read_load("bar")
    assert bar is not None
    with TemporaryDirectory() as name:
        graph = Graph(Path(name), domain)
        try:
            graph.drive("gripper", "none")
            graph.start()
            graph.learn(LEARNING)
            graph.capture_tool()
            graph.drive("bar", "gripper")
            graph.learn(LEARNING)
            return _kill_often(graph, count, random.Random(seed), bar[0])
        finally:
            graph.close()


def _kill_often(graph: Graph, count: int, choose: random.Random, mass: float) -> Kills:
    errors: list[float] = []
    wrong: list[str] = []
    hits = 0
    for number in range(count):
        graph.spin(choose.uniform(0.0, 1.0))
        if number % 2:
            graph.wait_for_write()
        graph.kill()
        left = set(graph.folder.glob(".*.part"))
        hits += bool(left)
        wrong += [f"kill {number}: {text}" for text in check_files(graph.folder)]
        graph.start()
        graph.learn(DATA)
        errors.append(graph.find_mass() - mass)
        if not abs(errors[-1]) <= USEFUL:
            wrong.append(f"kill {number}: {1e3 * errors[-1]:.0f} g")
        if stale := left & set(graph.folder.glob(".*.part")):
            wrong.append(f"kill {number}: {', '.join(sorted(path.name for path in stale))} is still there")
        print(f"{number + 1}: {1e3 * errors[-1]:.1f} g{', in a write' if left else ''}", file=sys.stderr, flush=True)
    return Kills(errors, hits, wrong)


def run_all(count: int, seed: int, domain: int, processes: int) -> Kills:
    """Share kills among graphs, each in a process and a domain of its own."""
    shares = [len(range(index, count, processes)) for index in range(min(processes, count))]
    with ProcessPoolExecutor(len(shares), get_context("spawn"), end_with_parent) as pool:
        graphs = range(len(shares))
        done = list(pool.map(run, shares, [seed + graph for graph in graphs], [domain + graph for graph in graphs]))
    return Kills(
        [error for one in done for error in one.errors],
        sum(one.hits for one in done),
        [f"graph {graph}, {text}" for graph in graphs for text in done[graph].wrong],
    )


def format_page(kills: Kills) -> str:
    """The page of the documentation."""
    errors, hits, wrong = kills
    sizes = 1e3 * np.abs(errors)
    about = (__doc__ or "").strip().split("\n\n    python")[0]
    found = [
        f"| kills | {len(errors)} |",
        f"| of them in the middle of a write | {hits} |",
        f"| error of the mass after {DATA:g} s of data, median [g] | {np.median(sizes):.1f} |",
        f"| 95 % / largest [g] | {np.percentile(sizes, 95):.1f} / {sizes.max():.1f} |",
        f"| failures | {len(wrong)} |",
    ]
    failures = "\n".join(f"- {line}" for line in wrong) or "None."
    made = describe_run("make kills")
    table = "\n".join(["| what | result |", "| --- | --- |", *found])
    return f"# Kills\n\n{made}\n\n{about}\n\n{table}\n\n## Failures\n\n{failures}\n"


def main() -> int:
    """Kill, and print or write the page; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="kills (default 200)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default 0)")
    parser.add_argument("--domain", type=int, default=152, help="first ROS_DOMAIN_ID of no other node (default 152)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="graphs (default: one a core)")

    def make_page(options: argparse.Namespace) -> tuple[str, list[str]]:
        kills = run_all(options.count, options.seed, options.domain, options.processes)
        return format_page(kills), kills.wrong

    return run_benchmark(parser, make_page, "kills.md")


if __name__ == "__main__":
    sys.exit(main())
