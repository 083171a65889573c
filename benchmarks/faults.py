"""The fault matrix: every fault of `fault_catalogue`, at three moments, on a live node in a real ROS graph.

    python benchmarks/faults.py --write        # make faults
    python benchmarks/faults.py --only frozen  # some of them

Each fault meets a node of its own: while the load converges, once it is known, and during a contact; once with a node
that follows the simulated clock, and once with one that follows the wall clock, where stamps begin in the present. By
either, samples are sent as fast as the machine can take them. Faults are shared among as many processes as there are
processors; each has a ROS domain of its own. A run that was ended goes on where it was when it is called again.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from fault_catalogue import FAULTS, Block, Fault, Memory
from page import find_commit, run_benchmark
from pieces import ROOT, Record, add_minutes, prepare_process, run_pieces
from rclpy.qos import QoSProfile

sys.path.insert(0, str(ROOT / "test"))

import support.bench as benches
from support.bench import Bench, is_finite

import inertid_ros.ros.inputs
import inertid_ros.ros.node
import inertid_ros.ros.pace
from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock

MASS, NEAR = 1.8, 0.03
"""What the bar weighs [kg], and how near the estimate must be."""
NAMED_WITHIN, RECOVERED_WITHIN = 1.0, 2.0
"""Seconds of stamps, after the first bad sample and after the first good one."""
SLOW = 3.0
"""Seconds for which wrenches wait for joint states before that is said."""
PUSH = np.array([12.0, 5.0, -8.0, 1.0, 0.5, -0.7])
"""Wrench of the contact [N, Nm]."""
SITUATIONS = ("converging", "converged", "in contact")
CLOCKS = ("simulated", "wall")
LEAK = 20.0
"""Growth of a process's memory [MB], after its tenth node, from which on the matrix fails: messages of a thousand joint
names leave some room between objects that is not given back."""
SETTLED = 10
"""Nodes after which memory is looked at: by then all code was used."""


class Outcome(NamedTuple):
    """What went wrong with a fault in a situation; nothing if all is well."""

    fault: str
    clock: str
    situation: str
    wrong: tuple[str, ...]


class Met(NamedTuple):
    """What came of one fault by one clock, in which process, and how much memory [MB] that uses afterwards."""

    outcomes: tuple[Outcome, ...]
    process: int
    memory: float


def prepare_node() -> None:
    """Let nodes lose and thin nothing, however busy the machine, and say ten times a second what is wrong."""
    inertid_ros.ros.node.DIAGNOSTICS_PERIOD = 0.1
    inertid_ros.ros.inputs.SAMPLES = QoSProfile(depth=10_000)
    inertid_ros.ros.pace.BEHIND = float("inf")
    benches.CHUNK = 0.04


class Trial:
    """One fault on one node."""

    def __init__(self, bench: Bench, fault: Fault, clock: str = "simulated") -> None:
        """Start a node."""
        self._bench, self._fault, self._clock = bench, fault, clock
        bench.simulate(tachometer=True, velocity_noise=0.002, pause=0.0, joint_rate=200.0, wrench_rate=200.0)
        if clock == "wall":
            bench.origin = time.time_ns()
        bench.start(use_sim_time=clock == "simulated")
        bench.describe()

    def run(self) -> Iterator[Outcome]:
        """Meet the fault in each situation, one after the other."""
        bench = self._bench
        bench.feed(1.4)
        yield self._meet("converging", False)
        bench.feed(3.0)
        yield self._meet("converged", False)
        bench.feed(2.0)
        bench.feed_blocks(0.5, lambda joints, wrenches: (joints, _push(wrenches)))
        yield self._meet("in contact", True)

    def _meet(self, situation: str, is_pushed: bool) -> Outcome:
        bench, fault, wrong = self._bench, self._fault, []
        for messages in bench.received.values():
            messages.clear()
        memory = Memory(bench.origin + round(bench.time * 1e9))

        def spoil(joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
            blocks = fault.edit(memory, joints, _push(wrenches) if is_pushed else wrenches)
            memory.chunks += 1
            return blocks

        patience = SLOW if fault.is_slow else NAMED_WITHIN
        if fault.is_single:
            bench.feed_blocks(benches.CHUNK, spoil)
        else:
            bench.feed_blocks(patience, spoil)
        history = bench.history(fault.source) if fault.source else {}
        if fault.codes and not any(code in history for code in fault.codes):
            wrong.append(f"not named, but {', '.join(key for key in history if '[' not in key) or 'nothing'}")
        if not fault.is_single:
            bench.feed_blocks(1.0, spoil)
            bench.parameters()  # one may be on its way that was judged before
            if fault.is_demoted and bench.status("load").level != DiagnosticStatus.ERROR:
                wrong.append("not demoted")
        bench.feed(RECOVERED_WITHIN)
        wrong += self._look(situation)
        return Outcome(fault.name, self._clock, situation, tuple(wrong))

    def _look(self, situation: str) -> Iterator[str]:
        """What is wrong after good data."""
        bench = self._bench
        bench.settle()
        parameters = bench.parameters()
        covariances = [np.reshape(message.data, (10, 10)) for message in bench.received["load/covariance"]]
        deviation = float(np.sqrt(covariances[-1][0, 0])) if covariances else np.inf
        room = max(NEAR, 3.0 * deviation) if situation == "converging" else NEAR
        if not abs(parameters[0] - MASS) <= room:
            yield f"{parameters[0]:.3f} ± {deviation:.3f} kg after {RECOVERED_WITHIN:g} s of good data"
        if not covariances or not all(map(is_definite, covariances)):
            yield "covariance not positive definite"
        if not all(is_finite(message) for some in bench.received.values() for message in some):
            yield "not finite"
        if "internal_error" in bench.history("output"):
            yield "internal error"


def _push(wrenches: WrenchBlock) -> WrenchBlock:
    return wrenches._replace(wrenches=wrenches.wrenches + PUSH)


def is_definite(covariance: FloatArray) -> bool:
    """Whether a covariance is positive definite."""
    try:
        np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return False
    return True


def meet(fault: Fault, clock: str, domain: int) -> tuple[Outcome, ...]:
    """Meet a fault on a node of its own."""
    bench = Bench(domain)
    try:
        return tuple(Trial(bench, fault, clock).run())
    except AssertionError as error:
        return tuple(Outcome(fault.name, clock, one, (f"node does not answer: {error}",)) for one in SITUATIONS)
    finally:
        bench.close()
        del bench
        gc.collect()  # the threads of its middleware live as long as its context


def prepare() -> None:
    """Give a process a domain of its own, and prepare its nodes."""
    prepare_process()
    prepare_node()


def meet_by_name(name: str, clock: str) -> Met:
    """Meet the fault of a name, in a process that was prepared."""
    (fault,) = [fault for fault in FAULTS if fault.name == name]
    return Met(meet(fault, clock, int(os.environ["ROS_DOMAIN_ID"])), os.getpid(), measure_memory())


def measure_memory() -> float:
    """Memory in use [MB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def find_growth(met: list[Met]) -> tuple[float, float]:
    """The largest growth of a process's memory [MB] after its first ten nodes, and how much that is for a node."""
    grown = (0.0, 0.0)
    for process in {one.process for one in met}:
        used = [one.memory for one in met if one.process == process][SETTLED - 1 :]
        if len(used) > 1:
            grown = max(grown, (used[-1] - used[0], (used[-1] - used[0]) / (len(used) - 1)))
    return grown


def make_page(outcomes: list[Outcome], growth: tuple[float, float]) -> str:
    """The table of docs/faults.md."""
    good = sum(not outcome.wrong for outcome in outcomes)
    made = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    lines = [
        "# Faults",
        "",
        f"Made by `make faults` on {made} at commit {find_commit()}: {good} of {len(outcomes)} passed.",
        "",
        "Each fault meets a live node in a ROS graph of its own, at three moments: while the load converges, once it",
        f"is known, and during a contact. It lasts {NAMED_WITHIN + 1.0:g} s, or one sample where it says “one”. All of",
        "this by two clocks: the simulated one, and the wall clock with stamps that begin in the present. A cell",
        "is “ok” if, by both, the node is alive, everything it ever published was finite and every covariance positive",
        f"definite, the diagnostics name the fault within {NAMED_WITHIN:g} s of stamps ({SLOW:g} s without joint",
        "states), a damaged sensor takes the load's state “known” away, and the mass of the 1.8 kg bar is right to",
        f"{1000.0 * NEAR:g} g (three standard deviations while it converges) {RECOVERED_WITHIN:g} s later.",
        "",
        f"Memory of a process grew by {growth[0]:.0f} MB at most after its first {SETTLED} nodes, {growth[1]:.2f} MB",
        f"for each further one (limit {LEAK:g} MB).",
        "",
        f"| fault | named | {' | '.join(SITUATIONS)} |",
        f"| --- | --- |{' --- |' * len(SITUATIONS)}",
        *_list_rows(outcomes),
        "",
    ]
    return "\n".join(lines)


def _list_rows(outcomes: list[Outcome]) -> Iterator[str]:
    met = {outcome.fault for outcome in outcomes}
    for fault in FAULTS:
        if fault.name in met:
            own = [one for one in outcomes if one.fault == fault.name]
            cells = [_describe([one for one in own if one.situation == situation]) for situation in SITUATIONS]
            yield f"| {fault.name} | {fault.code or '–'} | {' | '.join(cells)} |"


def _describe(outcomes: list[Outcome]) -> str:
    """A cell: what went wrong by which clock."""
    return "; ".join(f"{one.clock} clock: {'; '.join(one.wrong)}" for one in outcomes if one.wrong) or "ok"


def main() -> int:
    """Run the matrix; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="faults whose name contains this")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="nodes at a time (default: one a core)")
    add_minutes(parser)
    return run_benchmark(parser, run_matrix, "faults.md")


def run_matrix(options: argparse.Namespace) -> tuple[str, list[object]]:
    """The page, and what failed."""
    jobs = [(fault.name, clock) for fault in FAULTS if options.only in fault.name for clock in CLOCKS]
    code = ("benchmarks/faults.py", "benchmarks/fault_catalogue.py", "test/support/bench.py")
    record = Record(ROOT / "build" / "faults.jsonl", code)
    with ProcessPoolExecutor(options.processes, get_context("spawn"), prepare) as pool:
        run_pieces(pool, options.processes, meet_by_name, jobs, record, options.until)
    met = [Met(tuple(Outcome(*one) for one in outcomes), *rest) for outcomes, *rest in (record[job] for job in jobs)]
    outcomes, growth = [outcome for one in met for outcome in one.outcomes], find_growth(met)
    failed = [one for one in outcomes if one.wrong]
    return make_page(outcomes, growth), [*failed, *([growth] if growth[0] > LEAK else [])]


if __name__ == "__main__":
    sys.exit(main())
