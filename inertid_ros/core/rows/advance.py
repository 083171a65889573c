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

from inertid_ros.core.compiled import allocating, brief, compiled
from inertid_ros.core.equations import signals as equation
from inertid_ros.core.equations.signals import compute_signals
from inertid_ros.core.input.joint_stream import extrapolate
from inertid_ros.core.input.segments import FIRST, GO_ON, LAST, RESUME, STEP, WIDTH, copy_readings, find_cuts, lay_down
from inertid_ros.core.input.smoothing import smooth
from inertid_ros.core.input.timeline import START, STOP, find_after, interpolate
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rows.making import DIFFERENTIATED, FILTERED, make_row, remember_integrals
from inertid_ros.core.rows.memory import (
    CHANNELS,
    CLOCK,
    CUTOFFS,
    DECISION,
    ENTRIES,
    ENTRY_SIGNALS,
    ENTRY_STARTS,
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
    PAST_COUNT,
    PREDICTION,
    REACH,
    SIGNALS,
    SMOOTH,
    SQUARES,
    SUMS,
    TWISTS,
    WEIGHTS,
)
from inertid_ros.core.rows.standstill import measure_noise

MOMENTUM, REST = equation.MOMENTUM, equation.REST
FLOATS_END, INTEGERS_END = equation.FLOATS_END, equation.INTEGERS_END

INTERVAL = 20_000_000
"""The decision interval [ns of stamps]: rows are taken and decisions made once in it, never once per block. Filtered
rows are correlated over longer, so more of them would say nothing new (50 Hz lose nothing against every sample)."""


@brief
def carry(
    x: FloatArray,
    at: IntArray,
    line: IntArray,
    states: FloatArray,
    targets: IntArray,
    reading_line: IntArray,
    readings: FloatArray,
    stamps: IntArray,
    samples: FloatArray,
    marks: FloatArray,
    steps: int,
) -> int:
    """Pair the next readings with joint states, publisher by publisher, then carry them through up to the first row.

    Args:
        x: see `advance`, as for the next one.
        at: see there.
        line: integers of a publisher's time line, see `timeline.interpolate`, as for the next two.
        states: (M, 2 m) its states.
        targets: (2 m,) columns of a sample that they belong to.
        reading_line: integers of the readings' time line, see `segments.lay_down`.
        readings: its states.
        stamps: (N,) the result, as for the next two.
        samples: (N, 1 + 2 n + 3 K).
        marks: (3, N or more) WIDTH, CUT and STEP of each.
        steps: whether this is the FIRST publisher, the LAST, and whether to GO_ON after it; RESUME - row to pair
            nothing and carry samples on from a row, so that `advance` is compiled and loaded but once.

    Returns:
        See `advance`; -1 if samples are not to be carried on, and less if so many of them do not simply follow.
    """
    if steps <= RESUME + 1:
        return advance(x, at, stamps, samples, RESUME - steps)
    first = 1 + 2 * at[at[INTEGERS_END] + JOINTS]
    if steps & FIRST:
        lay_down(reading_line, readings, first, stamps, samples, marks)
    start, after = line[START], find_after(line, samples[0, 0])
    interpolate(line, states, targets, samples, marks[WIDTH], len(targets) // 2)
    smooth(line, states, targets, samples, marks[STEP], start, after)
    if not steps & LAST:
        return -1
    cuts = find_cuts(reading_line, first, stamps, samples, marks)
    if cuts > 0 or not steps & GO_ON:
        return -1 - cuts
    return advance(x, at, stamps, samples, -1)


@compiled
def advance(x: FloatArray, at: IntArray, stamps: IntArray, samples: FloatArray, row: int) -> int:
    """Carry samples of a segment through, up to the next row.

    Args:
        x: floats of `make_memory`: those of the equation's signals, then those of the rows, m in other kernels.
        at: their integers likewise, of in other kernels.
        stamps: (N,) nanoseconds.
        samples: (N, 1 + 2 n + 3 K) time [s], positions, velocities, readings, 1 for each that is not usable, and
            predictions, which are filled in up to the row.
        row: the sample whose row was made by the last call, of which only the prediction is missing; -1 at the start.

    Returns:
        The sample whose row is laid down, which is not predicted yet; N if all are done.
    """
    m, of = x[at[FLOATS_END] :], at[at[INTEGERS_END] :]
    for index in range(max(row, 0), len(stamps)):
        if index != row:
            take_sample(x, at, m, of, samples, index)
            decision = stamps[index] // INTERVAL
            if decision != of[DECISION]:
                of[DECISION] = decision
                make_row(x, at, m, of, samples, index)
                return index
        predict(x, at, m, of, samples, index)
        if of[MONITORS]:
            measure_noise(m, of, stamps[index], samples, index)
    return len(stamps)


@compiled
def take_sample(x: FloatArray, at: IntArray, m: FloatArray, of: IntArray, samples: FloatArray, index: int) -> None:
    """Take one sample: all that remembers the past."""
    n, k, clock, time = of[JOINTS], of[CHANNELS], of[CLOCK], samples[index, 0]
    is_new, method = m[clock] != 0.0, of[METHOD]
    follow_motion(x, at, m, of, samples, index)
    step = m[clock + 2]
    if method == FILTERED:
        filter_all(x, at, m, of, step, is_new, samples, index)
    elif method == DIFFERENTIATED:
        filter_joints(m, of, step, is_new, samples, index)
    else:
        integrate(x, at, m, of, step, is_new, samples, index)
    reach, bad = of[REACH], of[LAST_BAD]
    for joint in range(n):
        q = samples[index, 1 + joint]
        m[reach + joint] = min(m[reach + joint], q)
        m[reach + n + joint] = max(m[reach + n + joint], q)
    for channel in range(k):
        if samples[index, 1 + 2 * n + k + channel] != 0.0:
            m[bad + channel] = time


@compiled
def follow_motion(x: FloatArray, at: IntArray, m: FloatArray, of: IntArray, samples: FloatArray, index: int) -> None:
    """Signals of a sample, and all that predictions remember of the motion before it."""
    n, clock, time = of[JOINTS], of[CLOCK], samples[index, 0]
    v = samples[index, 1 + n : 1 + 2 * n]
    compute_signals(x, at, samples[index, 1 : 1 + n], v, v, False)
    is_new, is_after_gap = m[clock] != 0.0, m[clock] == GAP
    step = 0.0 if is_new else time - m[clock + 1]
    if of[MONITORS]:
        monitor_motion(x, at, m, of, step, is_new)
    m[clock + 5] = 0.0 if is_after_gap else time - m[clock + 1]
    filter_momenta(x, at, m, of, step, is_new, is_after_gap)
    if is_after_gap:
        for place in range(of[PREDICTION], of[PREDICTION] + 3 * of[CHANNELS]):
            m[place] = 0.0
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
    x: FloatArray, at: IntArray, m: FloatArray, of: IntArray, step: float, is_new: bool, is_after_gap: bool
) -> None:
    """F_d P for predictions, and F_l P, F_d F_l P and F_d P for rows of the filtered method."""
    first, second = find_gain(m[of[CUTOFFS]], step), find_gain(m[of[CUTOFFS] + 1], step)
    gain = find_gain(m[of[CUTOFFS] + 1], m[of[CLOCK] + 5])
    first_decay, second_decay, decay = 1.0 - 2.0 * first, 1.0 - 2.0 * second, 1.0 - 2.0 * gain
    count, place = of[MOMENTA], of[FILTERED_MOMENTUM]
    # arrays of their own, so that the loop is compiled for several numbers at once
    now, before, once = x[at[MOMENTUM] :][:count], m[place:][:count], m[place + count :][:count]
    twice, second_alone = m[place + 2 * count :][:count], m[place + 3 * count :][:count]
    predicting = m[place + 4 * count :][:count]
    for i in range(count):
        predicting[i] = now[i] if is_after_gap else decay * predicting[i] + gain * (now[i] + before[i])
    if is_new:
        for i in range(count):
            once[i] = twice[i] = second_alone[i] = now[i]
    elif of[METHOD] == FILTERED:
        for i in range(count):
            both, last = now[i] + before[i], once[i]
            y = first_decay * last + first * both
            twice[i] = second_decay * twice[i] + second * (y + last)
            second_alone[i] = second_decay * second_alone[i] + second * both
            once[i] = y
    for i in range(count):
        before[i] = now[i]


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
    count, place, readings = of[SIGNALS], of[FILTERED_REST], 1 + 2 * of[JOINTS]
    now, before = x[at[REST] :][:count], m[place:][:count]
    once, twice = m[place + count :][:count], m[place + 2 * count :][:count]
    first_decay, second_decay = 1.0 - 2.0 * first, 1.0 - 2.0 * second
    for i in range(count):
        last = once[i]
        y = first_decay * last + first * (now[i] + before[i])
        twice[i] = second_decay * twice[i] + second * (y + last)
        once[i], before[i] = y, now[i]
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


@brief
def weigh_entries(m: FloatArray, of: IntArray, values: FloatArray) -> None:
    """Set the weights of predictions: each entry's factor times its unknown."""
    for entry in range(of[ENTRIES]):
        m[of[WEIGHTS] + entry] = m[of[FACTORS] + entry] * values[of[of[ENTRY_UNKNOWNS] + entry]]


@compiled
def predict(x: FloatArray, at: IntArray, m: FloatArray, of: IntArray, samples: FloatArray, index: int) -> None:
    """What should be measured at the newest sample, with the present weights, into its last columns."""
    momenta, gain = of[MOMENTA], find_gain(m[of[CUTOFFS] + 2], m[of[CLOCK] + 5])
    rest, weights = x[at[REST] :][: of[SIGNALS]], m[of[WEIGHTS] :][: of[ENTRIES]]
    now = m[of[FILTERED_MOMENTUM] :][:momenta]
    slow = m[of[FILTERED_MOMENTUM] + 4 * momenta :][:momenta]
    chosen = of[of[ENTRY_SIGNALS] :][: of[ENTRIES]]
    predicted = samples.shape[1] - of[CHANNELS]
    for channel in range(of[CHANNELS]):
        total = slope = 0.0
        for entry in range(of[of[ENTRY_STARTS] + channel], of[of[ENTRY_STARTS] + channel + 1]):
            signal, weight = chosen[entry], weights[entry]
            total += weight * rest[signal]
            if signal < momenta:
                slope += weight * (now[signal] - slow[signal])
        place = of[PREDICTION] + 3 * channel
        filter_twice(m, place, m[of[CUTOFFS] + 1] * slope, gain, gain)
        samples[index, predicted + channel] = total + (m[place + 1] + m[of[GAINS]] * (m[place + 1] - m[place + 2]))


@brief
def foresee(
    x: FloatArray,
    at: IntArray,
    line: IntArray,
    states: FloatArray,
    joints: FloatArray,
    targets: IntArray,
    reading_line: IntArray,
    readings: FloatArray,
    stamps: IntArray,
    samples: FloatArray,
    steps: int,
) -> bool:
    """Predict the last readings that wait for a joint state, by extrapolation, and change nothing that is remembered.

    See `carry` for the arguments, and `joint_stream.extrapolate` for joints. Returns whether it could be done.
    """
    if steps & FIRST:
        start = reading_line[STOP] - len(stamps)
        copy_readings(reading_line, readings, start, 1 + 2 * at[at[INTEGERS_END] + JOINTS], stamps, samples)
    if not extrapolate(line, states, joints, targets, samples):
        return False
    if steps & LAST:
        predict_next(x, at, samples)
    return True


@allocating(compiled)
def predict_next(x: FloatArray, at: IntArray, samples: FloatArray) -> None:
    """Predict samples after the last one, each on its own, and change nothing that is remembered."""
    m, of = x[at[FLOATS_END] :], at[at[INTEGERS_END] :]
    remembered = m[of[CLOCK] : of[FILTERED_REST]]
    kept = remembered.copy()
    for index in range(len(samples)):
        follow_motion(x, at, m, of, samples, index)
        predict(x, at, m, of, samples, index)
        remembered[:] = kept
