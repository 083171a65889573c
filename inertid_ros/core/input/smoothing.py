"""Velocities at readings that come more slowly than joint states, or that are noisy: averaged, not picked; compiled.

Velocities that are differences of encoder steps are noisier the shorter the step is, with a spectrum that grows with
frequency. The filters of the rows remove nearly all of that, but they run at the readings' rate: of a faster stream,
the velocity at a reading's stamp alone folds the noise of all frequencies into those of the motion (aliasing), and more
joint states would give worse inertias. So the velocity at a reading is the value there of the parabola

    Σ w_i (a + b τ_i + c τ_i² - v_i)² -> min,    τ_i = t_i - t,    w_i = 1 - (τ_i / T)²

through the joint states that are less than T away. With T of two steps between readings its noise is below that of
differences of positions at the readings' own rate, for any ratio of the rates, and a motion of frequency ω is left as
it is but for about 0.04 (ω T / 2)⁴.

Coarse encoders make velocities noisy at any rate of the readings: steps of 1e-3 rad at 1 kHz give 0.2 rad/s, ten times
the velocity below which friction changes its sign, and noise goes through that, and through products of velocities,
before any filter. So, for noise above LOUD, T is as long as it takes to bring it below QUIET. It is measured by third
differences of velocities, to which a motion adds little. With s the standard deviation of slopes of white positions, a
step h apart,

    T = h (18.75 s² / QUIET²)^(1/3),

for the parabola's kernel K(u) = 15 / 32 (1 - u²) (3 - 7 u²) leaves 2 s² (h / T)³ ∫ K'², and the integral is 75 / 8.
Steps e of an encoder, which look like white positions of variance e² / 12 else, are no white noise where a joint moves
slowly: one alone looks like a velocity of K(0) e / T. Hence T is long enough for that to be 4 QUIET at most, too. Steps
away from positions that were repeated tell e, once they have come twice.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import brief, compiled
from inertid_ros.core.input.joint_samples import QUANTUM, ROUGH, ROUGHNESS, STEPPED
from inertid_ros.core.input.timeline import LAID, LONG_STEP, NEWEST, ORIGIN, STAMPS, START, STOP, find_after
from inertid_ros.core.records import FloatArray, IntArray

STEPS = 2.0
"""Steps between readings in T: the fewest with which no ratio of the rates gives more noise than differences at the
readings' rate do."""
LONGEST_STEP = 0.01
"""Step between readings [s] that T follows at most: motions of a few hertz must stay as they are, and a tenth of the
samples of a 1 kHz stream is left anyway."""
DENSE, OVER = 6, 4.0
"""Joint states that must come in so many steps between readings to be averaged: one and a half for each. Where both
come at one rate, jitter makes at most five of four."""
FEWEST = 2
"""Joint states on either side of a reading without which there is no average: pauses."""
LOUD, QUIET = 0.02, 0.005
"""Standard deviation [rad/s or m/s] from which velocities are averaged, the default velocity below which Coulomb
friction is proportional to it; and to which they are, a quarter of that."""
RARELY = 20
"""Joint states for which T stays as it is unless an encoder turns out coarser: it follows from hundreds of them."""
LONGEST_SPAN = 0.08
"""T [s] that noise makes at most: motions of 2 Hz lose a quarter of a per cent, and those of 3 Hz one."""
LEFT_NOISE, HEIGHT = 18.75, 45.0 / 32.0
"""Variance that is left of slopes of white positions, times (T / h)³, and K(0), see above."""
THIRD = 14.0
"""Mean square of third differences of slopes of white positions, over that of the slopes: (1, -3, 2, 2, -3, 1)² / 2 of
the positions. Of white noise it is 20, which counts for a fifth more than it is."""
BELIEF = 10.0
"""So many third differences without noise stand against those that are seen: a jolt is none."""
MEAN_STEPS = 20
"""Steps between joint states over which h is averaged: stamps jitter."""
FORGOTTEN = 5e-4
"""Part of these that is forgotten with each joint state: noise changes with the motion."""
ROUNDED, SAME = 1e-9, 1e-3
"""Step of a position [rad or m] that is no encoder's: rounding of drivers; and part by which steps that are the same
may differ, for numbers of single precision."""


@compiled
def note_roughness(line: IntArray, states: FloatArray, joints: FloatArray) -> bool:
    """Note third differences of the newest velocities, and steps of their encoders; one that stands has no noise.

    Returns whether they ask for another T at once: one is loud, or an encoder's step is another one.

    Args:
        line: integers of the joint states' time line.
        states: (M, 2 n + 1) positions, velocities and T.
        joints: (33, n) see `joint_samples.POSITION`.
    """
    n, row, largest, is_new = joints.shape[1], line[STOP] - 1, 0.0, False
    if row - 3 < line[START]:
        return True
    for c in range(n):
        last = states[row - 1, n + c] - states[row - 2, n + c]
        bend = states[row, n + c] - states[row - 3, n + c] - 3.0 * last
        if bend != 0.0:
            joints[ROUGHNESS, c] += bend * bend - FORGOTTEN * joints[ROUGHNESS, c]
            joints[ROUGH, c] += 1.0 - FORGOTTEN * joints[ROUGH, c]
            largest = max(largest, bend * bend)
        if states[row - 1, c] == states[row - 2, c]:
            is_new |= note_step(joints, c, abs(states[row, c] - states[row - 1, c]))
    was_quiet = states[row - 1, states.shape[1] - 1] == 0.0
    return bool(is_new or (was_quiet and largest > THIRD * LOUD**2))


@compiled
def note_step(joints: FloatArray, c: int, size: float) -> bool:
    """Note the size of a step away from a position that was repeated: those of an encoder are all the same.

    Returns whether the encoder's is another one now, but for rounding.
    """
    before = joints[QUANTUM, c]
    if size > ROUNDED:
        if abs(size - joints[STEPPED, c]) <= SAME * size:
            joints[QUANTUM, c] = min(before, size) if before > 0.0 else size
        joints[STEPPED, c] = size
    return bool(abs(joints[QUANTUM, c] - before) > SAME * before)


@compiled
def choose_span(line: IntArray, joints: FloatArray) -> float:
    """T [s] that the noise of velocities asks for, by the noisiest joint; 0 if by none."""
    variance = quantum = 0.0
    for c in range(joints.shape[1]):
        variance = max(variance, joints[ROUGHNESS, c] / (THIRD * (BELIEF + joints[ROUGH, c])))
        quantum = max(quantum, joints[QUANTUM, c])
    steps = min(MEAN_STEPS, line[STOP] - line[START] - 1)
    if steps < 1:
        return 0.0
    newest = STAMPS + line[STOP] - 1
    step = 1e-9 * (line[newest] - line[newest - steps]) / steps
    variance = max(variance, (quantum / step) ** 2 / 24.0)
    if variance <= LOUD**2 or step > LONG_STEP:
        return 0.0
    white = step * np.cbrt(LEFT_NOISE * variance) / np.cbrt(QUIET**2)
    return float(min(max(white, HEIGHT * quantum / (4.0 * QUIET)), LONGEST_SPAN))


@compiled
def find_span(line: IntArray, states: FloatArray, start: int, after: int, time: float, step: float) -> float:
    """T [s] for a reading at a time, a step after the one before, with the joint state `after` it; 0: no average.

    The first joint state that is there is `start`.
    """
    sixth, step, noisy = after - DENSE, min(step, LONGEST_STEP), states[after, states.shape[1] - 1]
    if sixth < start or (line[STAMPS + sixth] - line[ORIGIN]) * 1e-9 < time - OVER * step:
        return float(noisy)
    return float(max(STEPS * step, noisy))


@brief
def count_settled(line: IntArray, states: FloatArray, reading_line: IntArray, count: int) -> int:
    """How many of the next readings have all joint states that they are averaged over, or need none."""
    start, last = reading_line[START], reading_line[LAID]
    newest = (line[NEWEST] - line[ORIGIN]) * 1e-9
    first = count
    while first > 0 and find_time(reading_line, start + first - 1) + max(STEPS * LONGEST_STEP, LONGEST_SPAN) > newest:
        first -= 1
    for k in range(first, count):
        time = find_time(reading_line, start + k)
        before = reading_line[STAMPS + start + k - 1] if k > 0 else last
        step = (reading_line[STAMPS + start + k] - before) * 1e-9
        if time + find_span(line, states, line[START], find_after(line, time), time, step) > newest:
            return k
    return count


@compiled
def find_time(line: IntArray, index: int) -> float:
    """Time [s since the origin] of a sample of a time line."""
    return float((line[STAMPS + index] - line[ORIGIN]) * 1e-9)


@compiled
def smooth(
    line: IntArray,
    states: FloatArray,
    targets: IntArray,
    samples: FloatArray,
    steps: FloatArray,
    start: int,
    after: int,
) -> None:
    """Average velocities of samples that are interpolated already, where joint states are noisy or come faster.

    Args:
        line: integers of the joint states' time line.
        states: (M, 2 n + 1) positions, velocities and T, as noise asks for it.
        targets: (2 n,) columns of the samples that they belong to.
        samples: (N, W) times [s] in the first column; velocities are replaced.
        steps: (N,) distance [s] of each reading from the one before.
        start: the first joint state that is there.
        after: the first one that is not before the first sample.
    """
    n, stop = len(targets) // 2, line[STOP]
    for k in range(len(samples)):
        time = samples[k, 0]
        while after < stop - 1 and find_time(line, after) < time:
            after += 1
        span = find_span(line, states, start, after, time, steps[k])
        if span == 0.0:
            continue
        first, last = after, after
        while first > start and find_time(line, first - 1) > time - span:
            first -= 1
        while last < stop and find_time(line, last) < time + span:
            last += 1
        if after - first >= FEWEST and last - after >= FEWEST and time + span <= find_time(line, stop - 1):
            average(line, states, targets[n:], samples[k], first, last, span)


@compiled
def average(
    line: IntArray, states: FloatArray, targets: IntArray, sample: FloatArray, first: int, last: int, span: float
) -> None:
    """Put the values of the parabolas through the velocities of the states first to last - 1 into a sample."""
    s0 = s1 = s2 = s3 = s4 = 0.0
    for index in range(first, last):
        place = (find_time(line, index) - sample[0]) / span
        weight = 1.0 - place * place
        s0 += weight
        s1 += weight * place
        s2 += weight * place**2
        s3 += weight * place**3
        s4 += weight * place**4
    a, b, c = s2 * s4 - s3 * s3, s2 * s3 - s1 * s4, s1 * s3 - s2 * s2
    determinant = a * s0 + b * s1 + c * s2
    for joint in range(len(targets)):
        sample[targets[joint]] = 0.0
    for index in range(first, last):
        place = (find_time(line, index) - sample[0]) / span
        weight = (1.0 - place * place) * (a + place * (b + place * c)) / determinant
        for joint in range(len(targets)):
            sample[targets[joint]] += weight * states[index, len(targets) + joint]
