"""The load's regressor against pinocchio's own Newton-Euler and body regressor."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from inertid_ros.core.equations.load_regressor import build_prediction_map, build_regressor, compute_products

from inertid_ros.core.rigid_body.inertial import compose, to_pinocchio


@pytest.mark.parametrize("seed", range(5))
def test_wrench_agrees_with_newton_euler(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.normal(size=(3, 3))
    phi = compose(rng.uniform(0.1, 5.0), rng.normal(size=3), shape @ shape.T + np.eye(3))
    twist, acceleration, gravity, bias = (
        rng.normal(size=6),
        rng.normal(size=6),
        9.8 * rng.normal(size=3),
        rng.normal(size=6),
    )
    products = compute_products(twist[None])[0]
    features = np.concatenate((acceleration[:3] - gravity, acceleration[3:], products[3:], [1.0]))
    spatial = acceleration.copy()
    spatial[:3] -= np.cross(twist[3:], twist[:3]) + gravity
    inertia, velocity = to_pinocchio(phi), pin.Motion(twist)
    expected = (inertia * pin.Motion(spatial) + velocity.cross(inertia * velocity)).vector + bias
    unknowns = np.concatenate((phi, bias))
    np.testing.assert_allclose(build_regressor(features) @ unknowns, expected, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(features @ build_prediction_map(unknowns), expected, rtol=1e-12, atol=1e-11)


def test_products_are_the_cross_product_and_the_squares() -> None:
    rng = np.random.default_rng(9)
    twist = rng.normal(size=(20, 6))
    products = compute_products(twist)
    np.testing.assert_allclose(products[:, :3], np.cross(twist[:, 3:], twist[:, :3]), atol=1e-14)
    x, y, z = twist[:, 3], twist[:, 4], twist[:, 5]
    np.testing.assert_allclose(
        products[:, 3:], np.stack((x * x, x * y, x * z, y * y, y * z, z * z), axis=1), atol=1e-14
    )
