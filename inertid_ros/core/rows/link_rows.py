"""Which rows a link chain makes, by the name of the method."""

from __future__ import annotations

from typing import Protocol

from inertid_ros.core.equations.link_columns import LinkColumns
from inertid_ros.core.input.synchroniser import Stretch
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rows.link_rows_differentiated import DifferentiatedLinkRows
from inertid_ros.core.rows.link_rows_filtered import FilteredLinkRows
from inertid_ros.core.settings.settings import LinksSettings


class LinkRows(Protocol):
    """Makes rows [A, y] of samples.

    Attributes:
        settling: how long [s] a wrong sample can be felt.
        repeats: how many rows, 20 ms apart, are worth one where the noise is white.
        used: for each equation the unknowns that can be in it.
        drives: for each joint those that are its friction or its rotor.
        judged: the last rows of the K readings (M, K, U + 1), by which the fit is judged.
    """

    settling: float
    repeats: float
    used: list[IntArray]
    drives: list[IntArray]
    judged: FloatArray

    def start_anew(self) -> None:
        """Forget the past at the next sample."""

    def process(self, stretch: Stretch, readings: FloatArray, picked: list[int]) -> FloatArray:
        """Take samples without a gap and their readings (N, K); returns rows (picked, K, U + 1)."""

    def set_values(self, values: FloatArray) -> None:
        """Predict with these values (U,) of the unknowns from now on."""

    def predict(self, start: int, stop: int) -> FloatArray:
        """Readings (stop - start, K) of some samples of the last stretch; all of them must be asked for, in order."""


def make_link_rows(columns: LinkColumns, links: LinksSettings) -> LinkRows:
    """Make the rows that the settings ask for."""
    if links.method == "differentiated":
        return DifferentiatedLinkRows(columns, links.differentiation_cutoff)
    return FilteredLinkRows(columns, links.filter_cutoff, links.smoothing_cutoff)
