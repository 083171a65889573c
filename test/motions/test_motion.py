"""Motions against their boundary conditions, finite differences and the defining property of minimum jerk."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from numpy.polynomial import Polynomial

from inertid_ros.core.errors import SettingError
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import (
    Hold,
    MinimumJerk,
    Motion,
    Repeat,
    Sequence,
    paper_ddarm_link_moves,
    paper_ddarm_load_move,
    paper_puma_move,
    paper_puma_test_moves,
    there_and_back,
    with_rest,
)
from inertid_ros.motions.multisine import JointLimits, Multisine

START, MIDDLE, END = [0.3, -1.0], [1.0, 2.0], [-0.5, 0.4]
LIMITS = JointLimits(*np.array([[-1.0, -0.2], [2.0, 0.5], [1.5, 3.0], [4.0, 100.0]]))


def all_motions() -> list[Motion]:
    """One of each kind, of different shapes."""
    move = MinimumJerk([START, MIDDLE, END], [0.7, 1.3])
    return [
        Hold(START, 1.0),
        move,
        Sequence([Hold(START, 0.4), move, Hold(END)]),
        Repeat(there_and_back(move, 0.3)),
        Multisine(LIMITS, period=2.0, cycles=2, fade=0.5, seed=3),
        with_rest(paper_puma_move(), 0.5, 0.5),
    ]


@pytest.mark.parametrize("motion", all_motions(), ids=lambda motion: type(motion).__name__)
def test_derivatives_agree_with_finite_differences(motion: Motion) -> None:
    step = 1e-5
    times = np.linspace(-0.5, 5.5, 1201) + 1.3e-4  # off the instants at which the jerk jumps
    before, now, after = motion.at(times - step), motion.at(times), motion.at(times + step)
    np.testing.assert_allclose(now.velocities, (after.positions - before.positions) / (2 * step), atol=1e-6)
    np.testing.assert_allclose(now.accelerations, (after.velocities - before.velocities) / (2 * step), atol=1e-6)


@pytest.mark.parametrize("motion", all_motions(), ids=lambda motion: type(motion).__name__)
def test_a_time_gives_the_same_alone_and_among_others(motion: Motion) -> None:
    times = np.linspace(-0.5, 5.5, 57)
    together = motion.at(times)
    for i, time in enumerate(times):
        for whole, single in zip(together, motion.at(np.array([time])), strict=True):
            np.testing.assert_array_equal(whole[i], single[0])


@pytest.mark.parametrize("motion", all_motions(), ids=lambda motion: type(motion).__name__)
def test_no_times_give_empty_arrays(motion: Motion) -> None:
    for part in motion.at(np.empty(0)):
        assert part.shape == (0, motion.joint_count)


def test_minimum_jerk_meets_waypoints_at_rest() -> None:
    path = MinimumJerk([START, MIDDLE, END], [0.7, 1.3]).at(np.array([-1.0, 0.0, 0.7, 2.0, 9.0]))
    np.testing.assert_allclose(path.positions, [START, START, MIDDLE, END, END], atol=1e-15)
    np.testing.assert_allclose(path.velocities, 0.0, atol=1e-14)
    np.testing.assert_allclose(path.accelerations, 0.0, atol=1e-13)


def test_minimum_jerk_is_the_quintic_of_its_boundary_conditions() -> None:
    powers = np.arange(6)
    at_start = [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0]]
    at_end = [2.0**powers, powers * 2.0 ** (powers - 1), powers * (powers - 1) * 2.0 ** (powers - 2)]
    quintic = Polynomial(np.linalg.solve(np.vstack([at_start, at_end]), [0.3, 0, 0, 1.7, 0, 0]))
    times = np.linspace(0.0, 2.0, 101)
    path = MinimumJerk([[0.3], [1.7]], [2.0]).at(times)
    np.testing.assert_allclose(path.positions[:, 0], quintic(times), atol=1e-13)
    np.testing.assert_allclose(path.accelerations[:, 0], quintic.deriv(2)(times), atol=1e-12)


def test_minimum_jerk_is_a_straight_line_in_joint_space() -> None:
    positions = MinimumJerk([START, END], [1.0]).at(np.linspace(0.0, 1.0, 50)).positions
    direction, offset = np.subtract(END, START), positions - START
    np.testing.assert_allclose(offset[:, 0] * direction[1], offset[:, 1] * direction[0], atol=1e-14)


def test_puma_move_peaks_at_the_accelerations_the_paper_names() -> None:
    move = paper_puma_move()
    path = move.at(np.linspace(0.0, 2.0, 20001))
    peaks = np.degrees(np.abs(path.accelerations).max(0))
    assert move.duration == 2.0
    np.testing.assert_allclose(peaks[[0, 3]], [130.0, 260.0], rtol=2e-3)
    np.testing.assert_allclose(np.degrees(path.positions[0]), [0, 0, 0, -90, 0, 0], atol=1e-12)
    np.testing.assert_allclose(np.degrees(path.positions[-1]), [90, -60, 90, 90, 90, 90], atol=1e-12)


def test_puma_test_moves_turn_the_sensor_about_one_of_its_axes_each() -> None:
    robot = Robot.from_urdf(share_path("urdf", "puma560.urdf").read_text())
    model, data = robot.model, robot.model.createData()
    frame = model.getFrameId("ft_sensor")
    for axis, (joint, move) in enumerate(zip((3, 3, 5), paper_puma_test_moves(), strict=True)):
        path = move.at(np.linspace(0.0, 2.0, 201))
        assert set(np.flatnonzero(np.any(path.velocities, axis=0))) == {joint}
        assert np.degrees(np.abs(path.accelerations).max()) == pytest.approx(260.0, rel=2e-3)
        assert np.all((path.positions > model.lowerPositionLimit) & (path.positions < model.upperPositionLimit))
        pin.forwardKinematics(model, data, path.positions[80], path.velocities[80])
        turn = pin.getFrameVelocity(model, data, frame, pin.ReferenceFrame.LOCAL).angular
        np.testing.assert_allclose(np.abs(turn), np.abs(path.velocities[80, joint]) * np.eye(3)[axis], atol=1e-12)


def test_ddarm_moves_have_the_ends_the_paper_names() -> None:
    ends = [
        (paper_ddarm_load_move(), 1.0, [280, 269.1, -30], [80, 19.1, 220]),
        (paper_ddarm_link_moves()[0], 1.3, [330, 289.1, 230], [80, 39.1, -10]),
        (paper_ddarm_link_moves()[1], 1.3, [330, 269.1, -30], [80, 19.1, 220]),
        (paper_ddarm_link_moves()[2], 1.3, [80, 269.1, -30], [330, 19.1, 220]),
    ]
    for move, duration, start, end in ends:
        assert move.duration == pytest.approx(duration)
        np.testing.assert_allclose(np.degrees(move.at(np.array([0.0, duration])).positions), [start, end])


def test_sequence_and_repeat_return_to_the_same_phase() -> None:
    cycle = there_and_back(MinimumJerk([START, END], [1.0]), 0.25)
    assert cycle.duration == pytest.approx(2.5)
    times = np.linspace(0.0, 2.4, 100)
    for first, third in zip(Repeat(cycle).at(times), Repeat(cycle).at(times + 5.0), strict=True):
        np.testing.assert_allclose(first, third, atol=1e-12)


def test_motions_that_do_not_join_are_rejected() -> None:
    with pytest.raises(SettingError, match="starts where the one before ends"):
        Sequence([Hold(START, 1.0), Hold(END, 1.0)])
    with pytest.raises(SettingError, match="starts where the one before ends"):
        Repeat(MinimumJerk([START, END], [1.0]))
    with pytest.raises(SettingError, match="motions that end"):
        Sequence([Hold(START), Hold(START)])


@pytest.mark.parametrize("seed", range(5))
def test_multisine_fills_its_limits_and_rests_at_both_ends(seed: int) -> None:
    center = (LIMITS.lower + LIMITS.upper) / 2.0
    motion = Multisine(LIMITS, period=5.0, cycles=2, fade=1.0, seed=seed)
    path = motion.at(np.linspace(0.0, 10.0, 100001))
    shares = np.array(
        [
            ((path.positions - center) / (LIMITS.upper - center)).max(0),
            ((path.positions - center) / (LIMITS.lower - center)).max(0),
            (np.abs(path.velocities) / LIMITS.velocity).max(0),
            (np.abs(path.accelerations) / LIMITS.acceleration).max(0),
        ]
    ).max(0)
    assert np.all(shares <= 1.0)
    assert np.all(shares > 0.98)
    for end in (0, -1):
        np.testing.assert_allclose(path.positions[end], center, atol=1e-12)
        np.testing.assert_allclose(path.velocities[end], 0.0, atol=1e-12)
        np.testing.assert_allclose(path.accelerations[end], 0.0, atol=1e-9)


def test_multisine_is_periodic_between_its_fades() -> None:
    motion = Multisine(LIMITS, period=3.0, cycles=3, fade=1.0, seed=1)
    times = np.linspace(1.0, 5.0, 200)
    np.testing.assert_allclose(motion.at(times).positions, motion.at(times + 3.0).positions, atol=1e-12)


def test_multisine_depends_on_its_seed_only() -> None:
    times = np.linspace(0.0, 4.0, 50)
    first, again, other = (Multisine(LIMITS, period=4.0, seed=seed).at(times).positions for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.01


def test_multisine_rejects_what_cannot_be_scaled() -> None:
    with pytest.raises(SettingError, match="inside the position limits"):
        Multisine(dataclasses.replace(LIMITS, upper=LIMITS.lower), period=4.0)
