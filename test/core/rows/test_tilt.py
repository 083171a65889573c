"""Torques of a tilted gravity against pinocchio's regressor, and their filters against those of scipy."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from scipy.signal import bilinear, lfilter
from support.chain import DDARM
from support.random_robots import make_random_tree

from inertid_ros.core.equations.arm import LinkUnknowns
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.robot.tree import POSE, pack_tree
from inertid_ros.core.rows.tilt import (
    AXES,
    GravityTilt,
    compute_gravity_torques,
    filter_torques,
    find_horizontal_axes,
    take_tilt,
)
from inertid_ros.core.settings.choices import Source


@pytest.mark.parametrize("seed", range(8))
def test_torques_are_pinocchios(seed: int) -> None:
    rng = np.random.default_rng(seed)
    joints = int(rng.integers(1, 8))
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(seed, joints)), rng.normal(size=3))
    phi, q, still = rng.normal(size=10 * joints), rng.uniform(-2.0, 2.0, joints), np.zeros(joints)
    gravities = rng.normal(size=(AXES, 3))
    floats = np.concatenate(
        (pack_tree(arm.model, arm.is_angle).ravel(), np.zeros(POSE * joints), gravities.ravel(), np.zeros(18 * joints))
    )
    torques = np.empty((joints, AXES))
    compute_gravity_torques(floats, phi, q, torques)
    for axis, gravity in enumerate(gravities):
        arm.model.gravity.linear = gravity
        # at rest inertias, whose order is another in pinocchio, have no effect
        expected = pin.computeJointTorqueRegressor(arm.model, arm.model.createData(), q, still, still) @ phi
        np.testing.assert_allclose(torques[:, axis], expected, rtol=1e-12, atol=1e-12)


def test_torques_are_filtered_by_tustins_rule() -> None:
    torques, step = np.random.default_rng(0).normal(size=(200, 3, AXES)), 0.02
    state, found = np.zeros((3, 3, AXES)), []
    gains = [cutoff * step / (2.0 + cutoff * step) for cutoff in (10.0, 30.0)]
    for now in torques:
        filter_torques(now, state, *gains)
        found.append(state[2].copy())
    expected = torques
    for cutoff in (10.0, 30.0):
        expected = lfilter(*bilinear([cutoff], [1.0, cutoff], 1.0 / step), expected, axis=0)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_filters_have_settled_after_a_long_pause() -> None:
    torques, state = np.random.default_rng(1).normal(size=(3, AXES)), np.zeros((3, 3, AXES))
    filter_torques(torques, state, 0.6, 0.9)
    np.testing.assert_allclose(state, np.broadcast_to(torques, state.shape), atol=1e-15)


def _make_model() -> LinkModel:
    """The DDArm by efforts."""
    arm = ArmModel.of(Robot.from_urdf(DDARM), np.array([0.0, 0.0, -9.8]))
    return LinkModel.of(arm, Source.EFFORT, LinkUnknowns.of(arm, Source.EFFORT))


def columns_at(tilt: GravityTilt, time: float, pose: FloatArray) -> FloatArray:
    """Columns (n, C) of a row, in memory that the next row overwrites."""
    take_tilt(tilt.memory, np.append(time, pose))
    return np.asarray(tilt.memory.state[2])


def test_a_vertical_first_axis_hides_two_moments_that_a_tilt_shows() -> None:
    """They go with sine and cosine of the first joint, and are in its torque alone."""
    tilt = GravityTilt(_make_model(), 20.0, 30.0)
    np.testing.assert_allclose(tilt.deviations, [1.0, 1.0, np.sqrt(2.0), np.sqrt(2.0)])
    np.testing.assert_array_equal(tilt.shows[:, 2:], [[True, True], [False, False], [False, False]])
    poses = np.random.default_rng(2).uniform(-3.0, 3.0, (20, 3))
    # so long after each other that filters have settled
    torques = np.array([columns_at(tilt, 100.0 * index, pose).copy() for index, pose in enumerate(poses)])[1:, :, 2:]
    np.testing.assert_allclose(torques[:, 1:], 0.0, atol=1e-9)
    waves = np.column_stack((np.sin(poses[1:, 0]), np.cos(poses[1:, 0])))
    fitted = waves @ np.linalg.lstsq(waves, torques[:, 0], rcond=None)[0]
    np.testing.assert_allclose(fitted, torques[:, 0], atol=1e-9 * float(np.abs(torques).max()))
    assert np.linalg.matrix_rank(torques[:, 0]) == 2


def test_columns_change_by_as_much_as_is_said() -> None:
    """Torques of random poses before and after other links are taken."""
    model = _make_model()
    tilt = GravityTilt(model, 20.0, 30.0)
    random = np.random.default_rng(3)
    poses = random.uniform(-np.pi, np.pi, (400, 3))
    before = np.array([columns_at(tilt, 100.0 * index, pose)[:, :AXES].copy() for index, pose in enumerate(poses, 1)])
    values = model.prior * random.uniform(0.8, 1.2, len(model.prior))
    said = tilt.set_values(values, np.zeros((len(values), len(values))))
    after = np.array([columns_at(tilt, 100.0 * index, pose)[:, :AXES].copy() for index, pose in enumerate(poses, 1000)])
    seen = np.square(after - before)[1:].sum(axis=2).mean(axis=0)  # filters start at zero
    np.testing.assert_allclose(said, seen, rtol=0.7)
    assert not tilt.set_values(values, np.zeros((len(values), len(values)))).any()


@pytest.mark.parametrize("gravity", [(0.0, 0.0, -9.8), (9.8, 0.0, 0.0), (1.0, -2.0, 3.0)])
def test_axes_are_horizontal(gravity: tuple[float, float, float]) -> None:
    axes = find_horizontal_axes(np.array(gravity))
    np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-15)
    np.testing.assert_allclose(axes @ gravity, 0.0, atol=1e-14)
