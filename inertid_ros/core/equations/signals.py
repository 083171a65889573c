"""The signals of the equations of motion, compiled: momenta P and the rest R of every sample, without accelerations.

Every equation is y = d/dt (P x) + R x with sparse P and R. A signal s is one number that changes with the motion, and
d/dt P_s + R_s is what multiplies one or more unknowns; entries say which, in which channel and by which factor.

A load in the frame of its sensor (twist [v, w], gravity g, all in its own axes) has 22 signals:

    acceleration (3): P = v, R = w x v     angular acceleration (3): P = w, R = 0
    w w^T (6), 1, gravity (3), its change if the base is tilted about two horizontal axes, per radian (6): R alone

For an arm, a signal is the entry of one unknown in one channel. With S the screw that a channel projects on, in the
axes of body i, D its rate of change in space carried there, V_i the body's twist and g gravity there,

    P = S . h(V_i),     R = -D . h(V_i) - S . h([g, 0])

where S . h(V) are the ten numbers that give the projected momentum when multiplied with the body's parameters:

    m: s_v . v;   mc: s_v x w + v x s_w;   I: s_w^T (dI) w

For a joint's effort S is the joint's own screw, V_j x S_j its rate. A base sensor has the six unit screws of its frame,
which do not move. With accelerations, R is replaced by all of d/dt P + R.

What the kernels know of an equation, and where they compute, is one array of floats x and one of integers; the integers
begin with sizes and with the places where everything begins (see `tree.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.robot.tree import (
    BODY,
    FIXED,
    MOTION,
    POSE,
    REVOLUTE,
    carry_twist,
    cross_twists,
    move_body,
    place_body,
)

LOAD_MOMENTA, LOAD_SIGNALS = 6, 22
"""Signals of a load with a momentum, and all of them."""

ROTOR, VISCOUS, COULOMB, CONSTANT, BUMP = 0, 1, 2, 3, 4
"""Kinds of the signals of a drive: rotor inertia, viscous and Coulomb friction, a constant offset, and from BUMP on how
friction may differ from that at low velocity."""
BUMPS = 4
"""Bumps of friction: b is the difference of two Coulomb frictions, linear up to KNEES[b] and KNEES[b + 1]."""
KNEES = (0.25, 1.0, 2.5, 5.0, 10.0)
"""Velocities of these knees, as multiples of the velocity below which Coulomb friction is proportional to it: up to
0.2 rad/s with the default, where Stribeck friction of harmonic drives has died out."""

JOINTS, BODIES, BASE, SCREWED, PAIRS, INERTIAL, DRIVES, MOMENTA, SIGNALS = range(9)
"""Sizes, at the beginning of the integers: joints, bodies, screws of the base sensor (6 or 0), screws (0 for a load),
pairs of a screw and a body, entries of inertial parameters, signals of drives, signals with a momentum, all signals."""

TREE, GRAVITY, COULOMB_VELOCITY, BASE_SCREWS, MOTIONS, PLACED, SCREWS, RATES, TEN, MORE, RATE = range(9, 20)
HORIZONTAL, MOMENTUM, REST, FLOATS_END = range(20, 24)
"""Where in the floats these begin: bodies, gravity in the root frame, the velocity below which Coulomb friction is
proportional to it, screws of the base sensor in the root frame, motions of the root and of all bodies, a pose, screws
and their rates of change in the axes of each body, twice ten numbers, a rate, a horizontal vector as long as gravity in
the axes of the root and of each body (for a load); and the signals of the newest sample."""

CARRIED, PAIR, PARAMETER, DRIVE, INTEGERS_END = range(24, 29)
"""Where in the integers these begin: whether a screw acts on a body; body, screw, first entry and the one after the
last of each pair; which of the ten parameters each entry belongs to; kind and joint of each signal of a drive."""

_HEADER = 29
"""Integers before the lists: sizes and places."""


class SignalMemory(NamedTuple):
    """Floats and integers of an equation."""

    floats: FloatArray
    integers: IntArray


def make_signal_memory(
    tree: FloatArray,
    joints: int,
    gravity: FloatArray,
    base_screws: FloatArray | None = None,
    carried: IntArray | None = None,
    pairs: IntArray | None = None,
    parameters: IntArray | None = None,
    drives: IntArray | None = None,
    coulomb_velocity: float = 1.0,
) -> SignalMemory:
    """Lay an equation down; by default that of a load in the frame that is the last body.

    Args:
        tree: (B, 17) the bodies.
        joints: how many of them are moved by joints.
        gravity: (3,) in the root frame.
        base_screws: (6, 6) the base sensor's unit screws in the root frame, if it is used.
        carried: (B, C) whether a screw acts on a body: it is the base's, or a joint's that moves the body.
        pairs: (Q, 4) body, screw, first entry and the one after the last of each pair that has entries.
        parameters: (E,) which of the ten parameters each inertial entry belongs to.
        drives: (D, 2) kind and joint of the signals after the inertial ones.
        coulomb_velocity: below this velocity Coulomb friction is proportional to it.
    """
    no_integers = np.empty((0, 0), dtype=np.int64)
    base_screws = np.empty((0, 6)) if base_screws is None else base_screws
    carried = no_integers if carried is None else carried
    lists = [carried, *(no_integers if one is None else one for one in (pairs, parameters, drives))]
    entries, kinds = lists[2].size, lists[3].reshape(-1, 2)
    momenta = entries + int((kinds[:, 0] == ROTOR).sum()) if carried.size else LOAD_MOMENTA
    signals = entries + len(kinds) if carried.size else LOAD_SIGNALS
    bodies, screws = len(tree), carried.shape[1]
    sizes = (
        joints,
        bodies,
        len(base_screws),
        screws,
        len(lists[1].reshape(-1, 4)),
        entries,
        len(kinds),
        momenta,
        signals,
    )
    room = len(tree) * screws * 6
    lengths = (
        tree.size,
        3,
        1,
        base_screws.size,
        (bodies + 1) * MOTION,
        POSE,
        room,
        room,
        10,
        10,
        6,
        3 * (bodies + 1),
        momenta,
        signals,
    )
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    starts = _HEADER + np.concatenate(([0], np.cumsum([one.size for one in lists])))
    integers = np.concatenate((sizes, offsets, starts, *(one.ravel() for one in lists))).astype(np.int64)
    floats = np.zeros(int(offsets[-1]))
    for place, values in (
        (TREE, tree),
        (GRAVITY, gravity),
        (COULOMB_VELOCITY, np.array([coulomb_velocity])),
        (BASE_SCREWS, base_screws),
        (HORIZONTAL, find_horizontal(gravity)),
    ):
        floats[integers[place] : integers[place] + np.size(values)] = np.ravel(values)
    return SignalMemory(floats, integers)


def find_horizontal(gravity: FloatArray) -> FloatArray:
    """A vector (3,) across gravity and as long; zero without gravity."""
    across = np.cross(gravity, np.eye(3)[np.argmin(np.abs(gravity))])
    length = np.linalg.norm(across)
    return np.asarray(across * np.linalg.norm(gravity) / length if length > 0.0 else across)


@compiled
def compute_signals(x: FloatArray, at: IntArray, q: FloatArray, v: FloatArray, a: FloatArray, is_whole: bool) -> None:
    """Lay down P (of those signals that have a momentum) and R (of all) at joint positions q, velocities v.

    If it is to be whole, R becomes d/dt P + R with accelerations a.
    """
    move_bodies(x, at, q, v, a, is_whole)
    if at[SCREWED] == 0:
        compute_load_signals(x, at, is_whole)
    else:
        compute_arm_signals(x, at, is_whole)
        compute_drive_signals(x, at, v, a, is_whole)


@compiled
def move_bodies(x: FloatArray, at: IntArray, q: FloatArray, v: FloatArray, a: FloatArray, is_whole: bool) -> None:
    """Motions of all bodies, and for an arm the screws in their axes."""
    root, pose, gravity = at[MOTIONS], at[PLACED], at[GRAVITY]
    for i in range(3):
        x[root + 6 + i] = x[gravity + i]
    for index in range(at[BODIES]):
        body, motion = at[TREE] + BODY * index, root + MOTION * (index + 1)
        parent = root + MOTION * (int(x[body]) + 1)
        if index < at[JOINTS]:
            place_body(x, body, q[index], pose)
            move_body(x, body, pose, parent, v[index], a[index], is_whole, motion)
        else:
            place_body(x, body, 0.0, pose)
            move_body(x, body, pose, parent, 0.0, 0.0, is_whole, motion)
        if at[SCREWED] > 0:
            carry_screws(x, at, index)
        else:
            there, here = at[HORIZONTAL] + 3 * (int(x[body]) + 1), at[HORIZONTAL] + 3 * (index + 1)
            hx, hy, hz = x[there], x[there + 1], x[there + 2]
            for i in range(3):
                x[here + i] = x[pose + i] * hx + x[pose + 3 + i] * hy + x[pose + 6 + i] * hz


@compiled
def carry_screws(x: FloatArray, at: IntArray, index: int) -> None:
    """Screws and their rates in the axes of a body, whose pose is laid down, from those of its parent."""
    body, pose, count, base = at[TREE] + BODY * index, at[PLACED], at[SCREWED], at[BASE]
    parent, kind = int(x[body]), x[body + 1]
    for number in range(count):
        if at[at[CARRIED] + count * index + number] == 0:
            continue
        here = 6 * (count * index + number)
        there = 6 * (count * parent + number)
        screw, rate = at[SCREWS] + here, at[RATES] + here
        if number == base + index and kind != FIXED:
            first = screw + 3 if kind == REVOLUTE else screw
            for i in range(6):
                x[screw + i] = 0.0
            for i in range(3):
                x[first + i] = x[body + 14 + i]
            cross_twists(x, at[MOTIONS] + MOTION * (index + 1), screw, rate)
        elif parent < 0:
            carry_twist(x, pose, at[BASE_SCREWS] + 6 * number, screw)
        else:
            carry_twist(x, pose, at[SCREWS] + there, screw)
            if number >= base:
                carry_twist(x, pose, at[RATES] + there, rate)


@compiled
def compute_load_signals(x: FloatArray, at: IntArray, is_whole: bool) -> None:
    """The signals of a load in the frame that is the last body."""
    motion, momentum, rest = at[MOTIONS] + MOTION * at[BODIES], at[MOMENTUM], at[REST]
    vx, vy, vz = x[motion], x[motion + 1], x[motion + 2]
    wx, wy, wz = x[motion + 3], x[motion + 4], x[motion + 5]
    for i in range(6):
        x[momentum + i] = x[motion + i]
    x[rest], x[rest + 1], x[rest + 2] = wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx
    x[rest + 3] = x[rest + 4] = x[rest + 5] = 0.0
    if is_whole:
        for i in range(6):
            x[rest + i] += x[motion + 9 + i]
    x[rest + 6], x[rest + 7], x[rest + 8] = wx * wx, wx * wy, wx * wz
    x[rest + 9], x[rest + 10], x[rest + 11] = wy * wy, wy * wz, wz * wz
    x[rest + 12] = 1.0
    for i in range(3):
        x[rest + 13 + i] = x[motion + 6 + i]
    gx, gy, gz = x[motion + 6], x[motion + 7], x[motion + 8]
    first = at[HORIZONTAL] + 3 * at[BODIES]
    hx, hy, hz = x[first], x[first + 1], x[first + 2]
    size = max(np.sqrt(gx * gx + gy * gy + gz * gz), 1e-300)
    x[rest + 16], x[rest + 17], x[rest + 18] = hx, hy, hz
    x[rest + 19], x[rest + 20], x[rest + 21] = (
        (gy * hz - gz * hy) / size,
        (gz * hx - gx * hz) / size,
        (gx * hy - gy * hx) / size,
    )


@compiled
def project_momentum(x: FloatArray, screw: int, linear: int, angular: int, ten: int) -> None:
    """The ten numbers S . h([v, w])."""
    sx, sy, sz, tx, ty, tz = x[screw], x[screw + 1], x[screw + 2], x[screw + 3], x[screw + 4], x[screw + 5]
    vx, vy, vz = x[linear], x[linear + 1], x[linear + 2]
    wx, wy, wz = x[angular], x[angular + 1], x[angular + 2]
    x[ten] = sx * vx + sy * vy + sz * vz
    x[ten + 1] = sy * wz - sz * wy + vy * tz - vz * ty
    x[ten + 2] = sz * wx - sx * wz + vz * tx - vx * tz
    x[ten + 3] = sx * wy - sy * wx + vx * ty - vy * tx
    x[ten + 4] = tx * wx
    x[ten + 5] = tx * wy + ty * wx
    x[ten + 6] = tx * wz + tz * wx
    x[ten + 7] = ty * wy
    x[ten + 8] = ty * wz + tz * wy
    x[ten + 9] = tz * wz


@compiled
def add_gravity(x: FloatArray, screw: int, gravity: int, ten: int) -> None:
    """Add S . h([g, 0]) to ten numbers."""
    tx, ty, tz = x[screw + 3], x[screw + 4], x[screw + 5]
    gx, gy, gz = x[gravity], x[gravity + 1], x[gravity + 2]
    x[ten] += x[screw] * gx + x[screw + 1] * gy + x[screw + 2] * gz
    x[ten + 1] += gy * tz - gz * ty
    x[ten + 2] += gz * tx - gx * tz
    x[ten + 3] += gx * ty - gy * tx


@compiled
def compute_arm_signals(x: FloatArray, at: IntArray, is_whole: bool) -> None:
    """Entries of the arm's inertial parameters, pair by pair of a screw and a body."""
    ten, more, momentum, rest = at[TEN], at[MORE], at[MOMENTUM], at[REST]
    for index in range(at[PAIRS]):
        pair = at[PAIR] + 4 * index
        body, number, start, stop = at[pair], at[pair + 1], at[pair + 2], at[pair + 3]
        motion = at[MOTIONS] + MOTION * (body + 1)
        here = 6 * (at[SCREWED] * body + number)
        screw = at[SCREWS] + here
        project_momentum(x, screw, motion, motion + 3, ten)
        if is_whole:
            cross_twists(x, motion, screw, at[RATE])
            project_momentum(x, at[RATE], motion, motion + 3, more)
        elif number >= at[BASE]:
            project_momentum(x, at[RATES] + here, motion, motion + 3, more)
        else:
            for i in range(10):
                x[more + i] = 0.0
        add_gravity(x, screw, motion + 6, more)
        for entry in range(start, stop):
            parameter = at[at[PARAMETER] + entry]
            x[momentum + entry] = x[ten + parameter]
            x[rest + entry] = -x[more + parameter]
        if is_whole:
            project_momentum(x, screw, motion + 9, motion + 12, ten)
            for entry in range(start, stop):
                x[rest + entry] += x[ten + at[at[PARAMETER] + entry]]


@compiled
def compute_drive_signals(x: FloatArray, at: IntArray, v: FloatArray, a: FloatArray, is_whole: bool) -> None:
    """Signals of rotors, friction and offsets, after the inertial ones."""
    knee, drives, inertial = x[at[COULOMB_VELOCITY]], at[DRIVE], at[INERTIAL]
    momenta, rests = at[MOMENTUM] + inertial, at[REST] + inertial
    for index in range(at[DRIVES]):
        kind, joint, rest = at[drives + 2 * index], at[drives + 2 * index + 1], rests + index
        if kind == ROTOR:
            x[momenta + index] = v[joint]
            x[rest] = a[joint] if is_whole else 0.0
        elif kind == VISCOUS:
            x[rest] = v[joint]
        elif kind == COULOMB:
            x[rest] = saturate(v[joint], knee)
        elif kind == CONSTANT:
            x[rest] = 1.0
        elif abs(v[joint]) >= KNEES[BUMPS] * knee:
            x[rest] = 0.0
        else:
            x[rest] = saturate(v[joint], KNEES[kind - BUMP] * knee) - saturate(v[joint], KNEES[kind - BUMP + 1] * knee)


@compiled
def saturate(velocity: float, knee: float) -> float:
    """Linear up to a knee, where it is 1."""
    return min(max(velocity / knee, -1.0), 1.0)


@compiled
def compute_whole_signals(
    x: FloatArray, at: IntArray, q: FloatArray, v: FloatArray, a: FloatArray, result: FloatArray
) -> None:
    """All of d/dt P + R of many samples, (N, n) each, into (N, S)."""
    for k in range(len(q)):
        compute_signals(x, at, q[k], v[k], a[k], True)
        for index in range(at[SIGNALS]):
            result[k, index] = x[at[REST] + index]
