"""A time line of samples that grows at one end and is forgotten at the other, and what is read from it; compiled.

Kernels see it as one array of integers, a header and then the stamps, and one array of states. A kernel takes the
samples of a block up to one that needs a decision, says why, and is called again for the rest: the ordinary sample
costs one call, and everything else is decided in one place.

Stamps are checked before anything is believed: zero, repeated, backward, jumping, or reset.
"""

from __future__ import annotations

from enum import Enum, auto

import numpy as np

from inertid_ros.core.compiled import brief, compiled
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.reading_samples import (
    BELOW,
    COLUMN,
    CONFIRMED,
    FACTOR,
    FITS,
    HELD,
    JUMPS,
    LARGEST,
    LIMIT,
    LIMITED,
    MISSED,
    NO_WRENCH,
    STEPS,
    compare_reading,
    note_reading,
)
from inertid_ros.core.records import FloatArray, IntArray

SECOND = 1_000_000_000
"""Nanoseconds in a second."""
CONTINUITY = 10 * SECOND
"""A sample later than the last one by more than this, or earlier, does not belong to its time line without proof:
drivers pause for less. Ten seconds [ns]."""

MAX_GAP = 0.15
"""Longest pause [s] that is bridged by interpolation: joint states at 10 Hz with jitter; after a longer one filters are
restarted."""

MAX_WAIT = 2 * SECOND
"""How long [ns] a reading waits for a joint state before it is given up: drivers stall, networks retry, for less."""

LONG_STEP = 0.0125
"""Step [s] between joint states above which curvature matters: below 80 Hz a chord misses more of a fast motion than
any tachometer."""

PROOF = 3
"""Consecutive samples that must agree before a new time line is believed: two may agree by chance."""


class Verdict(Enum):
    """What to do with a sample whose stamp does not simply follow: leave it out, take it, or start time anew."""

    LEAVE = auto()
    TAKE = auto()
    RESET = auto()


@compiled
def follows(stamp: int, last: int) -> bool:
    """Whether a stamp simply follows the last good one, which is 0 if there is none."""
    return last != 0 and 0 < stamp - last <= CONTINUITY


class StampCheck:
    """Decides for the stamps of one input that do not simply follow the last good one.

    A stamp is good if it follows the last good one by more than nothing and at most ten seconds. Any other is set
    aside. When three that were set aside in a row follow each other like good ones, the third is good. If they went
    backward (bag loop, simulation reset), time was reset and the caller must forget what it knew of the time
    before.
    """

    def __init__(self, source: str, health: Health) -> None:
        """Check the stamps of one named input and report to its health."""
        self._source = source
        self._health = health
        self._last = 0
        self._aside: list[int] = []

    def judge(self, stamp: int, last: int) -> Verdict:
        """Judge a stamp that does not follow the last good one, 0 if there is none."""
        if last != self._last:  # good ones have come in between
            self._last = last
            self._aside.clear()
        if stamp <= 0:
            self._health.report(self._source, "zero_stamp", stamp)
            return Verdict.LEAVE
        if last == 0 and not self._aside:
            return Verdict.TAKE
        if stamp == last or (self._aside and stamp == self._aside[-1]):
            self._health.report(self._source, "duplicate_stamp", stamp)
            return Verdict.LEAVE
        if self._aside and not follows(stamp, self._aside[-1]):
            self._aside.clear()
        self._aside.append(stamp)
        if len(self._aside) >= PROOF:
            self._aside.clear()
            if stamp > last:
                return Verdict.TAKE
            self._health.report(self._source, "time_reset", stamp)
            return Verdict.RESET
        step = (stamp - last) / SECOND
        code = "backward_stamp" if step < 0 else "jumping_stamp"
        self._health.report(self._source, code, stamp, f"last one by {step:+.3f} s")
        return Verdict.LEAVE


START, STOP, NEWEST, LAST, ACCEPTED, ORIGIN, FOUND = range(7)
"""Integers: the first sample kept and the one after the last, the newest sample's stamp, the last good stamp, one that
does not follow it and is good all the same, the stamp of time zero, and why a kernel has stopped."""
MISSING, SATURATED, PAIRED, PAIRED_BEFORE, LAID = range(7, 12)
"""Integers of readings: in how many samples some were missing or saturated, the stamp of the last one that was paired
with joint states, of the last one before the newest block of them, and of the last one that left its time line."""
SEEN, UNTRUSTED, RAW, RAW_BEFORE, RAW_LATEST = range(7, 12)
"""Integers of joint states, see `joint_stream`."""
ASIDE, FRESH = 12, 13
"""Integers: how many samples in a row were left out as outliers, and whether the last one taken has none before it."""
FILED, KEEPS_STAMPS = 14, 15
"""Integers of joint states: the stamp by which the last one taken is filed, and whether that must be its own."""
STAMPS = 16
"""Where in the integers the stamps begin."""

NEVER = -(2**62)
"""Before all stamps [ns]."""

BAD_STAMP, FULL, NOT_FINITE, IMPLAUSIBLE, OUTLIER, STEP, VELOCITIES_JUDGED = range(7)
"""Why a kernel has stopped: a stamp does not simply follow, there is no room, numbers are not finite, or larger than
any that a robot has, a sample does not follow from those before, or does not, but is no outlier either, or velocities
were compared with the positions."""
TAKE_IT = -1
"""Value of ASIDE: the next reading is taken whatever it is."""

KEPT = 256
"""Samples that are kept at least, for readings that come late and for averages: a quarter of a second at 1 kHz."""
_CAPACITY = 4096
"""Samples that there is room for at first: four seconds at 1 kHz."""

AT_LIMIT = 1e-3
"""Part of its limit by which a reading may miss it and still be saturated: rounding of drivers."""


@compiled
def must_stop(line: IntArray, states: FloatArray, stamp: int) -> bool:
    """Whether a sample cannot simply be appended."""
    if not (follows(stamp, line[LAST]) or stamp == line[ACCEPTED]):
        line[FOUND] = BAD_STAMP
        return True
    if line[STOP] == len(states):
        line[FOUND] = FULL
        return True
    return False


@brief
def take_readings(
    line: IntArray,
    states: FloatArray,
    channels: IntArray,
    scales: FloatArray,
    stamps: IntArray,
    values: FloatArray,
    start: int,
) -> int:
    """Append readings.

    Args:
        line: integers of the time line.
        states: (M, K) readings, or (M, 2 K) with 1 for each that is not to be believed, the last good one in its place.
        channels: (3, K) see COLUMN.
        scales: (7, K) see FACTOR.
        stamps: (N,) nanoseconds.
        values: (N, C) of the message.
        start: the first sample to take.

    Returns:
        The first sample that was not taken, with the reason in FOUND; -1 if all are.
    """
    count = channels.shape[1]
    for k in range(start, len(stamps)):
        if must_stop(line, states, stamps[k]):
            return k
        if states.shape[1] == count and is_left_out(line, channels, scales, stamps[k], values[k]):
            return k
        row = line[STOP]
        line[LAST] = line[NEWEST] = line[STAMPS + row] = stamps[k]
        line[STOP], line[ACCEPTED] = row + 1, NEVER
        if states.shape[1] > count:
            mark_reading(line, states, channels, scales, values, k, row)
        else:
            for c in range(count):
                states[row, c] = values[k, channels[COLUMN, c]] * scales[FACTOR, c]
    return -1


@compiled
def is_left_out(line: IntArray, channels: IntArray, scales: FloatArray, stamp: int, values: FloatArray) -> bool:
    """Whether a reading (C,) needs a decision, with the reason in FOUND; if not, it is noted as taken.

    Of two readings after a gap that contradict each other, the first one is forgotten, with all that it has led to.
    """
    step, aside = (stamp - line[LAST]) * 1e-9, line[ASIDE]
    is_fresh = not 0.0 < step <= MAX_GAP
    compared = compare_reading(channels, scales, values, step, 0 if line[FRESH] else max(aside, 0), is_fresh)
    forgotten = 0
    if compared == JUMPS and line[FRESH]:
        if aside < CONFIRMED:
            if line[STOP] > line[START]:
                line[STOP] -= 1
            line[PAIRED], is_fresh, forgotten = NEVER, True, aside + 1
    elif compared != FITS and aside != TAKE_IT:
        line[FOUND] = IMPLAUSIBLE if compared == NO_WRENCH else STEP if compared == STEPS else OUTLIER
        if compared == JUMPS:
            line[ASIDE] += 1
            note_reading(channels, scales, values, False, False, False)
        return True
    note_reading(channels, scales, values, True, is_fresh, aside == TAKE_IT)
    line[ASIDE], line[FRESH] = forgotten, is_fresh
    return False


@compiled
def mark_reading(
    line: IntArray, states: FloatArray, channels: IntArray, scales: FloatArray, values: FloatArray, k: int, row: int
) -> None:
    """Write one sample of readings that may be missing or saturated."""
    count = channels.shape[1]
    is_missing = is_saturated = False
    for c in range(count):
        column = channels[COLUMN, c]
        value = values[k, column] * scales[FACTOR, c] if column >= 0 else np.nan
        is_bad = False
        if not abs(value) < scales[BELOW, c]:
            limit = scales[LIMIT, c]
            if not np.isfinite(value):
                is_bad = True
                if column >= 0:
                    is_missing = True
                    channels[MISSED, c] = 1
            elif abs(value) > LARGEST:
                is_bad = is_missing = True
                channels[MISSED, c] = 1
            elif abs(abs(value) - limit) <= AT_LIMIT * limit:
                is_bad = is_saturated = True
                channels[LIMITED, c] = 1
        if not is_bad:
            scales[HELD, c] = value
        states[row, c] = scales[HELD, c]
        states[row, count + c] = 1.0 if is_bad else 0.0
    line[MISSING] += is_missing
    line[SATURATED] += is_saturated


@compiled
def find_after(line: IntArray, time: float) -> int:
    """The first sample that is not before a time [s since the origin], or the last one."""
    low, high, origin = int(line[START]), int(line[STOP]) - 1, line[ORIGIN]
    if high > low and (line[STAMPS + high - 1] - origin) * 1e-9 < time:
        return high
    while low < high:
        middle = (low + high) // 2
        if (line[STAMPS + middle] - origin) * 1e-9 < time:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def interpolate(
    line: IntArray, states: FloatArray, targets: IntArray, samples: FloatArray, widths: FloatArray, joints: int
) -> None:
    """Interpolate at the increasing times in the first column of samples, none later than the newest.

    Linearly, and positions whose velocities are known by the cubic with these slopes at both ends (Hermite); where
    steps are long, their velocities by its derivative.

    Args:
        line: integers of the time line; samples that no later time needs are forgotten, once they are many.
        states: (M, C) of it.
        targets: (C,) the columns of the samples that the states belong to.
        samples: (N, W) is filled there.
        widths: (N,) is raised to the distance [s] between the two states used, inf where there is none before.
        joints: how many of the states are positions, which as many velocities follow; 0 if they are something else.
    """
    start, stop, origin = line[START], line[STOP], line[ORIGIN]
    after = find_after(line, samples[0, 0])
    for k in range(len(samples)):
        time = samples[k, 0]
        while after < stop - 1 and (line[STAMPS + after] - origin) * 1e-9 < time:
            after += 1
        before = max(after - 1, start)
        earlier = (line[STAMPS + before] - origin) * 1e-9
        width = (line[STAMPS + after] - origin) * 1e-9 - earlier if after > start else np.inf
        widths[k] = max(widths[k], width)
        fraction = (time - earlier) / width
        for c in range(len(targets)):
            samples[k, targets[c]] = states[before, c] + fraction * (states[after, c] - states[before, c])
        for c in range(joints if width < np.inf else 0):
            step = states[after, c] - states[before, c]
            bend, other = width * states[before, joints + c] - step, step - width * states[after, joints + c]
            rest = 1.0 - fraction
            samples[k, targets[c]] += fraction * rest * (bend * rest + other * fraction)
            if width > LONG_STEP:
                turned = bend * rest * (1.0 - 3.0 * fraction) + other * fraction * (2.0 - 3.0 * fraction)
                samples[k, targets[joints + c]] = (step + turned) / width
    if stop - start > 2 * KEPT:
        line[START] = max(start, after - KEPT)


class Timeline:
    """Samples of one publisher: memory for kernels, and what becomes of samples that cannot simply be appended.

    Attributes:
        integers: header and stamps, see START.
        states: (M, C).
    """

    def __init__(self, width: int, source: str, health: Health, origin: int = 0) -> None:
        """Start with no sample of so many states, C, of an input that is called so in health issues."""
        self.integers: IntArray = np.zeros(STAMPS + _CAPACITY, dtype=np.int64)
        self.states: FloatArray = np.empty((_CAPACITY, width))
        self.integers[[ACCEPTED, ORIGIN]] = NEVER, origin
        self._check = StampCheck(source, health)
        self.clear()

    def clear(self) -> None:
        """Forget all samples."""
        self.integers[[START, STOP, NEWEST]] = 0, 0, NEVER

    @property
    def newest(self) -> int:
        """Stamp up to which the time line can be read."""
        return self.integers.item(NEWEST)

    @property
    def stamps(self) -> IntArray:
        """Stamps (N,) of the samples kept."""
        return self.integers[STAMPS + self.integers.item(START) : STAMPS + self.integers.item(STOP)]

    def push(self, channels: IntArray, scales: FloatArray, stamps: IntArray, values: FloatArray) -> bool:
        """Take readings, see `take_readings`; returns whether time was reset."""
        position = take_readings(self.integers, self.states, channels, scales, stamps, values, 0)
        return position >= 0 and self.push_rest(position, channels, scales, stamps, values)

    def push_rest(
        self, position: int, channels: IntArray, scales: FloatArray, stamps: IntArray, values: FloatArray
    ) -> bool:
        """Take those from the position on at which `take_readings` has stopped; returns whether time was reset."""
        is_reset = False
        while position >= 0:
            verdict = self.decide(stamps, position)
            is_reset |= verdict is Verdict.RESET
            position += verdict is Verdict.LEAVE
            position = take_readings(self.integers, self.states, channels, scales, stamps, values, position)
        return is_reset

    def decide(self, stamps: IntArray, position: int) -> Verdict:
        """Decide about the sample at which a kernel has stopped; where time is reset, all before are forgotten."""
        if self.integers[FOUND] == FULL:
            self._make_room(len(stamps) - position)
            return Verdict.TAKE
        stamp = stamps.item(position)
        verdict = self._check.judge(stamp, self.integers.item(LAST))
        if verdict is Verdict.RESET:
            self.clear()
        if verdict is not Verdict.LEAVE:
            self.integers[ACCEPTED] = stamp
        return verdict

    def insert(self, stamp: int, values: FloatArray) -> None:
        """Append a sample (C,) that was set aside, after all others."""
        if self.integers.item(STOP) == len(self.states):
            self._make_room(1)
        row = self.integers.item(STOP)
        self.integers[[LAST, NEWEST, STAMPS + row, STOP]] = stamp, stamp, stamp, row + 1
        self.states[row] = values

    def _make_room(self, count: int) -> None:
        """Move what is kept to the front, into a larger piece of memory if need be."""
        start, stop = self.integers[[START, STOP]].tolist()
        kept = stop - start
        stamps, states = self.stamps.copy(), self.states[start:stop].copy()
        if kept + count > len(self.states) // 2:
            room = 2 * (kept + count)
            self.integers = np.concatenate((self.integers[:STAMPS], np.zeros(room, dtype=np.int64)))
            self.states = np.empty((room, self.states.shape[1]))
        self.integers[STAMPS : STAMPS + kept], self.states[:kept] = stamps, states
        self.integers[START], self.integers[STOP] = 0, kept
