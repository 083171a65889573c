"""What comes out of the chain of the links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from inertid_ros.core.checks.wrench_convention import Finding
from inertid_ros.core.equations.base_parameters import BaseParameters
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.parameter_state import ParameterState
from inertid_ros.core.records import BoolArray, FloatArray, IntArray


class LinkOutput(NamedTuple):
    """What came out for each sample that could be paired.

    Attributes:
        stamps: (N,) nanoseconds, those of the joint states, or of the base wrenches where these are used.
        predicted: (N, K) of each channel, in newton metres and the driver's sign.
        measured: (N, K).
        usable: (N, K) whether it was measured at all and is to be believed.
        row_stamps: (M,) nanoseconds, of the samples at which rows were taken.
        row_measured, row_predicted: (M, K) there, after the filters: what the fit is judged by.
        row_usable: (M, K).
    """

    stamps: IntArray
    predicted: FloatArray
    measured: FloatArray
    usable: BoolArray
    row_stamps: IntArray
    row_measured: FloatArray
    row_predicted: FloatArray
    row_usable: BoolArray


@dataclass(frozen=True, slots=True)
class LinkEstimate:
    """All that is known of the arm.

    Attributes:
        stamp: of the newest sample used, nanoseconds; 0 before the first.
        model: the arm and its base parameters.
        values: (U,) base parameters.
        covariance: (U, U).
        states: for each, whether it can be trusted.
        residual_rms, measured_rms: (K,) of the filtered rows so far.
        rows: (K,) how many rows of each channel.
        mode: "waiting" before the first row, then "learning", or "paused".
        findings: what the data says against the configuration.
    """

    stamp: int
    model: LinkModel
    values: FloatArray
    covariance: FloatArray
    states: tuple[ParameterState, ...]
    residual_rms: FloatArray
    measured_rms: FloatArray
    rows: IntArray
    mode: str
    findings: tuple[Finding, ...]

    @property
    def base(self) -> BaseParameters:
        """Which combinations the values are."""
        return self.model.base
