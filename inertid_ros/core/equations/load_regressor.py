"""The load's equation of motion, linear in its ten parameters and the six sensor biases (paper, eq. 8).

In the sensor frame, with a the acceleration of its origin less gravity, h = m c and I about the origin:

    f = m a + dw x h + w x (w x h) + b_f
    n = h x a + I dw + w x (I w)   + b_n

Everything that depends on the motion enters through thirteen numbers, the features
[a (3), dw (3), wx wx, wx wy, wx wz, wy wy, wy wz, wz wz, 1], and linearly so. The regressor is therefore one constant
tensor times the features, whatever linear filter both sides have gone through.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray

FEATURES = 13
UNKNOWNS = 16

_SQUARES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Of w w^T: the indices of both factors."""

_CROSS = ((0, 1, 2, 1.0), (0, 2, 1, -1.0), (1, 2, 0, 1.0), (1, 0, 2, -1.0), (2, 0, 1, 1.0), (2, 1, 0, -1.0))
"""Of w x v: component, index of w, index of v, sign."""


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
    tensor[12, :, 10:] = np.eye(6)
    return tensor


def _build_equations() -> FloatArray:
    """(19, 102) from features and wrench to [regressor, wrench], column by column."""
    equations = np.zeros((FEATURES + 6, UNKNOWNS + 1, 6))
    equations[:FEATURES, :UNKNOWNS] = _TENSOR.transpose(0, 2, 1)
    equations[FEATURES:, UNKNOWNS] = np.eye(6)
    return equations.reshape(FEATURES + 6, 6 * (UNKNOWNS + 1))


_TENSOR = _build_tensor()
_REACHED_BY_LINEAR = np.ascontiguousarray((_TENSOR[:3] ** 2).sum(axis=0).T)
_REACHED_BY_ANGULAR = np.ascontiguousarray((_TENSOR[3:6] ** 2).sum(axis=0).T)
_EQUATIONS = _build_equations()
_MAPS = np.ascontiguousarray(_TENSOR.reshape(FEATURES * 6, UNKNOWNS))


def build_regressor(features: FloatArray) -> FloatArray:
    """Regressor (6, 16) of one row of features (13,), for [phi (10), bias (6)]."""
    return build_equations(np.concatenate((features, np.zeros(6))))[:, :UNKNOWNS]


def build_equations(row: FloatArray) -> FloatArray:
    """[regressor, wrench] (6, 17), column by column in memory, of a row of features (13) and wrench (6)."""
    equations: FloatArray = row.dot(_EQUATIONS).reshape(UNKNOWNS + 1, 6).T
    return equations


def attenuate(linear: FloatArray, angular: FloatArray) -> FloatArray:
    """What noise in the accelerations adds to the diagonal of the information, (16,).

    Args:
        linear: (6,) variance of the linear acceleration [m^2/s^4] times the inverse variances of a row's wrench
            components, summed over rows.
        angular: (6,) the same for the angular acceleration [rad^2/s^4].

    The variance of all three axes together is taken to be up to two thirds in one of them.
    """
    return np.asarray((_REACHED_BY_LINEAR.dot(linear) + _REACHED_BY_ANGULAR.dot(angular)) / 1.5)


def build_prediction_map(unknowns: FloatArray) -> FloatArray:
    """The (13, 6) matrix M with wrench = features @ M, for [phi (10), bias (6)]."""
    prediction_map: FloatArray = _MAPS.dot(unknowns).reshape(FEATURES, 6)
    return prediction_map


def build_products() -> tuple[FloatArray, FloatArray, FloatArray]:
    """The quadratic terms of the motion as sums of products of two components each.

    Returns:
        Matrices (6, 12) and (6, 12) from a twist [v, w] to the left and the right factors of twelve products, and
        (12, 9) from the products to [w x v (3), wx wx, wx wy, wx wz, wy wy, wy wz, wz wz].
    """
    products = [(3 + i, j, k, sign) for k, i, j, sign in _CROSS]
    products += [(3 + i, 3 + j, 3 + k, 1.0) for k, (i, j) in enumerate(_SQUARES)]
    left, right, sums = np.zeros((6, 12)), np.zeros((6, 12)), np.zeros((12, 9))
    for index, (i, j, k, sign) in enumerate(products):
        left[i, index] = right[j, index] = 1.0
        sums[index, k] = sign
    return left, right, sums


_LEFT, _RIGHT, _SUMS = build_products()


def compute_products(twist: FloatArray) -> FloatArray:
    """[w x v (3), wx wx, wx wy, wx wz, wy wy, wy wz, wz wz] for (N, 6) twists [v, w]; the result is (N, 9)."""
    products: FloatArray = (twist.dot(_LEFT) * twist.dot(_RIGHT)).dot(_SUMS)
    return products
