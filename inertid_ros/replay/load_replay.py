"""The load's part of a replay: wrenches through the chain, and what is kept of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from inertid_ros.bags.prediction_sink import Sink, Stream
from inertid_ros.core.errors import FileAccessError, InertidError
from inertid_ros.core.load_chain import LoadChain, LoadOutput
from inertid_ros.core.records import JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.load_estimate import read_tool
from inertid_ros.replay.plan import Plan
from inertid_ros.replay.trace import LoadTrace, Trace
from inertid_ros.replay.trace_builder import TraceBuilder

TOPICS = ("/inertid/load/wrench_predicted", "/inertid/load/wrench_residual")
"""The same as those of the node."""


class LoadReplay:
    """Drives the chain of the load.

    Attributes:
        chain: the chain.
        trouble: what went wrong on the way, a line each.
    """

    nothing = "joint states and wrenches do not overlap in time"
    """Why nothing could be used, if nothing else tells."""

    def __init__(self, plan: Plan, robot: Robot, sensor_frame: str) -> None:
        """Build the chain for a frame of the robot.

        Raises:
            RobotDescriptionError: if the robot does not have it, or not such that it can be used.
        """
        self._frozen = plan.frozen
        self._joint_names = robot.path_to(sensor_frame).joint_names
        self.chain = LoadChain(robot, plan.settings, sensor_frame)
        self.trouble: list[str] = []
        if plan.frozen is not None:
            self.chain.freeze(plan.frozen)
        if plan.settings.load.tool_file:
            self._use_tool(Path(plan.settings.load.tool_file).expanduser())
        self._builder = TraceBuilder()
        self._stream: Stream | None = None

    def _use_tool(self, path: Path) -> None:
        try:
            tool = read_tool(path)
        except InertidError as error:
            self.trouble.append(f"the tool is not subtracted: {error}")
            return
        if tool.sensor_frame != self.chain.sensor_frame:
            self.trouble.append(
                f"the tool of '{path}' is not subtracted: it is given in '{tool.sensor_frame}', "
                f"not in '{self.chain.sensor_frame}'"
            )
            return
        self.chain.tool = tool

    def write_to(self, sink: Sink) -> None:
        """Write predictions there from now on; FileAccessError if that fails."""
        self._stream = sink.add_wrenches(TOPICS, self.chain.sensor_frame)

    def push_joints(self, block: JointBlock) -> None:
        """Take joint states."""
        self.chain.push_joints(block)

    def push_wrenches(self, block: WrenchBlock) -> None:
        """Take wrenches, in pieces that end where the trace wants an estimate."""
        frame, stamps, wrenches = block
        cuts = np.flatnonzero(np.diff(stamps // self._builder.convergence.spacing)) + 1
        for part in zip(np.split(stamps, cuts), np.split(wrenches, cuts), strict=True):
            self.chain.push_wrenches(WrenchBlock(frame, *part))
            output = self.chain.process()
            if len(output.stamps):
                self._take(output)

    def _take(self, output: LoadOutput) -> None:
        builder = self._builder
        builder.take(output, self.chain.time_origin)
        if builder.convergence.is_due(builder.axis.now):
            builder.convergence.take(builder.axis.now, self.chain.estimate())
        if self._stream is not None:
            try:
                self._stream.write(output.stamps, (output.predicted, output.residual))
            except FileAccessError as error:
                self.trouble.append(f"predictions are incomplete: {error}")
                self._stream = None

    @property
    def stamps(self) -> tuple[int, int]:
        """First and last stamp of the wrenches used [ns]; zero if there are none."""
        return self._builder.axis.first_stamp, self.chain.estimate().stamp

    def finish(self, shared: Trace) -> LoadTrace:
        """All that is known at the end, beside what is shared."""
        builder, chain = self._builder, self.chain
        estimate = chain.estimate()
        builder.convergence.take(builder.axis.now, estimate)
        statistics = builder.sums.finish(estimate.bias if self._frozen is None else self._frozen[10:])
        return LoadTrace(
            duration=builder.axis.now,
            topics=shared.topics,
            health=chain.health,
            notes=shared.notes,
            settings=shared.settings,
            origin=shared.origin,
            sensor_frame=chain.sensor_frame,
            joint_names=self._joint_names,
            convergence=builder.convergence.finish(),
            wrenches=builder.finish_wrenches(),
            events=tuple(builder.events),
            statistics=statistics,
            spectrum=builder.spectrum.finish(),
            histogram=builder.histogram.finish(),
            estimate=estimate,
            tool=chain.tool,
        )

    def list_trouble(self) -> list[str]:
        """What went wrong, with what is wrong by now."""
        found = [finding.message for finding in self.chain.estimate().findings if finding.level == "error"]
        more = self._builder.events_left_out
        return [*self.trouble, *found, *([f"{more} more events are not listed"] if more else [])]
