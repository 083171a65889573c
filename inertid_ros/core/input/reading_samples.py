"""One reading of a sensor beside the ones before it: whether it is plausible, and whether it is an outlier; compiled.

A wrench that differs from the last one by far more than usual is left out. If the next one agrees with it, or the third
one differs as well, that one is taken: then it was a step, as a contact makes it.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.records import FloatArray, IntArray

COLUMN, MISSED, LIMITED = range(3)
"""Of a channel: its column in the message (-1 if it is not there), and whether it was missing or saturated."""
FACTOR, BELOW, LIMIT, HELD, FREE, USUAL, SET_ASIDE = range(7)
"""Of a channel: what it is multiplied with, what it must be below to be good without another look, the limit at which
it is saturated, and its last good value; for outliers, the change between samples that says nothing (inf: none is
looked for), the usual one, and the value that was left out last."""
CHANNEL_NUMBERS = 7
"""How many numbers of each channel the latter are."""
LARGEST = 1e5
"""Readings [N or Nm] beyond this are none: ten times what the largest sensors of arms and drives of robots give."""
STANDS_OUT = 10.0
"""How many times the usual change an outlier is off: noise never is."""
SUDDEN = 400.0
"""How many times FREE a reading may change in a second without a second look: 200 N/s, a jerk of 100 m/s³ on 2 kg."""
USUAL_MEMORY = 20.0
"""Samples that the usual change is averaged over: shortly after the start of a motion it is that of the motion."""
CONFIRMED = 2
"""Outliers in a row that are left out at most."""

FITS, JUMPS, STEPS, NO_WRENCH = range(4)
"""What a reading is beside the ones before: it follows, is by itself, is a step from them, or is none at all."""


@compiled
def compare_reading(
    channels: IntArray, scales: FloatArray, values: FloatArray, step: float, aside: int, is_fresh: bool
) -> int:
    """Compare a reading with the last one taken and with the last one left out.

    Args:
        channels: (3, K) see COLUMN.
        scales: (7, K) see FACTOR.
        values: (C,) of the message.
        step: since the last reading taken [s].
        aside: how many in a row were left out.
        is_fresh: whether there is none before it.
    """
    jumps, agrees, free = False, aside > 0, 1.0 + SUDDEN * step
    for c in range(channels.shape[1]):
        value = values[channels[COLUMN, c]] * scales[FACTOR, c]
        if not abs(value) <= LARGEST:
            return NO_WRENCH if np.isfinite(value) else FITS
        allowed = STANDS_OUT * scales[USUAL, c] + scales[FREE, c] * free
        jumps |= abs(value - scales[HELD, c]) > allowed
        agrees &= abs(value - scales[SET_ASIDE, c]) <= allowed
    if is_fresh or not jumps:
        return FITS
    return STEPS if agrees or aside >= CONFIRMED else JUMPS


@compiled
def note_reading(
    channels: IntArray, scales: FloatArray, values: FloatArray, is_taken: bool, is_fresh: bool, is_step: bool
) -> None:
    """Note a reading that is taken, or left out as an outlier; see `compare_reading` for the arguments.

    After a step, the usual change is that since the reading that was left out.
    """
    last, weight = (SET_ASIDE, 1.0 / (1.0 + CONFIRMED)) if is_step else (HELD, 1.0 / USUAL_MEMORY)
    for c in range(channels.shape[1]):
        value = values[channels[COLUMN, c]] * scales[FACTOR, c]
        if not is_taken:
            scales[SET_ASIDE, c] = value
        elif np.isfinite(value):
            if not is_fresh:
                scales[USUAL, c] += weight * (abs(value - scales[last, c]) - scales[USUAL, c])
            scales[HELD, c] = value
