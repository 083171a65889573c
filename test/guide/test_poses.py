"""Poses and swings that are asked for, against gravity and axes by pinocchio's kinematics and rank by numpy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pinocchio as pin
import pytest

from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import FramePath, Robot
from inertid_ros.core.settings.settings import LoadSettings
from inertid_ros.guide.poses import Choice, Planner
from inertid_ros.motions.targets import LoadInformation, WrenchNoise
from inertid_ros.sim.scenario import read_urdf

GRAVITY = np.array([0.0, 0.0, -9.80665])
STATIC = [True] * 4 + [False] * 6
INERTIA = [False] * 4 + [True] * 6
STARTS = (np.radians([0, -45, 45, 0, 30, 0]), np.radians([0, 0, 0, -90, 0, 0]), np.radians([40, -90, 120, 30, -60, 80]))


@pytest.fixture(scope="module")
def path() -> FramePath:
    return Robot.from_urdf(read_urdf("puma560")).path_to("ft_sensor")


def rotation(path: FramePath, pose: FloatArray) -> FloatArray:
    """Axes of the sensor in the root frame."""
    data = path.model.createData()
    pin.forwardKinematics(path.model, data, np.append(pose, 0.0))
    return np.array(data.oMi[path.model.njoints - 1].rotation)


def regressor(path: FramePath, pose: FloatArray) -> FloatArray:
    """(6, 10) of mass, first moments and bias at rest, by the definition of a wrench that holds a body."""
    gravity = rotation(path, pose).T @ GRAVITY
    rows = np.zeros((6, 10))
    rows[:3, 0], rows[3:, 1:4], rows[:, 4:] = -gravity, pin.skew(gravity), np.eye(6)
    return rows


def walk(path: FramePath, start: FloatArray, count: int) -> tuple[Planner, list[FloatArray]]:
    """Hold a pose and those that are asked for then."""
    planner, poses = Planner(path, GRAVITY), [start]
    planner.hold(start)
    for _ in range(count - 1):
        choice = planner.choose(poses[-1], STATIC)
        assert choice is not None
        poses.append(choice.target)
        planner.hold(choice.target)
    return planner, poses


def test_information_of_a_held_pose_is_that_of_its_static_regressor(path: FramePath) -> None:
    noise = WrenchNoise(0.3, 0.02)
    information = LoadInformation(path, GRAVITY, noise, LoadSettings()).hold(np.array(STARTS), 2.5)
    weights = np.repeat([1.0 / noise.force**2, 1.0 / noise.torque**2], 3)
    kept = [0, 1, 2, 3, *range(10, 16)]
    for pose, found in zip(STARTS, information, strict=True):
        rows = regressor(path, pose)
        np.testing.assert_allclose(found[np.ix_(kept, kept)], 2.5 * rows.T @ (weights[:, None] * rows), atol=1e-6)


@pytest.mark.parametrize("start", STARTS, ids=str)
def test_four_poses_determine_mass_first_moments_and_bias_better_than_random_ones(
    path: FramePath, start: FloatArray
) -> None:
    _, poses = walk(path, start, 4)
    scale = np.array([1.0, *[0.1] * 3, *[10.0] * 3, *[1.0] * 3])

    def condition(chosen: list[FloatArray]) -> float:
        return float(np.linalg.cond(np.vstack([regressor(path, pose) for pose in chosen]) * scale))

    limits = path.model.lowerPositionLimit[:6], path.model.upperPositionLimit[:6]
    random = np.random.default_rng(0)
    others = [condition([start, *random.uniform(*limits, (3, 6))]) for _ in range(50)]
    assert condition(poses) < np.median(others)
    for before, after in pairwise(poses):
        assert 1 <= np.count_nonzero(after != before) <= 2
        assert np.all(after >= limits[0])
        assert np.all(after <= limits[1])


def test_what_brings_nothing_new_does_not_count(path: FramePath) -> None:
    planner, poses = walk(path, STARTS[0], 2)
    choice = planner.choose(poses[-1], STATIC)
    assert choice is not None
    assert planner.counts(choice.target, choice, STATIC)
    near = poses[-1] + 0.8 * (choice.target - poses[-1])
    assert planner.counts(near, choice, STATIC), "people turn joints by about what they are told"
    assert not planner.counts(poses[-1] + 0.2 * (choice.target - poses[-1]), choice, STATIC)
    assert not planner.counts(poses[0], choice, STATIC)
    about_gravity = poses[-1] + np.radians([60, 0, 0, 0, 0, 0])
    assert not planner.counts(about_gravity, choice, STATIC), "the base turns about gravity: the wrench stays"


def test_a_pose_that_is_out_of_reach_is_not_asked_for_again(path: FramePath) -> None:
    planner, (pose,) = walk(path, STARTS[0], 1)
    refused: list[Choice] = []
    for _ in range(5):
        choice = planner.choose(pose, STATIC)
        assert choice is not None
        assert all(np.abs(choice.target - other.target).max() > np.radians(19) for other in refused)
        refused.append(choice)
        planner.refuse(choice)


def test_no_pose_is_asked_for_where_no_joint_has_room(path: FramePath) -> None:
    narrow = FramePath(path.frame, path.joint_names, path.is_angle, path.model.copy())
    narrow.model.lowerPositionLimit = np.full(7, -0.2)
    narrow.model.upperPositionLimit = np.full(7, 0.2)
    planner = Planner(narrow, GRAVITY)
    assert planner.choose(np.zeros(6), STATIC) is None
    assert planner.choose_swing(np.zeros(6), INERTIA) is None


@pytest.mark.parametrize("start", STARTS, ids=str)
def test_three_swings_turn_the_load_about_axes_that_determine_its_inertia(path: FramePath, start: FloatArray) -> None:
    planner, poses = walk(path, start, 3)
    pose, rows = poses[-1], []
    for _ in range(3):
        choice = planner.choose_swing(pose, INERTIA)
        assert choice is not None
        pose = choice.target
        planner.swing(pose, choice.swing)
        ahead = pose + 1e-6 * np.eye(6)[choice.swing]
        axis = pin.log3(rotation(path, pose).T @ rotation(path, ahead)) * 1e6
        x, y, z = axis
        rows.append(np.array([[x, y, z, 0, 0, 0], [0, x, 0, y, z, 0], [0, 0, x, 0, y, z]]))
    assert np.linalg.cond(np.vstack(rows)) < 10.0
