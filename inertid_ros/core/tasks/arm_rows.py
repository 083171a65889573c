"""What becomes of a row of an arm, in one kernel: it is recorded, its work added up, and it is folded in; compiled.

Every step is a kernel of its own elsewhere. Calling them one by one from Python would take longer than what they do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import allocating, brief, compiled, copy_numbers
from inertid_ros.core.estimation.channels import Fitted, find_spread, fold_channels
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rows.energy import Work, add_work
from inertid_ros.core.rows.making import fill_nuisances, record_row
from inertid_ros.core.rows.memory import CHANNELS, JOINTS, ROW, ROW_USABLE, UNKNOWNS
from inertid_ros.core.rows.rounding import note_rounding
from inertid_ros.core.rows.tilt import Tilted, take_tilt

RECORD, ADD_WORK, FILL, FOLD = 1, 2, 4, 8
"""Steps: record the row, add the work of its sample up, fill in the columns of nuisances, and fold it in."""
WINDOW_OVER, BLOCK_OVER = 1, 2
"""What is left to be done then: a window of the work has ended, or a block of innovations."""
MEASURED, PREDICTED, USABLE, DEVIATION, SPREAD, SENSE = RECORDED = range(6)
"""What is recorded of a row: readings and predictions, which of them are usable, standard deviations of what is
predicted, the variances of what the estimator itself predicts that come of its unknowns, and the sense of gears."""


class Predicted(NamedTuple):
    """What predictions are made with.

    Attributes:
        values: (U,).
        root: (U, F) of their covariance; (U, 0) where they are the estimator's own.
        left: (K,) variances of what they leave of the rows of each channel.
    """

    values: FloatArray
    root: FloatArray
    left: FloatArray


@allocating(compiled)
def record_deviations(row: FloatArray, predicted: Predicted, fitted: Fitted, record: FloatArray) -> None:
    """Record how uncertain predictions of a row [A, ...] (K, > U) are, see RECORDED."""
    find_spread(row, fitted.inverse, True, record[SPREAD])
    if predicted.root.shape[1] > 0:
        find_spread(row, predicted.root, False, record[DEVIATION])
    else:
        copy_numbers(record[SPREAD], record[DEVIATION])
    for k in range(len(row)):
        record[DEVIATION, k] = np.sqrt(record[DEVIATION, k] + predicted.left[k])


@allocating(brief)
def use_row(
    m: FloatArray,
    of: IntArray,
    samples: FloatArray,
    drives: IntArray,
    predicted: Predicted,
    fitted: Fitted,
    work: Work,
    tilted: Tilted,
    gears: IntArray,
    links: int,
    first_late: int,
    rounding: FloatArray,
    record: FloatArray,
    steps: int,
) -> int:
    """Take some steps with the newest row.

    Args:
        m: floats of the rows, see `make_memory`.
        of: their integers.
        samples: (1, 1 + 2 n + 3 K) the sample that the row belongs to.
        drives: see `record_row`.
        predicted: what predictions are made with.
        fitted: what the estimator knows.
        work: of the efforts so far.
        tilted: what a tilt of the base adds to efforts.
        gears: see `fill_nuisances`.
        links: how many of the unknowns, the first ones, are those of links.
        first_late: the first channel that may be late.
        rounding: in what steps readings come, see `note_rounding`.
        record: (6, K) what is recorded of the row, see RECORDED.
        steps: which.

    Returns:
        What is left to be done.
    """
    channels, width, rest = of[CHANNELS], of[UNKNOWNS] + 1, 0
    row = m[of[ROW] : of[ROW] + channels * width].reshape(channels, width)
    if steps & RECORD:
        is_bad = record_row(m, of, predicted.values, drives, record)
        record_deviations(row, predicted, fitted, record)
        record[SENSE, :] = 0.0
        if steps & ADD_WORK:
            if is_bad:
                work.state[0] = 0.0
            elif add_work(samples, 0, work.state, work.window, work.coulomb_velocity) == 0:
                rest |= WINDOW_OVER
    if steps & FILL:
        if len(tilted.clock) > 0:
            take_tilt(tilted, samples[0])
        fill_nuisances(m, of, first_late, tilted.state[2], predicted.values[:links], gears, record[SENSE])
    if steps & FOLD:
        first = 1 + 2 * of[JOINTS]
        readings, bad = samples[0, first : first + channels], samples[0, first + channels : first + 2 * channels]
        note_rounding(rounding, readings, bad, samples[0, 1 + of[JOINTS] : first])
        usable = m[of[ROW_USABLE] : of[ROW_USABLE] + channels]
        if fold_channels(fitted, row, usable, record[SPREAD], record[SENSE]):
            rest |= BLOCK_OVER
    return rest
