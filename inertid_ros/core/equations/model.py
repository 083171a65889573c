"""What is unknown of an arm and which of it can be known: set up from URDF and settings before any motion."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.arm_regressor import ArmRegressor
from inertid_ros.core.equations.base_parameters import BaseParameters, find_base_parameters
from inertid_ros.core.equations.identifiability import order_of_links
from inertid_ros.core.equations.link_columns import LinkColumns
from inertid_ros.core.equations.simulated_regressor import draw_states, square_up
from inertid_ros.core.equations.unknowns import LinkUnknowns, channel_names
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.arm import ArmModel
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings

_GRAVITY = 9.81
_SMALLEST_MASS = 1.0
_SHORTEST_REACH = 0.1


@dataclass(frozen=True, slots=True)
class LinkModel:
    """An arm, all its unknowns, and those combinations of them that can be identified.

    Attributes:
        arm: the arm.
        source: what is measured.
        base_pose: where in the root frame the base sensor is.
        channels: names of what is measured, K.
        unknowns: the full set.
        base: the base parameters among the full set.
        columns: the base parameters' columns of the equations.
        prior: (U,) base parameters of the URDF; friction, rotors and offsets at zero.
        prior_deviations: (U,) how far from it they may be: as far as any arm of this mass and reach.
    """

    arm: ArmModel
    source: str
    base_pose: pin.SE3
    channels: tuple[str, ...]
    unknowns: LinkUnknowns
    base: BaseParameters
    columns: LinkColumns
    prior: FloatArray
    prior_deviations: FloatArray

    @classmethod
    def from_settings(cls, robot: Robot, settings: Settings, joints: Sequence[str]) -> LinkModel:
        """Set up some joints of a robot.

        Raises:
            RobotDescriptionError: if a joint or the base sensor's frame is not there or cannot be used.
            RankError: if it cannot be told which parameters are identifiable.
        """
        links = settings.links
        with_gravity = not links.static_file
        arm = ArmModel.of(robot, np.array(settings.gravity) * with_gravity, joints)
        unknowns = LinkUnknowns.of(
            arm, links.source, links.viscous, links.coulomb, links.rotor_inertia, links.offset, with_gravity
        )
        pose = arm.place_of(links.base_frame) if links.base_frame else None
        return cls.of(arm, links.source, unknowns, pose, links.coulomb_velocity)

    @classmethod
    def of(
        cls,
        arm: ArmModel,
        source: str,
        unknowns: LinkUnknowns,
        base_pose: pin.SE3 | None = None,
        coulomb_velocity: float = 0.02,
    ) -> LinkModel:
        """Find the base parameters by simulated motion, and make their columns.

        Raises:
            RankError: if it cannot be told which parameters are identifiable.
        """
        pose = pin.SE3.Identity() if base_pose is None else base_pose
        everything = np.arange(len(unknowns.names))
        squared = dataclasses.replace(arm, model=square_up(arm.model))
        full = LinkColumns(ArmRegressor(squared, source, pose), unknowns, everything, coulomb_velocity)
        links = order_of_links(len(arm.link_names))
        order = np.concatenate((links, everything[len(links) :]))
        base = find_base_parameters(_simulate(full, squared), unknowns.names, order)
        inertial = base.columns[base.columns < unknowns.inertial.stop]
        columns = LinkColumns(ArmRegressor(arm, source, pose, inertial), unknowns, base.columns, coulomb_velocity)
        prior = base.combination[:, unknowns.inertial] @ arm.parameters
        deviations = _widths(arm, unknowns)[base.columns]
        return cls(arm, source, pose, channel_names(arm, source), unknowns, base, columns, prior, deviations)


def _simulate(columns: LinkColumns, arm: ArmModel) -> FloatArray:
    """Regressor (M, F) of random states."""
    entries = columns.compute_with_accelerations(*draw_states(arm))
    rows = columns.assemble(np.concatenate((entries, np.zeros((len(entries), columns.row_shape[0]))), axis=1))
    return rows.reshape(-1, columns.row_shape[1])[:, :-1]


def _widths(arm: ArmModel, unknowns: LinkUnknowns) -> FloatArray:
    """How large each of the full set can be at most, for an arm of this mass and this reach, (F,)."""
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
