"""An estimate as a table: one row for each parameter, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.files.estimate import SavedEstimate
from inertid_ros.text.numbers import INTERVAL

COLUMNS = ("part", "parameter", "value", "deviation", "low", "high", "repeatability", "state")
Row = dict[str, str | float]


def tabulate(estimate: SavedEstimate) -> list[Row]:
    """One row for each of the ten parameters of a load, and for each base parameter of links, in SI units.

    `deviation` and `repeatability` are standard deviations, with and without systematic error; `low` and `high` limit
    the 95 % interval of the former.
    """
    rows: list[Row] = []
    if (load := estimate.load) is not None:
        rows += _make_rows("load", load.names, load.states, load.values, load.covariance, load.repeatability)
    if (links := estimate.links) is not None:
        known = links.values, links.covariance, links.repeatability
        rows += _make_rows("links", links.combinations, links.states, *known)
    return rows


def _make_rows(
    part: str,
    names: Iterable[str],
    states: Iterable[str],
    values: FloatArray,
    covariance: FloatArray,
    repeatability: FloatArray,
) -> Iterator[Row]:
    spreads, repeats = np.sqrt(np.diag(covariance)), np.sqrt(np.diag(repeatability))
    numbers = np.column_stack(
        [values, spreads, values - INTERVAL * spreads, values + INTERVAL * spreads, repeats]
    ).tolist()
    for name, state, listed in zip(names, states, numbers, strict=True):
        yield dict(zip(COLUMNS, (part, name, *listed, str(state)), strict=True))


def format_csv(estimate: SavedEstimate) -> str:
    """The same as comma-separated values, numbers with all their digits."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(tabulate(estimate))
    return text.getvalue()
