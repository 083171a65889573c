"""A link chain and a simulated direct drive arm that is heavier and rougher than its URDF says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import Fit, LinksEstimate
from inertid_ros.core.records import FloatArray, JointBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.motions.motion import Motion
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.arm import JointFriction, links_of
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import DEFAULT_START, Simulator
from support.chain import DDARM

LINKS = np.array([[0.8], [1.3], [0.7]]) * links_of(Robot.from_urdf(DDARM))
FRICTION = JointFriction(
    viscous_friction=np.array([8.0, 3.0, 2.0]),
    coulomb_friction=np.array([6.0, 4.0, 3.0]),
    rotor_inertia=np.array([0.5, 0.3, 0.2]),
    effort_offset=np.array([2.0, -1.0, 0.5]),
)
BIAS = (3.0, -2.0, 4.0, 0.3, 0.2, -0.3)
EXACT = SensorModel(velocity_noise=0.0, effort_noise=0.0, bias=BIAS)
NOISY = replace(EXACT, velocity_noise=1e-3, effort_noise=1.0, force_noise=1.0, torque_noise=0.3)


def make_motion(seed: int = 0, duration: float = 20.0, still: int | None = None) -> Motion:
    """All three joints, or all but one, by many sines."""
    reach = np.full(3, 1.5)
    if still is not None:
        reach[still] = 1e-9
    limits = JointLimits(2.0 - reach, 2.0 + reach, np.full(3, 4.0), np.full(3, 12.0))
    return Multisine(limits, duration, harmonics=round(duration), seed=seed)


NOTHING_SYSTEMATIC = dict.fromkeys(
    ("tilt_uncertainty", "delay_uncertainty", "gain_uncertainty", "friction_uncertainty"), 0.0
)
"""Settings of simulated sensors, whose gains and delays are exact."""


def make_link_chain(urdf: str = DDARM, **links: object) -> Chain:
    """A chain that learns from efforts in newton metres of exact sensors unless told otherwise."""
    values = {"effort_unit": "newton_metre", **NOTHING_SYSTEMATIC, **links}
    settings = Settings.from_flat({f"links.{name}": value for name, value in values.items()})
    return Chain(Robot.from_urdf(urdf), settings, Target.LINKS)


def simulate_links(
    motion: Motion,
    seed: int = 0,
    model: SensorModel = NOISY,
    friction: JointFriction = FRICTION,
    start_stamp: int = DEFAULT_START,
    **sensors: object,
) -> Simulator:
    """The arm with other links and friction, some of its sensors replaced."""
    model = replace(model, **sensors)  # type: ignore[arg-type]
    return Simulator(
        DDARM, "ft_sensor", motion, model, seed=seed, start_stamp=start_stamp, friction=friction, links=LINKS
    )


def cut(block: JointBlock, part: slice) -> JointBlock:
    """Some samples of a block with velocities and efforts."""
    names, stamps, positions, velocities, efforts = block
    assert velocities is not None
    assert efforts is not None
    return JointBlock(names, stamps[part], positions[part], velocities[part], efforts[part])


def pick(block: JointBlock, joints: list[int]) -> JointBlock:
    """Some joints of a block with velocities and efforts."""
    names, stamps, positions, velocities, efforts = block
    assert velocities is not None
    assert efforts is not None
    kept = tuple(names[joint] for joint in joints)
    of_joints = (np.ascontiguousarray(values[:, joints]) for values in (positions, velocities, efforts))
    return JointBlock(kept, stamps, *of_joints)


def estimate_of(chain: Chain) -> LinksEstimate:
    """What the chain knows; it must know its arm."""
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    return estimate


def fit_of(chain: Chain) -> Fit:
    """How well the channels are explained."""
    fit = estimate_of(chain).fit
    assert fit is not None
    return fit


def true_values(estimate: LinksEstimate, friction: JointFriction = FRICTION, links: FloatArray = LINKS) -> FloatArray:
    """Base parameters (U,) of the simulated arm."""
    unknowns = estimate.model.unknowns
    full = np.zeros(len(unknowns.names))
    full[unknowns.inertial] = links.ravel()
    parts = {
        "viscous": friction.viscous_friction,
        "coulomb": friction.coulomb_friction,
        "rotor_inertia": friction.rotor_inertia,
        "offset": friction.effort_offset,
        "base_offset": BIAS,
    }
    for name, values in parts.items():
        part: slice = getattr(unknowns, name)
        if part.stop > part.start:
            full[part] = values
    return np.asarray(estimate.base.combination @ full)


def assert_found(estimate: LinksEstimate, friction: JointFriction = FRICTION, most: float = 4.0) -> None:
    """All base parameters are within a few standard deviations of the truth, and these are small."""
    deviations = np.sqrt(np.diag(estimate.covariance))
    errors = estimate.values - true_values(estimate, friction)
    assert np.all(np.abs(errors) < most * deviations)
    assert np.all(deviations < 0.05 * estimate.model.prior_deviations)
