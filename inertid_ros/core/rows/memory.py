"""All that rows and predictions remember between two samples: one array of floats and one of integers.

Both follow those of the equation's signals in the same memory, so that a kernel gets two arrays instead of four.
The integers begin with sizes and with the places where everything begins in the floats, as for the equations' signals.
Kernels use these places; Python gets named views of the same memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.equations.equation import Equation
from inertid_ros.core.records import FloatArray, IntArray

RUN = 20
"""Means over blocks at standstill that are pooled at once (2 s): slower changes are drift, which is no noise."""

RESTART, GAP = 1.0, 2.0
"""Values of clock[0]: the next sample is the first after the filters were restarted, or after a gap."""

JOINTS, CHANNELS, MOMENTA, SIGNALS, ENTRIES, UNKNOWNS, PAST_ROWS, METHOD, MONITORS = range(9)
"""Sizes and flags: n, K, M, S, E, U, room for rows of the integral method, the method, whether the motion's noise is
measured."""
DECISION, PAST_COUNT, NOISE_BLOCK, NOISE_MEANS = range(9, 13)
"""Integers that change: the decision interval, rows in `past`, block of the standstill noise, means in its run."""
CUTOFFS, GAINS, SPANS, CLOCK, TWISTS, SQUARES, PREDICTION, FILTERED_MOMENTUM = range(13, 21)
FILTERED_REST, FILTERED_READINGS, FILTERED_MOTION, SMOOTH, SUMS, PAST, WEIGHTS, FACTORS = range(21, 29)
ROW_SIGNALS, ROW_READINGS, ROW_USABLE, ROW_MOTION, ROW_STANDING, ROW_MOVED, ROW_IS_OLD, ROW = range(29, 37)
LAST_BAD, REACH, STOOD, NOISE, NOISE_POSITIONS, NOISE_RUN, FLOATS_END = range(37, 44)
"""Where in the floats everything begins, see Memory. What predictions remember is from CLOCK to FILTERED_REST."""
ENTRY_STARTS, ENTRY_SIGNALS, ENTRY_UNKNOWNS = range(44, 47)
"""Where in the integers these begin: the first entry of each channel, and signals and unknowns of the entries."""
_HEADER = 47
"""Integers before the entries: sizes, counters and places."""

MOTION = 3
"""Signals of the motion's noise: squared second differences of v and of w, and the step."""


class Memory(NamedTuple):
    """Named views, for K channels, S signals (M with a momentum), n joints and E entries.

    Attributes:
        cutoffs: (4,) of the filters l, d and q, and of the differentiated method [rad/s].
        gains: (4,) of the prediction's lead, of the motion's noise (density and variance), and how far accelerations
            must stand out of it.
        spans: (2,) window of the integral method, and how long a bad sample has an effect [s].
        clock: (6,) how the next sample follows (0, RESTART or GAP), time and step of the last one [s] (0 after a
            restart), since when the arm has stood in one pose, whether the last sample was the first after a gap, and
            the step for predictions, which a restart does not touch.
        twists: (2, 6) of the last two samples.
        squares: (3,) motion noise of the newest sample, or of the newest row.
        prediction: (K, 3) of the derivative's share: as it is, and after one and two filters.
        filtered_momentum: (5, M) u, F_l u, F_d F_l u and F_d u of the last sample, and F_d u for predictions.
        filtered_rest: (3, S) u, F_l u, F_d F_l u.
        filtered_readings: (K, 3) the same of what is measured.
        filtered_motion: (3, 3) the same of the motion's noise.
        smooth: (2 n + K + 3, 3) u, F_p u, F_p F_p u of positions, velocities, readings and motion: differentiated.
        sums: (2, S + K + 3) integrands of the last sample, and integrals so far: integral.
        past: (W, 1 + S + K + 3 + M) time, integrals and momenta at the rows before.
        weights: (E,) factor of each entry times its unknown; entries are sorted by channel.
        factors: (E,) of the entries.
        row_signals: (S,) of the newest row, as for all that follow.
        row_readings: (K,).
        row_usable: (K,).
        row_motion: (4,) sizes of linear and angular accelerations left out as noise, and the noise of both.
        row_standing: (n,) whether joints have never moved.
        row_moved: (n,) whether they certainly have.
        row_is_old: (1,) whether the arm has stood in this pose for long.
        row: (K, U + 1) as [A, y].
        last_bad: (K,) when a channel was last not usable [s].
        reach: (2, n) lowest and highest position of each joint.
        stood: (n,) the pose in which the arm stands.
        noise: (28,) standstill: density, floor, squares and sum (6 each), freedom, count, spoiled, calibrated.
        noise_positions: (2, n) at the start of the block and of the run.
        noise_run: (20, 6) means of the present run.
    """

    cutoffs: FloatArray
    gains: FloatArray
    spans: FloatArray
    clock: FloatArray
    twists: FloatArray
    squares: FloatArray
    prediction: FloatArray
    filtered_momentum: FloatArray
    filtered_rest: FloatArray
    filtered_readings: FloatArray
    filtered_motion: FloatArray
    smooth: FloatArray
    sums: FloatArray
    past: FloatArray
    weights: FloatArray
    factors: FloatArray
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
    stood: FloatArray
    noise: FloatArray
    noise_positions: FloatArray
    noise_run: FloatArray


class AllMemory(NamedTuple):
    """What a kernel works on: the equation's floats and integers, and after them those of the rows.

    Attributes:
        floats, integers: all of them.
        row_floats, row_integers: those of the rows.
        views: the former by name.
    """

    floats: FloatArray
    integers: IntArray
    row_floats: FloatArray
    row_integers: IntArray
    views: Memory


def make_memory(equation: Equation, joints: int, method: int, past: int) -> AllMemory:
    """Allocate memory for an equation, a method and so many rows of the past."""
    n, k, m, s = joints, len(equation.channels), equation.momenta, equation.signals
    e, u = len(equation.entry_signals), len(equation.unknowns)
    integrals = s + k + MOTION
    shapes: tuple[tuple[int, ...], ...] = (
        *((4,), (4,), (2,), (6,), (2, 6), (MOTION,), (k, 3), (5, m)),
        *((3, s), (k, 3), (MOTION, 3), (2 * n + k + MOTION, 3), (2, integrals), (past, 1 + integrals + m), (e,), (e,)),
        *((s,), (k,), (k,), (4,), (n,), (n,), (1,), (k, u + 1)),
        *((k,), (2, n), (n,), (28,), (2, n), (RUN, 6)),
    )
    offsets = np.concatenate(([0], np.cumsum([np.prod(shape) for shape in shapes])))
    sizes = (n, k, m, s, e, u, past, method, equation.monitors_motion, -1, 0, -1, 0)
    order = np.argsort(equation.entry_channels, kind="stable")
    firsts = np.searchsorted(equation.entry_channels[order], np.arange(k + 1))
    places = _HEADER + np.array([0, k + 1, k + 1 + e])
    entries = firsts, equation.entry_signals[order], equation.entry_unknowns[order]
    x, at = equation.memory
    integers = np.concatenate((at, sizes, offsets, places, *entries)).astype(np.int64)
    floats = np.concatenate((x, np.zeros(int(offsets[-1]))))
    own = floats[len(x) :]
    parts = zip(offsets[:-1], offsets[1:], shapes, strict=True)
    views = Memory(*(own[int(a) : int(b)].reshape(shape) for a, b, shape in parts))
    views.factors[:] = equation.entry_factors[order]
    views.clock[0] = GAP
    views.last_bad[:] = -np.inf
    views.reach[0], views.reach[1] = np.inf, -np.inf
    views.stood[:] = np.inf
    return AllMemory(floats, integers, own, integers[len(at) :], views)
