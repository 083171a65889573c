"""Whether the object that is expected is held as expected: it has slipped, is upside down, or a part is missing.

Each of these is a hypothesis about the ten parameters, and they are compared as objects are in `recognition`. Where the
object is held as it was when it was identified, on the same sensor, what is wrong with the sensor drops out of the
comparison, and millimetres are seen that its accuracy would hide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.records import FloatArray, Name
from inertid_ros.objects.fit import Fit, PosePrior, fit_object
from inertid_ros.objects.known import KnownObject
from inertid_ros.objects.recognition import CERTAIN, Recognition, find_probabilities, widen
from inertid_ros.text.numbers import format_estimate

TOLERANCE = 0.0005, 0.005
"""Standard deviations [m, rad] of grips that are the same: what grippers and their pads repeat."""
_SLIPS = (0.004, 0.04), (0.015, 0.15)
"""Standard deviations [m, rad] of how far an object slips in the fingers without falling: a little, or much."""
_PART = 0.3
"""Standard deviation of the mass of a part that is missing or was added, as a part of the object's mass."""
_PART_DISTANCE = 0.1
"""Standard deviation [m] of its distance from the object's centre of mass."""
_SIGNIFICANT = 11.345
"""Chi-square with three degrees of freedom at 99 %: a shift or a turn beyond it is named."""
_ALONG = 0.94
"""Cosine of the angle to an axis, 20°, up to which a direction is called by it."""
_HALF_TURNS = {"x": (1.0, -1.0, -1.0, 1.0), "y": (-1.0, 1.0, -1.0, 1.0), "z": (-1.0, -1.0, 1.0, 1.0)}


class GripState(Name):
    """What a grip may be."""

    AS_EXPECTED = "as expected"
    SLIPPED = "slipped"
    TURNED = "turned by 180°"
    PART_CHANGED = "part missing or added"
    OTHER_OBJECT = "another object"
    NOT_KNOWN = "not known yet"


_SHARES = {
    GripState.AS_EXPECTED: 0.7,
    GripState.SLIPPED: 0.2,
    GripState.TURNED: 0.03,
    GripState.PART_CHANGED: 0.04,
    GripState.OTHER_OBJECT: 0.03,
}
"""Probabilities before anything is known."""


@dataclass(frozen=True, slots=True)
class GripCheck:
    """What came of it.

    Attributes:
        state: the likeliest.
        probability: of that.
        message: the same in words and numbers.
        offset: (6,) position [m] and turn [rad] of the object's frame against the expected pose, in the sensor's axes.
        covariance: (6, 6) of that.
    """

    state: GripState
    probability: float
    message: str
    offset: FloatArray
    covariance: FloatArray


class _Hypothesis(NamedTuple):
    """What may have happened: the object that explains it, where it would be, and the axis of a half turn."""

    state: GripState
    known: KnownObject
    prior: PosePrior
    axis: str = ""


def check_grip(
    estimate: LoadEstimate, recognition: Recognition, known: KnownObject, grip: FloatArray | None = None
) -> GripCheck:
    """Compare what is held with an object that is expected.

    Args:
        estimate: what is known of what is held.
        recognition: what it is, among all objects.
        known: the object that is expected.
        grip: (4, 4) in which it is expected; None: as it was when it was identified, on the same sensor.
    """
    if not recognition.evidence:
        return GripCheck(GripState.NOT_KNOWN, 0.0, recognition.message, np.zeros(6), np.zeros((6, 6)))
    covariance, pose = estimate.covariance, grip
    if pose is None:
        covariance, pose, known = estimate.repeatability, known.grip, replace(known, covariance=known.repeatability)
    hypotheses = {str(index): one for index, one in enumerate(_list_hypotheses(known, pose))}
    fits = {key: fit_object(estimate.values, covariance, one.known, one.prior) for key, one in hypotheses.items()}
    others = {name: value for name, value in recognition.evidence.items() if name != known.name}
    states = {key: one.state for key, one in hypotheses.items()} | dict.fromkeys(others, GripState.OTHER_OBJECT)
    counts = list(states.values())
    shares = {key: _SHARES[state] / counts.count(state) for key, state in states.items()}
    found = find_probabilities({key: fit.evidence for key, fit in fits.items()} | others, shares)
    totals = {state: sum(found[key] for key in found if states[key] is state) for state in _SHARES}
    state = max(totals, key=lambda one: totals[one])
    best = next(key for key in found if states[key] is state)
    fit = fits.get(best, fits["0"])
    offset = _find_offset(fit.pose, hypotheses[best].prior.pose if best in hypotheses else pose)
    if best in others:
        message = f"not {known.name}, but {best}"
    elif state is GripState.PART_CHANGED:
        gained = float(estimate.values[0] - known.phi[0])
        message = _describe_part(gained, float(np.sqrt(covariance[0, 0] + known.covariance[0, 0])))
    else:
        message = _describe(known.name, hypotheses[best], offset, fit)
    if totals[state] < CERTAIN:
        message += f" ({totals[state]:.0%})"
    return GripCheck(state, totals[state], message, offset, fit.covariance)


def _list_hypotheses(known: KnownObject, pose: FloatArray) -> list[_Hypothesis]:
    """What may have happened to an object that is expected in a pose (4, 4); the first is nothing."""
    same, level = TOLERANCE
    listed = [_Hypothesis(GripState.AS_EXPECTED, known, PosePrior(pose, same, level))]
    listed += [
        _Hypothesis(GripState.SLIPPED, known, PosePrior(pose, *sizes))
        for shift, turn in _SLIPS
        for sizes in ((shift, level), (same, turn), (shift, turn))
    ]
    listed += [
        _Hypothesis(GripState.TURNED, known, PosePrior(pose @ np.diag(signs), *_SLIPS[-1]), axis)
        for axis, signs in _HALF_TURNS.items()
    ]
    mass = _PART * float(known.phi[0])
    sizes = np.repeat([mass, mass * _PART_DISTANCE, mass * _PART_DISTANCE**2], [1, 3, 6])
    other = replace(known, covariance=known.covariance + widen(known.com, sizes))
    return [*listed, _Hypothesis(GripState.PART_CHANGED, other, PosePrior(pose, same, level))]


def _find_offset(pose: FloatArray, expected: FloatArray) -> FloatArray:
    """Position and turn (6,) of a pose against another one, in the sensor's axes."""
    turn = Rotation.from_matrix(pose[:3, :3] @ expected[:3, :3].T).as_rotvec()
    return np.concatenate((pose[:3, 3] - expected[:3, 3], turn))


def _describe_part(gained: float, deviation: float) -> str:
    what = "part missing" if gained < 0.0 else "part added"
    return f"{what}: {format_estimate(1e3 * abs(gained), 1e3 * deviation, 'g')}"


def _describe(name: str, what: _Hypothesis, offset: FloatArray, fit: Fit) -> str:
    moved = _describe_vector(offset[:3], fit.covariance[:3, :3], 1e3, "mm", "along")
    turned = _describe_vector(offset[3:], fit.covariance[3:, 3:], float(np.degrees(1.0)), "°", "about")
    if what.state is GripState.AS_EXPECTED:
        return f"{name} is held as expected"
    if what.state is GripState.TURNED:
        word = "turned round" if what.axis == "z" else "held upside down"
        return f"{word}: turned by 180° about its {what.axis} axis"
    parts = [f"slipped by {moved}" if moved else "", f"turned by {turned}" if turned else ""]
    return " and ".join(part for part in parts if part) or "slipped"


def _describe_vector(vector: FloatArray, covariance: FloatArray, factor: float, unit: str, word: str) -> str:
    """Length and direction of a vector (3,) that is significant; the main axis, or all three components."""
    length = float(np.linalg.norm(vector))
    if length == 0.0 or vector @ np.linalg.solve(covariance, vector) < _SIGNIFICANT:
        return ""
    direction = vector / length
    size = format_estimate(factor * length, factor * float(np.sqrt(direction @ covariance @ direction)), unit)
    axis = int(np.abs(direction).argmax())
    if abs(direction[axis]) > _ALONG:
        return f"{size} {word} {'-' if direction[axis] < 0.0 else ''}{'xyz'[axis]}"
    return f"{size} {word} ({', '.join(f'{part:.2f}' for part in direction)})"
