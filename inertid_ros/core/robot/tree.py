"""A tree of bodies as one array, and how its bodies move: the kinematics of every sample, compiled.

Each row is a body: the body it hangs on (-1 for the root), the kind of joint between the two, the pose of the joint in
the parent's frame (rotation, row by row, then translation) and the joint's axis. Bodies that are fixed to another (a
sensor, a payload) have rows of their own after those of the joints.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from inertid_ros.core.compiled import compiled
from inertid_ros.core.records import FloatArray

REVOLUTE, PRISMATIC, FIXED = 0, 1, 2
"""Kinds of joints; a continuous joint is a revolute one."""

TREE_COLUMNS = 17
"""Parent, kind, rotation (9), translation (3), axis (3)."""

POSE = 12
"""Numbers of a body's pose in its parent's frame: rotation (9), translation (3)."""

MOTION = 15
"""Numbers of a body's motion in its own axes: twist [v, w] (6), gravity (3), spatial acceleration (6)."""


def pack_tree(model: pin.Model, is_angle: Sequence[bool], fixed: Sequence[tuple[int, pin.SE3]] = ()) -> FloatArray:
    """Write a model with one coordinate for each joint as (B, 17).

    Args:
        model: the model; joints beyond those of `is_angle` are left out.
        is_angle: for each joint, in order, whether its coordinate is an angle rather than a length.
        fixed: further bodies: the index of the joint that carries each (counted from 0, -1 for the root), and its pose.
    """
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    tree = np.zeros((len(is_angle) + len(fixed), TREE_COLUMNS))
    for index, angular in enumerate(is_angle):
        jacobian = np.reshape(pin.getJointJacobian(model, data, index + 1, pin.LOCAL), (6, -1))  # one joint: a vector
        column = jacobian[:, index]
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
def place_body(body: FloatArray, q: float, pose: FloatArray) -> None:
    """Pose (12,) of a body (a row of the tree) in its parent's frame, for the coordinate q of its joint."""
    kind = body[1]
    if kind == REVOLUTE:
        x, y, z = body[14], body[15], body[16]
        c, s = np.cos(q), np.sin(q)
        d = 1.0 - c
        r00, r01, r02 = c + d * x * x, d * x * y - s * z, d * x * z + s * y
        r10, r11, r12 = d * x * y + s * z, c + d * y * y, d * y * z - s * x
        r20, r21, r22 = d * x * z - s * y, d * y * z + s * x, c + d * z * z
        for i in range(3):
            a, b, e = body[2 + 3 * i], body[3 + 3 * i], body[4 + 3 * i]
            pose[3 * i] = a * r00 + b * r10 + e * r20
            pose[3 * i + 1] = a * r01 + b * r11 + e * r21
            pose[3 * i + 2] = a * r02 + b * r12 + e * r22
    else:
        for i in range(9):
            pose[i] = body[2 + i]
    for i in range(3):
        pose[9 + i] = body[11 + i]
        if kind == PRISMATIC:
            pose[9 + i] += q * (body[2 + 3 * i] * body[14] + body[3 + 3 * i] * body[15] + body[4 + 3 * i] * body[16])


@compiled
def carry_twist(pose: FloatArray, twist: FloatArray, result: FloatArray) -> None:
    """A motion vector [v, w] (6,) of the parent's frame, seen in the child's: w' = R^T w, v' = R^T (v + w x p)."""
    wx, wy, wz = twist[3], twist[4], twist[5]
    px, py, pz = pose[9], pose[10], pose[11]
    vx, vy, vz = twist[0] + wy * pz - wz * py, twist[1] + wz * px - wx * pz, twist[2] + wx * py - wy * px
    for i in range(3):
        a, b, c = pose[i], pose[3 + i], pose[6 + i]
        result[i] = a * vx + b * vy + c * vz
        result[3 + i] = a * wx + b * wy + c * wz


@compiled
def cross_twists(a: FloatArray, b: FloatArray, result: FloatArray) -> None:
    """Rate of change (6,) of the motion vector b that moves along with a: [w x bv + v x bw, w x bw]."""
    vx, vy, vz, wx, wy, wz = a[0], a[1], a[2], a[3], a[4], a[5]
    result[0] = wy * b[2] - wz * b[1] + vy * b[5] - vz * b[4]
    result[1] = wz * b[0] - wx * b[2] + vz * b[3] - vx * b[5]
    result[2] = wx * b[1] - wy * b[0] + vx * b[4] - vy * b[3]
    result[3] = wy * b[5] - wz * b[4]
    result[4] = wz * b[3] - wx * b[5]
    result[5] = wx * b[4] - wy * b[3]


@compiled
def move_body(
    body: FloatArray, pose: FloatArray, parent: FloatArray, q_rate: float, q_acceleration: float, motion: FloatArray
) -> None:
    """Motion (15,) of a body in its own axes from its parent's: twist, gravity, spatial acceleration.

        V = X V_p + S v,    A = X A_p + S a + V x S v

    Args:
        body: a row of the tree.
        pose: in the parent's frame, of `place_body`.
        parent: (15,) motion of the parent.
        q_rate: of the joint.
        q_acceleration: of the joint.
        motion: (15,) the result.
    """
    carry_twist(pose, parent, motion)
    carry_twist(pose, parent[9:], motion[9:])
    for i in range(3):
        motion[6 + i] = pose[i] * parent[6] + pose[3 + i] * parent[7] + pose[6 + i] * parent[8]
    if body[1] == FIXED:
        return
    first = 3 if body[1] == REVOLUTE else 0
    x, y, z = body[14], body[15], body[16]
    motion[first] += x * q_rate
    motion[first + 1] += y * q_rate
    motion[first + 2] += z * q_rate
    motion[9 + first] += x * q_acceleration
    motion[10 + first] += y * q_acceleration
    motion[11 + first] += z * q_acceleration
    x, y, z = x * q_rate, y * q_rate, z * q_rate
    if first == 0:
        wx, wy, wz = motion[3], motion[4], motion[5]
        motion[9] += wy * z - wz * y
        motion[10] += wz * x - wx * z
        motion[11] += wx * y - wy * x
    else:
        vx, vy, vz, wx, wy, wz = motion[0], motion[1], motion[2], motion[3], motion[4], motion[5]
        motion[9] += vy * z - vz * y
        motion[10] += vz * x - vx * z
        motion[11] += vx * y - vy * x
        motion[12] += wy * z - wz * y
        motion[13] += wz * x - wx * z
        motion[14] += wx * y - wy * x
