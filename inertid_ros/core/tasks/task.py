"""What a chain needs to identify something: inputs, rows of an equation, and an estimator with its checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.hypothesis import Decision
from inertid_ros.core.input.inputs import Waiting
from inertid_ros.core.input.segments import Segment
from inertid_ros.core.records import BoolArray, FloatArray, JointBlock, RowOutput, WrenchBlock
from inertid_ros.core.rows.rows import Rows


class Input(Protocol):
    """Turns blocks of messages into segments."""

    def push(self, block: JointBlock | WrenchBlock) -> None:
        """Take samples; never raises for bad data."""

    def process(self) -> list[Segment]:
        """Synchronise all that can be."""

    def foresee(self, after: int) -> Waiting | None:
        """What waits for a later joint state, after a stamp."""


class Task(Protocol):
    """One thing that is identified."""

    @property
    def input(self) -> Input:
        """Where samples come from."""

    @property
    def rows(self) -> Rows:
        """What makes rows and predictions of them."""

    def begin(self, segment: Segment) -> None:
        """A segment begins."""

    def take_row(self, segment: Segment, position: int, is_paused: bool) -> Decision:
        """Use the row that was made of a sample of the segment."""

    def collect_rows(self) -> RowOutput:
        """The rows used since the last call."""

    def find_usable(self, segment: Segment) -> BoolArray:
        """Which readings (N, K) of a segment are usable."""

    def restore(self, segment: Segment | Waiting, values: FloatArray) -> FloatArray:
        """Readings or predictions (N, K) of samples, as the driver publishes them."""

    def prepare_estimate(self, stamp: int, is_paused: bool) -> Callable[[], LoadEstimate | LinksEstimate]:
        """What gives all that is known, for samples up to a stamp, in any thread; changes nothing."""

    def freeze(self, values: FloatArray) -> None:
        """Predict with these unknowns (U,)."""

    def reset(self) -> None:
        """Forget all that was learned."""
