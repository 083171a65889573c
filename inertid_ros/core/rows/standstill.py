"""The sensor's noise density, measured whenever the robot stands still; compiled.

White noise of density S (variance per hertz) has means over blocks of length T with variance S / T. Rows of a filtered
regressor are correlated, and their residuals say little of the noise that matters; means over 0.1 s at standstill do,
and vibration of the structure drops out of them. Their variance is pooled over runs of 2 s. Runs in which a driver only
repeats one reading tell nothing: the noise is taken to be that of a noisy sensor until it was seen.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rows.memory import (
    CLOCK,
    JOINTS,
    NOISE,
    NOISE_BLOCK,
    NOISE_MEANS,
    NOISE_POSITIONS,
    NOISE_RUN,
    RUN,
    Memory,
)

BLOCK = 100_000_000
"""Length of a block [ns]: longer than the periods of structural vibration, short enough for several in a pause."""
SHORTEST_RUN = 8
"""Means in a run from which a variance is believed: that of eight is known to a half."""
STILL = 1e-3
"""The robot stands still while no joint moves by more than this [rad or m] in a block: encoders step by less."""
SAME = 1e-9
"""Part by which means of readings that only repeat themselves differ: rounding of their sums."""
MEMORY = 200.0
"""Degrees of freedom (20 s of standstill) beyond which the past is halved: sensors warm up."""

UNCALIBRATED_FORCE = 0.05
"""Force noise density [N/sqrt(Hz)] assumed until the robot has stood still: that of a noisy sensor."""
UNCALIBRATED_TORQUE = 3e-3
"""Moment noise density [Nm/sqrt(Hz)] assumed until the robot has stood still: that of a noisy sensor."""

FLOOR, POOLED, SUM, FREEDOM, COUNT, SPOILED, CALIBRATED = 6, 12, 18, 24, 25, 26, 27
"""Where these are in `Memory.noise`, after the density: smallest densities, sums of squares and of readings (6 each),
degrees of freedom, readings in the block, whether it is spoiled, and whether the noise was ever measured."""


def start_noise(memory: Memory, floor_force: float, floor_torque: float) -> None:
    """Start with nothing measured, and the smallest densities that are believed, N/sqrt(Hz) and Nm/sqrt(Hz)."""
    floor = np.repeat([floor_force**2, floor_torque**2], 3)
    uncalibrated = np.repeat([UNCALIBRATED_FORCE**2, UNCALIBRATED_TORQUE**2], 3)
    memory.noise[:] = 0.0
    memory.noise[:6], memory.noise[FLOOR:POOLED] = np.maximum(uncalibrated, floor), floor


def restore_noise(memory: Memory, densities: FloatArray) -> None:
    """Start with densities (6,) that were measured before, N/sqrt(Hz) and Nm/sqrt(Hz)."""
    memory.noise[:6] = np.maximum(densities**2, memory.noise[FLOOR:POOLED])
    memory.noise[CALIBRATED] = 1.0


@compiled
def measure_noise(m: FloatArray, of: IntArray, stamp: int, samples: FloatArray, index: int) -> None:
    """Take one sample of a segment."""
    noise = of[NOISE]
    if m[of[CLOCK] + 4] != 0.0:
        end_run(m, of)
        of[NOISE_BLOCK] = -1
    block = stamp // BLOCK
    if block != of[NOISE_BLOCK]:
        close_block(m, of, samples, index)
        of[NOISE_BLOCK] = block
    for i in range(6):
        m[noise + SUM + i] += samples[index, 1 + 2 * of[JOINTS] + i]
    m[noise + COUNT] += 1.0


@compiled
def close_block(m: FloatArray, of: IntArray, samples: FloatArray, index: int) -> None:
    """A new block starts at this sample: keep the mean of the old one if the robot did not move in it."""
    noise, begun, run_begun, n = of[NOISE], of[NOISE_POSITIONS], of[NOISE_POSITIONS] + of[JOINTS], of[JOINTS]
    usable = of[NOISE_BLOCK] >= 0 and m[noise + COUNT] >= 2.0 and m[noise + SPOILED] == 0.0
    usable = usable and find_farthest(m, begun, n, samples, index) < STILL
    if usable:
        if of[NOISE_MEANS] == 0:
            for joint in range(n):
                m[run_begun + joint] = m[begun + joint]
        usable = find_farthest(m, run_begun, n, samples, index) < 2.0 * STILL
    if usable:
        for i in range(6):
            m[of[NOISE_RUN] + 6 * of[NOISE_MEANS] + i] = m[noise + SUM + i] / m[noise + COUNT]
        of[NOISE_MEANS] += 1
    if not usable or of[NOISE_MEANS] == RUN:
        end_run(m, of)
    elif of[NOISE_MEANS] >= SHORTEST_RUN and not is_repeated(m, of):
        pool_run(m, of, False)
    for i in range(6):
        m[noise + SUM + i] = 0.0
    m[noise + COUNT] = m[noise + SPOILED] = 0.0
    for joint in range(n):
        m[begun + joint] = samples[index, 1 + joint]


@compiled
def find_farthest(m: FloatArray, place: int, joints: int, samples: FloatArray, index: int) -> float:
    """Largest distance in one joint between a sample and a position that is remembered."""
    largest = 0.0
    for joint in range(joints):
        largest = max(largest, abs(samples[index, 1 + joint] - m[place + joint]))
    return largest


@compiled
def end_run(m: FloatArray, of: IntArray) -> None:
    """Keep the variance of the run's means."""
    noise = of[NOISE]
    if of[NOISE_MEANS] >= SHORTEST_RUN and not is_repeated(m, of):
        pool_run(m, of, True)
        if m[noise + FREEDOM] > MEMORY:
            for i in range(6):
                m[noise + POOLED + i] *= 0.5
            m[noise + FREEDOM] *= 0.5
    of[NOISE_MEANS] = 0


@compiled
def is_repeated(m: FloatArray, of: IntArray) -> bool:
    """Whether all means of the run are the same: a driver that holds its last reading shows no noise."""
    run = of[NOISE_RUN]
    for place in range(run, run + 6 * of[NOISE_MEANS]):
        first = m[run + (place - run) % 6]
        if abs(m[place] - first) > SAME * abs(first):
            return False
    return True


@compiled
def pool_run(m: FloatArray, of: IntArray, is_kept: bool) -> None:
    """Set the density from all runs, the present one included.

    A variance estimated from few means is given the larger expectation of Student's distribution.
    """
    noise, run, count = of[NOISE], of[NOISE_RUN], of[NOISE_MEANS]
    freedom = m[noise + FREEDOM] + count - 1.0
    for i in range(6):
        mean = 0.0
        for index in range(count):
            mean += m[run + 6 * index + i]
        mean /= count
        squares = m[noise + POOLED + i]
        for index in range(count):
            squares += (m[run + 6 * index + i] - mean) ** 2
        m[noise + i] = max(squares / (freedom - 2.0) * 1e-9 * BLOCK, m[noise + FLOOR + i])
        if is_kept:
            m[noise + POOLED + i] = squares
    if is_kept:
        m[noise + FREEDOM] = freedom
    m[noise + CALIBRATED] = 1.0


def discard_run(memory: Memory, integers: IntArray) -> None:
    """Forget the means since the last pooling and the present block: something else than noise has happened."""
    integers[NOISE_MEANS] = 0
    memory.noise[SPOILED] = 1.0
