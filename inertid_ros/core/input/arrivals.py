"""A message as it arrives, one by one: what a kernel needs to take it in one call, and what it tells of that.

The kernel is `rows.arrival.arrive`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.input.segments import MARKS
from inertid_ros.core.records import FloatArray, IntArray

STATES, READINGS = 1, 2
"""What a message has, as flags."""
DONE, ANSWERS, AT_STATES, AT_READINGS, AT_PAIRING, AT_CUTS, AT_ROW, NOT_FINITE = range(8)
"""How far a message came: all is done, with nothing to answer or with answers; or joint states, readings, pairing them,
cuts between segments or a row need a decision; or a prediction is not finite."""
USED, UNANSWERED, END, POSITION, ROW = range(5)
"""What is told of it: how many samples were synchronised, which of the samples are to be answered, from one up to
before another, at which sample of the message it has stopped, and at which sample there is a row."""
PROCESSED, ANSWERED, NEWEST_USED, FIRST_COUNTED, COUNTED = range(5, 10)
"""What is told of all messages so far: stamps [ns] up to which samples were processed and answered, of the last one
that was synchronised, and, since they were counted last, of the first one and how many they are."""
TOLD = 10
"""How many numbers these are."""
CAPACITY = 16
"""Samples that one message may complete: joint states at 60 Hz or more beside readings at 1 kHz."""


class Motion(NamedTuple):
    """The time line of a publisher of joint states, see `joint_stream.take_states`; `taken` is of its message."""

    line: IntArray
    states: FloatArray
    joints: FloatArray
    clock: FloatArray
    targets: IntArray
    taken: IntArray


class Message(NamedTuple):
    """Stamp (1,), positions (1, C), velocities (1, C) or (0, C), and readings (1, K); empty where it has none."""

    stamps: IntArray
    positions: FloatArray
    velocities: FloatArray
    readings: FloatArray


class Waiting(NamedTuple):
    """The time line of the readings that wait for joint states, see `timeline.take_readings`."""

    line: IntArray
    states: FloatArray
    channels: IntArray
    scales: FloatArray


class Arrived(NamedTuple):
    """What came of a message: stamps (M,), samples (M, W) and marks (3, M) as of `advance.carry`, the first USED."""

    stamps: IntArray
    samples: FloatArray
    marks: FloatArray


_NOTHING = np.empty((0, 0))
"""Stands for what a message does not have."""


def make_arrived(width: int) -> Arrived:
    """Memory for samples of so many numbers."""
    return Arrived(np.empty(CAPACITY, np.int64), np.empty((CAPACITY, width)), np.empty((len(MARKS), CAPACITY)))


def make_message(
    stamps: IntArray,
    positions: FloatArray | None = None,
    velocities: FloatArray | None = None,
    readings: FloatArray | None = None,
) -> Message | None:
    """One sample as the kernel takes it; None for several, and for arrays that are not as it must have them."""
    if positions is None:
        positions = velocities = _NOTHING
    elif velocities is None:
        velocities = positions[:0]
    message = Message(stamps, positions, velocities, _NOTHING if readings is None else readings)
    is_plain = all(
        array.flags.c_contiguous and array.dtype == (np.int64 if array is stamps else np.float64) for array in message
    )
    return message if is_plain and len(stamps) == 1 else None
