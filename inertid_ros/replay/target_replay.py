"""One chain over a recording: a load or an arm, with what is kept of it and what is written."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from inertid_ros.bags.mcap_writer import Sink, Stream
from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.equations.equation import WRENCH_UNITS
from inertid_ros.core.errors import FileAccessError, InertidError, SettingError
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.full_set import complete_links
from inertid_ros.core.input.inputs import rename_joints
from inertid_ros.core.records import FloatArray, IntArray, JointBlock, Output, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import ObjectSettings
from inertid_ros.core.static.rest_poses import StaticWrench
from inertid_ros.files.estimate import find_tool_file, read_arm, read_tool
from inertid_ros.files.parameters import read_static_file
from inertid_ros.files.provenance import Provenance
from inertid_ros.replay.inputs import Plan, TopicStatistics
from inertid_ros.replay.recorder import NEVER, SPACINGS, MomentKeeper, Recorder
from inertid_ros.replay.trace import LinkTrace, LoadTrace

_TOPICS = {
    "wrench": ("/inertid/load/wrench_predicted", "/inertid/load/wrench_residual"),
    "effort": tuple(f"/inertid/load/effort_{what}" for what in ("predicted", "residual", "deviation")),
    "links": tuple(f"/inertid/links/effort_{what}" for what in ("predicted", "residual", "deviation")),
    "base": ("/inertid/base/wrench_predicted", "/inertid/base/wrench_residual"),
}
"""The same as those of the node."""


class Watcher(Protocol):
    """Sees what a replay sees. Times are seconds since the first sample used."""

    def take_joints(self, block: JointBlock) -> None:
        """Take joint states, which come before what they are used for."""

    def take_output(self, times: FloatArray, output: Output) -> None:
        """Take samples that were used, at least one, with their times (N,)."""

    def take_estimate(self, time: float, estimate: LoadEstimate | LinksEstimate) -> None:
        """Take what is known after the samples up to a time."""


class TargetReplay:
    """Drives one chain, and for an arm beside it one that predicts with the URDF's own parameters.

    Attributes:
        chain: the chain.
        target: what it identifies.
        trouble: what went wrong on the way, a line each.
    """

    def __init__(self, plan: Plan, robot: Robot, target: Target, sensor_frame: str = "", duration: float = 0.0) -> None:
        """Build the chain for a robot and, of a load on a wrist sensor, for a frame of the robot.

        About so many nanoseconds of data will come; 0 if that is not known.

        Raises:
            SettingError: if settings do not fit together.
            RobotDescriptionError: if a joint or a frame is not there or cannot be used.
            FileAccessError, FileFormatError: if the file of the arm or of static poses cannot be used.
        """
        self.target = target
        self.trouble: list[str] = []
        self._settings = settings = plan.settings
        self._frozen = plan.frozen.get(target)
        by_effort = (settings.load if target is Target.LOAD else settings.links).source == "effort"
        self._leader = "joint_states" if by_effort else "wrench"
        self._frame = sensor_frame or settings.load.sensor_frame
        self._joint_names: tuple[str, ...] = ()
        self._robot = robot
        self._static: StaticWrench | None = None
        self._shadow: Chain | None = None
        if target is Target.LINKS:
            self._frame = settings.links.base_frame or robot.frame_names[0]
            self._static = read_static_file(Path(path)) if (path := settings.links.static_file) else None
            self.chain = Chain(robot, settings, target, static=self._static)
        elif by_effort:
            if not settings.load.arm_file:
                raise SettingError("load.arm_file", "", "the file of an identified arm (--arm)")
            arm = read_arm(Path(settings.load.arm_file))
            self.chain = Chain(robot, settings, target, arm=arm)
        else:
            self.chain = Chain(robot, settings, target, sensor_frame=self._frame)
            self._joint_names = robot.path_to(self._frame).joint_names
            self._use_tool(find_tool_file(settings))
            self._expect(settings.objects)
        if self._frozen is not None:
            self.chain.freeze(self._frozen, plan.uncertainty if target is Target.LINKS else None)
        self._reached: dict[str, FloatArray] = {}
        self._recorder: Recorder | None = None
        spacing = SPACINGS[target] if plan.moments else NEVER
        self._moments = MomentKeeper[FloatArray](spacing, plan.moments or 1, duration)
        self._sink: Sink | None = None
        self._watcher: Watcher | None = None
        self._streams: list[tuple[Stream, slice, int]] = []
        self._deviation: FloatArray | None = None

    def _use_tool(self, path: Path | None) -> None:
        if path is None:
            return
        try:
            tool = read_tool(path)
        except InertidError as error:
            self.trouble.append(f"the tool is not subtracted: {error}")
            return
        if tool.sensor_frame != self._frame:
            self.trouble.append(
                f"the tool of '{path}' is not subtracted: it is given in '{tool.sensor_frame}', not in '{self._frame}'"
            )
            return
        self.chain.tool = tool

    def _expect(self, settings: ObjectSettings) -> None:
        """Expect the object that settings name, if they name any: looking for objects takes imports of its own."""
        if not settings.library and not settings.expected:
            return
        from inertid_ros.files.objects import read_watch

        watch = read_watch(settings)
        self.chain.expect(None if watch is None else watch.expected_load)

    @property
    def what(self) -> str:
        """What is used of a recording."""
        if self.target is Target.LINKS:
            return "sample of the arm"
        return "effort" if self._leader == "joint_states" else "wrench"

    @property
    def nothing(self) -> str:
        """Why nothing could be used, if nothing else tells."""
        if self.target is Target.LINKS:
            return "joint_states has no usable effort or base wrench"
        return "nothing moves" if self._leader == "joint_states" else "joint states and wrenches do not overlap in time"

    def write_to(self, sink: Sink) -> None:
        """Write predictions there from now on."""
        self._sink = sink

    def show_to(self, watcher: Watcher) -> None:
        """Show what comes out from now on."""
        self._watcher = watcher

    def push_joints(self, block: JointBlock) -> None:
        """Take joint states; where efforts are used, in pieces that end where the recorder wants an estimate."""
        self._note_positions(block)
        self._push(block, is_leader=self._leader == "joint_states")

    def push_wrenches(self, block: WrenchBlock) -> None:
        """Take wrenches of the sensor at the wrist or under the base, in such pieces."""
        self._push(block, is_leader=True)

    def _push(self, block: JointBlock | WrenchBlock, is_leader: bool) -> None:
        if not is_leader:
            self._push_all(block)
            return
        for part in self._split(block.stamps):
            self._push_all(block.take(part))
            self._process()

    def _push_all(self, block: JointBlock | WrenchBlock) -> None:
        """Push a block into the chain and, once it is known which arm that is, into the one beside it."""
        self.chain.push(block)
        model = self.chain.model
        if self._shadow is None and self.target is Target.LINKS and model is not None:
            self._shadow = Chain(self._robot, self._settings, self.target, static=self._static, model=model)
            self._shadow.pause(True)
        if self._shadow is not None:
            self._shadow.push(block)

    def _note_positions(self, block: JointBlock) -> None:
        """Keep the lowest and the highest position of each joint."""
        if len(block.stamps) == 0 or block.positions.shape[1] != len(block.names):
            return
        nowhere = np.array([np.inf, -np.inf])
        names = rename_joints(block.names, self._robot.joint_names)
        for name, low, high in zip(names, block.positions.min(axis=0), block.positions.max(axis=0), strict=True):
            before = self._reached.get(name, nowhere)
            self._reached[name] = np.array([np.fmin(before[0], low), np.fmax(before[1], high)])

    def _split(self, stamps: IntArray) -> list[slice]:
        cuts = (np.flatnonzero(np.diff(stamps // self._moments.spacing)) + 1).tolist()
        return [slice(start, stop) for start, stop in zip([0, *cuts], [*cuts, len(stamps)], strict=True)]

    def _process(self) -> None:
        output = self.chain.process()
        by_urdf = None if self._shadow is None else self._shadow.process()
        if output is None:
            return
        if self._recorder is None:
            self._recorder = Recorder(len(self.chain.channels), self._moments, by_urdf is not None)
            self._open_streams()
        times = self._recorder.take(output, by_urdf)
        if self._watcher is not None:
            self._watcher.take_output(times, output)
        if self._moments.is_due(self._recorder.axis.now):
            estimate = self.chain.estimate()
            assert estimate is not None
            self._recorder.keep(estimate)
            if self._watcher is not None:
                self._watcher.take_estimate(self._recorder.axis.now, estimate)
        self._write(output)

    def _open_streams(self) -> None:
        sink, model = self._sink, self.chain.model
        if sink is None:
            return
        try:
            if model is None:
                self._streams.append((sink.add_wrenches(_TOPICS["wrench"], self._frame), slice(6), 2))
                return
            of_base = slice(sum(name.startswith("base.") for name in self.chain.channels))
            if of_base.stop and self.target is Target.LINKS:
                self._streams.append((sink.add_wrenches(_TOPICS["base"], self._frame), of_base, 2))
            if len(self.chain.channels) > of_base.stop:
                topics = _TOPICS["links" if self.target is Target.LINKS else "effort"]
                stream = sink.add_efforts(topics, model.arm.joint_names)
                self._streams.append((stream, slice(of_base.stop, None), len(topics)))
        except FileAccessError as error:
            self._give_up(error)

    def _write(self, output: Output) -> None:
        """Write predicted, residual and, of efforts, deviation; what was not measured has no residual."""
        residual = output.residual if output.usable.all() else np.where(output.usable, output.residual, np.nan)
        numbers = [output.predicted, residual]
        if self.chain.model is not None:
            numbers.append(self._hold_deviation(output))
        for stream, part, topics in self._streams:
            try:
                stream.write(output.stamps, [one[:, part] for one in numbers[:topics]])
            except FileAccessError as error:  # noqa: PERF203 - two at most
                self._give_up(error)
                return

    def _hold_deviation(self, output: Output) -> FloatArray:
        """Standard deviations (N, K) of predictions: those of the row before each sample; NaN before the first."""
        before = np.full(output.predicted.shape[1], np.nan) if self._deviation is None else self._deviation
        table = np.concatenate((before[None], output.rows.deviation))
        self._deviation = table[-1]
        return np.asarray(table[np.searchsorted(output.rows.stamps, output.stamps, side="right")])

    def _give_up(self, error: FileAccessError) -> None:
        self.trouble.append(f"predictions are incomplete: {error}")
        self._streams = []

    @property
    def stamps(self) -> tuple[int, int]:
        """First and last stamp of the samples used [ns]; zero if there are none."""
        if self._recorder is None or self._last is None:
            return 0, 0
        return self._recorder.axis.first_stamp, self._last.stamp

    @cached_property
    def _last(self) -> LoadEstimate | LinksEstimate | None:
        """The estimate at the end, made once."""
        return self.chain.estimate()

    def finish(
        self, topics: tuple[TopicStatistics, ...], notes: tuple[str, ...], origin: Provenance
    ) -> LoadTrace | LinkTrace:
        """All that is known at the end, beside what is shared; there must have been samples to use."""
        chain, estimate, model = self.chain, self._last, self.chain.model
        assert self._recorder is not None
        assert estimate is not None
        joints = self._joint_names if model is None else model.arm.joint_names
        shared: dict[str, Any] = {
            "topics": topics,
            "health": chain.health,
            "notes": notes,
            "settings": self._settings,
            "origin": origin,
            "channels": chain.channels,
            "units": WRENCH_UNITS if model is None else model.units,
            "joint_names": joints,
            "excitation": np.array([np.ptp(self._reached.get(name, np.zeros(2))) for name in joints]),
            "estimate": estimate,
            **self._recorder.finish(estimate, self._find_bias(estimate)),
        }
        if isinstance(estimate, LoadEstimate):
            return LoadTrace(**shared)
        assert chain.estimator is not None
        return LinkTrace(**shared, parameters=complete_links(estimate), estimator=chain.estimator)

    def _find_bias(self, estimate: LoadEstimate | LinksEstimate) -> FloatArray | float:
        """What a wrist sensor shows without a load, (6,); nothing for any other."""
        if not isinstance(estimate, LoadEstimate) or estimate.sensor is None:
            return 0.0
        return estimate.sensor.bias if self._frozen is None else self._frozen[len(estimate.values) :]

    def list_trouble(self) -> list[str]:
        """What went wrong on the way."""
        more = 0 if self._recorder is None else self._recorder.events_left_out
        return [*self.trouble, *([f"{more} more events are not listed"] if more else [])]
