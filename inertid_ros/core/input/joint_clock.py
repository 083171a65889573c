"""When joint states were measured: by their stamps, or by the even clock of a controller whose stamps jitter; compiled.

Many a driver stamps on arrival: a controller samples evenly, and stamps are late by what buffers and schedulers take.
On such stamps positions look rough, and velocities and accelerations that follow from them more so. An even clock is
kept beside the stamps, a phase-locked loop of second order: with a_k the stamps, P the tick and e_k = a_k - s_k how
late a stamp is against the clock's time s_k,

    e = e_(k-1) + (a_k - a_(k-1)) - n P,    e_k = e - g e,    P <- P + g² / 4 e,

where e counts no further than a few times its usual size, and n is more than 1 where samples were lost: the positions
tell that, for then they have moved on by as much more. The clock is believed where slopes of the positions on it
change by far less than on the stamps; a sensor that samples when its stamps say looks rough on an even clock.

Others publish faster than they measure, and repeat themselves in between. A joint state that is the same as the one
before, in all joints, where most changes come after such repeats, is left out, but for longer runs: the arm stands.
Coarse encoders of joints that move slowly repeat themselves, too: changes by one of their steps count against it.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.input.joint_samples import (
    EVEN,
    IS_ANGLE,
    POSITION,
    QUANTUM,
    REPORTED,
    REPORTED_SPEED,
    STAMPED,
    unwrap,
)
from inertid_ros.core.input.smoothing import SAME
from inertid_ros.core.input.timeline import MAX_GAP
from inertid_ros.core.records import FloatArray, IntArray

TICK, TICKS, LATE, SCATTER, STEP_SCATTER = range(5)
"""Of the clock: its mean step [s] and from how many it is known, by how much [s] the last stamp was late, by how much
they usually are, and by how much steps between them usually differ from ticks;"""
STAMPED_ROUGH, EVEN_ROUGH, LAST_ROUGH, COMPARED, IS_EVEN, SHIFT = range(5, 11)
"""sums of squared changes of slopes on the stamps and on the clock, the last one on the clock, how many there were,
whether it is believed, and by how much [s] the last stamp is too late."""
RUN, CHANGES, AFTER_REPEATS, LONGEST, LEFT_OUT = range(11, 16)
"""Of repeats: how many there are since the last change, how many changes there were, how many of them after repeats,
the longest run of repeats between changes, and how many were left out that nobody was told of."""
CLOCK_NUMBERS = 16
"""How many numbers these are."""

KNOWN = 100
"""Steps from which the mean one is known, to a few per cent: few enough for the first second."""
GAIN, FIRST_GAIN = 0.01, 4.0
"""Part of a stamp's deviation that the clock follows at once, and its product with the number of steps at first: the
tick is known from as many, and steps of the clock are a hundredth as noisy as stamps are in the end."""
WIDE = 3.0
"""Times its usual size that a deviation counts at most: a stamp that waited in a buffer says nothing of the clock."""
EARLY = 0.25
"""Ticks, beyond the usual deviation, by which no stamp is early."""
ASTRAY = 2.5
"""How many times the usual deviation of steps that of stamps is where the clock has lost them, as after samples that
were lost unnoticed: it is set anew then. Independent jitter gives 0.7, whatever its distribution."""
BETTER, TELLING = 0.5, 3.0
"""Part of the squared deviations from the last slopes that must be left to believe that samples were lost, and how many
times the changes of slopes these must be to tell: joints that hardly move, or that just set out, tell nothing."""
CERTAIN = 0.1
"""Part of a tick by which steps may usually deviate for stamps alone to tell how many ticks have passed."""
LEAST_STEP = 0.1
"""Part of a tick, or of the distance of their stamps, that two samples are apart at least."""
SLEW = 0.05
"""Part of the difference between two clocks that a sample makes up for where the other one is believed from then on:
positions stay smooth."""
SMOOTHER, NO_SMOOTHER = 0.5, 0.8
"""Part of the squared changes of slopes on the stamps below which those on the clock must be for it to be believed, and
stay for that: jitter that matters multiplies the former, and where it does not, acceleration makes both alike."""
ENOUGH = 10
"""Changes of slopes from which that is known: an arm that stands tells nothing."""
MEMORY = 2000.0
"""Samples over which these are summed up: enough to know them to a few per cent; noise changes with the motion."""
SCATTER_MEMORY = 100.0
"""Samples over which the usual deviation is averaged."""
MOST_REPEATS = 10
"""Repeats in a row above which the arm stands: drivers publish up to ten times as often as they measure."""
FEWEST_CHANGES, MOSTLY = 8, 0.8
"""Changes from which it is known whether joint states repeat, and the part of them that comes after repeats then."""
REMEMBERED_CHANGES = 100
"""Changes after which these counts are halved: another driver may have been started."""


@compiled
def is_repeat(
    clock: FloatArray,
    joints: FloatArray,
    taken: IntArray,
    positions: FloatArray,
    velocities: FloatArray,
    step: float,
) -> bool:
    """Whether a joint state, a step [s] after the last one taken (inf: none), only repeats the one before.

    Args:
        clock: (16,) see TICK.
        joints: (33, n) see `joint_samples.POSITION`.
        taken: (n,) the columns of the message.
        positions: (C,) of the message.
        velocities: (C,), or (0,) where there are none.
        step: see above.
    """
    has_velocities, is_same, is_step = len(velocities) > 0, True, True
    for c in range(len(taken)):
        position, velocity = positions[taken[c]], velocities[taken[c]] if has_velocities else 0.0
        change = abs(position - joints[REPORTED, c])
        is_same &= position == joints[REPORTED, c] and velocity == joints[REPORTED_SPEED, c]
        is_step &= abs(change - joints[QUANTUM, c]) <= SAME * change or change == 0.0
        joints[REPORTED, c], joints[REPORTED_SPEED, c] = position, velocity
    if is_same:
        clock[RUN] += 1.0
        is_known = clock[CHANGES] >= FEWEST_CHANGES and clock[AFTER_REPEATS] >= MOSTLY * clock[CHANGES]
        is_left_out = is_known and clock[RUN] <= clock[LONGEST] and 2.0 * step < MAX_GAP
        clock[LEFT_OUT] += is_left_out
        return bool(is_left_out)
    run, clock[RUN] = clock[RUN], 0.0
    if run <= MOST_REPEATS:
        clock[CHANGES] += 1.0
        if not is_step:
            clock[AFTER_REPEATS] += run > 0.0
            clock[LONGEST] = max(clock[LONGEST], run)
        if clock[CHANGES] >= REMEMBERED_CHANGES:
            clock[CHANGES] *= 0.5
            clock[AFTER_REPEATS] *= 0.5
    return False


@compiled
def find_step(
    clock: FloatArray, joints: FloatArray, taken: IntArray, positions: FloatArray, distance: float
) -> tuple[float, float, float]:
    """Time [s] since the last joint state that is to be believed, where the stamps say `distance`; changes nothing.

    See `is_repeat` for the other arguments. Infinite after a gap, or where time was reset. With it come the time that
    the even clock says, and by how much [s] the stamp is late against that, before it is corrected.
    """
    if not 0.0 < distance <= MAX_GAP:
        return np.inf, np.inf, 0.0
    even, late, tick = distance, 0.0, clock[TICK]
    if clock[TICKS] >= KNOWN:
        ticks = count_ticks(clock, joints, taken, positions, clock[LATE] + distance - tick)
        late = clock[LATE] + distance - ticks * tick
        even = max(ticks * tick + find_gain(clock) * limit(late, WIDE * clock[SCATTER]), LEAST_STEP * tick)
    believed, shift = (even, clock[LATE]) if clock[IS_EVEN] else (distance, 0.0)
    return max(believed + SLEW * (clock[SHIFT] - shift), LEAST_STEP * believed), even, late


@compiled
def limit(value: float, largest: float) -> float:
    """A value that exceeds no limit, on either side."""
    return min(max(value, -largest), largest)


@compiled
def find_gain(clock: FloatArray) -> float:
    """Part of a deviation that the clock follows at once."""
    return float(max(GAIN, FIRST_GAIN / clock[TICKS]))


@compiled
def keep_time(
    clock: FloatArray,
    joints: FloatArray,
    taken: IntArray,
    positions: FloatArray,
    distance: float,
    found: tuple[float, float, float],
) -> None:
    """Advance the clock to a joint state that is taken; by how much its stamp is to be moved is in SHIFT then.

    See `find_step` for the arguments, and for what it has `found`; positions of the joint state before must be there
    still.
    """
    tick, steps = clock[TICK], clock[TICKS]
    step, even, late = found
    if not step < np.inf:
        clock[LATE] = clock[SHIFT] = 0.0
        return
    clock[TICKS] = steps + 1.0
    clock[SHIFT] += distance - step
    if steps < KNOWN:
        ticks = np.round(distance / tick) if 0.0 < clock[STEP_SCATTER] < CERTAIN * tick else 1.0
        deviation = distance / max(ticks, 1.0) - tick
        clock[TICK] = tick + deviation / (steps + 1.0)
        clock[STEP_SCATTER] += (abs(deviation) - clock[STEP_SCATTER]) / (steps + 1.0)
        clock[SCATTER] = clock[STEP_SCATTER]
        return
    compare_slopes(clock, joints, taken, positions, distance, even)
    deviation, gain = limit(late, WIDE * clock[SCATTER]), find_gain(clock)
    clock[SCATTER] += (abs(late) - clock[SCATTER]) / SCATTER_MEMORY
    clock[STEP_SCATTER] += (abs(late - clock[LATE]) - clock[STEP_SCATTER]) / SCATTER_MEMORY
    clock[LATE] = late - gain * deviation
    clock[TICK] = tick + 0.25 * gain**2 * deviation
    if clock[SCATTER] > ASTRAY * clock[STEP_SCATTER]:
        clock[LATE], clock[TICKS], clock[SCATTER] = 0.0, KNOWN, clock[STEP_SCATTER]


@compiled
def count_ticks(clock: FloatArray, joints: FloatArray, taken: IntArray, positions: FloatArray, late: float) -> float:
    """How many ticks have passed since the last joint state, where its successor would be late by so much [s].

    Where stamps are certain enough, they tell; the clock may have been ahead. Elsewhere joints that move do: they have
    moved on by as many at the last slopes.
    """
    tick, along, steep, one = clock[TICK], 0.0, 0.0, 0.0
    if clock[STEP_SCATTER] < CERTAIN * tick:
        return 1.0 + float(np.round(late / tick))
    for c in range(len(taken)):
        last, expected = joints[POSITION, c], joints[EVEN, c] * tick
        change = unwrap(positions[taken[c]], last, joints[IS_ANGLE, c]) - last
        along += change * expected
        steep += expected * expected
        one += (change - expected) ** 2
    if not steep > (TELLING * tick) ** 2 * clock[LAST_ROUGH]:
        return 1.0
    ticks = float(np.round(along / steep))
    many = one - 2.0 * (ticks - 1.0) * (along - steep) + (ticks - 1.0) ** 2 * steep
    is_early = late - (ticks - 1.0) * tick < -EARLY * tick - clock[SCATTER]
    return 1.0 if ticks < 2.0 or is_early or many >= BETTER * one else ticks


@compiled
def compare_slopes(
    clock: FloatArray, joints: FloatArray, taken: IntArray, positions: FloatArray, distance: float, even: float
) -> None:
    """Find on which clock the positions are smoother: on stamps a distance [s] apart, or on the even one."""
    stamped_rough = even_rough = 0.0
    for c in range(len(taken)):
        last = joints[POSITION, c]
        change = unwrap(positions[taken[c]], last, joints[IS_ANGLE, c]) - last
        stamped_rough += (change / distance - joints[STAMPED, c]) ** 2
        even_rough += (change / even - joints[EVEN, c]) ** 2
        joints[STAMPED, c], joints[EVEN, c] = change / distance, change / even
    if not np.isfinite(stamped_rough + even_rough):
        return
    clock[LAST_ROUGH] = max(even_rough, 0.5 * clock[LAST_ROUGH])
    clock[STAMPED_ROUGH] += stamped_rough - clock[STAMPED_ROUGH] / MEMORY
    clock[EVEN_ROUGH] += even_rough - clock[EVEN_ROUGH] / MEMORY
    most = NO_SMOOTHER if clock[IS_EVEN] else SMOOTHER
    clock[COMPARED] += stamped_rough > 0.0
    clock[IS_EVEN] = clock[COMPARED] >= ENOUGH and clock[EVEN_ROUGH] < most * clock[STAMPED_ROUGH]
