"""Poses at rest found in samples."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock
from inertid_ros.core.static.rest_poses import RestPoseFinder
from inertid_ros.motions.motion import Hold, MinimumJerk, Sequence

NAMES = ("a", "b")
POSES = np.array([[0.0, 0.0], [1.0, -0.5], [0.3, 0.3]])
START = 1_700_000_000_000_000_000
SMALLEST = np.full(6, 1e-6)


def make_motion() -> Sequence:
    """Two seconds in each pose, a second between."""
    moves = [MinimumJerk(POSES[i : i + 2], [1.0]) for i in range(2)]
    return Sequence([Hold(POSES[0], 2.0), moves[0], Hold(POSES[1], 2.0), moves[1], Hold(POSES[2], 2.0)])


def make_blocks(seed: int = 0) -> tuple[JointBlock, WrenchBlock]:
    """Joints at 100 Hz and wrenches at 500 Hz with noise; the wrench is twice the position in fx and fy."""
    rng = np.random.default_rng(seed)
    times = np.arange(0.0, 8.0, 0.01)
    fine = np.arange(0.0, 8.0, 0.002)
    motion = make_motion()
    positions = motion.at(times).positions + 1e-4 * rng.normal(size=(len(times), 2))
    wrenches = np.zeros((len(fine), 6))
    wrenches[:, :2] = 2.0 * motion.at(fine).positions
    wrenches += 0.5 * rng.normal(size=wrenches.shape)
    stamps = [START + np.round(1e9 * item).astype(np.int64) for item in (times, fine)]
    return JointBlock(NAMES, stamps[0], positions, None), WrenchBlock("base", stamps[1], wrenches)


def find(joints: JointBlock, wrenches: WrenchBlock) -> tuple[FloatArray, FloatArray, FloatArray]:
    finder = RestPoseFinder(NAMES, SMALLEST)
    finder.take_joints(joints)
    finder.take_wrenches(wrenches)
    return finder.find()[1:]


def test_poses_are_found_with_their_means() -> None:
    positions, wrenches, deviations = find(*make_blocks())
    np.testing.assert_allclose(positions, POSES, atol=1e-4)
    np.testing.assert_allclose(deviations, 0.5 / np.sqrt(50 * 16), rtol=0.25)
    assert np.all(np.abs(wrenches[:, :2] - 2.0 * POSES) < 4.0 * deviations[:, :2])


def test_blocks_and_publishers_do_not_matter() -> None:
    joints, wrenches = make_blocks()
    whole = find(joints, wrenches)
    finder = RestPoseFinder(NAMES, SMALLEST)
    for i in range(0, len(joints.stamps), 7):
        part = slice(i, i + 7)
        finder.take_joints(JointBlock(("b", "gripper"), joints.stamps[part], joints.positions[part][:, ::-1], None))
        finder.take_joints(JointBlock(("a",), joints.stamps[part], joints.positions[part, :1], None))
    for i in range(0, len(wrenches.stamps), 13):
        finder.take_wrenches(WrenchBlock("base", wrenches.stamps[i : i + 13], wrenches.wrenches[i : i + 13]))
    for one, other in zip(whole, finder.find()[1:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_bad_samples_are_left_out() -> None:
    joints, wrenches = make_blocks()
    joints.positions[::10] = np.nan
    wrenches.wrenches[::10, 3] = np.inf
    wrenches.stamps[5::10] = 0
    positions, found, _ = find(joints, wrenches)
    np.testing.assert_allclose(positions, POSES, atol=1e-4)
    np.testing.assert_allclose(found[:, :2], 2.0 * POSES, atol=0.1)


def test_a_joint_in_no_message_is_left_out() -> None:
    joints, wrenches = make_blocks()
    finder = RestPoseFinder(("gripper", *NAMES), SMALLEST)
    finder.take_joints(joints)
    finder.take_wrenches(wrenches)
    assert finder.joint_names == NAMES
    np.testing.assert_allclose(finder.find().positions, POSES, atol=1e-4)


def test_no_pose_while_a_joint_is_not_measured() -> None:
    joints, wrenches = make_blocks()
    finder = RestPoseFinder(NAMES, SMALLEST)
    finder.take_joints(JointBlock(("a",), joints.stamps, joints.positions[:, :1], None))
    late = joints.stamps > START + 4 * 10**9
    finder.take_joints(JointBlock(("b",), joints.stamps[late], joints.positions[late, 1:], None))
    finder.take_wrenches(wrenches)
    np.testing.assert_allclose(finder.find().positions, POSES[1:], atol=1e-4)


def test_slow_creep_is_no_pose() -> None:
    joints, wrenches = make_blocks()
    creeping = np.linspace(0.0, 0.1, len(joints.stamps))[:, None] * np.ones(2)
    assert len(find(JointBlock(NAMES, joints.stamps, creeping, None), wrenches)[0]) == 0
