"""The one chain from samples to the parameters of an arm. Node, replay and tests all drive this one."""

from __future__ import annotations

from collections.abc import Sequence

from inertid_ros.core.checks.effort_convention import EffortCheck
from inertid_ros.core.checks.energy_cross_check import EnergyCrossCheck
from inertid_ros.core.diagnosis import Health, HealthItem
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.estimate import Fit, LinksEstimate, Mode, Solution, judge_links
from inertid_ros.core.estimation.link_estimator import LinkEstimator
from inertid_ros.core.input.joint_names import JointNames
from inertid_ros.core.link_pipeline import SLOT, LinkPipeline
from inertid_ros.core.records import FloatArray, JointBlock, Output, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.rows.link_rows import LinkRows, make_link_rows
from inertid_ros.core.rows.link_rows_energy import EnergyLinkRows
from inertid_ros.core.settings.links_check import check_links_settings
from inertid_ros.core.settings.settings import Settings
from inertid_ros.core.static.baseline import StaticWrench

_EFFORT_WAIT = 100
"""So many messages without effort before that is called an error."""


class LinkChain:
    """Names, stamps, efforts, equations, rows, information: put together for one arm."""

    def __init__(self, robot: Robot, settings: Settings, static: StaticWrench | None = None) -> None:
        """Build the chain for a robot.

        Args:
            robot: the robot.
            settings: all parameters.
            static: what links.static_file holds, where it is set.

        Raises:
            SettingError: if the unit of effort is not declared, or something does not fit together.
            RobotDescriptionError: if a joint or the base sensor's frame is not there or cannot be used.
        """
        check_links_settings(settings.links)
        self.settings = settings
        self._robot = robot
        self._links = settings.links
        self._health = Health()
        self._names = JointNames(robot.joint_names, self._health)
        self._base_frame = settings.links.base_frame or robot.frame_names[0]
        self._static = static
        self._without_effort = 0
        self._paused = False
        self._energy: EnergyCrossCheck | None = None
        self.model: LinkModel | None = None
        """The arm; None while it is not known which joints it has."""
        self._pipeline: LinkPipeline | None = None
        if settings.links.joints:
            self._build(settings.links.joints)

    def push_joints(self, block: JointBlock) -> None:
        """Take joint states of one publisher; never raises for bad data."""
        block = self._names.resolve(block)
        if self._pipeline is None:
            self._choose_joints(block)
        if self._pipeline is not None:
            self._pipeline.push_joints(block)

    def _choose_joints(self, block: JointBlock) -> None:
        """The arm is what the first usable message has; what mimics another joint or has no single coordinate, not."""
        if len(block.stamps) == 0:
            return
        if self._links.source != "base_wrench" and block.efforts is None:
            self._without_effort += len(block.stamps)
            if self._without_effort >= _EFFORT_WAIT:
                self._health.report("effort", "no_effort", int(block.stamps[-1]), count=len(block.stamps))
            return
        joints = [name for name in block.names if name in self._robot.joint_names and name not in self._robot.mimics]
        if not joints:
            detail = f"joint_states has {', '.join(block.names[:8])}; the URDF {', '.join(self._robot.joint_names[:8])}"
            self._health.report("joint_states", "missing_joints", int(block.stamps[-1]), detail, len(block.stamps))
            return
        left = [name for name in self._robot.joint_names if name not in joints]
        if left:
            self._health.report("joint_states", "unmeasured_joints", int(block.stamps[-1]), ", ".join(left))
        self._build(joints)

    def _build(self, joints: Sequence[str]) -> None:
        self.model = LinkModel.from_settings(self._robot, self.settings, joints)
        links, model = self._links, self.model
        by_energy = links.method == "energy"
        rows: LinkRows = EnergyLinkRows(model, links) if by_energy else make_link_rows(model.columns, links)
        if not by_energy and links.source == "effort":
            self._energy = EnergyCrossCheck(model, links, SLOT * 1e-9)
        self._pipeline = LinkPipeline(
            model.arm, rows, model.prior, model.prior_deviations, links, self._health, self._energy
        )
        if links.source != "base_wrench":
            self._pipeline.check = EffortCheck(model.arm)
        if self._static is not None:
            self._pipeline.static = self._static.in_order(model.arm.joint_names)

    def push_base_wrenches(self, block: WrenchBlock) -> None:
        """Take wrenches of the base sensor; never raises for bad data."""
        if block.frame != self._base_frame and len(block.stamps):
            code = "base_frame_mismatch" if block.frame in self._robot.frame_names else "base_frame_unknown"
            detail = f"base wrench in '{block.frame}', links.base_frame is '{self._base_frame}'"
            self._health.report("base_wrench", code, int(block.stamps[-1]), detail, len(block.stamps))
            if code == "base_frame_mismatch":
                return
        if self._pipeline is not None:
            self._pipeline.push_base_wrenches(block)

    def process(self) -> Output | None:
        """Carry everything that can be paired through the chain; None if there is nothing."""
        return None if self._pipeline is None else self._pipeline.process(self._paused)

    def estimate(self) -> LinksEstimate | None:
        """All that is known by now; None while it is not known which joints the arm has."""
        if self._pipeline is None or self.model is None:
            return None
        solution = self._pipeline.estimator.solve()
        fit = self._pipeline.fit or solution
        findings = () if self._pipeline.check is None else self._pipeline.check.findings()
        if not findings and self._energy is not None:
            findings = self._energy.findings()
        waiting = Mode.TRACKING if solution.rows.any() else Mode.WAITING
        judged = Solution(
            stamp=self._pipeline.stamp,
            mode=Mode.PAUSED if self._paused else waiting,
            values=solution.values,
            covariance=solution.covariance(),
            rows=int(fit.rows.max(initial=0)),
            fit=Fit(self.model.channels, fit.rows, fit.residual_rms, fit.measured_rms),
        )
        return judge_links(judged, self.model, findings)

    def freeze(self, values: FloatArray) -> None:
        """Predict with these base parameters (U,) and learn nothing from now on; the arm must be known."""
        assert self._pipeline is not None
        self._paused = True
        self._pipeline.freeze(values)

    def pause(self, paused: bool) -> None:
        """Stop or resume learning; predictions go on."""
        self._paused = paused

    def reset(self) -> None:
        """Forget all that was learned."""
        if self._pipeline is not None:
            self._pipeline.reset()

    @property
    def estimator(self) -> LinkEstimator | None:
        """What holds the information; that of several recordings adds up."""
        return None if self._pipeline is None else self._pipeline.estimator

    @property
    def health(self) -> tuple[HealthItem, ...]:
        """What was wrong with the input so far."""
        return self._health.items()
