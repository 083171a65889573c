"""All that the kernels remember between two samples, in two arrays, so that a call from Python passes few things.

Floats and integers lie one after the other; the integers begin with sizes and offsets. `unpack` is the one place that
knows what lies where. It is called by the kernels, and once by Python, which gets named views of the same memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.equations.equation import Equation
from inertid_ros.core.equations.signals import SignalArrays
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.robot.tree import MOTION, POSE, TREE_COLUMNS

RUN = 20
"""Means over blocks at standstill that are pooled at once (2 s)."""


RESTART, GAP = 1.0, 2.0
"""Values of clock[0]: the next sample is the first after the filters were restarted, or after a gap."""


class Memory(NamedTuple):
    """Named views, for K channels, S signals (M with a momentum), n joints and E entries.

    Attributes:
        signals: the equation.
        cutoffs: (4,) of the filters l, d and q, and of the differentiated method [rad/s].
        gains: (4,) of the prediction's lead, of the motion's noise (density and variance), and how far accelerations
            must stand out of it.
        spans: (2,) window of the integral method, and how long a bad sample is felt [s].
        clock: (6,) how the next sample follows (0, RESTART or GAP), time and step of the last one [s], since when the
            arm has stood in `pose`, whether the last sample was the first after a gap, and the step of predictions,
            which go on where the filters are restarted.
        momentum, rest: (M,), (S,) signals of the newest sample.
        filtered_momentum: (M, 4) u, F_l u, F_d F_l u and F_d u of the last sample.
        filtered_rest: (S, 3) u, F_l u, F_d F_l u.
        filtered_readings: (K, 3) the same of what is measured.
        filtered_motion: (3, 3) the same of the squared second differences of v and w, and of the step.
        twists: (2, 6) of the last two samples.
        smooth: (2 n + K + 3, 3) u, F_p u, F_p F_p u of positions, velocities, readings and motion: differentiated.
        sums: (2, S + K + 3) integrands of the last sample, and integrals so far: integral.
        past: (W, 1 + S + K + 3 + M) time, integrals and momenta at the rows before.
        prediction: (K, 4) of the derivative's share: as it is, after one and two filters, and what a restart of F_d P
            has taken from it.
        weights: (E,) factor of each entry times its unknown.
        row_signals, row_readings, row_usable: (S,), (K,), (K,) of the newest row.
        row_motion: (4,) sizes of linear and angular accelerations left out as noise, and the noise of both.
        row_standing, row_moved: (n,) whether joints have never moved, or certainly have.
        row_is_old: (1,) whether the arm has stood in this pose for long.
        row: (K, U + 1) the newest row as [A, y].
        last_bad: (K,) when a channel was last not usable [s].
        reach: (2, n) lowest and highest position of each joint.
        pose: (n,) in which the arm stands.
        noise: (6 * 5 + 4,) standstill: density, floor, squares, sum, and freedom, count, spoiled, calibrated.
        noise_positions: (2, n) at the start of the block and of the run.
        noise_run: (20, 6) means of the present run.
        entry_signals, entry_channels, entry_unknowns: (E,).
        factors: (E,) of the entries.
        still: (n,) zeros.
    """

    signals: SignalArrays
    cutoffs: FloatArray
    gains: FloatArray
    spans: FloatArray
    clock: FloatArray
    momentum: FloatArray
    rest: FloatArray
    filtered_momentum: FloatArray
    filtered_rest: FloatArray
    filtered_readings: FloatArray
    filtered_motion: FloatArray
    twists: FloatArray
    smooth: FloatArray
    sums: FloatArray
    past: FloatArray
    prediction: FloatArray
    weights: FloatArray
    row_signals: FloatArray
    row_readings: FloatArray
    row_usable: FloatArray
    row_motion: FloatArray
    row_standing: FloatArray
    row_moved: FloatArray
    row_is_old: FloatArray
    row: FloatArray
    last_bad: FloatArray
    reach: FloatArray
    pose: FloatArray
    noise: FloatArray
    noise_positions: FloatArray
    noise_run: FloatArray
    factors: FloatArray
    still: FloatArray
    entry_signals: IntArray
    entry_channels: IntArray
    entry_unknowns: IntArray


SIZES = 16
"""Integers at the beginning that are sizes and flags."""
JOINTS, BODIES, CHANNELS, MOMENTA, SIGNALS, ENTRIES, PAIRS, PARAMETERS, DRIVES, BASE, UNKNOWNS, PAST = range(12)
METHOD, MONITORS, SLOT, PAST_COUNT = range(12, 16)
"""Where they are; the last two change: the present decision interval, and how many rows `past` holds."""

COUNTERS = 4
"""Integers after the sizes: block of standstill noise, means in its run, unused."""
NOISE_BLOCK, NOISE_MEANS = SIZES, SIZES + 1
_OFFSETS = SIZES + COUNTERS
_FLOATS = 41
_INTEGERS = 7


def make_memory(equation: Equation, joints: int, method: int, past: int) -> tuple[FloatArray, IntArray]:
    """Allocate memory for an equation, and lay the equation down in it."""
    arrays = equation.arrays
    k, s, m, e = len(equation.channels), equation.signals, equation.momenta, len(equation.entry_signals)
    b, c = len(arrays.tree), arrays.carried.shape[1]
    motion = 3
    shapes = [
        *(b * TREE_COLUMNS, 3, 1, 6 * len(arrays.base_screws), (b + 1) * MOTION, POSE, 6 * b * c, 6 * b * c, 20),
        *(4, 4, 2, 6, m, s, 4 * m, 3 * s, 3 * k, 9, 12, 3 * (2 * joints + k + motion), 2 * (s + k + motion)),
        *(past * (1 + s + k + motion + m), 4 * k, e, s, k, k, 4, joints, joints, 1, k * (len(equation.unknowns) + 1)),
        *(k, 2 * joints, joints, 34, 2 * joints, RUN * 6, e, joints),
    ]
    integers = [b * c, 4 * len(arrays.pairs), len(arrays.parameters), 2 * len(arrays.drives), e, e, e]
    header = _OFFSETS + _FLOATS + 1 + _INTEGERS + 1
    indices = np.zeros(header + sum(integers), dtype=np.int64)
    sizes = (joints, b, k, m, s, e, len(arrays.pairs), len(arrays.parameters), len(arrays.drives))
    indices[:SIZES] = (*sizes, len(arrays.base_screws), len(equation.unknowns), past, method, 0, -1, 0)
    indices[MONITORS] = equation.monitors_motion
    indices[NOISE_BLOCK] = -1
    assert len(shapes) == _FLOATS
    indices[_OFFSETS : _OFFSETS + _FLOATS + 1] = np.concatenate(([0], np.cumsum(shapes)))
    indices[_OFFSETS + _FLOATS + 1 : header] = header + np.concatenate(([0], np.cumsum(integers)))
    memory = np.zeros(sum(shapes))
    views = unpack(memory, indices)
    for view, given in zip(views.signals, arrays, strict=True):
        view[...] = given
    views.factors[:] = equation.entry_factors
    views.entry_signals[:], views.entry_channels[:] = equation.entry_signals, equation.entry_channels
    views.entry_unknowns[:] = equation.entry_unknowns
    views.clock[0] = GAP
    views.last_bad[:] = -np.inf
    views.reach[0], views.reach[1] = np.inf, -np.inf
    views.pose[:] = np.inf
    return memory, indices


@compiled
def unpack(memory: FloatArray, indices: IntArray) -> Memory:
    """Named views of the memory."""
    n, b, k, m, s = indices[0], indices[1], indices[2], indices[3], indices[4]
    base, unknowns, past = indices[9], indices[10], indices[11]
    o = indices[_OFFSETS : _OFFSETS + _FLOATS + 1]
    i = indices[_OFFSETS + _FLOATS + 1 : _OFFSETS + _FLOATS + 1 + _INTEGERS + 1]
    channels = (i[1] - i[0]) // b
    signals = SignalArrays(
        memory[o[0] : o[1]].reshape(b, TREE_COLUMNS),
        memory[o[1] : o[2]],
        memory[o[2] : o[3]],
        memory[o[3] : o[4]].reshape(base, 6),
        indices[i[0] : i[1]].reshape(b, channels),
        indices[i[1] : i[2]].reshape(indices[6], 4),
        indices[i[2] : i[3]],
        indices[i[3] : i[4]].reshape(indices[8], 2),
        memory[o[4] : o[5]].reshape(b + 1, MOTION),
        memory[o[5] : o[6]],
        memory[o[6] : o[7]].reshape(b, channels, 6),
        memory[o[7] : o[8]].reshape(b, channels, 6),
        memory[o[8] : o[9]].reshape(2, 10),
    )
    return Memory(
        signals,
        memory[o[9] : o[10]],
        memory[o[10] : o[11]],
        memory[o[11] : o[12]],
        memory[o[12] : o[13]],
        memory[o[13] : o[14]],
        memory[o[14] : o[15]],
        memory[o[15] : o[16]].reshape(m, 4),
        memory[o[16] : o[17]].reshape(s, 3),
        memory[o[17] : o[18]].reshape(k, 3),
        memory[o[18] : o[19]].reshape(3, 3),
        memory[o[19] : o[20]].reshape(2, 6),
        memory[o[20] : o[21]].reshape(2 * n + k + 3, 3),
        memory[o[21] : o[22]].reshape(2, s + k + 3),
        memory[o[22] : o[23]].reshape(past, 1 + s + k + 3 + m),
        memory[o[23] : o[24]].reshape(k, 4),
        memory[o[24] : o[25]],
        memory[o[25] : o[26]],
        memory[o[26] : o[27]],
        memory[o[27] : o[28]],
        memory[o[28] : o[29]],
        memory[o[29] : o[30]],
        memory[o[30] : o[31]],
        memory[o[31] : o[32]],
        memory[o[32] : o[33]].reshape(k, unknowns + 1),
        memory[o[33] : o[34]],
        memory[o[34] : o[35]].reshape(2, n),
        memory[o[35] : o[36]],
        memory[o[36] : o[37]],
        memory[o[37] : o[38]].reshape(2, n),
        memory[o[38] : o[39]].reshape(RUN, 6),
        memory[o[39] : o[40]],
        memory[o[40] : o[41]],
        indices[i[4] : i[5]],
        indices[i[5] : i[6]],
        indices[i[6] : i[7]],
    )
