"""How a sensor sits against its frame in the URDF: turned and shifted, which its readings show as cross-talk.

With theta the rotation and d the place of the sensor in the frame of the URDF, a wrench (f, n) in that frame is read as

    f - theta x f,    n - theta x n - d x f

to first order: cross-talk G = M (theta, d). So mounting needs no unknowns of its own, only a prior covariance of the
cross-talk that is not diagonal, diag(s²) + M diag(sigma²) Mᵀ. In units of the levers between force and torque the
columns of M are orthogonal: with them, cross-talk is divided into six directions that a mounting causes and 24 that it
does not, which are independent beforehand.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import INERTIA_INDEX, UPPER_TRIANGLE

LEVER = 0.1
"""Distance [m] by which cross-talk between force and torque is compared: the size of a sensor and its flange."""
GAINS = 36
"""Gains and cross-talk, row by row: what each channel reads of each."""
MOUNTING = 6
"""Rotation about three axes, and offset along them."""
_LEAST_SHARE = 1e-3
"""Cross-talk of its own beside that of the mounting, as a part of it, of a sensor that is declared to have none: less
is lost in rounding."""


def _make_levers() -> FloatArray:
    """Units (36,) of gains and cross-talk: 1 within forces and within torques, the lever between them."""
    levers = np.repeat([1.0, LEVER], 3)
    return np.outer(levers, 1.0 / levers).ravel()


def _make_effects() -> FloatArray:
    """Cross-talk (36, 6) of a rotation [rad] about, and an offset [m] along, each axis."""
    effects = np.zeros((6, 6, MOUNTING))
    for axis in range(3):
        unit = np.eye(3)[axis]
        cross = -np.cross(unit, np.eye(3)).T
        effects[:3, :3, axis] = effects[3:, 3:, axis] = effects[3:, :3, 3 + axis] = cross
    return effects.reshape(GAINS, MOUNTING)


LEVERS: FloatArray = _make_levers()
"""(36,) units in which gains and cross-talk are of one size."""
EFFECTS: FloatArray = _make_effects()
"""(36, 6) cross-talk that a rotation [rad] and an offset [m] cause."""
_SCALED: FloatArray = EFFECTS / LEVERS[:, None]
"""(36, 6) the same in those units."""
_LENGTHS: FloatArray = np.sqrt((_SCALED**2).sum(axis=0))
"""(6,) lengths of its columns."""


def _make_directions() -> FloatArray:
    """Orthonormal directions (36, 36) of gains and cross-talk in units of the levers: those of a mounting last."""
    causes = _SCALED / _LENGTHS
    gains = np.eye(GAINS)[:, ::7]
    fixed = np.hstack((gains, causes))
    rest = np.linalg.svd(fixed, full_matrices=True)[0][:, fixed.shape[1] :]
    return np.hstack((gains, rest, causes))


DIRECTIONS: FloatArray = _make_directions()
"""(36, 36) columns: six gains, 24 of cross-talk that no mounting causes, three of a rotation, three of an offset."""


def make_gain_precision(deviations: FloatArray, rotation: float, offset: float) -> FloatArray:
    """Precision (36, 36) of gains and cross-talk; what is fixed has an infinite one on the diagonal.

    From standard deviations (36,) that the sensor itself has, and of rotation [rad] and offset [m] about and along each
    axis.
    """
    effects = EFFECTS * np.repeat([rotation, offset], 3)
    caused = effects @ effects.T
    own = np.where(deviations > 0.0, deviations**2, _LEAST_SHARE**2 * np.diag(caused))
    free = np.flatnonzero(own > 0.0)
    precision = np.diag(np.where(own > 0.0, 0.0, np.inf))
    precision[np.ix_(free, free)] = np.linalg.inv(caused[np.ix_(free, free)] + np.diag(own[free]))
    return precision


class Mounting(NamedTuple):
    """How a sensor sits, as far as its cross-talk shows it.

    Attributes:
        values: (6,) rotation [rad] and offset [m] in the frame of the URDF.
        deviations: (6,).
        gains: (6, 6) gains and cross-talk that are not due to it, and
        gain_deviations: (6, 6).
    """

    values: FloatArray
    deviations: FloatArray
    gains: FloatArray
    gain_deviations: FloatArray


def find_mounting(
    gains: FloatArray, covariance: FloatArray, cross_talk: float, rotation: float, offset: float
) -> Mounting:
    """What gains and cross-talk (36,) and their covariance (36, 36) say of it, with priors as they are set.

    Along the directions of a mounting, cross-talk u has the prior variance c² + l² sigma², l² sigma² of which are due
    to the mounting; so is this part of what is found, with the variance that is left of it.
    """
    project, rest, left = _divide(cross_talk, rotation, offset)
    variances = ((project @ covariance) * project).sum(axis=1) + left
    other = ((rest @ covariance) * rest).sum(axis=1) + EFFECTS**2 @ left
    return Mounting(
        project @ gains,
        np.sqrt(np.maximum(variances, 0.0)),
        (rest @ gains).reshape(6, 6),
        np.sqrt(np.maximum(other, 0.0)).reshape(6, 6),
    )


@lru_cache(maxsize=4)
def _divide(cross_talk: float, rotation: float, offset: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What gives the mounting (6, 36) of cross-talk, and the rest of it (36, 36), and variances (6,) that are left."""
    own, sizes = cross_talk**2, np.repeat([rotation, offset], 3)
    caused = (_LENGTHS * sizes) ** 2
    share = caused / np.where(caused > 0.0, own + caused, 1.0)
    project = (share / _LENGTHS)[:, None] * DIRECTIONS[:, -MOUNTING:].T / LEVERS
    return project, np.eye(GAINS) - EFFECTS @ project, share * own / _LENGTHS**2


def move_load(phi: FloatArray, mounting: FloatArray) -> FloatArray:
    """By how much (10,) a load differs in the frame of the URDF from one with these parameters in the sensor's own.

    To first order in rotation and offset (6,): c changes by theta x c + d, inertias as their tensor is turned and
    shifted.
    """
    (x, y, z), offset = mounting[:3].tolist(), mounting[3:]
    mass, moment, tensor = float(phi[0]), phi[1:4], phi[INERTIA_INDEX]
    turn = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    along = np.outer(moment, offset)
    change = turn @ tensor - tensor @ turn + 2.0 * float(moment @ offset) * np.eye(3) - along - along.T
    return np.concatenate(([0.0], turn @ moment + mass * offset, change[UPPER_TRIANGLE]))
