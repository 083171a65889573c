"""What a motion is predicted to tell: against the estimator's own rows, and against pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.chain import BAR, EXACT, PUMA, drive, load_of, make_chain, simulate_puma

from inertid_ros.core.equations.load import PRIOR_BIAS, PRIOR_LOAD, REGRESSORS
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import to_pinocchio
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import LoadSettings
from inertid_ros.motions.information import filter_ramps, filter_ramps_back
from inertid_ros.motions.motion import JointPath, paper_puma_move, with_rest
from inertid_ros.motions.targets import LoadInformation, WrenchNoise

PATH = Robot.from_urdf(PUMA).path_to("ft_sensor")
GRAVITY = np.array([0.0, 0.0, -9.80665])
NOISE = WrenchNoise()


def make_information(**options: object) -> LoadInformation:
    return LoadInformation(PATH, GRAVITY, NOISE, LoadSettings(), **options)  # type: ignore[arg-type]


def draw_path(seed: int, count: int = 5) -> JointPath:
    random = np.random.default_rng(seed)
    return JointPath(*(random.normal(size=(count, 6)) for _ in range(3)))


def build_regressor(features: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("i,ijk->jk", features, REGRESSORS))


def move_sensor(path: JointPath) -> tuple[FloatArray, FloatArray]:
    """Twists and spatial accelerations (N, 6) of the sensor in its own axes, by pinocchio."""
    model = PATH.model
    data = model.createData()
    twists, accelerations = np.empty((2, len(path.positions), 6))
    for index, state in enumerate(zip(*path, strict=True)):
        pin.forwardKinematics(model, data, *(np.append(part, 0.0) for part in state))
        twists[index], accelerations[index] = data.v[model.njoints - 1].vector, data.a[model.njoints - 1].vector
    return twists, accelerations


def gravity_at(positions: FloatArray) -> FloatArray:
    """Gravity (N, 3) in the axes of the sensor."""
    model = PATH.model
    data = model.createData()
    found = np.empty((len(positions), 3))
    for index, position in enumerate(positions):
        pin.forwardKinematics(model, data, np.append(position, 0.0))
        found[index] = data.oMi[model.njoints - 1].rotation.T @ GRAVITY
    return found


def test_information_of_standing_is_that_of_the_regressor() -> None:
    """Without motion the filters change nothing: N equal rows, each worth its time over the noise's density."""
    pose = np.random.default_rng(1).normal(size=(1, 6))
    path = JointPath(np.repeat(pose, 50, axis=0), np.zeros((50, 6)), np.zeros((50, 6)))
    (gravity,) = gravity_at(pose)
    regressor = build_regressor(np.concatenate([-gravity, np.zeros(9), [1.0]]))
    weights = 1.0 / np.repeat([NOISE.force, NOISE.torque], 3) ** 2
    expected = 50 * 0.02 * regressor.T @ (weights[:, None] * regressor)
    expected += np.diag(1.0 / np.concatenate([PRIOR_LOAD, PRIOR_BIAS]) ** 2)
    found = make_information().evaluate(path, 0.02).information
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-6)


def test_features_of_moving_are_those_of_exact_kinematics() -> None:
    """With filters far above the sampling rate, against kinematics that do not use inverse dynamics."""
    path = draw_path(2)
    twists, accelerations = move_sensor(path)
    w = twists[:, 3:]
    squares = np.stack([w[:, i] * w[:, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))], axis=1)
    classical = accelerations[:, :3] + np.cross(w, twists[:, :3])
    felt = np.concatenate([classical - gravity_at(path.positions), accelerations[:, 3:]], axis=1)
    features = np.concatenate([felt, squares, np.ones((5, 1))], axis=1)
    rows = np.concatenate([build_regressor(row) / np.repeat([[NOISE.force], [NOISE.torque]], 3, 0) for row in features])
    information = LoadInformation(PATH, GRAVITY, NOISE, LoadSettings(filter_cutoff=1e9, smoothing_cutoff=1e9))
    prior = np.diag(1.0 / np.concatenate([PRIOR_LOAD, PRIOR_BIAS]) ** 2)
    found = information.evaluate(path, 0.01).information - prior
    expected = 0.01 * rows.T @ rows
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7 * expected.max())


def test_efforts_are_those_of_the_arm_with_its_load() -> None:
    model = Robot.from_urdf(PUMA).model
    model.gravity.linear = GRAVITY
    frame = model.frames[model.getFrameId("ft_sensor")]
    model.appendBodyToJoint(frame.parentJoint, to_pinocchio(BAR), frame.placement)
    path = draw_path(3)
    expected = [pin.rnea(model, model.createData(), q, v, a) for q, v, a in zip(*path, strict=True)]
    np.testing.assert_allclose(make_information(load=BAR).evaluate(path, 0.01).efforts, expected, atol=1e-9)


def test_filter_is_exact_for_ramps() -> None:
    """The answer of l/(s+l) to a ramp of slope r from rest is r (t - 1/l + exp(-l t)/l)."""
    times, cutoff, step = 0.05 * np.arange(40), 20.0, 0.05
    signals = np.stack([3.0 + 2.0 * times, np.full(40, 5.0)], axis=1)
    expected = 3.0 + 2.0 * (times - 1.0 / cutoff + np.exp(-cutoff * times) / cutoff)
    filtered = filter_ramps(signals, cutoff, step)
    np.testing.assert_allclose(filtered, np.stack([expected, signals[:, 1]], axis=1), atol=1e-12)


def test_filter_goes_back() -> None:
    """The transposed of a linear map: y . F u = F^T y . u for any y and u."""
    random = np.random.default_rng(6)
    signals, slopes = random.normal(size=(2, 30, 3))
    forth = np.sum(slopes * filter_ramps(signals, 20.0, 0.03))
    assert np.sum(filter_ramps_back(slopes, 20.0, 0.03) * signals) == pytest.approx(forth, rel=1e-12)


def test_cost_is_the_log_determinant_of_the_loads_covariance_with_unknown_biases() -> None:
    square = np.random.default_rng(4).normal(size=(16, 20))
    information = square @ square.T
    covariance = np.linalg.inv(information)[:10, :10]
    assert make_information().cost(information) == pytest.approx(np.linalg.slogdet(covariance)[1])


def test_what_is_known_stays_known() -> None:
    covariance = np.diag(np.linspace(1e-8, 1e-7, 10))
    before, after = np.sqrt(np.diag(covariance)), make_information(known=covariance).predict(paper_puma_move())
    assert np.all(after < before)
    assert np.all(after < make_information().predict(paper_puma_move()))


def test_prediction_agrees_with_what_the_estimator_states() -> None:
    """The chain on the paper's move, reset where it begins so that standing before does not count.

    They differ in how the filters start, in that the stated one is widened by the misfit, and in the measured density.
    What is predicted is for a sensor without systematic error.
    """
    motion = with_rest(paper_puma_move(), before=2.0)
    chain = make_chain(**EXACT)
    simulator = simulate_puma(motion, seed=5, vibration_force=0.0, vibration_torque=0.0, encoder_resolution=0.0)
    drive(chain, simulator, 0.0, 2.0)
    chain.reset()
    drive(chain, simulator, 2.0, motion.duration)
    estimate = load_of(chain)
    assert estimate.sensor is not None
    density = estimate.sensor.noise_density
    noise = WrenchNoise(float(density[:3].mean()), float(density[3:].mean()))
    information = LoadInformation(PATH, GRAVITY, noise, LoadSettings())
    stated = np.sqrt(np.diag(estimate.covariance))
    np.testing.assert_allclose(information.predict(paper_puma_move()), stated, rtol=0.3)
