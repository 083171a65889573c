"""`inertid demo ddarm`: a simulated direct drive arm makes the 1986 paper's three moves, and its links are identified.

The arm is not what its URDF says: the URDF has the paper's CAD model, the arm what the paper estimated. At the end both
predict the torques of moves that were not used, as in the paper's figure 8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console

from inertid_ros.cli.demo_processes import DemoProcesses, list_arguments
from inertid_ros.cli.demo_run import Demo, DemoError, pass_time, print_verdict, run_demo
from inertid_ros.cli.demo_verdict import judge
from inertid_ros.cli.demo_view import DemoView
from inertid_ros.cli.links_demo_arm import PARAMETER_FILE, DemoArm, TorqueComparison, Torques
from inertid_ros.cli.links_demo_listener import LinksListener
from inertid_ros.cli.links_demo_view import LinksSnapshot, draw_torques, make_line, make_table
from inertid_ros.core.rows.advance import INTERVAL
from inertid_ros.core.records import FloatArray

DRIVER_PARAMETERS = {
    "robot": "ddarm",
    "links": "paper",
    "load": "none",
    "motion": "paper_link_moves",
    "tachometer": "true",
    "effort": "true",
    "rest": 1.0,
}
ROUND = 12.9
"""Seconds that the three moves take, with the ways back."""
LEARN_UNTIL = 1.0 + ROUND
TEST_UNTIL = LEARN_UNTIL + ROUND
"""Seconds since the first estimate."""

_BETTER = 2.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is judged at the end: the estimate after one round, and the torques of the next."""

    arm: DemoArm
    learned: LinksSnapshot
    torques: Torques


def main() -> int:
    """Run the demonstration; returns 0 if the truth was inside the stated uncertainty and torques are predicted better.

    Better means that what is left of the torques is less than half of what the CAD model leaves.
    """
    return run_demo(
        Demo(
            ["--params-file", str(PARAMETER_FILE)],
            list_arguments(DRIVER_PARAMETERS),
            lambda console: DemoView(console, make_table, make_line),
            _go_through_phases,
            _conclude,
        )
    )


def _go_through_phases(processes: DemoProcesses, view: DemoView[LinksSnapshot]) -> Outcome:
    arm = DemoArm.of_paper()
    listener = LinksListener(arm)
    view.note("starting simulated driver and estimator ...")
    passing_time = pass_time(listener, processes, TEST_UNTIL)
    for snapshot in passing_time:
        view.show(replace(snapshot, phase="the paper's three moves"))
        if snapshot.time > LEARN_UNTIL:
            break
    learned = replace(snapshot, phase="the arm after one round of the three moves")
    comparison = TorqueComparison(arm, learned.values)
    listener.take_joints()
    for snapshot in passing_time:
        comparison.take(listener.take_joints())
        view.show(replace(snapshot, phase="the same moves once more, to compare predictions"))
    listener.node.destroy_node()
    if comparison.torques is None:
        raise DemoError("no joint states came in: is another program using all of the CPU?")
    return Outcome(arm, learned, comparison.torques)


def _conclude(console: Console, outcome: Outcome) -> int:
    """Print the table against the truth, the torques against both predictions, and return the exit code."""
    learned, torques = outcome.learned, outcome.torques
    console.print(make_table(learned, learned.phase))
    joints = outcome.arm.model.arm.joint_names
    console.print(draw_torques(joints, torques, slice(0, round(ROUND / 3.0 * 1e9 / INTERVAL))))
    modelled, identified = torques.relate(torques.modelled), torques.relate(torques.identified)
    for joint, before, after in zip(joints, modelled, identified, strict=True):
        line = f"    {joint}: CAD leaves {100.0 * before:.1f} % of the torque, identified {100.0 * after:.1f} %"
        console.print(line, highlight=False)
    verdict = judge(learned.values, learned.covariance, learned.truth)
    known = sum(state == "known" for state in learned.states)
    where = "inside" if verdict.passes else "outside"
    distance = f"squared distance {verdict.distance:.1f}, limit {verdict.limit:.1f}"
    before, after = _overall(modelled, torques), _overall(identified, torques)
    lines = [
        (known == len(learned.states), f"{known} of {len(learned.states)} base parameters are known"),
        (verdict.passes, f"the truth is {where} the stated uncertainty of all together: {distance}"),
        (
            bool(np.all(_BETTER * identified < modelled)),
            f"the identified links leave {after:.1f} % of the torques unexplained, the CAD model {before:.1f} %",
        ),
    ]
    code = print_verdict(console, lines)
    inside = int(np.count_nonzero(verdict.inside))
    console.print(f"    {inside} of {len(verdict.inside)} truths are inside their own 95 % intervals", highlight=False)
    return code


def _overall(shares: FloatArray, torques: Torques) -> float:
    """Per cent of the torques of all joints together, from the shares (n,) of each."""
    squares = np.mean(np.square(torques.measured), axis=0)
    return 100.0 * float(np.sqrt(np.sum(np.square(shares) * squares) / np.sum(squares)))
