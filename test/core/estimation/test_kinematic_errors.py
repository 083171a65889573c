"""Joints that are not where the URDF has them: derivatives and what they do to links, by inverse dynamics as oracle."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from links_coverage import run_once
from support.chain import DDARM
from support.random_robots import make_random_tree

from inertid_ros.core.equations.arm import LinkUnknowns
from inertid_ros.core.equations.base_parameters import draw_states
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.kinematic_errors import KinematicErrors, LooseArm, MotionStates
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.settings.choices import Source

GRAVITY = np.array([0.0, 0.0, -9.81])
STEP = 1e-5
EXACT = 1e-9
"""Root of the covariance of base parameters that are those of the URDF."""


def _make_model(urdf: str, source: Source = Source.EFFORT) -> LinkModel:
    arm = ArmModel.of(Robot.from_urdf(urdf), GRAVITY)
    unknowns = LinkUnknowns.of(arm, source, True, True, True, True, True)
    return LinkModel.of(arm, source, unknowns, pin.SE3.Random() if source.has_base_wrench else None)


def _measure(model: LinkModel, rigid: pin.Model, state: FloatArray) -> FloatArray:
    """Efforts at a state (3, n) by recursive Newton-Euler, and the wrench that the base exerts, at its sensor."""
    data = rigid.createData()
    efforts = pin.rnea(rigid, data, *state)
    if not model.source.has_base_wrench:
        return np.asarray(efforts)
    total = pin.Force.Zero()
    for index in range(1, rigid.njoints):
        if rigid.parents[index] == 0:
            total += data.liMi[index].act(data.f[index])
    return np.concatenate((model.base_pose.actInv(total).vector, efforts if model.source.has_efforts else []))


def _move(model: LinkModel, joint: int, twist: FloatArray) -> pin.Model:
    moved = pin.Model(model.arm.model)
    moved.jointPlacements[joint + 1] = moved.jointPlacements[joint + 1] * pin.exp6(twist)
    return moved


def _differentiate(model: LinkModel, state: FloatArray) -> FloatArray:
    """(K, 6 n) by central differences of moved joints."""
    columns = []
    for joint in range(len(model.arm.joint_names)):
        for unit in STEP * np.eye(6):
            both = [_measure(model, _move(model, joint, twist), state) for twist in (unit, -unit)]
            columns.append((both[0] - both[1]) / (2.0 * STEP))
    return np.array(columns).T


@pytest.mark.parametrize("source", list(Source))
@pytest.mark.parametrize("seed", range(3))
def test_derivatives_are_those_of_arms_with_moved_joints(seed: int, source: Source) -> None:
    model = _make_model(make_random_tree(seed, 4), source)
    states = np.array(draw_states(model.arm, 3, seed)).swapaxes(0, 1)
    exact = EXACT * np.eye(len(model.prior))
    found = LooseArm(model).differentiate(states, model.prior, exact)
    for derivatives, state in zip(found.places, states, strict=True):
        expected = _differentiate(model, state)
        np.testing.assert_allclose(derivatives, expected, atol=1e-6 * float(np.abs(expected).max()))


def test_rotations_of_the_base_are_those_of_gravity_the_other_way() -> None:
    model = _make_model(make_random_tree(1, 4))
    states = np.array(draw_states(model.arm, 2, 5)).swapaxes(0, 1)
    found = LooseArm(model).differentiate(states, model.prior, EXACT * np.eye(len(model.prior)))
    for tilts, state in zip(found.tilts, states, strict=True):
        for axis, column in zip(np.eye(3), tilts.T, strict=True):
            both = []
            for step in (STEP, -STEP):
                turned = pin.Model(model.arm.model)
                turned.gravity.linear = pin.exp3(-step * axis) @ GRAVITY
                both.append(_measure(model, turned, state))
            expected = (both[0] - both[1]) / (2.0 * STEP)
            np.testing.assert_allclose(column, expected, atol=1e-6 * max(float(np.abs(expected).max()), 1.0))


def test_covariance_is_what_moved_joints_do_to_least_squares() -> None:
    """Each error of a standard deviation by itself: the squares of what it adds to a weighted solution add up."""
    model, place, axis, gain, tilt = _make_model(DDARM), 2e-3, 5e-3, 0.02, 0.01
    states = MotionStates()
    states.kept = list(np.array(draw_states(model.arm, 40, 3)).swapaxes(0, 1))
    values, count = model.prior.copy(), len(model.prior)
    values[model.base.columns >= model.unknowns.inertial.stop] += 0.3  # friction, rotors and offsets
    information = np.array([4e3, 1e4, 9e4])
    prior = SquareRootInformation(model.prior_deviations)
    kinematics = KinematicErrors(model, place, axis, tilt, gain)
    found = kinematics.find_covariance(states, values, EXACT * np.eye(count), prior, information)

    equation, weights = model.equation, np.sqrt(information / len(states.kept))
    lines, moved = [], []
    for state in states.kept:
        regressor = equation.assemble(equation.compute(*(part[None] for part in state)))[0]
        nominal = _measure(model, model.arm.model, state)
        tilts = []
        for axis_of in np.eye(3):
            turned = pin.Model(model.arm.model)
            turned.gravity.linear = pin.exp3(-STEP * axis_of) @ GRAVITY
            tilts.append((_measure(model, turned, state) - nominal) / STEP)
        lines.append(weights[:, None] * np.hstack((regressor, np.diag(regressor @ values), np.array(tilts).T)))
        moved.append(weights[:, None] * _differentiate(model, state))
    deviations = np.concatenate((model.prior_deviations, [gain] * 3, [tilt] * 3))
    dense = np.vstack((*lines, np.diag(1.0 / deviations)))
    right = np.vstack((*moved, np.zeros((len(deviations), moved[0].shape[1]))))
    carried = np.linalg.lstsq(dense, right, rcond=None)[0][:count] * np.tile([place] * 3 + [axis] * 3, 3)
    expected = carried @ carried.T
    scale = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(found / np.outer(scale, scale), expected / np.outer(scale, scale), atol=1e-3)


def _take_rows(count: int, first: float = 0.0) -> MotionStates:
    """Rows of a motion of one joint at 50 Hz, q = t^2."""
    states = MotionStates()
    for time in first + 0.02 * np.arange(count):
        states.take(np.array([time, time**2, 2.0 * time, 7.0]), 1)
    return states


def test_states_have_the_accelerations_of_the_motion_and_are_spread_over_it() -> None:
    kept = np.array(_take_rows(5000).kept)[:, :, 0]
    assert 32 <= len(kept) <= 64
    np.testing.assert_allclose(kept[:, 2], 2.0, rtol=1e-9)
    times = 0.5 * kept[:, 1]
    assert times[0] < 1.0
    assert times[-1] > 95.0
    np.testing.assert_allclose(np.diff(times), np.diff(times)[0])


def test_a_pose_is_one_state_however_long_it_is_held() -> None:
    states = _take_rows(1000)
    before = len(states.kept)
    for time in 20.0 + 0.02 * np.arange(100_000):
        states.take(np.array([time, 400.0, 0.001, 7.0]), 1)
    assert before <= len(states.kept) <= before + 1


def test_states_of_two_motions_add_up_by_their_durations() -> None:
    long, short = _take_rows(4000), _take_rows(1000, first=1000.0)
    before = list(long.kept)
    long.add(short)
    times = 0.5 * np.array(long.kept)[:, 1, 0]
    late = int((times >= 1000.0).sum())
    assert len(times) <= 64
    assert 0.15 < late / len(times) < 0.25
    assert len(short.kept) > late
    assert len(before) > len(times) - late


def test_rows_before_and_after_a_gap_make_no_state() -> None:
    states = MotionStates()
    for time in (0.0, 1.0, 2.0, 2.02):
        states.take(np.array([time, 0.0, time]), 1)
    assert len(states.kept) == 1
    assert states.kept[0][2, 0] == pytest.approx(1.0)


def test_links_of_an_arm_with_misplaced_joints_are_within_their_intervals() -> None:
    """3 mm and 3 mrad per axis: without the priors, some are beyond seven standard deviations."""
    for seed in (1, 2):
        (run,) = run_once("place3", seed, with_default=False)
        assert np.abs(run.errors).max() < 4.0
        assert np.mean(np.abs(run.errors) < 2.0) > 0.9
