"""Samples of one publisher on a time line, read at any time in between; compiled."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.records import FloatArray, IntArray

FOLLOWS, AFTER_GAP, IN_GAP, NOT_FINITE = 0, 1, 2, 3
"""How a sample follows the one before."""


@compiled
def find_after(times: FloatArray, start: int, stop: int, time: float) -> int:
    """The first of the samples from `start` to `stop` that is not before a time, or the last one."""
    low, high = start, stop - 1
    if high > start and times[high - 1] < time:
        return high
    while low < high:
        middle = (low + high) // 2
        if times[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def interpolate(
    times: FloatArray,
    states: FloatArray,
    start: int,
    stop: int,
    targets: IntArray,
    samples: FloatArray,
    widths: FloatArray,
) -> None:
    """Interpolate linearly at the increasing times in the first column of samples, none later than the newest.

    Args:
        times: (M,) of which those from `start` to `stop` are those of states.
        states: (M, C) at these times.
        start: the first state.
        stop: the one after the last.
        targets: (C,) the columns of the samples that the states belong to.
        samples: (N, W) is filled there.
        widths: (N,) is raised to the distance [s] between the two states used, inf where there is none before.
    """
    after = find_after(times, start, stop, samples[0, 0])
    for k in range(len(samples)):
        time = samples[k, 0]
        while after < stop - 1 and times[after] < time:
            after += 1
        before = max(after - 1, start)
        earlier = times[before]
        width = times[after] - earlier if after > start else np.inf
        widths[k] = max(widths[k], width)
        fraction = (time - earlier) / width
        for c in range(len(targets)):
            low = states[before, c]
            samples[k, targets[c]] = low + fraction * (states[after, c] - low)


@compiled
def lay_down(stamps: IntArray, offset: int, readings: FloatArray, first: int, samples: FloatArray) -> None:
    """Write times [s] since an offset [ns] into the first column, and readings, then zeros, from `first` on."""
    count = readings.shape[1]
    for k in range(len(stamps)):
        samples[k, 0] = (stamps[k] - offset) * 1e-9
        for c in range(samples.shape[1] - first):
            samples[k, first + c] = readings[k, c] if c < count else 0.0


@compiled
def find_cuts(samples: FloatArray, first: int, widths: FloatArray, last: float, longest: float, cuts: IntArray) -> int:
    """Find how each sample follows the one before.

    Args:
        samples: (N, W) times, and readings from the column `first` on.
        first: see there.
        widths: (N,) distances of the joint states around them.
        last: time of the sample before, -inf if there is none.
        longest: pause [s] that is bridged.
        cuts: (N,) the result.

    Returns:
        How many do not simply follow.
    """
    count = 0
    for k in range(len(samples)):
        time = samples[k, 0]
        cuts[k] = FOLLOWS
        for c in range(first, samples.shape[1]):
            if not np.isfinite(samples[k, c]):
                cuts[k] = NOT_FINITE
        if cuts[k] == NOT_FINITE:
            count += 1
            continue
        if not widths[k] <= longest:
            cuts[k] = IN_GAP
        elif time - last > longest:
            cuts[k] = AFTER_GAP
        if cuts[k] != FOLLOWS:
            count += 1
        last = -np.inf if cuts[k] == IN_GAP else time
    return count


@compiled
def synchronise(
    times: FloatArray,
    states: FloatArray,
    start: int,
    stop: int,
    targets: IntArray,
    stamps: IntArray,
    offset: int,
    readings: FloatArray,
    first: int,
    samples: FloatArray,
    widths: FloatArray,
    last: float,
    longest: float,
    cuts: IntArray,
) -> int:
    """`lay_down`, `interpolate` for the last publisher, and `find_cuts`, in one call; see there."""
    lay_down(stamps, offset, readings, first, samples)
    interpolate(times, states, start, stop, targets, samples, widths)
    return find_cuts(samples, first, widths, last, longest, cuts)


@compiled
def append_next(
    times: FloatArray,
    states: FloatArray,
    stop: int,
    last: FloatArray,
    time: float,
    positions: FloatArray,
    velocities: FloatArray,
) -> bool:
    """Write a single sample (1, n), (1, n) at `stop` if it continues the last position; returns whether it does.

    It does if everything is finite and no joint has moved by half a turn.
    """
    n = len(last)
    distance = 0.0
    for joint in range(n):
        step = positions[0, joint] - last[joint]
        distance += step * step
        if not np.isfinite(velocities[0, joint]):
            return False
    if not distance < np.pi**2:
        return False
    times[stop] = time
    for joint in range(n):
        last[joint] = positions[0, joint]
        states[stop, joint] = positions[0, joint]
        states[stop, n + joint] = velocities[0, joint]
    return True


@compiled
def compare_velocities(
    times: FloatArray,
    states: FloatArray,
    start: int,
    stop: int,
    smallest: float,
    product: FloatArray,
    power: FloatArray,
) -> None:
    """Add up (n,) the product of each joint's change of position with the integral of its velocity, and its square.

    Changes below the smallest say nothing.
    """
    n = len(product)
    for joint in range(n):
        change = states[stop - 1, joint] - states[start, joint]
        if abs(change) < smallest:
            continue
        integral = 0.0
        for k in range(start + 1, stop):
            integral += 0.5 * (times[k] - times[k - 1]) * (states[k, n + joint] + states[k - 1, n + joint])
        product[joint] += change * integral
        power[joint] += change * change
