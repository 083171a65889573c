"""An arm at rest on a base sensor: regressors against pinocchio, West's example, and which pose to add."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.chain import PUMA
from support.random_robots import make_random_urdf
from west_puma260 import (
    PRINTED,
    draw_poses,
    find_printed,
    make_model,
    measure,
    run_once,
    their_regressor,
    true_loads,
)

from inertid_ros.core.errors import NotIdentifiedError, RobotDescriptionError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import from_pinocchio
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.static.reactions import (
    StaticModel,
    StaticPoses,
    find_combinations,
    gravity_from_forces,
    label_directions,
    solve_static,
    suggest_pose,
)

GRAVITY = np.array([1.0, -2.0, -9.5])
BASE = (
    '<link name="base"><inertial><origin xyz="0.1 -0.2 0.3"/><mass value="3"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="plate"/>'
    '<joint name="plate" type="fixed"><parent link="base"/><child link="plate"/>'
    '<origin xyz="0.3 0.1 -0.2" rpy="0.4 -0.3 1.1"/></joint>'
)


def make_random_model(seed: int, with_offset: bool = False) -> StaticModel:
    """A random arm whose base is heavy and stands on a sensor that sits elsewhere and is turned."""
    urdf = make_random_urdf(seed, seed).replace('<link name="base"/>', BASE)
    arm = ArmModel.of(Robot.from_urdf(urdf), GRAVITY)
    rng = np.random.default_rng(seed)
    for index in range(1, arm.model.njoints):
        arm.model.inertias[index] = pin.Inertia(rng.uniform(1, 5), rng.normal(size=3), np.eye(3))
    return StaticModel(arm, "plate", with_offset)


def parameters_of(model: StaticModel) -> FloatArray:
    """Masses and first moments of base and links, as pinocchio has them."""
    return np.concatenate([from_pinocchio(inertia)[:4] for inertia in model.arm.model.inertias])


def tilt_gravities(angles: list[float], count: int) -> FloatArray:
    """Gravities (count, 3) of a base tilted about changing axes, one after the other."""
    tilts = [np.array([np.sin(a) * np.cos(5 * a), np.sin(a) * np.sin(5 * a), np.cos(a)]) for a in angles]
    return 9.81 * np.array([tilts[index % len(tilts)] for index in range(count)])


@pytest.mark.parametrize("seed", range(1, 7))
def test_regressors_are_pinocchio_s_inverse_dynamics(seed: int) -> None:
    model = make_random_model(seed)
    arm, place = model.arm.model, model.arm.place_of("plate")
    positions = np.random.default_rng(seed).normal(size=(20, arm.nv))
    gravities = np.tile(model.to_sensor(GRAVITY), (20, 1))
    wrenches = model.wrench_regressor(positions, gravities) @ parameters_of(model)
    efforts = model.torque_regressor(positions, gravities) @ parameters_of(model)
    data, rest = arm.createData(), np.zeros(arm.nv)
    for position, wrench, effort in zip(positions, wrenches, efforts, strict=True):
        np.testing.assert_allclose(effort, pin.rnea(arm, data, position, rest, rest), atol=1e-9)
        held = pin.Force(arm.inertias[0] * (-arm.gravity))
        for joint in range(1, arm.njoints):
            if arm.parents[joint] == 0:
                held += data.liMi[joint].act(data.f[joint])
        np.testing.assert_allclose(wrench, place.actInv(held).vector, atol=1e-9)


def test_a_sensor_that_moves_is_refused() -> None:
    model = make_random_model(3)
    with pytest.raises(RobotDescriptionError, match="joint2"):
        StaticModel(model.arm, "sensor", with_offset=False)


def test_gravity_is_opposite_to_the_force_that_holds_the_arm() -> None:
    forces = np.array([[0.0, 0.0, 98.0], [3.0, 0.0, -4.0]])
    np.testing.assert_allclose(gravity_from_forces(forces, 10.0), [[0.0, 0.0, -10.0], [-6.0, 0.0, 8.0]])
    with pytest.raises(NotIdentifiedError, match="direction"):
        gravity_from_forces(np.zeros((1, 3)), 10.0)


def test_moments_are_those_of_the_paper_s_equation() -> None:
    model = make_model()
    poses = draw_poses(50, 3)
    wrenches, _ = true_loads(model, *poses)
    np.testing.assert_allclose(-wrenches[:, 3:], their_regressor(*poses) @ PRINTED, atol=1e-9)
    np.testing.assert_allclose(wrenches[:, :3], -10.6 * poses[1], atol=1e-9)


def test_nine_combinations_and_the_mass() -> None:
    model = make_model()
    base = find_combinations(model, *draw_poses(30, 0))
    assert base.rank == 10
    assert [base.names[column] for column in base.columns] == [
        *("base.m", "base.mcx", "base.mcy", "base.mcz", "link1.mcx", "link1.mcy"),
        *("link2.mcx", "link2.mcy", "link3.mcx", "link3.mcy"),
    ]
    texts = dict(zip(base.columns.tolist(), base.texts, strict=True))
    assert texts[0] == "base.m + link1.m + link2.m + link3.m"
    assert texts[6] == "link1.mcy - link2.mcz - link3.mcz"
    assert texts[13] == "link3.mcx"


@pytest.mark.parametrize("seed", range(1, 9))
def test_each_joint_tells_what_it_moves(seed: int) -> None:
    """Two first moments for each revolute joint, a mass for each prismatic one, and four for the whole."""
    model = make_random_model(seed)
    rng = np.random.default_rng(seed)
    gravities = tilt_gravities([0.0, 0.4, 0.8], 60)
    base = find_combinations(model, rng.uniform(-2.0, 2.0, (60, model.arm.model.nv)), gravities)
    assert base.rank == 4 + sum(2 if is_angle else 1 for is_angle in model.arm.is_angle)


def test_six_joints_of_the_puma() -> None:
    model = StaticModel(ArmModel.of(Robot.from_urdf(PUMA), GRAVITY), "base_link", with_offset=True)
    rng = np.random.default_rng(0)
    base = find_combinations(model, rng.uniform(-2.0, 2.0, (40, 6)), tilt_gravities([0.0, 0.4, 0.8], 40))
    assert base.rank == 4 + 2 * 6 + 6


def test_gravity_load_is_predicted_to_one_percent_throughout() -> None:
    for seed in range(5):
        outcome = run_once(seed)
        assert outcome.shares.max() < 0.01
        assert np.abs(outcome.errors).max() < 0.005
        assert outcome.conditions[1] < 10.8


def test_level_base_does_not_tell_heights() -> None:
    model = make_model()
    positions, gravities = draw_poses(30, 0)
    level = gravities[:1].repeat(30, axis=0)
    base = find_combinations(model, positions, level)
    assert base.rank == 9
    moved = np.linalg.matrix_rank(their_regressor(positions, level).reshape(-1, 9))
    assert moved == 8
    exact = StaticPoses(positions, level, true_loads(model, positions, level)[0], np.ones((30, 6)))
    with pytest.raises(NotIdentifiedError, match="orientation"):
        find_printed(solve_static(model, exact))


@pytest.mark.parametrize(
    ("angles", "rank"),
    [([0.0], 12), ([0.0, 0.4], 15), ([0.0, 0.4, 0.8], 16)],
)
def test_offset_is_told_by_three_orientations(angles: list[float], rank: int) -> None:
    model = make_model(with_offset=True)
    positions, _ = draw_poses(40, 0)
    gravities = tilt_gravities(angles, 40)
    base = find_combinations(model, positions, gravities)
    regressor = model.wrench_regressor(positions, gravities).reshape(-1, len(model.names))
    assert base.rank == np.linalg.matrix_rank(regressor, tol=1e-8) == rank
    offset_alone = [name for name in np.array(base.names)[base.alone] if name.startswith("sensor.")]
    assert (len(offset_alone) == 6) == (len(angles) == 3)


def test_offset_is_found() -> None:
    model = make_model(with_offset=True)
    positions, _ = draw_poses(40, 0)
    gravities = tilt_gravities([0.0, 0.4, 0.8], 40)
    offset = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
    wrenches = true_loads(model, positions, gravities)[0] + offset
    solution = solve_static(model, StaticPoses(positions, gravities, wrenches, np.ones((40, 6))))
    np.testing.assert_allclose(solution.values[-6:], offset, atol=1e-9)
    np.testing.assert_allclose(find_printed(solution), PRINTED, atol=1e-9)


def test_covariance_covers() -> None:
    model = make_model()
    poses = draw_poses(30, 0)
    truth = solve_static(model, StaticPoses(*poses, true_loads(model, *poses)[0], np.ones((30, 6))))
    inside = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        deviations = np.tile(np.repeat([0.05, 0.01], 3), (30, 1))
        wrenches = true_loads(model, *poses)[0] + deviations * rng.normal(size=(30, 6))
        solution = solve_static(model, StaticPoses(*poses, wrenches, deviations))
        errors = solution.values - truth.values
        inside.append(np.abs(errors) < 1.96 * np.sqrt(solution.covariance.diagonal()))
        assert solution.fit == pytest.approx(1.0, abs=0.2)
    assert 0.92 < np.mean(inside) < 0.99


def test_covariance_covers_gravity_from_the_force() -> None:
    model = make_model()
    poses = draw_poses(30, 0)
    truth = solve_static(model, StaticPoses(*poses, true_loads(model, *poses)[0], np.ones((30, 6))))
    inside: list[Any] = []
    naive: list[Any] = []
    for seed in range(60):
        measured = measure(model, *poses, seed)
        for from_force, counts in ((True, inside), (False, naive)):
            solution = solve_static(model, measured._replace(positions=poses[0]), from_force=from_force)
            counts.append(np.abs(solution.values - truth.values) < 1.96 * np.sqrt(solution.covariance.diagonal()))
    assert 0.92 < np.mean(inside) < 0.99
    assert np.mean(naive) < 0.9


def test_residuals_larger_than_stated_enlarge_the_covariance() -> None:
    model = make_model()
    poses = measure(model, *draw_poses(30, 0), 0)
    honest = solve_static(model, poses)
    proud = solve_static(model, poses._replace(deviations=poses.deviations / 100.0))
    ratio = np.sqrt(proud.covariance.diagonal() / honest.covariance.diagonal())
    assert np.all((ratio > 0.7) & (ratio < 1.5))


def test_noise_tells_nothing_apart() -> None:
    model = make_model()
    positions, gravities = draw_poses(30, 0)
    positions[:, 2] = 0.7
    still = solve_static(model, measure(model, positions, gravities, 1), from_force=True)
    assert still.base.rank == find_combinations(model, positions, gravities).rank == 8
    with pytest.raises(NotIdentifiedError, match="move every joint"):
        still.find(model.torque_regressor(*draw_poses(5, 1)))
    assert still.condition < 20.0


def test_directions_that_are_nearly_equal_are_equal() -> None:
    rng = np.random.default_rng(0)
    gravities = tilt_gravities([0.0, 0.4], 20) + 0.02 * rng.normal(size=(20, 3))
    assert label_directions(gravities).tolist() == [0, 1] * 10


def test_suggested_pose_lowers_the_condition_number_most() -> None:
    model = make_model()
    poses = measure(model, *draw_poses(8, 5), 5)
    before = solve_static(model, poses)
    limit = np.full(3, 2.6)
    suggestion = suggest_pose(before, -limit, limit)
    assert suggestion.rank == before.base.rank == 10
    assert suggestion.condition < 0.9 * before.condition
    assert np.all(np.abs(suggestion.position) <= limit)
    others = [_condition_with(model, poses, *pose) for pose in zip(*draw_poses(100, 6), strict=True)]
    added = _condition_with(model, poses, suggestion.position, suggestion.gravity)
    assert added == pytest.approx(suggestion.condition, rel=0.02)
    assert added < np.quantile(others, 0.05)


def test_suggested_pose_tells_something_new_where_that_is_missing() -> None:
    model = make_model()
    positions, gravities = draw_poses(12, 0)
    positions[:, 2] = 0.7
    before = solve_static(model, measure(model, positions, gravities, 0))
    suggestion = suggest_pose(before, np.full(3, -np.inf), np.full(3, np.inf))
    assert suggestion.rank == before.base.rank + 2
    assert abs(suggestion.position[2] - 0.7) > 0.1


def _condition_with(model: StaticModel, poses: StaticPoses, position: FloatArray, gravity: FloatArray) -> float:
    """Condition number with one pose more, by singular values."""
    positions, gravities = np.vstack((poses.positions, position)), np.vstack((poses.gravities, gravity))
    columns = find_combinations(model, positions, gravities).columns
    matrix = model.wrench_regressor(positions, gravities)[:, :, columns] / poses.deviations[0][:, None]
    matrix = matrix.reshape(-1, len(columns))
    return float(np.linalg.cond(matrix / np.linalg.norm(matrix, axis=0)))


def test_no_pose_is_refused() -> None:
    model = make_model()
    nothing = StaticPoses(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 6)), np.zeros((0, 6)))
    with pytest.raises(NotIdentifiedError, match="standing still"):
        solve_static(model, nothing)
