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

from typing import NamedTuple, TypeAlias

import numpy as np

from inertid_ros.core.compiled import compiled, inlined
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.robot.tree import (
    BODY,
    FIXED,
    KIND,
    MOTION,
    PARENT,
    SCREW,
    Pose,
    Twist,
    Vector,
    add_scaled,
    carry_twist,
    cross_twists,
    move_body,
    place_body,
    read_twist,
    read_vector,
    turn_vector,
    write_twist,
    write_vector,
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

TREE, GRAVITY, COULOMB_VELOCITY, BASE_SCREWS, MOTIONS, SCREWS, RATES, TEN, MORE = range(9, 18)
HORIZONTAL, MOMENTUM, REST, FLOATS_END = range(18, 22)
"""Where in the floats these begin: bodies, gravity in the root frame, the velocity below which Coulomb friction is
proportional to it, screws of the base sensor in the root frame, motions of the root and of all bodies, screws and their
rates of change in the axes of each body, twice ten numbers, a horizontal vector as long as gravity in the axes of the
root and of each body (for a load); and the signals of the newest sample."""

CARRIED, PAIR, PARAMETER, DRIVE, INTEGERS_END = range(22, 27)
"""Where in the integers these begin: whether a screw acts on a body; body, screw, first entry and the one after the
last of each pair; which of the ten parameters each entry belongs to; kind and joint of each signal of a drive."""

_HEADER = 27
"""Integers before the lists: sizes and places."""


Ten: TypeAlias = tuple[float, float, float, float, float, float, float, float, float, float]


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
        tree: (B, 41) the bodies.
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
    pairs_count, room = len(lists[1].reshape(-1, 4)), bodies * screws * 6
    sizes = joints, bodies, len(base_screws), screws, pairs_count, entries, len(kinds), momenta, signals
    motions, horizontals = MOTION * (bodies + 1), 3 * (bodies + 1)
    lengths = tree.size, 3, 1, base_screws.size, motions, room, room, 10, 10, horizontals, momenta, signals
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


@inlined
def move_bodies(x: FloatArray, at: IntArray, q: FloatArray, v: FloatArray, a: FloatArray, is_whole: bool) -> None:
    """Motions of all bodies, and for an arm the screws in their axes."""
    tree, root, joints, is_load = at[TREE], at[MOTIONS], at[JOINTS], at[SCREWED] == 0
    write_vector(x[root : root + MOTION], 6, read_vector(x[at[GRAVITY] :], 0))
    for index in range(at[BODIES]):
        body = x[tree + BODY * index :][:BODY]
        above = int(body[PARENT]) + 1
        parent, motion = x[root + MOTION * above :][:MOTION], x[root + MOTION * (index + 1) :][:MOTION]
        position = rate = acceleration = 0.0
        if index < joints:
            position, rate, acceleration = q[index], v[index], a[index]
        pose = place_body(body, position)
        move_body(body, pose, parent, rate, acceleration, is_whole, motion)
        if is_load:
            there, here = x[at[HORIZONTAL] + 3 * above :][:3], x[at[HORIZONTAL] + 3 * (index + 1) :][:3]
            write_vector(here, 0, turn_vector(pose, read_vector(there, 0)))
        else:
            carry_screws(x, at, body, motion, index, pose)


@inlined
def carry_screws(x: FloatArray, at: IntArray, body: FloatArray, motion: FloatArray, index: int, pose: Pose) -> None:
    """Screws and their rates in the axes of a body from those of its parent."""
    count, base, parent = at[SCREWED], at[BASE], int(body[PARENT])
    carried = at[at[CARRIED] + count * index :][:count]
    room = 6 * count
    screws, rates = x[at[SCREWS] + room * index :][:room], x[at[RATES] + room * index :][:room]
    above = max(parent, 0)
    upper_screws, upper_rates = x[at[SCREWS] + room * above :][:room], x[at[RATES] + room * above :][:room]
    if parent < 0:
        upper_screws = x[at[BASE_SCREWS] :][: 6 * base]
    own = base + index if body[KIND] != FIXED else -1
    for number in range(count):
        if carried[number] == 0:
            continue
        if number == own:
            screw = read_twist(body, SCREW)
            write_twist(screws, 6 * number, screw)
            write_twist(rates, 6 * number, cross_twists(read_twist(motion, 0), screw))
        else:
            write_twist(screws, 6 * number, carry_twist(pose, read_twist(upper_screws, 6 * number)))
            if number >= base:
                write_twist(rates, 6 * number, carry_twist(pose, read_twist(upper_rates, 6 * number)))


@inlined
def compute_load_signals(x: FloatArray, at: IntArray, is_whole: bool) -> None:
    """The signals of a load in the frame that is the last body."""
    motion, rest = x[at[MOTIONS] + MOTION * at[BODIES] :][:MOTION], x[at[REST] :][:LOAD_SIGNALS]
    twist, gravity = read_twist(motion, 0), read_vector(motion, 6)
    horizontal = read_vector(x[at[HORIZONTAL] + 3 * at[BODIES] :], 0)
    vx, vy, vz, wx, wy, wz = twist
    gx, gy, gz = gravity
    hx, hy, hz = horizontal
    size = max(np.sqrt(gx * gx + gy * gy + gz * gz), 1e-300)
    write_twist(x[at[MOMENTUM] :], 0, twist)
    write_twist(rest, 0, (wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx, 0.0, 0.0, 0.0))
    if is_whole:
        write_twist(rest, 0, add_scaled(read_twist(rest, 0), 1.0, read_twist(motion, 9)))
    write_twist(rest, 6, (wx * wx, wx * wy, wx * wz, wy * wy, wy * wz, wz * wz))
    rest[12] = 1.0
    write_vector(rest, 13, gravity)
    write_vector(rest, 16, horizontal)
    across = (gy * hz - gz * hy) / size, (gz * hx - gx * hz) / size, (gx * hy - gy * hx) / size
    write_vector(rest, 19, across)


@inlined
def project_momentum(screw: Twist, twist: Twist) -> Ten:
    """The ten numbers S . h([v, w])."""
    sx, sy, sz, tx, ty, tz = screw
    vx, vy, vz, wx, wy, wz = twist
    return (
        sx * vx + sy * vy + sz * vz,
        sy * wz - sz * wy + vy * tz - vz * ty,
        sz * wx - sx * wz + vz * tx - vx * tz,
        sx * wy - sy * wx + vx * ty - vy * tx,
        tx * wx,
        tx * wy + ty * wx,
        tx * wz + tz * wx,
        ty * wy,
        ty * wz + tz * wy,
        tz * wz,
    )


@inlined
def write_ten(x: FloatArray, ten: Ten) -> None:
    """Write ten numbers."""
    x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9] = ten


@inlined
def add_gravity(ten: FloatArray, screw: Twist, gravity: Vector) -> None:
    """Add S . h([g, 0]) to ten numbers."""
    sx, sy, sz, tx, ty, tz = screw
    gx, gy, gz = gravity
    ten[0] += sx * gx + sy * gy + sz * gz
    ten[1] += gy * tz - gz * ty
    ten[2] += gz * tx - gx * tz
    ten[3] += gx * ty - gy * tx


@inlined
def compute_arm_signals(x: FloatArray, at: IntArray, is_whole: bool) -> None:
    """Entries of the arm's inertial parameters, pair by pair of a screw and a body."""
    ten, more, count, base = x[at[TEN] :][:10], x[at[MORE] :][:10], at[SCREWED], at[BASE]
    momenta, rests, parameters = x[at[MOMENTUM] :], x[at[REST] :], at[at[PARAMETER] :]
    for index in range(at[PAIRS]):
        pair = at[at[PAIR] + 4 * index :][:4]
        body, number, start, stop = pair[0], pair[1], pair[2], pair[3]
        motion, here = x[at[MOTIONS] + MOTION * (body + 1) :][:MOTION], 6 * (count * body + number)
        screw, twist = read_twist(x[at[SCREWS] + here :], 0), read_twist(motion, 0)
        write_ten(ten, project_momentum(screw, twist))
        if is_whole:
            write_ten(more, project_momentum(cross_twists(twist, screw), twist))
        elif number >= base:
            write_ten(more, project_momentum(read_twist(x[at[RATES] + here :], 0), twist))
        else:
            more[:] = 0.0
        add_gravity(more, screw, read_vector(motion, 6))
        for entry in range(start, stop):
            parameter = parameters[entry]
            momenta[entry] = ten[parameter]
            rests[entry] = -more[parameter]
        if is_whole:
            write_ten(ten, project_momentum(screw, read_twist(motion, 9)))
            for entry in range(start, stop):
                rests[entry] += ten[parameters[entry]]


@inlined
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


@inlined
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
