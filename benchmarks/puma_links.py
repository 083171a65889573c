"""A PUMA with strong joint friction, on a base sensor: what is learned from its efforts, its base wrench, and both.

Thirty seconds of a multisine, encoders only, 200 Hz. Noise is 0.5 N and 0.1 Nm under the base, up to 1 Nm in the
efforts. Links weigh up to 30 % more or less than the URDF says. Another multisine, never used, tests what was learned.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.equations.arm import LinkUnknowns, make_arm_equation
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.settings.choices import EffortUnit, Source
from inertid_ros.core.settings.settings import LinksSettings, Settings
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import JointPath
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.arm import JointFriction, links_of
from inertid_ros.sim.sensors import PUMA_ENCODER_RESOLUTION, SensorModel
from inertid_ros.sim.simulator import DEFAULT_GRAVITY, Simulator

URDF = share_path("urdf", "puma560.urdf").read_text()
FRICTION = JointFriction(
    viscous_friction=np.array([5.0, 6.0, 3.0, 0.4, 0.4, 0.3]),
    coulomb_friction=np.array([10.0, 12.0, 6.0, 1.0, 0.8, 0.7]),
    effort_offset=np.array([1.0, -1.5, 0.5, 0.1, -0.1, 0.05]),
)
"""The efforts are mostly friction: 12 Nm in joint 1, where the links need 1.9 Nm (rms)."""
WEIGHTS = np.array([1.0, 0.8, 1.25, 0.75, 1.2, 1.3])
"""How heavy the links are, in units of the URDF's."""
BIAS = (3.0, -2.0, 4.0, 0.3, 0.2, -0.3)
SENSORS = SensorModel(
    encoder_resolution=PUMA_ENCODER_RESOLUTION,
    effort_noise=(1.0, 1.0, 0.5, 0.1, 0.1, 0.1),
    force_noise=0.5,
    torque_noise=0.1,
    bias=BIAS,
)
_TEST_SEED = 1000


class PumaCase(NamedTuple):
    """What is learned from, whether there is friction, and whether the model has it."""

    source: Source
    has_friction: bool
    has_columns: bool = True


CASES = (
    PumaCase(Source.BASE_WRENCH, has_friction=False),
    PumaCase(Source.BASE_WRENCH, has_friction=True),
    PumaCase(Source.EFFORT, has_friction=False),
    PumaCase(Source.EFFORT, has_friction=True),
    PumaCase(Source.EFFORT, has_friction=True, has_columns=False),
    PumaCase(Source.BOTH, has_friction=True),
)


class PumaRun(NamedTuple):
    """One run.

    Attributes:
        parameters: rms error of the links' base parameters that a base sensor sees, in units of the standard deviations
            of the first run from the base wrench; NaN where there was none.
        links: relative rms error of what the links need of the efforts of a motion never used.
        efforts: relative rms error of the efforts of that motion, with friction; NaN where none were learned.
        friction: relative rms error of the viscous and Coulomb friction of all joints; NaN where none was learned.
        covered: share of the base parameters whose 95 % interval holds the truth.
    """

    parameters: float
    links: float
    efforts: float
    friction: float
    covered: float


def run_puma(case: PumaCase, seed: int, duration: float = 30.0) -> PumaRun:
    """Learn in one causal pass over a multisine drawn from the seed, then predict another."""
    friction = FRICTION if case.has_friction else JointFriction().for_joints(6)
    truth = WEIGHTS[:, None] * links_of(_robot())
    estimate = _learn(case, seed, duration, friction, truth)
    return _judge(case, estimate, truth.ravel(), friction)


def _learn(case: PumaCase, seed: int, duration: float, friction: JointFriction, truth: FloatArray) -> LinksEstimate:
    motion = _make_motion(seed, duration)
    simulator = Simulator(URDF, "ft_sensor", motion, SENSORS, seed=seed, friction=friction, links=truth)
    links = LinksSettings(
        source=case.source,
        effort_unit=EffortUnit.NEWTON_METRE,
        joints=list(_robot().joint_names),
        viscous=case.has_columns,
        coulomb=case.has_columns,
        rotor_inertia=case.has_columns,
        offset=case.has_columns,
        coulomb_velocity=0.005,
    )
    chain = Chain(_robot(), Settings(links=links), Target.LINKS)
    chain.push(simulator.joints(0.0, duration))
    chain.push(simulator.base_wrenches(0.0, duration))
    chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    return estimate


def _judge(case: PumaCase, estimate: LinksEstimate, truth: FloatArray, friction: JointFriction) -> PumaRun:
    unknowns, base = estimate.model.unknowns, estimate.base
    full = np.zeros(len(unknowns.names))
    full[base.columns] = estimate.values
    path, regressor = _test_motion()
    needed, found = regressor @ truth, regressor @ full[unknowns.inertial]
    parameters = in_error = efforts = float("nan")
    if case.source.has_base_wrench:
        combination, deviations = _reference()
        errors = combination @ (full[unknowns.inertial] - truth) / deviations
        parameters = float(np.sqrt(np.mean(errors**2)))
    if case.source.has_efforts:
        drives = _drives_of(full, unknowns)
        efforts = _relate(needed + friction.efforts(path), found + drives.efforts(path))
        if case.has_columns and case.has_friction:
            true, learned = (np.r_[part.viscous_friction, part.coulomb_friction] for part in (friction, drives))
            in_error = _relate(true, learned)
    every = _all_unknowns(unknowns, truth, friction)
    errors = estimate.values - base.combination @ every
    inside = np.abs(errors) < 1.96 * np.sqrt(np.diag(estimate.covariance))
    return PumaRun(parameters, _relate(needed, found), efforts, in_error, float(np.mean(inside)))


def _all_unknowns(unknowns: LinkUnknowns, links: FloatArray, friction: JointFriction) -> FloatArray:
    """The truth of all that can be unknown, (F,)."""
    every = np.zeros(len(unknowns.names))
    every[unknowns.inertial] = links
    parts = (unknowns.viscous, friction.viscous_friction), (unknowns.coulomb, friction.coulomb_friction)
    for part, values in (*parts, (unknowns.offset, friction.effort_offset), (unknowns.base_offset, BIAS)):
        if part.stop > part.start:
            every[part] = values
    return every


def _drives_of(full: FloatArray, unknowns: LinkUnknowns) -> JointFriction:
    """Friction that was learned; estimates may be below zero by their uncertainty, which no friction can."""
    parts = (unknowns.viscous, unknowns.coulomb, unknowns.rotor_inertia, unknowns.offset)
    viscous, coulomb, rotor, offset = (full[part] if part.stop > part.start else np.zeros(6) for part in parts)
    return JointFriction(np.maximum(viscous, 0.0), np.maximum(coulomb, 0.0), np.maximum(rotor, 0.0), offset)


@cache
def _robot() -> Robot:
    return Robot.from_urdf(URDF)


@cache
def _reference() -> tuple[FloatArray, FloatArray]:
    """Links' base parameters that a base sensor tells from its offsets, (B, 60), and their standard deviations."""
    truth = WEIGHTS[:, None] * links_of(_robot())
    estimate = _learn(CASES[0], 0, 30.0, JointFriction().for_joints(6), truth)
    part = estimate.model.unknowns.inertial
    combination = estimate.base.combination
    of_links = ~np.any(combination[:, part.stop :], axis=1)
    return combination[of_links, part], np.sqrt(np.diag(estimate.covariance))[of_links]


@cache
def _test_motion() -> tuple[JointPath, FloatArray]:
    """A motion never used, and the regressor (N, 6, 60) of its efforts."""
    motion = _make_motion(_TEST_SEED, 30.0)
    path = motion.at(np.arange(0.0, motion.duration, 0.02))
    arm = ArmModel.of(_robot(), np.array(DEFAULT_GRAVITY))
    unknowns = LinkUnknowns.of(arm, Source.EFFORT, viscous=False, coulomb=False, rotor_inertia=False, offset=False)
    links = np.arange(len(unknowns.names))
    equation = make_arm_equation(arm, Source.EFFORT, unknowns, links, pin.SE3.Identity(), coulomb_velocity=1.0)
    return path, equation.assemble(equation.compute(*path))


def _make_motion(seed: int, duration: float) -> Multisine:
    model = _robot().model
    speeds = np.repeat([1.5, 2.5], 3)
    limits = JointLimits(0.8 * model.lowerPositionLimit, 0.8 * model.upperPositionLimit, speeds, 2.0 * speeds)
    return Multisine(limits, duration, harmonics=round(0.8 * duration), seed=seed)


def _relate(true: FloatArray, found: FloatArray) -> float:
    return float(np.linalg.norm(found - true) / np.linalg.norm(true))
