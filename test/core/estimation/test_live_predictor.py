"""What live predictions are made with, against least squares on stacked equations and against draws."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.channels import find_spread
from inertid_ros.core.estimation.full_set import list_expected
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.live_predictor import LivePredictor, Prediction
from inertid_ros.core.estimation.reweighted import WeightedSolution
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.share import share_path


@pytest.fixture(scope="module")
def model() -> LinkModel:
    robot = Robot.from_urdf(share_path("urdf", "puma560.urdf").read_text())
    settings = Settings.from_flat({"links.effort_unit": "newton_metre"})
    return LinkModel.from_settings(robot, settings, robot.joint_names)


def solve(rows: FloatArray, readings: FloatArray) -> WeightedSolution:
    """The solution of rows (N, U) with unit noise; next to nothing else is known."""
    count = rows.shape[1]
    matrix = np.concatenate((np.column_stack((rows, readings)), np.zeros((count + 1, count + 1))))
    matrix[len(rows) : -1, :-1] = 1e-4 * np.diag(np.sqrt(np.sum(rows**2, axis=0)))
    information = SquareRootInformation.from_rows(matrix)
    empty = np.zeros(1)
    inverse = np.ascontiguousarray(information.inverse_factor())
    no_rows = np.zeros(1, dtype=np.int64)
    return WeightedSolution(information.solve(), information, inverse, empty, empty, no_rows, empty, empty)


def spread_of(prediction: Prediction, equations: FloatArray) -> FloatArray:
    """Variances (K,) of what is predicted of rows [A, ...] (K, > U) that come of the values."""
    spread = np.empty(len(equations))
    find_spread(equations, prediction.root, False, spread)
    return spread


def draw(model: LinkModel, seed: int, rows: int, strength: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows, readings of them, and the base parameters of an arm that is so far from the URDF."""
    rng = np.random.default_rng(seed)
    expected, sizes, _ = list_expected(model)
    truth = model.base.combination @ (expected + strength * sizes * rng.normal(size=len(sizes)))
    scale = np.sqrt(np.diag((model.base.combination * sizes**2) @ model.base.combination.T))
    lines = rng.normal(size=(rows, len(truth))) / scale
    return lines, lines @ truth + rng.normal(size=rows), truth


def test_values_and_covariance_are_those_of_rows_and_expectations_together(model: LinkModel) -> None:
    """The first solution: the URDF and sizes of a link's own parameters count as measured."""
    lines, readings, _ = draw(model, 0, 100, 0.5)
    found = LivePredictor(model).follow(solve(lines, readings))
    expected, sizes, _ = list_expected(model)
    stacked = np.concatenate((lines @ model.base.combination, np.diag(1.0 / sizes)))
    standard = np.linalg.lstsq(stacked, np.concatenate((readings, expected / sizes)), rcond=None)[0]
    covariance = model.base.combination @ np.linalg.inv(stacked.T @ stacked) @ model.base.combination.T
    deviations = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(found.values / deviations, model.base.combination @ standard / deviations, atol=1e-5)
    scaled = found.root / deviations[:, None]
    np.testing.assert_allclose(scaled @ scaled.T, covariance / np.outer(deviations, deviations), atol=1e-5)
    equations = np.column_stack((lines[:5], np.full(5, 7.0)))
    np.testing.assert_allclose(
        spread_of(found, equations), np.einsum("ku,uv,kv->k", lines[:5], covariance, lines[:5]), rtol=1e-5
    )


def test_what_data_say_little_of_is_predicted_far_better_than_by_what_fits_them(model: LinkModel) -> None:
    """Arms drawn as evidence assumes: errors are as large as is stated, and smaller than those of what fits."""
    ratios, gains = [], []
    for seed in range(20):
        lines, readings, truth = draw(model, seed, len(model.prior) + 5, 1.0)
        solution, predictor = solve(lines, readings), LivePredictor(model)
        for _ in range(30):
            found = predictor.follow(solution)
        others, _, _ = draw(model, 100 + seed, 40, 1.0)
        errors = others @ (found.values - truth)
        ratios.append(errors**2 / spread_of(found, np.column_stack((others, np.zeros(40)))))
        gains.append(np.linalg.norm(errors) / np.linalg.norm(others @ (solution.values - truth)))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.35)
    assert np.median(gains) < 0.7


def test_strong_data_are_left_as_they_are(model: LinkModel) -> None:
    lines, readings, _ = draw(model, 1, 1000, 0.3)
    solution, predictor = solve(1e4 * lines, 1e4 * readings), LivePredictor(model)
    for _ in range(5):
        found = predictor.follow(solution)
    np.testing.assert_allclose(lines @ found.values, lines @ solution.values, atol=1e-4 * np.abs(readings).max())


def test_strengths_are_learned_from_solution_to_solution_and_forgotten(model: LinkModel) -> None:
    lines, readings, _ = draw(model, 2, 100, 0.01)
    solution, predictor = solve(lines, readings), LivePredictor(model)
    first, second = predictor.follow(solution), predictor.follow(solution)
    equations = np.column_stack((lines, readings))
    assert spread_of(second, equations).sum() < 0.9 * spread_of(first, equations).sum()
    predictor.reset()
    np.testing.assert_array_equal(predictor.follow(solution).values, first.values)


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
def test_what_cannot_be_shrunk_is_taken_as_it_is_and_does_not_last(model: LinkModel, wrong: float) -> None:
    lines, readings, _ = draw(model, 3, 100, 0.2)
    solution, predictor = solve(lines, readings), LivePredictor(model)
    first = predictor.follow(solution)
    broken = solve(lines, readings)
    broken.information.matrix[0, 0] = wrong
    found = predictor.follow(broken)
    np.testing.assert_array_equal(found.values, broken.values)
    np.testing.assert_array_equal(predictor.follow(solution).values, first.values)
