"""Which rows a link chain makes, by the name of the method."""

from __future__ import annotations

from typing import Protocol

from inertid_ros.core.alignment import Stretch
from inertid_ros.core.link_model import LinkModel
from inertid_ros.core.link_rows_differentiated import DifferentiatedLinkRows
from inertid_ros.core.link_rows_filtered import FilteredLinkRows
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.settings import LinksSettings


class LinkRows(Protocol):
    """Makes rows [A, y] of samples.

    Attributes:
        settling: how long [s] a wrong sample can be felt.
        repeats: how many rows, 20 ms apart, are worth one where the noise is white.
        used: for each equation the unknowns that can be in it.
    """

    settling: float
    repeats: float
    used: list[IntArray]

    def start_anew(self) -> None:
        """Forget the past at the next sample."""

    def process(self, stretch: Stretch, readings: FloatArray, picked: list[int]) -> tuple[FloatArray, FloatArray]:
        """Take samples without a gap and their readings (N, K).

        Returns:
            Features (N, F) from which predictions are made, valid until the next call, and rows (picked, K, U + 1).
        """

    def prediction_map(self, values: FloatArray) -> FloatArray:
        """Matrix (F, K) that makes predictions of features, for values (U,) of the unknowns."""


def make_link_rows(model: LinkModel, links: LinksSettings) -> LinkRows:
    """Make the rows that the settings ask for."""
    if links.method == "differentiated":
        return DifferentiatedLinkRows(model.columns, links.differentiation_cutoff)
    return FilteredLinkRows(model.columns, links.filter_cutoff, links.smoothing_cutoff)
