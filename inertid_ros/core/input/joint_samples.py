"""One joint state beside the ones before it: unwrapped, and left out if it is an outlier; compiled.

A bad sample of a bus or a driver is off by any amount, once. It is left out if a velocity differs from the one before,
or a position from what the velocities (or the last slope) lead to, by far more than usual. What is usual follows from
the samples that were taken. A velocity that is the change of position over the step is no outlier: drivers of coarse
encoders publish that. From the third such sample in a row on they are taken all the same: then something has changed,
or the velocities are none of these positions, which is judged elsewhere.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.input.timeline import (
    ASIDE,
    FOUND,
    FRESH,
    IMPLAUSIBLE,
    NOT_FINITE,
    RAW,
    RAW_BEFORE,
    RAW_LATEST,
    START,
    STOP,
)
from inertid_ros.core.records import FloatArray, IntArray

ONE_TURN = 1.0
"""By how much [rad] a jump may miss a full turn, where an angle is wrapped: 5 rad/s at 10 Hz, and more at higher rates.
"""
FARTHEST = 1e4
"""Positions [rad or m] beyond this are none, whatever the URDF says: 1600 turns, and no arm is as long."""
FASTEST_JOINT = 1e3
"""Velocities [rad/s or m/s] beyond this are none, likewise: no joint turns as fast, not in degrees either."""
LEAP = 50.0
"""Velocity [rad/s or m/s] beyond which a joint did not move from one position to the next, but was set to it."""
LEAP_SIZE = 0.1
"""Change of position [rad or m] below which that is not said: stamps may be too close to each other."""
SUDDEN = 100.0
"""Acceleration [rad/s² or m/s²] that a joint may have without a second look: many times what arms are built for."""
STEADY = 0.25
"""Change of velocity [rad/s or m/s] between samples that says nothing: coarse tachometers step by as much."""
PLAY = 5e-3
"""Change of position [rad or m] between samples that says nothing: coarse encoders step by less."""
STANDS_OUT = 10.0
"""How many times the usual deviation an outlier is off: noise never is."""
SUPPORTED = 0.5
"""Part of a change of position by which the velocity that a driver makes of it may miss it: filters, uneven stamps."""
UNEVEN_STAMPS = 0.5
"""Part of a step by which its stamps may be wrong: drivers stamp on arrival."""
SCATTER_MEMORY = 20.0
"""Samples that usual deviations are averaged over: shortly after the start of a motion they are those of the motion."""
CONFIRMED = 2
"""Outliers in a row that are left out at most."""

POSITION, IS_ANGLE, PRODUCT, POWER, BEFORE, LATEST = range(6)
"""What is remembered of each joint: its last position without jumps, whether it may jump by 2 pi, the sums of
`joint_stream.judge_velocities`, the last two positions without a velocity;"""
VELOCITY, CHANGE, INTEGRAL, DIFFERENCE, SQUARES, SUCCESSIVE, SPEEDS, BENDS, CROSSING, FILTERED = range(6, 16)
"""the last measured velocity and its change, its integral in this chunk, and for `joint_stream.fuse` d, sums of d², of
products of successive d, of v² and of the squared second differences of v, w [rad/s] and F g."""
STAMPED, EVEN, REPORTED, REPORTED_SPEED = range(16, 20)
"""the last slopes on the stamps and on an even clock (`joint_clock`), and position and velocity as they came last;"""
TRAVEL, SCATTER, JERKS, REACH, SPEED = range(20, 25)
"""the change of position in this chunk, the usual deviations of positions and of velocities, and the sizes of both
beyond which there are none;"""
SLOPE, SLOPE_STEP, RISE, SLOPES = range(25, 29)
"""the last slope, the step [s] before it, the change of slopes over it, and how many there were after long steps
without a gap;"""
ROUGHNESS, ROUGH, STEPPED, QUANTUM = range(29, 33)
"""the sum of squared third differences of velocities that are not zero, how many there were, the last step away from a
position that was repeated, and the smallest one that came twice in a row, 0 before there was one (`smoothing`)."""
REMEMBERED = 33
"""How many numbers of each joint these are."""


@compiled
def find_number_fault(
    line: IntArray, joints: FloatArray, taken: IntArray, positions: FloatArray, velocities: FloatArray
) -> int:
    """How many velocities (C,) of the joints are missing; -1 if numbers are none, with the reason in FOUND."""
    n, missing, is_finite, is_plausible = len(taken), 0, True, True
    for c in range(n):
        position = positions[taken[c]]
        is_finite &= np.isfinite(position)
        is_plausible &= abs(position) <= joints[REACH, c]
        if len(velocities) > 0:
            velocity = velocities[taken[c]]
            is_missing = np.isnan(velocity)
            missing += is_missing
            is_finite &= not np.isinf(velocity)
            is_plausible &= is_missing or abs(velocity) <= joints[SPEED, c]
    if is_finite and is_plausible and missing in (0, n):
        return missing
    line[FOUND] = IMPLAUSIBLE if is_finite and not is_plausible else NOT_FINITE
    return -1


@compiled
def unwrap(position: float, last: float, is_angle: float) -> float:
    """A position without a jump by about a full turn, or by exactly several, from the last one, which may be NaN.

    Other jumps, as between poses that were recorded in degrees, stay: the convention check needs them as they are.
    """
    step = position - last
    if is_angle == 0.0 or not abs(step) >= np.pi:
        return position
    turns = np.floor(step / (2.0 * np.pi) + 0.5)
    is_wrapped = abs(step - 2.0 * np.pi * turns) < ONE_TURN / turns**2
    return float(position - 2.0 * np.pi * turns) if is_wrapped else position


@compiled
def find_slope_share(line: IntArray, step: float) -> float:
    """A step [s] over the time between the last two positions without a velocity; 0 where there are not two."""
    return float(step / (1e-9 * (line[RAW_LATEST] - line[RAW_BEFORE]))) if line[RAW] == 2 else 0.0


@compiled
def is_outlier(
    line: IntArray, joints: FloatArray, taken: IntArray, positions: FloatArray, velocities: FloatArray, step: float
) -> bool:
    """Whether a sample, a step [s] after the last one, does not follow from it.

    Args:
        line: integers of the time line.
        joints: (33, n) see POSITION.
        taken: (n,) the columns of the message.
        positions: (C,) of the message.
        velocities: (C,), or (0,) where they are not used.
        step: see above.
    """
    is_measured, share = len(velocities) > 0 and line[RAW] == 0, find_slope_share(line, step)
    most, farthest = SUDDEN * step + STEADY, SUDDEN * step**2 + PLAY
    if not is_measured and line[RAW] < 2:
        farthest += LEAP * step
    for c in range(len(taken)):
        last, expected = joints[POSITION, c], share * (joints[LATEST, c] - joints[BEFORE, c])
        change = unwrap(positions[taken[c]], last, joints[IS_ANGLE, c]) - last
        if is_measured:
            velocity, before = velocities[taken[c]], joints[VELOCITY, c]
            farthest_off = STANDS_OUT * joints[JERKS, c] + most
            if abs(velocity - before) > farthest_off and abs(velocity * step - change) > SUPPORTED * abs(change):
                return True
            expected = 0.5 * step * (before + velocity)
        allowed = STANDS_OUT * joints[SCATTER, c] + farthest
        if abs(change - expected) > allowed + UNEVEN_STAMPS * min(abs(change), abs(expected)):
            return True
    return False


@compiled
def leave_out(
    line: IntArray, joints: FloatArray, taken: IntArray, positions: FloatArray, velocities: FloatArray, step: float
) -> bool:
    """Whether a sample, a step [s] after the last one (inf: none), is to be left out as an outlier, see `is_outlier`.

    Of two samples after a gap that contradict each other, the first one is forgotten. Where joints have been set to
    other positions, all samples before are: nothing is known of the motion in between.
    """
    was_fresh, line[FRESH] = line[FRESH], not step < np.inf or np.isnan(joints[POSITION, 0])
    if line[FRESH] or not is_outlier(line, joints, taken, positions, velocities, step):
        line[ASIDE] = 0
        return False
    if line[ASIDE] < CONFIRMED:
        line[ASIDE] += 1
        if not was_fresh:
            return True
        if line[RAW] == 0 and line[STOP] > line[START]:
            line[STOP] -= 1
        begin_anew(line, joints)
        return False
    for c in range(len(taken)):
        change = abs(unwrap(positions[taken[c]], joints[POSITION, c], joints[IS_ANGLE, c]) - joints[POSITION, c])
        if change > max(LEAP_SIZE, LEAP * step):
            line[START] = line[STOP]
            begin_anew(line, joints)
            break
    return False


@compiled
def begin_anew(line: IntArray, joints: FloatArray) -> None:
    """Take this sample as one with none before it."""
    line[RAW], line[FRESH] = 0, 1
    for c in range(joints.shape[1]):
        joints[POSITION, c] = np.nan


@compiled
def note_sample(
    line: IntArray, joints: FloatArray, taken: IntArray, positions: FloatArray, velocities: FloatArray, step: float
) -> None:
    """Note a sample that is taken, a step [s] after the last one unless it is FRESH; see `is_outlier` for arguments.

    Velocities are compared with the positions whether or not they are used.
    """
    has_velocities, share = len(velocities) > 0, find_slope_share(line, step)
    is_fresh, is_measured = line[FRESH] != 0, has_velocities and line[RAW] == 0
    weight = 1.0 / SCATTER_MEMORY if line[ASIDE] == 0 else 1.0
    for c in range(len(taken)):
        last = joints[POSITION, c]
        position = unwrap(positions[taken[c]], last, joints[IS_ANGLE, c])
        joints[POSITION, c] = position
        if is_fresh:
            continue
        change, expected = position - last, share * (joints[LATEST, c] - joints[BEFORE, c])
        if has_velocities:
            velocity, before = velocities[taken[c]], joints[VELOCITY, c]
            joints[JERKS, c] += weight * (abs(velocity - before) - joints[JERKS, c])
            integral = 0.5 * step * (before + velocity)
            joints[INTEGRAL, c] += integral
            joints[TRAVEL, c] += change
            if is_measured:
                expected = integral
        joints[SCATTER, c] += weight * (abs(change - expected) - joints[SCATTER, c])
