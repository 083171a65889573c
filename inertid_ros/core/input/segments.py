"""Samples at the stamps of the readings, and how they follow each other: segments have no gap; compiled."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.input.joint_stream import MAX_GAP
from inertid_ros.core.input.timeline import NEVER, ORIGIN, PAIRED, STAMPS, START, STOP, interpolate
from inertid_ros.core.records import FloatArray, IntArray

FOLLOWS, AFTER_GAP, IN_GAP, NOT_FINITE = range(4)
"""How a sample follows the one before."""
WIDTH, CUT = range(2)
"""What is found of a sample: the distance [s] of the joint states around it, and how it follows."""


class Columns(NamedTuple):
    """Where in a sample positions, velocities, readings and the marks of those that are not usable are."""

    positions: slice
    velocities: slice
    readings: slice
    bad: slice

    @classmethod
    def of(cls, joints: int, channels: int) -> Columns:
        """Those of samples of so many joints and channels."""
        first = 1 + 2 * joints
        return cls(*(slice(*pair) for pair in pairwise((1, 1 + joints, first, first + channels, first + 2 * channels))))


class Segment(NamedTuple):
    """Samples without a gap between them, at the readings' stamps, for n joints and K readings.

    Attributes:
        starts_anew: whether there is a gap (or nothing) before the first sample.
        stamps: (N,) nanoseconds.
        samples: (N, 1 + 2 n + 2 K) time [s since the origin], positions, velocities, readings in the driver's own sign,
            and 1 for each reading that is not usable.
        columns: where these are.
    """

    starts_anew: bool
    stamps: IntArray
    samples: FloatArray
    columns: Columns

    @property
    def times(self) -> FloatArray:
        """Times (N,) [s]."""
        return self.samples[:, 0]

    @property
    def positions(self) -> FloatArray:
        """Positions (N, n)."""
        return self.samples[:, self.columns.positions]

    @property
    def velocities(self) -> FloatArray:
        """Velocities (N, n)."""
        return self.samples[:, self.columns.velocities]

    @property
    def readings(self) -> FloatArray:
        """Readings (N, K)."""
        return self.samples[:, self.columns.readings]

    @property
    def bad(self) -> FloatArray:
        """1 for each reading that is not usable, (N, K)."""
        return self.samples[:, self.columns.bad]


@compiled
def lay_down(
    line: IntArray, readings: FloatArray, first: int, stamps: IntArray, samples: FloatArray, marks: FloatArray
) -> None:
    """Take readings from their time line: times [s], and readings, then zeros, from the column `first` on."""
    start, count, width = line[START], readings.shape[1], samples.shape[1] - first
    for k in range(len(stamps)):
        stamps[k] = line[STAMPS + start + k]
        samples[k, 0] = (stamps[k] - line[ORIGIN]) * 1e-9
        marks[WIDTH, k] = 0.0
        for c in range(min(count, width)):
            samples[k, first + c] = readings[start + k, c]
        for c in range(count, width):
            samples[k, first + c] = 0.0
    line[START] = start + len(stamps)
    if line[START] == line[STOP]:
        line[START] = line[STOP] = 0


@compiled
def find_cuts(line: IntArray, first: int, stamps: IntArray, samples: FloatArray, marks: FloatArray) -> int:
    """Find how each sample (N, W), with readings from the column `first` on, follows the one before.

    Args:
        line: integers of the readings' time line, which remember the last sample.
        first: see there.
        stamps: (N,) of the samples.
        samples: the samples.
        marks: (2, N) WIDTH is known, CUT is the result.

    Returns:
        How many do not simply follow.
    """
    count = 0
    for k in range(len(stamps)):
        cut = FOLLOWS
        for c in range(first, samples.shape[1]):
            if not np.isfinite(samples[k, c]):
                cut = NOT_FINITE
        if cut != NOT_FINITE:
            if not marks[WIDTH, k] <= MAX_GAP:
                cut = IN_GAP
            elif (stamps[k] - line[PAIRED]) * 1e-9 > MAX_GAP:
                cut = AFTER_GAP
            line[PAIRED] = NEVER if cut == IN_GAP else stamps[k]
        marks[CUT, k] = cut
        count += cut != FOLLOWS
    return count


@compiled
def synchronise(
    line: IntArray,
    states: FloatArray,
    targets: IntArray,
    reading_line: IntArray,
    readings: FloatArray,
    stamps: IntArray,
    samples: FloatArray,
    marks: FloatArray,
) -> int:
    """Pair the next readings with the joint states of the one publisher that gives them all.

    Args:
        line: integers of the joint states' time line, see `timeline.interpolate`, as for the next two.
        states: (M, 2 n) its states.
        targets: (2 n,) columns of a sample that they belong to.
        reading_line: integers of the readings' time line, see `lay_down`.
        readings: its states.
        stamps: (N,) the result, as for the next two.
        samples: (N, 1 + 2 n + 2 K).
        marks: (2, N or more) WIDTH and CUT of each.

    Returns:
        How many samples do not simply follow the one before.
    """
    first = 1 + len(targets)
    lay_down(reading_line, readings, first, stamps, samples, marks)
    interpolate(line, states, targets, samples, marks[WIDTH], len(targets) // 2)
    return find_cuts(reading_line, first, stamps, samples, marks)
