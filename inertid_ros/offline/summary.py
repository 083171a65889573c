"""What is kept of a recording once its own files are written, and the sum of several."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import chdtri

from inertid_ros.core.feasible import nearest_feasible
from inertid_ros.core.health import HealthItem
from inertid_ros.core.information import SquareRootInformation
from inertid_ros.core.load_chain import LoadEstimate
from inertid_ros.core.load_trial import LOAD
from inertid_ros.core.parameter_state import judge_parameters
from inertid_ros.core.settings import Settings
from inertid_ros.core.tool import Tool, subtract
from inertid_ros.offline.trace import Origin, ResidualStatistics, TopicStatistics, Trace, TraceEvent

_CONFIDENCE = 0.999


@dataclass(frozen=True, slots=True)
class Summary:
    """The small part of a trace, see there.

    Attributes:
        directory: where the files of the recording are, relative to the output directory; empty for right there.
    """

    directory: str
    duration: float
    estimate: LoadEstimate
    tool: Tool | None
    statistics: ResidualStatistics
    topics: tuple[TopicStatistics, ...]
    health: tuple[HealthItem, ...]
    events: tuple[TraceEvent, ...]
    notes: tuple[str, ...]
    settings: Settings
    origin: Origin

    @classmethod
    def from_trace(cls, trace: Trace, directory: str = "") -> Summary:
        """Take the small part of a trace."""
        names = (field.name for field in dataclasses.fields(cls) if field.name != "directory")
        return cls(directory=directory, **{name: getattr(trace, name) for name in names})


def combine_estimates(summaries: Sequence[Summary]) -> tuple[LoadEstimate, str]:
    """Add up what several recordings of one load tell: information matrices and vectors.

    Each recording has a bias of its own, which is eliminated: with covariance C_i of the ten parameters x_i alone,
    the sum is C = (Σ C_i⁻¹)⁻¹ and x = C Σ C_i⁻¹ x_i, computed by orthogonal transformations of L_i⁻¹ [1, x_i] with
    L_i L_iᵀ = C_i. The tool, which is the same in all, is subtracted afterwards. Bias, mode and all else are those of
    the last recording.

    Returns:
        The estimate, and a line that says so if the recordings contradict each other; else an empty one.
    """
    last = summaries[-1]
    if len(summaries) == 1:
        return last.estimate, ""
    total = SquareRootInformation(np.full(LOAD, np.inf))
    for summary in summaries:
        parameters, covariance = summary.estimate.parameters, summary.estimate.covariance
        if summary.tool is not None:
            parameters, covariance = parameters + summary.tool.phi, covariance - summary.tool.covariance
        root = cholesky(covariance, lower=True)
        rows = solve_triangular(root, np.column_stack((np.eye(LOAD), parameters)), lower=True)
        total.fold_in(np.asfortranarray(rows))
    parameters, covariance = total.solve(), total.covariance()
    if last.tool is not None:
        parameters, covariance = subtract(parameters, covariance, last.tool)
    estimate = dataclasses.replace(
        last.estimate,
        parameters=parameters,
        covariance=covariance,
        feasible=nearest_feasible(parameters, np.linalg.inv(covariance)),
        states=judge_parameters(parameters, covariance),
        rows=sum(summary.estimate.rows for summary in summaries),
    )
    return estimate, _describe_contradiction(total.squares_left, LOAD * (len(summaries) - 1))


def combine_statistics(parts: Sequence[ResidualStatistics]) -> ResidualStatistics:
    """Statistics over all wrenches of several recordings."""
    counts = np.array([part.count for part in parts], dtype=np.float64)
    weights = counts / max(counts.sum(), 1.0)
    rms, measured_rms = (
        np.sqrt(weights @ np.array([getattr(part, name) for part in parts]) ** 2) for name in ("rms", "measured_rms")
    )
    return ResidualStatistics(
        count=int(counts.sum()),
        mean=weights @ np.array([part.mean for part in parts]),
        rms=rms,
        largest=np.max([part.largest for part in parts], axis=0),
        measured_rms=measured_rms,
        relative_rms=np.divide(rms, measured_rms, out=np.zeros(6), where=measured_rms > 0.0),
    )


def _describe_contradiction(squares: float, freedom: int) -> str:
    if squares <= chdtri(freedom, 1.0 - _CONFIDENCE):
        return ""
    return (
        f"the recordings contradict each other (chi-square {squares:.0f} with {freedom} degrees of freedom): "
        "replay those with different loads apart"
    )
