"""`inertid demo ddarm`: a simulated direct drive arm makes the 1986 paper's three moves, and its links are identified.

The arm is not what its URDF says: the URDF has the paper's CAD model, the arm what the paper estimated. At the end both
predict the torques of moves that were not used, as in the paper's figure 8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console
from sensor_msgs.msg import JointState

from inertid_ros.cli.demo.engine import Demo, DemoError, Listener, Processes, list_arguments, pass_time, run_demo
from inertid_ros.cli.demo.torques import PARAMETER_FILE, DemoArm, TorqueComparison, Torques, draw_torques
from inertid_ros.cli.demo.view import DemoView, Snapshot, make_table, print_verdict
from inertid_ros.core.records import JointBlock
from inertid_ros.core.rows.advance import INTERVAL
from inertid_ros.ros.inputs import SAMPLES, joint_decoder
from inertid_ros.text.parameters import count_states

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
"""The residual of the CAD model has to be this many times that of the identified links."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is judged at the end: the estimate after one round, and the torques of the next."""

    arm: DemoArm
    learned: Snapshot
    torques: Torques


class LinksListener(Listener):
    """Hears the estimate of the links, and the joint states."""

    def __init__(self, arm: DemoArm) -> None:
        """Subscribe."""
        frame = Snapshot(arm.model.base.texts, arm.truth, arm.model.prior)
        super().__init__("/inertid/links/base_parameters", "/inertid/links/base_covariance", frame)
        self._joint_states = joint_decoder()
        self.node.create_subscription(JointState, "/joint_states", self._joint_states.add, SAMPLES, raw=True)

    def take_joints(self) -> list[JointBlock]:
        """Return the joint states since the last call."""
        return self._joint_states.take()


def main() -> int:
    """Run the demonstration; returns 0 if the truth is inside the stated uncertainty and torques are predicted better.

    Better means that the residual of the torques is less than half of the CAD model's.
    """
    driver = list_arguments(DRIVER_PARAMETERS)
    return run_demo(Demo(["--params-file", str(PARAMETER_FILE)], driver, describe, _go_through_phases, _conclude))


def describe(snapshot: Snapshot) -> str:
    """Write how many base parameters are known."""
    return count_states(snapshot.states)


def _go_through_phases(processes: Processes, view: DemoView) -> Outcome:
    arm = DemoArm.of_paper()
    listener = LinksListener(arm)
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
        raise DemoError("no joint states arrived: is another program using all of the CPU?")
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
    before, after = (100.0 * torques.relate_all(shares) for shares in (modelled, identified))
    better = (
        bool(np.all(_BETTER * identified < modelled)),
        f"the identified links leave {after:.1f} % of the torques unexplained, the CAD model {before:.1f} %",
    )
    return print_verdict(console, learned, "base parameters", [better])
