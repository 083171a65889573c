"""Which object of a library is held, with a probability, or none of them.

Bayes' rule over the objects and one more hypothesis: something else of about the size that was identified. What is not
known of the estimate decides nothing: with a mass alone, the mass does; where two objects explain it, neither is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from inertid_ros.core.diagnosis import has_error
from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.estimation.estimate import LoadEstimate, Mode
from inertid_ros.core.records import FloatArray, Name
from inertid_ros.core.rigid_body.description import SIGNIFICANT_MASS, find_principal_axes
from inertid_ros.core.rigid_body.inertial import compose, decompose
from inertid_ros.objects.fit import REACH, Fit, PosePrior, fit_object
from inertid_ros.objects.known import KnownObject, find_transfer, make_pose
from inertid_ros.objects.shared_gain import remove_shared_gain

CERTAIN = 0.95
"""Probability from which on an object is named."""
NONE = "none of these"
"""What stands for all that is not in the library."""
_STRANGE = 0.05
"""Probability, before anything is known, that something else is held than the library has: it was made for the task."""
_MASSES = 1000.0
"""Ratio of the largest to the smallest mass that something else may have: any in this range, on a logarithmic scale."""
_SMALLEST, _LARGEST = 0.02, 0.3
"""Radii of gyration [m] of the smallest and of the largest things that grippers hold."""
_SHAPE = 0.5
"""Standard deviation of moments of inertia, as a part of their mean, over the shapes of things: that of a flat disc."""
_HEAVY = 0.5
"""Part of the lightest object's mass below which nothing is held, if that is certain."""
_UNDETERMINED = 0.5
"""Standard deviation [rad] of a turn about an axis from which on it is not determined: a sixth of half a turn."""


class Answer(Name):
    """What can be said of what is held."""

    RECOGNISED = "recognised"
    NONE_OF_THESE = NONE
    CANNOT_TELL = "cannot tell"
    NOTHING_HELD = "nothing held"
    NOT_KNOWN = "not known yet"


@dataclass(frozen=True, slots=True)
class Grip:
    """How an object is held.

    Attributes:
        pose: (4, 4) of the object's frame in the sensor's frame: of all that are as good, the one nearest to how it was
            held when it was identified.
        covariance: (6, 6) of position [m] and of a turn about its origin [rad], in the sensor's axes.
        axes: (3, 3) the object's principal axes as columns, the one of the smallest moment first.
        is_free: (3,) whether the turn about each of them is not determined, since the other two moments are equal, or
            not known well enough.
        alternatives: (3, 4, 4) poses after half a turn about each of them, which inertial parameters cannot tell apart.
    """

    pose: FloatArray
    covariance: FloatArray
    axes: FloatArray
    is_free: tuple[bool, bool, bool]
    alternatives: FloatArray


@dataclass(frozen=True, slots=True)
class Recognition:
    """What is held.

    Attributes:
        answer: what can be said.
        name: the likeliest object, or NONE; empty where nothing can be said.
        probability: of that.
        probabilities: of all objects and of NONE, the likeliest first; empty where nothing can be said.
        evidence: logarithms of the likelihoods of the estimate under each of them.
        grip: of the likeliest object.
        message: the same in words.
    """

    answer: Answer
    name: str
    probability: float
    probabilities: dict[str, float]
    evidence: dict[str, float]
    grip: Grip | None
    message: str


def recognise(
    estimate: LoadEstimate, library: Sequence[KnownObject], tolerance: tuple[float, float] | None = None
) -> Recognition:
    """Find what is held.

    Args:
        estimate: what is known of it.
        library: what it may be; NotIdentifiedError if there is nothing in it.
        tolerance: standard deviations [m, rad] by which grips differ from those in which the objects were identified;
            None if objects are gripped in any way.
    """
    if not library:
        raise NotIdentifiedError("the library has no object: add one with `inertid object add`")
    answer, reason = _find_obstacle(estimate, library)
    if answer is not None:
        return Recognition(answer, "", 0.0, {}, {}, None, f"{answer}: {reason}")
    fits = {known.name: _fit(estimate, known, tolerance) for known in library}
    evidence = {name: fit.evidence for name, fit in fits.items()} | {NONE: weigh_strangers(estimate)}
    shares = dict.fromkeys(fits, (1.0 - _STRANGE) / len(library)) | {NONE: _STRANGE}
    probabilities = find_probabilities(evidence, shares)
    name, probability = next(iter(probabilities.items()))
    grip = None if name == NONE else find_grip(fits[name], next(one for one in library if one.name == name))
    if probability < CERTAIN:
        names = [other for other, share in probabilities.items() if share > 1.0 - CERTAIN]
        message = "cannot tell: " + " or ".join(f"{other} ({probabilities[other]:.0%})" for other in names)
        return Recognition(Answer.CANNOT_TELL, name, probability, probabilities, evidence, grip, message)
    answer = Answer.NONE_OF_THESE if name == NONE else Answer.RECOGNISED
    return Recognition(answer, name, probability, probabilities, evidence, grip, f"{name} ({probability:.1%})")


def find_probabilities(evidence: dict[str, float], shares: dict[str, float]) -> dict[str, float]:
    """Bayes' rule: of hypotheses, the likeliest first, from logarithms of likelihoods and shares before any data."""
    largest = max(evidence.values())
    weights = {name: float(shares[name] * np.exp(value - largest)) for name, value in evidence.items()}
    total = sum(weights.values())
    return {name: weight / total for name, weight in sorted(weights.items(), key=lambda item: -item[1])}


def widen(com: FloatArray, deviations: FloatArray) -> FloatArray:
    """Covariance (10, 10) of independent changes of mass, mass moments and inertias (10,) about a point (3,)."""
    transfer = find_transfer(make_pose(np.eye(3), com))
    return np.asarray(transfer * deviations**2 @ transfer.T)


def find_size(estimate: LoadEstimate) -> float:
    """Mean moment of inertia [kg m²] of what is held, about its centre of mass, within what grippers hold."""
    mass, _, inertia = decompose(estimate.feasible)
    return float(np.clip(np.trace(inertia) / 3.0, mass * _SMALLEST**2, mass * _LARGEST**2))


def weigh_strangers(estimate: LoadEstimate) -> float:
    """Logarithm of the likelihood of an estimate if something is held that nothing is known of.

    It may have any mass, be held anywhere within reach, and be of any shape of the size that was identified.
    """
    mass, com, _ = decompose(estimate.feasible)
    size = find_size(estimate)
    spread = np.log(_MASSES) / np.sqrt(2.0 * np.pi)
    total = estimate.covariance + widen(com, np.repeat([spread * mass, REACH * mass, _SHAPE * size], [1, 3, 6]))
    units = estimate.deviations
    left, scaled = (estimate.values - compose(mass, com, size * np.eye(3))) / units, total / np.outer(units, units)
    squares = left @ np.linalg.solve(scaled, left) + com @ com / REACH**2
    logs = np.linalg.slogdet(scaled)[1] + 2.0 * np.log(units).sum() + 10.0 * np.log(2.0 * np.pi)
    return float(-0.5 * (squares + logs))


def find_grip(fit: Fit, known: KnownObject) -> Grip:
    """How an object is held, with all that is as good, from a fit that knows nothing of the grip."""
    own_axes = find_principal_axes(decompose(known.phi)[2])[1]
    turns = [np.eye(3)] + [2.0 * np.outer(axis, axis) - np.eye(3) for axis in own_axes.T]
    com = (fit.pose @ np.append(known.com, 1.0))[:3]
    poses = []
    for turn in turns:
        rotation = fit.pose[:3, :3] @ turn
        poses.append(make_pose(rotation, com - rotation @ known.com))
    nearness = [float(np.trace(pose[:3, :3] @ known.grip[:3, :3].T)) for pose in poses]
    order = np.argsort(nearness)[::-1]
    axes = fit.pose[:3, :3] @ own_axes
    turned = np.sqrt(np.einsum("ia,ij,ja->a", axes, fit.covariance[3:, 3:], axes))
    free = turned > _UNDETERMINED
    shifted = np.array(poses)[order]
    return Grip(shifted[0], fit.covariance, axes, (bool(free[0]), bool(free[1]), bool(free[2])), shifted[1:])


def _fit(estimate: LoadEstimate, known: KnownObject, tolerance: tuple[float, float] | None) -> Fit:
    prior = None if tolerance is None else PosePrior(known.grip, *tolerance)
    covariance, known = remove_shared_gain(estimate, known)
    return fit_object(estimate.values, covariance, complete_inertia(known, find_size(estimate)), prior)


def complete_inertia(known: KnownObject, size: float) -> KnownObject:
    """An object of whose inertia less is known than of a stranger's: as much is believed of it.

    Identified in static poses, it could have any inertia at all, and would explain an estimate with a size [kg m²] less
    well than something that is taken to be of about that size: it would never be recognised.
    """
    about_com = np.linalg.inv(find_transfer(make_pose(np.eye(3), known.com)))[4:]
    variance = about_com @ known.covariance @ about_com.T
    if np.diag(variance).max() <= (_SHAPE * size) ** 2:
        return known
    believed = (_SHAPE * size) ** 2 * np.eye(6)
    gain = np.linalg.solve(variance + believed, about_com @ known.covariance).T
    phi = known.phi + gain @ (compose(1.0, np.zeros(3), size * np.eye(3))[4:] - about_com @ known.phi)
    rest = np.eye(10) - gain @ about_com
    return replace(known, phi=phi, covariance=rest @ known.covariance @ rest.T + gain @ believed @ gain.T)


def _find_obstacle(estimate: LoadEstimate, library: Sequence[KnownObject]) -> tuple[Answer | None, str]:
    """Why nothing can be said, if that is so."""
    mass, deviation = float(estimate.values[0]), float(estimate.deviations[0])
    if has_error(estimate.findings):
        return Answer.NOT_KNOWN, next(one.message for one in estimate.findings if one.level == "error")
    if estimate.rows == 0 or (estimate.sensor is not None and estimate.sensor.sign is None):
        return Answer.NOT_KNOWN, "nothing is known of the load yet"
    if estimate.mode in (Mode.TESTING, Mode.CONTACT):
        return Answer.NOT_KNOWN, "the wrench is inconsistent with a rigid load (contact)"
    lightest = min(float(known.phi[0]) for known in library)
    if mass + SIGNIFICANT_MASS * deviation < _HEAVY * lightest:
        return Answer.NOTHING_HELD, f"{1e3 * mass:.0f} ± {1.96e3 * deviation:.0f} g"
    if mass < SIGNIFICANT_MASS * deviation:
        return Answer.NOT_KNOWN, "the mass is not known yet: turn the sensor into more poses"
    return None, ""
