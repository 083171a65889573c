"""Kills the node at random moments, half of them while it writes, and looks at what it knows when it is back.

The node is a process of its own in a real ROS graph, beside the simulated driver in real time: a PUMA whose gripper was
captured as the tool, and that carries the bar of the 1986 paper. It keeps its state ten times a second, and is asked to
save again as soon as it has saved. Every other kill (SIGKILL) waits for a temporary file to appear. The node is forked
from a process that has loaded libraries and kernels, which takes longer than all the rest. After each kill

- all files must be whole: the state with its checksum, and what ~/save writes;
- the node is started again, and gets two seconds of data: the mass, less the tool, must be within 20 g;
- what the killed writer has left must be gone by then.

Kills come in series of 25, each with a graph, a tool and a state of its own; as many at a time as there are processors.
Where this program is killed itself, its nodes are, too, and it goes on with the next series when it is called again.

    python benchmarks/kills.py --count 200 --write

Exits with 1 if one of these fails.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import math
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import rclpy
from geometry_msgs.msg import InertiaStamped
from page import describe_run, run_benchmark
from pieces import ROOT, Record, add_minutes, prepare_process, run_pieces
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

NODES = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from page import end_with_parent
end_with_parent()
from inertid_ros.ros import keeper, main, node
keeper.PERIOD, node.DIAGNOSTICS_PERIOD = 0.0, 0.1
main.prepare_kernels()
while sys.stdin.readline():
    process = os.fork()
    if process == 0:
        end_with_parent()
        os._exit(main.run_estimator(sys.argv))
    print(process, flush=True)
    os.waitpid(process, 0)
    print("ended", flush=True)
"""
"""A process that forks a node for each line that it reads, says which process that is, and then that it has ended."""
USEFUL = 0.02
"""Error of the mass [kg] up to which the node is useful."""
DATA = 2.0
"""Seconds of data after which it must be."""
LEARNING = 12.0
"""Seconds of data from which gripper and bar are learnt at first."""
SERIES = 25
"""Kills with one graph, so that learning gripper and bar costs little beside them."""
UNANSWERED = 0.5
"""Seconds after which ~/save is called again: the call may have gone to a node that was killed."""
PATIENCE = 300.0
"""Seconds after which something that has not happened will not happen."""


class Graph:
    """The driver and a probe, and the node as a process."""

    def __init__(self, folder: Path) -> None:
        """Start the probe, and the process that forks nodes."""
        self.folder = folder
        self._context = Context()
        rclpy.init(context=self._context)
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
        given = {"state_file": str(folder / "state.json"), "save_directory": str(folder)}
        options = [part for name, value in given.items() for part in ("-p", f"{name}:={value}")]
        command = [sys.executable, "-c", NODES, "--ros-args", "--log-level", "error", *options]
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        self._nodes = subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=nothing, bufsize=1)
        self._process = 0
        self._saving: Any = None
        self._asked = 0.0

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
        assert self._nodes.stdin is not None
        self._nodes.stdin.write("\n")
        self._process = int(self._read_answer())
        self._saving, self._newest = None, 0.0
        self.wait(lambda: self._newest > 0.0, "no estimate")

    def wait_for_write(self) -> None:
        """Wait for a file that is being written, not longer than two seconds."""
        end = time.monotonic() + 2.0
        while time.monotonic() < end and not any(path.suffix == ".part" for path in self.folder.iterdir()):
            pass

    def kill(self) -> None:
        """Kill the node, and wait until it is no more and its last words have come."""
        os.kill(self._process, signal.SIGKILL)
        self._read_answer()
        self._executor.spin_until_future_complete(Future(), timeout_sec=0.1)

    def _read_answer(self) -> str:
        """The next line of the process that forks nodes; RuntimeError if it is no more."""
        assert self._nodes.stdout is not None
        if not (line := self._nodes.stdout.readline()):
            raise RuntimeError("no node can be started: look at what `inertid node` says")
        return line

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
        now = time.monotonic()
        if self._saving is None or self._saving.done() or now - self._asked > UNANSWERED:
            client, self._asked = self._clients["save"], now
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
        self._nodes.kill()
        self._nodes.wait()
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


class Kill(NamedTuple):
    """What came of a kill.

    Attributes:
        error: of the mass [kg] after it; nan if there was none.
        is_hit: whether it was in the middle of a write.
        wrong: what was wrong.
    """

    error: float
    is_hit: bool
    wrong: list[str]


def run(series: int, count: int, seed: int) -> list[Kill]:
    """Kill the node of a graph so many times."""
    done: list[Kill] = []
    with TemporaryDirectory() as name:
        nodes = Graph(Path(name))
        try:
            done.extend(_kill_often(nodes, count, random.Random(f"{seed} {series}")))
        except (TimeoutError, RuntimeError) as error:
            done.append(Kill(math.nan, False, [str(error)]))
        finally:
            nodes.close()
    return done


def _kill_often(nodes: Graph, count: int, choose: random.Random) -> Iterator[Kill]:
    bar = read_load("bar")
    assert bar is not None
    nodes.drive("gripper", "none")
    nodes.start()
    nodes.learn(LEARNING)
    nodes.capture_tool()
    nodes.drive("bar", "gripper")
    nodes.learn(LEARNING)
    for number in range(count):
        nodes.spin(choose.uniform(0.0, 1.0))
        if number % 2:
            nodes.wait_for_write()
        nodes.kill()
        left = set(nodes.folder.glob(".*.part"))
        wrong = check_files(nodes.folder)
        nodes.start()
        nodes.learn(DATA)
        error = nodes.find_mass() - bar[0]
        if not abs(error) <= USEFUL:
            wrong.append(f"{1e3 * error:.0f} g")
        if stale := left & set(nodes.folder.glob(".*.part")):
            wrong.append(f"{', '.join(sorted(path.name for path in stale))} is still there")
        yield Kill(error, bool(left), [f"kill {number}: {text}" for text in wrong])


def run_all(options: argparse.Namespace) -> list[Kill]:
    """All series, each in a domain of its own."""
    count, seed = options.count, options.seed
    pieces = [(start // SERIES, min(SERIES, count - start), seed) for start in range(0, count, SERIES)]
    record = Record(ROOT / "build" / "kills.jsonl", ["benchmarks/kills.py"], count, seed)
    with ProcessPoolExecutor(options.processes, get_context("spawn"), prepare_process) as pool:
        run_pieces(pool, options.processes, run, pieces, record, options.until)
    return [Kill(*kill) for piece in pieces for kill in record[piece]]


def list_failures(kills: Sequence[Kill]) -> list[str]:
    """What was wrong with all of them."""
    return [text for kill in kills for text in kill.wrong]


def format_page(kills: Sequence[Kill]) -> str:
    """The page of the documentation."""
    wrong = list_failures(kills)
    sizes = 1e3 * np.abs([kill.error for kill in kills if math.isfinite(kill.error)])
    about = (__doc__ or "").strip().split("\n\n    python")[0]
    found = [
        f"| kills | {len(sizes)} |",
        f"| of them in the middle of a write | {sum(kill.is_hit for kill in kills)} |",
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
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="graphs at a time (default: one a core)")
    add_minutes(parser)

    def make_page(options: argparse.Namespace) -> tuple[str, list[str]]:
        kills = run_all(options)
        return format_page(kills), list_failures(kills)

    return run_benchmark(parser, make_page, "kills.md")


if __name__ == "__main__":
    sys.exit(main())
