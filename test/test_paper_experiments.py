"""A few runs of the benchmark whose full table is in docs/paper_experiments.md."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from load_cases import REST_POSES, SIX_POSES, TEST_MOTIONS, Case, make_sensors, run_once
from paper_experiments import EXPERIMENTS, LIMITS, VARIANTS, format_coverage, format_errors, leave_out, run_many

from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.share import share_path
from inertid_ros.sim.sensors import paper_ddarm_sensors


@pytest.mark.long
@pytest.mark.parametrize("case", EXPERIMENTS, ids=lambda case: case.title)
def test_one_move_is_enough_and_intervals_cover(case: Case) -> None:
    outcome = run_many(case, runs=25)
    assert outcome.rms[0] < 1.5e-3
    assert outcome.com_rms.max() < 0.15e-3
    assert outcome.rms[4] < LIMITS[case.arm]
    assert 0.88 < float(np.mean(outcome.coverage)) <= 1.0
    assert outcome.lost == 0


@pytest.mark.long
def test_filtered_method_beats_the_paper_s_own() -> None:
    filtered = run_many(Case("puma560", "bar"), runs=10)
    differentiated = run_many(Case("puma560", "bar", "differentiated"), runs=10)
    assert filtered.rms[4] < 0.2 * differentiated.rms[4]


def test_every_axis_of_the_sensor_points_up_and_down_in_a_rest_pose() -> None:
    robot = Robot.from_urdf(share_path("urdf", "puma560.urdf").read_text())
    data, frame = robot.model.createData(), robot.model.getFrameId("ft_sensor")
    ups = []
    for pose in REST_POSES:
        pin.framesForwardKinematics(robot.model, data, pose)
        ups.append(data.oMf[frame].rotation[2].copy())
    expected = np.vstack([np.eye(3), -np.eye(3)])
    assert np.all((robot.model.lowerPositionLimit < REST_POSES) & (robot.model.upperPositionLimit > REST_POSES))
    np.testing.assert_allclose(np.sort(expected @ np.transpose(ups), axis=1)[:, -1], 1.0, atol=1e-12)


def test_rest_poses_tell_mass_and_centre_of_mass_and_no_inertia() -> None:
    error, deviation, com_error = run_once(Case("puma560", "aluminium_block", motion=SIX_POSES), 0)
    assert abs(error[0]) < 3.0 * deviation[0] < 1.5e-3
    assert np.abs(com_error).max() < 0.05e-3
    assert np.all(deviation[4:] > 1.0)


def test_test_motions_tell_inertias_better_than_the_move_of_all_joints() -> None:
    single, both = run_many(Case("puma560", "bar", motion=TEST_MOTIONS), 3), run_many(Case("puma560", "bar"), 3)
    assert single.rms[4] < 0.7 * both.rms[4]
    assert single.lost == 0


def test_tachometers_are_left_out_at_the_rate_of_the_differences() -> None:
    case = Case("ddarm", "bar", differences=240.0)
    assert case.title == "DDArm bar, no tachometers, 240 Hz"
    assert make_sensors(case, 0) == replace(paper_ddarm_sensors(0), velocity_noise=None, joint_rate=240.0)
    assert make_sensors(Case("ddarm", "bar"), 0) == paper_ddarm_sensors(0)


def test_wrist_sensor_weighs_better_than_joint_torques() -> None:
    wrist = Case("ddarm", "bar")
    error, deviation, _ = run_once(wrist, 0)
    other_error, other_deviation, _ = run_once(wrist._replace(is_by_efforts=True), 0)
    assert np.all(np.abs(other_error) < 4.0 * other_deviation)
    assert np.all(deviation < 0.2 * other_deviation)
    assert abs(error[0]) < 1.5e-3 < abs(other_error[0]) < 0.5


def test_lost_runs_are_left_out_and_counted() -> None:
    still, moved = VARIANTS[:2]
    errors, deviations, com_errors = np.full((3, 10), 0.01), np.full((3, 10), 0.02), np.zeros((3, 3))
    errors[1, 0], deviations[2, 5] = 0.2, 10.0
    outcomes = {case: leave_out(case, errors, deviations, com_errors) for case in (still, moved)}
    assert [outcome.lost for outcome in outcomes.values()] == [1, 2]
    assert leave_out(moved._replace(is_by_efforts=True), errors, deviations, com_errors).lost == 0
    lines = format_errors(outcomes, 3).splitlines()
    assert lines[4].endswith("| 10.00 | 0.000 |  |  |")
    assert lines[5].endswith("| 10.00 | 0.000 | 100.00 | 100.00 |")
    assert lines[-1].endswith("of 3: 1 with PUMA block, six poses, filtered; 2 with PUMA bar, test motions, filtered.")
    assert format_coverage(outcomes).splitlines()[-2].endswith("| 100 | 100 | 100 | 100 |  |  |  |  |  |  |")
