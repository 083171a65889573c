"""The regressor of an arm that moves every way it can: what a motion could tell at best.

Joint states are drawn at random, with accelerations, since a sum of independent random states excites all that a
smooth motion of any length could.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.arm_regressor import ArmRegressor
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.arm import ArmModel

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


def simulate_regressor(arm: ArmModel, source: str, states: JointStates) -> FloatArray:
    """Return the regressor of the 10 n link parameters at each state, (N, K, 10 n).

    Args:
        arm: the arm.
        source: `effort` (K = n), `base_wrench` (K = 6: what the base exerts on the arm, force and moment about the
            origin of the root frame, in its axes) or `both` (K = 6 + n, the base first).
        states: where the joints are and how they move.
    """
    return ArmRegressor(arm, source).with_accelerations(*states)


def square_up(model: pin.Model) -> pin.Model:
    """Return the model with right angles made exact that the URDF gives with few digits.

    An axis that is 4e-6 rad off the vertical makes parameters identifiable in theory that no motion will ever tell.
    """
    squared = pin.Model(model)
    for index in range(1, model.njoints):
        rotation = model.jointPlacements[index].rotation
        left, _, right = np.linalg.svd(np.where(np.abs(rotation) < _RIGHT_ANGLE, 0.0, rotation))
        squared.jointPlacements[index] = pin.SE3(left @ right, model.jointPlacements[index].translation)
    return squared
