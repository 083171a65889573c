"""A tree of bodies as numbers in a row, and how its bodies move: the kinematics of every sample, compiled.

Kernels work on one array of floats; every argument named after something is the place in it where that begins. Small
arrays of their own would cost more to pass on than to compute.

Each body has seventeen numbers: the body it hangs on (-1 for the root), the kind of joint between the two, the pose of
the joint in the parent's frame (rotation, row by row, then translation) and the joint's axis. Bodies that are fixed to
another (a sensor, a payload) come after those of the joints. A motion has fifteen: twist [v, w], gravity, and spatial
acceleration, all in the body's own axes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from inertid_ros.core.compiled import compiled
from inertid_ros.core.records import FloatArray

REVOLUTE, PRISMATIC, FIXED = 0, 1, 2
"""Kinds of joints; a continuous joint is a revolute one."""

BODY, POSE, MOTION = 17, 12, 15
"""Numbers of a body, of its pose in its parent's frame (rotation, translation), and of its motion."""


def pack_tree(model: pin.Model, is_angle: Sequence[bool], fixed: Sequence[tuple[int, pin.SE3]] = ()) -> FloatArray:
    """Write a model with one coordinate for each joint as (B, 17).

    Joints beyond those of `is_angle`, whether each coordinate is an angle rather than a length, are left out. `fixed`
    are further bodies: the index of the joint that carries each (counted from 0, -1 for the root), and its pose.
    """
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    tree = np.zeros((len(is_angle) + len(fixed), BODY))
    for index, angular in enumerate(is_angle):
        # pinocchio returns (6,) instead of (6, 1) where there is one joint
        column = pin.getJointJacobian(model, data, index + 1, pin.LOCAL).reshape(6, -1)[:, index]
        axis = column[3:] if angular else column[:3]
        kind = REVOLUTE if angular else PRISMATIC
        _write_body(tree[index], model.parents[index + 1] - 1, kind, model.jointPlacements[index + 1], axis)
    for index, (parent, pose) in enumerate(fixed, start=len(is_angle)):
        _write_body(tree[index], parent, FIXED, pose, np.zeros(3))
    return tree


def _write_body(row: FloatArray, parent: int, kind: int, pose: pin.SE3, axis: FloatArray) -> None:
    row[0], row[1] = parent, kind
    row[2:11], row[11:14], row[14:17] = pose.rotation.ravel(), pose.translation, axis


@compiled
def place_body(x: FloatArray, body: int, q: float, pose: int) -> None:
    """Pose of a body in its parent's frame, for the coordinate q of its joint."""
    kind = x[body + 1]
    if kind == REVOLUTE:
        ax, ay, az = x[body + 14], x[body + 15], x[body + 16]
        c, s = np.cos(q), np.sin(q)
        d = 1.0 - c
        r00, r01, r02 = c + d * ax * ax, d * ax * ay - s * az, d * ax * az + s * ay
        r10, r11, r12 = d * ax * ay + s * az, c + d * ay * ay, d * ay * az - s * ax
        r20, r21, r22 = d * ax * az - s * ay, d * ay * az + s * ax, c + d * az * az
        for i in range(3):
            a, b, e = x[body + 2 + 3 * i], x[body + 3 + 3 * i], x[body + 4 + 3 * i]
            x[pose + 3 * i] = a * r00 + b * r10 + e * r20
            x[pose + 3 * i + 1] = a * r01 + b * r11 + e * r21
            x[pose + 3 * i + 2] = a * r02 + b * r12 + e * r22
    else:
        for i in range(9):
            x[pose + i] = x[body + 2 + i]
    for i in range(3):
        x[pose + 9 + i] = x[body + 11 + i]
        if kind == PRISMATIC:
            a, b, e = x[body + 2 + 3 * i], x[body + 3 + 3 * i], x[body + 4 + 3 * i]
            x[pose + 9 + i] += q * (a * x[body + 14] + b * x[body + 15] + e * x[body + 16])


@compiled
def carry_twist(x: FloatArray, pose: int, twist: int, result: int) -> None:
    """A motion vector [v, w] of the parent's frame, seen in the child's: w' = R^T w, v' = R^T (v + w x p)."""
    wx, wy, wz = x[twist + 3], x[twist + 4], x[twist + 5]
    px, py, pz = x[pose + 9], x[pose + 10], x[pose + 11]
    vx = x[twist] + wy * pz - wz * py
    vy = x[twist + 1] + wz * px - wx * pz
    vz = x[twist + 2] + wx * py - wy * px
    for i in range(3):
        a, b, c = x[pose + i], x[pose + 3 + i], x[pose + 6 + i]
        x[result + i] = a * vx + b * vy + c * vz
        x[result + 3 + i] = a * wx + b * wy + c * wz


@compiled
def cross_twists(x: FloatArray, moving: int, vector: int, result: int) -> None:
    """Rate of change of a motion vector b that moves along with a twist [v, w]: [w x b_v + v x b_w, w x b_w]."""
    vx, vy, vz = x[moving], x[moving + 1], x[moving + 2]
    wx, wy, wz = x[moving + 3], x[moving + 4], x[moving + 5]
    ax, ay, az = x[vector], x[vector + 1], x[vector + 2]
    bx, by, bz = x[vector + 3], x[vector + 4], x[vector + 5]
    x[result] = wy * az - wz * ay + vy * bz - vz * by
    x[result + 1] = wz * ax - wx * az + vz * bx - vx * bz
    x[result + 2] = wx * ay - wy * ax + vx * by - vy * bx
    x[result + 3] = wy * bz - wz * by
    x[result + 4] = wz * bx - wx * bz
    x[result + 5] = wx * by - wy * bx


@compiled
def move_body(
    x: FloatArray, body: int, pose: int, parent: int, rate: float, acceleration: float, is_whole: bool, motion: int
) -> None:
    """Motion of a body from its parent's, V = X V_p + S v and A = X A_p + S a + V x S v.

    Its pose is that of `place_body`; rate v and acceleration a are the joint's. Accelerations are found if `is_whole`.
    """
    carry_twist(x, pose, parent, motion)
    gx, gy, gz = x[parent + 6], x[parent + 7], x[parent + 8]
    for i in range(3):
        x[motion + 6 + i] = x[pose + i] * gx + x[pose + 3 + i] * gy + x[pose + 6 + i] * gz
    kind = x[body + 1]
    ax, ay, az = x[body + 14], x[body + 15], x[body + 16]
    first = motion + 3 if kind == REVOLUTE else motion
    if kind != FIXED:
        x[first] += ax * rate
        x[first + 1] += ay * rate
        x[first + 2] += az * rate
    if not is_whole:
        return
    carry_twist(x, pose, parent + 9, motion + 9)
    if kind == FIXED:
        return
    x[first + 9] += ax * acceleration
    x[first + 10] += ay * acceleration
    x[first + 11] += az * acceleration
    ax, ay, az = ax * rate, ay * rate, az * rate
    if kind == PRISMATIC:
        wx, wy, wz = x[motion + 3], x[motion + 4], x[motion + 5]
        x[motion + 9] += wy * az - wz * ay
        x[motion + 10] += wz * ax - wx * az
        x[motion + 11] += wx * ay - wy * ax
        return
    for i in range(2):
        ux, uy, uz = x[motion + 3 * i], x[motion + 3 * i + 1], x[motion + 3 * i + 2]
        x[motion + 9 + 3 * i] += uy * az - uz * ay
        x[motion + 10 + 3 * i] += uz * ax - ux * az
        x[motion + 11 + 3 * i] += ux * ay - uy * ax
