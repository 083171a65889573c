"""The one chain from samples to an estimate. Node, replay, command line and tests all drive this one."""

from __future__ import annotations

from inertid_ros.core.diagnosis import HealthItem
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.link_estimator import LinkEstimator
from inertid_ros.core.link_chain import LinkChain
from inertid_ros.core.load_chain import LoadChain
from inertid_ros.core.payload_chain import IdentifiedArm, PayloadChain
from inertid_ros.core.records import FloatArray, JointBlock, Name, Output, WrenchBlock
from inertid_ros.core.rigid_body.tool import Tool
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.core.static.baseline import StaticWrench


class Target(Name):
    """What a chain identifies."""

    LOAD = "load"
    LINKS = "links"


class Chain:
    """Joint states and wrenches in; predictions, residuals, events and an estimate out."""

    def __init__(
        self,
        robot: Robot,
        settings: Settings,
        target: Target,
        *,
        sensor_frame: str = "",
        arm: IdentifiedArm | None = None,
        static: StaticWrench | None = None,
    ) -> None:
        """Build the chain for a robot."""
        self.settings = settings
        self.target = target
        self._inner: LoadChain | LinkChain | PayloadChain
        if target is Target.LINKS:
            self._inner = LinkChain(robot, settings, static)
        elif arm is not None:
            self._inner = PayloadChain(robot, settings, arm)
        else:
            self._inner = LoadChain(robot, settings, sensor_frame or None)

    @property
    def model(self) -> LinkModel | None:
        return None if isinstance(self._inner, LoadChain) else self._inner.model

    @property
    def channels(self) -> tuple[str, ...]:
        if isinstance(self._inner, LoadChain):
            return ("fx", "fy", "fz", "nx", "ny", "nz")
        return () if self._inner.model is None else self._inner.model.channels

    @property
    def tool(self) -> Tool | None:
        return self._inner.tool if isinstance(self._inner, LoadChain) else None

    @tool.setter
    def tool(self, tool: Tool | None) -> None:
        if isinstance(self._inner, LoadChain):
            self._inner.tool = tool

    @property
    def estimator(self) -> LinkEstimator | None:
        return self._inner.estimator if isinstance(self._inner, LinkChain) else None

    def push(self, block: JointBlock | WrenchBlock) -> None:
        if isinstance(block, JointBlock):
            self._inner.push_joints(block)
        elif isinstance(self._inner, LoadChain):
            self._inner.push_wrenches(block)
        elif isinstance(self._inner, LinkChain):
            self._inner.push_base_wrenches(block)

    def process(self) -> Output | None:
        return self._inner.process()

    def answer(self) -> Output | None:
        return None

    def estimate(self) -> LoadEstimate | LinksEstimate | None:
        return self._inner.estimate()

    def capture_tool(self) -> Tool:
        assert isinstance(self._inner, LoadChain)
        return self._inner.capture_tool()

    def pause(self, paused: bool) -> None:
        self._inner.pause(paused)

    def reset(self) -> None:
        self._inner.reset()

    def freeze(self, values: FloatArray) -> None:
        assert not isinstance(self._inner, PayloadChain)
        self._inner.freeze(values)

    @property
    def health(self) -> tuple[HealthItem, ...]:
        return self._inner.health
