"""Samples at the stamps of the readings, and how they follow each other: segments have no gap; compiled."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.input.timeline import LAID, MAX_GAP, NEVER, ORIGIN, PAIRED, PAIRED_BEFORE, STAMPS, START, STOP
from inertid_ros.core.records import FloatArray, IntArray

FOLLOWS, AFTER_GAP, IN_GAP, NOT_FINITE = range(4)
"""How a sample follows the one before."""
WIDTH, CUT, STEP = MARKS = range(3)
"""What is found of a sample: the distance [s] of the joint states around it, how it follows, and how long [s] after the
reading before it comes."""


class Columns(NamedTuple):
    """Where in a sample positions, velocities, readings, marks of those not usable, and predictions are."""

    positions: slice
    velocities: slice
    readings: slice
    bad: slice
    predicted: slice

    @classmethod
    def of(cls, joints: int, channels: int) -> Columns:
        """Those of samples of so many joints and channels."""
        first = 1 + 2 * joints
        edges = 1, 1 + joints, *(first + number * channels for number in range(4))
        return cls(*(slice(*pair) for pair in pairwise(edges)))


class Segment(NamedTuple):
    """Samples without a gap between them, at the readings' stamps, for n joints and K readings.

    Attributes:
        starts_anew: whether there is a gap (or nothing) before the first sample.
        stamps: (N,) nanoseconds.
        samples: (N, 1 + 2 n + 3 K) time [s since the origin], positions, velocities, readings in the driver's own sign,
            1 for each reading that is not usable, and predictions.
        columns: where these are.
        row: the sample whose row is laid down already, N if there is none; -1 if no sample was carried on yet.
    """

    starts_anew: bool
    stamps: IntArray
    samples: FloatArray
    columns: Columns
    row: int = -1

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

    @property
    def predicted(self) -> FloatArray:
        """Predictions (N, K), once the samples are carried on."""
        return self.samples[:, self.columns.predicted]


class Carrier(Protocol):
    """What samples are carried on by: floats and integers of `rows.Rows`, with the kernels that pair and go on."""

    @property
    def floats(self) -> FloatArray:
        """All that is remembered."""

    @property
    def integers(self) -> IntArray:
        """Where, and how much."""

    @property
    def carry(self) -> Callable[..., int]:
        """Pairs readings and goes on, see `advance.carry`."""

    @property
    def foresee(self) -> Callable[..., bool]:
        """Extrapolates and predicts, see `advance.foresee`."""

    @property
    def arrive(self) -> Callable[..., int]:
        """Takes a message as it arrives, see `arrival.arrive`."""


FIRST, LAST, GO_ON, RESUME = 1, 2, 4, -2
"""What a kernel that pairs readings with joint states is called for: the first and the last of their publishers, and
whether samples are complete then; or only to carry them on from a row, see `advance.carry`."""


@compiled
def copy_readings(
    line: IntArray, readings: FloatArray, start: int, first: int, stamps: IntArray, samples: FloatArray
) -> None:
    """Copy readings of a time line: times [s], and readings, then zeros, from the column `first` on."""
    count, width = readings.shape[1], samples.shape[1] - first
    for k in range(len(stamps)):
        stamps[k] = line[STAMPS + start + k]
        samples[k, 0] = (stamps[k] - line[ORIGIN]) * 1e-9
        for c in range(min(count, width)):
            samples[k, first + c] = readings[start + k, c]
        for c in range(count, width):
            samples[k, first + c] = 0.0


@compiled
def lay_down(
    line: IntArray, readings: FloatArray, first: int, stamps: IntArray, samples: FloatArray, marks: FloatArray
) -> None:
    """Take the next readings from their time line, see `copy_readings`."""
    copy_readings(line, readings, line[START], first, stamps, samples)
    marks[WIDTH, : len(stamps)] = 0.0
    for k in range(len(stamps)):
        marks[STEP, k] = (stamps[k] - line[LAID]) * 1e-9
        line[LAID] = stamps[k]
    line[START] += len(stamps)
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
        marks: (3, N) WIDTH is known, CUT is the result.

    Returns:
        How many do not simply follow.
    """
    count = 0
    line[PAIRED_BEFORE] = line[PAIRED]
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
