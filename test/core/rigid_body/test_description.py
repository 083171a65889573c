"""Descriptions of bodies against finite differences, Monte Carlo and bodies whose answer is known."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import (
    RigidBodyEstimate,
    describe_body,
    differentiate_com,
    differentiate_inertia,
    find_principal_axes,
)
from inertid_ros.core.rigid_body.inertial import compose, decompose

ROTATION = np.asarray(pin.exp3(np.array([0.4, -0.9, 0.6])))
COM = np.array([0.05, -0.12, 0.2])
UPPER = np.triu_indices(3)


def make_phi(*moments: float) -> FloatArray:
    return compose(1.3, COM, ROTATION @ np.diag(moments) @ ROTATION.T)


def make_covariance(seed: int, size: float) -> FloatArray:
    """Correlated uncertainty, about `size` of 1 kg, 0.1 kg m and 0.01 kg m²."""
    scale = size * np.repeat([1.0, 0.1, 0.01], [1, 3, 6])
    mixing = np.random.default_rng(seed).normal(0.0, 1.0, (10, 10)) / np.sqrt(10.0)
    return np.asarray(scale[:, None] * (mixing @ mixing.T + 0.3 * np.eye(10)) * scale)


def differentiate(phi: FloatArray, index: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Central differences of COM, inertia about it and principal moments."""
    step = np.zeros(10)
    step[index] = 1e-6
    above, below = decompose(phi + step), decompose(phi - step)
    moments = np.linalg.eigvalsh(above[2]) - np.linalg.eigvalsh(below[2])
    return (above[1] - below[1]) / 2e-6, (above[2] - below[2])[UPPER] / 2e-6, moments / 2e-6


def test_jacobians_match_finite_differences() -> None:
    phi = make_phi(0.01, 0.02, 0.025)
    numeric = [differentiate(phi, index) for index in range(10)]
    com_jacobian, inertia_jacobian, moments_jacobian = (np.array(columns).T for columns in zip(*numeric, strict=True))
    np.testing.assert_allclose(differentiate_com(1.3, COM), com_jacobian, atol=1e-8)
    np.testing.assert_allclose(differentiate_inertia(COM), inertia_jacobian, atol=1e-8)
    covariance = make_covariance(0, 1e-3)
    body = describe_body(phi, covariance)
    expected = np.sqrt((moments_jacobian @ covariance @ moments_jacobian.T).diagonal())
    assert body.principal_moments_std is not None
    np.testing.assert_allclose(body.principal_moments_std, expected, rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_standard_deviations_match_monte_carlo(seed: int) -> None:
    phi = make_phi(0.01, 0.02, 0.025)
    covariance = make_covariance(seed, 2e-3)
    body = describe_body(phi, covariance)
    samples = np.random.default_rng(seed).multivariate_normal(phi, covariance, 4000)
    drawn = [decompose(sample) for sample in samples]
    com = np.array([item[1] for item in drawn])
    inertia = np.array([item[2] for item in drawn])
    moments = np.linalg.eigvalsh(inertia)
    assert body.com_covariance is not None
    assert body.com_std is not None
    assert body.inertia_std is not None
    assert body.principal_moments_std is not None
    assert body.mass_std == pytest.approx(samples[:, 0].std(), rel=0.05)
    np.testing.assert_allclose(body.com_std, com.std(axis=0), rtol=0.05)
    np.testing.assert_allclose(body.com_covariance, np.cov(com.T), atol=0.06 * body.com_std.max() ** 2)
    np.testing.assert_allclose(body.inertia_std, inertia.std(axis=0), rtol=0.05)
    np.testing.assert_allclose(body.principal_moments_std, moments.std(axis=0), rtol=0.05)


def test_values_are_those_of_the_body() -> None:
    body = describe_body(make_phi(0.02, 0.01, 0.025), make_covariance(1, 1e-4))
    assert body.mass == pytest.approx(1.3)
    assert body.com is not None
    assert body.inertia is not None
    assert body.principal_moments is not None
    assert body.principal_axes is not None
    np.testing.assert_allclose(body.com, COM, atol=1e-14)
    np.testing.assert_allclose(body.inertia, ROTATION @ np.diag([0.02, 0.01, 0.025]) @ ROTATION.T, atol=1e-14)
    np.testing.assert_allclose(body.principal_moments, [0.01, 0.02, 0.025], atol=1e-14)
    np.testing.assert_allclose(np.abs(body.principal_axes.T @ ROTATION[:, [1, 0, 2]]), np.eye(3), atol=1e-12)
    assert body.axes_unique == (True, True, True)


def test_axes_are_right_handed_and_of_one_sign() -> None:
    generator = np.random.default_rng(2)
    for _ in range(50):
        rotation = pin.exp3(generator.normal(0.0, 2.0, 3))
        inertia = rotation @ np.diag([0.3, 0.4, 0.5]) @ rotation.T
        moments, axes = find_principal_axes(inertia)
        assert np.linalg.det(axes) == pytest.approx(1.0)
        np.testing.assert_allclose(inertia @ axes, axes * moments, atol=1e-14)
        for axis in axes.T[:2]:
            assert axis[np.abs(axis).argmax()] > 0.0


@pytest.mark.parametrize(
    ("moments", "unique"),
    [
        ((0.02, 0.02, 0.02), (False, False, False)),
        ((0.01, 0.02, 0.02), (True, False, False)),
        ((0.02, 0.02, 0.03), (False, False, True)),
        ((0.01, 0.02, 0.025), (True, True, True)),
    ],
)
@pytest.mark.parametrize("size", [0.0, 1e-3])
def test_equal_moments_have_no_unique_axes(
    moments: tuple[float, float, float], unique: tuple[bool, bool, bool], size: float
) -> None:
    assert describe_body(make_phi(*moments), make_covariance(3, size)).axes_unique == unique


def test_equal_moments_are_told_apart_in_one_of_twenty_runs() -> None:
    phi = make_phi(0.01, 0.02, 0.02)
    covariance = make_covariance(4, 1e-3)
    samples = np.random.default_rng(5).multivariate_normal(phi, covariance, 2000)
    fooled = np.mean([describe_body(sample, covariance).axes_unique == (True, True, True) for sample in samples])
    assert 0.035 < fooled < 0.065


@pytest.mark.parametrize("mass", [-1.0, 0.0, 0.5])
def test_mass_that_may_be_zero_gives_no_com(mass: float) -> None:
    phi = make_phi(0.01, 0.02, 0.025)
    phi[0] = mass
    assert describe_body(phi, 0.0625 * np.eye(10)) == RigidBodyEstimate(mass, 0.25)
