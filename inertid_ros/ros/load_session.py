"""The load's chain as the node sees it: messages in, results out, built anew whenever robot or settings change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from inertid_ros.core.errors import FileAccessError, InertidError, NotIdentifiedError, RobotDescriptionError
from inertid_ros.core.estimation.parameter_state import judge_parameters
from inertid_ros.core.load_chain import LoadChain, LoadEstimate, LoadOutput
from inertid_ros.core.records import JointBlock
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.rigid_body.tool import Tool
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.load_estimate import read_tool
from inertid_ros.ros.chain_session import ChainSession
from inertid_ros.ros.decode import wrench_decoder
from inertid_ros.ros.messages import is_publishable
from inertid_ros.ros.node_health import NodeHealth
from inertid_ros.ros.robot_source import SOURCE, RobotSource
from inertid_ros.ros.saving import Usage, make_provenance, save_load, save_tool


class LoadSession(ChainSession):
    """Keeps a chain going for as long as there is a robot description with the sensor frame in it.

    Attributes:
        chain: the chain, or None while robot or frame are missing.
        newest_stamp: the newest wrench's, nanoseconds; 0 before the first.
    """

    def __init__(self, settings: Settings, source: RobotSource, health: NodeHealth, log: Callable[[str], None]) -> None:
        """Start with what the source has by now."""
        super().__init__(settings, source, health, log, "wrench")
        self._wrench_frame: str | None = None
        self._tool: Tool | None = None
        self._usage = Usage()
        self._wrenches = wrench_decoder()
        self.chain: LoadChain | None = None
        self.newest_stamp = 0
        self._read_tool()
        self.rebuild()

    @property
    def sensor_frame(self) -> str:
        """The configured frame, or where none is, that of the wrenches; empty before the first."""
        return self._settings.load.sensor_frame or self._wrench_frame or ""

    # Robot and settings

    def change_settings(self, settings: Settings, restart: bool) -> None:
        """Take other settings; `restart` tells whether they change the identification."""
        before, self._settings = self._settings, settings
        if restart:
            if settings.load.tool_file != before.load.tool_file:
                self._read_tool()
            self.rebuild()

    def rebuild(self) -> None:
        """Build the chain anew, or report why it cannot be built. A tool and a pause outlive it."""
        self.chain = None
        frame = self.sensor_frame
        if self._source.robot is None:
            return
        if not frame:
            if self._wrench_frame is not None:
                frames = ", ".join(self._source.robot.frame_names)
                self._health.begin("wrench", "no_frame", remedy=f"set load.sensor_frame to one of: {frames}")
            return
        self._health.end("wrench", "no_frame")
        try:
            chain = LoadChain(self._source.robot, self._settings, frame)
        except RobotDescriptionError as error:
            self._health.begin(SOURCE, "unusable_frame", str(error))
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, the node must live on
            self._report_bug(error)
            return
        self._health.end(SOURCE, "unusable_frame")
        if self._tool is not None and self._tool.sensor_frame != frame:
            detail = f"it is given in '{self._tool.sensor_frame}', not in '{frame}'"
            self._health.begin("tool", "unusable_tool", detail)
            self._tool = None
        chain.pause(self._paused)
        chain.tool = self._tool
        self.chain = chain
        self._usage = Usage()
        self._count_chain()

    def _read_tool(self) -> None:
        self._tool = None
        self._health.end("tool", "unusable_tool")
        if self._settings.load.tool_file:
            try:
                self._tool = read_tool(Path(self._settings.load.tool_file).expanduser())
            except InertidError as error:
                self._health.begin("tool", "unusable_tool", str(error))

    # Data

    def take_wrench(self, data: bytes) -> None:
        """Take a serialised WrenchStamped."""
        self.received["wrench"] += 1
        self._wrenches.add(data)

    def process(self, joints: Sequence[JointBlock]) -> LoadOutput | None:
        """Carry joint states and the wrenches that have arrived through the chain; None where nothing came out."""
        wrenches = self._wrenches.take()
        if not joints and not wrenches:
            return None
        if wrenches:
            self.newest_stamp = int(wrenches[-1].stamps[-1])
            if self.chain is None and wrenches[-1].frame != self._wrench_frame:
                self._wrench_frame = wrenches[-1].frame
                self.rebuild()
        if self.chain is None:
            return None
        try:
            for joint_block in joints:
                self.chain.push_joints(joint_block)
                self._usage.joint_samples += len(joint_block.stamps)
            for wrench_block in wrenches:
                self.chain.push_wrenches(wrench_block)
            output = self.chain.process()
            if not np.isfinite(output.residual).all():
                raise FloatingPointError("a prediction is not finite")
        except Exception as error:  # noqa: BLE001 - whatever it is, the node must live on
            self._report_bug(error)
            self.rebuild()
            return None
        if len(output.stamps) == 0:
            return None
        self._usage.count(output)
        self.is_warm = True
        return output

    def estimate(self) -> LoadEstimate | None:
        """Return what is known of the load; None where there is nothing to publish."""
        if self.chain is None:
            return None
        estimate = self._ask(self.chain.estimate)
        if estimate is not None and not is_publishable(estimate):
            self._health.report("output", "withheld", "the estimate")
            return None
        return estimate

    def report_undecodable(self) -> None:
        """Hand over how many messages could not be read since the last call."""
        if self._wrenches.undecodable:
            self._health.report("wrench", "undecodable", count=self._wrenches.undecodable)
            self._wrenches.undecodable = 0

    # Commands; each raises an InertidError that says why it could not be done

    def pause(self, paused: bool) -> None:
        """Stop or resume learning."""
        self._paused = paused
        if self.chain is not None:
            self.chain.pause(paused)

    def reset(self) -> None:
        """Forget the load and the bias."""
        self._require_chain().reset()
        self._usage = Usage()

    def capture_tool(self) -> tuple[Path, tuple[str, ...]]:
        """Keep what is carried now as the tool and write it; it is kept even if writing fails.

        Returns:
            the path it was written to, and the names of the parameters that are not known yet.
        """
        chain = self._require_chain()
        provenance = make_provenance(self._settings, self._source.text, chain.estimate(), self._usage)
        self._tool = chain.capture_tool()
        try:
            path = save_tool(self._settings, self._tool, provenance)
        except FileAccessError as error:
            raise FileAccessError(f"the tool is subtracted from now on, but it was not saved: {error}") from None
        states = judge_parameters(self._tool.phi, self._tool.covariance)
        return path, tuple(name for name, state in zip(PARAMETER_NAMES, states, strict=True) if state != "known")

    def clear_tool(self) -> None:
        """Subtract no tool any more."""
        self._tool = None
        self._health.end("tool", "unusable_tool")
        if self.chain is not None:
            self.chain.tool = None

    def save(self) -> Path:
        """Write all that is known and return the path."""
        self._require_chain()
        estimate = self.estimate()
        if estimate is None or estimate.rows == 0:
            raise NotIdentifiedError("nothing is known of the load yet: see /diagnostics")
        provenance = make_provenance(self._settings, self._source.text, estimate, self._usage)
        return save_load(self._settings, estimate, self._tool, provenance)

    def _require_chain(self) -> LoadChain:
        if self.chain is None:
            missing = "robot description" if self._source.robot is None else "sensor frame that can be used"
            raise NotIdentifiedError(f"there is no {missing} yet: see /diagnostics")
        return self.chain
