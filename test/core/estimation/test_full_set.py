"""All parameters of an arm: possible links that explain the data, and stay near the URDF where these say little."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.estimation.full_set import complete_by_ridge, complete_links
from inertid_ros.core.rigid_body.inertial import is_feasible
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


def test_without_data_the_links_are_the_urdf_s() -> None:
    names = list(Robot.from_urdf(URDF).joint_names)
    settings = Settings.from_flat({"links.effort_unit": "newton_metre", "links.joints": names})
    estimate = Chain(Robot.from_urdf(URDF), settings, Target.LINKS).estimate()
    assert isinstance(estimate, LinksEstimate)
    full = complete_links(estimate)
    np.testing.assert_allclose(full[:60:10], estimate.model.arm.parameters[::10], rtol=0.05)


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
