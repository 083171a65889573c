"""`inertid demo ddarm`: a simulated direct drive arm makes the 1986 paper's three moves, and its links are identified.

The arm is not what its URDF says: the URDF has the paper's CAD model, the arm what the paper estimated. At the end both
predict the torques of moves that were not used, as in the paper's figure 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from rich.console import Console, Group
from rich.text import Text
from sensor_msgs.msg import JointState

from inertid_ros.cli.demo.engine import DemoError, Listener, Processes, list_arguments, pass_time, run_demo, show_phase
from inertid_ros.cli.demo.view import DemoView, Snapshot, make_table, print_verdict
from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.records import FloatArray, JointBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.rows.advance import INTERVAL
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.parameters import read_settings
from inertid_ros.files.share import share_path
from inertid_ros.ros.inputs import SAMPLES, joint_decoder
from inertid_ros.sim.arm import links_of, paper_ddarm_links
from inertid_ros.sim.scenario import read_urdf
from inertid_ros.text.numbers import count_states

PARAMETER_FILE = share_path("config", "ddarm_links.yaml")
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

MEASURED, MODELLED, IDENTIFIED = "white", "red", "green"
_WIDTH, _HEIGHT = 72, 6
"""Of a drawing, characters and lines."""
_BRAILLE = 0x2800
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""Bits of the four by two dots of a braille character."""


@dataclass(frozen=True, slots=True)
class DemoArm:
    """The direct drive arm: URDF and prior of the model are the paper's CAD model, `truth` (B,) is simulated."""

    robot: Robot
    settings: Settings
    model: LinkModel
    truth: FloatArray

    @classmethod
    def of_paper(cls) -> DemoArm:
        """Set it up."""
        robot = Robot.from_urdf(read_urdf("ddarm"))
        settings = read_settings(PARAMETER_FILE)
        settings = replace(settings, links=replace(settings.links, joints=list(robot.joint_names)))
        model = LinkModel.from_settings(robot, settings, robot.joint_names)
        combination = model.base.combination[:, model.unknowns.inertial]
        return cls(robot, settings, model, combination @ paper_ddarm_links(links_of(robot)).ravel())


class Torques(NamedTuple):
    """Torques of a motion after the filters of the chain, (M, n) each."""

    measured: FloatArray
    modelled: FloatArray
    identified: FloatArray

    def relate(self, predicted: FloatArray) -> FloatArray:
        """Rms of what a prediction leaves of each joint's torque, as a share of that torque's rms, (n,)."""
        left = np.mean(np.square(self.measured - predicted), axis=0)
        return np.asarray(np.sqrt(left / np.mean(np.square(self.measured), axis=0)))

    def relate_all(self, shares: FloatArray) -> float:
        """The share of the torques of all joints together, from the shares (n,) of each."""
        squares = np.mean(np.square(self.measured), axis=0)
        return float(np.sqrt(np.sum(np.square(shares) * squares) / np.sum(squares)))


class TorqueComparison:
    """Predicts the torques of the same motion with the CAD model's and with identified base parameters (B,)."""

    def __init__(self, arm: DemoArm, identified: FloatArray) -> None:
        """Learn nothing from now on."""
        self._chains = [Chain(arm.robot, arm.settings, Target.LINKS) for _ in range(2)]
        for chain, values in zip(self._chains, (arm.model.prior, identified), strict=True):
            chain.freeze(values)
        self._rows: list[tuple[FloatArray, FloatArray, FloatArray]] = []

    def take(self, blocks: list[JointBlock]) -> None:
        """Take joint states."""
        for block in blocks:
            for chain in self._chains:
                chain.push(block)
        modelled, identified = (chain.process() for chain in self._chains)
        if modelled is not None and identified is not None:
            usable = modelled.rows.usable.all(axis=1)
            rows = modelled.rows
            self._rows.append((rows.measured[usable], rows.predicted[usable], identified.rows.predicted[usable]))

    @property
    def torques(self) -> Torques | None:
        """All so far; None if there is nothing."""
        return Torques(*(np.concatenate(parts) for parts in zip(*self._rows, strict=True))) if self._rows else None


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


def main(has_page: bool = False) -> int:
    """Run the demonstration; returns 0 if the truth is inside the stated uncertainty and torques are predicted better.

    Better means that the residual of the torques is less than half of the CAD model's.
    """
    estimator, driver = ["--params-file", str(PARAMETER_FILE)], list_arguments(DRIVER_PARAMETERS)
    return run_demo(estimator, driver, describe, _play, has_page)


def describe(snapshot: Snapshot) -> str:
    """Write how many base parameters are known."""
    return count_states(snapshot.states)


def _play(processes: Processes, view: DemoView) -> Callable[[Console], int]:
    arm = DemoArm.of_paper()
    listener = LinksListener(arm)
    passing_time = pass_time(listener, processes, TEST_UNTIL)
    learned = show_phase(view, passing_time, LEARN_UNTIL, phase="the paper's three moves")
    comparison = TorqueComparison(arm, learned.values)
    listener.take_joints()
    for snapshot in passing_time:
        comparison.take(listener.take_joints())
        view.show(replace(snapshot, phase="the same moves once more, to compare predictions"))
    listener.node.destroy_node()
    if comparison.torques is None:
        raise DemoError("no joint states arrived: is another program using all of the CPU?")
    return partial(_conclude, arm.model.arm.joint_names, learned, comparison.torques)


def _conclude(joints: Sequence[str], learned: Snapshot, torques: Torques, console: Console) -> int:
    """Print the estimate after one round against the truth, and the torques of the next against both predictions."""
    console.print(make_table(learned, "the arm after one round of the three moves"))
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


def draw_torques(joints: Sequence[str], torques: Torques, samples: slice) -> Group:
    """Draw some samples of each joint's torque over those that either set of parameters predicts (their figure 8)."""
    parts: list[Text] = []
    for index, joint in enumerate(joints):
        measured, modelled, identified = (values[samples, index] for values in torques)
        title = Text.assemble(
            f"{joint} [{measured.min():.0f} to {measured.max():.0f} Nm]: ",
            ("measured", MEASURED), ", ", ("CAD", MODELLED), ", ", ("identified", IDENTIFIED),
        )  # fmt: skip
        curves = [(MODELLED, modelled), (MEASURED, measured), (IDENTIFIED, identified)]
        parts += [title, plot_curves(curves, _WIDTH, _HEIGHT)]
    return Group(*parts)


def plot_curves(curves: Sequence[tuple[str, FloatArray]], width: int, height: int) -> Text:
    """Draw curves, (N,) values each, on top of each other to the same scale, with the dots of braille characters.

    Where two share a character, the later one gives the style. Width and height are in characters.
    """
    low = min(float(values.min()) for _, values in curves)
    high = max(float(values.max()) for _, values in curves)
    cells = np.zeros((height, width), dtype=np.int64)
    styles = np.full((height, width), "", dtype=object)
    across = np.arange(2 * width)
    for style, values in curves:
        places = np.linspace(0.0, len(values) - 1.0, 2 * width)
        levels = np.interp(places, np.arange(len(values)), values)
        share = (high - levels) / (high - low) if high > low else np.full(2 * width, 0.5)
        down = np.rint(share * (4 * height - 1)).astype(np.int64)
        rows, columns = down // 4, across // 2
        np.bitwise_or.at(cells, (rows, columns), _DOTS[down % 4, across % 2])
        styles[rows, columns] = style
    text = Text()
    for row in range(height):
        for column in range(width):
            text.append(chr(_BRAILLE + int(cells[row, column])), style=str(styles[row, column]))
        text.append("\n")
    return text
