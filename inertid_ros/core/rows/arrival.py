"""One message as it arrives, from its numbers to the answer, in one compiled call.

It does what `Chain.push`, `process` and `answer` do one after the other, for the message that asks for no decision: one
publisher gives all joints, stamps follow, readings are no outliers, nothing is cut, and no row is due. It stops where
that ends, says where, and everything else is decided there, in Python.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import allocating, brief, compiled
from inertid_ros.core.input.arrivals import (
    ANSWERED,
    ANSWERS,
    AT_CUTS,
    AT_PAIRING,
    AT_READINGS,
    AT_ROW,
    AT_STATES,
    CAPACITY,
    COUNTED,
    DONE,
    END,
    FIRST_COUNTED,
    NEWEST_USED,
    NOT_FINITE,
    POSITION,
    PROCESSED,
    READINGS,
    ROW,
    STATES,
    TOLD,
    UNANSWERED,
    USED,
    Arrived,
    Message,
    Motion,
    Waiting,
)
from inertid_ros.core.input.joint_clock import LEFT_OUT
from inertid_ros.core.input.joint_stream import take_states
from inertid_ros.core.input.segments import FIRST, GO_ON, LAST
from inertid_ros.core.input.smoothing import count_settled
from inertid_ros.core.input.timeline import (
    MAX_GAP,
    MAX_WAIT,
    MISSING,
    NEWEST,
    ORIGIN,
    SATURATED,
    SECOND,
    STAMPS,
    START,
    STOP,
    take_readings,
)
from inertid_ros.core.records import FloatArray, IntArray, Output
from inertid_ros.core.rows.advance import INTEGERS_END, carry, foresee
from inertid_ros.core.rows.memory import CHANNELS


@allocating(brief)
def arrive(
    x: FloatArray,
    at: IntArray,
    motion: Motion,
    message: Message,
    waiting: Waiting,
    arrived: Arrived,
    told: IntArray,
    kinds: int,
) -> int:
    """Take one message, pair what can be paired, and predict what is to be answered.

    Args:
        x: floats of the rows, see `advance.advance`, as for the next one.
        at: their integers.
        motion: joint states of the only publisher.
        message: the message.
        waiting: readings.
        arrived: result.
        told: (TOLD,) result, see USED; what is remembered from message to message is changed.
        kinds: whether it has STATES, READINGS or both; only readings are answered before they are paired.

    Returns:
        How far it came, see DONE.
    """
    told[USED] = told[UNANSWERED] = told[END] = 0
    told[POSITION] = -1
    if kinds & STATES:
        line, states, joints, clock, _, taken = motion
        told[POSITION] = take_states(
            line, states, joints, clock, taken, message.stamps, message.positions, message.velocities, 0
        )
        if told[POSITION] >= 0 or clock[LEFT_OUT] != 0.0:
            return AT_STATES
    if kinds & READINGS:
        line, states, channels, scales = waiting
        told[POSITION] = take_readings(line, states, channels, scales, message.stamps, message.readings, 0)
        if told[POSITION] >= 0 or line[MISSING] != 0 or line[SATURATED] != 0:
            return AT_READINGS
    count = count_ready(motion.line, motion.states, waiting.line)
    if not 0 <= count < CAPACITY:
        return AT_PAIRING
    if count > 0:
        stopped = pair(x, at, motion, waiting, arrived, told, count)
        if stopped != DONE:
            return stopped
    if kinds & READINGS and (count == 0 or arrived.stamps[count - 1] != message.stamps[0]):
        answer_early(x, at, motion, waiting, arrived, told, message.stamps[0])
    if told[UNANSWERED] == told[END]:
        return DONE
    unanswered = arrived.samples[told[UNANSWERED] : told[END]]
    return ANSWERS if are_predicted(unanswered, at[at[INTEGERS_END] + CHANNELS]) else NOT_FINITE


@compiled
def are_predicted(samples: FloatArray, channels: int) -> bool:
    """Whether the predictions of all channels, which end a sample, are finite."""
    for k in range(len(samples)):
        for c in range(samples.shape[1] - channels, samples.shape[1]):
            if not np.isfinite(samples[k, c]):
                return False
    return True


@compiled
def count_ready(line: IntArray, states: FloatArray, reading_line: IntArray) -> int:
    """How many readings can be paired with joint states now; -1 if some have waited for too long."""
    start, stop = reading_line[START], reading_line[STOP]
    horizon, count = line[NEWEST] + reading_line[ORIGIN] - line[ORIGIN], stop - start
    if count == 0:
        return 0
    if reading_line[STAMPS + stop - 1] > horizon:
        if reading_line[STAMPS + stop - 1] - reading_line[STAMPS + start] > MAX_WAIT:
            return -1
        while count > 0 and reading_line[STAMPS + start + count - 1] > horizon:
            count -= 1
    return int(count_settled(line, states, reading_line, count)) if count > 0 else 0


@compiled
def pair(
    x: FloatArray, at: IntArray, motion: Motion, waiting: Waiting, arrived: Arrived, told: IntArray, count: int
) -> int:
    """Pair the next readings with joint states and carry them on, up to a cut or a row."""
    told[USED] = told[UNANSWERED] = told[END] = count
    stamps, samples = arrived.stamps[:count], arrived.samples[:count]
    line, states, targets = motion.line, motion.states, motion.targets
    told[ROW] = carry(
        x,
        at,
        line,
        states,
        targets,
        waiting.line,
        waiting.states,
        stamps,
        samples,
        arrived.marks,
        FIRST | LAST | GO_ON,
    )
    if told[ROW] < -1:
        return AT_CUTS
    if told[ROW] < count:
        return AT_ROW
    told[UNANSWERED] = note_processed(told, stamps)
    return DONE


@compiled
def answer_early(
    x: FloatArray, at: IntArray, motion: Motion, waiting: Waiting, arrived: Arrived, told: IntArray, stamp: int
) -> None:
    """Predict the reading that has just come with a stamp, by extrapolation, if it waits for a later joint state."""
    line, states, joints, _, targets, _ = motion
    reading_line, readings, place = waiting.line, waiting.states, told[USED]
    is_waiting = reading_line[STOP] > reading_line[START] and reading_line[NEWEST] == stamp
    delay = reading_line[ORIGIN] - line[ORIGIN]
    if not is_waiting or stamp - delay - line[NEWEST] > MAX_GAP * SECOND:
        return
    stamps, samples = arrived.stamps[place : place + 1], arrived.samples[place : place + 1]
    if foresee(x, at, line, states, joints, targets, reading_line, readings, stamps, samples, FIRST | LAST):
        told[END] = place + 1 - note_waiting(told, stamps)


@brief
def note_processed(told: IntArray, stamps: IntArray) -> int:
    """Note samples (N,) as synchronised, and as answered; returns the first that was not while it was waiting, or N.

    Stamps that do not grow mean that time was set back: what was answered before counts no more.
    """
    first = len(stamps)
    for index in range(len(stamps)):
        if stamps[index] <= told[PROCESSED]:
            told[ANSWERED] = -1
        if stamps[index] > told[ANSWERED]:
            told[ANSWERED] = stamps[index]
            first = min(first, index)
        told[PROCESSED] = stamps[index]
    if told[COUNTED] == 0:
        told[FIRST_COUNTED] = stamps[0]
    told[NEWEST_USED] = stamps[-1]
    told[COUNTED] += len(stamps)
    return first


@brief
def note_waiting(told: IntArray, stamps: IntArray) -> int:
    """Note samples (N,) that wait as answered; returns the first that was not before; again, time may be set back."""
    newest, first = stamps[-1], 0
    if newest < told[ANSWERED]:
        told[PROCESSED] = told[ANSWERED] = -1
    while first < len(stamps) and stamps[first] <= told[ANSWERED]:
        first += 1
    told[ANSWERED] = newest
    return first


class Answered:
    """Which samples were answered, each of them once: on arrival where the chain can, else when it is processed.

    Attributes:
        told: see USED.
    """

    def __init__(self) -> None:
        """Start with none."""
        self.told: IntArray = np.zeros(TOLD, dtype=np.int64)
        self.told[[PROCESSED, ANSWERED]] = -1

    def count(self) -> tuple[int, int, int]:
        """How many samples were synchronised since the last call, and the stamps [ns] of the first and the last."""
        count, first, newest = self.told[[COUNTED, FIRST_COUNTED, NEWEST_USED]].tolist()
        self.told[COUNTED] = 0
        return count, first, newest

    def select_processed(self, output: Output) -> Output | None:
        """Those of the processed samples, in order of their stamps, that were not answered while they were waiting."""
        return _select(output, note_processed(self.told, output.stamps))

    def select_waiting(self, output: Output) -> Output | None:
        """Those of the waiting samples that were not answered before."""
        return _select(output, note_waiting(self.told, output.stamps))


def _select(output: Output, first: int) -> Output | None:
    """The samples of an output from one on; None for no samples."""
    if first == 0:
        return output
    if first == len(output.stamps):
        return None
    return output._replace(
        stamps=output.stamps[first:],
        measured=output.measured[first:],
        predicted=output.predicted[first:],
        usable=output.usable[first:],
    )
