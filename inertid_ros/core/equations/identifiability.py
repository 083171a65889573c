"""Which link parameters of an arm can be identified at all: a matter of its kinematics, known before any motion.

Joint states are drawn at random, with accelerations, since a sum of independent random states excites all that a smooth
motion of any length could.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.arm import make_arm_equation
from inertid_ros.core.equations.base_parameters import BaseParameters, find_base_parameters
from inertid_ros.core.equations.unknowns import LinkUnknowns
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.robot import ArmModel
from inertid_ros.core.settings.choices import Source

STATES = 400
"""States to draw; with six readings each that is enough for some two hundred joints."""

_RIGHT_ANGLE = 1e-5
"""What is left of a right angle written with five digits, 1.5708 for pi / 2, twice over."""


class JointStates(NamedTuple):
    """N unrelated states of n joints: (N, n) each, in rad or m and seconds."""

    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray


def draw_states(arm: ArmModel, count: int = STATES, seed: int = 0) -> JointStates:
    """Draw joint states over full turns and a metre either way, so fast that no effect outweighs another by far."""
    random = np.random.default_rng(seed)
    shape = (count, len(arm.joint_names))
    reach = np.where(arm.is_angle, np.pi, 1.0)
    return JointStates(random.uniform(-reach, reach, shape), random.uniform(-3, 3, shape), random.uniform(-9, 9, shape))


_IYY_FIRST = (0, 1, 2, 3, 7, 4, 5, 6, 8, 9)
"""Order of a link's ten parameters, see `order_of_links`."""


def find_identifiable(arm: ArmModel, source: Source) -> BaseParameters:
    """Find the base parameters of an arm from random states of its joints.

    Args:
        arm: the arm.
        source: what is measured: `effort`, `base_wrench` or `both`.

    Raises:
        RankError: if the URDF leaves it open what is identifiable.
    """
    squared = dataclasses.replace(arm, model=square_up(arm.model))
    unknowns = LinkUnknowns.of(squared, source, False, False, False, False, False)
    everything = np.arange(len(unknowns.names))
    equation = make_arm_equation(squared, source, unknowns, everything, pin.SE3.Identity(), 1.0)
    regressors = equation.assemble(equation.compute(*draw_states(squared)))
    matrix = regressors.reshape(-1, regressors.shape[-1])
    return find_base_parameters(matrix, arm.parameter_names, order_of_links(len(arm.link_names)))


def order_of_links(links: int) -> IntArray:
    """Order in which to take the columns of so many links to get the combinations of the paper (its table 5).

    Link by link from the base, and Iyy before Ixx, for it is Ixx that the paper adds to other parameters.
    """
    columns = np.arange(len(PARAMETER_NAMES) * links).reshape(links, -1)
    return np.asarray(columns[:, _IYY_FIRST].ravel())


def square_up(model: pin.Model) -> pin.Model:
    """Return the model with right angles made exact that the URDF gives with few digits.

    An axis that is 4e-6 rad off the vertical makes parameters identifiable in theory that no motion will ever excite.
    """
    squared = pin.Model(model)
    for index in range(1, model.njoints):
        rotation = model.jointPlacements[index].rotation
        left, _, right = np.linalg.svd(np.where(np.abs(rotation) < _RIGHT_ANGLE, 0.0, rotation))
        squared.jointPlacements[index] = pin.SE3(left @ right, model.jointPlacements[index].translation)
    return squared
