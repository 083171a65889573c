"""The compiled tree of bodies against pinocchio: poses, velocities, accelerations, and vectors carried along."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.random_robots import make_random_tree

from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.robot.tree import (
    FIXED,
    KIND,
    MOTION,
    POSE,
    carry_twist,
    cross_twists,
    move_body,
    pack_tree,
    place_body,
)

GRAVITY = np.array([1.0, -2.0, -9.5])
KINDS = ("revolute", "continuous", "prismatic")


def pack(pose: pin.SE3) -> FloatArray:
    return np.concatenate((pose.rotation.ravel(), pose.translation))


def draw_pose(random: np.random.Generator) -> pin.SE3:
    return pin.SE3(pin.exp3(random.normal(size=3)), random.normal(size=3))


def move_tree(tree: FloatArray, q: FloatArray, v: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Poses in the parent's frame (B, 12) and motions (B, 15) of all bodies."""
    count = len(tree)
    poses, motions = tree.size, tree.size + POSE * count
    x = np.concatenate((tree.ravel(), np.zeros(POSE * count + MOTION * (count + 1))))
    x[motions + 6 : motions + 9] = GRAVITY
    for index, row in enumerate(tree):
        state = (0.0, 0.0, 0.0) if row[KIND] == FIXED else (q[index], v[index], a[index])
        pose, (motion, parent) = poses + POSE * index, (motions + MOTION * (k + 1) for k in (index, int(row[0])))
        x[pose : pose + POSE] = placed = place_body(row, state[0])
        above, own = x[parent : parent + MOTION], x[motion : motion + MOTION]
        move_body(row, placed, above, state[1], state[2], True, own)
    return x[poses:motions].reshape(count, POSE), x[motions:].reshape(count + 1, MOTION)[1:]


@pytest.mark.parametrize("seed", range(12))
def test_bodies_move_as_pinocchio_moves_them(seed: int) -> None:
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(seed, 1 + seed, KINDS)), GRAVITY)
    model, data = arm.model, arm.model.createData()
    random = np.random.default_rng(seed)
    q, v, a = random.normal(size=(3, model.nv))
    poses, motions = move_tree(pack_tree(model, arm.is_angle), q, v, a)
    pin.forwardKinematics(model, data, q, v, a)
    for index in range(1, model.njoints):
        np.testing.assert_allclose(poses[index - 1], pack(data.liMi[index]), atol=1e-13)
        expected = np.concatenate((data.v[index].vector, data.oMi[index].rotation.T @ GRAVITY, data.a[index].vector))
        np.testing.assert_allclose(motions[index - 1], expected, atol=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_fixed_bodies_move_as_frames_do(seed: int) -> None:
    """Some on a link, one on the root."""
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(seed, 6, KINDS)), GRAVITY)
    random = np.random.default_rng(seed)
    fixed = [(parent, draw_pose(random)) for parent in (int(random.integers(6)), int(random.integers(6)), -1)]
    model = arm.model.copy()
    frames = [
        model.addFrame(pin.Frame(f"fixed{k}", parent + 1, 0, pose, pin.FrameType.OP_FRAME))
        for k, (parent, pose) in enumerate(fixed)
    ]
    data = model.createData()
    q, v, a = random.normal(size=(3, 6))
    _, motions = move_tree(pack_tree(model, arm.is_angle, fixed), q, v, a)
    pin.forwardKinematics(model, data, q, v, a)
    for motion, frame in zip(motions[6:], frames, strict=True):
        rotation = pin.updateFramePlacement(model, data, frame).rotation
        np.testing.assert_allclose(motion[:6], pin.getFrameVelocity(model, data, frame, pin.LOCAL).vector, atol=1e-12)
        np.testing.assert_allclose(motion[6:9], rotation.T @ GRAVITY, atol=1e-12)
        acceleration = pin.getFrameAcceleration(model, data, frame, pin.LOCAL).vector
        np.testing.assert_allclose(motion[9:], acceleration, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_twists_are_carried_and_crossed_as_spatial_vectors(seed: int) -> None:
    random = np.random.default_rng(seed)
    pose, (a, b) = draw_pose(random), random.normal(size=(2, 6))
    carried = carry_twist(tuple(pack(pose)), tuple(a))
    np.testing.assert_allclose(carried, pose.actInv(pin.Motion(a)).vector, atol=1e-14)
    np.testing.assert_allclose(cross_twists(tuple(a), tuple(b)), pin.Motion(a).cross(pin.Motion(b)).vector, atol=1e-14)
