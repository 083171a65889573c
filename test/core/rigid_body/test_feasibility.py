"""The nearest body against least squares over Cholesky factors, its optimality conditions and clipping."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import least_squares

from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.feasibility import MARGIN, TOLERANCE, nearest_feasible
from inertid_ros.core.rigid_body.inertial import (
    compose,
    decompose,
    from_pinocchio,
    from_pseudo_inertia,
    is_feasible,
    pseudo_inertia,
)

PAPER_FROM_PINOCCHIO = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


def make_body(generator: np.random.Generator, mass: float) -> FloatArray:
    """An ellipsoid of any proportions, somewhere within a few decimetres."""
    axes = 10.0 ** generator.uniform(-2.0, -0.7, 3)
    rotation = pin.exp3(generator.normal(0.0, 1.0, 3))
    ellipsoid = pin.Inertia.FromEllipsoid(mass, *axes)
    return from_pinocchio(pin.SE3(rotation, generator.normal(0.0, 0.1, 3)).act(ellipsoid))


def make_information(generator: np.random.Generator, rotation_rate: float = 1.5) -> FloatArray:
    """What forty random accelerations tell, with 0.1 N and 0.02 Nm of noise; none of the inertia without rotation."""
    information = np.zeros((10, 10))
    for _ in range(40):
        velocity = pin.Motion(np.zeros(3), generator.normal(0.0, rotation_rate, 3))
        acceleration = pin.Motion(generator.normal(0.0, 6.0, 3), generator.normal(0.0, 2.0 * rotation_rate, 3))
        rows = pin.bodyRegressor(velocity, acceleration)[:, PAPER_FROM_PINOCCHIO]
        rows /= np.repeat([0.1, 0.02], 3)[:, None]
        information += rows.T @ rows
    return information


def make_infeasible_estimate(seed: int) -> tuple[FloatArray, FloatArray]:
    """A noisy estimate of a body that came out as no body, and its information."""
    generator = np.random.default_rng(seed)
    while True:
        body = make_body(generator, 10.0 ** generator.uniform(-0.5, 0.5))
        information = make_information(generator)
        estimate = body + np.linalg.solve(np.linalg.cholesky(information).T, generator.normal(0.0, 1.0, 10))
        if not is_feasible(estimate):
            return estimate, information


def chi_square(body: FloatArray, estimate: FloatArray, information: FloatArray) -> float:
    return float((body - estimate) @ information @ (body - estimate))


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 12))])
def test_agrees_with_least_squares_over_cholesky_factors(seed: int) -> None:
    estimate, information = make_infeasible_estimate(seed)
    root = np.linalg.cholesky(information).T
    lower = np.tril_indices(4)

    def residual(factor: FloatArray) -> FloatArray:
        triangle = np.zeros((4, 4))
        triangle[lower] = factor
        return np.asarray(root @ (from_pseudo_inertia(triangle @ triangle.T) - estimate))

    result = nearest_feasible(estimate, information)
    ball = compose(abs(estimate[0]), estimate[1:4] / abs(estimate[0]), 1e-3 * np.eye(3))
    starts = [np.linalg.cholesky(pseudo_inertia(body))[lower] for body in (ball, result)]
    oracle = min(2.0 * least_squares(residual, start, xtol=1e-12, ftol=1e-12).cost for start in starts)
    assert chi_square(result, estimate, information) < oracle + 4.0 * TOLERANCE * max(1.0, oracle)


@pytest.mark.parametrize("seed", range(12, 40))
def test_multiplier_proves_the_optimum(seed: int) -> None:
    """Convex duality: where the gradient is tr(Z P( )) with Z ⪰ 0, no body costs less by more than tr(Z P(result))."""
    estimate, information = make_infeasible_estimate(seed)
    body = nearest_feasible(estimate, information)
    gradient = 2.0 * information @ (body - estimate)
    maps = np.array([pseudo_inertia(unit) for unit in np.eye(10)]).reshape(10, 16)
    multiplier = (np.linalg.pinv(maps) @ gradient).reshape(4, 4)
    scale = 1.0 / np.sqrt(pseudo_inertia(body).diagonal())
    smallest = np.linalg.eigvalsh(multiplier / np.outer(scale, scale))[0]
    scale_of_cost = max(1.0, chi_square(body, estimate, information))
    assert smallest > -20.0 * TOLERANCE * scale_of_cost
    assert np.trace(multiplier @ pseudo_inertia(body)) < 4.0 * TOLERANCE * scale_of_cost


def test_never_costs_more_than_clipping_eigenvalues() -> None:
    costs = []
    for seed in range(60):
        estimate, information = make_infeasible_estimate(seed)
        values, vectors = np.linalg.eigh(pseudo_inertia(estimate))
        clipped = from_pseudo_inertia(vectors * np.maximum(values, 1e-9) @ vectors.T)
        best = nearest_feasible(estimate, information)
        costs.append([chi_square(best, estimate, information), chi_square(clipped, estimate, information)])
    nearest, clipping = np.array(costs).T
    assert np.all(nearest < clipping + TOLERANCE * np.maximum(1.0, nearest))
    assert np.max(clipping / nearest) > 1.3


def test_feasible_estimate_is_returned_unchanged() -> None:
    generator = np.random.default_rng(1)
    body = make_body(generator, 1.0)
    assert nearest_feasible(body, make_information(generator)) is body
    estimate, information = make_infeasible_estimate(1)
    result = nearest_feasible(estimate, information)
    assert nearest_feasible(result, information) is result


@pytest.mark.parametrize(
    ("mass", "length"), [(1e-3, 0.1), (1e-3, 0.2), (1.0, 0.5), (1.0, 2.0), (200.0, 3.0), (200.0, 6.0)]
)
def test_result_scales_with_mass_and_length(mass: float, length: float) -> None:
    """From a gram to 200 kg, at densities within an order of magnitude of each other."""
    estimate, information = make_infeasible_estimate(3)
    scale = mass * length ** np.repeat([0, 1, 2], [1, 3, 6])
    result = nearest_feasible(scale * estimate, information / np.outer(scale, scale))
    expected = nearest_feasible(estimate, information)
    assert is_feasible(result)
    assert chi_square(result / scale, expected, information) < 10.0 * TOLERANCE


def test_thickness_keeps_the_margin() -> None:
    for seed in range(20):
        body = nearest_feasible(*make_infeasible_estimate(seed))
        matrix = pseudo_inertia(body)
        _, _, inertia = decompose(body)
        thinnest = np.linalg.eigvalsh(0.5 * np.trace(inertia) * np.eye(3) - inertia)[0]
        assert thinnest > 0.99 * MARGIN * np.trace(matrix[:3, :3])


def test_what_is_not_excited_is_a_ball_of_water_around_the_com() -> None:
    """Static poses tell mass and COM only; the inertia column of the estimate then means nothing."""
    generator = np.random.default_rng(2)
    information = make_information(generator, rotation_rate=0.0)
    assert np.linalg.matrix_rank(information) == 4
    for guess in (0.0, 5.0, -5.0):
        estimate = make_body(generator, 1.5)
        estimate[4:] = guess
        mass, com, inertia = decompose(nearest_feasible(estimate, information))
        assert mass == pytest.approx(1.5, rel=1e-6)
        np.testing.assert_allclose(com, estimate[1:4] / 1.5, atol=1e-6)
        radius = (1.5 / (4.0 / 3.0 * np.pi * 1000.0)) ** (1.0 / 3.0)
        np.testing.assert_allclose(inertia, 0.4 * 1.5 * radius**2 * np.eye(3), rtol=1e-3, atol=3e-6)


@pytest.mark.long
def test_any_input_gives_a_finite_feasible_body() -> None:
    generator = np.random.default_rng(4)
    for _ in range(300):
        body = make_body(generator, 10.0 ** generator.uniform(-3.0, 2.3))
        rank = generator.integers(0, 11)
        factor = generator.normal(0.0, 1.0, (10, rank)) * 10.0 ** generator.uniform(-4.0, 6.0, rank)
        estimate = body * generator.normal(0.0, 1.0, 10) * 10.0 ** generator.uniform(-3.0, 3.0)
        assert is_feasible(nearest_feasible(estimate, factor @ factor.T))
        assert is_feasible(nearest_feasible(-body, make_information(generator)))
    assert is_feasible(nearest_feasible(np.zeros(10), np.zeros((10, 10))))


def test_numbers_that_are_not_finite_are_refused() -> None:
    estimate, information = make_infeasible_estimate(5)
    with pytest.raises(NotIdentifiedError, match="not finite"):
        nearest_feasible(np.full(10, np.nan), information)
    information[0, 0] = np.inf
    with pytest.raises(NotIdentifiedError, match="not finite"):
        nearest_feasible(estimate, information)
