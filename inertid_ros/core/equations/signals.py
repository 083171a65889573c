"""The signals of the equations of motion, compiled: momenta P and the rest R of every sample, without accelerations.

Every equation is y = d/dt (P x) + R x with sparse P and R. A signal s is one number that changes with the motion, and
d/dt P_s + R_s is what multiplies one or more unknowns; entries say which, in which channel and by which factor.

A load in the frame of its sensor (twist [v, w], gravity g, all in its own axes) has sixteen signals:

    acceleration (3): P = v, R = w x v     angular acceleration (3): P = w, R = 0
    w w^T (6), 1, gravity (3): R alone

For an arm, a signal is the entry of one unknown in one channel. With S the screw that a channel projects on, in the
axes of body i, D its rate of change in space carried there, V_i the body's twist and g gravity there,

    P = S . h(V_i),     R = -D . h(V_i) - S . h([g, 0])

where S . h(V) are the ten numbers that give the projected momentum when multiplied with the body's parameters:

    m: s_v . v;   mc: s_v x w + v x s_w;   I: s_w^T (dI) w

For a joint's effort S is the joint's own screw, V_j x S_j its rate. A base sensor has the six unit screws of its frame,
which do not move. With accelerations, R is replaced by all of d/dt P + R.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.robot.tree import (
    FIXED,
    MOTION,
    POSE,
    REVOLUTE,
    carry_twist,
    cross_twists,
    move_body,
    place_body,
)

LOAD_MOMENTA, LOAD_SIGNALS = 6, 16
"""Signals of a load with a momentum, and all of them."""

ROTOR, VISCOUS, COULOMB, CONSTANT = 0, 1, 2, 3
"""Kinds of the signals of a drive: rotor inertia, viscous and Coulomb friction, and a constant offset."""


class SignalArrays(NamedTuple):
    """What the kernels know of an equation, and where they compute; arrays, so that a call passes few things.

    Attributes:
        tree: (B, 17) the bodies.
        gravity: (3,) in the root frame.
        coulomb_velocity: (1,) below this velocity Coulomb friction is proportional to it.
        base_screws: (6 or 0, 6) the base sensor's unit screws in the root frame.
        carried: (B, C) whether a channel's screw acts on a body: it is the base's, or a joint's that moves the body.
        pairs: (Q, 4) body, screw, first and last entry but one of each pair that has entries; by body.
        parameters: (E,) which of the ten parameters each inertial entry belongs to.
        drives: (D, 2) kind and joint of the signals after the inertial ones.
        motions, pose, screws, rates, numbers: where bodies' motions, a pose, screws and their rates, and ten numbers
            are computed. A load has no pairs.
    """

    tree: FloatArray
    gravity: FloatArray
    coulomb_velocity: FloatArray
    base_screws: FloatArray
    carried: IntArray
    pairs: IntArray
    parameters: IntArray
    drives: IntArray
    motions: FloatArray
    pose: FloatArray
    screws: FloatArray
    rates: FloatArray
    numbers: FloatArray


def make_signal_arrays(
    tree: FloatArray,
    gravity: FloatArray,
    base_screws: FloatArray | None = None,
    carried: IntArray | None = None,
    pairs: IntArray | None = None,
    parameters: IntArray | None = None,
    drives: IntArray | None = None,
    coulomb_velocity: float = 1.0,
) -> SignalArrays:
    """Put the arrays of an equation together, with room to compute in; by default those of a load."""
    bodies = len(tree)
    carried = np.zeros((bodies, 1), dtype=np.int64) if carried is None else carried
    channels = carried.shape[1]
    return SignalArrays(
        tree=np.ascontiguousarray(tree),
        gravity=np.array(gravity, dtype=np.float64),
        coulomb_velocity=np.array([coulomb_velocity]),
        base_screws=np.empty((0, 6)) if base_screws is None else np.ascontiguousarray(base_screws),
        carried=np.ascontiguousarray(carried),
        pairs=np.empty((0, 4), dtype=np.int64) if pairs is None else np.ascontiguousarray(pairs),
        parameters=np.empty(0, dtype=np.int64) if parameters is None else np.ascontiguousarray(parameters),
        drives=np.empty((0, 2), dtype=np.int64) if drives is None else np.ascontiguousarray(drives),
        motions=np.zeros((bodies + 1, MOTION)),
        pose=np.zeros(POSE),
        screws=np.zeros((bodies, channels, 6)),
        rates=np.zeros((bodies, channels, 6)),
        numbers=np.zeros((2, 10)),
    )


@compiled
def compute_signals(
    arrays: SignalArrays,
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
    with_accelerations: bool,
    momentum: FloatArray,
    rest: FloatArray,
) -> None:
    """Lay down P (those signals that have a momentum) and R (all) at joint positions q, velocities v.

    With accelerations a, R becomes d/dt P + R.
    """
    if len(arrays.pairs) == 0 and len(arrays.drives) == 0:
        compute_load_signals(arrays, q, v, a, with_accelerations, momentum, rest)
    else:
        compute_arm_signals(arrays, q, v, a, with_accelerations, momentum, rest)


@compiled
def compute_load_signals(
    arrays: SignalArrays,
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
    with_accelerations: bool,
    momentum: FloatArray,
    rest: FloatArray,
) -> None:
    """The sixteen signals of a load in the frame that is the last body."""
    motions = arrays.motions
    motions[0, :] = 0.0
    for i in range(3):
        motions[0, 6 + i] = arrays.gravity[i]
    for body in range(len(arrays.tree)):
        row = arrays.tree[body]
        if row[1] == FIXED:
            place_body(row, 0.0, arrays.pose)
            move_body(row, arrays.pose, motions[body], 0.0, 0.0, motions[body + 1])
        else:
            place_body(row, q[body], arrays.pose)
            move_body(row, arrays.pose, motions[body], v[body], a[body], motions[body + 1])
    motion = motions[len(arrays.tree)]
    vx, vy, vz, wx, wy, wz = motion[0], motion[1], motion[2], motion[3], motion[4], motion[5]
    for i in range(6):
        momentum[i] = motion[i]
    rest[0], rest[1], rest[2] = wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx
    rest[3] = rest[4] = rest[5] = 0.0
    if with_accelerations:
        for i in range(6):
            rest[i] += motion[9 + i]
    rest[6], rest[7], rest[8], rest[9], rest[10], rest[11] = wx * wx, wx * wy, wx * wz, wy * wy, wy * wz, wz * wz
    rest[12] = 1.0
    rest[13], rest[14], rest[15] = motion[6], motion[7], motion[8]


@compiled
def project_momentum(screw: FloatArray, v: FloatArray, w: FloatArray, numbers: FloatArray) -> None:
    """The ten numbers S . h([v, w])."""
    sx, sy, sz, tx, ty, tz = screw[0], screw[1], screw[2], screw[3], screw[4], screw[5]
    vx, vy, vz, wx, wy, wz = v[0], v[1], v[2], w[0], w[1], w[2]
    numbers[0] = sx * vx + sy * vy + sz * vz
    numbers[1] = sy * wz - sz * wy + vy * tz - vz * ty
    numbers[2] = sz * wx - sx * wz + vz * tx - vx * tz
    numbers[3] = sx * wy - sy * wx + vx * ty - vy * tx
    numbers[4] = tx * wx
    numbers[5] = tx * wy + ty * wx
    numbers[6] = tx * wz + tz * wx
    numbers[7] = ty * wy
    numbers[8] = ty * wz + tz * wy
    numbers[9] = tz * wz


@compiled
def carry_screws(arrays: SignalArrays, body: int) -> None:
    """Screws and their rates in the axes of a body, whose pose is laid down, from those of its parent."""
    parent, base = int(arrays.tree[body, 0]), len(arrays.base_screws)
    for channel in range(arrays.carried.shape[1]):
        if arrays.carried[body, channel] == 0:
            continue
        screw, rate = arrays.screws[body, channel], arrays.rates[body, channel]
        if channel == base + body and arrays.tree[body, 1] != FIXED:
            first = 3 if arrays.tree[body, 1] == REVOLUTE else 0
            screw[:] = 0.0
            for i in range(3):
                screw[first + i] = arrays.tree[body, 14 + i]
            cross_twists(arrays.motions[body + 1], screw, rate)
        elif parent < 0:
            carry_twist(arrays.pose, arrays.base_screws[channel], screw)
        else:
            carry_twist(arrays.pose, arrays.screws[parent, channel], screw)
            if channel >= base:
                carry_twist(arrays.pose, arrays.rates[parent, channel], rate)


@compiled
def compute_arm_signals(
    arrays: SignalArrays,
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
    with_accelerations: bool,
    momentum: FloatArray,
    rest: FloatArray,
) -> None:
    """Entries of the arm's inertial parameters, then those of its drives."""
    motions, numbers = arrays.motions, arrays.numbers
    motions[0, :] = 0.0
    for i in range(3):
        motions[0, 6 + i] = arrays.gravity[i]
    for body in range(len(arrays.tree)):
        row = arrays.tree[body]
        parent = motions[int(row[0]) + 1]
        if row[1] == FIXED:
            place_body(row, 0.0, arrays.pose)
            move_body(row, arrays.pose, parent, 0.0, 0.0, motions[body + 1])
        else:
            place_body(row, q[body], arrays.pose)
            move_body(row, arrays.pose, parent, v[body], a[body], motions[body + 1])
        carry_screws(arrays, body)
    base = len(arrays.base_screws)
    rate = np.zeros(6)
    for pair in range(len(arrays.pairs)):
        body, channel = arrays.pairs[pair, 0], arrays.pairs[pair, 1]
        motion, screw = motions[body + 1], arrays.screws[body, channel]
        linear, angular, gravity = motion[0:3], motion[3:6], motion[6:9]
        start, stop = arrays.pairs[pair, 2], arrays.pairs[pair, 3]
        project_momentum(screw, linear, angular, numbers[0])
        for entry in range(start, stop):
            momentum[entry] = numbers[0, arrays.parameters[entry]]
        if with_accelerations:
            proper = motion[9:12] - gravity
            project_momentum(screw, proper, motion[12:15], numbers[0])
            cross_twists(motion, screw, rate)
            project_momentum(rate, linear, angular, numbers[1])
            for entry in range(start, stop):
                k = arrays.parameters[entry]
                rest[entry] = numbers[0, k] - numbers[1, k]
            continue
        tx, ty, tz = screw[3], screw[4], screw[5]
        gx, gy, gz = gravity[0], gravity[1], gravity[2]
        if channel >= base:
            project_momentum(arrays.rates[body, channel], linear, angular, numbers[1])
        else:
            numbers[1, :] = 0.0
        numbers[1, 0] += screw[0] * gx + screw[1] * gy + screw[2] * gz
        numbers[1, 1] += gy * tz - gz * ty
        numbers[1, 2] += gz * tx - gx * tz
        numbers[1, 3] += gx * ty - gy * tx
        for entry in range(start, stop):
            rest[entry] = -numbers[1, arrays.parameters[entry]]
    compute_drive_signals(arrays, v, a, with_accelerations, momentum, rest)


@compiled
def compute_drive_signals(
    arrays: SignalArrays,
    v: FloatArray,
    a: FloatArray,
    with_accelerations: bool,
    momentum: FloatArray,
    rest: FloatArray,
) -> None:
    """Signals of rotors, friction and offsets, after the inertial ones."""
    first = len(arrays.parameters)
    for index in range(len(arrays.drives)):
        kind, joint = arrays.drives[index, 0], arrays.drives[index, 1]
        if kind == ROTOR:
            momentum[first + index] = v[joint]
            rest[first + index] = a[joint] if with_accelerations else 0.0
        elif kind == VISCOUS:
            rest[first + index] = v[joint]
        elif kind == COULOMB:
            rest[first + index] = min(max(v[joint] / arrays.coulomb_velocity[0], -1.0), 1.0)
        else:
            rest[first + index] = 1.0


@compiled
def compute_signals_of_all(
    arrays: SignalArrays, q: FloatArray, v: FloatArray, a: FloatArray, momenta: int, result: FloatArray
) -> None:
    """All of d/dt P + R of many samples, (N, n) each, into (N, S)."""
    momentum = np.zeros(momenta)
    for k in range(len(q)):
        compute_signals(arrays, q[k], v[k], a[k], True, momentum, result[k])
