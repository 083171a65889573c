"""What is unknown of an arm and which of it can be known: set up from URDF and settings before any motion."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.arm import LinkUnknowns, Payload, channel_names, make_arm_equation
from inertid_ros.core.equations.base_parameters import (
    BaseParameters,
    draw_states,
    find_base_parameters,
    order_of_links,
    square_up,
)
from inertid_ros.core.equations.equation import WRENCH_UNITS, Equation
from inertid_ros.core.errors import UnknownFrameError, UnsupportedJointError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.settings.choices import Source
from inertid_ros.core.settings.settings import Settings

_GRAVITY = 9.81
"""Gravity [m/s²] with which the largest moment of an arm is estimated for the prior, however the arm is mounted."""
_SMALLEST_MASS = 1.0
"""Mass [kg] that an arm is taken to have at least: many URDFs have no masses, and a prior must leave room for them."""
_SHORTEST_REACH = 0.1
"""Reach [m] that an arm is taken to have at least, for an arm whose joints all meet in a point."""


@dataclass(frozen=True, slots=True)
class LinkModel:
    """An arm, all its unknowns, and those combinations of them that can be identified.

    Attributes:
        arm: the arm.
        source: what is measured.
        base_pose: where in the root frame the base sensor is.
        channels: names of what is measured, K.
        unknowns: all of them, the standard parameters.
        base: the base parameters among them.
        equation: of the base parameters.
        prior: (U,) base parameters of the URDF; friction, rotors and offsets at zero.
        prior_deviations: (U,) how far from it they may be: as far as any arm of this mass and reach.
        own_sizes: (U,) what a link of its own mass and size has of each, and a joint of what it carries.
    """

    arm: ArmModel
    source: Source
    base_pose: pin.SE3
    channels: tuple[str, ...]
    unknowns: LinkUnknowns
    base: BaseParameters
    equation: Equation
    prior: FloatArray
    prior_deviations: FloatArray
    own_sizes: FloatArray

    @classmethod
    def from_settings(cls, robot: Robot, settings: Settings, joints: Sequence[str]) -> LinkModel:
        """Set up some joints of a robot.

        Raises:
            RobotDescriptionError: if a joint or the base sensor's frame is not there or cannot be used.
            RankError: if the numerical rank is ambiguous.
        """
        links = settings.links
        with_gravity = not links.static_file
        arm = ArmModel.of(robot, np.array(settings.gravity) * with_gravity, joints)
        unknowns = LinkUnknowns.of(
            arm, Source(links.source), links.viscous, links.coulomb, links.rotor_inertia, links.offset, with_gravity
        )
        pose = arm.place_of(links.base_frame) if links.base_frame else None
        return cls.of(arm, Source(links.source), unknowns, pose, links.coulomb_velocity)

    @classmethod
    def of(
        cls,
        arm: ArmModel,
        source: Source,
        unknowns: LinkUnknowns,
        base_pose: pin.SE3 | None = None,
        coulomb_velocity: float = 0.02,
    ) -> LinkModel:
        """Find the base parameters by simulated motion, and make their columns.

        Raises:
            RankError: if the numerical rank is ambiguous.
        """
        pose = pin.SE3.Identity() if base_pose is None else base_pose
        everything = np.arange(len(unknowns.names))
        squared = dataclasses.replace(arm, model=square_up(arm.model))
        full = make_arm_equation(squared, source, unknowns, everything, pose, coulomb_velocity)
        links = order_of_links(len(arm.link_names))
        order = np.concatenate((links, everything[len(links) :]))
        base = find_base_parameters(_simulate(full, squared), unknowns.names, order)
        equation = make_arm_equation(arm, source, unknowns, base.columns, pose, coulomb_velocity)
        prior = base.combination[:, unknowns.inertial] @ arm.parameters
        deviations = _widths(arm, unknowns)[base.columns]
        sizes = find_own_sizes(arm, unknowns)[base.columns]
        return cls(arm, source, pose, channel_names(arm, source), unknowns, base, equation, prior, deviations, sizes)

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each channel: N for forces and prismatic joints, Nm for moments and all other joints."""
        efforts = tuple("Nm" if is_angle else "N" for is_angle in self.arm.is_angle)
        return (WRENCH_UNITS + efforts)[-len(self.channels) :] if self.source.has_efforts else WRENCH_UNITS

    def with_nuisances(self, coulomb_velocity: float, tilts: int) -> Equation:
        """The equation of the base parameters, and after them columns for the shape of friction, tilts and a delay."""
        return make_arm_equation(
            self.arm,
            self.source,
            self.unknowns,
            self.base.columns,
            self.base_pose,
            coulomb_velocity,
            tilts=tilts,
        )

    def with_payload(self, frame: str, coulomb_velocity: float) -> Equation:
        """The equation of the base parameters, and after them the ten parameters of a load that is fixed to a frame.

        Raises:
            UnknownFrameError, UnsupportedJointError: if the frame is not there or no measured joint moves it.
        """
        frames = [item for item in self.arm.model.frames if item.type == pin.FrameType.BODY]
        found = [item for item in frames if item.name == frame]
        if not found:
            raise UnknownFrameError(frame, [item.name for item in frames])
        body = found[0].parentJoint - 1
        if body < 0:
            raise UnsupportedJointError(f"no measured joint moves frame '{frame}': a load cannot be identified there")
        payload = Payload(body, found[0].placement)
        return make_arm_equation(
            self.arm, self.source, self.unknowns, self.base.columns, self.base_pose, coulomb_velocity, payload
        )


@dataclass(frozen=True, slots=True)
class IdentifiedArm:
    """Base parameters of an arm without load.

    Attributes:
        joint_names: the arm's joints.
        names: (U,) the parameter that stands for each base parameter.
        values: (U,).
        covariance: (U, U) of the values; zeros where it is not known.
    """

    joint_names: tuple[str, ...]
    names: tuple[str, ...]
    values: FloatArray
    covariance: FloatArray


def _simulate(equation: Equation, arm: ArmModel) -> FloatArray:
    """Regressor (M, F) of random states."""
    regressors = equation.assemble(equation.compute(*draw_states(arm)))
    return regressors.reshape(-1, regressors.shape[-1])


def _widths(arm: ArmModel, unknowns: LinkUnknowns) -> FloatArray:
    """How large each standard parameter can be at most, for an arm of this mass and this reach, (F,)."""
    mass = max(float(arm.parameters[::10].sum()), _SMALLEST_MASS)
    steps = [float(np.linalg.norm(place.translation)) for place in list(arm.model.jointPlacements)[1:]]
    reach = max(sum(steps), _SHORTEST_REACH)
    moment = mass * _GRAVITY * reach
    widths = np.empty(len(unknowns.names))
    widths[unknowns.inertial] = np.tile([mass] + [mass * reach] * 3 + [mass * reach**2] * 6, len(arm.joint_names))
    for part in (unknowns.viscous, unknowns.coulomb, unknowns.offset, unknowns.base_offset):
        widths[part] = max(moment, mass)
    widths[unknowns.rotor_inertia] = mass * reach**2
    return widths


def find_own_sizes(arm: ArmModel, unknowns: LinkUnknowns) -> FloatArray:
    """What a link of its own mass and size has of each standard parameter, and a joint of what it carries, (F,).

    The size of a link is the way to the joints it carries. Links without a mass in the URDF share that of the arm.
    """
    count = len(arm.joint_names)
    masses = arm.parameters[::10]
    mass = max(float(masses.sum()), _SMALLEST_MASS)
    masses = np.where(masses > 0.0, masses, mass / count)
    lengths = np.array([float(np.linalg.norm(place.translation)) for place in list(arm.model.jointPlacements)[1:]])
    parents = np.array(list(arm.model.parents)[1:]) - 1
    sizes, carried, reaches = np.full(count, _SHORTEST_REACH), masses.copy(), np.full(count, _SHORTEST_REACH)
    for joint in range(count - 1, -1, -1):
        parent = int(parents[joint])
        if parent >= 0:
            sizes[parent] = max(sizes[parent], lengths[joint])
            carried[parent] += carried[joint]
            reaches[parent] = max(reaches[parent], lengths[joint] + reaches[joint])
    own = np.empty(len(unknowns.names))
    own[unknowns.inertial] = (masses * sizes ** np.array([[0.0]] + [[1.0]] * 3 + [[2.0]] * 6)).T.ravel()
    for part in (unknowns.viscous, unknowns.coulomb, unknowns.offset):
        own[part] = (_GRAVITY * carried * reaches)[: part.stop - part.start]
    own[unknowns.rotor_inertia] = (carried * reaches**2)[: unknowns.rotor_inertia.stop - unknowns.rotor_inertia.start]
    own[unknowns.base_offset] = _GRAVITY * mass
    return own
