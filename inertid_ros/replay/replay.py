"""A recording through the chains, as the node would have seen it, block by block; and a load weighed by it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inertid_ros.bags.bag import Bag
from inertid_ros.bags.mcap_writer import Sink
from inertid_ros.core.chain import Target
from inertid_ros.core.errors import InertidError, RecordingError, RobotDescriptionError, UnknownFrameError
from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.records import JointBlock
from inertid_ros.core.rigid_body.description import describe_body
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.verdict import Verdict, describe_issue
from inertid_ros.files.provenance import InputFile, Provenance, hash_file, hash_urdf
from inertid_ros.messages.cdr_layout import LayoutError, learn_wrench_stamped
from inertid_ros.replay.inputs import Inputs, Plan, Progress, Taker, find_disorder
from inertid_ros.replay.target_replay import TargetReplay, Watcher
from inertid_ros.replay.trace import LinkTrace, LoadTrace, Traces, unite_health


class Replay:
    """Carries bags, one after the other, through the chains of all that is identified.

    Attributes:
        description: text of the URDF.
        robot: what it describes.
        frame: of the wrist sensor, where there is one.
        trouble: what went wrong on the way, a line each.
    """

    def __init__(self, plan: Plan, first: Bag) -> None:
        """Build the chains, with the robot description of the first bag if the plan has none.

        Raises:
            RobotDescriptionError, RecordingError: if there is none, or none that can be used.
            SettingError: if settings do not fit together.
            FileAccessError, FileFormatError: if a file that the settings name cannot be used.
        """
        self._plan = plan
        first.check(plan.inputs)
        self.description = plan.description or first.find_description(plan.topics.robot_description)
        self.robot = robot = Robot.from_urdf(self.description)
        frame = plan.settings.load.sensor_frame
        if "wrench" in plan.inputs and not frame:
            frame = _find_frame(first, plan.topics.wrench)
        if "wrench" in plan.inputs and frame not in robot.frame_names:
            remedy = (
                "add it to the URDF (--urdf), where /tf_static has it, or set load.sensor_frame to a frame of the URDF"
            )
            raise RobotDescriptionError(f"{UnknownFrameError(frame, robot.frame_names)}; {remedy}")
        self.frame = frame
        duration = min(first.end - first.start, plan.end * 1e9) - plan.start * 1e9
        self._parts = [TargetReplay(plan, robot, target, frame, duration) for target in plan.targets]
        self.trouble: list[str] = []
        self._joint_takers: list[Taker] = [self._note_joints, *(part.push_joints for part in self._parts)]
        takers = {role: self._find_takers(role) for role in plan.inputs}
        self._inputs = Inputs(plan.inputs, takers)
        self._files: list[InputFile] = []
        self._robot_joints = set(robot.joint_names)
        self._seen_joints: set[str] = set()

    def _find_takers(self, role: str) -> list[Taker]:
        if role == "joint_states":
            return self._joint_takers
        if role == "imu":
            return [part.chain.push for part in self._parts if part.target is Target.LOAD]
        target = Target.LOAD if role == "wrench" else Target.LINKS
        return [part.push_wrenches for part in self._parts if part.target is target]

    def _note_joints(self, block: JointBlock) -> None:
        self._seen_joints.update(block.names)

    def write_to(self, sink: Sink) -> None:
        """Write predictions there from now on."""
        for part in self._parts:
            part.write_to(sink)

    def show_to(self, watcher: Watcher) -> None:
        """Show what is identified first, a load if there is one, from now on."""
        self._joint_takers.insert(0, watcher.take_joints)
        self._parts[0].show_to(watcher)

    def run(self, bag: Bag, progress: Progress) -> None:
        """Carry one open bag through the chains.

        Raises:
            RecordingError: if it lacks a topic.
        """
        plan = self._plan
        bag.check(plan.inputs)
        self._files += [InputFile(str(path), hash_file(path)) for path in bag.list_files()]
        self._inputs.start_recording()
        read = 0
        for block in bag.blocks(self._inputs.names, plan.block_size, plan.start, plan.end):
            self._inputs.feed(block)
            read += block.count
            progress(block.count)
        self.trouble += bag.trouble
        expected = bag.count(self._inputs.names)
        if plan.is_whole and not bag.trouble and read < expected:
            self.trouble.append(f"bag '{bag.path}' is damaged: it has {read} of {expected} messages")

    def finish(self) -> Traces:
        """All that is known at the end.

        Raises:
            RecordingError: if nothing at all could be used; it says why.
        """
        self.trouble += self._inputs.list_undecodable()
        self._check_robot()
        used = [part for part in self._parts if part.stamps[1]]
        failures = [f"no {part.what} could be used: {self._explain(part)}" for part in self._parts if part not in used]
        if not used:
            raise RecordingError("; ".join(failures))
        self.trouble += find_disorder(unite_health(part.chain.health for part in self._parts))
        for part in self._parts:
            self.trouble += part.list_trouble()
        firsts, lasts = zip(*(part.stamps for part in used), strict=True)
        origin = self._make_origin(min(firsts), max(lasts))
        traces = [part.finish(self._inputs.summarise(), (*self.trouble, *failures), origin) for part in used]
        load = next((trace for trace in traces if isinstance(trace, LoadTrace)), None)
        return Traces(load, next((trace for trace in traces if isinstance(trace, LinkTrace)), None))

    def _explain(self, part: TargetReplay) -> str:
        """Why nothing could be used."""
        health, no_joints = part.chain.health, self._find_missing()
        if no_joints or any(item.code == "missing_joints" for item in health):
            health = tuple(item for item in health if item.code != "no_joint_state")  # for it follows from that
        reasons = [f"{item.source}: {describe_issue(item)}" for item in health]
        where = "" if self._plan.is_whole else f" between {self._plan.start:g} and {self._plan.end:g} s"
        topics = self._inputs.summarise()
        empty = [f"{topic.topic} has no message{where}" for topic in topics if topic.count == 0]
        return "; ".join(self.trouble + empty + reasons) or part.nothing

    def _check_robot(self) -> None:
        """Doubt a robot description that lacks at least half of the joints that were recorded."""
        if missing := self._find_missing():
            self.trouble.append(
                f"joints {', '.join(sorted(missing))} are recorded but not in the robot description: "
                "make sure that it is the URDF of this robot (--urdf)"
            )

    def _find_missing(self) -> set[str]:
        """Joints that were recorded and are not in the robot description, if those are at least half of them."""
        missing = self._seen_joints - self._robot_joints
        is_renamed = any(item.code == "renamed_joints" for part in self._parts for item in part.chain.health)
        return missing if 2 * len(missing) >= len(self._seen_joints) > 0 and not is_renamed else set()

    def _make_origin(self, first_stamp: int, last_stamp: int) -> Provenance:
        return Provenance(
            inputs=tuple(self._files),
            urdf_sha256=hash_urdf(self.description),
            settings_sha256=self._plan.settings_sha256,
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


def look_at(path: Path, plan: Plan) -> tuple[int | None, int | None, int]:
    """First and last time of recording [ns], None where they are not known, and the number of messages."""
    try:
        with Bag(path) as bag:
            messages = bag.count(plan.inputs.values())
            return (bag.start, bag.end, messages) if bag.end else (None, None, messages)
    except InertidError:
        return None, None, 0


def _find_frame(bag: Bag, topic: str) -> str:
    """The frame_id of the first wrench."""
    data = bag.find_text(topic)
    if data is None:
        raise RecordingError(f"bag '{bag.path}' has no message on {topic}: record the wrench")
    try:
        return learn_wrench_stamped(data).strings[0]
    except LayoutError as error:
        raise RecordingError(f"bag '{bag.path}': the first message on {topic} is unreadable: {error}") from None


@dataclass(frozen=True, slots=True)
class Weighing:
    """What came of it.

    Attributes:
        estimate: the load.
        verdict: whether it can be trusted.
    """

    estimate: LoadEstimate
    verdict: Verdict

    def list_all(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        estimate = self.estimate
        fit = estimate.fit
        assert fit is not None
        body = describe_body(estimate.values, estimate.covariance)
        return {
            "frame": estimate.frame,
            "mass": {"value": body.mass, "deviation": body.mass_std},
            "com": None if body.com is None else np.asarray(body.com).tolist(),
            "parameters": {
                name: {"value": float(value), "deviation": float(deviation), "state": state}
                for name, value, deviation, state in zip(
                    PARAMETER_NAMES, estimate.values, estimate.deviations, estimate.states, strict=True
                )
            },
            "covariance": estimate.covariance.tolist(),
            "feasible": dict(zip(PARAMETER_NAMES, estimate.feasible.tolist(), strict=True)),
            "residual_rms": dict(zip(fit.channels, fit.residual_rms.tolist(), strict=True)),
            "rows": estimate.rows,
            "verdict": dataclasses.asdict(self.verdict),
            "notes": list(self.verdict.failures),
        }


def weigh(paths: Sequence[Path], plan: Plan, progress: Progress) -> Weighing:
    """Identify the load that is carried in all of the bags: a replay with load.source effort.

    Raises:
        InertidError: if a file cannot be used, settings do not fit together, or no effort could be used.
    """
    alone = dataclasses.replace(plan.settings, estimators=["load"])
    traces = replay_bags(paths, dataclasses.replace(plan, settings=alone, moments=0), lambda: None, progress)
    assert traces.load is not None
    estimate = traces.load.estimate
    if estimate.rows == 0:
        reasons = "; ".join(describe_issue(item) for item in traces.load.health if item.level == "error")
        raise RecordingError(f"no effort in {', '.join(map(str, paths))} could be used: {reasons or 'nothing moves'}")
    return Weighing(estimate, traces.load.verdict)
