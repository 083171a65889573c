"""Velocities at readings that come more slowly than joint states: averaged, not picked; compiled.

Velocities that are differences of encoder steps are noisier the shorter the step is, with a spectrum that grows with
frequency. The filters of the rows remove nearly all of that, but they run at the readings' rate: of a faster stream,
the velocity at a reading's stamp alone folds the noise of all frequencies into those of the motion (aliasing), and more
joint states would give worse inertias. So the velocity at a reading is the value there of the parabola

    Σ w_i (a + b τ_i + c τ_i² - v_i)² -> min,    τ_i = t_i - t,    w_i = 1 - (τ_i / T)²

through the joint states that are less than T away. With T of two steps between readings its noise is below that of
differences of positions at the readings' own rate, for any ratio of the rates, and a motion of frequency ω is left as
it is but for about 0.04 (ω T / 2)⁴.
"""

from __future__ import annotations

from inertid_ros.core.compiled import brief, compiled
from inertid_ros.core.input.timeline import LAID, NEWEST, ORIGIN, STAMPS, START, STOP, find_after
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


@compiled
def find_span(line: IntArray, start: int, after: int, time: float, step: float) -> float:
    """T [s] for a reading at a time, a step after the one before, with the joint state `after` it; 0: no average.

    The first joint state that is there is `start`.
    """
    sixth, step = after - DENSE, min(step, LONGEST_STEP)
    if sixth < start or (line[STAMPS + sixth] - line[ORIGIN]) * 1e-9 < time - OVER * step:
        return 0.0
    return STEPS * step


@brief
def count_settled(line: IntArray, reading_line: IntArray, count: int) -> int:
    """How many of the next readings have all joint states that they are averaged over, or need none."""
    start, last = reading_line[START], reading_line[LAID]
    newest = (line[NEWEST] - line[ORIGIN]) * 1e-9
    first = count
    while first > 0 and find_time(reading_line, start + first - 1) + STEPS * LONGEST_STEP > newest:
        first -= 1
    for k in range(first, count):
        time = find_time(reading_line, start + k)
        before = reading_line[STAMPS + start + k - 1] if k > 0 else last
        step = (reading_line[STAMPS + start + k] - before) * 1e-9
        if time + find_span(line, line[START], find_after(line, time), time, step) > newest:
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
    """Average the velocities of samples that are interpolated already, where joint states come faster than readings.

    Args:
        line: integers of the joint states' time line.
        states: (M, 2 n) positions and velocities.
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
        span = find_span(line, start, after, time, steps[k])
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
