"""A recording through the chains, as the node would have seen it, block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_typestore

from inertid_ros.bags.bag import Bag, RawMessage
from inertid_ros.bags.prediction_sink import Sink
from inertid_ros.bags.statistics import TopicWatch, find_disorder
from inertid_ros.bags.topics import TYPES, Topics
from inertid_ros.core.errors import (
    FileAccessError,
    InertidError,
    RecordingError,
    RobotDescriptionError,
    SettingError,
)
from inertid_ros.core.diagnosis import HealthItem
from inertid_ros.core.records import JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.provenance import hash_text, list_versions
from inertid_ros.messages.cdr_layout import LayoutError, learn_wrench_stamped
from inertid_ros.messages.decode import Block, StreamDecoder, joint_decoder, wrench_decoder
from inertid_ros.replay.link_replay import LinkReplay
from inertid_ros.replay.load_replay import LoadReplay
from inertid_ros.replay.plan import Plan, Progress
from inertid_ros.replay.trace import InputFile, Origin, Trace, Traces, unite_health


class _Input:
    """A topic that is read: its decoder, how it was stamped, and where its samples go."""

    def __init__(self, role: str, topic: str, takers: Sequence[Callable[[Any], None]]) -> None:
        store = get_typestore(Stores.ROS2_JAZZY)
        make: Callable[..., StreamDecoder[Any]] = joint_decoder if role == "joint_states" else wrench_decoder
        self.decoder = make(lambda data: store.deserialize_cdr(data, TYPES[role]))
        self.watch = TopicWatch(topic)
        self._takers = takers
        self._last_stamp = 0

    def push(self, blocks: Sequence[JointBlock | WrenchBlock]) -> None:
        """Hand samples on."""
        for block in blocks:
            for take in self._takers:
                take(block)

    def decode(self, messages: list[bytes]) -> list[Any]:
        """Blocks of messages; those of several publishers, which differ in length, one after the other."""
        return _decode(self.decoder, messages)

    def look_at(self, blocks: Sequence[JointBlock | WrenchBlock], times: list[int]) -> None:
        """Count samples with the times of their recording [ns]."""
        stamps = [block.stamps for block in blocks]
        if sum(map(len, stamps)) == len(times) and times:
            self.watch.take(np.concatenate(stamps), np.array(times))

    def goes_back(self, blocks: Sequence[JointBlock | WrenchBlock]) -> bool:
        """Whether stamps are earlier than one before; remembers the last one."""
        if not blocks:
            return False
        before, self._last_stamp = self._last_stamp, int(blocks[-1].stamps[-1])
        firsts = np.array([block.stamps[0] for block in blocks])
        within = any(bool((block.stamps[1:] < block.stamps[:-1]).any()) for block in blocks)
        return within or bool(firsts.min() < before)


class Replay:
    """Carries bags, one after the other, through the chains of the estimators.

    Attributes:
        trouble: what went wrong on the way, a line each.
    """

    def __init__(self, plan: Plan, first: Bag) -> None:
        """Build the chains, with the robot description of the first bag if the plan has none.

        Raises:
            RobotDescriptionError, RecordingError: if there is none, or none that can be used.
            SettingError: if settings do not fit together.
        """
        self._plan = plan
        if plan.has_load and plan.settings.load.source == "effort":
            raise SettingError("load.source", "effort", "wrench; a load by efforts is found by inertid weigh")
        first.check(plan.inputs)
        self._description = plan.description or find_description(first, plan.topics)
        robot = Robot.from_urdf(self._description)
        self._load, self._links = self._make_parts(robot, first)
        self.trouble: list[str] = []
        self._parts = [part for part in (self._load, self._links) if part is not None]
        self._inputs = {topic: _Input(role, topic, self._find_takers(role)) for role, topic in plan.inputs.items()}
        self._files: list[InputFile] = []
        self._robot_joints = set(robot.joint_names)
        self._seen_joints: set[str] = set()

    def _make_parts(self, robot: Robot, first: Bag) -> tuple[LoadReplay | None, LinkReplay | None]:
        plan = self._plan
        load = None
        if plan.has_load:
            frame = plan.settings.load.sensor_frame or _find_frame(first, plan.topics)
            load = LoadReplay(plan, robot, frame)
        return load, LinkReplay(plan, robot) if plan.has_links else None

    def _find_takers(self, role: str) -> list[Callable[[Any], None]]:
        if role == "joint_states":
            return [self._note_joints, *(part.push_joints for part in self._parts)]
        part, name = (self._load, "push_wrenches") if role == "wrench" else (self._links, "push_base_wrenches")
        return [getattr(part, name)]

    def _note_joints(self, block: JointBlock) -> None:
        self._seen_joints.update(block.names)

    def write_to(self, sink: Sink) -> None:
        """Write predictions there from now on."""
        try:
            for part in self._parts:
                part.write_to(sink)
        except FileAccessError as error:
            self.trouble.append(f"predictions are incomplete: {error}")

    def run(self, bag: Bag, progress: Progress) -> None:
        """Carry one open bag through the chains.

        Raises:
            RecordingError: if it lacks a topic.
        """
        plan = self._plan
        bag.check(plan.inputs)
        self._files += bag.list_inputs()
        for source in self._inputs.values():
            source.watch.start_recording()
        read = 0
        for block in bag.blocks(self._inputs, plan.block_size, plan.start, plan.end):
            self._feed(block)
            read += len(block)
            progress(len(block))
        self.trouble += bag.trouble
        expected = bag.count(self._inputs)
        if plan.is_whole and not bag.trouble and read < expected:
            self.trouble.append(f"bag '{bag.path}' is damaged: it has {read} of {expected} messages")

    def _feed(self, block: list[RawMessage]) -> None:
        """Carry a block of messages through the chains.

        Joint states go first, so that the wrenches among them find those around. Where time goes back within the
        block, that would forget the wrenches from before: there, messages are taken in their order.
        """
        sources, times, data = zip(*block, strict=True)
        topics = [source.topic for source in sources]
        decoded = {}
        goes_back = False
        for topic, source in self._inputs.items():
            is_of_topic = [name == topic for name in topics]
            decoded[topic] = source.decode(list(compress(data, is_of_topic)))
            source.look_at(decoded[topic], list(compress(times, is_of_topic)))
            goes_back |= source.goes_back(decoded[topic])
        if goes_back:
            for topic, run in groupby(zip(topics, data, strict=True), key=itemgetter(0)):
                self._inputs[topic].push(self._inputs[topic].decode([message for _, message in run]))
            return
        for topic, source in self._inputs.items():
            source.push(decoded[topic])

    def finish(self) -> Traces:
        """All that is known at the end.

        Raises:
            RecordingError: if nothing at all could be used; it says why.
        """
        topics = tuple(source.watch.summarise() for source in self._inputs.values())
        for source, topic in zip(self._inputs.values(), topics, strict=True):
            if source.decoder.undecodable:
                self.trouble.append(
                    f"{source.decoder.undecodable} messages of {topic.topic} cannot be decoded: left out"
                )
        stamps = [part.stamps for part in self._parts]
        failures = [
            f"no {'wrench' if part is self._load else 'sample of the arm'} could be used: {self._explain(part)}"
            for part, (_, last) in zip(self._parts, stamps, strict=True)
            if last == 0
        ]
        if len(failures) == len(self._parts):
            raise RecordingError("; ".join(failures))
        self._check_robot()
        self.trouble += find_disorder(unite_health(part.chain.health for part in self._parts))
        for part in self._parts:
            self.trouble += part.list_trouble()
        used = [pair for pair in stamps if pair[1]]
        origin = self._make_origin(min(first for first, _ in used), max(last for _, last in used))
        shared = Trace(0.0, topics, (), (*self.trouble, *failures), self._plan.settings, origin)
        load, links = self._load, self._links
        return Traces(
            None if load is None or not load.stamps[1] else load.finish(shared),
            None if links is None or not links.stamps[1] else links.finish(shared),
        )

    def _explain(self, part: LoadReplay | LinkReplay) -> str:
        """Why nothing could be used."""
        health: tuple[HealthItem, ...] = part.chain.health
        reasons = [f"{item.source}: {item.message} ({item.detail}): {item.remedy}" for item in health]
        where = "" if self._plan.is_whole else f" between {self._plan.start:g} and {self._plan.end:g} s"
        topics = [source.watch.summarise() for source in self._inputs.values()]
        empty = [f"{topic.topic} has no message{where}" for topic in topics if topic.count == 0]
        return "; ".join(self.trouble + empty + reasons) or part.nothing

    def _check_robot(self) -> None:
        """Doubt a robot description that lacks at least half of the joints that were recorded."""
        missing = self._seen_joints - self._robot_joints
        is_renamed = any(item.code == "renamed_joints" for part in self._parts for item in part.chain.health)
        if 2 * len(missing) >= len(self._seen_joints) > 0 and not is_renamed:
            self.trouble.append(
                f"joints {', '.join(sorted(missing))} are recorded but not in the robot description: "
                "make sure that it is the URDF of this robot (--urdf)"
            )

    def _make_origin(self, first_stamp: int, last_stamp: int) -> Origin:
        return Origin(
            inputs=tuple(self._files),
            urdf_sha256=hash_text(self._description),
            settings_sha256=self._plan.settings_sha256,
            versions=list_versions(),
            first_stamp=first_stamp,
            last_stamp=last_stamp,
        )


def replay_bags(paths: Sequence[Path], plan: Plan, make_sink: Callable[[], Sink | None], progress: Progress) -> Traces:
    """Carry bags that belong together through the same chains; a bag that cannot be read is noted and left out.

    Args:
        paths: the bags, in order.
        plan: what to do.
        make_sink: returns where predictions go, once it is clear that there can be some; None for nowhere.
        progress: is told of every block.

    Raises:
        InertidError: if nothing could be computed.
    """
    replay: Replay | None = None
    errors: list[InertidError] = []
    for path in paths:
        try:
            with Bag(path) as bag:
                if replay is None:
                    replay = Replay(plan, bag)
                    sink = make_sink()
                    if sink is not None:
                        replay.write_to(sink)
                replay.run(bag, progress)
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
