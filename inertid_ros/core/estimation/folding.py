"""Rows folded into the square root of the information, compiled: plain Givens rotations, which need no LAPACK here.

The matrix kept is [[R, z], [0, r]], upper triangular: R x = z is the least-squares solution of all rows so far, and r
the root of the sum of squares that it leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import brief, compiled
from inertid_ros.core.records import FloatArray, IntArray


@compiled
def fold_row(matrix: FloatArray, row: FloatArray) -> None:
    """Fold one whitened row [A, y] (n + 1,) into the matrix (n + 1, n + 1); the row is used up."""
    size = len(row)
    for i in range(size):
        b = row[i]
        if b == 0.0:
            continue
        line = matrix[i]
        a = line[i]
        length = np.sqrt(a * a + b * b)
        if not 1e-150 < length < 1e150:
            length = np.hypot(a, b)
        c, s = a / length, b / length
        line[i] = length
        for j in range(i + 1, size):
            above, below = line[j], row[j]
            line[j] = c * above + s * below
            row[j] = c * below - s * above


@compiled
def fold_rows(matrix: FloatArray, rows: FloatArray) -> None:
    """Fold (M, n + 1) whitened rows in; they are left as they are."""
    row = np.empty(rows.shape[1])
    for index in range(len(rows)):
        row[:] = rows[index]
        fold_row(matrix, row)


@compiled
def diffuse(matrix: FloatArray, first: int, deviations: FloatArray) -> None:
    """Let the unknowns from `first` on wander by independent steps u with these standard deviations (n - first,).

    With x' = x + u e_b, one unknown b after the other, the rows [1 / deviation, 0, 0] and [-R_b, R, z] in (u, x') are
    rotated until only the first has u, and that one is left out. From row b upwards R stays triangular.
    """
    size = len(matrix)
    pivot = np.empty(size)
    for b in range(first, size - 1):
        if not deviations[b - first] > 0.0:
            continue
        own = 1.0 / deviations[b - first]
        pivot[:] = 0.0
        for i in range(b, -1, -1):
            line = matrix[i]
            other = -line[b]
            if other == 0.0:
                continue
            length = np.hypot(own, other)
            c, s = own / length, other / length
            own = length
            for j in range(i, size):
                above, below = pivot[j], line[j]
                pivot[j] = c * above + s * below
                line[j] = c * below - s * above


@compiled
def solve_triangle(matrix: FloatArray, values: FloatArray) -> None:
    """Solve R x = z into (n,)."""
    n = len(values)
    for i in range(n - 1, -1, -1):
        left = matrix[i, n]
        for j in range(i + 1, n):
            left -= matrix[i, j] * values[j]
        values[i] = left / matrix[i, i]


@compiled
def spread_rows(matrix: FloatArray, spreads: FloatArray) -> None:
    """Replace rows A (K, n) by A R^-1: the products of two of them are those of A P A^T."""
    channels, n = spreads.shape
    for i in range(n):
        line, scale = matrix[i], 1.0 / matrix[i, i]
        for k in range(channels):
            spread = spreads[k]
            solved = scale * spread[i]
            spread[i] = solved
            if solved != 0.0:
                for j in range(i + 1, n):
                    spread[j] -= solved * line[j]


@compiled
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
        roomy_distance: the same with more room for the estimate.
        leverage: how many unknowns' worth of information the row brings, between 0 and K.
        force, torque: sizes of the innovation [N, Nm].
    """

    distance: float
    roomy_distance: float
    leverage: float
    force: float
    torque: float


@compiled
def compare_row(
    matrix: FloatArray,
    unknowns: FloatArray,
    row: FloatArray,
    variance: FloatArray,
    noise: FloatArray,
    room: float,
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
        whitened: (K, n + 1) the result.
    """
    channels, n = len(row), len(unknowns)
    spreads = np.empty((channels, n))
    innovation, relative = np.empty(channels), np.empty(channels)
    squares = np.zeros(2)
    for k in range(channels):
        scale, left = 1.0 / np.sqrt(variance[k]), row[k, n]
        for j in range(n):
            left -= row[k, j] * unknowns[j]
            whitened[k, j] = spreads[k, j] = scale * row[k, j]
        whitened[k, n] = scale * row[k, n]
        squares[k // 3] += left * left
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
    return Comparison(
        squared_distance(expected, 1.0, relative, innovation),
        squared_distance(expected, room, relative, innovation),
        leverage,
        np.sqrt(squares[0]),
        np.sqrt(squares[1]),
    )


@compiled
def add_products(products: FloatArray, line: FloatArray) -> None:
    """Add the products of a line (n,) to their sums (n, n), lower triangle."""
    for i in range(len(line)):
        factor = line[i]
        if factor != 0.0:
            for j in range(i + 1):
                products[i, j] += factor * line[j]


@brief
def fold_channels(
    matrices: FloatArray,
    offsets: IntArray,
    used: IntArray,
    row: FloatArray,
    usable: FloatArray,
    values: FloatArray,
    spread: FloatArray,
    noise: FloatArray,
    floors: FloatArray,
    sums: FloatArray,
    block: float,
    products: FloatArray,
) -> bool:
    """Fold a row [A, B, y] (K, U + V + 1) into the information of each channel on its own, where it is usable.

    The columns B belong to V nuisances, which are taken to be zero here.

    Args:
        matrices: the channels' matrices, one after the other.
        offsets: (K + 1, 2) where the matrix of each channel and its unknowns begin.
        used: the unknowns of each channel, one after the other.
        row: the row.
        usable: (K,) whether to take each channel.
        values: (U,) what is known.
        spread: (K,) variances of A x that come of what is not known, see `find_spread`.
        noise: (K,) variances of the channels' rows, 0 where not known.
        floors: (K,) smallest standard deviations.
        sums: (K, 6) rows, squares and sum of what was measured, and sum, squares and count of the innovations in the
            present block.
        block: innovations in a block.
        products: sums of products of each channel's line, laid out as the matrices are; lower triangles.

    Returns:
        Whether a channel's block is full.
    """
    unknowns, last, is_full = len(values), row.shape[1] - 1, False
    for k in range(len(row)):
        if usable[k] == 0.0:
            continue
        start, stop = offsets[k, 1], offsets[k + 1, 1]
        size = stop - start
        line = np.empty(size + 1)
        innovation = row[k, last]
        for j in range(size):
            index = used[start + j]
            line[j] = row[k, index]
            if index < unknowns:
                innovation -= line[j] * values[index]
        line[size] = row[k, last]
        innovation *= noise[k] / (noise[k] + spread[k] + floors[k] ** 2)
        add_products(products[offsets[k, 0] : offsets[k + 1, 0]].reshape(size + 1, size + 1), line)
        matrix = matrices[offsets[k, 0] : offsets[k + 1, 0]].reshape(size + 1, size + 1)
        fold_row(matrix, line)
        sums[k, 0] += 1.0
        sums[k, 1] += row[k, last] ** 2
        sums[k, 2] += row[k, last]
        sums[k, 3] += innovation
        sums[k, 4] += innovation**2
        sums[k, 5] += 1.0
        is_full |= sums[k, 5] >= block
    return is_full


@brief
def find_spread(row: FloatArray, inverse: FloatArray, spread: FloatArray) -> None:
    """Variances (K,) of A x for a row [A, ...] (K, > U), x with an upper triangular root (U, U) of its covariance."""
    unknowns = len(inverse)
    products = np.empty(unknowns)
    for k in range(len(spread)):
        products[:] = 0.0
        first = unknowns
        for u in range(unknowns):
            factor = row[k, u]
            if factor != 0.0:
                first = min(first, u)
                for column in range(u, unknowns):
                    products[column] += factor * inverse[u, column]
        total = 0.0
        for column in range(first, unknowns):
            total += products[column] ** 2
        spread[k] = total


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
GATE, CONTACT_FORCE, CONTACT_TORQUE, BANDWIDTH = range(4)
"""Where in the limits these are: the gate [standard deviations], forces and torques too small to be a contact, and the
bandwidth of a row's noise [Hz]."""


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
def track_row(
    matrix: FloatArray,
    values: FloatArray,
    row: FloatArray,
    signals: FloatArray,
    readings: FloatArray,
    motion: FloatArray,
    density: FloatArray,
    pose: FloatArray,
    interval: float,
    limits: FloatArray,
    is_tracking: bool,
    state: FloatArray,
    whitened: FloatArray,
    variance: FloatArray,
    noise: FloatArray,
    motion_noise: FloatArray,
) -> tuple[bool, float, float]:
    """Compare a load's row with what is known, and fold it in if it fits and the load is tracked.

    Args:
        matrix: what is known.
        values: (16,) its solution.
        row: (6, 17) the row, see `rows.Row`, as for the next three.
        signals: of the motion.
        readings: the wrench.
        motion: noise of the accelerations.
        density: (6,) of the sensor's noise, variance per hertz.
        pose: (14,) of the last row, see `count_repeats`.
        interval: since the last row [s].
        limits: (4,) see GATE.
        is_tracking: whether to fold the row in.
        state: (3,) see INFLATION.
        whitened: (6, 17) result: the row in units of its standard deviations, and
        variance: (6,) their squares.
        noise: (6,) result: variance of the noise in this row alone.
        motion_noise: (4, 6) sums of the noise of linear and angular accelerations over the variance of their rows:
            where they stand out of it, and where they do not.

    Returns:
        Whether the row fits, its noise in whitened units, inflated and summed over channels, and its leverage.
    """
    mass = weigh_row(signals, readings, motion, density, pose, interval, limits[BANDWIDTH], variance, noise)
    compared = compare_row(matrix, values, row, variance, noise, ROOM, whitened)
    inflation, amplitude = state[INFLATION], signals[12]
    gate = limits[GATE] ** 2 * inflation
    fits = compared.distance <= gate or compared.roomy_distance <= gate
    if not fits:
        slack = limits[GATE] * mass * (motion[2] + LEVER * motion[3])
        fits = (
            compared.force <= limits[CONTACT_FORCE] * amplitude + slack
            and compared.torque <= limits[CONTACT_TORQUE] * amplitude + slack * LEVER
        )
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
    return fits, total * inflation, compared.leverage


@compiled
def learn_inflation(state: FloatArray, ratio: float, leverage: float) -> None:
    """Average the innovations' variance over what noise explains, each row weighted by what is learned from it."""
    if state[WEIGHT] > INFLATION_MEMORY:
        state[EXCESS] *= 0.5
        state[WEIGHT] *= 0.5
    state[WEIGHT] += leverage
    state[EXCESS] += leverage * (min(ratio, INFLATION_MOST) - 1.0)
    state[INFLATION] = 1.0 + max(0.0, state[EXCESS]) / (state[WEIGHT] + INFLATION_PRIOR)


@compiled
def add_channels(
    total: FloatArray, matrices: FloatArray, offsets: IntArray, used: IntArray, weights: FloatArray
) -> None:
    """Fold the information of all channels, each with its weight, into that of all unknowns (U + 1, U + 1).

    Nuisances, which have indices from U on, are taken to be zero.
    """
    size = len(total)
    row = np.empty(size)
    for k in range(len(weights)):
        start, count = offsets[k, 1], offsets[k + 1, 1] - offsets[k, 1]
        matrix = matrices[offsets[k, 0] : offsets[k + 1, 0]].reshape(count + 1, count + 1)
        for i in range(count + 1):
            row[:] = 0.0
            for j in range(i, count):
                if used[start + j] < size - 1:
                    row[used[start + j]] = weights[k] * matrix[i, j]
            row[size - 1] = weights[k] * matrix[i, count]
            fold_row(total, row)


@compiled
def explain_channels(
    matrices: FloatArray,
    offsets: IntArray,
    used: IntArray,
    values: FloatArray,
    inverse: FloatArray,
    left: FloatArray,
    freedom: FloatArray,
) -> None:
    """Sum of squares (K,) that values leave of each channel's rows, and how many unknowns (K,) it determines.

    The latter is the squared norm of R_k R^-1, with R_k the root of the channel's information without its weight and
    R^-1 the upper triangular inverse root of that of all.
    """
    unknowns = len(values)
    spread = np.empty(unknowns)
    for k in range(len(left)):
        start, count = offsets[k, 1], offsets[k + 1, 1] - offsets[k, 1]
        matrix = matrices[offsets[k, 0] : offsets[k + 1, 0]].reshape(count + 1, count + 1)
        left[k] = matrix[count, count] ** 2
        freedom[k] = 0.0
        for i in range(count):
            rest = -matrix[i, count]
            spread[:] = 0.0
            for j in range(i, count):
                entry, index = matrix[i, j], used[start + j]
                if index >= unknowns:
                    break
                rest += entry * values[index]
                for column in range(index, unknowns):
                    spread[column] += entry * inverse[index, column]
            left[k] += rest**2
            for column in range(unknowns):
                freedom[k] += spread[column] ** 2
