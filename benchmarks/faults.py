"""The fault matrix: every fault of `fault_catalogue`, at three moments, on a live node in a real ROS graph.

    python benchmarks/faults.py --write        # make faults
    python benchmarks/faults.py --only frozen  # some of them

Each fault meets a node of its own: while the load converges, once it is known, and during a contact. Simulated time
goes as fast as the machine can. Faults of stamps are tried by the wall clock, too, where it makes a difference.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from fault_catalogue import FAULTS, Block, Fault, Memory
from page import find_commit, run_benchmark
from rclpy.qos import QoSProfile

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

import support.bench as benches
from support.bench import Bench, numbers_in

import inertid_ros.ros.inputs
import inertid_ros.ros.node
import inertid_ros.ros.pace
from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock

DOMAIN = 97
MASS, NEAR = 1.8, 0.03
"""What the bar weighs [kg], and how near the estimate must be."""
NAMED_WITHIN, RECOVERED_WITHIN = 1.0, 2.0
"""Seconds of stamps, after the first bad sample and after the first good one."""
SLOW = 3.0
"""Seconds for which wrenches wait for joint states before that is said."""
PUSH = np.array([12.0, 5.0, -8.0, 1.0, 0.5, -0.7])
"""Wrench of the contact [N, Nm]."""
SITUATIONS = ("converging", "converged", "in contact")
LEAK = 60.0
"""Growth of memory [MB] from which on the matrix fails: code that is first used takes some."""


class Outcome(NamedTuple):
    """What went wrong with a fault in a situation; nothing if all is well."""

    fault: Fault
    situation: str
    wrong: tuple[str, ...]


def prepare_node() -> None:
    """Let nodes lose and thin nothing, however busy the machine, and say ten times a second what is wrong."""
    inertid_ros.ros.node.DIAGNOSTICS_PERIOD = 0.1
    inertid_ros.ros.inputs.SAMPLES = QoSProfile(depth=10_000)
    inertid_ros.ros.pace.BEHIND = float("inf")
    benches.CHUNK = 0.04


class Trial:
    """One fault on one node."""

    def __init__(self, bench: Bench, fault: Fault, is_simulated: bool = True) -> None:
        """Start a node."""
        self._bench, self._fault = bench, fault
        bench.simulate(tachometer=True, velocity_noise=0.002, pause=0.0)
        if not is_simulated:
            bench.origin = time.time_ns()
        bench.start(use_sim_time=is_simulated)
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
            bench.status("load")  # one may be on its way that was judged before
            if fault.is_demoted and bench.status("load").level != DiagnosticStatus.ERROR:
                wrong.append("not demoted")
        bench.feed(RECOVERED_WITHIN)
        wrong += self._look(situation)
        return Outcome(fault, situation, tuple(wrong))

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
        if not all(np.isfinite(numbers_in(message)).all() for some in bench.received.values() for message in some):
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


def run_faults(faults: Iterable[Fault], domain: int = DOMAIN, is_simulated: bool = True) -> Iterator[Outcome]:
    """Meet faults, each on a node of its own."""
    for fault in faults:
        bench = Bench(domain)
        try:
            yield from Trial(bench, fault, is_simulated).run()
        except AssertionError as error:
            yield Outcome(fault, "node", (f"node does not answer: {error}",))
        finally:
            bench.close()
            del bench
            gc.collect()  # the threads of its middleware live as long as its context


def measure_memory() -> float:
    """Memory in use [MB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def make_page(outcomes: list[Outcome], by_wall: list[Outcome], grown: float) -> str:
    """The table of docs/faults.md."""
    good = sum(not outcome.wrong for outcome in outcomes + by_wall)
    made = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    lines = [
        "# Faults",
        "",
        f"Made by `make faults` on {made} at commit {find_commit()}: {good} of {len(outcomes) + len(by_wall)} passed.",
        "",
        "Each fault meets a live node in a ROS graph of its own, at three moments: while the load converges, once it",
        f"is known, and during a contact. It lasts {NAMED_WITHIN + 1.0:g} s, or one sample where it says “one”. A cell",
        "is “ok” if the node is alive, everything it ever published was finite and every covariance positive definite,",
        f"the diagnostics name the fault within {NAMED_WITHIN:g} s of stamps ({SLOW:g} s without joint states),",
        "a damaged sensor takes the load's state “known” away, and the mass of the 1.8 kg bar is right to",
        f"{1000.0 * NEAR:g} g (three standard deviations while it converges) {RECOVERED_WITHIN:g} s later.",
        "",
        f"Memory grew by {grown:.0f} MB over all nodes together.",
        "",
        f"| fault | named | {' | '.join(SITUATIONS)} |",
        f"| --- | --- |{' --- |' * len(SITUATIONS)}",
        *_list_rows(outcomes),
        "",
        "By the wall clock, with stamps of the present:",
        "",
        f"| fault | named | {' | '.join(SITUATIONS)} |",
        f"| --- | --- |{' --- |' * len(SITUATIONS)}",
        *_list_rows(by_wall),
        "",
    ]
    return "\n".join(lines)


def _list_rows(outcomes: list[Outcome]) -> Iterator[str]:
    for fault in dict.fromkeys(outcome.fault for outcome in outcomes):
        own = {one.situation: "; ".join(one.wrong) or "ok" for one in outcomes if one.fault is fault}
        cells = [own.get(situation, own.get("node", "")) for situation in SITUATIONS]
        yield f"| {fault.name} | {fault.code or '–'} | {' | '.join(cells)} |"


def main() -> int:
    """Run the matrix; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="faults whose name contains this")
    return run_benchmark(parser, run_matrix, "faults.md")


def run_matrix(options: argparse.Namespace) -> tuple[str, list[object]]:
    """The page, and what failed."""
    prepare_node()
    chosen = [fault for fault in FAULTS if options.only in fault.name]
    list(run_faults(chosen[:1]))
    before = measure_memory()
    outcomes: list[Outcome] = []
    for outcome in run_faults(chosen):
        outcomes.append(outcome)
        sys.stderr.write(f"{outcome.fault.name}, {outcome.situation}: {'; '.join(outcome.wrong) or 'ok'}\n")
    by_wall = list(
        run_faults((fault for fault in chosen if "stamp" in fault.name or "clock" in fault.name), DOMAIN, False)
    )
    grown = measure_memory() - before
    failed = [one for one in outcomes + by_wall if one.wrong]
    return make_page(outcomes, by_wall, grown), [*failed, *([grown] if grown > LEAK else [])]


if __name__ == "__main__":
    sys.exit(main())
