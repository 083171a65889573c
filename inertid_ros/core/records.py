"""What flows between the stages: records of numpy arrays with time as the first axis.

Stamps are integers, nanoseconds, as they came in the message header: a float64 of seconds since 1970 resolves
0.24 microseconds only, which is too coarse to difference. Seconds appear inside a stage, relative to an origin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class Name(str, Enum):
    """A choice that is written as its own name in messages and files."""

    def __str__(self) -> str:
        """The name itself, also in f-strings, for every version of Python."""
        return str(self.value)


class JointBlock(NamedTuple):
    """Joint samples of one publisher, all with the same joints in the same order.

    Attributes:
        names: the n joints as the message named them.
        stamps: (N,) nanoseconds.
        positions: (N, n) rad or m.
        velocities: (N, n) rad/s or m/s, or None where the message has none.
        efforts: (N, n) in whatever unit the driver publishes, NaN where a joint gave none, or None where the message
            has none.

    Numbers that the message has too few or too many of come as they are, with another width than n.
    """

    names: tuple[str, ...]
    stamps: IntArray
    positions: FloatArray
    velocities: FloatArray | None
    efforts: FloatArray | None = None

    def take(self, rows: slice) -> JointBlock:
        """Return some of the samples."""
        return JointBlock(
            self.names,
            self.stamps[rows],
            self.positions[rows],
            None if self.velocities is None else self.velocities[rows],
            None if self.efforts is None else self.efforts[rows],
        )


class WrenchBlock(NamedTuple):
    """Readings of one force/torque sensor, in the driver's own sign and frame.

    Attributes:
        frame: the header's frame_id.
        stamps: (N,) nanoseconds.
        wrenches: (N, 6) force [N], then moment [Nm].
    """

    frame: str
    stamps: IntArray
    wrenches: FloatArray

    def take(self, rows: slice) -> WrenchBlock:
        """Return some of the samples."""
        return WrenchBlock(self.frame, self.stamps[rows], self.wrenches[rows])


class ImuBlock(NamedTuple):
    """Readings of an inertial measurement unit, in its own axes.

    Attributes:
        frame: the header's frame_id.
        stamps: (N,) nanoseconds.
        accelerations: (N, 3) proper acceleration [m/s²], which points up at rest.
        rates: (N, 3) angular velocity [rad/s].
        covariances: (N, 2) first number of the covariance of rates and of accelerations; -1 where the message says by
            that that these are not measured.
    """

    frame: str
    stamps: IntArray
    accelerations: FloatArray
    rates: FloatArray
    covariances: FloatArray

    def take(self, rows: slice) -> ImuBlock:
        """Return some of the samples."""
        return ImuBlock(
            self.frame, self.stamps[rows], self.accelerations[rows], self.rates[rows], self.covariances[rows]
        )


SampleBlock = JointBlock | WrenchBlock | ImuBlock
"""What a chain takes."""


class EventKind(Name):
    """What can happen to a load."""

    LOAD_ATTACHED = "load_attached"
    LOAD_RELEASED = "load_released"
    LOAD_CHANGED = "load_changed"
    BIAS_CHANGED = "bias_changed"
    CONTACT_BEGAN = "contact_began"
    CONTACT_ENDED = "contact_ended"
    OBJECT_RECOGNISED = "object_recognised"
    GRIP_AS_EXPECTED = "grip_as_expected"
    GRIP_NOT_AS_EXPECTED = "grip_not_as_expected"


LOAD_EVENTS = (EventKind.LOAD_ATTACHED, EventKind.LOAD_RELEASED, EventKind.LOAD_CHANGED)
"""What means that another load is carried."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something happened to the load.

    Attributes:
        stamp: when it was noticed, nanoseconds of the data's own clock.
        kind: what.
        message: the same in words.
        confidence: probability that it is this and none of what else was tested, see `estimation.events`.
        mass_before, mass_after: of the load [kg], without the tool; the same unless the load has changed.
    """

    stamp: int
    kind: EventKind
    message: str
    confidence: float
    mass_before: float
    mass_after: float


class RowOutput(NamedTuple):
    """Rows of the equations, after the filters: what a fit is judged by.

    Attributes:
        stamps: (M,) nanoseconds.
        measured, predicted: (M, K), the latter with what was known before the row was used.
        usable: (M, K).
        deviation: (M, K) standard deviations of what is predicted: parameters, friction, and what the model lacks.
    """

    stamps: IntArray
    measured: FloatArray
    predicted: FloatArray
    usable: BoolArray
    deviation: FloatArray


class Output(NamedTuple):
    """What came out for each sample that could be synchronised.

    Attributes:
        stamps: (N,) nanoseconds: those of the wrenches, or of the joint states where efforts alone are used.
        measured: (N, K) of each channel, in SI units and the driver's sign.
        predicted: (N, K).
        usable: (N, K) whether it was measured at all and is to be believed.
        rows: the rows taken from these samples.
        events: what happened to the load.
        deviation: (K,) standard deviations of what is predicted, at the newest row; None for a wrist sensor.
    """

    stamps: IntArray
    measured: FloatArray
    predicted: FloatArray
    usable: BoolArray
    rows: RowOutput
    events: tuple[Event, ...] = ()
    deviation: FloatArray | None = None

    @property
    def residual(self) -> FloatArray:
        """Measured less predicted (N, K): the contact wrench, or what the model does not explain of the efforts."""
        return self.measured - self.predicted


class Taken(NamedTuple):
    """What came of a message.

    Attributes:
        used: how many samples could be synchronised since the last message for which that was told.
        first, newest: stamps [ns] of the first and the last of them, where there are any.
        answers: what is to be answered by now and was not answered before.
        events: what happened to the load.
    """

    used: int
    first: int
    newest: int
    answers: tuple[Output, ...]
    events: tuple[Event, ...] = ()


def is_finite(output: Output | None) -> bool:
    """Whether all predictions are finite; their sum tells sooner, unless it overflows."""
    if output is None or math.isfinite(sum(map(sum, output.predicted.tolist()))):
        return True
    return bool(np.isfinite(output.predicted).all())


def join_outputs(parts: Sequence[Output]) -> Output:
    """Outputs that follow each other, as one."""
    stamps, measured, predicted, usable = (
        np.concatenate(pieces) for pieces in zip(*(part[:4] for part in parts), strict=True)
    )
    rows = RowOutput(*(np.concatenate(pieces) for pieces in zip(*(part.rows for part in parts), strict=True)))
    events = tuple(event for part in parts for event in part.events)
    return Output(stamps, measured, predicted, usable, rows, events, parts[-1].deviation)
