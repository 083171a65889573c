"""Has the load changed, or the bias? Evidence from the last pieces of data against all before them.

With x what the rows before determine (covariance C) and G the products of a window after them, the score
u = -D^T G c of load and bias (D their derivatives, see `systematic`) has the covariance

    nothing has changed:  I + J C J^T        something has, by N(0, S^2):  I + J C J^T + I S^2 I

with I = D^T G D and J the same for all unknowns. The ratio of both likelihoods is the Bayes factor: it weighs how well
a change explains the window against how much it could have explained. Residuals scatter by the inflation that was
found before, so that a sensor that is worse than its noise at standstill raises no alarm.

What follows from a row, and what has happened to the load: which kind of event, how certain, and in words.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.equations.load import LOAD, UNKNOWNS
from inertid_ros.core.estimation.chi_square import find_tail
from inertid_ros.core.estimation.damping import TINY
from inertid_ros.core.estimation.products import CONSTANT, ProductSums, stands_out
from inertid_ros.core.estimation.sensor_equation import weigh_products
from inertid_ros.core.estimation.systematic import Normal
from inertid_ros.core.records import EventKind, FloatArray, IntArray

_NO_LOAD = 0.05
"""A load lighter than this [kg] is none: half a newton is within the drift of many sensors."""
_NO_SHARE = 0.02
"""So is one lighter than this part of the other load: sensors whose gain is off by 1 % show that much of nothing."""


class Decision(NamedTuple):
    """What follows from a row.

    Attributes:
        restart: whether the filters must be restarted.
        kind: what happened to the load, if anything.
        message: the same in words.
        confidence: probability that it is this and none of what else was tested.
        masses: before and after [kg].
    """

    restart: bool
    kind: EventKind | None = None
    message: str = ""
    confidence: float = 0.0
    masses: tuple[float, float] = (0.0, 0.0)


def find_probability(accepted: float, *others: float) -> float:
    """Probability of a hypothesis from logarithms of likelihoods, its own and others', equally likely beforehand."""
    return 1.0 / (1.0 + sum(math.exp(min(other - accepted, 700.0)) for other in others))


def describe_change(decision: Decision, share: float = _NO_SHARE) -> Decision:
    """Another load, by its masses: attached where there was none, released where there is none, or changed.

    None is what is lighter than 50 g, or than a `share` of the other load.
    """
    if decision.kind is not EventKind.LOAD_CHANGED:
        return decision
    before, after = decision.masses
    nothing = max(_NO_LOAD, share * max(abs(before), abs(after)))
    was_none, is_none = abs(before) <= nothing, abs(after) <= nothing
    kind, words = EventKind.LOAD_CHANGED, "the load has changed"
    if was_none and not is_none:
        kind, words = EventKind.LOAD_ATTACHED, "a load was attached"
    elif is_none and not was_none:
        kind, words = EventKind.LOAD_RELEASED, "the load was released"
    before, after = (round(mass, 3) + 0.0 for mass in decision.masses)  # zero without a sign
    return decision._replace(kind=kind, message=f"{words}: {before:.3f} kg before, {after:.3f} kg now")


def find_surprise(name: str, believed: tuple[float, float], mass: float, variance: float) -> tuple[Finding, ...]:
    """A finding where the mass [kg] of what was attached contradicts what was expected.

    Args:
        name: of what was expected.
        believed: its mass and the standard deviation of that.
        mass: found without believing it, and
        variance: of that.
    """
    deviation = math.hypot(believed[1], math.sqrt(variance))
    if abs(mass - believed[0]) <= _SURPRISING * deviation:
        return ()
    message = (
        f"'{name}' was expected, but what was attached is {1e3 * (abs(mass) - abs(believed[0])):+.0f} ± "
        f"{1960.0 * deviation:.0f} g against it: it is another object, or a part of it; its mass is not believed"
    )
    return (Finding("warning", "unexpected_load", message),)


_SURPRISING = 3.5
"""Standard deviations by which a mass contradicts what was expected: one in two thousand."""
CHANGE = np.concatenate(([0.3], [0.03] * 3, [0.003] * 6, [1.0] * 3, [0.05] * 3))
"""Standard deviations [kg, kg m, kg m², N, Nm] of a change: parts that grippers take, and a sensor that is tared."""
_SEEN = 1e-2
"""Information, in units of a change, below which a window says nothing of a direction."""
_OUTSTANDING = 12.0
"""Squared score, over its variance, up to which it is noise: one of 78 is beyond in a few of a hundred pieces."""
CERTAIN = 15.0
"""Logarithm of the Bayes factor beyond which something has changed: 3e6 to 1, one false alarm in weeks of pieces."""
_DISTINCT = 5.0
"""Difference of both logarithms from which it is certain whether load or bias have changed: 150 to 1."""
CONSISTENT = 1e-4
"""Probability below which the next piece contradicts a change that was suspected."""
_DOUBTFUL = 0.05
"""Probability below which a change may be growing still, and is not accepted yet: to wait costs half a second."""


_TURNED = 0.5
"""Scatter of the proper acceleration [m/s²] from which a window shows more than one pose: gravity turns by 10°."""
_SAME_POSE = 0.1
"""Change of the mean proper acceleration [m/s²] up to which a pose is still the same: 0.6°."""


class Evidence(NamedTuple):
    """What a window says.

    Attributes:
        load, bias: logarithms of the Bayes factors of a change of the load, and of the bias.
        changed: (55,) values if the likelier of both has changed.
        change: (V,) by how much the free unknowns have then, and
        covariance: (V, V) that of their values.
    """

    load: float
    bias: float
    changed: FloatArray
    change: FloatArray
    covariance: FloatArray

    @property
    def is_distinct(self) -> bool:
        """Whether it is certain which of both has changed."""
        return abs(self.load - self.bias) > _DISTINCT

    @property
    def strongest(self) -> float:
        """The larger logarithm."""
        return max(self.load, self.bias)


class _Scores(NamedTuple):
    """Independent scores (D,) of a window, with unit variance, and how they depend on all unknowns and on a change."""

    values: FloatArray
    by_all: FloatArray
    by_change: FloatArray


def _find_scores(sums: ProductSums, window: FloatArray, values: FloatArray, index: IntArray) -> _Scores:
    data, slope = weigh_products(window, values, sums.known_noise)
    information, slope = CHANGE[:, None] * data[:UNKNOWNS, index], -CHANGE * slope[:UNKNOWNS]
    sizes, directions = np.linalg.eigh(information[:, :UNKNOWNS] * CHANGE)
    seen = sizes > _SEEN
    roots, directions = np.sqrt(sizes[seen]), directions[:, seen]
    return _Scores(directions.T @ slope / roots, directions.T @ information / roots[:, None], (directions * roots).T)


def tells_more_than_pose(window: FloatArray, before: FloatArray) -> bool:
    """Whether what a window shows cannot be due to its pose alone.

    What is wrong in a pose stays the same for as long as it is held. So the sensor must have turned in the window, or
    have been in the same pose before it: products (6, P, P) each.
    """
    mean, scatter = _find_pose(window)
    return scatter > _TURNED or float(np.linalg.norm(mean - _find_pose(before)[0])) < _SAME_POSE


def _find_pose(window: FloatArray) -> tuple[FloatArray, float]:
    """Mean (3,) and scatter of the proper acceleration."""
    gram = window[0]
    weight = max(float(gram[CONSTANT, CONSTANT]), TINY)
    mean = gram[CONSTANT, :3] / weight
    return mean, float(np.sqrt(max(np.trace(gram[:3, :3]) / weight - mean @ mean, 0.0)))


def looks_the_same(sums: ProductSums, coefficients: FloatArray, noise: FloatArray, pieces: int) -> bool:
    """Whether no score of the last pieces stands out of what noise lets expect: then nothing has changed.

    Coefficients (6, P) are those of the last solution, see `find_coefficients`, the noise (6,) is the known one of its
    scores.
    """
    return not stands_out(sums.find_recent(1, 1 + pieces), coefficients, _OUTSTANDING * noise)


def weigh_change(sums: ProductSums, before: FloatArray, window: FloatArray) -> Evidence:
    """Compare a window with what was before, products (6, P, P) each."""
    normal = Normal(sums, before, sums.values, sums.known_noise)
    scores = _find_scores(sums, window, normal.values, normal.index)
    count = len(scores.values)
    expected = np.eye(count) + scores.by_all @ normal.covariance @ scores.by_all.T
    nothing = _likelihood(scores.values, expected)
    parts = (slice(0, LOAD), slice(LOAD, UNKNOWNS))
    evidence = []
    for part in parts:
        effect = scores.by_change[:, part]
        evidence.append(_likelihood(scores.values, expected + effect @ effect.T) - nothing)
    part = parts[int(np.argmax(evidence))]
    change = np.zeros((len(normal.index), len(normal.index)))
    change[part, part] = np.diag(CHANGE[part] ** 2)
    prior = normal.covariance + change
    across = prior @ scores.by_all.T
    gain = np.linalg.solve(scores.by_all @ across + np.eye(count), across.T).T
    changed, difference = normal.values.copy(), gain @ scores.values
    changed[normal.index] += difference
    return Evidence(evidence[0], evidence[1], changed, difference, prior - gain @ across.T)


class Sameness(NamedTuple):
    """How probable it is that a change, as it was suspected, leaves what a later window shows.

    Attributes:
        overall: of all scores of the window.
        along: of those in the direction of the change, where growth shows most.
    """

    overall: float
    along: float

    @property
    def is_contradicted(self) -> bool:
        """Whether it has grown, or has passed."""
        return min(self.overall, self.along) < CONSISTENT

    @property
    def is_doubtful(self) -> bool:
        """Whether it may be growing still."""
        return self.along < _DOUBTFUL


def find_sameness(sums: ProductSums, suspected: Evidence, window: FloatArray) -> Sameness:
    """Whether a later window (6, P, P) is consistent with a change that was suspected."""
    index = np.flatnonzero(np.isfinite(np.diag(sums.precision)))
    scores = _find_scores(sums, window, suspected.changed, index)
    expected = np.eye(len(scores.values)) + scores.by_all @ suspected.covariance @ scores.by_all.T
    growth = scores.by_all @ suspected.change
    solved = np.linalg.solve(expected, np.stack((scores.values, growth), axis=1))
    distance, along = float(scores.values @ solved[:, 0]), float(growth @ solved[:, 0])
    size = float(growth @ solved[:, 1])
    return Sameness(find_tail(len(scores.values), distance), find_tail(1, along**2 / size) if size > 0.0 else 1.0)


def _likelihood(scores: FloatArray, covariance: FloatArray) -> float:
    """Logarithm of the likelihood of scores, whose covariance is at least one: less is rounding."""
    variances, directions = np.linalg.eigh(covariance)
    variances = np.maximum(variances, 1.0)
    return float(-0.5 * np.sum((directions.T @ scores) ** 2 / variances + np.log(variances)))
