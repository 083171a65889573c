"""What a chain needs to identify something: inputs, rows of an equation, and an estimator with its checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from inertid_ros.core.estimation.change import Decision
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.remembered import RememberedLinks, RememberedLoad
from inertid_ros.core.estimation.reweighted import Uncertainty
from inertid_ros.core.input.segments import Carrier, Segment
from inertid_ros.core.input.synchroniser import Synchroniser
from inertid_ros.core.records import Event, FloatArray, IntArray, Output, SampleBlock
from inertid_ros.core.rows.rows import Rows


class Input(Protocol):
    """Turns blocks of messages into segments."""

    def push(self, block: SampleBlock) -> None:
        """Take samples; never raises for bad data."""

    @property
    def answered(self) -> type[SampleBlock]:
        """What brings the readings that are answered."""

    @property
    def synchroniser(self) -> Synchroniser:
        """What pairs readings with joint states."""

    def prepare(self, rows: Carrier, block: SampleBlock, told: IntArray) -> Callable[[], int] | None:
        """What takes the message in a block, and others in the same memory, in one call, see `arrival.arrive`.

        None if they cannot be taken so. It is good until anything else is done with this input.
        """

    def settle(self, status: int, told: IntArray) -> int:
        """Decide what has stopped such a message before its samples were paired: then it is AT_PAIRING."""

    def process(self, rows: Carrier) -> list[Segment]:
        """Synchronise all that can be, and carry it on to its first row where nothing is to be decided before."""

    def foresee(self, rows: Carrier, after: int) -> Segment | None:
        """What waits for a later joint state, after a stamp, with predictions; changes nothing."""


class Task(Protocol):
    """One thing that is identified."""

    @property
    def input(self) -> Input:
        """Where samples come from."""

    @property
    def rows(self) -> Rows:
        """What makes rows and predictions of them."""

    def begin(self, segment: Segment) -> int:
        """Carry a segment through up to its first row, see `Rows.begin`."""

    def take_rows(self, segment: Segment, position: int, is_paused: bool) -> tuple[int, Decision]:
        """Use the row that was made of a sample of the segment, and those that follow if there is nothing to decide.

        Returns:
            The sample of the last row that was used, N if all were, and what follows from it.
        """

    def finish(self, segment: Segment, events: tuple[Event, ...]) -> Output:
        """What comes out of a segment that has been carried through, as the driver publishes it."""

    def answer(self, waiting: Segment) -> Output:
        """What comes out of samples that wait, with their predictions; changes nothing."""

    def prepare_estimate(self, stamp: int, is_paused: bool) -> Callable[[], LoadEstimate | LinksEstimate]:
        """What gives all that is known, for samples up to a stamp, in any thread; changes nothing."""

    def prepare_memory(self) -> Callable[[], RememberedLoad | RememberedLinks] | None:
        """What gives all that is worth keeping beyond the end of the process, in any thread; None if there is none."""

    def recall(self, remembered: RememberedLoad | RememberedLinks, age: float) -> None:
        """Go on from what was kept so many seconds ago; FileFormatError if it is of something else."""

    def freeze(self, values: FloatArray, uncertainty: Uncertainty | None = None) -> None:
        """Predict with these unknowns (U,); of an arm, say how uncertain that is."""

    def reset(self) -> None:
        """Forget all that was learned."""
