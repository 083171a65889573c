"""The shipped PUMA 560 against the published tables."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import paper_puma_move

# Armstrong, Khatib and Burdick 1986: twist [rad], length [m], offset [m] of the modified Denavit-Hartenberg frames.
DENAVIT_HARTENBERG = [
    (0.0, 0.0, 0.0),
    (-np.pi / 2, 0.0, 0.2435),
    (0.0, 0.4318, -0.0934),
    (np.pi / 2, -0.0203, 0.4331),
    (-np.pi / 2, 0.0, 0.0),
    (np.pi / 2, 0.0, 0.0),
]
# Mass [kg], centre of mass [m], principal moments about it [kg m^2] of links 2 to 6, as published.
PUBLISHED = {
    "link2": (17.4, (0.068, 0.006, -0.016), (0.130, 0.524, 0.539)),
    "link3": (4.8, (0.0, -0.070, 0.014), (0.066, 0.0125, 0.086)),
    "link4": (0.82, (0.0, 0.0, -0.019), (1.8e-3, 1.8e-3, 1.3e-3)),
    "link5": (0.34, (0.0, 0.0, 0.0), (0.3e-3, 0.3e-3, 0.4e-3)),
    "link6": (0.09, (0.0, 0.0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
}
ROTOR_INERTIAS = np.array([1.14, 4.71, 0.827, 0.200, 0.179, 0.193])


@pytest.fixture(scope="module")
def model() -> pin.Model:
    return pin.buildModelFromUrdf(str(share_path("urdf", "puma560.urdf")))


def modified_frame(twist: float, length: float, offset: float, angle: float) -> NDArray[np.float64]:
    """Pose of a link in the one before: turn and go along x, then turn and go along z (Craig's convention)."""
    ca, sa, ct, st = np.cos(twist), np.sin(twist), np.cos(angle), np.sin(angle)
    return np.array(
        [
            [ct, -st, 0.0, length],
            [st * ca, ct * ca, -sa, -offset * sa],
            [st * sa, ct * sa, ca, offset * ca],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def link_inertia(model: pin.Model, link: str) -> pin.Inertia:
    return model.inertias[model.getJointId(link.replace("link", "joint"))]


def test_links_are_where_the_denavit_hartenberg_table_puts_them(model: pin.Model) -> None:
    data = model.createData()
    for q in np.random.default_rng(1).uniform(model.lowerPositionLimit, model.upperPositionLimit, (20, 6)):
        pin.framesForwardKinematics(model, data, q)
        expected = np.eye(4)
        for number, (row, angle) in enumerate(zip(DENAVIT_HARTENBERG, q, strict=True), start=1):
            expected = expected @ modified_frame(*row, angle)
            pose = data.oMf[model.getFrameId(f"link{number}")].homogeneous
            np.testing.assert_allclose(pose, expected, atol=1e-12)


def test_sensor_is_a_massless_frame_on_the_flange(model: pin.Model) -> None:
    sensor = model.frames[model.getFrameId("ft_sensor")]
    assert model.names[sensor.parentJoint] == "joint6"
    np.testing.assert_allclose(sensor.placement.translation, [0.0, 0.0, 0.056])
    np.testing.assert_allclose(sensor.placement.rotation, np.eye(3))
    assert link_inertia(model, "link6").mass == 0.09


@pytest.mark.parametrize("link", PUBLISHED)
def test_inertias_are_the_published_ones(model: pin.Model, link: str) -> None:
    mass, com, moments = PUBLISHED[link]
    body = link_inertia(model, link)
    assert body.mass == mass
    np.testing.assert_allclose(body.lever, com)
    if link == "link3":
        moments = (*moments[:2], 0.078)
    np.testing.assert_allclose(body.inertia, np.diag(moments), atol=1e-15)


def test_published_link_3_is_no_body_and_ours_is_the_nearest_round_one() -> None:
    ixx, iyy, izz = PUBLISHED["link3"][2]
    assert izz - ixx - iyy == pytest.approx(0.0075)
    assert 0.078 < ixx + iyy < 0.079


def test_unpublished_link_1_keeps_the_published_inertia_about_its_axis(model: pin.Model) -> None:
    body = link_inertia(model, "link1")
    np.testing.assert_array_equal(body.lever[:2], 0.0)
    assert body.inertia[2, 2] == 0.35


@pytest.mark.parametrize("link", [f"link{number}" for number in range(1, 7)])
def test_every_link_is_a_body_that_can_exist(model: pin.Model, link: str) -> None:
    body = link_inertia(model, link)
    second_moments = np.trace(body.inertia) / 2 * np.eye(3) - body.inertia
    assert body.mass > 0.0
    assert np.linalg.eigvalsh(second_moments)[0] > 0.0


def test_move_of_the_paper_is_inside_all_limits(model: pin.Model) -> None:
    q, v, a = paper_puma_move().at(np.arange(401) / 200)
    assert np.all(q > model.lowerPositionLimit)
    assert np.all(q < model.upperPositionLimit)
    assert np.all(np.abs(v) < model.velocityLimit)
    data = model.createData()
    torques = np.array([pin.rnea(model, data, *state) for state in zip(q, v, a, strict=True)])
    assert np.all(np.abs(torques + ROTOR_INERTIAS * a) < model.effortLimit)


def test_move_of_the_paper_reaches_the_accelerations_the_paper_gives() -> None:
    accelerations = paper_puma_move().at(np.arange(4001) / 2000)[2]
    peaks = np.degrees(np.abs(accelerations).max(axis=0))
    assert peaks[0] == pytest.approx(130.0, abs=0.2)
    assert peaks[3] == pytest.approx(260.0, abs=0.4)
    assert np.all(peaks <= 260.0)
