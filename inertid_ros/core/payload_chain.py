"""The chain from joint efforts to the load of an arm that was identified before, for robots without a wrist sensor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.diagnosis import Health, HealthItem
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import SettingError
from inertid_ros.core.estimation.estimate import Fit, LoadEstimate, Mode, Solution, judge_load
from inertid_ros.core.estimation.load_trial import PRIOR_LOAD
from inertid_ros.core.input.joint_names import JointNames
from inertid_ros.core.link_pipeline import LinkPipeline
from inertid_ros.core.records import FloatArray, JointBlock, Output
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.rows.payload_rows import LOAD, PayloadRows
from inertid_ros.core.settings.links_check import check_links_settings
from inertid_ros.core.settings.settings import Settings


class IdentifiedArm(NamedTuple):
    """Base parameters of an arm without load.

    Attributes:
        joint_names: the arm's joints.
        names: (U,) the parameter that stands for each base parameter.
        values: (U,).
        covariance: (U, U) of the values; zeros where the file has none.
    """

    joint_names: tuple[str, ...]
    names: tuple[str, ...]
    values: FloatArray
    covariance: FloatArray


class PayloadChain:
    """Efforts less what the arm itself needs, to the ten parameters of a load."""

    def __init__(self, robot: Robot, settings: Settings, arm: IdentifiedArm) -> None:
        """Build the chain for a robot and its identified arm.

        Raises:
            SettingError: if the arm was identified with other settings than these, or efforts are not used at all.
            RobotDescriptionError: if the URDF has not the arm's joints or not the load's frame.
        """
        check_links_settings(settings.links)
        if settings.links.source == "base_wrench":
            raise SettingError("links.source", "base_wrench", "effort or both with load.source effort")
        if settings.links.method == "energy":
            raise SettingError("links.method", "energy", "filtered or differentiated with load.source effort")
        self.frame = settings.load.sensor_frame
        if not self.frame:
            raise SettingError("load.sensor_frame", "", "the frame that the load is fixed to, with load.source effort")
        self._health = Health()
        self._names = JointNames(robot.joint_names, self._health)
        self.model = LinkModel.from_settings(robot, settings, arm.joint_names)
        expected = tuple(self.model.base.names[column] for column in self.model.base.columns)
        if expected != arm.names:
            other = sorted(set(expected) ^ set(arm.names))
            raise SettingError(
                "load.arm_file",
                settings.load.arm_file,
                f"an estimate made with this URDF and these links.* settings; it differs in {', '.join(other[:6])}",
            )
        rows = PayloadRows(self.model, arm.values, self.frame, settings.links)
        self._pipeline = LinkPipeline(self.model.arm, rows, np.zeros(LOAD), PRIOR_LOAD, settings.links, self._health)
        self._paused = False

    def push_joints(self, block: JointBlock) -> None:
        """Take joint states of one publisher; never raises for bad data."""
        self._pipeline.push_joints(self._names.resolve(block))

    def process(self) -> Output | None:
        """Carry everything that can be paired through the chain; None if there is nothing."""
        return self._pipeline.process(self._paused)

    def estimate(self) -> LoadEstimate:
        """All that is known of the load by now; there is no wrist sensor, so its bias is zero."""
        solution = self._pipeline.estimator.solve()
        covariance = solution.covariance()
        waiting = not solution.rows.any()
        judged = Solution(
            stamp=self._pipeline.stamp,
            mode=Mode.PAUSED if self._paused else Mode.WAITING if waiting else Mode.TRACKING,
            values=solution.values,
            covariance=covariance,
            rows=int(solution.rows.max()),
            fit=Fit(self.model.channels, solution.rows, solution.residual_rms, solution.measured_rms),
        )
        return judge_load(judged, self.frame, ())

    def pause(self, paused: bool) -> None:
        """Stop or resume learning; predictions go on."""
        self._paused = paused

    def reset(self) -> None:
        """Forget the load."""
        self._pipeline.reset()

    @property
    def health(self) -> tuple[HealthItem, ...]:
        """What was wrong with the input so far."""
        return self._health.items()
