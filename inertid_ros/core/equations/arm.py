"""The arm's equations of motion, by its joints' efforts, the wrench under its base, or both; with a payload, if any.

All that can be unknown of an arm: its links' inertial parameters, its drives' friction, its sensors' offsets.

The standard parameters are [10 inertial parameters of each link | viscous friction | Coulomb friction | rotor inertia |
effort offset, one of each for each joint | offset of the base sensor (6)], where what is switched off or not measured
is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.equation import NO_DRIVES, WRENCH_NAMES, Equation
from inertid_ros.core.equations.signals import (
    BUMP,
    BUMPS,
    CONSTANT,
    COULOMB,
    ROTOR,
    VISCOUS,
    SignalMemory,
    make_signal_memory,
)
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.robot import ArmModel
from inertid_ros.core.robot.tree import FIXED, pack_tree
from inertid_ros.core.settings.choices import Source


@dataclass(frozen=True, slots=True)
class LinkUnknowns:
    """Names of the standard parameters, and which part of them is what; a part that is left out is an empty slice."""

    names: tuple[str, ...]
    inertial: slice
    viscous: slice
    coulomb: slice
    rotor_inertia: slice
    offset: slice
    base_offset: slice

    @classmethod
    def of(
        cls,
        arm: ArmModel,
        source: Source,
        viscous: bool = True,
        coulomb: bool = True,
        rotor_inertia: bool = True,
        offset: bool = True,
        base_offset: bool = True,
    ) -> LinkUnknowns:
        """List the unknowns of an arm; friction, rotors and effort offsets only show in efforts."""
        names = list(arm.parameter_names)
        parts = [slice(0, len(names))]
        drives = {"viscous": viscous, "coulomb": coulomb, "rotor_inertia": rotor_inertia, "offset": offset}
        for kind, wanted in drives.items():
            start = len(names)
            if wanted and source.has_efforts:
                names += [f"{joint}.{kind}" for joint in arm.joint_names]
            parts.append(slice(start, len(names)))
        start = len(names)
        if base_offset and source.has_base_wrench:
            names += [f"base.{name}" for name in WRENCH_NAMES]
        inertial, viscous_part, coulomb_part, rotor_part, offset_part = parts
        base_part = slice(start, len(names))
        return cls(tuple(names), inertial, viscous_part, coulomb_part, rotor_part, offset_part, base_part)


def channel_names(arm: ArmModel, source: Source) -> tuple[str, ...]:
    """What is measured: the base wrench (6), the efforts (n), or both in this order."""
    base = tuple(f"base.{name}" for name in WRENCH_NAMES)
    return (base if source.has_base_wrench else ()) + (arm.joint_names if source.has_efforts else ())


def group_channels(names: Sequence[str], units: Sequence[str]) -> dict[str, list[int]]:
    """Channels that can be added up: wrist or base force and moment, torques of joints, forces of prismatic joints."""
    groups: dict[str, list[int]] = {}
    for index, (name, unit) in enumerate(zip(names, units, strict=True)):
        kinds = ("base_force", "base_torque") if name.startswith("base.") else ("effort_force", "effort")
        kind = ("force", "torque") if name in WRENCH_NAMES else kinds
        groups.setdefault(kind[unit == "Nm"], []).append(index)
    return groups


_PROBES = 20
"""Random states at which an entry must be zero to count as zero always: one would do, but for accidents."""
_ZERO = 1e-12
"""Part of the largest entry below which one is zero; rounding leaves 1e-16."""
NUISANCES = ("tilt_x", "tilt_y", "delay")
"""Names of the last columns: tilt of the base about two horizontal axes, and delay of the readings; between them are
those of what only tilted gravity shows, see `tilt`."""
GEAR = "gear"
"""Name of the columns before them, one for each joint: friction that grows with the torque of its gear."""


class Payload:
    """A load that is fixed to an arm: a body of its own, whose ten parameters are unknowns.

    Attributes:
        body: the joint that carries it, counted from 0.
        pose: of its frame in that joint's.
    """

    def __init__(self, body: int, pose: pin.SE3) -> None:
        """Fix a frame to a link."""
        self.body = body
        self.pose = pose


def make_arm_equation(
    arm: ArmModel,
    source: Source,
    unknowns: LinkUnknowns,
    chosen: IntArray,
    base_pose: pin.SE3,
    coulomb_velocity: float,
    payload: Payload | None = None,
    tilts: int | None = None,
) -> Equation:
    """Make the equation of some of the standard parameters.

    Args:
        arm: the arm.
        source: what is measured.
        unknowns: all standard parameters.
        chosen: (U,) ascending, indices of those wanted among them.
        base_pose: of the base sensor in the root frame.
        coulomb_velocity: below this velocity Coulomb friction is proportional to it.
        payload: a load whose ten parameters are unknowns after those chosen.
        tilts: unless it is None, columns for the shape of friction (four for each joint, where Coulomb friction is
            chosen), one for each joint's friction that grows with its load, so many for a tilt of the base, and one for
            a delay of the readings follow; those after the shape are left zero here.
    """
    fixed = [] if payload is None else [(payload.body, payload.pose)]
    tree = pack_tree(arm.model, arm.is_angle, fixed)
    screws = _list_base_screws(base_pose) if source.has_base_wrench else np.empty((0, 6))
    carried = _find_carried(tree, len(screws), len(arm.joint_names) if source.has_efforts else 0)
    place = {int(index): position for position, index in enumerate(chosen)}
    inertial = [index for index in place if index < unknowns.inertial.stop]
    columns = [(index // 10, index % 10, place[index]) for index in inertial]
    columns += [(len(tree) - 1, k, len(chosen) + k) for k in range(10)] if payload is not None else []
    pairs, parameters, channels, places = _list_entries(carried, columns)
    joints, gravity = len(arm.joint_names), arm.model.gravity.linear
    kept = _find_nonzero(make_signal_memory(tree, joints, gravity, screws, carried, pairs, parameters), joints)
    pairs, parameters = _keep(pairs, parameters, kept)
    drives = _list_drives(unknowns, place, source)
    names = tuple(unknowns.names[index] for index in chosen)
    names += tuple(f"load.{name}" for name in PARAMETER_NAMES) if payload is not None else ()
    bumps: IntArray = np.empty((0, 4), dtype=np.int64)
    if tilts is not None and unknowns.coulomb.start < unknowns.coulomb.stop:
        bumps = _list_bumps(joints, len(screws), len(names))
    drives = np.concatenate((drives, bumps))
    names += tuple(f"{arm.joint_names[joint]}.bump{kind - BUMP + 1}" for kind, joint, _, _ in bumps.tolist())
    if tilts is not None:
        names += tuple(f"{arm.joint_names[joint]}.{GEAR}" for joint in range(len(bumps) // BUMPS))
        names += (*NUISANCES[:2], *(f"tilted_{index + 1}" for index in range(tilts - 2)), NUISANCES[-1])
    signals = len(parameters) + len(drives)
    return Equation(
        channels=channel_names(arm, source),
        unknowns=names,
        memory=make_signal_memory(
            tree, joints, gravity, screws, carried, pairs, parameters, drives[:, :2], coulomb_velocity
        ),
        entry_signals=np.arange(signals),
        entry_channels=np.concatenate((channels[kept], drives[:, 2])),
        entry_unknowns=np.concatenate((places[kept], drives[:, 3])),
        entry_factors=np.ones(signals),
        drives=_list_drive_unknowns(drives, joints) if source.has_efforts else NO_DRIVES,
    )


def _list_base_screws(pose: pin.SE3) -> FloatArray:
    """Unit screws (6, 6) of the base sensor's frame, as motion vectors of the root frame."""
    return np.ascontiguousarray(pose.toActionMatrix().T)


def _find_carried(tree: FloatArray, base: int, efforts: int) -> IntArray:
    """Whether each channel's screw acts on each body, (B, K)."""
    carried = np.zeros((len(tree), base + efforts), dtype=np.int64)
    carried[:, :base] = 1
    for body, row in enumerate(tree):
        parent = int(row[0])
        if parent >= 0:
            carried[body, base:] = carried[parent, base:]
        if row[1] != FIXED and efforts:
            carried[body, base + body] = 1
    return carried


def _list_entries(
    carried: IntArray, columns: Sequence[tuple[int, int, int]]
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """All entries of columns (body, parameter, unknown): pairs (Q, 4), and parameter, channel and unknown of each."""
    pairs: list[tuple[int, int, int, int]] = []
    entries: list[tuple[int, int, int]] = []
    for body in range(len(carried)):
        own = [(parameter, place) for owner, parameter, place in columns if owner == body]
        for channel in np.flatnonzero(carried[body]).tolist() if own else []:
            pairs.append((body, channel, len(entries), len(entries) + len(own)))
            entries += [(parameter, channel, place) for parameter, place in own]
    table = np.array(entries, dtype=np.int64).reshape(-1, 3)
    return np.array(pairs, dtype=np.int64).reshape(-1, 4), table[:, 0], table[:, 1], table[:, 2]


def _find_nonzero(memory: SignalMemory, joints: int) -> IntArray:
    """Indices of the entries that are not zero at all of some random states."""
    rng = np.random.default_rng(0)
    probe = Equation((), (), memory, *(np.empty(0, dtype=np.int64),) * 3, np.empty(0), NO_DRIVES)
    seen = np.abs(probe.compute(*rng.uniform(-3.0, 3.0, (3, _PROBES, joints)))).max(axis=0)
    return np.flatnonzero(seen > _ZERO * seen.max(initial=0.0))


def _keep(pairs: IntArray, parameters: IntArray, kept: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs and parameters of those entries that are kept."""
    counts = np.array([np.count_nonzero((kept >= start) & (kept < stop)) for _, _, start, stop in pairs], dtype=int)
    stops = np.cumsum(counts)
    trimmed = pairs.copy()
    trimmed[:, 2], trimmed[:, 3] = stops - counts, stops
    return trimmed[counts > 0], parameters[kept]


def _list_drives(unknowns: LinkUnknowns, place: dict[int, int], source: Source) -> IntArray:
    """Kind, joint, channel and unknown (D, 4) of the signals of rotors, friction and offsets in this order."""
    base = 6 if source.has_base_wrench else 0
    parts = (
        (ROTOR, unknowns.rotor_inertia, base),
        (VISCOUS, unknowns.viscous, base),
        (COULOMB, unknowns.coulomb, base),
        (CONSTANT, unknowns.offset, base),
        (CONSTANT, unknowns.base_offset, 0),
    )
    listed = [
        (kind, index - part.start, first + index - part.start, place[index])
        for kind, part, first in parts
        for index in range(part.start, part.stop)
        if index in place
    ]
    return np.array(listed, dtype=np.int64).reshape(-1, 4)


def _list_bumps(joints: int, base: int, first: int) -> IntArray:
    """Kind, joint, channel and unknown (3 n, 4) of the signals of the shape of friction, joint by joint."""
    joint, bump = np.repeat(np.arange(joints), BUMPS), np.tile(np.arange(BUMPS), joints)
    return np.column_stack((BUMP + bump, joint, base + joint, first + np.arange(joints * BUMPS)))


def _list_drive_unknowns(drives: IntArray, joints: int) -> IntArray:
    """For each joint the unknowns (n, D) of its rotor and its friction, -1 where there are fewer."""
    moving = drives[drives[:, 0] != CONSTANT]
    own = [moving[moving[:, 1] == joint, 3] for joint in range(joints)]
    listed = np.full((joints, max(map(len, own), default=0)), -1, dtype=np.int64)
    for joint, unknowns in enumerate(own):
        listed[joint, : len(unknowns)] = unknowns
    return listed
