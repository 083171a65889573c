"""One chain as the node sees it: blocks of samples in, answers out; rebuilt whenever robot or settings change."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.errors import FileAccessError, InertidError, NotIdentifiedError
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.remembered import RememberedLinks, RememberedLoad
from inertid_ros.core.estimation.states import ParameterState, judge_load_parameters
from inertid_ros.core.records import Event, FloatArray, Output, SampleBlock, Taken, WrenchBlock
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, Tool
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.estimate import find_tool_file, read_tool
from inertid_ros.files.objects import read_watch
from inertid_ros.files.state import Kept
from inertid_ros.objects.held import Held, Watch
from inertid_ros.ros.health import NodeHealth
from inertid_ros.ros.inputs import SOURCE, DescriptionSource
from inertid_ros.ros.keeper import StateKeeper
from inertid_ros.ros.saving import Usage, save_links, save_load, save_tool
from inertid_ros.ros.task import Task

Judged = LoadEstimate | LinksEstimate | Exception
"""An estimate, or why judging it failed."""

SHARE = 0.025
"""Part of a processor that estimates may take where they need not come at a fixed rate: an eighth of what messages at
1 kHz cost in rclpy anyway. Those of a 7-joint arm take 50 ms with their feasible completion: they come every 2 s."""
FRESH = 0.5
"""Seconds for which an estimate is good enough for the diagnostics, half their period."""


class Latest(NamedTuple):
    """An estimate, when it was made [s of the monotonic clock], and for how long [s] it need not be made again.

    Samples may come faster than their stamps say, from a simulation: then it is good for as long by their stamps.
    """

    estimate: LoadEstimate | LinksEstimate
    made_at: float
    good_for: float

    def is_good(self, stamp: int) -> bool:
        """Whether it need not be made again where the newest sample has this stamp [ns]."""
        age = max(time.monotonic() - self.made_at, 1e-9 * abs(stamp - self.estimate.stamp))
        return age < self.good_for


def _judge(prepared: Callable[[], LoadEstimate | LinksEstimate]) -> Judged:
    try:
        return prepared()
    except Exception as error:  # noqa: BLE001 - whatever it is, the node must live on
        return error


def _save(
    prepared: Callable[[], LoadEstimate | LinksEstimate] | None,
    name: str,
    settings: Settings,
    description: str,
    usage: Usage,
) -> Path:
    """Judge and write an estimate, which takes up to a tenth of a second."""
    estimate = None if prepared is None else prepared()
    if estimate is None or estimate.rows == 0 or not estimate.is_finite:
        raise NotIdentifiedError(f"nothing is known of the {name} yet: see /diagnostics")
    if isinstance(estimate, LinksEstimate):
        return save_links(settings, description, estimate, usage)
    return save_load(settings, description, estimate, usage)


class Session:
    """Keeps a chain going for as long as there is a robot description that the task can be done with.

    Attributes:
        task: what is identified.
        chain: the chain, or None while the robot or the sensor's frame are missing or cannot be used.
        generation: counts the chains built.
        revision: counts what makes earlier estimates obsolete: a new chain, a reset, another tool.
        latest: the last estimate that is not obsolete.
        held: what is held by it, where there is a library.
        version: counts what makes a call of `prepare_take` obsolete.
        is_warm: whether the newest chain has put out something.
        on_event: takes what happened to the load, and its frame.
        changes: counts what is worth keeping at once: events, and another tool.
        used_at: when samples were last seen to be used, or should have been: seconds of the monotonic clock.
    """

    def __init__(
        self,
        task: Task,
        settings: Settings,
        source: DescriptionSource,
        health: NodeHealth,
        logger: Any,
        keeper: StateKeeper,
        received: Mapping[str, int],
    ) -> None:
        """Start with what the source has by now.

        Args:
            task: what to identify.
            settings: all parameters.
            source: where the robot comes from.
            health: where to report.
            logger: takes events, and the traceback of an error that should not happen.
            keeper: has what was known before a restart.
            received: how many messages came so far, by topic.

        Raises:
            InertidError: if the settings do not fit together, or do not fit the robot that is already known.
        """
        self.task = task
        self._settings = settings
        self._source = source
        self._health = health
        self._logger = logger
        self._paused = False
        self._wrench_frame: str | None = None
        self._tool: Tool | None = None
        self._received = received
        self._begin_usage()
        self._newest = 0
        self.version = 0
        self.chain: Chain | None = None
        self.latest: Latest | None = None
        self.generation = 0
        self.revision = 0
        self.is_warm = False
        self.on_event: Callable[[Event, str], None] = _ignore_event
        self.used_at = time.monotonic()
        self._keeper = keeper
        self._kept: Kept | None = None
        self._must_find_state, self._must_recall = keeper.is_on, False
        self.changes = 0
        self._watch: Watch | None = None
        self.held: Held | None = None
        self._read_tool()
        self._read_objects()
        if task.waits_for_frame:
            self.rebuild()
        else:
            self._build()

    @property
    def frame(self) -> str:
        """Frame of the wrenches and of a load; empty while it is not known."""
        robot = self._source.robot
        if self.task.target is Target.LINKS:
            return self._settings.links.base_frame or ("" if robot is None else robot.frame_names[0])
        return self._settings.load.sensor_frame or self._wrench_frame or ""

    @property
    def watches_frame(self) -> bool:
        """Whether its frame is missing, or may move, see `DescriptionSource.may_move`."""
        return bool(self.frame) and self._source.may_move(self.frame)

    @property
    def is_fresh(self) -> bool:
        """Whether the latest estimate need not be judged again for the diagnostics."""
        return self.latest is not None and self.latest.is_good(self._newest)

    @property
    def can_wait(self) -> bool:
        """Whether another estimate would take too large a part of the processor, and need not come at a fixed rate."""
        return self.task.period > 0.0 and self.is_fresh

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints whose efforts are predicted."""
        model = None if self.chain is None else self.chain.model
        return () if model is None else model.arm.joint_names

    # Robot and settings

    def change_settings(self, settings: Settings, restart: bool) -> None:
        """Take other settings; `restart` tells whether they change the identification."""
        before, self._settings = self._settings, settings
        is_other_tool = find_tool_file(settings) != find_tool_file(before)
        if is_other_tool:
            self._read_tool()
        if restart:
            self.rebuild()
        elif is_other_tool and self.chain is not None:
            self._mount_tool(self.chain)
            self._outdate()
        if settings.objects != before.objects:
            self._read_objects()

    def rebuild(self) -> None:
        """Build the chain again, or report why it cannot be built. A tool and a pause outlive it."""
        try:
            self._build()
        except InertidError as error:
            self._give_up(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the node must live on
            self._report_bug(error)

    def _build(self) -> None:
        self.chain = self.latest = None
        self.version += 1
        files = self.task.read(self._settings)
        robot, frame = self._source.robot, self.frame
        if robot is None:
            return
        if self.task.waits_for_frame and not frame:
            if self._wrench_frame is not None:
                frames = ", ".join(robot.frame_names)
                self._health.begin("wrench", "no_frame", remedy=f"set load.sensor_frame to one of: {frames}")
            return
        self._health.end("wrench", "no_frame")
        self._source.check_frame(frame)
        chain = Chain(robot, self._settings, self.task.target, sensor_frame=frame, **files)
        self._health.end(SOURCE, self.task.unusable)
        self._find_state()
        chain.pause(self._paused)
        self._mount_tool(chain)
        chain.expect(None if self._watch is None else self._watch.expected_load)
        self.chain = chain
        self._begin_usage()
        self.generation += 1
        self.version += 1
        self._outdate()
        self.is_warm = False

    def _mount_tool(self, chain: Chain) -> None:
        """Subtract the tool, if it is given in the frame of the wrenches."""
        if self._tool is not None and self._tool.sensor_frame != self.frame:
            detail = f"it is given in '{self._tool.sensor_frame}', not in '{self.frame}'"
            self._health.begin("tool", "unusable_tool", detail)
            self._tool = None
        chain.tool = self._tool

    def _find_state(self) -> None:
        """With the first robot, look for what was known of it before a restart; of the tool, what was the last."""
        if not self._must_find_state:
            return
        self._must_find_state = False
        state = self._keeper.find_state(self._source.text)
        if state is None:
            return
        self._kept = state.links if self.task.target is Target.LINKS else state.load
        self._must_recall = self._kept is not None
        if self.task.has_tool and state.tool_file == str(find_tool_file(self._settings) or ""):
            self._tool = state.tool

    def _recall(self, chain: Chain) -> None:
        """Go on from what was known before a restart, if the data confirm it."""
        kept = self._kept
        try:
            if kept is not None and chain.recall(kept.memory, kept.find_age(time.time_ns())):
                self._must_recall = False
        except InertidError as error:
            self._must_recall, self._kept = False, None
            self._keeper.refuse(error)

    def prepare_memory(self) -> Kept | Callable[[], RememberedLoad | RememberedLinks] | None:
        """What is to be kept: what gives all that is known, or what was kept as long as data do not confirm it."""
        prepared = None if self.chain is None else self.chain.prepare_memory()
        if prepared is not None:
            self._kept = None
        return prepared or self._kept

    @property
    def has_found_state(self) -> bool:
        """Whether it has looked for what was kept: before, it must not be overwritten."""
        return not self._must_find_state

    @property
    def tool(self) -> Tool | None:
        """What is subtracted."""
        return self._tool

    def _outdate(self) -> None:
        self.revision += 1
        self.latest = self.held = None

    def _give_up(self, error: InertidError) -> None:
        """Identify nothing until robot or settings change."""
        self.chain = self.latest = None
        self.version += 1
        self._health.begin(SOURCE, self.task.unusable, str(error))

    def _report_bug(self, error: Exception) -> None:
        trace = "".join(traceback.format_exception(error))
        self._logger.error(f"internal error, the identification is restarted:\n{trace}")
        self._health.report("output", "internal_error", f"{type(error).__name__}: {error}")

    def _read_tool(self) -> None:
        self._tool = None
        self._health.end("tool", "unusable_tool")
        path = find_tool_file(self._settings)
        if self.task.has_tool and path is not None:
            try:
                self._tool = read_tool(path)
            except InertidError as error:
                self._health.begin("tool", "unusable_tool", str(error))

    def _read_objects(self) -> None:
        """Read the library again; what was recognised with another one is forgotten."""
        self._watch = self.held = None
        if self.task.target is Target.LINKS:
            return
        self._health.end("objects", "unusable_objects")
        try:
            self._watch = read_watch(self._settings.objects)
        except InertidError as error:
            self._health.begin("objects", "unusable_objects", str(error))
        if self.chain is not None:
            self.chain.expect(None if self._watch is None else self._watch.expected_load)

    # Data

    def take(self, block: SampleBlock) -> tuple[Output, ...]:
        """Take a message, and return what can be answered by now and was not answered before."""
        if self.chain is None:
            self._note_frame(block)
        chain = self.chain
        if chain is None:
            return ()
        self.version += 1
        return self._try(partial(self._take_first if self._must_recall else chain.take, block))

    def prepare_take(self, block: SampleBlock) -> Callable[[], int] | None:
        """What takes messages in the memory of a block in one call, as long as `version` stays; None if nothing can.

        What it returns is for `conclude`; nothing is left to be done if that is DONE, and only `get_answer` if ANSWERS.
        """
        return None if self.chain is None or self._must_recall else self.chain.prepare_take(block)

    def get_answer(self) -> Output | None:
        """What such a call has left to be answered."""
        return None if self.chain is None else self.chain.get_answer()

    @property
    def deviation(self) -> FloatArray | None:
        """Standard deviations of what is predicted now; None for a wrist sensor."""
        return None if self.chain is None else self.chain.deviation

    def conclude(self, status: int, block: SampleBlock) -> tuple[Output, ...]:
        """Do what such a call has left to be done, and return what can be answered by now and was not before."""
        self.version += 1
        return () if self.chain is None else self._try(partial(self.chain.conclude, status, block))

    def _try(self, take: Callable[[], Taken]) -> tuple[Output, ...]:
        try:
            taken = take()
        except InertidError as error:
            self._give_up(error)
            return ()
        except Exception as error:  # noqa: BLE001 - whatever it is, the node must live on
            self._report_bug(error)
            self.rebuild()
            return ()
        if taken.used:
            self._note_used(taken.used, taken.first, taken.newest)
        self.changes += len(taken.events)
        for event in taken.events:
            self._logger.info(event.message)
            self.on_event(event, self.frame)
        return taken.answers

    def _take_first(self, block: SampleBlock) -> Taken:
        """Take a message before what was kept has been recalled."""
        chain = self._require_chain()
        chain.push(block)
        self._recall(chain)
        return chain.take_pushed(block)

    def _note_frame(self, block: SampleBlock) -> None:
        """Try the frame of the wrenches where none is configured."""
        if not self.task.waits_for_frame or not isinstance(block, WrenchBlock) or block.frame == self._wrench_frame:
            return
        self._wrench_frame = block.frame
        self.rebuild()

    def _note_used(self, used: int, first: int, newest: int) -> None:
        self.is_warm = True
        self._newest = newest
        self.used_at = time.monotonic()
        self._usage.count(used, first, newest)

    def _count_used(self) -> None:
        """Note samples that were used since a message needed a decision."""
        used = (0, 0, 0) if self.chain is None else self.chain.count_used()
        if used[0]:
            self._note_used(*used)

    def find_used_at(self) -> float:
        """When samples were used last, to a period of the calls of this: see `used_at`."""
        self._count_used()
        return self.used_at

    def _begin_usage(self) -> None:
        self._usage, self._received_before = Usage(), dict(self._received)

    @property
    def usage(self) -> Usage:
        """Which samples all that is known is made of."""
        self._count_used()
        came = {topic: count - self._received_before.get(topic, 0) for topic, count in self._received.items()}
        joints, wrenches = came.get("joint_states", 0), came.get(self.task.answered, 0) if self.task.wrenches else 0
        return replace(self._usage, joints_received=joints, wrenches_received=wrenches)

    @property
    def known(self) -> tuple[int, bool, int, int]:
        """What changes as soon as an estimate may be another one."""
        self._count_used()
        return self.revision, self._paused, self._newest, self._usage.samples_used

    def prepare_estimate(self) -> Callable[[], Judged] | None:
        """Return what judges what is known now, in any thread, for `accept_estimate`; None where there is no chain."""
        prepared = None if self.chain is None else self.chain.prepare_estimate()
        return None if prepared is None else partial(_judge, prepared)

    def accept_estimate(self, judged: Judged, cost: float) -> LoadEstimate | LinksEstimate | None:
        """Return an estimate that was judged, or report why there is none to publish; `cost` is in seconds."""
        if isinstance(judged, Exception):
            self._report_bug(judged)
            self.rebuild()
            return None
        if judged.is_finite:
            self.latest = Latest(judged, time.monotonic(), max(FRESH, cost / SHARE))
            return judged
        self.latest = None
        self._health.report("output", "withheld", f"the estimate of the {self.task.name}")
        return None

    def prepare_look(self) -> Callable[[], Held] | None:
        """Return what looks at what is held, in any thread, for `accept_held`; None where there is nothing to see."""
        if self._watch is None or self.latest is None or not isinstance(self.latest.estimate, LoadEstimate):
            return None
        return partial(self._watch.look, self.latest.estimate)

    def accept_held(self, held: Held) -> None:
        """Keep what is held, and tell what has become certain of it."""
        for event in held.list_events(self.held):
            self._logger.info(event.message)
            self.on_event(event, self.frame)
        self.held = held

    # Commands; each raises an InertidError that says why it could not be done

    def pause(self, paused: bool) -> None:
        """Stop or resume learning."""
        self._paused = paused
        self.latest = None
        if self.chain is not None:
            self.chain.pause(paused)

    def reset(self) -> None:
        """Forget all that was learned; a tool stays."""
        self._require_chain().reset()
        self.version += 1
        self._must_recall, self._kept = False, None
        self.changes += 1
        self._outdate()
        self._begin_usage()

    def capture_tool(self) -> tuple[Path, tuple[str, ...]]:
        """Keep what is carried now as the tool and write it; it is kept even if writing fails.

        Returns:
            the path it was written to, and the names of the parameters that are not known yet.
        """
        tool = self._tool = self._require_chain().capture_tool()
        self._health.end("tool", "unusable_tool")
        self.changes += 1
        self._outdate()
        try:
            path = save_tool(self._settings, self._source.text, tool, self.usage)
        except FileAccessError as error:
            raise FileAccessError(f"the tool is subtracted from now on, but it was not saved: {error}") from None
        states = judge_load_parameters(tool.phi, tool.covariance)
        known = ParameterState.KNOWN
        return path, tuple(name for name, state in zip(PARAMETER_NAMES, states, strict=True) if state is not known)

    def clear_tool(self) -> None:
        """Subtract no tool any more."""
        self._tool = None
        self.changes += 1
        self._outdate()
        self._health.end("tool", "unusable_tool")
        if self.chain is not None:
            self.chain.tool = None

    def prepare_save(self) -> Callable[[], Path]:
        """Return what writes all that is known now, in any thread, and returns the path."""
        prepared = self._require_chain().prepare_estimate()
        return partial(_save, prepared, self.task.name, self._settings, self._source.text, self.usage)

    def _require_chain(self) -> Chain:
        if self.chain is None:
            missing = "robot description" if self._source.robot is None else self.task.requirement
            raise NotIdentifiedError(
                f"there is no {missing} yet, so nothing is known of the {self.task.name}: see /diagnostics"
            )
        return self.chain


def _ignore_event(_: Event, __: str) -> None:
    """Nobody listens."""
