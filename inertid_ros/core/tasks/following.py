"""Rows of a load that is tracked, one after the other, as long as there is nothing to decide; compiled.

What `WristLoadTask.take_row` does with a row that fits is done here without a way back to Python between two of them:
all other rows are left to it.
"""

from __future__ import annotations

from typing import NamedTuple

from inertid_ros.core.checks.sensor_faults import GOOD, watch_reading
from inertid_ros.core.checks.wrench_convention import count_row
from inertid_ros.core.compiled import brief
from inertid_ros.core.equations.load import LOAD
from inertid_ros.core.equations.signals import FLOATS_END, INTEGERS_END
from inertid_ros.core.estimation.products import Added, add_row, lay_down_products
from inertid_ros.core.estimation.tracking import (
    SINCE_WANDER,
    WANDER_EVERY,
    Tracked,
    advance_clock,
    find_interval,
    track_row,
)
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rows.advance import advance, weigh_entries
from inertid_ros.core.rows.energy import fit_row
from inertid_ros.core.rows.memory import JOINTS
from inertid_ros.core.rows.rows import Row

ALL_DONE, UNTOUCHED, FAULTY, MISFIT, PIECE_OVER = range(5)
"""Why rows are no longer followed: there are no more; one must be taken whole; its sensor is faulty, it does not fit,
or it was the last one of a piece, and the rest of it is to be done."""
STOPPED, FAULT, ROWS = range(3)
"""Where in the progress these are: why it has stopped, see ALL_DONE, the fault, see `sensor_faults.GOOD`, and how many
rows were folded in."""


class Checked(NamedTuple):
    """What the checks of rows remember.

    Attributes:
        watched: of the sensor, see `watch_reading`, as for the next two.
        gravity: (3,) in the sensor.
        found: (6,) channels that are faulty.
        history: of the poses, see `count_row`, as for the next two.
        poses: that are kept.
        counts: how many.
        fit: (4, 6) sums of squares, see `fit_row`.
    """

    watched: FloatArray
    gravity: FloatArray
    found: FloatArray
    history: FloatArray
    poses: FloatArray
    counts: IntArray
    fit: FloatArray


@brief
def follow_rows(
    x: FloatArray,
    at: IntArray,
    stamps: IntArray,
    samples: FloatArray,
    position: int,
    row: Row,
    density: FloatArray,
    lag: float,
    checked: Checked,
    known: Tracked,
    added: Added,
    z: FloatArray,
    before: FloatArray,
    since: int,
    until: int,
    progress: IntArray,
) -> int:
    """Fold rows of a segment in until there is something to decide.

    Args:
        x: see `advance`, as for the next three.
        at: integers.
        stamps: of the samples.
        samples: of the segment.
        position: the sample whose row is laid down.
        row: where it is.
        density: (6,) of the sensor's noise, variance per hertz.
        lag: by which rows are late, see `count_row`.
        checked: what checks remember.
        known: what is known of the load.
        added: sums of products.
        z: (P,) those of a row, see `lay_down_products`, as for the next one.
        before: (26,) what is kept of the rows before.
        since: stamp from which, and
        until: before which rows may be followed.
        progress: (3,) the result, see STOPPED.

    Returns:
        The sample at whose row it has stopped; N if all are done.
    """
    m, of = x[at[FLOATS_END] :], at[at[INTEGERS_END] :]
    first, total = 1 + 2 * of[JOINTS], len(stamps)
    signals, load = row.signals, known.values[:LOAD]
    progress[STOPPED], progress[FAULT], progress[ROWS] = ALL_DONE, GOOD, 0
    while position < total:
        time = samples[position, 0]
        must_wander = known.clock[SINCE_WANDER] + find_interval(known.clock, time) >= WANDER_EVERY
        if must_wander or not since <= stamps[position] < until:
            progress[STOPPED] = UNTOUCHED
            return position
        reading = samples[position, first : first + 6]
        fault = watch_reading(checked.watched, reading, checked.gravity, load, checked.found)
        if fault != GOOD:
            progress[STOPPED], progress[FAULT] = FAULTY, fault
            return position
        if signals[12] > 0.0:
            count_row(signals, row.readings, samples[position], lag, checked.history, checked.poses, checked.counts)
            interval = advance_clock(known.clock, time)
            fits = track_row(known, row, density, interval, True).fits
            lay_down_products(signals, before, interval, z)
            if not fits:
                progress[STOPPED] = MISFIT
                return position
            progress[ROWS] += 1
            if add_row(added, z, row.readings, known.variance, known.noise, interval):
                progress[STOPPED] = PIECE_OVER
                return position
            fit_row(row.equations, known.values, LOAD, row.usable, checked.fit)
            weigh_entries(m, of, known.values)
        position = advance(x, at, stamps, samples, position)
    return position
