"""Samples of one publisher on a time line, read at any time in between; compiled."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.records import FloatArray, IntArray


@compiled
def interpolate(
    times: FloatArray,
    states: FloatArray,
    start: int,
    stop: int,
    queries: FloatArray,
    targets: IntArray,
    result: FloatArray,
    widths: FloatArray,
) -> None:
    """Interpolate linearly at increasing times, none later than the newest sample.

    Args:
        times: (M,) of which those from `start` to `stop` are samples.
        states: (M, C) at these times.
        start: the first sample.
        stop: the one after the last.
        queries: (N,) the times.
        targets: (C,) the columns of the result that the states belong to.
        result: (N, W) is filled there.
        widths: (N,) is raised to the distance [s] between the two samples used, inf where there is none before.
    """
    after = start
    for k in range(len(queries)):
        time = queries[k]
        if k == 0:
            low, high = start, stop - 1
            if high > start and times[high - 1] < time:
                low = high
            while low < high:
                middle = (low + high) // 2
                if times[middle] < time:
                    low = middle + 1
                else:
                    high = middle
            after = low
        while after < stop - 1 and times[after] < time:
            after += 1
        if after == start:
            widths[k] = np.inf
            for c in range(len(targets)):
                result[k, targets[c]] = states[after, c]
            continue
        earlier = times[after - 1]
        width = times[after] - earlier
        widths[k] = max(widths[k], width)
        fraction = (time - earlier) / width
        for c in range(len(targets)):
            low_state = states[after - 1, c]
            result[k, targets[c]] = low_state + fraction * (states[after, c] - low_state)


@compiled
def append_next(
    times: FloatArray,
    states: FloatArray,
    stop: int,
    last: FloatArray,
    time: float,
    position: FloatArray,
    velocity: FloatArray,
) -> bool:
    """Write a single sample (n,), (n,) at `stop` if it continues the last position; returns whether it does.

    It does if everything is finite and no joint has moved by half a turn.
    """
    n = len(last)
    distance = 0.0
    for joint in range(n):
        step = position[joint] - last[joint]
        distance += step * step
        if not np.isfinite(velocity[joint]):
            return False
    if not distance < np.pi**2:
        return False
    times[stop] = time
    for joint in range(n):
        last[joint] = position[joint]
        states[stop, joint] = position[joint]
        states[stop, n + joint] = velocity[joint]
    return True


@compiled
def find_cuts(queries: FloatArray, widths: FloatArray, last: float, longest: float, cuts: IntArray) -> int:
    """Mark each of (N,) samples: 0 if it follows the one before, 1 if after a gap, 2 if it lies in a gap itself.

    Args:
        queries: (N,) times of the samples.
        widths: (N,) distances of the joint states around them.
        last: time of the sample before, -inf if there is none.
        longest: pause [s] that is bridged.
        cuts: (N,) the marks.

    Returns:
        How many marks are not zero.
    """
    count = 0
    for k in range(len(queries)):
        if not widths[k] <= longest:
            cuts[k] = 2
            last = -np.inf
        elif queries[k] - last > longest:
            cuts[k] = 1
            last = queries[k]
        else:
            cuts[k] = 0
            last = queries[k]
            continue
        count += 1
    return count
