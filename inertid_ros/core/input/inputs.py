"""From blocks of messages to synchronised segments: the inputs of a wrist sensor, and those of an arm."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.equations.equation import WRENCH_NAMES
from inertid_ros.core.input.arrivals import (
    AT_PAIRING,
    AT_READINGS,
    AT_STATES,
    POSITION,
    READINGS,
    STATES,
    Message,
    make_message,
)
from inertid_ros.core.input.base_tilt import BaseTilt
from inertid_ros.core.input.efforts import EffortInput, EffortStreams
from inertid_ros.core.input.reading_faults import ReadingFaults
from inertid_ros.core.input.reading_samples import CHANNEL_NUMBERS, COLUMN, FREE, HELD, SET_ASIDE, USUAL
from inertid_ros.core.input.segments import Carrier, Segment
from inertid_ros.core.input.synchroniser import Synchroniser
from inertid_ros.core.input.timeline import ASIDE, FOUND, IMPLAUSIBLE, OUTLIER, STEP, TAKE_IT, Timeline, Verdict
from inertid_ros.core.records import FloatArray, IntArray, JointBlock, SampleBlock, WrenchBlock
from inertid_ros.core.robot.robot import ArmModel, FramePath, Robot
from inertid_ros.core.settings.choices import BaseSign, EffortUnit, Method, Source
from inertid_ros.core.settings.settings import LinksSettings
from inertid_ros.core.static.rest_poses import StaticWrench

_REMEMBERED = 20
"""Lists of joint names that are remembered at most: a robot has a few, a broken driver any number."""


class JointNames:
    """Gives the joints of each message the names that the URDF has for them."""

    def __init__(self, known: Sequence[str], health: Health) -> None:
        """Set the URDF's names and where to report."""
        self._known = tuple(known)
        self._health = health
        self._last: tuple[str, ...] | None = None
        """The names of the last message, if they were the URDF's."""
        self._renamed: dict[tuple[str, ...], tuple[str, ...]] = {}

    def are_known(self, names: tuple[str, ...]) -> bool:
        """Whether these names have come before, and need no other."""
        return names is self._last or self._renamed.get(names) == names

    def resolve(self, block: JointBlock) -> JointBlock:
        """The same block with the URDF's names."""
        if block.names is self._last:
            return block
        names = self._renamed.get(block.names)
        if names is None:
            if len(self._renamed) > _REMEMBERED:
                self._renamed.clear()
            names = self._renamed[block.names] = rename_joints(block.names, self._known)
        if names is block.names or names == block.names:
            self._last = block.names
            return block
        if len(block.stamps):
            detail = f"'{block.names[0]}' is taken for '{names[0]}'"
            self._health.report("joint_states", "renamed_joints", int(block.stamps[-1]), detail, len(block.stamps))
        return block._replace(names=names)


def rename_joints(names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Names of a message as the URDF has them.

    If none is known, and names of both would be equal but for one prefix each that is empty or ends in `_` or `/`
    (`fer_joint1` and `panda_joint1`, `left_elbow_joint` and `elbow_joint`), that prefix is exchanged. There must be
    exactly one way in which all names are found then (there are two if the URDF has two such arms), or none is changed.
    """
    if any(name in known for name in names) or not names:
        return tuple(names)
    first, last = min(names), max(names)
    shared = next(
        (place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first)
    )
    prefixes = {prefix for name in known for prefix in _prefixes(name)}
    ways = {tuple(new + name[len(old) :] for name in names) for old in _prefixes(first[:shared]) for new in prefixes}
    found = [way for way in ways if all(name in known for name in way)]
    return found[0] if len(found) == 1 else tuple(names)


def _prefixes(name: str) -> list[str]:
    """All beginnings of a name that end in `_` or `/`, and the empty one."""
    return ["", *(name[: place + 1] for place, letter in enumerate(name) if letter in "_/")]


_WRENCH = len(WRENCH_NAMES)
_FREE = {"wrench": np.repeat([0.5, 0.05], 3), "base_wrench": np.repeat([20.0, 5.0], 3)}
"""Changes of force [N] and moment [Nm] between readings that say nothing, by source: half of what is never taken for a
contact, and what a heavy arm does to its base at each sample."""


class WrenchLine(Timeline):
    """Wrenches of a sensor in one frame of the robot.

    Attributes:
        faults: when they are not to be believed.
        channels, scales: of the readings, see `timeline.take_readings`.
    """

    def __init__(self, robot: Robot, frame: str, source: str, setting: str, health: Health) -> None:
        """Set the frame, what the wrenches are called in health issues, and which setting has the frame."""
        super().__init__(_WRENCH, source, health)
        self._frame, self._frames = frame, set(robot.frame_names)
        self._source, self._setting = source, setting
        self._health = health
        self.channels: IntArray = np.zeros((3, _WRENCH), dtype=np.int64)
        self.channels[COLUMN] = np.arange(_WRENCH)
        self.scales = np.ones((CHANNEL_NUMBERS, _WRENCH))
        self.scales[FREE], self.scales[USUAL] = _FREE[source], 0.0
        self.faults = ReadingFaults()
        self._set_aside: int | None = None

    def push_wrenches(self, block: WrenchBlock) -> bool:
        """Take wrenches, unless they are in another frame of the robot; returns whether time was reset."""
        if block.frame != self._frame and len(block.stamps) and self._is_mismatch(block):
            return False
        self._pushed = block.wrenches
        is_reset = self.push(self.channels, self.scales, block.stamps, block.wrenches)
        return is_reset if self._set_aside is None else self._end_push(is_reset)

    def is_in_frame(self, block: WrenchBlock) -> bool:
        """Whether wrenches are in the frame that was set."""
        return block.frame == self._frame

    @property
    def has_set_aside(self) -> bool:
        """Whether a reading was set aside, of which the next one will decide."""
        return self._set_aside is not None

    def push_rest_of_wrenches(self, position: int, block: WrenchBlock) -> bool:
        """Take those from the position on at which the kernel has stopped; returns whether time was reset."""
        self._pushed = block.wrenches
        return self._end_push(self.push_rest(position, self.channels, self.scales, block.stamps, block.wrenches))

    def _end_push(self, is_reset: bool) -> bool:
        if self._set_aside is not None and self.integers.item(ASIDE) == 0:
            self._report_outlier()
        return is_reset

    def _report_outlier(self) -> None:
        """Report the reading that was set aside last: what followed has not agreed with it."""
        if self._set_aside is not None:
            self._health.report(self._source, "outlier", self._set_aside)
            self._set_aside = None

    def decide(self, stamps: IntArray, position: int) -> Verdict:
        """Decide about the sample at which the kernel has stopped; outliers are set aside.

        They are reported once the next one shows that they were no step, as a contact or another load makes it; if they
        were one, they are taken after all.
        """
        found, stamp = self.integers.item(FOUND), stamps.item(position)
        if found in (OUTLIER, IMPLAUSIBLE):
            self.faults.note_outlier(stamp)
            self._report_outlier()
            if found == OUTLIER:
                self._set_aside = stamp
            else:
                self._health.report(self._source, "implausible", stamp)
            return Verdict.LEAVE
        if found == STEP:
            scales = self.scales
            if self._set_aside is not None and self._set_aside < stamp:
                self.insert(self._set_aside, scales[SET_ASIDE])
            self._set_aside = None
            after = np.stack((scales[SET_ASIDE], self._pushed[position]))
            scales[USUAL] *= abs(self.faults.note_step(stamp, scales[HELD], after, scales[USUAL], scales[FREE]))
            self.integers[ASIDE] = TAKE_IT
            return Verdict.TAKE
        return super().decide(stamps, position)

    def _is_mismatch(self, block: WrenchBlock) -> bool:
        is_mismatch = block.frame in self._frames
        code = f"{self._source.removesuffix('wrench')}frame_{'mismatch' if is_mismatch else 'unknown'}"
        detail = f"{self._source.replace('_', ' ')} in '{block.frame}', {self._setting} is '{self._frame}'"
        self._health.report(self._source, code, int(block.stamps[-1]), detail, len(block.stamps))
        return is_mismatch


class WristInput:
    """Joint states, and the wrenches of a sensor at the wrist.

    Attributes:
        faults: when the wrenches are not to be believed, or the velocities that they were paired with.
        synchroniser: pairs them with joint states.
        answered: what brings readings.
    """

    answered: type[SampleBlock] = WrenchBlock

    def __init__(
        self, robot: Robot, path: FramePath, delay: float, health: Health, tilt: BaseTilt | None = None
    ) -> None:
        """Set the joints that move the sensor, by how much [s] its wrenches are late, and how the base leans."""
        self._names = JointNames(robot.joint_names, health)
        self._wrenches = WrenchLine(robot, path.frame, "wrench", "load.sensor_frame", health)
        self.faults = self._wrenches.faults
        self._tilt = tilt
        self.synchroniser = Synchroniser(
            path.joint_names, path.is_angle, path.reach, _WRENCH, self._wrenches, delay, health, "wrench", self.faults
        )
        self._wrench: WrenchBlock | None = None
        self._state: JointBlock | None = None
        self._wrench_message: Message | None = None
        self._state_message: Message | None = None

    def push(self, block: SampleBlock) -> None:
        """Take joint states of one publisher, wrenches, or readings of the IMU on the base."""
        if isinstance(block, JointBlock):
            self.synchroniser.push_joints(self._names.resolve(block))
        elif isinstance(block, WrenchBlock):
            if self._tilt is not None and len(block.stamps):
                self._tilt.watch(block.stamps)
            if self._wrenches.push_wrenches(block):
                self.synchroniser.restart()
        elif self._tilt is not None:
            self.synchroniser.push_joints(self._tilt.take(block))

    def prepare(self, rows: Carrier, block: SampleBlock, told: IntArray) -> Callable[[], int] | None:
        """What takes the message in a block in one call."""
        if block is self._wrench and self._wrench_message is not None:
            if self._wrenches.has_set_aside:
                return None
            return self._prepare(rows, READINGS, self._wrench_message, None, told)
        if block is self._state and self._state_message is not None:
            taken = self.synchroniser.find_columns(self._state.names)
            return None if taken is None else self._prepare(rows, STATES, self._state_message, taken, told)
        self._learn(block)
        return None

    def _can_learn(self, block: JointBlock) -> bool:
        is_alone = self.synchroniser.find_columns(block.names) is not None
        return is_alone and self._names.are_known(block.names) and _is_complete(block)

    def _prepare(
        self, rows: Carrier, kinds: int, message: Message, taken: IntArray | None, told: IntArray
    ) -> Callable[[], int] | None:
        wrenches = self._wrenches
        return self.synchroniser.prepare(rows, kinds, message, taken, wrenches.channels, wrenches.scales, told)

    def settle(self, status: int, told: IntArray) -> int:
        """Decide what has stopped a message before its samples were paired."""
        synchroniser, message = self.synchroniser, self._state_message
        if status == AT_STATES and self._state is not None and message is not None:
            synchroniser.push_rest_of_joints(self._state.names, message, told)
            return AT_PAIRING
        if status == AT_READINGS and self._wrench is not None:
            if self._wrenches.push_rest_of_wrenches(told.item(POSITION), self._wrench):
                synchroniser.restart()
            return AT_PAIRING
        return status

    def _learn(self, block: SampleBlock) -> None:
        """Look at what is the same for all messages of one layout, which come as one block in the same memory."""
        if self._tilt is not None or len(block.stamps) != 1:
            return
        if isinstance(block, WrenchBlock) and self._wrenches.is_in_frame(block):
            self._wrench, self._wrench_message = block, make_message(block.stamps, readings=block.wrenches)
        elif isinstance(block, JointBlock) and self._can_learn(block):
            self._state = block
            self._state_message = make_message(block.stamps, block.positions, block.velocities)

    def process(self, rows: Carrier) -> list[Segment]:
        """Synchronise all that can be."""
        return self.synchroniser.process(rows)

    def foresee(self, rows: Carrier, after: int) -> Segment | None:
        """What waits for a later joint state, after a stamp."""
        return self.synchroniser.foresee(rows, after)


class ArmInput:
    """Joint states with efforts, the wrenches of a sensor under the base, or both.

    Readings are those on the robot, whatever the sign of the base sensor's driver, and less what the sensor reads at
    rest where that is known.

    Attributes:
        must_restore: whether they are not what the driver publishes.
        synchroniser: pairs them with joint states.
        answered: what brings readings.
    """

    def __init__(
        self,
        robot: Robot,
        arm: ArmModel,
        links: LinksSettings,
        health: Health,
        static: StaticWrench | None = None,
    ) -> None:
        """Set up the inputs that the settings name."""
        source = Source(links.source)
        self._has_efforts, self._has_wrenches = source.has_efforts, source.has_base_wrench
        self._has_both = source is Source.BOTH
        self.answered: type[SampleBlock] = WrenchBlock if self._has_wrenches else JointBlock
        self._health = health
        self._n = len(arm.joint_names)
        self._sign = -1.0 if links.base_wrench_sign is BaseSign.ON_GROUND and source is not Source.EFFORT else 1.0
        self._names = JointNames(robot.joint_names, health)
        self._efforts = EffortInput(arm, _find_constants(links, arm), health)
        self._streams = EffortStreams(self._efforts, self._n, links.effort_delay)
        self._leader: tuple[int, ...] | None = None
        self._static = None if static is None else static.in_order(arm.joint_names)
        self.must_restore = self._sign < 0.0 or self._static is not None
        base_frame = links.base_frame or robot.frame_names[0]
        self._wrenches = WrenchLine(robot, base_frame, "base_wrench", "links.base_frame", health)
        channels = (_WRENCH if source.has_base_wrench else 0) + (self._n if source.has_efforts else 0)
        readings: Timeline = self._wrenches
        delay, named = 0.0, "base_wrench"
        if source is Source.EFFORT:
            readings, delay, named = Timeline(2 * self._n, "effort", health), links.effort_delay, "effort"
        self.synchroniser = Synchroniser(
            arm.joint_names,
            arm.is_angle,
            arm.reach,
            channels,
            readings,
            delay,
            health,
            named,
            keeps_stamps=source.has_efforts,
        )
        self._can_arrive = (
            source is Source.EFFORT and Method(links.method) is not Method.ENERGY and not self.must_restore
        )
        self._state: JointBlock | None = None
        self._message: Message | None = None

    def push(self, block: SampleBlock) -> None:
        """Take joint states of one publisher, or wrenches of the base sensor."""
        if isinstance(block, JointBlock):
            self._push_joints(self._names.resolve(block))
        elif self._has_wrenches and isinstance(block, WrenchBlock) and self._wrenches.push_wrenches(block):
            self.synchroniser.restart()

    def prepare(self, rows: Carrier, block: SampleBlock, told: IntArray) -> Callable[[], int] | None:
        """What takes the message in a block in one call: joint states, with the efforts of all that publish any."""
        if block is not self._state:
            self._learn(block)
            return None
        efforts, message, taken = self._efforts, self._message, self.synchroniser.find_columns(self._state.names)
        is_alone = not self._streams.lines and efforts.are_of(self._state.names, self._leader)
        if message is None or taken is None or not is_alone:
            return None
        return self.synchroniser.prepare(
            rows, STATES | READINGS, message, taken, efforts.channels, efforts.scales, told
        )

    def settle(self, status: int, told: IntArray) -> int:
        """Decide what has stopped a message before its samples were paired."""
        synchroniser, efforts, message = self.synchroniser, self._efforts, self._message
        if self._state is None or message is None or status not in (AT_STATES, AT_READINGS):
            return status
        if status == AT_STATES:
            synchroniser.push_rest_of_joints(self._state.names, message, told)
            self._push_efforts(message.stamps, message.readings)
        elif efforts.push_rest(told.item(POSITION), synchroniser.readings, message.stamps, message.readings):
            synchroniser.restart()
        return AT_PAIRING

    def _learn(self, block: SampleBlock) -> None:
        """Look at what is the same for all messages of one layout, which come as one block in the same memory."""
        if not self._can_arrive or not isinstance(block, JointBlock) or not self._names.are_known(block.names):
            return
        efforts = block.efforts
        if _is_complete(block) and efforts is not None and efforts.shape == block.positions.shape:
            self._state = block
            self._message = make_message(block.stamps, block.positions, block.velocities, efforts)

    def _push_joints(self, block: JointBlock) -> None:
        synchroniser, efforts = self.synchroniser, self._efforts
        synchroniser.push_joints(block)
        if not self._has_efforts or not efforts.has_efforts(block):
            return
        assert block.efforts is not None
        if self._leader is None and not self._has_wrenches:
            self._leader = efforts.joints
        if self._leader == efforts.joints:
            self._push_efforts(block.stamps, block.efforts)
        elif synchroniser.origin is not None:
            self._streams.push(block.stamps, block.efforts, synchroniser.origin)

    def _push_efforts(self, stamps: IntArray, efforts: FloatArray) -> None:
        if self._efforts.push(self.synchroniser.readings, stamps, efforts):
            self.synchroniser.restart()

    def process(self, rows: Carrier) -> list[Segment]:
        """Synchronise all that can be."""
        if not self._has_wrenches and not self._streams.lines:
            return self.synchroniser.process(rows)
        segments = self.synchroniser.process(rows, False, self._streams.newest if self._has_both else None)
        for segment in segments:
            self._complete(segment)
        return segments

    def _complete(self, segment: Segment) -> None:
        """Lay down the readings of other publishers and sensors, and turn those of the base sensor."""
        readings, bad = segment.readings, segment.bad
        if self._streams.lines:
            efforts, usable = self._streams.read(segment.times)
            if not self._has_wrenches:
                readings[usable] = efforts[usable]
                bad[usable] = 0.0
            else:
                readings[:, _WRENCH:], bad[:, _WRENCH:] = efforts, ~usable
        elif self._has_both:
            bad[:, _WRENCH:] = 1.0
        if self._has_wrenches:
            readings[:, :_WRENCH] *= self._sign
        if self._static is not None:
            at_rest, near = self._static.read(segment.positions)
            readings[:, :_WRENCH] -= self._sign * at_rest
            bad[~near] = 1.0
            if not near.all():
                stamp = int(segment.stamps[~near][-1])
                self._health.report("base_wrench", "off_static_path", stamp, count=int((~near).sum()))

    def restore(self, segment: Segment, values: FloatArray) -> FloatArray:
        """Readings or predictions (N, K) of samples, as the driver publishes them."""
        if self._sign < 0.0:
            values = values.copy()
            values[:, :_WRENCH] *= -1.0
        return values if self._static is None else values + self._static.read(segment.positions)[0]

    def foresee(self, rows: Carrier, after: int) -> Segment | None:
        """What waits for a later joint state, after a stamp."""
        return None if self._has_both else self.synchroniser.foresee(rows, after)


def _is_complete(block: JointBlock) -> bool:
    """Whether a block has as many positions, and velocities if any, as it has names."""
    shape, velocities = (len(block.stamps), len(block.names)), block.velocities
    return block.positions.shape == shape and (velocities is None or velocities.shape == shape)


def choose_joints(robot: Robot, block: JointBlock, health: Health) -> Sequence[str]:
    """The joints of an arm that the settings do not name: those of a message that can be; empty if there are none."""
    names = JointNames(robot.joint_names, health).resolve(block).names
    joints = [name for name in names if name in robot.own_joints]
    stamp, count = int(block.stamps[-1]), len(block.stamps)
    if not joints:
        detail = f"joint_states has {', '.join(block.names[:8])}; the URDF {', '.join(robot.joint_names[:8])}"
        health.report("joint_states", "missing_joints", stamp, detail, count)
        return ()
    left = [name for name in robot.joint_names if name not in joints]
    if left:
        strange = [name for name in names if name not in robot.joint_names]
        detail = ", ".join(left) + (f"; not in the URDF: {', '.join(strange)}" if strange else "")
        health.report("joint_states", "unmeasured_joints", stamp, detail)
    return joints


def _find_constants(links: LinksSettings, arm: ArmModel) -> FloatArray:
    """What efforts are multiplied with, in the order of the arm's joints."""
    if links.effort_unit is not EffortUnit.AMPERE or not links.source.has_efforts:
        return np.ones(len(arm.joint_names))
    given = dict(zip(links.joints, links.torque_constants, strict=True))
    return np.array([given[name] for name in arm.joint_names])
