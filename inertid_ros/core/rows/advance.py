"""From samples to rows and predictions, compiled: one sample at a time, a block is a loop over samples.

With F_l = l/(s+l), F_d = d/(s+d) and y = d/dt (P x) + R x, the rows of the three methods are

    filtered        F_d F_l y = [l (F_d P - F_d F_l P) + F_d F_l R] x          (Liu et al., eq. 16)
    differentiated  F_p F_p y = [d/dt P + R at F_p F_p q, F_p F_p v and p (F_p v - F_p F_p v)] x   (the 1986 paper's)
    integral        int y dt = [P| + int R dt] x over a window, divided by its length   (the 1986 paper, eq. 25 to 27)

The filtered identity holds because F_l d/dt = l (1 - F_l). P starts at its first value and all else at zero, so that it
holds from the first sample, and again after a gap once the filters are restarted.

Filters are discretised by Tustin's rule and the true steps: with h the step, c = l h / (2 + l h), r = 1 - 2 c,

    y_k = r y_(k-1) + c (u_k + u_(k-1))

Tustin's derivative of P misses h²/12 of its third derivative; for a load, whose twist is measured well enough for that,
P + h²/12 d²P/dt² is given in the place of P.

Predictions need d/dt P x now. After F_d, a = d (P - F_d P) x is late by 1/d. It goes through two more filters F_q with
q = l + 2 d; with b = F_q a and c = F_q b, b + (1 + q/d) (b - c) makes good for the delay of both and lets far less
noise of the velocities through than a does. R is taken as it is. The motion goes on whatever the readings do: filters
of predictions are not restarted with those of the rows, only after a gap.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.equations import signals as equation
from inertid_ros.core.equations.signals import compute_signals
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rows.memory import (
    CHANNELS,
    CLOCK,
    CUTOFFS,
    DECISION,
    ENTRIES,
    ENTRY_CHANNELS,
    ENTRY_SIGNALS,
    ENTRY_UNKNOWNS,
    FACTORS,
    FILTERED_MOMENTUM,
    FILTERED_MOTION,
    FILTERED_READINGS,
    FILTERED_REST,
    GAINS,
    GAP,
    JOINTS,
    LAST_BAD,
    METHOD,
    MOMENTA,
    MONITORS,
    MOTION,
    PAST,
    PAST_COUNT,
    PAST_ROWS,
    PREDICTION,
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
    SLOPES,
    SMOOTH,
    SPANS,
    SQUARES,
    STOOD,
    SUMS,
    TWISTS,
    UNKNOWNS,
    WEIGHTS,
)
from inertid_ros.core.rows.standstill import measure_noise

MOMENTUM, REST = equation.MOMENTUM, equation.REST

FILTERED, DIFFERENTIATED, INTEGRAL = 0, 1, 2
"""Methods, for the kernels."""

INTERVAL = 20_000_000
"""The decision interval [ns of stamps]: rows are taken and decisions made once in it, never once per block. Filtered
rows are correlated over longer, so more of them would say nothing new (50 Hz lose nothing against every sample)."""

NEAR = 2e-4
"""A joint that has never been farther than this [rad or m] from where it was first seen stands: encoders resolve it."""
FAR = 5e-3
"""A joint that has been this far [rad or m] has moved: gears have no more play."""
ONE_POSE = 2e-3
"""The arm stands in one pose while no joint has left it by more than this [rad or m]: brakes and controllers give."""
LONG = 1.0
"""Time [s] in one pose after which another row of it says nothing new: noise has averaged out, what is wrong stays."""


@compiled
def advance(
    x: FloatArray,
    at: IntArray,
    m: FloatArray,
    of: IntArray,
    stamps: IntArray,
    samples: FloatArray,
    predicted: FloatArray,
    row: int,
) -> int:
    """Carry samples of a segment through, up to the next row.

    Args:
        x: floats of the equation's signals.
        at: their integers.
        m: floats of `make_memory`.
        of: their integers.
        stamps: (N,) nanoseconds.
        samples: (N, 1 + 2 n + 2 K) time [s], positions, velocities, readings, and 1 for each that is not usable.
        predicted: (N, K) is filled up to the row.
        row: the sample whose row was made by the last call, of which only the prediction is missing; -1 at the start.

    Returns:
        The sample whose row is laid down, which is not predicted yet; N if all are done.
    """
    for index in range(max(row, 0), len(stamps)):
        if index != row:
            take_sample(x, at, m, of, samples, index)
            decision = stamps[index] // INTERVAL
            if decision != of[DECISION]:
                of[DECISION] = decision
                make_row(x, at, m, of, samples, index)
                return index
        predict(x, at, m, of, predicted, index)
        if of[MONITORS]:
            measure_noise(m, of, stamps[index], samples, index)
    return len(stamps)


@compiled
def take_sample(x: FloatArray, at: IntArray, m: FloatArray, of: IntArray, samples: FloatArray, index: int) -> None:
    """Take one sample: signals, and all that remembers the past."""
    n, k, clock = of[JOINTS], of[CHANNELS], of[CLOCK]
    sample = samples[index]
    time, v = sample[0], sample[1 + n : 1 + 2 * n]
    compute_signals(x, at, sample[1 : 1 + n], v, v, False)
    is_new = m[clock] != 0.0
    step = 0.0 if is_new else time - m[clock + 1]
    if of[MONITORS]:
        monitor_motion(x, at, m, of, step, is_new)
    method, is_after_gap = of[METHOD], m[clock] == GAP
    m[clock + 5] = 0.0 if is_after_gap else time - m[clock + 1]
    filter_momenta(x, at, m, of, step, is_new, is_after_gap, method == FILTERED)
    if method == FILTERED:
        filter_all(x, at, m, of, step, is_new, samples, index)
    elif method == DIFFERENTIATED:
        filter_joints(m, of, step, is_new, samples, index)
    else:
        integrate(x, at, m, of, step, is_new, samples, index)
    reach, bad = of[REACH], of[LAST_BAD]
    for joint in range(n):
        q = sample[1 + joint]
        m[reach + joint] = min(m[reach + joint], q)
        m[reach + n + joint] = max(m[reach + n + joint], q)
    for channel in range(k):
        if sample[1 + 2 * n + k + channel] != 0.0:
            m[bad + channel] = time
        if is_after_gap:
            for place in range(3):
                m[of[PREDICTION] + 3 * channel + place] = 0.0
    m[clock + 4] = 1.0 if is_after_gap else 0.0
    m[clock], m[clock + 1], m[clock + 2] = 0.0, time, step


@compiled
def monitor_motion(x: FloatArray, at: IntArray, m: FloatArray, of: IntArray, step: float, is_new: bool) -> None:
    """Correct the twist for Tustin's rule, and square its second differences h² d²V/dt², to which motion adds little.

    With u the twist they are u_k - u_(k-1) - h_k / h_(k-1) (u_(k-1) - u_(k-2)); zero where two before are not known.
    """
    earlier, before, squares = of[TWISTS], of[TWISTS] + 6, of[SQUARES]
    last_step = m[of[CLOCK] + 2]
    known = not is_new and last_step > 0.0
    ratio = step / last_step if known else 0.0
    m[squares] = m[squares + 1] = 0.0
    for i in range(6):
        now, last = x[at[MOMENTUM] + i], m[before + i]
        bend = (now - last) - ratio * (last - m[earlier + i]) if known else 0.0
        m[squares + i // 3] += bend * bend
        m[earlier + i] = now if is_new else last
        m[before + i] = now
        x[at[MOMENTUM] + i] = now + bend / 12.0
    m[squares + 2] = step


@compiled
def find_gain(cutoff: float, step: float) -> float:
    """Tustin's c = l h / (2 + l h)."""
    scaled = cutoff * step
    return scaled / (2.0 + scaled)


@compiled
def filter_momenta(
    x: FloatArray,
    at: IntArray,
    m: FloatArray,
    of: IntArray,
    step: float,
    is_new: bool,
    is_after_gap: bool,
    is_filtered: bool,
) -> None:
    """F_d P for predictions, and F_l P, F_d F_l P and F_d P for rows of the filtered method."""
    first, second = find_gain(m[of[CUTOFFS]], step), find_gain(m[of[CUTOFFS] + 1], step)
    gain = find_gain(m[of[CUTOFFS] + 1], m[of[CLOCK] + 5])
    first_decay, second_decay, decay = 1.0 - 2.0 * first, 1.0 - 2.0 * second, 1.0 - 2.0 * gain
    momentum, place = at[MOMENTUM], of[FILTERED_MOMENTUM]
    for index in range(of[MOMENTA]):
        u = x[momentum + index]
        both = u + m[place]
        m[place + 4] = u if is_after_gap else decay * m[place + 4] + gain * both
        if is_new:
            m[place + 1] = m[place + 2] = m[place + 3] = u
        elif is_filtered:
            before = m[place + 1]
            y = first_decay * before + first * both
            m[place + 2] = second_decay * m[place + 2] + second * (y + before)
            m[place + 3] = second_decay * m[place + 3] + second * both
            m[place + 1] = y
        m[place] = u
        place += 5


@compiled
def filter_twice(m: FloatArray, place: int, u: float, first: float, second: float) -> None:
    """One signal, u, F u and G F u, through two filters with the coefficients of its step."""
    before = m[place + 1]
    y = (1.0 - 2.0 * first) * before + first * (u + m[place])
    m[place + 2] = (1.0 - 2.0 * second) * m[place + 2] + second * (y + before)
    m[place + 1] = y
    m[place] = u


@compiled
def filter_all(
    x: FloatArray,
    at: IntArray,
    m: FloatArray,
    of: IntArray,
    step: float,
    is_new: bool,
    samples: FloatArray,
    index: int,
) -> None:
    """R, readings and motion noise through F_l and F_d; all start at zero."""
    first, second = find_gain(m[of[CUTOFFS]], step), find_gain(m[of[CUTOFFS] + 1], step)
    if is_new:
        for place in range(of[FILTERED_REST], of[FILTERED_MOTION] + 3 * MOTION):
            m[place] = 0.0
    rest, readings = at[REST], 1 + 2 * of[JOINTS]
    for number in range(of[SIGNALS]):
        filter_twice(m, of[FILTERED_REST] + 3 * number, x[rest + number], first, second)
    for number in range(of[CHANNELS]):
        filter_twice(m, of[FILTERED_READINGS] + 3 * number, samples[index, readings + number], first, second)
    for number in range(MOTION):
        filter_twice(m, of[FILTERED_MOTION] + 3 * number, m[of[SQUARES] + number], first, second)


@compiled
def filter_joints(m: FloatArray, of: IntArray, step: float, is_new: bool, samples: FloatArray, index: int) -> None:
    """Positions, velocities, readings and motion noise twice through F_p; all start at their first value."""
    gain = find_gain(m[of[CUTOFFS] + 3], step)
    sampled = 2 * of[JOINTS] + of[CHANNELS]
    for number in range(sampled + MOTION):
        u = samples[index, 1 + number] if number < sampled else m[of[SQUARES] + number - sampled]
        place = of[SMOOTH] + 3 * number
        if is_new:
            m[place] = m[place + 1] = m[place + 2] = u
        else:
            filter_twice(m, place, u, gain, gain)


@compiled
def integrate(
    x: FloatArray,
    at: IntArray,
    m: FloatArray,
    of: IntArray,
    step: float,
    is_new: bool,
    samples: FloatArray,
    index: int,
) -> None:
    """Integrals of R, readings and motion noise since the start, by the trapezoidal rule."""
    s, k, readings = of[SIGNALS], of[CHANNELS], 1 + 2 * of[JOINTS]
    count = s + k + MOTION
    for number in range(count):
        if number < s:
            u = x[at[REST] + number]
        elif number < s + k:
            u = samples[index, readings + number - s]
        else:
            u = m[of[SQUARES] + number - s - k]
        before, total = of[SUMS] + number, of[SUMS] + count + number
        m[total] = 0.0 if is_new else m[total] + 0.5 * step * (u + m[before])
        m[before] = u
    if is_new:
        of[PAST_COUNT] = 0
        remember_integrals(x, at, m, of, samples[index, 0])


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
    for entry in range(of[ENTRIES]):
        signal, channel = of[of[ENTRY_SIGNALS] + entry], of[of[ENTRY_CHANNELS] + entry]
        place = row + width * channel + of[of[ENTRY_UNKNOWNS] + entry]
        m[place] += m[of[FACTORS] + entry] * m[of[ROW_SIGNALS] + signal]
    for channel in range(of[CHANNELS]):
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
        m[row + number] = m[of[FILTERED_REST] + 3 * number + 2]
    for number in range(of[MOMENTA]):
        m[row + number] += cutoff * (m[momenta + 5 * number + 3] - m[momenta + 5 * number + 2])
    for number in range(of[CHANNELS]):
        m[of[ROW_READINGS] + number] = m[of[FILTERED_READINGS] + 3 * number + 2]
    for number in range(MOTION):
        m[of[SQUARES] + number] = m[of[FILTERED_MOTION] + 3 * number + 2]


@compiled
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


@compiled
def weigh_entries(m: FloatArray, of: IntArray, values: FloatArray) -> None:
    """Set the weights of predictions: each entry's factor times its unknown."""
    for entry in range(of[ENTRIES]):
        m[of[WEIGHTS] + entry] = m[of[FACTORS] + entry] * values[of[of[ENTRY_UNKNOWNS] + entry]]


@compiled
def predict(x: FloatArray, at: IntArray, m: FloatArray, of: IntArray, predicted: FloatArray, index: int) -> None:
    """What should be measured at the newest sample, with the present weights, into predicted[index]."""
    k, rest, momenta = of[CHANNELS], at[REST], of[FILTERED_MOMENTUM]
    for channel in range(k):
        predicted[index, channel] = m[of[SLOPES] + channel] = 0.0
    for entry in range(of[ENTRIES]):
        signal, channel = of[of[ENTRY_SIGNALS] + entry], of[of[ENTRY_CHANNELS] + entry]
        weight = m[of[WEIGHTS] + entry]
        predicted[index, channel] += weight * x[rest + signal]
        if signal < of[MOMENTA]:
            m[of[SLOPES] + channel] += weight * (m[momenta + 5 * signal] - m[momenta + 5 * signal + 4])
    gain = find_gain(m[of[CUTOFFS] + 2], m[of[CLOCK] + 5])
    for channel in range(k):
        place = of[PREDICTION] + 3 * channel
        filter_twice(m, place, m[of[CUTOFFS] + 1] * m[of[SLOPES] + channel], gain, gain)
        predicted[index, channel] += m[place + 1] + m[of[GAINS]] * (m[place + 1] - m[place + 2])


@compiled
def foresee(
    x: FloatArray, at: IntArray, m: FloatArray, of: IntArray, samples: FloatArray, predicted: FloatArray
) -> None:
    """Predict samples (N, 1 + 2 n) after the last one, each on its own, and change nothing that is remembered."""
    n, k, prediction = of[JOINTS], of[CHANNELS], of[PREDICTION]
    is_new = m[of[CLOCK]] == GAP
    kept = m[prediction : prediction + 3 * k].copy()
    for index in range(len(samples)):
        step = 0.0 if is_new else samples[index, 0] - m[of[CLOCK] + 1]
        second, gain = find_gain(m[of[CUTOFFS] + 1], step), find_gain(m[of[CUTOFFS] + 2], step)
        v = samples[index, 1 + n : 1 + 2 * n]
        compute_signals(x, at, samples[index, 1 : 1 + n], v, v, False)
        if of[MONITORS] and m[of[CLOCK]] == 0.0 and m[of[CLOCK] + 2] > 0.0:
            ratio = step / m[of[CLOCK] + 2]
            for i in range(6):
                last, earlier = m[of[TWISTS] + 6 + i], m[of[TWISTS] + i]
                now = x[at[MOMENTUM] + i]
                x[at[MOMENTUM] + i] = now + ((now - last) - ratio * (last - earlier)) / 12.0
        for channel in range(k):
            predicted[index, channel] = m[of[SLOPES] + channel] = 0.0
        for entry in range(of[ENTRIES]):
            signal, channel = of[of[ENTRY_SIGNALS] + entry], of[of[ENTRY_CHANNELS] + entry]
            weight = m[of[WEIGHTS] + entry]
            predicted[index, channel] += weight * x[at[REST] + signal]
            if signal < of[MOMENTA] and not is_new:
                u, place = x[at[MOMENTUM] + signal], of[FILTERED_MOMENTUM] + 5 * signal
                slow = (1.0 - 2.0 * second) * m[place + 4] + second * (u + m[place])
                m[of[SLOPES] + channel] += weight * (u - slow)
        for channel in range(0 if is_new else k):
            place = prediction + 3 * channel
            filter_twice(m, place, m[of[CUTOFFS] + 1] * m[of[SLOPES] + channel], gain, gain)
            predicted[index, channel] += m[place + 1] + m[of[GAINS]] * (m[place + 1] - m[place + 2])
        for place in range(3 * k):
            m[prediction + place] = kept[place]
