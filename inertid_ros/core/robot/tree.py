"""A tree of bodies as numbers in a row, and how its bodies move: the kinematics of every sample, compiled.

Bodies and motions are parts of one array of floats. What a kernel works with meanwhile are tuples, which stay in
registers: a pose (rotation row by row, then translation), a motion vector [v, w], a vector.

A body has the body it hangs on (-1 for the root), the kind of joint between the two, the three matrices that give its
rotation in the parent's frame as cos(q) A + sin(q) B + C, the place of its origin there and how that moves with q, and
the joint's screw [v, w] in its own axes. Bodies that are fixed to another (a sensor, a payload) come after those of the
joints. A motion has fifteen numbers: twist [v, w], gravity, and spatial acceleration, all in the body's own axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pinocchio as pin

from inertid_ros.core.compiled import inlined
from inertid_ros.core.records import FloatArray

REVOLUTE, PRISMATIC, FIXED = 0, 1, 2
"""Kinds of joints; a continuous joint is a revolute one."""

PARENT, KIND, COSINE, SINE, TURN, ORIGIN, SLIDE, SCREW = 0, 1, 2, 11, 20, 29, 32, 35
"""Where in a body its numbers are: parent, kind, A, B and C, origin and its change with q, screw."""
BODY, POSE, MOTION = 41, 12, 15
"""Numbers of a body, of its pose in its parent's frame (rotation, translation), and of its motion."""

Vector: TypeAlias = tuple[float, float, float]
Twist: TypeAlias = tuple[float, float, float, float, float, float]
Pose: TypeAlias = tuple[float, float, float, float, float, float, float, float, float, float, float, float]


def pack_tree(model: pin.Model, is_angle: Sequence[bool], fixed: Sequence[tuple[int, pin.SE3]] = ()) -> FloatArray:
    """Write a model with one coordinate for each joint as (B, 41).

    Joints beyond those of `is_angle`, whether each coordinate is an angle rather than a length, are left out. `fixed`
    are further bodies: the index of the joint that carries each (counted from 0, -1 for the root), and its pose.
    """
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    tree = np.zeros((len(is_angle) + len(fixed), BODY))
    for index, angular in enumerate(is_angle):
        # pinocchio returns (6,) instead of (6, 1) where there is one joint
        screw = pin.getJointJacobian(model, data, index + 1, pin.LOCAL).reshape(6, -1)[:, index]
        kind = REVOLUTE if angular else PRISMATIC
        _write_body(tree[index], model.parents[index + 1] - 1, kind, model.jointPlacements[index + 1], screw)
    for index, (parent, pose) in enumerate(fixed, start=len(is_angle)):
        _write_body(tree[index], parent, FIXED, pose, np.zeros(6))
    return tree


def _write_body(row: FloatArray, parent: int, kind: int, pose: pin.SE3, screw: FloatArray) -> None:
    """Write a body: a turn by q about a is cos(q) (1 - a a^T) + sin(q) [a x] + a a^T (Rodrigues)."""
    axis, rotation = screw[3:], pose.rotation
    row[PARENT], row[KIND] = parent, kind
    along = rotation if kind != REVOLUTE else rotation @ np.outer(axis, axis)
    row[COSINE:SINE], row[SINE:TURN] = (rotation - along).ravel(), (rotation @ pin.skew(axis)).ravel()
    row[TURN:ORIGIN], row[ORIGIN:SLIDE] = along.ravel(), pose.translation
    row[SLIDE:SCREW], row[SCREW:] = rotation @ screw[:3], screw


@inlined
def read_vector(x: FloatArray, place: int) -> Vector:
    """Three numbers."""
    return x[place], x[place + 1], x[place + 2]


@inlined
def write_vector(x: FloatArray, place: int, vector: Vector) -> None:
    """Write three numbers."""
    x[place], x[place + 1], x[place + 2] = vector


@inlined
def read_twist(x: FloatArray, place: int) -> Twist:
    """A motion vector [v, w]."""
    return x[place], x[place + 1], x[place + 2], x[place + 3], x[place + 4], x[place + 5]


@inlined
def write_twist(x: FloatArray, place: int, twist: Twist) -> None:
    """Write a motion vector."""
    x[place], x[place + 1], x[place + 2], x[place + 3], x[place + 4], x[place + 5] = twist


@inlined
def place_body(body: FloatArray, q: float) -> Pose:
    """Pose of a body in its parent's frame, for the coordinate q of its joint."""
    c = s = 0.0
    if body[KIND] == REVOLUTE:
        c, s = np.cos(q), np.sin(q)
    return (
        c * body[COSINE] + s * body[SINE] + body[TURN],
        c * body[COSINE + 1] + s * body[SINE + 1] + body[TURN + 1],
        c * body[COSINE + 2] + s * body[SINE + 2] + body[TURN + 2],
        c * body[COSINE + 3] + s * body[SINE + 3] + body[TURN + 3],
        c * body[COSINE + 4] + s * body[SINE + 4] + body[TURN + 4],
        c * body[COSINE + 5] + s * body[SINE + 5] + body[TURN + 5],
        c * body[COSINE + 6] + s * body[SINE + 6] + body[TURN + 6],
        c * body[COSINE + 7] + s * body[SINE + 7] + body[TURN + 7],
        c * body[COSINE + 8] + s * body[SINE + 8] + body[TURN + 8],
        body[ORIGIN] + q * body[SLIDE],
        body[ORIGIN + 1] + q * body[SLIDE + 1],
        body[ORIGIN + 2] + q * body[SLIDE + 2],
    )


@inlined
def turn_vector(pose: Pose, vector: Vector) -> Vector:
    """A vector of the parent's frame, in the axes of the child's: R^T u."""
    a, b, c, d, e, f, g, h, i, _, _, _ = pose
    ux, uy, uz = vector
    return a * ux + d * uy + g * uz, b * ux + e * uy + h * uz, c * ux + f * uy + i * uz


@inlined
def carry_twist(pose: Pose, twist: Twist) -> Twist:
    """A motion vector [v, w] of the parent's frame, seen in the child's: w' = R^T w, v' = R^T (v + w x p)."""
    vx, vy, vz, wx, wy, wz = twist
    _, _, _, _, _, _, _, _, _, px, py, pz = pose
    x, y, z = turn_vector(pose, (vx + wy * pz - wz * py, vy + wz * px - wx * pz, vz + wx * py - wy * px))
    r, s, t = turn_vector(pose, (wx, wy, wz))
    return x, y, z, r, s, t


@inlined
def cross_twists(moving: Twist, vector: Twist) -> Twist:
    """Rate of change of a motion vector b that moves along with a twist [v, w]: [w x b_v + v x b_w, w x b_w]."""
    vx, vy, vz, wx, wy, wz = moving
    ax, ay, az, bx, by, bz = vector
    return (
        wy * az - wz * ay + vy * bz - vz * by,
        wz * ax - wx * az + vz * bx - vx * bz,
        wx * ay - wy * ax + vx * by - vy * bx,
        wy * bz - wz * by,
        wz * bx - wx * bz,
        wx * by - wy * bx,
    )


@inlined
def add_scaled(vector: Twist, factor: float, other: Twist) -> Twist:
    """A motion vector plus a multiple of another."""
    a, b, c, d, e, f = vector
    u, v, w, x, y, z = other
    return a + factor * u, b + factor * v, c + factor * w, d + factor * x, e + factor * y, f + factor * z


@inlined
def move_body(
    body: FloatArray,
    pose: Pose,
    parent: FloatArray,
    rate: float,
    acceleration: float,
    is_whole: bool,
    motion: FloatArray,
) -> None:
    """Motion of a body from its parent's, V = X V_p + S v and A = X A_p + S a + V x S v.

    Its pose is that of `place_body`; rate v and acceleration a are the joint's. Accelerations are found if `is_whole`.
    """
    screw = read_twist(body, SCREW)
    twist = add_scaled(carry_twist(pose, read_twist(parent, 0)), rate, screw)
    gravity = turn_vector(pose, read_vector(parent, 6))
    write_twist(motion, 0, twist)
    write_vector(motion, 6, gravity)
    if is_whole:
        carried = add_scaled(carry_twist(pose, read_twist(parent, 9)), acceleration, screw)
        write_twist(motion, 9, add_scaled(carried, rate, cross_twists(twist, screw)))
