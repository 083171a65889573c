"""What is kept of a recording once its own files are written, and the sum of several."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import chdtri

from inertid_ros.core.errors import RecordingError
from inertid_ros.core.estimation.full_set import complete_links
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.link_estimator import LinkEstimator
from inertid_ros.core.estimation.link_records import LinkEstimate
from inertid_ros.core.estimation.link_state import judge_links
from inertid_ros.core.estimation.load_trial import LOAD
from inertid_ros.core.estimation.parameter_state import judge_parameters
from inertid_ros.core.diagnosis import HealthItem
from inertid_ros.core.load_chain import LoadEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.feasibility import nearest_feasible
from inertid_ros.core.rigid_body.tool import Tool, subtract
from inertid_ros.core.settings.settings import Settings
from inertid_ros.replay.trace import LinkFit, Origin, ResidualStatistics, TopicStatistics, TraceEvent, Traces

_CONFIDENCE = 0.999


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """The small part of a load's trace, see there."""

    estimate: LoadEstimate
    tool: Tool | None
    statistics: ResidualStatistics
    events: tuple[TraceEvent, ...]


@dataclass(frozen=True, slots=True)
class LinkSummary:
    """The small part of an arm's trace, see there."""

    channels: tuple[str, ...]
    units: tuple[str, ...]
    online: LinkFit
    urdf: LinkFit
    estimate: LinkEstimate
    parameters: FloatArray
    estimator: LinkEstimator


@dataclass(frozen=True, slots=True)
class Summary:
    """The small part of the traces of one recording, see there.

    Attributes:
        directory: where the files of the recording are, relative to the output directory; empty for right there.
    """

    directory: str
    duration: float
    topics: tuple[TopicStatistics, ...]
    health: tuple[HealthItem, ...]
    notes: tuple[str, ...]
    settings: Settings
    origin: Origin
    load: LoadSummary | None
    links: LinkSummary | None

    @classmethod
    def from_traces(cls, traces: Traces, directory: str = "") -> Summary:
        """Take the small part of traces."""
        shared, load, links = traces.either, traces.load, traces.links
        both = [trace for trace in (load, links) if trace is not None]
        return cls(
            directory=directory,
            duration=max(trace.duration for trace in both),
            topics=shared.topics,
            health=traces.health,
            notes=shared.notes,
            settings=shared.settings,
            origin=shared.origin,
            load=None if load is None else LoadSummary(load.estimate, load.tool, load.statistics, load.events),
            links=None
            if links is None
            else LinkSummary(**{item.name: getattr(links, item.name) for item in dataclasses.fields(LinkSummary)}),
        )


def combine_estimates(summaries: Sequence[LoadSummary]) -> tuple[LoadEstimate, str]:
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
    """Statistics over all samples of several recordings."""
    counts = np.array([part.counts for part in parts])
    weights = counts / np.maximum(counts.sum(axis=0), 1)
    mean, square, measured_square = (
        (weights * np.array(values)).sum(axis=0)
        for values in (
            [part.mean for part in parts],
            [part.rms**2 for part in parts],
            [part.measured_rms**2 for part in parts],
        )
    )
    rms, measured_rms = np.sqrt(square), np.sqrt(measured_square)
    return ResidualStatistics(
        counts=counts.sum(axis=0),
        mean=mean,
        rms=rms,
        largest=np.max([part.largest for part in parts], axis=0),
        measured_rms=measured_rms,
        relative_rms=np.divide(rms, measured_rms, out=np.zeros(len(rms)), where=measured_rms > 0.0),
    )


def combine_links(summaries: Sequence[LinkSummary]) -> LinkSummary:
    """Add up what several recordings of one arm tell: the information of each channel.

    Raises:
        RecordingError: if they are not of the same joints.
    """
    first = summaries[0]
    for other in summaries[1:]:
        if other.channels != first.channels:
            raise RecordingError(
                f"the recordings have different joints ({', '.join(first.channels)}; {', '.join(other.channels)}): "
                "name those of the arm in links.joints"
            )
    if len(summaries) == 1:
        return first
    estimator = copy.deepcopy(first.estimator)
    for other in summaries[1:]:
        estimator.add(other.estimator)
    solution = estimator.solve()
    covariance = solution.information.covariance()
    estimate = dataclasses.replace(
        summaries[-1].estimate,
        values=solution.values,
        covariance=covariance,
        states=judge_links(first.estimate.model, solution.values, covariance),
        residual_rms=solution.residual_rms,
        measured_rms=solution.measured_rms,
        rows=solution.rows,
    )
    return LinkSummary(
        channels=first.channels,
        units=first.units,
        online=combine_fits([summary.online for summary in summaries]),
        urdf=combine_fits([summary.urdf for summary in summaries]),
        estimate=estimate,
        parameters=complete_links(estimate),
        estimator=estimator,
    )


def combine_fits(fits: Sequence[LinkFit]) -> LinkFit:
    """How well something predicts several recordings."""
    return LinkFit(*(combine_statistics([getattr(fit, name) for fit in fits]) for name in ("rows", "samples")))


def _describe_contradiction(squares: float, freedom: int) -> str:
    if squares <= chdtri(freedom, 1.0 - _CONFIDENCE):
        return ""
    return (
        f"the recordings contradict each other (chi-square {squares:.0f} with {freedom} degrees of freedom): "
        "replay those with different loads apart"
    )
