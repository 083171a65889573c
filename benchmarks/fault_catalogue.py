"""Faults of joint states, wrenches and stamps: what arrives instead of the samples of one chunk of time.

A fault takes the joint states and the wrenches of a chunk and returns the blocks that arrive instead. It is told when
it has begun: faults of single samples happen once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from inertid_ros.core.records import BoolArray, FloatArray, IntArray, JointBlock, WrenchBlock

Block = JointBlock | WrenchBlock
Edit = Callable[["Memory", JointBlock, WrenchBlock], list[Block]]
SECOND = 1_000_000_000


@dataclass
class Memory:
    """What a fault remembers while it lasts: since when [ns], chunks before this one, and what it holds."""

    began: int
    chunks: int = 0
    held: FloatArray = field(default_factory=lambda: np.zeros(6))
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        name: what happens.
        edit: what arrives instead.
        source, code: what the diagnostics must say, or one of two; none if nothing need be said.
        is_single: whether it is over after one chunk.
        is_demoted: whether nothing of the load may be called known while it lasts.
        is_slow: whether it is named only after the seconds for which wrenches wait for joint states.
    """

    name: str
    edit: Edit
    source: str = ""
    code: str = ""
    is_single: bool = False
    is_demoted: bool = False
    is_slow: bool = False

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes, each of which will do."""
        return tuple(self.code.split(" or ")) if self.code else ()


def _wrench(change: Callable[[Memory, FloatArray], FloatArray]) -> Edit:
    """Another wrench, from the readings (N, 6) of a chunk."""

    def edit(memory: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
        return [joints, wrenches._replace(wrenches=change(memory, wrenches.wrenches.copy()))]

    return edit


def _joints(change: Callable[[Memory, FloatArray, FloatArray], tuple[FloatArray, FloatArray | None]]) -> Edit:
    """Other positions and velocities, from those (N, n) of a chunk."""

    def edit(memory: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
        rates = np.zeros_like(joints.positions) if joints.velocities is None else joints.velocities.copy()
        positions, velocities = change(memory, joints.positions.copy(), rates)
        return [joints._replace(positions=positions, velocities=velocities), wrenches]

    return edit


def _stamps(topic: str, change: Callable[[Memory, IntArray], IntArray]) -> Edit:
    """Other stamps of joint states, wrenches or both."""

    def edit(memory: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
        if topic != "wrench":
            joints = joints._replace(stamps=change(memory, joints.stamps.copy()))
        if topic != "joint_states":
            wrenches = wrenches._replace(stamps=change(memory, wrenches.stamps.copy()))
        return [joints, wrenches]

    return edit


def _hold(axes: slice, memory: Memory, values: FloatArray) -> FloatArray:
    if memory.chunks == 0:
        memory.held = values[0].copy()
    values[:, axes] = memory.held[axes]
    return values


def _add(row: int | slice, columns: slice, value: float, _: Memory, values: FloatArray) -> FloatArray:
    values[row, columns] += value
    return values


def _spikes(share: float, size: float, memory: Memory, values: FloatArray) -> FloatArray:
    chosen = memory.random.random(len(values)) < share
    values[chosen] += size * memory.random.normal(size=(int(chosen.sum()), 6))
    return values


def _interleave(period: int, factor: float, memory: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
    """A second publisher, between the readings of the first one: every so many of them."""
    del memory
    order = np.arange(0, len(wrenches.stamps), period)
    stamps = np.concatenate((wrenches.stamps, wrenches.stamps[order] + 300_000))
    values = np.concatenate((wrenches.wrenches, factor * wrenches.wrenches[order]))
    rows = np.argsort(stamps, kind="stable")
    return [joints, wrenches._replace(stamps=stamps[rows], wrenches=values[rows])]


def _add_joint(
    what: str, row: int | slice, value: float, _: Memory, positions: FloatArray, velocities: FloatArray
) -> tuple[FloatArray, FloatArray]:
    (positions if what == "position" else velocities)[row, 1] += value
    return positions, velocities


def _scale_joints(
    of_position: float, of_velocity: float, _: Memory, positions: FloatArray, velocities: FloatArray
) -> tuple[FloatArray, FloatArray]:
    return of_position * positions, of_velocity * velocities


def _no_velocities(_: Memory, positions: FloatArray, __: FloatArray) -> tuple[FloatArray, None]:
    return positions, None


def _part_of_velocities(_: Memory, positions: FloatArray, velocities: FloatArray) -> tuple[FloatArray, FloatArray]:
    velocities[:, 0] = np.nan
    return positions, velocities


def _wrap(_: Memory, positions: FloatArray, velocities: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.mod(positions + np.pi, 2.0 * np.pi) - np.pi, velocities


def _add_turns(_: Memory, positions: FloatArray, velocities: FloatArray) -> tuple[FloatArray, FloatArray]:
    return positions + 8.0 * np.pi, velocities


def _drop(kept: str, _: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
    return [block for block, topic in ((joints, "joint_states"), (wrenches, "wrench")) if topic == kept]


def _lose(share: float, memory: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
    blocks: list[Block] = []
    for block in (joints, wrenches):
        kept = memory.random.random(len(block.stamps)) >= share
        blocks.append(_select(block, kept))
    return blocks


def _select(block: Block, rows: IntArray | BoolArray) -> Block:
    """Some samples of a block, by indices or flags."""
    if isinstance(block, WrenchBlock):
        return block._replace(stamps=block.stamps[rows], wrenches=block.wrenches[rows])
    parts = (None if part is None else part[rows] for part in block[1:])
    return JointBlock(block.names, *parts)  # type: ignore[arg-type]


def _swap(topic: str, _: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
    blocks: list[Block] = []
    for block, name in ((joints, "joint_states"), (wrenches, "wrench")):
        rows = np.arange(len(block.stamps))
        if name == topic and len(rows) > 5:
            rows[2], rows[3] = 3, 2
        blocks.append(_select(block, rows))
    return blocks


def _split(memory: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
    """Each half of the joints by a publisher of its own, one of which has no velocities."""
    del memory
    half = len(joints.names) // 2
    first = JointBlock(joints.names[:half], joints.stamps, joints.positions[:, :half], None)
    rates = None if joints.velocities is None else joints.velocities[:, half:]
    second = JointBlock(joints.names[half:], joints.stamps + 100_000, joints.positions[:, half:], rates)
    return [first, second, wrenches]


def _repeat_joint(_: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
    """A joint that is twice in each message, the second time with another position."""
    names = (*joints.names, joints.names[0])
    positions = np.column_stack((joints.positions, joints.positions[:, 0] + 1.0))
    return [JointBlock(names, joints.stamps, positions, None), wrenches]


def _new_names(count: int, memory: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
    """So many joints that nobody knows, with new names in every message, beside the right ones."""
    blocks: list[Block] = []
    for row, stamp in enumerate(joints.stamps.tolist()):
        names = tuple(f"joint_{memory.chunks}_{row}_{index}" for index in range(count))
        blocks.append(JointBlock(names, np.array([stamp + 1000]), np.zeros((1, count)), None))
    return [joints, *blocks, wrenches]


def _rename(
    names: Callable[[tuple[str, ...]], tuple[str, ...]], _: Memory, joints: JointBlock, wrenches: WrenchBlock
) -> list[Block]:
    return [joints._replace(names=names(joints.names)), wrenches]


def _shorten(_: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
    return [joints._replace(positions=joints.positions[:, :3], velocities=None), wrenches]


def _reframe(frame: str, _: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
    return [joints, wrenches._replace(frame=frame)]


def _empty(_: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
    none = np.empty((len(joints.stamps), 0))
    return [JointBlock((), joints.stamps, none, None), wrenches]


_SIZES = (3.0, 30.0, 1e3, 1e6, 1e80, 1.7e308)
"""Sizes of outliers, beside angles, velocities and wrenches of the arm."""
_BEYOND = 300.0
"""Positions [rad] and velocities [rad/s] that are far beyond the limits of the PUMA's second joint."""
_ALL, _FX, _FZ, _NY = slice(0, 6), slice(0, 1), slice(2, 3), slice(4, 5)


def _list_sensor_faults() -> Iterator[Fault]:
    def damaged(name: str, edit: Edit, code: str, is_demoted: bool = True) -> Fault:
        return Fault(name, edit, "wrench", code, is_demoted=is_demoted)

    yield damaged("wrench all zeros", _wrench(lambda _, values: 0.0 * values), "sensor_dead")
    yield damaged("wrench frozen", _wrench(partial(_hold, _ALL)), "sensor_frozen")
    for name, axes in (("fx", _FX), ("fz", _FZ)):
        yield damaged(f"axis {name} stuck", _wrench(partial(_hold, axes)), "axis_stuck or sensor_saturated")
    for limit in (5.0, 10.0, 14.0):
        clip = _wrench(lambda _, values, limit=limit: np.clip(values, -limit, limit))  # type: ignore[misc]
        yield damaged(f"wrench clipped at {limit:g}", clip, "axis_stuck or sensor_saturated", False)
    for factor in (1000.0, 1e-3):
        scale = _wrench(lambda _, values, factor=factor: factor * values)  # type: ignore[misc]
        yield damaged(f"wrench times {factor:g}", scale, "wrench_scaled")
    yield damaged("wrench of the other sign", _wrench(lambda _, values: -values), "wrench_flipped")
    for period, factor in ((1, 0.0), (1, 0.5), (1, -1.0), (2, 0.0), (3, 0.0)):
        name = f"second publisher of {factor:g} times the wrench, 1 : {period}"
        yield damaged(name, partial(_interleave, period, factor), "wrench_mixed")
    yield damaged("every tenth wrench is noise", _wrench(partial(_spikes, 0.1, 30.0)), "outlier", False)


def _list_outliers() -> Iterator[Fault]:
    for size in _SIZES:
        for name, columns in (("fx", _FX), ("ny", _NY), ("all axes", _ALL)):
            code = "implausible" if size > 1e5 else "outlier" if size > 10.0 else ""
            yield Fault(f"one wrench, {name}: {size:g}", _wrench(partial(_add, 3, columns, size)), "wrench", code, True)
        for what in ("position", "velocity"):
            code = "implausible" if size > _BEYOND else "outlier"
            put = _joints(partial(_add_joint, what, 3, size))
            yield Fault(f"one {what} of {size:g}", put, "joint_states", code, True)
    for value in (np.nan, np.inf):
        yield Fault(f"wrenches of {value}", _wrench(partial(_add, slice(None), _FX, value)), "wrench", "not_finite")
        for what in ("position", "velocity"):
            put = _joints(partial(_add_joint, what, slice(None), value))
            yield Fault(f"{what} of {value}", put, "joint_states", "not_finite")
    for size in (1e6, 1.7e308):
        put = _wrench(partial(_add, slice(None), _ALL, size))
        yield Fault(f"wrenches of {size:g}", put, "wrench", "implausible")
        for what in ("position", "velocity"):
            put = _joints(partial(_add_joint, what, slice(None), size))
            yield Fault(f"{what} of {size:g}", put, "joint_states", "implausible")


def _list_stamp_faults() -> Iterator[Fault]:
    for topic in ("joint_states", "wrench"):
        change = partial(_stamps, topic)
        yield Fault(f"{topic}: stamps of zero", change(lambda _, stamps: 0 * stamps), topic, "zero_stamp")
        yield Fault(f"{topic}: stamps repeat", change(lambda m, stamps: 0 * stamps + m.began), topic, "duplicate_stamp")
        yield Fault(f"{topic}: two stamps swapped", partial(_swap, topic), topic, "backward_stamp")
        for seconds in (1, 3600, -1, -3600):
            code = "jumping_stamp" if seconds > 10 else "backward_stamp" if seconds < 0 else ""
            jump = change(lambda _, stamps, seconds=seconds: _add_once(stamps, seconds))  # type: ignore[misc]
            yield Fault(f"{topic}: one stamp off by {seconds} s", jump, topic, code, True)
        yield Fault(f"{topic}: negative stamps", change(lambda _, stamps: -stamps), topic, "zero_stamp")
    for shifted in (0.3, 5.0, 3600.0, -2.0, -3600.0):
        shift = _stamps("both", lambda _, stamps, by=shifted: stamps + round(by * SECOND))  # type: ignore[misc]
        code = "time_reset" if shifted < 0.0 else ""
        yield Fault(f"clock set by {shifted:g} s and back", shift, "joint_states", code)
    yield Fault("wrench late by 0.3 s", _stamps("wrench", lambda _, stamps: stamps - 3 * SECOND // 10))
    yield Fault("jittering stamps", _stamps("both", _jitter))


def _add_once(stamps: IntArray, seconds: int) -> IntArray:
    stamps[3] += seconds * SECOND
    return stamps


def _jitter(memory: Memory, stamps: IntArray) -> IntArray:
    moved = stamps + memory.random.integers(-900_000, 900_000, len(stamps))
    return np.asarray(np.sort(moved))


def _list_joint_faults() -> Iterator[Fault]:
    source = "joint_states"
    yield Fault("no velocities", _joints(_no_velocities))
    yield Fault("velocities of some joints", _joints(_part_of_velocities), source, "not_finite")
    yield Fault("velocities of zero", _joints(partial(_scale_joints, 1.0, 0.0)), source, "velocity_unusable")
    yield Fault("velocities in degrees", _joints(partial(_scale_joints, 1.0, 57.3)), source, "velocity_unusable")
    yield Fault("velocities of the other sign", _joints(partial(_scale_joints, 1.0, -1.0)), source, "velocity_unusable")
    yield Fault("angles wrapped", _joints(_wrap))
    yield Fault("angles four turns on", _joints(_add_turns))
    yield Fault("two publishers of half the joints", _split)
    yield Fault("a joint twice in a message", _repeat_joint, source, "repeated_joint")
    yield Fault("a thousand new names in every message", partial(_new_names, 1000))
    yield Fault("3000 joints beside", partial(_rename_more, 3000))
    yield Fault(
        "joint names unknown",
        partial(_rename, lambda names: tuple(f"x{name}y" for name in names)),
        "wrench",
        "no_joint_state",
        is_slow=True,
    )
    yield Fault("joint order reversed", _reverse)
    yield Fault("fewer positions than names", _shorten, source, "wrong_length")
    yield Fault("no names", _empty, "wrench", "no_joint_state", is_slow=True)


def _rename_more(count: int, _: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
    names = (*joints.names, *(f"joint_{index}" for index in range(count)))
    positions = np.hstack((joints.positions, np.zeros((len(joints.stamps), count))))
    return [JointBlock(names, joints.stamps, positions, None), wrenches]


def _reverse(_: Memory, joints: JointBlock, wrenches: WrenchBlock) -> list[Block]:
    rates = None if joints.velocities is None else joints.velocities[:, ::-1]
    return [JointBlock(joints.names[::-1], joints.stamps, joints.positions[:, ::-1], rates), wrenches]


def _list_losses() -> Iterator[Fault]:
    yield Fault("no joint states", partial(_drop, "wrench"), "wrench", "no_joint_state", is_slow=True)
    yield Fault("no wrenches", partial(_drop, "joint_states"), is_slow=True)
    yield Fault("nothing at all", lambda *_: [])
    for share in (0.1, 0.5, 0.9):
        yield Fault(f"{100.0 * share:g} % of all samples lost", partial(_lose, share))
    yield Fault("wrench in another frame", partial(_reframe, "base_link"), "wrench", "frame_mismatch")
    yield Fault("wrench in an unknown frame", partial(_reframe, "nowhere"), "wrench", "frame_unknown")
    yield Fault("wrench in no frame", partial(_reframe, ""), "wrench", "frame_unknown")


FAULTS: tuple[Fault, ...] = (
    *_list_sensor_faults(),
    *_list_outliers(),
    *_list_stamp_faults(),
    *_list_joint_faults(),
    *_list_losses(),
)
"""All of them."""
