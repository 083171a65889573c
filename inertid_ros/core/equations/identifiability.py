"""Which link parameters of an arm can be identified at all: a matter of its kinematics, told before any motion."""

from __future__ import annotations

import dataclasses

import numpy as np

from inertid_ros.core.equations.base_parameters import BaseParameters, find_base_parameters
from inertid_ros.core.equations.simulated_regressor import draw_states, simulate_regressor, square_up
from inertid_ros.core.records import IntArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.arm import ArmModel

_IYY_FIRST = (0, 1, 2, 3, 7, 4, 5, 6, 8, 9)


def find_identifiable(arm: ArmModel, source: str) -> BaseParameters:
    """Find the base parameters of an arm from random states of its joints.

    Args:
        arm: the arm.
        source: what is measured: `effort`, `base_wrench` or `both`.

    Raises:
        RankError: if the URDF leaves it open what is identifiable.
    """
    squared = dataclasses.replace(arm, model=square_up(arm.model))
    regressor = simulate_regressor(squared, source, draw_states(squared))
    matrix = regressor.reshape(-1, regressor.shape[-1])
    return find_base_parameters(matrix, arm.parameter_names, order_of_links(len(arm.link_names)))


def order_of_links(links: int) -> IntArray:
    """Order in which to take the columns of so many links to get the combinations of the paper (its table 5).

    Link by link from the base, and Iyy before Ixx, for it is Ixx that the paper adds to other parameters.
    """
    columns = np.arange(len(PARAMETER_NAMES) * links).reshape(links, -1)
    return np.asarray(columns[:, _IYY_FIRST].ravel())
