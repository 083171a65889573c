"""Leaves it running: a day of simulated motion through the chain, and an hour of the real node; does anything grow?

Simulated: one arm in random motion, sensors with all mild imperfections of `benchmarks/load_coverage.py` (drift of the
bias, delay, tilt, gains, cross-talk, coloured noise); it picks up another load every two to three minutes, or puts it
down. Every change has to be found, nothing else may be, and every covariance has to be positive definite.

Live: the node as a process of its own beside the simulated driver in real time, 200 Hz, somebody listening to all that
it publishes; its memory after a tenth of the time and at the end.

    python benchmarks/soak.py --write                    24 hours, one hour
    python benchmarks/soak.py --hours 0.5 --minutes 3    shorter

Exits with 1 if a limit is missed.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import resource
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pinocchio as pin
from imperfect import GRAVITY, SENSOR, Arm, FloatArray, Motion, random_load, true_wrenches
from load_coverage import MILD, make_chain
from page import describe_run, end_with_parent, run_benchmark
from scipy.signal import lfilter

from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.records import LOAD_EVENTS, JointBlock, WrenchBlock
from inertid_ros.core.settings.settings import LoadSettings

RATE = 100.0
"""Samples per second [Hz] of the simulation."""
PIECE = 10.0
"""Seconds that are simulated, and after which an estimate is asked for, at a time."""
FOUND = 6.0
"""Seconds within which a change has to be found."""
GROWTH = 5.0
"""Megabytes by which the node may grow in an hour."""
_START = 1_700_000_000_000_000_000


class Sensors:
    """An arm in motion, whose sensors stay as wrong as they are and whose bias drifts."""

    def __init__(self, seed: int) -> None:
        """Draw all that stays the same."""
        self._rng = rng = np.random.default_rng(seed)
        self.arm = Arm("UR10")
        self._motion = Motion(len(self.arm.joints), rng, 1.0)
        tilt, lever = MILD.tilt * rng.normal(size=2), np.repeat([1.0, 0.1], 3)
        self._gravity = pin.exp3(np.array([*tilt, 0.0])) @ np.array([0.0, 0.0, -GRAVITY])
        self._mixing = np.eye(6) + MILD.cross_talk * rng.normal(size=(6, 6)) * np.outer(lever, 1.0 / lever)
        self._mixing[np.diag_indices(6)] = 1.0 + MILD.gain * rng.normal(size=6)
        self._bias = np.concatenate((rng.uniform(-5.0, 5.0, 3), rng.uniform(-0.3, 0.3, 3)))
        self._slow: FloatArray = np.zeros((1, 6))

    def read(self, start: float, end: float, phi: FloatArray) -> tuple[JointBlock, WrenchBlock]:
        """What is published from a time to another [s] while a load is carried."""
        rng, times = self._rng, start + np.arange(round((end - start) * RATE)) / RATE
        q, v, _ = self._motion.at(times)
        later = times + 0.3 / RATE
        shape, scale = (len(times), 6), np.repeat([MILD.force, MILD.torque], 3)
        wrenches: FloatArray = np.zeros(shape)
        if phi[0] > 0.0:
            wrenches = true_wrenches(self.arm, self._motion, later - MILD.delay, phi, self._gravity) @ self._mixing.T
        decay = np.exp(-1.0 / (RATE * MILD.correlation))
        steps = np.sqrt(1.0 - decay**2) * rng.normal(size=shape)
        slow, _ = lfilter([1.0], [1.0, -decay], steps, axis=0, zi=decay * self._slow)
        self._slow = np.asarray(slow[-1:])
        walk = MILD.drift * np.repeat([1.0, 0.05], 3) * np.cumsum(rng.normal(size=shape), axis=0) / np.sqrt(RATE)
        wrenches += scale * (rng.normal(size=shape) + MILD.coloured * slow) + self._bias + walk
        self._bias = self._bias + walk[-1]
        jittered = times + MILD.jitter * rng.uniform(-1.0, 1.0, len(times))
        tachometer = v + (MILD.tachometer or 0.0) * rng.normal(size=v.shape)
        joints = JointBlock(self.arm.joints, _stamp(jittered), np.round(q / MILD.encoder) * MILD.encoder, tachometer)
        return joints, WrenchBlock(SENSOR, _stamp(later), wrenches)


def _stamp(times: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return _START + np.round(times * 1e9).astype(np.int64)


@dataclass
class Day:
    """What came of the simulation: changes, how many were found, other events, errors over their deviations."""

    hours: float
    changes: int = 0
    found: int = 0
    others: list[str] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    bad: int = 0
    growth: float = 0.0


def simulate(hours: float, seed: int = 0) -> Day:
    """Run the chain for so many hours of simulated time."""
    sensors, rng = Sensors(seed), np.random.default_rng(seed + 1)
    chain, day = make_chain(sensors.arm, LoadSettings()), Day(hours)
    phi, changed, upcoming, waiting = random_load(rng), 0.0, 60.0, False
    memory = 0.0
    for start in np.arange(0.0, 3600.0 * hours, PIECE).tolist():
        if start >= upcoming:
            day.others += ["change not found"] if waiting else []
            phi = np.zeros(10) if phi[0] > 0.0 and rng.random() < 0.5 else random_load(rng)
            day.changes, changed, waiting = day.changes + 1, start, True
            upcoming = start + PIECE * rng.integers(12, 20)
        for block in sensors.read(start, start + PIECE, phi):
            chain.push(block)
        output = chain.process()
        for event in () if output is None else output.events:
            is_it = waiting and event.kind in LOAD_EVENTS and (event.stamp - _START) * 1e-9 - changed < FOUND
            waiting = waiting and not is_it
            day.found += is_it
            day.others += [] if is_it else [f"{event.kind} at {(event.stamp - _START) * 1e-9:.0f} s"]
        estimate = chain.estimate()
        assert isinstance(estimate, LoadEstimate)
        day.bad += not (estimate.is_finite and np.linalg.eigvalsh(estimate.covariance)[0] > 0.0)
        if start - changed > 2.0 * PIECE and start > 60.0:
            day.errors.append(estimate.values[0] - phi[0])
            day.ratios.append(day.errors[-1] / estimate.deviations[0])
        if start < 360.0 * hours:
            memory = _read_own_memory()
    day.growth = _read_own_memory() - memory
    return day


def _read_own_memory() -> float:
    """Memory of this process [MB]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def run_live(minutes: float, domain: int) -> tuple[float, float]:
    """Memory [MB] of the node after a tenth of the time, and at the end."""
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
        options = ["--ros-args", "--log-level", "error", "-p", f"state_file:={folder}/state.json"]
        nodes = [("driver", ["--ros-args", "--log-level", "error"]), ("node", options)]
        command = [sys.executable, "-m", "inertid_ros.cli.main"]
        processes = [subprocess.Popen([*command, name, *given], env=environment) for name, given in nodes]
        listener = subprocess.Popen([sys.executable, "-c", LISTEN], env=environment)
        try:
            time.sleep(6.0 * minutes)
            first = _read_memory(processes[1].pid)
            time.sleep(54.0 * minutes)
            return first, _read_memory(processes[1].pid)
        finally:
            for process in (*processes, listener):
                process.kill()
                process.wait()


LISTEN = """
import rclpy
from std_msgs.msg import Float64MultiArray
from geometry_msgs.msg import WrenchStamped
from visualization_msgs.msg import MarkerArray
rclpy.init()
node = rclpy.create_node("listener")
for kind, name in ((Float64MultiArray, "load/parameters"), (Float64MultiArray, "load/covariance"),
                   (WrenchStamped, "load/wrench_predicted"), (MarkerArray, "markers")):
    node.create_subscription(kind, f"/inertid/{name}", lambda _: None, 10)
rclpy.spin(node)
"""


def _read_memory(process: int) -> float:
    """Memory [MB] of a process."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def judge(day: Day | None, live: tuple[float, float] | None, minutes: float) -> tuple[str, list[str]]:
    """The page, and what is missed."""
    lines, missed = ["| what | result | limit |", "| --- | --- | --- |"], []

    def add(what: str, result: str, limit: str, is_met: bool) -> None:
        lines.append(f"| {what} | {result} | {limit} |")
        if not is_met:
            missed.append(f"{what}: {result}, not {limit}")

    if day is not None:
        errors, ratios = 1e3 * np.abs(day.errors), np.abs(day.ratios)
        add("simulated", f"{day.hours:g} h", "", True)
        add("changes of the load found", f"{day.found} of {day.changes}", "all", day.found == day.changes)
        add("other events", str(len(day.others)), "0", not day.others)
        add("estimates not finite or not positive definite", str(day.bad), "0", day.bad == 0)
        add("mass: error median / largest [g]", f"{np.median(errors):.0f} / {errors.max():.0f}", "", True)
        inside = float(np.mean(ratios < 1.96))
        add("masses within their 95 % interval", f"{100.0 * inside:.1f} %", "90 % or more", inside >= 0.9)
        add("growth of the process [MB]", f"{day.growth:.1f}", f"{GROWTH:g}", day.growth < GROWTH)
    if live is not None:
        add("live", f"{minutes:g} min", "", True)
        add("memory of the node after a tenth [MB]", f"{live[0]:.1f}", "", True)
        grown = live[1] - live[0]
        add("its growth from then on [MB]", f"{grown:.1f}", f"{GROWTH:g}", grown < GROWTH)
    about = "\n\n".join((__doc__ or "").strip().split("\n\n")[:3])
    others = "".join(f"\n- {line}" for line in (day.others if day is not None else [])[:50])
    made = describe_run("make soak")
    verdict = "\n".join(f"- Missed: {line}." for line in missed) or "All are met."
    table = "\n".join(lines)
    more = f"\n\n## Other events\n{others}" if others else ""
    return f"# Soak\n\n{made}\n\n{about}\n\n{table}{more}\n\n## Limits\n\n{verdict}\n", missed


def main() -> int:
    """Run both side by side, and print or write the page; 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hours", type=float, default=24.0, help="of simulated motion (default 24), 0 for none")
    parser.add_argument("--minutes", type=float, default=60.0, help="of the real node (default 60), 0 for none")
    parser.add_argument("--domain", type=int, default=151, help="ROS_DOMAIN_ID, that of no other node (default 151)")

    def make_page(options: argparse.Namespace) -> tuple[str, list[str]]:
        with ProcessPoolExecutor(1, get_context("spawn"), end_with_parent) as beside:
            day = beside.submit(simulate, options.hours) if options.hours > 0.0 else None
            live = run_live(options.minutes, options.domain) if options.minutes > 0.0 else None
            return judge(None if day is None else day.result(), live, options.minutes)

    return run_benchmark(parser, make_page, "soak.md")


if __name__ == "__main__":
    sys.exit(main())
