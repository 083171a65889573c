"""An arm together with what is systematically wrong with its readings and with the model of its friction.

What channel k reads at time t is, to first order in what is wrong,

    y_k(t) = (1 + gain_k) (A_k(t) x + sum_b bump_kb B_kb(t) + sum_a tilt_a T_ka(t) - delay dy_k/dt)

None of this averages out, and a gain common to all channels cannot be told from the masses at all, so gains (torque
constants, torque sensors), delay, tilt of the base (see `tilt`) and the shape of friction at low velocity (see BUMPS in
`signals`) are unknowns with prior standard deviations of their own, estimated jointly. The gains multiply what is
predicted, A_k x: with what was measured in its place, noise would choose the gain that makes everything vanish. That is
bilinear; since each channel keeps the root of its whole information, [A_k, B_k, T_k, dy_k, y_k], a Gauss-Newton step
takes all rows into account as if they had been kept.

How large bumps and wandering are is asked of the data (see `evidence`): where friction is as modelled, columns for how
it is not must cost nothing. Gains, tilts and delay are as large as is set, for what the data say of them (differences
of gains) says little of what they cannot say (one that is common to all); but where gains differ by far more than is
set, the one that is common to all may be so, too, and all of them are taken to be as much larger.

How much weight a channel has is found from the scores of blocks, see `misfit`.

Friction also wanders, for drives get warm: viscous and Coulomb friction are means over the recording, from which they
deviate as a random walk does. Of its course over the parts of the recording (see `Blocks`), the largest principal
components are nuisances as well. Their columns are those of friction, times the component's value in each part, so
that the parts' products tell all that is needed of them, and no row has more columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from inertid_ros.core.estimation.evidence import find_evidence
from inertid_ros.core.estimation.gears import Channel, GearedChannel, make_safe
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.misfit import FEWEST_BLOCKS, Blocks, ChannelScores
from inertid_ros.core.lapack import solve_triangular
from inertid_ros.core.records import FloatArray, IntArray

_ROUNDS = 3
"""Gauss-Newton steps, each with the weights that the residuals of the last one give: gains are per cents, so that each
step gains two digits."""
_COURSES = 3
"""Principal components of a random walk that are nuisances: they have 83 % of its variance, and what warms up has still
less in the others."""
_KNEE, _STRIBECK, _GEARS, _WANDERS = range(4)
"""Kinds of nuisances of which the data say how large they are: the first bump of friction, which is where it changes
its sign, the other ones, how friction grows with the load of gears, and how it wanders."""
_BELIEF = 2.0
"""So many gains that are as is set stand against those that are seen, as an unsure variance has in its prior."""


@dataclass(frozen=True, slots=True)
class Nuisances:
    """What may be systematically wrong, as prior standard deviations; 0 for what is exact.

    Attributes:
        columns: how many columns the rows have for nuisances, after those of the U unknowns: bumps of friction, then
        tilts: (C,) those of the tilt of the base [rad], and
        delay: that of the readings [s], in the last column.
        gain: of each channel.
        friction: bumps of friction, as a part of the friction of the channel.
        wander: how far friction is from its mean, root mean square over the recording, as a part of it.
        frictions: for each channel the unknowns of its friction, ascending.
        gears: how many columns, between bumps and tilts, are those of gears whose friction grows with their load.
        gear: that friction, as a part of the torque.
        links: how many of the unknowns, the first ones, are those of links.
    """

    columns: int = 0
    tilts: tuple[float, ...] = (0.0, 0.0)
    delay: float = 0.0
    gain: float = 0.0
    friction: float = 0.0
    wander: float = 0.0
    frictions: tuple[IntArray, ...] = ()
    gears: int = 0
    gear: float = 0.0
    links: int = 0

    @property
    def bumps(self) -> int:
        """How many columns are those of bumps of friction."""
        return max(self.columns - self.gears - len(self.tilts) - 1, 0)

    def list_gears(self, unknowns: int) -> range:
        """Columns of gears, after those of so many unknowns."""
        return range(unknowns + self.bumps, unknowns + self.bumps + self.gears)


@dataclass(frozen=True, slots=True)
class JointSolution:
    """Unknowns and nuisances.

    Attributes:
        values: (U,).
        covariance: (U, U) accuracy: noise, misfit and systematic error.
        repeatability: (U, U) the part of it that does not come from the priors of nuisances: what a repetition on the
            same arm would show.
        nuisances, nuisance_deviations: (V + K,) bumps of friction, tilts [rad], delay [s], gains.
        variances: (K,) of the channels' residuals times their inflation.
    """

    values: FloatArray
    covariance: FloatArray
    repeatability: FloatArray
    nuisances: FloatArray
    nuisance_deviations: FloatArray
    variances: FloatArray


class _Courses(NamedTuple):
    """How friction of one channel may run.

    Attributes:
        friction: (F,) places of friction among the columns of the channel.
        parts: (S, M) values of its courses in all parts, and
        blocks: (B, M) in the blocks that are kept.
    """

    friction: IntArray
    parts: FloatArray
    blocks: FloatArray


class _Wander(NamedTuple):
    """How friction of one channel may wander.

    Attributes:
        channel: with columns for it.
        friction: (F,) places of friction among the columns of the channel.
        places: (M, F) of the nuisances, the M courses of each friction, among all unknowns and nuisances.
        courses: (B, M) their values in the blocks that are kept.
    """

    channel: Channel
    friction: IntArray
    places: IntArray
    courses: FloatArray

    def list_coefficients(self, values: FloatArray, gain: float) -> FloatArray:
        """Coefficients (B, n + 1) of the columns and of y in the residuals of blocks."""
        used = self.channel.used[: len(self.channel.used) - self.places.size]
        coefficients = np.tile(np.append((1.0 + gain) * values[used], -1.0), (len(self.courses), 1))
        coefficients[:, self.friction] += (1.0 + gain) * self.courses @ values[self.places]
        return coefficients


def solve_jointly(
    channels: Sequence[Channel],
    prior: SquareRootInformation,
    start: FloatArray,
    nuisances: Nuisances,
    blocks: Blocks,
) -> JointSolution:
    """Solve for unknowns and nuisances, from values (U,) to start with."""
    count, values = len(start), start
    variances = np.array([channel.variance for channel in channels])
    strengths: FloatArray = np.ones(_WANDERS + 1)
    doubt, last = 1.0, count + nuisances.columns
    gears = nuisances.list_gears(count)
    products = blocks.list_products([len(channel.matrix) for channel in channels])
    geared = [
        GearedChannel(channel, own, len(blocks.kept), gears, nuisances.links)
        for channel, own in zip(channels, products, strict=True)
    ]
    scores = _list_scores(geared, blocks.ended, count)
    courses = _list_courses(geared, nuisances, blocks)
    for _ in range(_ROUNDS):
        for one in geared:
            one.load(values)
        wanders = _let_wander(geared, courses, last)
        channels = [wander.channel for wander in wanders]
        size = last + sum(wander.places.size for wander in wanders)
        values = np.append(values, np.zeros(size + len(channels) - len(values)))
        sizes, kinds = _list_sizes(wanders, nuisances, values[:count])
        sizes[-len(channels) :] *= doubt
        known = np.flatnonzero(sizes)
        free = np.concatenate((np.arange(count), count + known))
        lines = [_expand(channel, values, size + k) for k, channel in enumerate(channels)]
        rows = _stack(channels, lines, prior, values, variances)
        data = SquareRootInformation.from_rows(rows[:, [*free, -1]]).matrix
        strengths, deviations = _weigh(data[count:, count:], sizes[known], kinds[known], strengths)
        believed = np.zeros((len(known), len(free) + 1))
        believed[:, count:-1] = np.diag(1.0 / deviations)
        root = np.zeros((len(free), len(values)))
        factor = np.asarray(np.linalg.qr(np.concatenate((data, believed)), mode="r"))
        root[:, free] = solve_triangular(factor[: len(free), :-1], np.eye(len(free))).T
        values = np.asarray(root.T @ factor[: len(free), -1])
        doubt = find_doubt(values[size:], (root[:, size:] ** 2).sum(axis=0), nuisances.gain, doubt)
        for k, score in enumerate(scores):
            coefficients = wanders[k].list_coefficients(values, values[size + k])
            variances[k] = score.find_variance(geared[k].kept, coefficients) + channels[k].floor
    covariance = root.T @ root
    noise = root.T @ (data[:, :-1] @ root[:, free].T).T
    return JointSolution(
        values[:count],
        covariance[:count, :count],
        noise[:count] @ noise[:count].T,
        values[count:],
        np.sqrt(np.diag(covariance)[count:]),
        variances,
    )


def find_doubt(gains: FloatArray, variances: FloatArray, size: float, before: float) -> float:
    """By how much larger than their prior size gains (K,) are; never less than one.

    As the evidence of `systematic.find_doubts` has it: their squares over the number of gains that the data determine,
    with their variances (K,) where the prior was so much wider before.
    """
    if size == 0.0:
        return 1.0
    seen = len(gains) - float(variances.sum()) / (before * size) ** 2
    found = float(gains @ gains) / size**2
    return float(np.sqrt(max(1.0, (_BELIEF + found) / (_BELIEF + max(seen, 0.0)))))


def _stack(
    channels: Sequence[Channel],
    lines: Sequence[tuple[IntArray, FloatArray]],
    prior: SquareRootInformation,
    values: FloatArray,
    variances: FloatArray,
) -> FloatArray:
    """Whitened rows (M, U + V + K + 1) of the prior of the unknowns and of all channels, linear at values."""
    count = len(prior.factor)
    stacked = [np.zeros((count, len(values) + 1))]
    stacked[0][:, :count], stacked[0][:, -1] = prior.factor, prior.matrix[:count, count]
    for channel, (places, turn), variance in zip(channels, lines, variances, strict=True):
        rows = np.zeros((len(channel.matrix), len(values) + 1))
        rows[:, places] = channel.matrix[:, :-1] @ turn
        rows[:, -1] = channel.matrix[:, -1] + values[places[-1]] * rows[:, places[-1]]
        stacked.append(rows / np.sqrt(variance))
    return np.concatenate(stacked)


def _weigh(
    data: FloatArray, sizes: FloatArray, kinds: IntArray, strengths: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Strengths of the priors of each kind, from those before, and prior standard deviations (N,) of nuisances.

    Args:
        data: (M, N + 1) whitened rows that say something of them whatever the unknowns are.
        sizes: (N,) prior standard deviations as set, and
        kinds: (N,) which of them the data may change.
        strengths: of the priors before.
    """
    if (kinds < 0).all():
        return strengths, sizes
    lines, left = data[:, :-1], data[:, -1]
    found = find_evidence(lines.T @ lines, lines.T @ left, sizes, kinds, strengths)
    return found.strengths, found.widths


def _list_scores(channels: Sequence[GearedChannel], ended: int, unknowns: int) -> list[ChannelScores]:
    """Blocks of each channel; none while too few have ended."""
    if ended < FEWEST_BLOCKS:
        return []
    scores = []
    for geared in channels:
        own = int((geared.channel.used < unknowns).sum())
        scores.append(ChannelScores(geared.kept, geared.channel.matrix[:own, :own], own))
    return scores


def _list_sizes(wanders: Sequence[_Wander], nuisances: Nuisances, values: FloatArray) -> tuple[FloatArray, IntArray]:
    """Prior standard deviations (V + K,) as set, and their kinds; those of friction follow from how much there is."""
    count, columns, bumps = len(values), nuisances.columns, nuisances.bumps
    sizes = np.zeros(columns + sum(wander.places.size for wander in wanders) + len(wanders))
    kinds = np.full(len(sizes), -1)
    sizes[len(sizes) - len(wanders) :] = nuisances.gain
    if columns:
        sizes[bumps:columns] = *(nuisances.gear,) * nuisances.gears, *nuisances.tilts, nuisances.delay
        kinds[bumps : bumps + nuisances.gears] = _GEARS
    for channel, friction, places, _ in wanders:
        own = channel.used[(channel.used >= count) & (channel.used < count + bumps)] - count
        lines = channel.matrix[:, friction]
        size = float(np.linalg.norm(lines @ values[channel.used[friction]]))
        sizes[own] = nuisances.friction * size / np.sqrt(max(channel.rows, 1.0))
        kinds[own[:1]], kinds[own[1:]] = _KNEE, _STRIBECK
        lengths = np.linalg.norm(lines, axis=0)
        sizes[places - count] = nuisances.wander * size / np.where(lengths > 0.0, lengths, np.inf)
        kinds[places - count] = _WANDERS
    return sizes, kinds


def _expand(channel: Channel, values: FloatArray, gain: int) -> tuple[IntArray, FloatArray]:
    """Unknowns and nuisances (n + 1,) of a channel, its gain last, and how its columns change with them, (n, n + 1)."""
    turn = np.column_stack(((1.0 + values[gain]) * np.eye(len(channel.used)), values[channel.used]))
    return np.append(channel.used, gain), turn


def _list_courses(channels: Sequence[GearedChannel], nuisances: Nuisances, blocks: Blocks) -> list[_Courses]:
    """How friction of each channel may run."""
    lengths = np.array(blocks.lengths)
    within = [np.searchsorted(np.cumsum(lengths), numbers, side="right") for numbers in blocks.numbers]
    found = []
    for k, geared in enumerate(channels):
        used = geared.channel.used
        own = np.isin(used, nuisances.frictions[k]) if k < len(nuisances.frictions) else used < 0
        friction = np.flatnonzero(own)
        courses: FloatArray = np.empty((len(lengths), 0))
        if nuisances.wander > 0.0 and len(friction) and len(lengths) > 1:
            courses = find_courses(lengths, geared.squares[:, friction[-1]])
        in_blocks = np.array([courses[parts].mean(axis=0) for parts in within]).reshape(len(within), courses.shape[1])
        found.append(_Courses(friction, courses, in_blocks))
    return found


def _let_wander(channels: Sequence[GearedChannel], courses: Sequence[_Courses], first: int) -> list[_Wander]:
    """Let friction wander; the nuisances of it begin at `first`."""
    wanders = []
    for geared, (friction, in_parts, in_blocks) in zip(channels, courses, strict=True):
        channel, shape = geared.channel, (in_parts.shape[1], len(friction))
        places = first + np.arange(shape[0] * shape[1]).reshape(shape)
        matrix = add_courses(channel.matrix, geared.parts, friction, in_parts) if places.size else channel.matrix
        extended = replace(channel, matrix=matrix, used=np.append(channel.used, places))
        wanders.append(_Wander(extended, friction, places, in_blocks))
        first += places.size
    return wanders


def find_courses(lengths: FloatArray, motion: FloatArray) -> FloatArray:
    """How a random walk may run in S parts of these lengths: (S, M) its largest principal components.

    Weighted by how much motion there is in each part, they have a mean of zero. Independent coefficients of variance
    one add up to a walk whose root mean square over all parts is one.
    """
    shares, centres = lengths / lengths.sum(), np.cumsum(lengths) - 0.5 * lengths
    centred = np.eye(len(lengths)) - (motion / motion.sum() if motion.any() else shares)
    walk = centred @ np.minimum.outer(centres, centres) @ centred.T
    weights = np.sqrt(shares)
    sizes, directions = np.linalg.eigh(walk * np.outer(weights, weights))
    count = min(_COURSES, len(lengths) - 1)
    chosen = slice(len(sizes) - count, None)
    return np.asarray(directions[:, chosen] * np.sqrt(sizes[chosen] / sizes[chosen].sum()) / weights[:, None])


def add_courses(root: FloatArray, parts: FloatArray, own: IntArray, courses: FloatArray) -> FloatArray:
    """Add columns to the root (n + 1, n + 1) of the information of lines [A, y]: [A, A_own times each course, y].

    What is left of a new column e after all others is known from its products with them: R w = A^T e.

    Args:
        root: upper triangular.
        parts: (S, n + 1, n + 1) products of the lines of each part, lower triangles.
        own: (F,) the columns that are multiplied.
        courses: (S, M) by what in each part.

    Returns:
        (n + 1 + M F, n + 1 + M F), of which the first n columns are as they were.
    """
    is_lower = np.arange(len(root)) <= own[:, None]
    whole = np.where(is_lower, parts[:, own], np.swapaxes(parts[:, :, own], 1, 2))
    added = courses.shape[1] * len(own)
    crossed = np.einsum("sm,sfj->jmf", courses, whole).reshape(len(root), added)
    squares = np.einsum("sm,sk,sfg->mfkg", courses, courses, whole[:, :, own]).reshape(added, added)
    explained = solve_triangular(make_safe(root), crossed, turned=True)
    sizes, directions = np.linalg.eigh(squares - explained.T @ explained)
    left = np.sqrt(np.maximum(sizes, 0.0))[:, None] * directions.T
    upper = np.hstack((root[:, :-1], explained, root[:, -1:]))
    return np.vstack((upper, np.hstack((np.zeros((added, len(root) - 1)), left, np.zeros((added, 1))))))
