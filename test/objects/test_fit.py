"""The pose in which an object explains an estimate, and how likely that makes the object."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import multivariate_normal
from support.objects import DEVIATIONS, FINGERS, box, hold, make_known, random_rotation

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import change_frame
from inertid_ros.objects.fit import REACH, PosePrior, fit_object
from inertid_ros.objects.known import find_transfer, make_pose

BOOK = box(0.62, 0.15, 0.23, 0.03, (0.02, 0.0, 0.01))
CARTON = box(0.6, 0.08, 0.08, 0.2)
CUBE = box(0.6, 0.1, 0.1, 0.1)


def test_parameters_are_transferred_as_pseudo_inertias() -> None:
    pose = make_pose(random_rotation(1), np.array([0.1, -0.2, 0.3]))
    expected = change_frame(BOOK, pose[:3, :3], pose[:3, 3])
    np.testing.assert_allclose(find_transfer(pose) @ BOOK, expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_pose_is_found_up_to_half_turns_about_principal_axes(seed: int) -> None:
    rotation, place = random_rotation(seed), np.array([0.03, -0.02, 0.1])
    estimate = hold(BOOK, rotation, place)
    found = fit_object(estimate.values, estimate.covariance, make_known("book", BOOK), None)
    np.testing.assert_allclose(find_transfer(found.pose) @ BOOK, estimate.values, atol=1e-6)
    turn = found.pose[:3, :3].T @ rotation
    np.testing.assert_allclose(np.abs(np.diag(turn)), 1.0, atol=1e-4)


@pytest.mark.parametrize("phi", [BOOK, CARTON, CUBE], ids=["three moments", "two equal", "all equal"])
@pytest.mark.parametrize("blur", [10.0, 30.0])
def test_the_likelihood_is_the_integral_over_all_poses(phi: FloatArray, blur: float) -> None:
    """Against the average over random poses; the deviations are large enough for that to converge."""
    estimate = hold(phi, random_rotation(3), deviations=blur * DEVIATIONS)
    known = make_known("it", phi)
    rng = np.random.default_rng(0)
    count = 20_000
    rotations = Rotation.random(count, random_state=1).as_matrix()
    com, spread = estimate.values[1:4] / estimate.values[0], 1e-3 * blur
    coms = com + spread * rng.normal(size=(count, 3))  # importance sampling
    poses = np.broadcast_to(np.eye(4), (count, 4, 4)).copy()
    poses[:, :3, :3], poses[:, :3, 3] = rotations, coms - rotations @ known.com
    centre = multivariate_normal(com, spread**2 * np.eye(3)).logpdf(coms)
    weights = multivariate_normal(np.zeros(3), REACH**2 * np.eye(3)).logpdf(coms) - centre
    transfers = find_transfer(poses)
    total = estimate.covariance + transfers @ known.covariance @ transfers.swapaxes(-1, -2)
    left = estimate.values - transfers @ known.phi
    squares = np.einsum("si,si->s", left, np.linalg.solve(total, left[..., None])[..., 0])
    logs = -0.5 * (squares + np.linalg.slogdet(total)[1] + 10.0 * np.log(2.0 * np.pi)) + weights
    expected = np.log(np.mean(np.exp(logs - logs.max()))) + logs.max()
    found = fit_object(estimate.values, estimate.covariance, known, None)
    assert found.evidence == pytest.approx(expected, abs=0.3)


def test_the_covariance_of_the_pose_is_that_of_repetitions() -> None:
    known, rotation = make_known("book", BOOK), random_rotation(4)
    prior = PosePrior(make_pose(rotation, FINGERS), 0.05, 0.5)
    found = [
        fit_object(one.values, one.covariance, known, prior)
        for one in (hold(BOOK, rotation, seed=seed, deviations=2.0 * DEVIATIONS) for seed in range(60))
    ]
    turns = [Rotation.from_matrix(fit.pose[:3, :3] @ rotation.T).as_rotvec() for fit in found]
    off = np.array([np.concatenate((fit.pose[:3, 3] - FINGERS, turn)) for fit, turn in zip(found, turns, strict=True)])
    whitened = [one @ np.linalg.solve(fit.covariance, one) for one, fit in zip(off, found, strict=True)]
    assert np.mean(whitened) == pytest.approx(6.0 * 4.0 / 5.0, rel=0.3)  # the object's own covariance was not drawn
