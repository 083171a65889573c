"""Safe volumes: kinematics and bounds against pinocchio and sampling, the proof against a finer look, the penalty."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.primitive_arms import write_random_arm
from support.random_robots import make_random_tree

from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.share import share_path
from inertid_ros.motions.bodies import coal, make_body
from inertid_ros.motions.distances import Plane, Scene
from inertid_ros.motions.files import read_limits
from inertid_ros.motions.motion import Hold, JointPath, MinimumJerk
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.motions.placement import Kinematics
from inertid_ros.motions.safety import SafetyCheck, SafeVolume, UnsafeMotionError
from inertid_ros.motions.workspace import MOUNT, Workspace

GRAVITY = np.array([0.0, 0.0, -9.81])
PUMA = share_path("urdf", "puma560.urdf")
MIMIC = '<mimic joint="joint0" multiplier="-0.5" offset="0.2"/></joint>'


def make_check(urdf: Path, frame: str = "ft_sensor", **changes: Any) -> tuple[SafetyCheck, JointLimits]:
    text = urdf.read_text()
    robot = Robot.from_urdf(text)
    path = robot.path_to(frame)
    limits = read_limits(path)
    return Workspace(**changes).make_check(robot, (urdf, text), path.joint_names, GRAVITY, limits)[0], limits


def make_pendulum() -> Kinematics:
    """A joint about y at a height of 0.5 m, with nothing on it."""
    text = (
        '<robot name="pendulum"><link name="base"/><link name="arm"/><joint name="hinge" type="revolute">'
        '<parent link="base"/><child link="arm"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/>'
        '<limit lower="-3" upper="3" velocity="50" effort="1"/></joint></robot>'
    )
    return Kinematics(Robot.from_urdf(text), text, ["hinge"], {})


def hang(volume: SafeVolume, radius: float = 0.02) -> SafetyCheck:
    """A ball at the end of a pendulum of 0.4 m, in a volume."""
    place = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.4]))
    limits = JointLimits(*(np.array([value]) for value in (-3.0, 3.0, 50.0, 400.0)))
    return SafetyCheck(make_pendulum(), [make_body("ball", 1, place, coal.Sphere(radius))], volume, limits)


@pytest.mark.parametrize("seed", range(4))
def test_joints_are_placed_as_by_pinocchio_with_those_that_follow_others(seed: int) -> None:
    text = make_random_tree(seed, 6)
    head, _, tail = text.rpartition("</joint>")
    text = head + MIMIC + tail
    robot = Robot.from_urdf(text)
    moved = ["joint0", "joint2", "joint3"]
    kinematics = Kinematics(robot, text, moved, {"joint1": 0.3})
    positions = np.random.default_rng(seed).uniform(-2.0, 2.0, (5, 3))
    placed = kinematics.place(positions)
    model = robot.model
    data = model.createData()
    for s, (first, second, third) in enumerate(positions):
        values = {"joint0": first, "joint1": 0.3, "joint2": second, "joint3": third, "joint5": 0.2 - 0.5 * first}
        pin.forwardKinematics(model, data, np.array([values.get(name, 0.0) for name in robot.joint_names]))
        for joint in range(model.njoints):
            np.testing.assert_allclose(placed.origins[s, joint], data.oMi[joint].translation, atol=1e-12)
            np.testing.assert_allclose(placed.rotations[s, joint], data.oMi[joint].rotation, atol=1e-12)
    speeds = np.random.default_rng(9).normal(size=(5, 3))
    velocities, _ = kinematics.find_velocities(placed, speeds)
    ahead = kinematics.place(positions + 1e-7 * speeds).origins
    np.testing.assert_allclose(velocities, (ahead - placed.origins) / 1e-7, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_no_body_gets_further_than_the_bound(seed: int) -> None:
    text = make_random_tree(seed, 5)
    robot = Robot.from_urdf(text)
    kinematics = Kinematics(robot, text, robot.joint_names, {})
    random = np.random.default_rng(seed)
    middle, changes = random.uniform(-2.0, 2.0, (1, 5)), random.uniform(0.0, 0.5, (1, 5))
    joints = list(range(1, 6))
    points = random.normal(size=(5, 20, 3)) * 0.2
    placed = kinematics.place(middle)
    centers = np.stack([placed.carry(joint, np.zeros((1, 3)))[:, 0] for joint in joints], axis=1)
    reaches = np.linalg.norm(points, axis=2).max(axis=1)
    bounds = kinematics.find_displacements(placed, joints, centers, reaches, changes)[0, :, 0]
    others = kinematics.place(middle + changes * random.choice([-1.0, -0.3, 1.0], (300, 5)))
    for index, joint in enumerate(joints):
        way = others.carry(joint, points[index]) - placed.carry(joint, points[index])
        furthest = np.linalg.norm(way, axis=2).max()
        assert 0.1 * bounds[index] < furthest <= bounds[index] + 1e-12


def test_what_is_proved_holds_on_a_fine_grid_and_what_is_refused_is_too_close(tmp_path: Path) -> None:
    """Distances on the grid are coal's, as in the proof; an independent program looks at whole commands elsewhere."""
    verdicts = []
    for seed in range(3):
        urdf, rules = write_random_arm(tmp_path, seed)
        check, limits = make_check(urdf, file=Path(rules["workspace"]))
        for trial in range(6):
            center = np.random.default_rng(trial).uniform(limits.lower, limits.upper)
            motion = Multisine(replace(limits, lower=center - 0.4, upper=center + 0.4), 3.0, seed=trial)
            found = check.find_violation(motion)
            shortest = find_shortest(check, motion.at(np.linspace(0.0, 3.0, 201)).positions)
            assert (found is None) == bool(np.all(shortest >= check.margins))
            verdicts.append(found is None)
            for item in check.find_closest(motion) if found is None else ():
                true = shortest[[index for index, kind in enumerate(check.kinds) if kind == item.kind]].min()
                assert item.distance <= true
                assert item.distance >= check.margins[check.kinds == item.kind].min(), "that is proved"
                assert item.distance >= true - 4e-3 or true > 0.29
    assert 3 < sum(verdicts) < 15


def find_shortest(check: SafetyCheck, positions: FloatArray) -> FloatArray:
    """Distance of each pair at the nearest of all samples; where it is not small, that of spheres around both."""
    scene = check.place(positions)
    distances = scene.bounds.copy()
    for s, pair in np.argwhere(distances < 0.3):
        distances[s, pair] = scene.measure(int(s), int(pair), True)
    return np.asarray(distances.min(axis=0))


def test_nothing_hides_between_samples() -> None:
    """A ball crosses a wall of 1 mm in 0.2 ms, which no reasonable grid would hit."""
    wall = make_body("wall", 0, pin.SE3(np.eye(3), np.array([0.2, 0.0, 0.9])), coal.Box(0.001, 0.2, 0.5))
    swing = MinimumJerk([[-1.3], [1.1]], [0.35])
    check = hang(SafeVolume(boxes=(wall,), margin=0.0), radius=0.001)
    found = check.find_violation(swing)
    assert found is not None
    assert (found.first, found.second) == ("ball", "wall")
    assert hang(SafeVolume(boxes=(wall,), margin=0.0)).find_violation(MinimumJerk([[-1.3], [0.3]], [0.35])) is None


@pytest.mark.parametrize(
    ("angle", "height", "is_safe"), [(1.5, 0.5, True), (2.0, 0.3, True), (2.6, 0.14, True), (2.8, 0.11, False)]
)
def test_floor_is_kept_to_the_margin(angle: float, height: float, is_safe: bool) -> None:
    floor = Plane("floor", np.array([0.0, 0.0, 1.0]), 0.0)
    check = hang(SafeVolume(planes=(floor,), margin=0.12))
    assert (check.find_pose_violation(np.array([angle])) is None) == is_safe
    stated = check.find_extremes(Hold([angle], 1.0), np.array([0.0, 0.0, 1.0])).height
    assert stated == pytest.approx(0.5 + 0.4 * np.cos(angle) - 0.02, abs=1e-9)
    assert stated == pytest.approx(height, abs=0.03)


def test_a_wall_and_a_ceiling_are_planes_too() -> None:
    """On a ceiling gravity is along z of the root: the room's floor is where z is large."""
    text = PUMA.read_text()
    robot = Robot.from_urdf(text)
    path = robot.path_to("ft_sensor")
    workspace = Workspace(floors=(MOUNT, -1.0))
    check, _ = workspace.make_check(robot, (PUMA, text), path.joint_names, -GRAVITY, read_limits(path))
    mount, floor = check.volume.planes
    np.testing.assert_allclose(mount.normal, [0.0, 0.0, 1.0])
    assert mount.offset == pytest.approx(-0.672)
    np.testing.assert_allclose(floor.normal, [0.0, 0.0, -1.0])
    found = check.find_pose_violation(np.array([0.0, -np.pi / 2.0, np.pi / 2.0, 0.0, 0.0, 0.0]))
    assert found is None or found.second == "floor at -1 m"
    higher = Workspace(floors=(-0.4,)).make_check(robot, (PUMA, text), path.joint_names, -GRAVITY, read_limits(path))[0]
    assert higher.find_pose_violation(np.array([0.0, -np.pi / 2.0, np.pi / 2.0, 0.0, 0.0, 0.0])) is not None


def test_fastest_point_is_found_and_limited() -> None:
    check = hang(SafeVolume(speed=1.0))
    swing = MinimumJerk([[0.0], [1.0]], [1.0])
    speed = check.find_extremes(swing, np.array([0.0, 0.0, 1.0])).speed
    assert speed == pytest.approx(1.875 * 0.42, rel=1e-3)
    assert check.is_safe(swing)
    assert not check.is_safe(MinimumJerk([[0.0], [1.0]], [0.7]))


@pytest.mark.parametrize("seed", range(3))
def test_penalty_has_the_gradient_that_finite_differences_have(seed: int, tmp_path: Path) -> None:
    urdf, rules = write_random_arm(tmp_path, seed)
    check, limits = make_check(urdf, file=Path(rules["workspace"]), speed=0.3)
    path = Multisine(limits, 4.0, seed=seed).at(np.linspace(0.0, 4.0, 81))
    penalty, slopes = check.penalise(path)
    assert penalty > 0.1
    random, step = np.random.default_rng(seed), 1e-6
    for kind in (0, 1):
        direction = random.normal(size=path[kind].shape)
        costs = []
        for sign in (-1.0, 1.0):
            parts: list[FloatArray] = list(path)
            parts[kind] = parts[kind] + sign * step * direction
            costs.append(check.penalise(JointPath(*parts))[0])
        assert (slopes[kind] * direction).sum() == pytest.approx((costs[1] - costs[0]) / (2 * step), rel=0.02, abs=0.05)


def test_pairs_that_always_overlap_are_named_and_can_be_ignored(tmp_path: Path) -> None:
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(PUMA.read_text().replace('radius="0.024"', 'radius="0.05"'))
    with pytest.raises(UnsafeMotionError, match=r"'link4' and 'link6'.*ignore_pairs"):
        make_check(urdf)
    file = tmp_path / "workspace.yaml"
    file.write_text("ignore_pairs: [[link6, link4], [link4, ft_sensor]]")
    make_check(urdf, file=file)


def test_links_that_collide_in_the_zero_pose_only_are_named(tmp_path: Path) -> None:
    """A ball where the wrist of the PUMA is when it is straight."""
    urdf = tmp_path / "arm.urdf"
    ball = '<collision><origin xyz="0.41 0.15 0.43"/><geometry><sphere radius="0.05"/></geometry></collision>'
    urdf.write_text(PUMA.read_text().replace('<link name="link1">', f'<link name="link1">{ball}'))
    found = {item.second for item in make_check(urdf)[0].list_neutral()}
    assert found & {"link3", "link4", "link5", "link6", "ft_sensor"}
    assert make_check(PUMA)[0].list_neutral() == []


def test_shipped_arms_can_be_checked_and_neighbours_may_touch() -> None:
    for name in ("puma560", "ddarm"):
        check, limits = make_check(share_path("urdf", f"{name}.urdf"))
        pose = np.clip(np.zeros(len(limits.lower)), limits.lower, limits.upper)
        scene: Scene = check.place(pose[None])
        found = [check.name(index, 0.0, 0.0) for index in range(len(check.margins))]
        names = {frozenset((pair.first, pair.second)) for pair in found}
        assert frozenset(("link1", "link2")) not in names
        assert frozenset(("link1", "link3")) in names
        assert scene.bounds.shape == (1, len(check.margins))
