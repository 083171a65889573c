"""All parameters of an arm: possible links that explain the data, and stay near the URDF where these say little."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.estimation.full_set import complete_by_ridge, complete_links, find_predictor, shrink
from inertid_ros.core.rigid_body.feasible_links import is_at_bound
from inertid_ros.core.rigid_body.inertial import decompose, inertia_of_ball, is_feasible
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.share import share_path
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

URDF = share_path("urdf", "puma560.urdf").read_text()


def identify(speed: float, noise: float) -> LinksEstimate:
    full = np.ones(6)
    motion = Multisine(JointLimits(-full, full, speed * full, 6.0 * speed * full), period=12.0, harmonics=5, seed=2)
    sensors = SensorModel(joint_rate=200.0, velocity_noise=2e-3, effort_noise=noise)
    simulator = Simulator(URDF, "ft_sensor", motion, sensors, [], seed=2, friction=JointFriction(2.0, 3.0, 0.5, 0.2))
    chain = Chain(Robot.from_urdf(URDF), Settings.from_flat({"links.effort_unit": "newton_metre"}), Target.LINKS)
    chain.push(simulator.joints(0.0, motion.duration))
    chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    return estimate


def test_links_can_exist_and_explain_the_data() -> None:
    estimate = identify(3.0, 0.05)
    full = complete_links(estimate)
    links = full[:60].reshape(6, 10)
    assert all(is_feasible(phi) for phi in links)
    unknowns = estimate.model.unknowns
    for part in (unknowns.viscous, unknowns.coulomb, unknowns.rotor_inertia):
        assert np.all(full[part] > 0.0)
    left = estimate.base.combination @ full - estimate.values
    assert np.sqrt(np.mean(left**2 / np.diag(estimate.covariance))) < 1.5


def test_a_weak_motion_does_not_make_links_of_a_hundred_kilograms() -> None:
    estimate = identify(0.3, 2.0)
    masses = complete_links(estimate)[:60:10]
    own = estimate.model.arm.parameters[::10]
    assert np.all(masses < 4.0 * own + 1.0)
    assert np.all(masses > 0.0)


def test_links_are_no_thinner_than_real_ones() -> None:
    """However far what the data ask for is from any body: a 17 kg link has more than 1e-6 kg m²."""
    estimate = identify(3.0, 0.05)
    wrong = [index for index, name in enumerate(estimate.names) if name.split(".")[-1] in ("Ixx", "Iyy", "Izz")]
    values = estimate.values.copy()
    values[wrong] -= 2.0 * np.abs(values[wrong]) + 0.05
    links = complete_links(replace(estimate, values=values))[:60].reshape(6, 10)
    assert any(is_at_bound(phi) for phi in links)
    for phi in links:
        mass, _, inertia = decompose(phi)
        assert np.linalg.eigvalsh(inertia)[0] > 0.009 * inertia_of_ball(mass)


def test_without_data_the_links_are_the_urdf_s() -> None:
    names = list(Robot.from_urdf(URDF).joint_names)
    settings = Settings.from_flat({"links.effort_unit": "newton_metre", "links.joints": names})
    estimate = Chain(Robot.from_urdf(URDF), settings, Target.LINKS).estimate()
    assert isinstance(estimate, LinksEstimate)
    full = complete_links(estimate)
    np.testing.assert_allclose(full[:60:10], estimate.model.arm.parameters[::10], rtol=0.05)


def test_evidence_finds_how_far_links_are_from_the_urdf() -> None:
    """Base parameters drawn at random: the widths are those they were drawn with, and what is known stays."""
    model = identify(3.0, 0.05).model
    unknowns, rng = model.unknowns, np.random.default_rng(5)
    links = model.arm.parameters.reshape(-1, 10)
    sizes = np.ones(len(unknowns.names))
    sizes[unknowns.inertial] = (links[:, :1] * np.array([1.0] + [0.3] * 3 + [0.09] * 6)).ravel()
    strengths = np.full(len(sizes), 0.2)
    strengths[unknowns.viscous], strengths[unknowns.offset] = 3.0, 1.0
    full = rng.normal(size=len(sizes)) * strengths * sizes
    full[unknowns.inertial] += model.arm.parameters
    truth = model.base.combination @ full
    deviations = 1e-4 * model.own_sizes
    shrunk = shrink(model, truth + rng.normal(size=len(truth)) * deviations, np.diag(deviations**2))
    found = shrunk.widths / sizes
    np.testing.assert_allclose(found[0], 0.2, rtol=0.4)
    np.testing.assert_allclose(found[unknowns.viscous], 3.0, rtol=0.8)
    left = model.base.combination @ shrunk.values - truth
    assert np.sqrt(np.mean((left / deviations) ** 2)) < 1.5


def test_predictor_stays_with_strong_data_and_goes_to_the_urdf_without() -> None:
    strong, weak = identify(3.0, 0.05), identify(0.3, 2.0)
    predictor = find_predictor(strong)
    deviations = np.sqrt(np.diag(strong.fitted_covariance))
    assert np.sqrt(np.mean(((predictor.values - strong.fitted) / deviations) ** 2)) < 1.5
    assert np.all(np.linalg.eigvalsh(predictor.covariance) > 0.0)
    own, prior = weak.model.own_sizes, weak.model.prior
    links = [index for index, name in enumerate(weak.names) if not name.startswith("joint")]
    moved, fitted = (
        np.abs(values - prior)[links] / own[links] for values in (find_predictor(weak).values, weak.fitted)
    )
    assert np.linalg.norm(moved) < 0.5 * np.linalg.norm(fitted)


def test_what_fitted_values_owe_to_nuisances_is_uncertain_on_other_motions() -> None:
    estimate = identify(3.0, 0.05)
    owing = replace(estimate, values=estimate.fitted + 5.0 * np.sqrt(np.diag(estimate.repeatability)))
    paid = replace(estimate, values=estimate.fitted)
    added = find_predictor(owing).covariance - find_predictor(paid).covariance
    np.testing.assert_array_equal(find_predictor(owing).values, find_predictor(paid).values)
    sizes = np.linalg.eigvalsh(added / np.sqrt(np.outer(*(np.diag(estimate.repeatability),) * 2)))
    assert sizes[-1] == pytest.approx(25.0 * len(estimate.values), rel=0.2)
    assert np.abs(sizes[:-1]).max() < 1e-6 * sizes[-1]


def test_ridge_gives_the_same_torques_with_less() -> None:
    """Eq. 20 of the paper: base parameters as estimated, and no other set that has them is smaller."""
    estimate = identify(3.0, 0.05)
    ridge = complete_by_ridge(estimate)
    combination = estimate.base.combination
    deviations = np.sqrt(np.diag(estimate.covariance))
    assert np.all(np.abs(combination @ ridge - estimate.values) < 0.01 * deviations)
    shortest = np.linalg.pinv(combination) @ estimate.values
    np.testing.assert_allclose(ridge, shortest, atol=1e-2 * float(np.abs(shortest).max()))
    assert np.linalg.norm(ridge) < np.linalg.norm(complete_links(estimate))
