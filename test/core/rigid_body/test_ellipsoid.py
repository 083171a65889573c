"""The ellipsoid drawn for an inertia has that inertia."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import equivalent_semi_axes, semi_axis_bounds


def moments_by_sampling(mass: float, semi_axes: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """Principal moments of a homogeneous ellipsoid from points drawn in it."""
    directions = rng.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = directions * np.cbrt(rng.random((count, 1))) * semi_axes
    squares = mass * np.mean(points**2, axis=0)
    return np.asarray(squares.sum() - squares)


def test_points_filling_the_ellipsoid_have_the_moments_it_was_made_from() -> None:
    rng = np.random.default_rng(1)
    semi_axes = np.array([0.05, 0.12, 0.3])
    moments = moments_by_sampling(1.7, semi_axes, 400_000, rng)
    np.testing.assert_allclose(equivalent_semi_axes(1.7, moments), semi_axes, rtol=5e-3)


def test_a_sphere_comes_out_round() -> None:
    moment = 2.0 / 5.0 * 3.0 * 0.2**2
    np.testing.assert_allclose(equivalent_semi_axes(3.0, np.full(3, moment)), 0.2, rtol=1e-12)


def test_moments_no_body_has_give_a_flat_ellipsoid_not_a_nan() -> None:
    np.testing.assert_array_equal(equivalent_semi_axes(1.0, np.array([1.0, 0.1, 0.1]))[0], 0.0)


def test_the_bounds_enclose_the_ellipsoids_of_nearby_moments() -> None:
    rng = np.random.default_rng(2)
    moments, deviation = np.array([0.02, 0.024, 0.011]), np.array([1e-4, 2e-4, 3e-4])
    lower, upper = semi_axis_bounds(1.2, moments, deviation)
    drawn = np.array([equivalent_semi_axes(1.2, moments + deviation * rng.normal(size=3)) for _ in range(4000)])
    inside = (drawn > lower) & (drawn < upper)
    np.testing.assert_allclose(inside.mean(axis=0), 0.9545, atol=0.015)
    exact = equivalent_semi_axes(1.2, moments)
    for bound in semi_axis_bounds(1.2, moments, np.zeros(3)):
        np.testing.assert_allclose(bound, exact, rtol=1e-12)
