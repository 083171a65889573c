"""Rows of the load's equation from motion and wrench, by one of three methods behind one interface."""

from __future__ import annotations

from typing import Protocol

from inertid_ros.core.input.synchroniser import Stretch
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import FramePath
from inertid_ros.core.rows.rows_differentiated import DifferentiatedRows
from inertid_ros.core.rows.rows_filtered import FilteredRows
from inertid_ros.core.rows.rows_integral import IntegralRows
from inertid_ros.core.settings.settings import LoadSettings


class LoadRows(Protocol):
    """A method that turns samples into rows free of accelerations or with them."""

    noise_bandwidth: float
    """Variance of a row's wrench for white noise of density one at the sensor [Hz]."""

    feature_map: FloatArray
    """(F, 13) matrix from a method's regressors to the features that predict the wrench."""

    def process(self, stretch: Stretch, picked: list[int]) -> tuple[FloatArray, list[FloatArray]]:
        """Take samples without a gap.

        Args:
            stretch: the samples; filters start anew where it says so.
            picked: indices of the samples at which rows are wanted.

        Returns:
            (N, F) regressors of which the features of each sample are linear combinations, valid until the next call,
            and a row (23,) for each picked sample.
        """

    def start_anew(self) -> None:
        """Forget the past at the next sample: what the filters remember is no longer true."""


def make_load_rows(path: FramePath, gravity: FloatArray, settings: LoadSettings) -> LoadRows:
    """Build the method that the settings name."""
    if settings.method == "differentiated":
        return DifferentiatedRows(path, gravity, settings.differentiation_cutoff)
    if settings.method == "integral":
        return IntegralRows(path, gravity, settings.integral_window, settings.filter_cutoff)
    return FilteredRows(path, gravity, settings.filter_cutoff, settings.smoothing_cutoff)
