"""A recording through the one chain, as the node would have seen it, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress, groupby
from operator import itemgetter
from pathlib import Path
from typing import Protocol

import numpy as np
from rosbags.typesys import Stores, get_typestore

from inertid_ros.core.errors import FileAccessError, InertidError, RecordingError, RobotDescriptionError
from inertid_ros.core.load_chain import LoadChain, LoadOutput
from inertid_ros.core.records import FloatArray, IntArray, JointBlock, WrenchBlock
from inertid_ros.core.robot import Robot
from inertid_ros.core.settings import Settings
from inertid_ros.estimate_file import read_tool
from inertid_ros.messages.cdr_layout import LayoutError, learn_wrench_stamped
from inertid_ros.messages.decode import Block, StreamDecoder, joint_decoder, wrench_decoder
from inertid_ros.offline.bag_reader import BLOCK, Bag, RawMessage
from inertid_ros.offline.provenance import hash_text, list_versions
from inertid_ros.offline.topic_watch import TopicWatch, find_disorder
from inertid_ros.offline.topics import TYPES, Topics
from inertid_ros.offline.trace import InputFile, Origin, Trace
from inertid_ros.offline.trace_builder import TraceBuilder

Progress = Callable[[int], None]
"""Is told how many messages were read since the last time."""


class Sink(Protocol):
    """Takes the predictions."""

    def write(self, stamps: IntArray, wrenches: Sequence[FloatArray]) -> None:
        """Take (N,) stamps [ns], and predicted and residual wrenches, (N, 6) each."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is the same for all recordings of one run.

    Attributes:
        settings: those of the node.
        topics: names of the inputs.
        description: text of the URDF; empty to take it from the bag.
        settings_sha256: of the parameter file; empty if there is none.
        frozen: [phi (10), bias (6)] in the driver's sign to predict with instead of learning, or None.
        block_size: messages that are carried through the chain at once.
    """

    settings: Settings = field(default_factory=Settings)
    topics: Topics = field(default_factory=Topics)
    description: str = ""
    settings_sha256: str = ""
    frozen: FloatArray | None = None
    block_size: int = BLOCK


class Replay:
    """Carries bags, one after the other, through a chain.

    Attributes:
        trouble: what went wrong on the way, a line each.
        sensor_frame: frame of the wrenches, as configured or as in the first of them.
    """

    def __init__(self, plan: Plan, first: Bag) -> None:
        """Build the chain, with the robot description of the first bag if the plan has none.

        Raises:
            RobotDescriptionError, RecordingError: if there is none, or none that can be used.
        """
        self._plan = plan
        first.check(plan.topics)
        self._description = plan.description or find_description(first, plan.topics)
        robot = Robot.from_urdf(self._description)
        self.sensor_frame = plan.settings.load.sensor_frame or _find_frame(first, plan.topics)
        path = robot.path_to(self.sensor_frame)
        self._joint_names = path.joint_names
        self._chain = LoadChain(robot, plan.settings, self.sensor_frame)
        self.trouble: list[str] = []
        if plan.frozen is not None:
            self._chain.freeze(plan.frozen)
        if plan.settings.load.tool_file:
            self._use_tool(Path(plan.settings.load.tool_file).expanduser())
        store = get_typestore(Stores.ROS2_JAZZY)
        self._joints: StreamDecoder[JointBlock] = joint_decoder(
            lambda data: store.deserialize_cdr(data, TYPES["joint_states"])
        )
        self._wrenches: StreamDecoder[WrenchBlock] = wrench_decoder(
            lambda data: store.deserialize_cdr(data, TYPES["wrench"])
        )
        self._watches = [TopicWatch(plan.topics.joint_states), TopicWatch(plan.topics.wrench)]
        self._builder = TraceBuilder()
        self._inputs: list[InputFile] = []
        self._stamps = [0, 0]
        self._robot_joints = set(robot.joint_names)
        self._seen_joints: set[str] = set()

    def _use_tool(self, path: Path) -> None:
        try:
            tool = read_tool(path)
        except InertidError as error:
            self.trouble.append(f"the tool is not subtracted: {error}")
            return
        if tool.sensor_frame != self.sensor_frame:
            self.trouble.append(
                f"the tool of '{path}' is not subtracted: it is given in '{tool.sensor_frame}', "
                f"not in '{self.sensor_frame}'"
            )
            return
        self._chain.tool = tool

    def run(self, bag: Bag, sink: Sink | None, progress: Progress) -> None:
        """Carry one open bag through the chain.

        Raises:
            RecordingError: if it lacks a topic.
        """
        topics = self._plan.topics
        bag.check(topics)
        self._inputs += bag.list_inputs()
        for watch in self._watches:
            watch.start_recording()
        read = 0
        for block in bag.blocks((topics.joint_states, topics.wrench), self._plan.block_size):
            for output in self._feed(block):
                sink = self._take(output, sink)
            read += len(block)
            progress(len(block))
        self.trouble += bag.trouble
        if not bag.trouble and read < bag.count(topics):
            self.trouble.append(f"bag '{bag.path}' is damaged: it has {read} of {bag.count(topics)} messages")

    def _take(self, output: LoadOutput, sink: Sink | None) -> Sink | None:
        """Keep what came out; returns where to write from now on: nowhere, once that has failed."""
        builder = self._builder
        builder.take(output, self._chain.time_origin)
        if builder.convergence.is_due(builder.axis.now):
            builder.convergence.take(builder.axis.now, self._chain.estimate())
        if sink is not None:
            try:
                sink.write(output.stamps, (output.predicted, output.residual))
            except FileAccessError as error:
                self.trouble.append(f"predictions are incomplete: {error}")
                return None
        return sink

    def _feed(self, block: list[RawMessage]) -> Iterable[LoadOutput]:
        """Carry a block of messages through the chain.

        Joint states go first, so that the wrenches among them find those around. Where time goes back within the
        block, that would forget the wrenches from before: there, messages are taken in their order.
        """
        name = self._plan.topics.joint_states
        sources, times, data = zip(*block, strict=True)
        is_joint = [source.topic == name for source in sources]
        is_wrench = [not value for value in is_joint]
        joints = _decode(self._joints, list(compress(data, is_joint)))
        wrenches = _decode(self._wrenches, list(compress(data, is_wrench)))
        self._watch(0, joints, list(compress(times, is_joint)))
        self._watch(1, wrenches, list(compress(times, is_wrench)))
        if self._goes_back(0, joints) | self._goes_back(1, wrenches):
            for takes_joints, run in groupby(zip(is_joint, data, strict=True), key=itemgetter(0)):
                messages = [message for _, message in run]
                if takes_joints:
                    for joint_block in _decode(self._joints, messages):
                        self._chain.push_joints(joint_block)
                else:
                    yield from self._push_wrenches(_decode(self._wrenches, messages))
            return
        for joint_block in joints:
            self._seen_joints.update(joint_block.names)
            self._chain.push_joints(joint_block)
        yield from self._push_wrenches(wrenches)

    def _push_wrenches(self, blocks: list[WrenchBlock]) -> Iterable[LoadOutput]:
        """Push wrenches in pieces that end where the trace wants an estimate; each must be consumed before the next."""
        for frame, stamps, wrenches in blocks:
            cuts = np.flatnonzero(np.diff(stamps // self._builder.convergence.spacing)) + 1
            for part in zip(np.split(stamps, cuts), np.split(wrenches, cuts), strict=True):
                self._chain.push_wrenches(WrenchBlock(frame, *part))
                output = self._chain.process()
                if len(output.stamps):
                    yield output

    def _goes_back(self, index: int, blocks: Sequence[JointBlock | WrenchBlock]) -> bool:
        """Whether stamps of one input are earlier than one before; remembers the last one."""
        if not blocks:
            return False
        before, self._stamps[index] = self._stamps[index], int(blocks[-1].stamps[-1])
        firsts = np.array([block.stamps[0] for block in blocks])
        within = any(bool((block.stamps[1:] < block.stamps[:-1]).any()) for block in blocks)
        return within or bool(firsts.min() < before)

    def _watch(self, index: int, blocks: Sequence[JointBlock | WrenchBlock], times: list[int]) -> None:
        stamps = [block.stamps for block in blocks]
        if sum(map(len, stamps)) == len(times) and times:
            self._watches[index].take(np.concatenate(stamps), np.array(times))

    def finish(self) -> Trace:
        """All that is known at the end.

        Raises:
            RecordingError: if no wrench at all could be used; it says why.
        """
        builder, chain = self._builder, self._chain
        estimate = chain.estimate()
        topics = tuple(watch.summarise() for watch in self._watches)
        health = chain.health
        for topic, count in zip(topics, (self._joints.undecodable, self._wrenches.undecodable), strict=True):
            if count:
                self.trouble.append(f"{count} messages of {topic.topic} cannot be decoded: left out")
        if estimate.stamp == 0:
            reasons = [f"{item.source}: {item.message} ({item.detail}): {item.remedy}" for item in health]
            empty = [f"{topic.topic} has no message" for topic in topics if topic.count == 0]
            why = "; ".join(self.trouble + empty + reasons) or "joint states and wrenches do not overlap in time"
            raise RecordingError(f"no wrench could be used: {why}")
        self._check_robot()
        self.trouble += find_disorder(health)
        self.trouble += [finding.message for finding in estimate.findings if finding.level == "error"]
        if builder.events_left_out:
            self.trouble.append(f"{builder.events_left_out} more events are not listed")
        builder.convergence.take(builder.axis.now, estimate)
        statistics = builder.sums.finish(estimate.bias if self._plan.frozen is None else self._plan.frozen[10:])
        return Trace(
            duration=builder.axis.now,
            sensor_frame=self.sensor_frame,
            joint_names=self._joint_names,
            convergence=builder.convergence.finish(),
            wrenches=builder.finish_wrenches(),
            events=tuple(builder.events),
            statistics=statistics,
            spectrum=builder.spectrum.finish(),
            histogram=builder.histogram.finish(),
            topics=topics,
            health=health,
            notes=tuple(self.trouble),
            estimate=estimate,
            tool=chain.tool,
            settings=self._plan.settings,
            origin=self._make_origin(estimate.stamp),
        )

    def _check_robot(self) -> None:
        """Doubt a robot description that lacks at least half of the joints that were recorded."""
        missing = self._seen_joints - self._robot_joints
        if 2 * len(missing) >= len(self._seen_joints) > 0:
            self.trouble.append(
                f"joints {', '.join(sorted(missing))} are recorded but not in the robot description: "
                "make sure that it is the URDF of this robot (--urdf)"
            )

    def _make_origin(self, last_stamp: int) -> Origin:
        return Origin(
            inputs=tuple(self._inputs),
            urdf_sha256=hash_text(self._description),
            settings_sha256=self._plan.settings_sha256,
            versions=list_versions(),
            first_stamp=self._builder.axis.first_stamp,
            last_stamp=last_stamp,
        )


def replay_bags(
    paths: Sequence[Path], plan: Plan, make_sink: Callable[[str], Sink | None], progress: Progress
) -> Trace:
    """Carry bags that belong together through one chain; a bag that cannot be read is noted and left out.

    Args:
        paths: the bags, in order.
        plan: what to do.
        make_sink: returns where predictions go, given the frame of the wrenches; None for nowhere.
        progress: is told of every block.

    Raises:
        InertidError: if nothing could be computed.
    """
    replay: Replay | None = None
    sink: Sink | None = None
    errors: list[InertidError] = []
    for path in paths:
        try:
            with Bag(path) as bag:
                if replay is None:
                    replay = Replay(plan, bag)
                    sink = make_sink(replay.sensor_frame)
                replay.run(bag, sink, progress)
        except (RecordingError, RobotDescriptionError) as error:  # noqa: PERF203 - once a bag
            errors.append(error)
    if replay is None:
        raise errors[0]
    replay.trouble += [f"left out: {error}" for error in errors]
    return replay.finish()


def find_description(bag: Bag, topics: Topics) -> str:
    """Text of the robot description in a bag; RobotDescriptionError if there is none."""
    info = bag.topics.get(topics.robot_description)
    data = bag.find_text(topics.robot_description) if info and info.kind == TYPES["robot_description"] else None
    if data is None:
        raise RobotDescriptionError(
            f"bag '{bag.path}' has no robot description on {topics.robot_description}: name the URDF with --urdf"
        )
    message = get_typestore(Stores.ROS2_JAZZY).deserialize_cdr(data, TYPES["robot_description"])
    return str(getattr(message, "data"))  # noqa: B009 - the type is made at run time


def _find_frame(bag: Bag, topics: Topics) -> str:
    """The frame_id of the first wrench."""
    data = bag.find_text(topics.wrench)
    if data is None:
        raise RecordingError(f"bag '{bag.path}' has no message on {topics.wrench}: record the wrench")
    try:
        return learn_wrench_stamped(data).strings[0]
    except LayoutError as error:
        raise RecordingError(f"bag '{bag.path}': the first message on {topics.wrench} is unreadable: {error}") from None


def _decode(decoder: StreamDecoder[Block], messages: list[bytes]) -> list[Block]:
    """Blocks of the messages of one topic; those of several publishers, which differ in length, one after the other."""
    lengths = dict.fromkeys(map(len, messages))
    for length in lengths:
        alike = messages if len(lengths) == 1 else [message for message in messages if len(message) == length]
        decoder.add_all(alike)
    return decoder.take()
