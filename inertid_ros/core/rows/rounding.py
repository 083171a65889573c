"""In what steps readings come, and how far their rounding is from noise; compiled.

The error of a reading that is rounded to multiples of a step d has the variance d² / 12. It is noise only where it is
another one in every row: where readings move by more than a step from row to row, or where noise larger than the step
takes them there and back (dither, Widrow's theory of quantisation). Readings of a slow or small torque stay where they
are for many rows, with one error for each change; and the same torque is rounded in the same way, however often it
returns, so that over m levels, all of which are passed through, rounding averages out to d / m and no further. With c
changes a row, in n rows of a motion of which w are worth one where noise is white, the part 1 - 2 c of the variance is
not noise, and weighs as much as white noise of the variance

    d² / 12 (1 - 2 c) max(1, n / (w min(c n, m²))).

The step is the smallest change that repeats: of readings that are not rounded, the smallest change so far never does.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import brief
from inertid_ros.core.records import FloatArray

LAST, STEP, SEEN, CHANGES, ROWS, ORIGIN, LEVELS = range(7)
"""What is remembered of a channel: its reading, the smallest change so far and how often it was seen, how many rows of
a motion have changed, how many there were, a reading from which steps are counted, and how many rows of a motion had
each of the levels, of which the last follows the first again."""
_LEVELS = 32
"""Different levels that are told apart: of as many, nothing is left of a rounding error but noise."""
_SAME = 1e-6
"""Part by which readings may differ that are the same: ten times the rounding of single precision, in which drivers
multiply by torque constants."""
_ALIKE = 0.125
"""Part by which changes may differ that are of one step: single precision adds 1 % to steps of a thousandth Nm in
100 Nm, and of readings that are not rounded a fifth of all changes that are as small is."""
_REPEATED = 10.0
"""How often a step must be seen: of readings that are not rounded, the smallest change is in one of ten million
channels."""
_SELDOM = 20.0
"""Rows of a motion (0.4 s) for each change from which readings are rounded in any case: the slowest drivers renew
efforts at some 10 Hz, and no reading of a joint that moves repeats itself for longer."""
_MOVES = 0.01
"""Velocity [rad/s or m/s] of a joint from which an arm moves: drives creep by less."""
_ALL_NOISE = 0.5
"""Changes a row from which rounding is noise: those of readings with noise of half a step."""


def make_rounding(channels: int) -> FloatArray:
    """Nothing seen yet of some number of channels: (38, K), see LAST."""
    seen = np.zeros((LEVELS + _LEVELS, channels))
    seen[LAST], seen[STEP] = np.nan, np.inf
    return seen


@brief
def note_rounding(seen: FloatArray, readings: FloatArray, bad: FloatArray, velocities: FloatArray) -> None:
    """Note a row.

    Args:
        seen: (38, K) see LAST.
        readings: (K,) the newest ones.
        bad: (K,) 1 where there is none to be believed.
        velocities: (n,) of the joints.
    """
    moves = False
    for velocity in velocities:
        moves |= abs(velocity) > _MOVES
    for c in range(len(readings)):
        if bad[c] != 0.0:
            seen[LAST, c] = np.nan
            continue
        last = seen[LAST, c]
        change = abs(readings[c] - last)
        has_changed = change > _SAME * (abs(last) + abs(readings[c]))  # not so where there was none before
        if has_changed or np.isnan(last):
            seen[LAST, c] = readings[c]
        if has_changed and change < (1.0 - _ALIKE) * seen[STEP, c]:
            seen[STEP, c], seen[SEEN, c], seen[ORIGIN, c] = change, 1.0, readings[c]
            seen[LEVELS:, c] = 0.0
        elif has_changed and change < (1.0 + _ALIKE) * seen[STEP, c]:
            seen[SEEN, c] += 1.0
        if moves and not np.isnan(last):
            seen[ROWS, c] += 1.0
            seen[CHANGES, c] += has_changed
            level = np.rint((readings[c] - seen[ORIGIN, c]) / seen[STEP, c])
            seen[LEVELS + int(level - _LEVELS * np.floor(level / _LEVELS)), c] += 1.0


def find_rounding(seen: FloatArray, white: float) -> FloatArray:
    """Variances (K,) of white noise that weighs as much as what the rounding of readings adds to noise.

    Args:
        seen: (38, K) see LAST.
        white: how many rows are worth one where the noise is white.
    """
    _, step, times, changes, rows, _, *levels = seen
    is_rounded = (changes > 0.0) & ((times >= _REPEATED) | (rows >= _SELDOM * changes))
    count = np.sum(levels, axis=0) ** 2 / np.maximum(np.square(levels).sum(axis=0), 1.0)
    share = np.maximum(1.0 - changes / np.maximum(_ALL_NOISE * rows, 1.0), 0.0)
    errors = np.minimum(changes, count**2)
    repeats = np.maximum(rows / (white * np.maximum(errors, 1.0)), 1.0)
    return np.asarray(np.where(is_rounded, step, 0.0) ** 2 / 12.0 * share * repeats)
