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
noise of the velocities through than a does. R is taken as it is.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.equations.signals import compute_signals
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rows.memory import GAP, METHOD, MONITORS, PAST_COUNT, SLOT, Memory, unpack
from inertid_ros.core.rows.standstill import measure_noise

FILTERED, DIFFERENTIATED, INTEGRAL = 0, 1, 2

INTERVAL = 20_000_000
"""The decision interval [ns of stamps]: rows are taken and decisions made once in it, never once per block. Filtered
rows are correlated over longer, so more of them would tell nothing new (50 Hz lose nothing against every sample)."""

NEAR = 2e-4
"""A joint that has never been farther than this [rad or m] from where it was first seen stands: encoders resolve it."""
FAR = 5e-3
"""A joint that has been this far has moved."""
STILL = 2e-3
"""The arm stands in one pose while no joint has left it by more than this [rad or m]."""
LONG = 1.0
"""After so many seconds in one pose another row of it tells nothing new."""


@compiled
def advance(
    memory: FloatArray,
    indices: IntArray,
    stamps: IntArray,
    samples: FloatArray,
    start: int,
    is_resumed: bool,
    predicted: FloatArray,
) -> int:
    """Carry samples of a segment through, up to the next row.

    Args:
        memory: floats of `make_memory`.
        indices: its integers.
        stamps: (N,) nanoseconds.
        samples: (N, 1 + 2 n + 2 K) time [s], positions, velocities, readings, and 1 for each that is not usable.
        start: the first sample to take.
        is_resumed: whether its row was made by the last call: then only its prediction is missing.
        predicted: (N, K) is filled up to the row.

    Returns:
        The sample whose row is laid down, which is not predicted yet; N if all are done.
    """
    m = unpack(memory, indices)
    n, k = len(m.still), len(m.prediction)
    for index in range(start, len(stamps)):
        sample = samples[index]
        readings = sample[1 + 2 * n : 1 + 2 * n + k]
        if index > start or not is_resumed:
            take_sample(m, indices, sample)
            slot = stamps[index] // INTERVAL
            if slot != indices[SLOT]:
                indices[SLOT] = slot
                make_row(m, indices, sample)
                return index
        predict(m, predicted[index])
        if indices[MONITORS]:
            measure_noise(m, indices, stamps[index], sample[1 : 1 + n], readings)
    return len(stamps)


@compiled
def take_sample(m: Memory, indices: IntArray, sample: FloatArray) -> None:
    """Take one sample: signals, and all that remembers the past."""
    n, k = len(m.still), len(m.prediction)
    time, q, v = sample[0], sample[1 : 1 + n], sample[1 + n : 1 + 2 * n]
    readings, bad = sample[1 + 2 * n : 1 + 2 * n + k], sample[1 + 2 * n + k :]
    compute_signals(m.signals, q, v, m.still, False, m.momentum, m.rest)
    is_new = m.clock[0] != 0.0
    step = 0.0 if is_new else time - m.clock[1]
    squares = np.zeros(3)
    if indices[MONITORS]:
        monitor_motion(m, step, is_new, squares)
    method = indices[METHOD]
    carry_prediction(m, time)
    filter_momenta(m, step, is_new, method == FILTERED)
    if method == FILTERED:
        filter_all(m, step, is_new, readings, squares)
    elif method == DIFFERENTIATED:
        filter_joints(m, step, is_new, q, v, readings, squares)
    else:
        integrate(m, indices, time, step, is_new, readings, squares)
    for joint in range(n):
        m.reach[0, joint] = min(m.reach[0, joint], q[joint])
        m.reach[1, joint] = max(m.reach[1, joint], q[joint])
    for channel in range(k):
        if bad[channel] != 0.0:
            m.last_bad[channel] = time
    m.clock[4] = 1.0 if m.clock[0] == GAP else 0.0
    m.clock[0], m.clock[1], m.clock[2] = 0.0, time, step


@compiled
def monitor_motion(m: Memory, step: float, is_new: bool, squares: FloatArray) -> None:
    """Correct the twist for Tustin's rule, and square its second differences h² d²V/dt², to which motion adds little.

    With x the twist they are x_k - x_(k-1) - h_k / h_(k-1) (x_(k-1) - x_(k-2)); zero where two before are not known.
    """
    earlier, before = m.twists[0], m.twists[1]
    known = not is_new and m.clock[2] > 0.0
    ratio = step / m.clock[2] if known else 0.0
    for i in range(6):
        now = m.momentum[i]
        bend = (now - before[i]) - ratio * (before[i] - earlier[i]) if known else 0.0
        squares[i // 3] += bend * bend
        earlier[i] = now if is_new else before[i]
        before[i] = now
        m.momentum[i] = now + bend / 12.0
    squares[2] = step


@compiled
def find_gain(cutoff: float, step: float) -> float:
    """Tustin's c = l h / (2 + l h)."""
    scaled = cutoff * step
    return scaled / (2.0 + scaled)


@compiled
def filter_momenta(m: Memory, step: float, is_new: bool, is_filtered: bool) -> None:
    """F_d P for predictions and rows, and F_l P and F_d F_l P for rows of the filtered method."""
    first, second = find_gain(m.cutoffs[0], step), find_gain(m.cutoffs[1], step)
    first_decay, second_decay = 1.0 - 2.0 * first, 1.0 - 2.0 * second
    for index in range(len(m.momentum)):
        u, state = m.momentum[index], m.filtered_momentum[index]
        if is_new:
            state[0] = state[1] = state[2] = state[3] = u
            continue
        both = u + state[0]
        if is_filtered:
            y = first_decay * state[1] + first * both
            state[2] = second_decay * state[2] + second * (y + state[1])
            state[1] = y
        state[3] = second_decay * state[3] + second * both
        state[0] = u


@compiled
def filter_twice(state: FloatArray, u: float, first: float, second: float) -> None:
    """One signal (3,) u, F u, G F u through two filters with the coefficients of its step."""
    y = (1.0 - 2.0 * first) * state[1] + first * (u + state[0])
    state[2] = (1.0 - 2.0 * second) * state[2] + second * (y + state[1])
    state[1] = y
    state[0] = u


@compiled
def filter_all(m: Memory, step: float, is_new: bool, readings: FloatArray, squares: FloatArray) -> None:
    """R, readings and motion noise through F_l and F_d."""
    first, second = find_gain(m.cutoffs[0], step), find_gain(m.cutoffs[1], step)
    if is_new:
        m.filtered_rest[:] = 0.0
        m.filtered_readings[:] = 0.0
        m.filtered_motion[:] = 0.0
        for index in range(len(m.rest)):
            m.filtered_rest[index, 0] = m.rest[index]
        for index in range(len(readings)):
            m.filtered_readings[index, 0] = readings[index]
        for index in range(3):
            m.filtered_motion[index, 0] = squares[index]
        return
    for index in range(len(m.rest)):
        filter_twice(m.filtered_rest[index], m.rest[index], first, second)
    for index in range(len(readings)):
        filter_twice(m.filtered_readings[index], readings[index], first, second)
    for index in range(3):
        filter_twice(m.filtered_motion[index], squares[index], first, second)


@compiled
def filter_joints(
    m: Memory,
    step: float,
    is_new: bool,
    q: FloatArray,
    v: FloatArray,
    readings: FloatArray,
    squares: FloatArray,
) -> None:
    """Positions, velocities, readings and motion noise twice through F_p; all start at their first value."""
    gain = find_gain(m.cutoffs[3], step)
    n, k = len(q), len(readings)
    for index in range(len(m.smooth)):
        if index < n:
            u = q[index]
        elif index < 2 * n:
            u = v[index - n]
        elif index < 2 * n + k:
            u = readings[index - 2 * n]
        else:
            u = squares[index - 2 * n - k]
        state = m.smooth[index]
        if is_new:
            state[0] = state[1] = state[2] = u
        else:
            filter_twice(state, u, gain, gain)


@compiled
def integrate(
    m: Memory,
    indices: IntArray,
    time: float,
    step: float,
    is_new: bool,
    readings: FloatArray,
    squares: FloatArray,
) -> None:
    """Integrals of R, readings and motion noise since the start, by the trapezoidal rule."""
    s, k = len(m.rest), len(readings)
    before, sums = m.sums[0], m.sums[1]
    for index in range(s + k + 3):
        u = m.rest[index] if index < s else readings[index - s] if index < s + k else squares[index - s - k]
        sums[index] = 0.0 if is_new else sums[index] + 0.5 * step * (u + before[index])
        before[index] = u
    if is_new:
        indices[PAST_COUNT] = 0
        remember_integrals(m, indices, time)


@compiled
def remember_integrals(m: Memory, indices: IntArray, time: float) -> None:
    """Keep time, integrals and momenta of this sample, and forget what no window reaches back to any more."""
    count, integrals = indices[PAST_COUNT], m.sums.shape[1]
    if count == len(m.past):
        for index in range(1, count):
            m.past[index - 1] = m.past[index]
        count -= 1
    row = m.past[count]
    row[0] = time
    row[1 : 1 + integrals] = m.sums[1]
    row[1 + integrals :] = m.momentum
    count += 1
    gone = 0
    while count - gone > 2 and m.past[gone + 1, 0] <= time - m.spans[0]:
        gone += 1
    if gone > 0:
        for index in range(gone, count):
            m.past[index - gone] = m.past[index]
    indices[PAST_COUNT] = count - gone


@compiled
def make_row(m: Memory, indices: IntArray, sample: FloatArray) -> None:
    """Lay down the row of the newest sample: signals, readings, what is usable, and [A, y]."""
    n, k = len(m.still), len(m.prediction)
    motion = np.zeros(3)
    method = indices[METHOD]
    if method == FILTERED:
        make_filtered_row(m, motion)
    elif method == DIFFERENTIATED:
        make_differentiated_row(m, motion)
    else:
        make_integral_row(m, indices, sample[0], motion)
    if indices[MONITORS]:
        suppress_noise(m, motion)
    time, q = sample[0], sample[1 : 1 + n]
    for channel in range(k):
        m.row_usable[channel] = 1.0 if time - m.last_bad[channel] > m.spans[1] else 0.0
    has_left = time < m.clock[3]
    for joint in range(n):
        reached = m.reach[1, joint] - m.reach[0, joint]
        m.row_standing[joint] = 1.0 if reached <= NEAR else 0.0
        m.row_moved[joint] = 1.0 if reached > FAR else 0.0
        has_left |= not abs(q[joint] - m.pose[joint]) <= STILL
    if has_left:
        m.pose[:] = q
        m.clock[3] = time
    m.row_is_old[0] = 1.0 if time - m.clock[3] > LONG else 0.0
    m.row[:] = 0.0
    for entry in range(len(m.factors)):
        value = m.factors[entry] * m.row_signals[m.entry_signals[entry]]
        m.row[m.entry_channels[entry], m.entry_unknowns[entry]] += value
    for channel in range(k):
        m.row[channel, m.row.shape[1] - 1] = m.row_readings[channel]


@compiled
def make_filtered_row(m: Memory, motion: FloatArray) -> None:
    """Signals and readings after both filters."""
    for index in range(len(m.rest)):
        m.row_signals[index] = m.filtered_rest[index, 2]
    for index in range(len(m.momentum)):
        m.row_signals[index] += m.cutoffs[0] * (m.filtered_momentum[index, 3] - m.filtered_momentum[index, 2])
    for index in range(len(m.row_readings)):
        m.row_readings[index] = m.filtered_readings[index, 2]
    for index in range(3):
        motion[index] = m.filtered_motion[index, 2]


@compiled
def make_differentiated_row(m: Memory, motion: FloatArray) -> None:
    """Signals with accelerations of the smoothed motion."""
    n, k = len(m.still), len(m.row_readings)
    q, v, a = np.empty(n), np.empty(n), np.empty(n)
    for joint in range(n):
        q[joint], v[joint] = m.smooth[joint, 2], m.smooth[n + joint, 2]
        a[joint] = m.cutoffs[3] * (m.smooth[n + joint, 1] - m.smooth[n + joint, 2])
    momentum = np.empty(len(m.momentum))
    compute_signals(m.signals, q, v, a, True, momentum, m.row_signals)
    for index in range(k):
        m.row_readings[index] = m.smooth[2 * n + index, 2]
    for index in range(3):
        motion[index] = m.smooth[2 * n + k + index, 2]


@compiled
def make_integral_row(m: Memory, indices: IntArray, time: float, motion: FloatArray) -> None:
    """Integrals over the window that ends here; one that is not full yet gives a proportionally smaller row."""
    s, k = len(m.rest), len(m.row_readings)
    remember_integrals(m, indices, time)
    earlier = m.past[0]
    scale = 1.0 / m.spans[0]
    for index in range(s):
        m.row_signals[index] = scale * (m.sums[1, index] - earlier[1 + index])
    for index in range(len(m.momentum)):
        m.row_signals[index] += scale * (m.momentum[index] - earlier[1 + s + k + 3 + index])
    for index in range(k):
        m.row_readings[index] = scale * (m.sums[1, s + index] - earlier[1 + s + index])
    for index in range(3):
        motion[index] = scale * (m.sums[1, s + k + index] - earlier[1 + s + k + index])


@compiled
def suppress_noise(m: Memory, motion: FloatArray) -> None:
    """Replace a load's accelerations that do not stand out of their noise by zero, and remember how large they were.

    Noise in the velocities looks like excitation: inertias multiply it, and an estimator that believes it learns, with
    great confidence, that there is no inertia. So the noise is measured on the way, by second differences. Filtered
    squares can be below zero where the steps are longer than the filter is slow; they count as zero.
    """
    signals, gains = m.row_signals, m.gains
    amplitude = max(signals[12], 1e-12)
    gain = gains[1] * max(motion[2], 0.0) / amplitude + gains[2]
    linear_variance = max(motion[0], 0.0) / (6.0 * amplitude)
    angular_variance = max(motion[1], 0.0) / (6.0 * amplitude)
    linear_noise, angular_noise = np.sqrt(linear_variance * gain), np.sqrt(angular_variance * gain)
    m.row_motion[0] = m.row_motion[1] = 0.0
    m.row_motion[2], m.row_motion[3] = linear_noise, angular_noise
    size = np.sqrt(signals[0] ** 2 + signals[1] ** 2 + signals[2] ** 2)
    if size <= gains[3] * linear_noise:
        m.row_motion[0] = size
        signals[0] = signals[1] = signals[2] = 0.0
    size = np.sqrt(signals[3] ** 2 + signals[4] ** 2 + signals[5] ** 2)
    if size <= gains[3] * angular_noise:
        m.row_motion[1] = size
        signals[3] = signals[4] = signals[5] = 0.0
    if signals[6] + signals[9] + signals[11] <= gains[3] * angular_variance:
        signals[6:12] = 0.0


@compiled
def carry_prediction(m: Memory, time: float) -> None:
    """Keep predictions going where the filters are restarted: the motion goes on, whatever the readings do.

    A restarted F_d P differs from the one that ran on by a term that decays as the filter does; its share in every
    channel is remembered. Only after a gap predictions start without a derivative.
    """
    if m.clock[0] == GAP:
        m.prediction[:] = 0.0
        m.clock[5] = 0.0
        return
    m.clock[5] = time - m.clock[1]
    second = find_gain(m.cutoffs[1], m.clock[5])
    for channel in range(len(m.prediction)):
        m.prediction[channel, 3] *= 1.0 - 2.0 * second
    if m.clock[0] == 0.0:
        return
    for entry in range(len(m.weights)):
        index = m.entry_signals[entry]
        if index < len(m.momentum):
            u, state = m.momentum[index], m.filtered_momentum[index]
            slow = (1.0 - 2.0 * second) * state[3] + second * (u + state[0])
            m.prediction[m.entry_channels[entry], 3] += m.weights[entry] * (slow - u)


@compiled
def predict(m: Memory, predicted: FloatArray) -> None:
    """What should be measured at the newest sample (K,), with the present weights."""
    predicted[:] = 0.0
    slopes = np.zeros(len(predicted))
    for entry in range(len(m.weights)):
        index, channel = m.entry_signals[entry], m.entry_channels[entry]
        predicted[channel] += m.weights[entry] * m.rest[index]
        if index < len(m.momentum):
            slopes[channel] += m.weights[entry] * (m.filtered_momentum[index, 0] - m.filtered_momentum[index, 3])
    gain = find_gain(m.cutoffs[2], m.clock[5])
    for channel in range(len(predicted)):
        state = m.prediction[channel]
        filter_twice(state, m.cutoffs[1] * (slopes[channel] - state[3]), gain, gain)
        predicted[channel] += state[1] + m.gains[0] * (state[1] - state[2])


@compiled
def foresee(memory: FloatArray, indices: IntArray, sample: FloatArray, predicted: FloatArray) -> None:
    """Predict a sample (1 + 2 n,) that comes after the last one, and change nothing that is remembered."""
    m = unpack(memory, indices)
    n = len(m.still)
    compute_signals(m.signals, sample[1 : 1 + n], sample[1 + n : 1 + 2 * n], m.still, False, m.momentum, m.rest)
    step = sample[0] - m.clock[1]
    if indices[MONITORS]:
        twists = m.twists.copy()
        monitor_motion(m, step, m.clock[0] != 0.0, np.zeros(3))
        m.twists[:] = twists
    is_first = m.clock[0] == GAP
    second, gain = find_gain(m.cutoffs[1], step), find_gain(m.cutoffs[2], step)
    predicted[:] = 0.0
    slopes = np.zeros(len(predicted))
    for entry in range(len(m.weights)):
        index, channel = m.entry_signals[entry], m.entry_channels[entry]
        predicted[channel] += m.weights[entry] * m.rest[index]
        if index < len(m.momentum) and not is_first:
            u, state = m.momentum[index], m.filtered_momentum[index]
            slow = (1.0 - 2.0 * second) * state[3] + second * (u + state[0])
            slopes[channel] += m.weights[entry] * (u - slow)
    if is_first:
        return
    for channel in range(len(predicted)):
        state = m.prediction[channel].copy()
        slope = slopes[channel] - (1.0 - 2.0 * second) * state[3]
        filter_twice(state, m.cutoffs[1] * slope, gain, gain)
        predicted[channel] += state[1] + m.gains[0] * (state[1] - state[2])
