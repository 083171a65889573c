"""The sensor's noise density, measured whenever the robot stands still; compiled.

White noise of density S (variance per hertz) has means over blocks of length T with variance S / T. Rows of a filtered
regressor are correlated, and their residuals say little of the noise that matters; means over 0.1 s at standstill do,
and vibration of the structure drops out of them. Their variance is pooled over runs of 2 s.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rows.memory import NOISE_BLOCK, NOISE_MEANS, RUN, Memory

BLOCK = 100_000_000
"""Length of a block [ns]: longer than the periods of structural vibration, short enough for several in a pause."""
SHORTEST_RUN = 8
"""Means in a run from which a variance is believed."""
STILL = 1e-3
"""The robot stands still while no joint moves by more than this [rad or m] in a block."""
MEMORY = 200.0
"""Degrees of freedom (20 s of standstill) beyond which the past is halved: sensors warm up."""

UNCALIBRATED_FORCE = 0.05
"""Force noise density [N/sqrt(Hz)] assumed until the robot has stood still: that of a noisy sensor."""
UNCALIBRATED_TORQUE = 3e-3
"""Moment noise density [Nm/sqrt(Hz)] assumed until the robot has stood still."""

FREEDOM, COUNT, SPOILED, CALIBRATED = 24, 25, 26, 27
"""Where these are in `Memory.noise`, after density, floor, squares and sum (6 each)."""


def start_noise(m: Memory, floor_force: float, floor_torque: float) -> None:
    """Start with nothing measured, and the smallest densities that are believed, N/sqrt(Hz) and Nm/sqrt(Hz)."""
    floor = np.repeat([floor_force**2, floor_torque**2], 3)
    uncalibrated = np.repeat([UNCALIBRATED_FORCE**2, UNCALIBRATED_TORQUE**2], 3)
    m.noise[:] = 0.0
    m.noise[:6], m.noise[6:12] = np.maximum(uncalibrated, floor), floor


@compiled
def measure_noise(m: Memory, indices: IntArray, stamp: int, q: FloatArray, readings: FloatArray) -> None:
    """Take one sample of a segment."""
    noise = m.noise
    if m.clock[4] != 0.0:
        end_run(m, indices)
        indices[NOISE_BLOCK] = -1
    block = stamp // BLOCK
    if block != indices[NOISE_BLOCK]:
        close_block(m, indices, q)
        indices[NOISE_BLOCK] = block
    for i in range(6):
        noise[18 + i] += readings[i]
    noise[COUNT] += 1.0


@compiled
def close_block(m: Memory, indices: IntArray, q: FloatArray) -> None:
    """A new block starts at this position: keep the mean of the old one if the robot did not move in it."""
    noise, positions = m.noise, m.noise_positions
    usable = indices[NOISE_BLOCK] >= 0 and noise[COUNT] >= 2.0 and noise[SPOILED] == 0.0
    if usable:
        usable = farthest(q, positions[0]) < STILL
    if usable:
        if indices[NOISE_MEANS] == 0:
            positions[1] = positions[0]
        if farthest(q, positions[1]) < 2.0 * STILL:
            for i in range(6):
                m.noise_run[indices[NOISE_MEANS], i] = noise[18 + i] / noise[COUNT]
            indices[NOISE_MEANS] += 1
        else:
            usable = False
    if not usable or indices[NOISE_MEANS] == RUN:
        end_run(m, indices)
    elif indices[NOISE_MEANS] >= SHORTEST_RUN:
        pool_run(m, indices, False)
    noise[18:24] = 0.0
    noise[COUNT] = noise[SPOILED] = 0.0
    positions[0] = q


@compiled
def farthest(q: FloatArray, other: FloatArray) -> float:
    """Largest distance of two positions in one joint."""
    largest = 0.0
    for joint in range(len(q)):
        largest = max(largest, abs(q[joint] - other[joint]))
    return largest


@compiled
def end_run(m: Memory, indices: IntArray) -> None:
    """Keep the variance of the run's means."""
    if indices[NOISE_MEANS] >= SHORTEST_RUN:
        pool_run(m, indices, True)
        if m.noise[FREEDOM] > MEMORY:
            m.noise[12:18] *= 0.5
            m.noise[FREEDOM] *= 0.5
    indices[NOISE_MEANS] = 0


@compiled
def pool_run(m: Memory, indices: IntArray, is_kept: bool) -> None:
    """Set the density from all runs, the present one included.

    A variance estimated from few means is given the larger expectation of Student's distribution.
    """
    noise, count = m.noise, indices[NOISE_MEANS]
    freedom = noise[FREEDOM] + count - 1.0
    for i in range(6):
        mean = 0.0
        for index in range(count):
            mean += m.noise_run[index, i]
        mean /= count
        squares = noise[12 + i]
        for index in range(count):
            squares += (m.noise_run[index, i] - mean) ** 2
        noise[i] = max(squares / (freedom - 2.0) * 1e-9 * BLOCK, noise[6 + i])
        if is_kept:
            noise[12 + i] = squares
    if is_kept:
        noise[FREEDOM] = freedom
    noise[CALIBRATED] = 1.0


@compiled
def discard_run(memory_noise: FloatArray, indices: IntArray) -> None:
    """Forget the means since the last pooling and the present block: something else than noise has happened."""
    indices[NOISE_MEANS] = 0
    memory_noise[SPOILED] = 1.0
