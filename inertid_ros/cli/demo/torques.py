"""The arm of the links' demonstration: its CAD model, its true links, and the torques that either predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from rich.console import Group
from rich.text import Text

from inertid_ros.cli.console import plot_curves
from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.records import FloatArray, JointBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.parameters import read_settings
from inertid_ros.files.share import share_path
from inertid_ros.sim.links import links_of, paper_ddarm_links
from inertid_ros.sim.scenario import read_urdf

PARAMETER_FILE = share_path("config", "ddarm_links.yaml")

MEASURED, MODELLED, IDENTIFIED = "white", "red", "green"
_WIDTH, _HEIGHT = 72, 6


@dataclass(frozen=True, slots=True)
class DemoArm:
    """The direct drive arm.

    Attributes:
        robot: of the shipped URDF, which has the paper's CAD model.
        settings: those that the estimator has.
        model: its base parameters; the prior is the CAD model's.
        truth: (B,) base parameters of what is simulated.
    """

    robot: Robot
    settings: Settings
    model: LinkModel
    truth: FloatArray

    @classmethod
    def of_paper(cls) -> DemoArm:
        """Set it up."""
        robot = Robot.from_urdf(read_urdf("ddarm"))
        settings = read_settings(PARAMETER_FILE)
        chain = Chain(robot, settings, Target.LINKS)
        nothing = np.zeros((1, len(robot.joint_names)))
        chain.push(JointBlock(robot.joint_names, np.array([1]), nothing, nothing, nothing))
        assert chain.model is not None
        combination = chain.model.base.combination[:, chain.model.unknowns.inertial]
        return cls(robot, settings, chain.model, combination @ paper_ddarm_links(links_of(robot)).ravel())


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
        self._arm = arm
        self._values = (arm.model.prior, identified)
        self._chains: list[Chain] = []
        self._rows: list[tuple[FloatArray, FloatArray, FloatArray]] = []

    def take(self, blocks: list[JointBlock]) -> None:
        """Take joint states."""
        for block in blocks:
            if not self._chains:
                self._chains = [self._make_chain(values, block) for values in self._values]
            for chain in self._chains:
                chain.push(block)
        outputs = [chain.process() for chain in self._chains]
        if outputs and outputs[0] is not None and outputs[1] is not None:
            usable = outputs[0].rows.usable.all(axis=1)
            modelled, identified = (output.rows.predicted[usable] for output in outputs if output is not None)
            self._rows.append((outputs[0].rows.measured[usable], modelled, identified))

    def _make_chain(self, values: FloatArray, block: JointBlock) -> Chain:
        chain = Chain(self._arm.robot, self._arm.settings, Target.LINKS)
        chain.push(block.take(slice(0, 1)))
        chain.freeze(values)
        return chain

    @property
    def torques(self) -> Torques | None:
        """All so far; None if there is nothing."""
        return Torques(*(np.concatenate(parts) for parts in zip(*self._rows, strict=True))) if self._rows else None


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
