"""The links' part of a replay: efforts and base wrenches through the chain, and what is kept of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from inertid_ros.bags.prediction_sink import Sink, Stream
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import FileAccessError
from inertid_ros.core.estimation.full_set import complete_links
from inertid_ros.core.estimation.link_records import LinkOutput
from inertid_ros.core.input.joint_names import rename_joints
from inertid_ros.core.link_chain import LinkChain
from inertid_ros.core.records import FloatArray, IntArray, JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.static_poses import read_static_file
from inertid_ros.replay.link_trace_builder import LinkTraceBuilder
from inertid_ros.replay.plan import Plan
from inertid_ros.replay.trace import LinkTrace, Trace
from inertid_ros.text.parameters import channel_units

EFFORT_TOPICS = ("/inertid/links/effort_predicted", "/inertid/links/effort_residual")
BASE_TOPICS = ("/inertid/base/wrench_predicted", "/inertid/base/wrench_residual")
"""The same as those of the node."""


class LinkReplay:
    """Drives the chain of the links, and beside it one that predicts with the URDF's own parameters.

    Attributes:
        chain: the chain.
        trouble: what went wrong on the way, a line each.
    """

    nothing = "joint_states has no usable effort or base wrench"
    """Why nothing could be used, if nothing else tells."""

    def __init__(self, plan: Plan, robot: Robot) -> None:
        """Build the chain for a robot.

        Raises:
            SettingError: if settings do not fit together.
            RobotDescriptionError: if a joint or the base sensor's frame is not there or cannot be used.
        """
        self._source = plan.settings.links.source
        self._base_frame = plan.settings.links.base_frame or robot.frame_names[0]
        path = plan.settings.links.static_file
        static = read_static_file(Path(path).expanduser()) if path else None
        self.chain = LinkChain(robot, plan.settings, static)
        self._by_urdf = LinkChain(robot, plan.settings, static)
        self._by_urdf.pause(True)
        if plan.frozen_links is not None:
            self.chain.freeze(plan.frozen_links)
        self.trouble: list[str] = []
        self._robot_joints = robot.joint_names
        self._builder: LinkTraceBuilder | None = None
        self._reached: dict[str, FloatArray] = {}
        self._sink: Sink | None = None
        self._streams: list[tuple[Stream, slice]] = []

    def write_to(self, sink: Sink) -> None:
        """Write predictions there from now on."""
        self._sink = sink

    def push_joints(self, block: JointBlock) -> None:
        """Take joint states; where efforts are used, in pieces that end where the trace wants an estimate."""
        self._note_positions(block)
        if self._source != "effort":
            self.chain.push_joints(block)
            self._by_urdf.push_joints(block)
            return
        for part in self._split(block.stamps):
            self.chain.push_joints(block.take(part))
            self._by_urdf.push_joints(block.take(part))
            self._process()

    def _note_positions(self, block: JointBlock) -> None:
        """Keep the lowest and the highest position of each joint."""
        if len(block.stamps) == 0 or block.positions.shape[1] != len(block.names):
            return
        nowhere = np.array([np.inf, -np.inf])
        names = rename_joints(block.names, self._robot_joints)
        for name, low, high in zip(names, block.positions.min(axis=0), block.positions.max(axis=0), strict=True):
            before = self._reached.get(name, nowhere)
            self._reached[name] = np.array([np.fmin(before[0], low), np.fmax(before[1], high)])

    def push_base_wrenches(self, block: WrenchBlock) -> None:
        """Take wrenches of the base sensor, in such pieces."""
        for part in self._split(block.stamps):
            self.chain.push_base_wrenches(block.take(part))
            self._by_urdf.push_base_wrenches(block.take(part))
            self._process()

    def _split(self, stamps: IntArray) -> list[slice]:
        spacing = 500_000_000 if self._builder is None else self._builder.convergence.spacing
        cuts = (np.flatnonzero(np.diff(stamps // spacing)) + 1).tolist()
        return [slice(start, stop) for start, stop in zip([0, *cuts], [*cuts, len(stamps)], strict=True)]

    def _process(self) -> None:
        output, by_urdf = self.chain.process(), self._by_urdf.process()
        if output is None or by_urdf is None or self.chain.model is None:
            return
        if self._builder is None:
            self._builder = LinkTraceBuilder(len(self.chain.model.channels))
            self._open_streams(self.chain.model)
        builder = self._builder
        builder.take(output, by_urdf)
        if builder.convergence.is_due(builder.axis.now):
            estimate = self.chain.estimate()
            assert estimate is not None
            builder.convergence.take(builder.axis.now, estimate)
        self._write(output)

    def _open_streams(self, model: LinkModel) -> None:
        if self._sink is None:
            return
        efforts = model.arm.joint_names
        forces = 0 if self._source == "effort" else 6
        try:
            if forces:
                self._streams.append((self._sink.add_wrenches(BASE_TOPICS, self._base_frame), slice(6)))
            if len(model.channels) > forces:
                self._streams.append((self._sink.add_efforts(EFFORT_TOPICS, efforts), slice(forces, None)))
        except FileAccessError as error:
            self._give_up(error)

    def _write(self, output: LinkOutput) -> None:
        """Write predicted and residual; what was not measured has no residual."""
        residual = np.where(output.usable, output.measured - output.predicted, np.nan)
        for stream, part in self._streams:
            try:
                stream.write(output.stamps, (output.predicted[:, part], residual[:, part]))
            except FileAccessError as error:  # noqa: PERF203 - two at most
                self._give_up(error)
                return

    def _give_up(self, error: FileAccessError) -> None:
        self.trouble.append(f"predictions are incomplete: {error}")
        self._streams = []

    @property
    def stamps(self) -> tuple[int, int]:
        """First and last stamp of the samples used [ns]; zero if there are none."""
        estimate = self.chain.estimate()
        if self._builder is None or estimate is None:
            return 0, 0
        return self._builder.axis.first_stamp, estimate.stamp

    def finish(self, shared: Trace) -> LinkTrace:
        """All that is known at the end, beside what is shared; there must have been samples to use."""
        builder, chain = self._builder, self.chain
        model, estimator, estimate = chain.model, chain.estimator, chain.estimate()
        assert builder is not None
        assert model is not None
        assert estimator is not None
        assert estimate is not None
        builder.convergence.take(builder.axis.now, estimate)
        signals, by_urdf = builder.finish_signals()
        return LinkTrace(
            duration=builder.axis.now,
            topics=shared.topics,
            health=chain.health,
            notes=shared.notes,
            settings=shared.settings,
            origin=shared.origin,
            channels=model.channels,
            units=channel_units(model),
            travel=np.array([np.ptp(self._reached.get(name, np.zeros(2))) for name in model.arm.joint_names]),
            convergence=builder.convergence.finish(len(estimate.values)),
            signals=signals,
            by_urdf=by_urdf,
            online=builder.online.finish(),
            urdf=builder.urdf.finish(),
            spectrum=builder.spectrum.finish(),
            histogram=builder.histogram.finish(),
            estimate=estimate,
            parameters=complete_links(estimate),
            estimator=estimator,
        )

    def list_trouble(self) -> list[str]:
        """What went wrong, with what is wrong by now."""
        estimate = self.chain.estimate()
        findings = () if estimate is None else estimate.findings
        return [*self.trouble, *(finding.message for finding in findings if finding.level == "error")]
