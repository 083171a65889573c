"""Rows made of what the filters remember, by one of three methods, compiled; see `advance` for their equations."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import allocating, brief, compiled
from inertid_ros.core.equations import signals as equation
from inertid_ros.core.equations.signals import compute_signals
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rows.memory import (
    CHANNELS,
    CLOCK,
    CUTOFFS,
    ENTRY_SIGNALS,
    ENTRY_STARTS,
    ENTRY_UNKNOWNS,
    FACTORS,
    FILTERED_MOMENTUM,
    FILTERED_MOTION,
    FILTERED_READINGS,
    FILTERED_REST,
    GAINS,
    JOINTS,
    LAST_BAD,
    METHOD,
    MOMENTA,
    MONITORS,
    MOTION,
    PAST,
    PAST_COUNT,
    PAST_ROWS,
    REACH,
    ROW,
    ROW_IS_OLD,
    ROW_MOTION,
    ROW_MOVED,
    ROW_READINGS,
    ROW_SIGNALS,
    ROW_STANDING,
    ROW_USABLE,
    SIGNALS,
    SMOOTH,
    SPANS,
    SQUARES,
    STOOD,
    SUMS,
    UNKNOWNS,
)

MOMENTUM, REST = equation.MOMENTUM, equation.REST

FILTERED, DIFFERENTIATED, INTEGRAL = 0, 1, 2
"""Methods, for the kernels."""

NEAR = 2e-4
"""A joint that has never been farther than this [rad or m] from where it was first seen stands: encoders resolve it."""
FAR = 5e-3
"""A joint that has been this far [rad or m] has moved: gears have no more play."""
ONE_POSE = 2e-3
"""The arm stands in one pose while no joint has left it by more than this [rad or m]: brakes and controllers give."""
PLAIN = 0.5
"""Part of its Coulomb friction from which on the direction in which a joint moves is plain: most of what the filters
remember was in that direction."""
LONG = 1.0
"""Time [s] in one pose after which another row of it says nothing new: noise has averaged out, what is wrong stays."""


@compiled
def make_row(x: FloatArray, at: IntArray, m: FloatArray, of: IntArray, samples: FloatArray, index: int) -> None:
    """Lay down the row of the newest sample: signals, readings, what is usable, and [A, y]."""
    method = of[METHOD]
    if method == FILTERED:
        make_filtered_row(m, of)
    elif method == DIFFERENTIATED:
        make_differentiated_row(x, at, m, of)
    else:
        make_integral_row(x, at, m, of, samples[index, 0])
    if of[MONITORS]:
        suppress_noise(m, of)
    judge_sample(m, of, samples, index)
    row, width = of[ROW], of[UNKNOWNS] + 1
    for place in range(row, row + of[CHANNELS] * width):
        m[place] = 0.0
    for channel in range(of[CHANNELS]):
        for entry in range(of[of[ENTRY_STARTS] + channel], of[of[ENTRY_STARTS] + channel + 1]):
            place = row + width * channel + of[of[ENTRY_UNKNOWNS] + entry]
            m[place] += m[of[FACTORS] + entry] * m[of[ROW_SIGNALS] + of[of[ENTRY_SIGNALS] + entry]]
        m[row + width * (channel + 1) - 1] = m[of[ROW_READINGS] + channel]


@compiled
def judge_sample(m: FloatArray, of: IntArray, samples: FloatArray, index: int) -> None:
    """Which channels are usable, which joints stand or have moved, and whether the arm has long been in this pose."""
    n, clock, reach, stood = of[JOINTS], of[CLOCK], of[REACH], of[STOOD]
    time = samples[index, 0]
    for channel in range(of[CHANNELS]):
        settled = time - m[of[LAST_BAD] + channel] > m[of[SPANS] + 1]
        m[of[ROW_USABLE] + channel] = 1.0 if settled else 0.0
    has_left = time < m[clock + 3]
    for joint in range(n):
        reached = m[reach + n + joint] - m[reach + joint]
        m[of[ROW_STANDING] + joint] = 1.0 if reached <= NEAR else 0.0
        m[of[ROW_MOVED] + joint] = 1.0 if reached > FAR else 0.0
        if not abs(samples[index, 1 + joint] - m[stood + joint]) <= ONE_POSE:
            has_left = True
    if has_left:
        m[clock + 3] = time
        for joint in range(n):
            m[stood + joint] = samples[index, 1 + joint]
    m[of[ROW_IS_OLD]] = 1.0 if time - m[clock + 3] > LONG else 0.0


@compiled
def make_filtered_row(m: FloatArray, of: IntArray) -> None:
    """Signals, readings and motion noise after both filters."""
    cutoff, row, momenta = m[of[CUTOFFS]], of[ROW_SIGNALS], of[FILTERED_MOMENTUM]
    for number in range(of[SIGNALS]):
        m[row + number] = m[of[FILTERED_REST] + 2 * of[SIGNALS] + number]
    for number in range(of[MOMENTA]):
        m[row + number] += cutoff * (m[momenta + 3 * of[MOMENTA] + number] - m[momenta + 2 * of[MOMENTA] + number])
    for number in range(of[CHANNELS]):
        m[of[ROW_READINGS] + number] = m[of[FILTERED_READINGS] + 3 * number + 2]
    for number in range(MOTION):
        m[of[SQUARES] + number] = m[of[FILTERED_MOTION] + 3 * number + 2]


@allocating(compiled)
def make_differentiated_row(x: FloatArray, at: IntArray, m: FloatArray, of: IntArray) -> None:
    """Signals with accelerations of the smoothed motion; predictions need those of the sample itself afterwards."""
    n, k, smooth = of[JOINTS], of[CHANNELS], of[SMOOTH]
    q, v, a = np.empty(n), np.empty(n), np.empty(n)
    for joint in range(n):
        place, rate = smooth + 3 * joint, smooth + 3 * (n + joint)
        q[joint], v[joint] = m[place + 2], m[rate + 2]
        a[joint] = m[of[CUTOFFS] + 3] * (m[rate + 1] - m[rate + 2])
    now = x[at[MOMENTUM] : at[REST] + of[SIGNALS]].copy()
    compute_signals(x, at, q, v, a, True)
    for number in range(of[SIGNALS]):
        m[of[ROW_SIGNALS] + number] = x[at[REST] + number]
    x[at[MOMENTUM] : at[REST] + of[SIGNALS]] = now
    for number in range(k):
        m[of[ROW_READINGS] + number] = m[smooth + 3 * (2 * n + number) + 2]
    for number in range(MOTION):
        m[of[SQUARES] + number] = m[smooth + 3 * (2 * n + k + number) + 2]


@compiled
def make_integral_row(x: FloatArray, at: IntArray, m: FloatArray, of: IntArray, time: float) -> None:
    """Integrals over the window that ends here; one that is not full yet gives a proportionally smaller row."""
    s, k = of[SIGNALS], of[CHANNELS]
    integrals = s + k + MOTION
    remember_integrals(x, at, m, of, time)
    sums, earlier, scale = of[SUMS] + integrals, of[PAST] + 1, 1.0 / m[of[SPANS]]
    for number in range(s):
        m[of[ROW_SIGNALS] + number] = scale * (m[sums + number] - m[earlier + number])
    for number in range(of[MOMENTA]):
        change = x[at[MOMENTUM] + number] - m[earlier + integrals + number]
        m[of[ROW_SIGNALS] + number] += scale * change
    for number in range(k):
        m[of[ROW_READINGS] + number] = scale * (m[sums + s + number] - m[earlier + s + number])
    for number in range(MOTION):
        m[of[SQUARES] + number] = scale * (m[sums + s + k + number] - m[earlier + s + k + number])


@compiled
def remember_integrals(x: FloatArray, at: IntArray, m: FloatArray, of: IntArray, time: float) -> None:
    """Keep time, integrals and momenta of this sample, and forget what no window reaches back to any more."""
    integrals = of[SIGNALS] + of[CHANNELS] + MOTION
    width = 1 + integrals + of[MOMENTA]
    count, past = of[PAST_COUNT], of[PAST]
    gone = 1 if count == of[PAST_ROWS] else 0
    while count - gone > 1 and m[past + width * (gone + 1)] <= time - m[of[SPANS]]:
        gone += 1
    for place in range(width * (count - gone)):
        m[past + place] = m[past + width * gone + place]
    count -= gone
    row = past + width * count
    m[row] = time
    for number in range(integrals):
        m[row + 1 + number] = m[of[SUMS] + integrals + number]
    for number in range(of[MOMENTA]):
        m[row + 1 + integrals + number] = x[at[MOMENTUM] + number]
    of[PAST_COUNT] = count + 1


@compiled
def suppress_noise(m: FloatArray, of: IntArray) -> None:
    """Replace a load's accelerations that do not stand out of their noise by zero, and remember how large they were.

    Noise in the velocities looks like excitation: inertias multiply it, and an estimator that believes it learns, with
    great confidence, that there is no inertia. So the noise is measured on the way, by second differences. Filtered
    squares can be below zero where the steps are longer than the filter is slow; they count as zero.
    """
    row, squares, gains, motion = of[ROW_SIGNALS], of[SQUARES], of[GAINS], of[ROW_MOTION]
    amplitude = max(m[row + 12], 1e-12)
    gain = m[gains + 1] * max(m[squares + 2], 0.0) / amplitude + m[gains + 2]
    stand_out, variance = m[gains + 3], 0.0
    for kind in range(2):
        variance = max(m[squares + kind], 0.0) / (6.0 * amplitude)
        noise = np.sqrt(variance * gain)
        first = row + 3 * kind
        size = np.sqrt(m[first] ** 2 + m[first + 1] ** 2 + m[first + 2] ** 2)
        is_noise = size <= stand_out * noise
        m[motion + kind] = size if is_noise else 0.0
        m[motion + 2 + kind] = noise
        if is_noise:
            m[first] = m[first + 1] = m[first + 2] = 0.0
    if m[row + 6] + m[row + 9] + m[row + 11] <= stand_out * variance:
        for place in range(row + 6, row + 12):
            m[place] = 0.0


@brief
def record_row(m: FloatArray, of: IntArray, values: FloatArray, drives: IntArray, record: FloatArray) -> bool:
    """Record an arm's row before it is used, and leave out of it what noise alone would excite.

    Noise in the velocity of a joint that stands excites the columns of its friction and rotor as a motion would, and
    what is found from it is zero, with great certainty: the drives of joints that stand are left out of their rows, and
    rows of joints that may be moving altogether.

    Args:
        m: floats, see `make_memory`.
        of: their integers.
        values: (U or fewer,) the present estimate; unknowns after them are zero.
        drives: (n, D) the unknowns of the friction and the rotor of each joint, -1 where there are fewer; (0, 0) if the
            last n channels are no efforts.
        record: (3, K) result: readings, predictions, and which of them are usable.

    Returns:
        Whether a reading of the newest sample is bad.
    """
    row, width, channels = of[ROW], of[UNKNOWNS] + 1, of[CHANNELS]
    for channel in range(channels):
        predicted = 0.0
        for unknown in range(len(values)):
            predicted += m[row + width * channel + unknown] * values[unknown]
        record[0, channel], record[1, channel] = m[of[ROW_READINGS] + channel], predicted
    for joint in range(len(drives)):
        channel = channels - len(drives) + joint
        if m[of[ROW_STANDING] + joint] != 0.0:
            for unknown in drives[joint]:
                if unknown >= 0:
                    m[row + width * channel + unknown] = 0.0
        elif m[of[ROW_MOVED] + joint] == 0.0:
            m[of[ROW_USABLE] + channel] = 0.0
    is_bad = False
    for channel in range(channels):
        record[2, channel] = m[of[ROW_USABLE] + channel]
        is_bad |= m[of[LAST_BAD] + channel] == m[of[CLOCK] + 1]
    return is_bad


@brief
def fill_nuisances(
    m: FloatArray,
    of: IntArray,
    first: int,
    tilted: FloatArray,
    values: FloatArray,
    gears: IntArray,
    senses: FloatArray,
) -> None:
    """Fill in the columns of a row, before that of the readings, of gears under load, of tilt and of delay.

    That of the delay is -dy/dt of the filtered readings y, which their last filter knows. For gears see `gears`.

    Args:
        m: floats, see `make_memory`.
        of: their integers.
        first: the first channel that may be late.
        tilted: (n, C) columns of the tilt in the efforts, which are the last channels; (0, C) if the base is level.
        values: (L,) of the first unknowns, those of links.
        gears: (n, 2) the unknown of each joint's Coulomb friction, and the column of its gear; (0, 2) without.
        senses: (K,) result, of gears: 1 where they drive what moves, -1 where that drives them, 0 if neither is plain.
    """
    row, width, channels = of[ROW], of[UNKNOWNS] + 1, of[CHANNELS]
    filtered, cutoff = of[FILTERED_READINGS], m[of[CUTOFFS] + 1]
    if of[METHOD] == DIFFERENTIATED:
        filtered, cutoff = of[SMOOTH] + 3 * 2 * of[JOINTS], m[of[CUTOFFS] + 3]
    for channel in range(first, channels):
        change = m[filtered + 3 * channel + 2] - m[filtered + 3 * channel + 1]
        m[row + width * (channel + 1) - 2] = cutoff * change
    for joint in range(len(tilted)):
        place = row + width * (channels - len(tilted) + joint + 1) - 2 - tilted.shape[1]
        for column in range(tilted.shape[1]):
            m[place + column] = tilted[joint, column]
    for joint in range(len(gears)):
        line = row + width * (channels - len(gears) + joint)
        torque = 0.0
        for unknown in range(len(values)):
            torque += m[line + unknown] * values[unknown]
        direction, sense = m[line + gears[joint, 0]], 0.0
        if abs(direction) > PLAIN:
            sense = 1.0 if direction > 0.0 else -1.0
        m[line + gears[joint, 1]] = abs(torque) * (direction - sense)
        senses[channels - len(gears) + joint] = sense if torque > 0.0 else -sense
