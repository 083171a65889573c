"""The load's equation of motion in the frame of its sensor, with the sensor's bias (paper, eq. 8).

With a the acceleration of the frame's origin less gravity, h = m c and I about the origin:

    f = m a + dw x h + w x (w x h) + b_f
    n = h x a + I dw + w x (I w)   + b_n

Everything that depends on the motion enters through thirteen features, [a (3), dw (3), w w^T (6), 1], and linearly so;
a is the signal of the acceleration less that of gravity.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.equation import NO_DRIVES, WRENCH_NAMES, Equation
from inertid_ros.core.equations.signals import make_signal_memory
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.robot import FramePath
from inertid_ros.core.robot.tree import pack_tree

LOAD = len(PARAMETER_NAMES)
"""Unknowns of the load; those of the bias follow."""
FEATURES = 13
"""Features of the motion, see above."""
UNKNOWNS = LOAD + len(WRENCH_NAMES)
"""Unknowns of the load and of the bias."""

PRIOR_LOAD = np.array([100.0] + [30.0] * 3 + [10.0] * 6)
"""Standard deviations [kg, kg m, kg m²] of a load of which nothing is known: more than any arm carries."""

PRIOR_BIAS = np.array([1000.0] * 3 + [100.0] * 3)
"""Standard deviations [N, Nm] of a bias of which nothing is known: the range of large sensors."""

_SQUARES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Of w w^T: the indices of both factors."""


def _skew(v: FloatArray) -> FloatArray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _times_inertia(v: FloatArray) -> FloatArray:
    """The (3, 6) matrix that gives I v from [Ixx, Ixy, Ixz, Iyy, Iyz, Izz]."""
    x, y, z = v
    return np.array([[x, y, z, 0.0, 0.0, 0.0], [0.0, x, 0.0, y, z, 0.0], [0.0, 0.0, x, 0.0, y, z]])


def _quadratic_terms(i: int, j: int) -> tuple[FloatArray, FloatArray]:
    """What w_i w_j multiplies: (3, 3) of w x (w x h) and (3, 6) of w x (I w), both symmetric in i and j."""
    e = np.eye(3)
    pairs = {(i, j), (j, i)}
    force = sum((_skew(e[p]) @ _skew(e[q]) for p, q in pairs), start=np.zeros((3, 3)))
    moment = sum((_skew(e[p]) @ _times_inertia(e[q]) for p, q in pairs), start=np.zeros((3, 6)))
    return force, moment


def _build_tensor() -> FloatArray:
    tensor = np.zeros((FEATURES, 6, UNKNOWNS))
    for k, e in enumerate(np.eye(3)):
        tensor[k, :3, 0] = e
        tensor[k, 3:, 1:4] = -_skew(e)
        tensor[3 + k, :3, 1:4] = _skew(e)
        tensor[3 + k, 3:, 4:10] = _times_inertia(e)
    for k, (i, j) in enumerate(_SQUARES):
        tensor[6 + k, :3, 1:4], tensor[6 + k, 3:, 4:10] = _quadratic_terms(i, j)
    tensor[12, :, LOAD:] = np.eye(6)
    return tensor


REGRESSORS = _build_tensor()
"""(13, 6, 16): what each feature adds to the regressor of [phi (10), bias (6)]."""

_REACHED_BY_LINEAR = np.ascontiguousarray((REGRESSORS[:3] ** 2).sum(axis=0).T)
"""(16, 6): squared entries of the unknowns in the channels, summed over the axes of the linear acceleration."""
_REACHED_BY_ANGULAR = np.ascontiguousarray((REGRESSORS[3:6] ** 2).sum(axis=0).T)
"""The same for the angular acceleration."""


def make_load_equation(path: FramePath, gravity: FloatArray) -> Equation:
    """The equation of what is fixed to a frame, with the six biases, for gravity (3,) in the root frame."""
    last = path.model.njoints - 1
    frame = path.model.parents[last] - 1, path.model.jointPlacements[last]
    tensor = np.concatenate((REGRESSORS, -REGRESSORS[:3]))
    signals, channels, unknowns = np.nonzero(tensor)
    return Equation(
        channels=WRENCH_NAMES,
        unknowns=PARAMETER_NAMES + tuple(f"bias.{name}" for name in WRENCH_NAMES),
        memory=make_signal_memory(pack_tree(path.model, path.is_angle, [frame]), len(path.joint_names), gravity),
        entry_signals=signals,
        entry_channels=channels,
        entry_unknowns=unknowns,
        entry_factors=tensor[signals, channels, unknowns],
        drives=NO_DRIVES,
        monitors_motion=True,
    )


def attenuate(linear: FloatArray, angular: FloatArray) -> FloatArray:
    """What noise in the accelerations adds to the diagonal of the information, (16,).

    Args:
        linear: (6,) variance of the linear acceleration [m²/s⁴] times the inverse variances of a row's wrench
            components, summed over rows.
        angular: (6,) the same for the angular acceleration [rad²/s⁴].

    The variance of all three axes together is taken to be up to two thirds in one of them.
    """
    return np.asarray((_REACHED_BY_LINEAR.dot(linear) + _REACHED_BY_ANGULAR.dot(angular)) / 1.5)
