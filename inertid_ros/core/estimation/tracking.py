"""Rows of a load compared with what is known, weighed, and folded in where they fit; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import allocating, brief, compiled
from inertid_ros.core.estimation.folding import fold_rows, solve_triangle, spread_rows
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rows.rows import Row

LEVER = 0.15
"""Distance [m] of a plausible load's mass from the sensor: that of a gripper with something in it."""
LIGHTEST = 0.1
"""Mass [kg] of the lightest plausible load: lighter ones hardly show on a wrist sensor."""
SAME_POSE = 0.02
"""Features [m/s², rad/s², rad²/s²] that differ by no more than this are those of the same pose: a
tenth of a degree of gravity."""
REPEATS = 50.0
"""So many rows (1 s) in one pose count for one more: what is wrong with a pose (friction of a cable, drift, the
kinematic model) does not average out by waiting."""
ROOM = 25.0
"""Factor by which the gate enlarges the estimate's covariance: the first rows of a motion are learned from noisy
accelerations, and the next ones must be able to correct them. Once the estimate has settled it makes no difference."""


INFLATION, EXCESS, WEIGHT = range(3)
"""Where in the state of a tracked load the variance inflation is, and the sums it comes from."""
INFLATION_MEMORY = 400.0
"""Leverage beyond which the past of the variance inflation is halved: 25 times that of all sixteen unknowns."""
INFLATION_PRIOR = 20.0
"""That the model is perfect counts as much as so much leverage: a little more than the sixteen unknowns."""
INFLATION_MOST = 1000.0
"""Ratio of variances beyond which a row counts for no more: one bad row must not inflate everything."""
LAST_TIME, SINCE_WANDER, SINCE_CHANGE = range(3)
"""Where in the clock of a tracked load these times [s] are: of the last row, and since the bias was let wander, and the
load has changed."""
WANDER_EVERY = 1.0
"""How often [s] the bias is let wander: often enough for any drift, and rarely enough to cost nothing."""
LONGEST_INTERVAL = 0.15
"""A row stands for at most so much time [s], the longest gap that is bridged."""
USUAL_INTERVAL = 0.02
"""Time [s] that the first row stands for: one decision interval."""
GATE, CONTACT_FORCE, CONTACT_TORQUE, BANDWIDTH = range(4)
"""Where in the limits these are: the gate [standard deviations], forces and torques too small to be a contact, and the
bandwidth of a row's noise [Hz]."""


class Tracked(NamedTuple):
    """What is known of a load, and what each row changes of it in place.

    Attributes:
        matrix: (17, 17) the square root of the information.
        values: (16,) its solution.
        clock: (3,) see LAST_TIME.
        limits: (4,) see GATE.
        state: (3,) see INFLATION.
        pose: (14,) of the last row, see `count_repeats`.
        motion_noise: (4, 6) sums of the noise of linear and angular accelerations over the variance of their rows:
            where they stand out of it, and where they do not.
        whitened: (6, 17) the last row in units of its standard deviations, and
        variance: (6,) their squares.
        noise: (6,) variance of the noise in this row alone.
    """

    matrix: FloatArray
    values: FloatArray
    clock: FloatArray
    limits: FloatArray
    state: FloatArray
    pose: FloatArray
    motion_noise: FloatArray
    whitened: FloatArray
    variance: FloatArray
    noise: FloatArray


@compiled
def find_interval(clock: FloatArray, time: float) -> float:
    """Time [s] since the last row: that of a decision interval where there is none, or where time was reset."""
    since = time - clock[LAST_TIME]
    return min(since, LONGEST_INTERVAL) if since > 0.0 else USUAL_INTERVAL


@brief
def advance_clock(clock: FloatArray, time: float) -> float:
    """Go on to the time [s] of a row; returns how much of it the row stands for."""
    interval = find_interval(clock, time)
    clock[LAST_TIME] = time
    clock[SINCE_WANDER] += interval
    clock[SINCE_CHANGE] += interval
    return interval


@allocating(compiled)
def squared_distance(covariance: FloatArray, factor: float, noise: FloatArray, innovation: FloatArray) -> float:
    """Square of an innovation (K,) in standard deviations of factor times a covariance plus independent noise (K,).

    Cholesky without a square root more than needed; a matrix that is not positive definite gives infinity.
    """
    size = len(innovation)
    lower = np.empty((size, size))
    solved = np.empty(size)
    distance = 0.0
    for i in range(size):
        for j in range(i + 1):
            total = factor * covariance[i, j] + (noise[i] if i == j else 0.0)
            for k in range(j):
                total -= lower[i, k] * lower[j, k]
            if i == j:
                if not total > 0.0:
                    return np.inf
                lower[i, i] = np.sqrt(total)
            else:
                lower[i, j] = total / lower[j, j]
        left = innovation[i]
        for k in range(i):
            left -= lower[i, k] * solved[k]
        solved[i] = left / lower[i, i]
        distance += solved[i] ** 2
    return distance


class Comparison(NamedTuple):
    """How a row compares with what is known.

    Attributes:
        distance: squared innovation, in standard deviations.
        roomy_distance: the same with more room for the estimate, where the former is not near enough.
        leverage: how many unknowns' worth of information the row brings, between 0 and K.
        force, torque: sizes of the innovation [N, Nm].
    """

    distance: float
    roomy_distance: float
    leverage: float
    force: float
    torque: float


@allocating(compiled)
def compare_row(
    matrix: FloatArray,
    unknowns: FloatArray,
    row: FloatArray,
    variance: FloatArray,
    noise: FloatArray,
    room: float,
    enough: float,
    whitened: FloatArray,
) -> Comparison:
    """Whiten a row [A, y] (K, n + 1) by its variance (K,), and compare it with the estimate.

    Args:
        matrix: what is known.
        unknowns: (n,) its solution.
        row: the row.
        variance: (K,) by which a row counts.
        noise: (K,) variance of the noise in a single row.
        room: factor by which the estimate's covariance is enlarged for the second distance.
        enough: the first distance up to which the second one is not asked for.
        whitened: (K, n + 1) the result.
    """
    channels, n = len(row), len(unknowns)
    spreads = np.empty((channels, n))
    innovation, relative = np.empty(channels), np.empty(channels)
    force = torque = 0.0
    for k in range(channels):
        scale, left = 1.0 / np.sqrt(variance[k]), row[k, n]
        for j in range(n):
            left -= row[k, j] * unknowns[j]
            whitened[k, j] = spreads[k, j] = scale * row[k, j]
        whitened[k, n] = scale * row[k, n]
        force += left * left if k < 3 else 0.0
        torque += left * left if k >= 3 else 0.0
        innovation[k] = scale * left
        relative[k] = noise[k] / variance[k]
    spread_rows(matrix, spreads)
    expected = np.empty((channels, channels))
    leverage = 0.0
    for i in range(channels):
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                total += spreads[i, k] * spreads[j, k]
            expected[i, j] = expected[j, i] = total
        leverage += expected[i, i] / (1.0 + expected[i, i])
    distance = roomy = squared_distance(expected, 1.0, relative, innovation)
    if not distance <= enough:
        roomy = squared_distance(expected, room, relative, innovation)
    return Comparison(distance, roomy, leverage, np.sqrt(force), np.sqrt(torque))


class RowVerdict(NamedTuple):
    """Whether a row fits, its noise in whitened units, inflated and summed over channels, and its leverage."""

    fits: bool
    total: float
    leverage: float


@compiled
def count_repeats(pose: FloatArray, signals: FloatArray) -> float:
    """How much less a row is worth than a new one: 1, and more the longer the sensor stands in one pose.

    The pose (14,) holds thirteen features and how many rows there were in it.
    """
    amplitude = max(signals[12], 1e-3)
    is_same = True
    for index in range(13):
        feature = signals[index] - (signals[13 + index] if index < 3 else 0.0)
        if abs(feature / amplitude - pose[index]) > SAME_POSE:
            is_same = False
            break
    if not is_same:
        for index in range(13):
            feature = signals[index] - (signals[13 + index] if index < 3 else 0.0)
            pose[index] = feature / amplitude
        pose[13] = 0.0
    pose[13] += 1.0
    return float(1.0 + pose[13] / REPEATS)


@compiled
def weigh_row(
    signals: FloatArray,
    readings: FloatArray,
    motion: FloatArray,
    density: FloatArray,
    pose: FloatArray,
    interval: float,
    bandwidth: float,
    variance: FloatArray,
    noise: FloatArray,
) -> float:
    """Find by which variance (6,) a load's row counts, and that of its own noise (6,).

    Accelerations that were left out of it count as noise of the wrench of a plausible load, whose mass is returned.
    """
    force = np.sqrt(readings[0] ** 2 + readings[1] ** 2 + readings[2] ** 2)
    mass = max(force / (9.8 * max(signals[12], 1e-3)), LIGHTEST)
    left_out = mass**2 * (motion[0] ** 2 + (LEVER * motion[1]) ** 2)
    worth = count_repeats(pose, signals) / interval
    for k in range(6):
        extra = left_out if k < 3 else left_out * LEVER**2
        variance[k] = density[k] * worth + extra
        noise[k] = density[k] * bandwidth + extra
    return float(mass)


@brief
def track_row(known: Tracked, row: Row, density: FloatArray, interval: float, is_tracking: bool) -> RowVerdict:
    """Compare a load's row with what is known, and fold it in if it fits and the load is tracked.

    A row that fits only because noise of the accelerations may explain it counts as one with that noise.

    Args:
        known: what is known, and the result.
        row: the row.
        density: (6,) of the sensor's noise, variance per hertz.
        interval: since the last row [s].
        is_tracking: whether to fold the row in.
    """
    matrix, values, _, limits, state, pose, motion_noise, whitened, variance, noise = known
    equations, signals, readings, motion = row.equations, row.signals, row.readings, row.motion
    mass = weigh_row(signals, readings, motion, density, pose, interval, limits[BANDWIDTH], variance, noise)
    inflation, amplitude = state[INFLATION], signals[12]
    gate = limits[GATE] ** 2 * inflation
    compared = compare_row(matrix, values, equations, variance, noise, ROOM, gate, whitened)
    fits = compared.roomy_distance <= gate
    if not fits:
        deviation = mass * (motion[2] + LEVER * motion[3])
        slack = limits[GATE] * deviation
        fits = (
            compared.force <= limits[CONTACT_FORCE] * amplitude + slack
            and compared.torque <= limits[CONTACT_TORQUE] * amplitude + slack * LEVER
        )
        if fits:
            for k in range(6):
                extra = deviation**2 if k < 3 else (LEVER * deviation) ** 2
                variance[k] += extra
                noise[k] += extra
            compared = compare_row(matrix, values, equations, variance, noise, ROOM, gate, whitened)
    total = 0.0
    for k in range(6):
        total += noise[k] / variance[k]
    if fits and is_tracking:
        learn_inflation(state, compared.distance / 6.0, compared.leverage)
        fold_rows(matrix, whitened)
        solve_triangle(matrix, values)
        for kind in range(2):
            place = kind + 2 if motion[kind] > 0.0 else kind
            for k in range(6):
                motion_noise[place, k] += motion[2 + kind] ** 2 / variance[k]
    return RowVerdict(fits, total * inflation, compared.leverage)


@compiled
def learn_inflation(state: FloatArray, ratio: float, leverage: float) -> None:
    """Average the innovations' variance over what noise explains, each row weighted by what is learned from it."""
    if state[WEIGHT] > INFLATION_MEMORY:
        state[EXCESS] *= 0.5
        state[WEIGHT] *= 0.5
    state[WEIGHT] += leverage
    state[EXCESS] += leverage * (min(ratio, INFLATION_MOST) - 1.0)
    state[INFLATION] = 1.0 + max(0.0, state[EXCESS]) / (state[WEIGHT] + INFLATION_PRIOR)
