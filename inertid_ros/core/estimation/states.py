"""Which parameters can be trusted, judged from values and covariance alone."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.records import BoolArray, FloatArray, Name


class ParameterState(Name):
    """Whether the data determine a parameter."""

    KNOWN = "known"
    UNCERTAIN = "uncertain"
    NOT_EXCITED = "not excited yet"


_SMALLEST_MASS = 0.1
"""A load lighter than this [kg] is judged as if it had this mass: no wrist sensor resolves a twentieth of less."""
_LEVER = 0.1
"""Mass moments matter in relation to the mass at this distance [m], the size of a gripper."""
_SMALLEST_RADIUS = 0.02
"""Inertias matter in relation to the mass at this distance [m] at least, the size of the smallest parts."""
_KNOWN_LOAD = np.array([0.05] * 4 + [0.1] * 6)
"""Standard deviation, as a part of what matters, up to which a load's parameters are known: what gravity
compensation needs of mass and first moments, and motion control of inertias."""
_KNOWN_LINK = 0.1
"""Standard deviation, as a part of its value, up to which a base parameter is known: one significant digit."""
_NEGLIGIBLE = 0.1
"""Standard deviation, as a part of what a link of its own mass and size has, or a joint carries, below which it matters
to nothing: what motion control needs of inertias."""
_EXCITED = 0.3
"""Part of its prior standard deviation to which the data must reduce that of a parameter that was excited: a
tenth of its variance."""


def judge_load_parameters(phi: FloatArray, covariance: FloatArray) -> tuple[ParameterState, ...]:
    """State of each of the ten parameters of a load.

    A standard deviation is compared with what matters for that parameter: for the mass, the mass (at least 0.1 kg); for
    the mass moments, the mass at 0.1 m; for the inertias, the largest moment of inertia about the centre of mass that
    the data vouch for, and at least the mass at 2 cm. Below a twentieth of it (a tenth for the inertias) a parameter is
    known; above all of it, it is not excited yet.
    """
    deviations = np.sqrt(np.diag(covariance))
    mass = max(abs(float(phi[0])), _SMALLEST_MASS)
    com = phi[1:4] / mass
    moments = phi[[4, 7, 9]] - mass * (com @ com - com**2)
    vouched = moments - 2.0 * _find_moment_deviations(com, covariance)
    largest = max(float(vouched.max()), mass * _SMALLEST_RADIUS**2)
    scales = np.array([mass] + [mass * _LEVER] * 3 + [largest] * 6)
    return _name_states(deviations <= _KNOWN_LOAD * scales, deviations <= scales)


def judge_link_parameters(model: LinkModel, values: FloatArray, covariance: FloatArray) -> tuple[ParameterState, ...]:
    """State of each base parameter of an arm.

    A parameter is known once its standard deviation is below a tenth of its value, or of what its own link has or its
    own joint carries (it is as good as zero then). It is not excited yet while the data have not reduced its standard
    deviation to less than a third of what it was before any data.
    """
    deviations = np.sqrt(np.diag(covariance))
    known = deviations <= np.maximum(_KNOWN_LINK * np.abs(values), _NEGLIGIBLE * model.own_sizes)
    return _name_states(known, deviations <= _EXCITED * model.prior_deviations)


def _find_moment_deviations(com: FloatArray, covariance: FloatArray) -> FloatArray:
    """Standard deviations (3,) of the moments of inertia about the centre of mass, I - (mc . mc - mc_i²) / m."""
    slopes = np.zeros((3, 10))
    slopes[range(3), [4, 7, 9]] = 1.0
    slopes[:, 0] = com @ com - com**2
    slopes[:, 1:4] = -2.0 * com * (1.0 - np.eye(3))
    return np.asarray(np.sqrt(np.einsum("ij,jk,ik->i", slopes, covariance, slopes)))


def demote(states: tuple[ParameterState, ...]) -> tuple[ParameterState, ...]:
    """The states where something makes the estimate unusable: nothing is known."""
    known, uncertain = ParameterState.KNOWN, ParameterState.UNCERTAIN
    return tuple(uncertain if state is known else state for state in states)


def _name_states(known: BoolArray, excited: BoolArray) -> tuple[ParameterState, ...]:
    state = ParameterState
    return tuple(
        state.KNOWN if k else state.UNCERTAIN if e else state.NOT_EXCITED for k, e in zip(known, excited, strict=True)
    )
