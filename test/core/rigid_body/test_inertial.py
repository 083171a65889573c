"""Parameters against pinocchio's own conversions and against sums over point masses."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body import inertial


def random_points(generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Six point masses: a body whose parameters are plain sums."""
    return generator.uniform(0.1, 1.0, 6), generator.normal(0.0, 0.3, (6, 3))


def parameters_of_points(masses: FloatArray, points: FloatArray) -> FloatArray:
    """Sum the definition m, m x, m (y²+z²), −m xy … over the points."""
    x, y, z = points.T
    moments = [y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y]
    return np.array([masses.sum(), *(masses @ points), *(float(masses @ moment) for moment in moments)])


def random_pose(generator: np.random.Generator) -> pin.SE3:
    return pin.SE3(pin.exp3(generator.normal(0.0, 1.0, 3)), generator.normal(0.0, 1.0, 3))


def test_decompose_gives_com_and_inertia_of_points() -> None:
    generator = np.random.default_rng(1)
    masses, points = random_points(generator)
    mass, com, inertia = inertial.decompose(parameters_of_points(masses, points))
    centre = masses @ points / masses.sum()
    about_centre = parameters_of_points(masses, points - centre)
    assert mass == pytest.approx(masses.sum())
    np.testing.assert_allclose(com, centre, atol=1e-14)
    np.testing.assert_allclose(inertia[np.triu_indices(3)], about_centre[4:], atol=1e-14)
    np.testing.assert_array_equal(inertia, inertia.T)


def test_compose_undoes_decompose() -> None:
    phi = parameters_of_points(*random_points(np.random.default_rng(2)))
    np.testing.assert_allclose(inertial.compose(*inertial.decompose(phi)), phi, rtol=1e-13)


def test_pinocchio_agrees_on_the_order() -> None:
    for seed in range(20):
        phi = parameters_of_points(*random_points(np.random.default_rng(seed)))
        body = inertial.to_pinocchio(phi)
        spatial = body.matrix()  # [[m 1, −m c×], [m c×, I_origin]]
        np.testing.assert_allclose(spatial[3:, 3:][np.triu_indices(3)], phi[4:], atol=1e-13)
        np.testing.assert_allclose(spatial[5, 1], phi[1], atol=1e-14)
        np.testing.assert_allclose(inertial.from_pinocchio(body), phi, atol=1e-13)


def test_ten_zeros_are_the_massless_body() -> None:
    assert inertial.to_pinocchio(np.zeros(10)).isZero(0.0)
    np.testing.assert_array_equal(inertial.from_pinocchio(pin.Inertia.Zero()), np.zeros(10))


@pytest.mark.parametrize("mass", [0.0, -1.0, np.nan])
def test_no_com_without_positive_mass(mass: float) -> None:
    phi = np.array([mass, 0.1, 0, 0, 1, 0, 0, 1, 0, 1.0])
    with pytest.raises(NotIdentifiedError, match="centre of mass"):
        inertial.decompose(phi)
    with pytest.raises(NotIdentifiedError, match="centre of mass"):
        inertial.to_pinocchio(phi)


def test_change_frame_moves_the_points() -> None:
    generator = np.random.default_rng(3)
    masses, points = random_points(generator)
    pose = random_pose(generator)
    moved = points @ pose.rotation.T + pose.translation
    phi = inertial.change_frame(parameters_of_points(masses, points), pose.rotation, pose.translation)
    np.testing.assert_allclose(phi, parameters_of_points(masses, moved), atol=1e-12)
    by_pinocchio = pose.act(inertial.to_pinocchio(parameters_of_points(masses, points)))
    np.testing.assert_allclose(phi, inertial.from_pinocchio(by_pinocchio), atol=1e-12)


def test_change_frame_takes_negative_mass() -> None:
    generator = np.random.default_rng(4)
    phi = parameters_of_points(*random_points(generator))
    pose = random_pose(generator)
    forward = inertial.change_frame(-phi, pose.rotation, pose.translation)
    back = inertial.change_frame(forward, pose.inverse().rotation, pose.inverse().translation)
    np.testing.assert_allclose(back, -phi, atol=1e-12)


def test_pseudo_inertia_is_the_second_moment_of_points() -> None:
    masses, points = random_points(np.random.default_rng(5))
    homogeneous = np.column_stack((points, np.ones(6)))
    phi = parameters_of_points(masses, points)
    matrix = inertial.pseudo_inertia(phi)
    np.testing.assert_allclose(matrix, homogeneous.T @ (masses[:, None] * homogeneous), atol=1e-14)
    np.testing.assert_allclose(inertial.from_pseudo_inertia(matrix), phi, atol=1e-14)
    np.testing.assert_allclose(matrix, inertial.to_pinocchio(phi).toPseudoInertia().toMatrix(), atol=1e-13)


@pytest.mark.parametrize("mass", [1e-3, 1.0, 200.0])
def test_feasible_is_positive_mass_and_triangle_inequality(mass: float) -> None:
    com = np.array([0.3, -0.2, 0.1])
    rotation = pin.exp3(np.array([0.3, 0.8, -0.5]))

    def feasible(*moments: float) -> bool:
        return inertial.is_feasible(inertial.compose(mass, com, mass * rotation @ np.diag(moments) @ rotation.T))

    assert feasible(1.0, 1.0, 1.99)
    assert not feasible(1.0, 1.0, 2.01)
    assert not feasible(-0.01, 1.0, 1.0)
    assert not inertial.is_feasible(-inertial.compose(mass, com, np.eye(3)))
    assert not inertial.is_feasible(np.zeros(10))
    assert not inertial.is_feasible(np.full(10, np.nan))


def test_points_on_a_line_are_not_a_feasible_body() -> None:
    masses, points = random_points(np.random.default_rng(6))
    line = np.outer(points[:, 0], [1.0, 2.0, 3.0])
    assert not inertial.is_feasible(parameters_of_points(masses, line))
    assert inertial.is_feasible(parameters_of_points(masses, points))
