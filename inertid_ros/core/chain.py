"""The one chain from samples to an estimate. Node, replay, command line and tests all drive this one.

    blocks -> input (synchroniser) -> segments -> rows (equation) -> estimator -> solution -> estimate

It knows no clock and no logger: time is that of the stamps. Results do not depend on how samples arrive, one by one or
in blocks: rows are taken and decisions made once in a decision interval of stamps.
"""

from __future__ import annotations

from collections.abc import Callable

from inertid_ros.core.diagnosis import Health, HealthItem
from inertid_ros.core.equations.model import IdentifiedArm, LinkModel
from inertid_ros.core.errors import SettingError
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.remembered import RememberedLinks, RememberedLoad
from inertid_ros.core.estimation.reweighted import ReweightedEstimator, Uncertainty
from inertid_ros.core.input.arrivals import ANSWERS, AT_PAIRING, DONE, END, NEWEST_USED, NOT_FINITE, UNANSWERED, Arrived
from inertid_ros.core.input.inputs import choose_joints
from inertid_ros.core.input.segments import Columns, Segment
from inertid_ros.core.records import (
    Event,
    FloatArray,
    IntArray,
    JointBlock,
    Name,
    Output,
    SampleBlock,
    Taken,
    is_finite,
    join_outputs,
)
from inertid_ros.core.rigid_body.inertial import ExpectedLoad, Tool
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.rows.arrival import Answered
from inertid_ros.core.settings.choices import Source
from inertid_ros.core.settings.rules import check_fixed_gravity, check_links_settings
from inertid_ros.core.settings.settings import Settings
from inertid_ros.core.static.rest_poses import StaticWrench
from inertid_ros.core.tasks.arm import ArmTask, make_links_task
from inertid_ros.core.tasks.payload import PayloadTask
from inertid_ros.core.tasks.task import Task
from inertid_ros.core.tasks.wrist import WristLoadTask

_EFFORT_WAIT = 100
"""Messages without effort before that is an error: another publisher of the same topic may have them."""


_NOT_FINITE = "a prediction is not finite"


class Target(Name):
    """What a chain identifies."""

    LOAD = "load"
    LINKS = "links"


class Chain:
    """Joint states, wrenches and readings of an IMU in; predictions, residuals, events and an estimate out.

    Attributes:
        settings: all parameters.
        target: what is identified.
    """

    def __init__(
        self,
        robot: Robot,
        settings: Settings,
        target: Target,
        *,
        sensor_frame: str = "",
        arm: IdentifiedArm | None = None,
        static: StaticWrench | None = None,
        model: LinkModel | None = None,
    ) -> None:
        """Build the chain for a robot.

        Args:
            robot: the robot.
            settings: all parameters.
            target: what is identified.
            sensor_frame: frame of the wrenches; the configured one if empty.
            arm: the identified arm, for a load by efforts.
            static: what links.static_file holds, where it is set.
            model: the arm of another chain with the same settings, whose links are to be identified here as well.

        Raises:
            SettingError: if the unit of effort is not declared, or something does not fit together.
            RobotDescriptionError: if a joint or a frame is not there or cannot be used.
        """
        self.settings = settings
        self.target = target
        self._robot = robot
        self._static = static
        self._health = Health()
        self._paused = False
        self._answered = Answered()
        self._without_effort = 0
        self._task: Task | None = None
        if target is Target.LOAD and arm is None:
            self._task = WristLoadTask(robot, settings, sensor_frame or settings.load.sensor_frame, self._health)
            return
        check_links_settings(settings.links)
        check_fixed_gravity(settings)
        if arm is not None:
            self._task = PayloadTask(robot, settings, arm, self._health)
        elif model is not None:
            self._build_links(model)
        elif settings.links.joints:
            self._build_links(LinkModel.from_settings(robot, settings, settings.links.joints))

    def _build_links(self, model: LinkModel) -> None:
        self._task = make_links_task(self._robot, self.settings, model, self._health, self._static)

    @property
    def model(self) -> LinkModel | None:
        """The arm; None for a wrist sensor, and while it is not known which joints the arm has."""
        return self._task.model if isinstance(self._task, ArmTask) else None

    @property
    def estimator(self) -> ReweightedEstimator | None:
        """What holds an arm's information; that of several recordings adds up."""
        return self._task.estimator if isinstance(self._task, ArmTask) else None

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of what is measured; empty while it is not known which joints the arm has."""
        return () if self._task is None else self._task.rows.equation.channels

    # Data

    def push(self, block: SampleBlock) -> None:
        """Take joint states of one publisher, wrenches, or readings of an IMU; never raises for bad data."""
        if self._task is None:
            self._find_joints(block)
        task = self._task
        if task is not None:
            task.input.push(block)

    def _find_joints(self, block: SampleBlock) -> None:
        """The arm is what the first usable message has; what mimics another joint or has no single coordinate, not."""
        if not isinstance(block, JointBlock) or len(block.stamps) == 0:
            return
        if Source(self.settings.links.source).has_efforts and block.efforts is None:
            self._without_effort += len(block.stamps)
            if self._without_effort >= _EFFORT_WAIT:
                self._health.report("effort", "no_effort", int(block.stamps[-1]), count=len(block.stamps))
            return
        joints = choose_joints(self._robot, block, self._health)
        if joints:
            self._build_links(LinkModel.from_settings(self._robot, self.settings, joints))

    def process(self) -> Output | None:
        """Carry everything that can be synchronised through the chain; None if there is nothing."""
        task = self._task
        segments = None if task is None else task.input.process(task.rows)
        return None if task is None or not segments else self._process_segments(task, segments)

    def _process_segments(self, task: Task, segments: list[Segment]) -> Output | None:
        if len(segments) <= 1:
            return self._process_segment(task, segments[0]) if segments else None
        return join_outputs([self._process_segment(task, segment) for segment in segments])

    def _process_segment(self, task: Task, segment: Segment) -> Output:
        """Advance from row to row; a restart of the filters takes effect at the next sample."""
        stamps = segment.stamps
        self._answered.told[NEWEST_USED] = stamps[-1]
        events: tuple[Event, ...] = ()
        position, count = task.begin(segment), len(stamps)
        while position < count:
            position, decision = task.take_rows(segment, position, self._paused)
            if decision.kind is not None:
                described = decision.kind, decision.message, decision.confidence, *decision.masses
                events += (Event(stamps.item(position), *described),)
            if decision.restart:
                task.rows.restart()
            if position < count:
                position = task.rows.resume(segment, position)
        return task.finish(segment, events)

    def answer(self, after: int = 0) -> Output | None:
        """Predict samples after a stamp that still wait for a later joint state, by extrapolation; changes nothing."""
        task = self._task
        waiting = None if task is None else task.input.foresee(task.rows, after)
        return None if task is None or waiting is None else task.answer(waiting)

    def take(self, block: SampleBlock) -> Taken:
        """Take one message as it arrives: `push`, `process` and `answer`, in one compiled call where that will do.

        Raises:
            FloatingPointError: if a prediction is not finite.
        """
        call = self.prepare_take(block)
        if call is not None:
            return self.conclude(call(), block)
        self.push(block)
        return self.take_pushed(block)

    def prepare_take(self, block: SampleBlock) -> Callable[[], int] | None:
        """What takes the message in a block, and others that come in the same memory, in one compiled call.

        It is good until anything else is done with the chain; what it returns is for `conclude`, but nothing is to be
        done if that is DONE. None if such messages cannot be taken so.
        """
        task = self._task
        return None if task is None else task.input.prepare(task.rows, block, self._answered.told)

    def conclude(self, status: int, block: SampleBlock) -> Taken:
        """The rest of `take`, for a message that was taken in one call; raises as `take`."""
        task, told = self._task, self._answered.told
        assert task is not None
        if status in (DONE, ANSWERS):
            answer = self.get_answer()
            return Taken(*self._answered.count(), () if answer is None else (answer,))
        if status == NOT_FINITE:
            raise FloatingPointError(_NOT_FINITE)
        if task.input.settle(status, told) == AT_PAIRING:
            return self.take_pushed(block)
        return self._answer_all(block, self._process_segments(task, task.input.synchroniser.list_arrived(told)))

    def get_answer(self) -> Output | None:
        """What is to be answered of a message that was taken in one call."""
        task, told = self._task, self._answered.told
        first, end = told.item(UNANSWERED), told.item(END)
        if task is None or first == end:
            return None
        return task.finish(task.input.synchroniser.get_arrived(first, end), ())

    @property
    def arrived(self) -> tuple[IntArray, Arrived, Columns] | None:
        """What is told of such a message, and its samples, in memory that the next one overwrites."""
        synchroniser = None if self._task is None else self._task.input.synchroniser
        return None if synchroniser is None else (self._answered.told, synchroniser.arrived, synchroniser.columns)

    @property
    def deviation(self) -> FloatArray | None:
        """Standard deviations (K,) of what is predicted, at the newest row; None for a wrist sensor."""
        return self._task.deviation if isinstance(self._task, ArmTask) else None

    def count_used(self) -> tuple[int, int, int]:
        """How many samples were used since the last call or message, and the stamps [ns] of the first and the last."""
        return self._answered.count()

    def take_pushed(self, block: SampleBlock) -> Taken:
        """The rest of `take`, for a message that was pushed already."""
        return self._answer_all(block, self.process())

    def _answer_all(self, block: SampleBlock, processed: Output | None) -> Taken:
        """Answer what was processed, and what waits of a message; each sample once."""
        task, waiting, stamps = self._task, None, block.stamps
        is_answered = task is not None and isinstance(block, task.input.answered) and len(stamps) > 0
        if is_answered and (processed is None or processed.stamps.item(-1) != stamps.item(-1)):
            waiting = self.answer(stamps.item(0) - 1)
        if not (is_finite(processed) and is_finite(waiting)):
            raise FloatingPointError(_NOT_FINITE)
        answered: list[Output | None] = []
        events: tuple[Event, ...] = ()
        if processed is not None and len(processed.stamps):
            answered.append(self._answered.select_processed(processed))
            events = processed.events
        if waiting is not None and len(waiting.stamps):
            answered.append(self._answered.select_waiting(waiting))
        return Taken(*self._answered.count(), tuple(output for output in answered if output is not None), events)

    # What is known

    def estimate(self) -> LoadEstimate | LinksEstimate | None:
        """All that is known by now, changing nothing; None while it is not known which joints the arm has."""
        prepared = self.prepare_estimate()
        return None if prepared is None else prepared()

    def prepare_estimate(self) -> Callable[[], LoadEstimate | LinksEstimate] | None:
        """What gives the same in any thread, while the chain goes on: a copy of what is known now, not judged yet."""
        newest = self._answered.told.item(NEWEST_USED)
        return None if self._task is None else self._task.prepare_estimate(newest, self._paused)

    def prepare_memory(self) -> Callable[[], RememberedLoad | RememberedLinks] | None:
        """What gives all that is worth keeping beyond the end of the process, in any thread; None if there is none."""
        return None if self._task is None else self._task.prepare_memory()

    def recall(self, remembered: RememberedLoad | RememberedLinks, age: float) -> bool:
        """Go on from what was kept so many seconds ago, before the first data are processed.

        Returns whether it is known yet what is identified; until then nothing happens. FileFormatError if what was
        kept is of something else.
        """
        if self._task is not None:
            self._task.recall(remembered, age)
        return self._task is not None

    def freeze(self, values: FloatArray, uncertainty: Uncertainty | None = None) -> None:
        """Predict with these unknowns (U,) and learn nothing from now on; the arm must be known."""
        assert self._task is not None
        self._paused = True
        self._task.freeze(values, uncertainty)

    def pause(self, paused: bool) -> None:
        """Stop or resume learning; predictions go on."""
        self._paused = paused

    def reset(self) -> None:
        """Forget all that was learned; a tool and the calibration of the noise stay."""
        if self._task is not None:
            self._task.reset()

    @property
    def tool(self) -> Tool | None:
        """What is subtracted from what a wrist sensor carries."""
        return self._task.tool if isinstance(self._task, WristLoadTask) else None

    @tool.setter
    def tool(self, tool: Tool | None) -> None:
        if isinstance(self._task, WristLoadTask):
            self._task.tool = tool

    def expect(self, load: ExpectedLoad | None) -> None:
        """What should be attached next to a wrist sensor: its mass is believed, unless the data contradict it."""
        if isinstance(self._task, WristLoadTask):
            self._task.expected = load

    def capture_tool(self) -> Tool:
        """Keep what is carried now as the tool; from then on the load is what comes on top of it.

        Raises:
            NotIdentifiedError: while that is not identified; the tool is the one before then.
            SettingError: without a wrist sensor.
        """
        if not isinstance(self._task, WristLoadTask):
            raise SettingError("load.source", self.settings.load.source, "wrench: a tool is captured on a wrist sensor")
        return self._task.capture_tool(self._paused)

    @property
    def health(self) -> tuple[HealthItem, ...]:
        """What was wrong with the input so far."""
        return self._health.items()
