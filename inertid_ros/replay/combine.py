"""What is kept of a recording once its own files are written, and the sum of several."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from inertid_ros.core.errors import RecordingError
from inertid_ros.core.estimation.estimate import (
    Fit,
    LinksEstimate,
    LoadEstimate,
    Solution,
    combine_links,
    combine_loads,
)
from inertid_ros.core.estimation.full_set import complete_links
from inertid_ros.core.estimation.reweighted import WeightedSolution
from inertid_ros.replay.residuals import Prediction
from inertid_ros.replay.trace import LinkTrace, Traces


class Recorded(NamedTuple):
    """A recording that was replayed.

    Attributes:
        directory: where its files are, relative to the output directory; empty for right there.
        traces: what came of it, without signals.
    """

    directory: str
    traces: Traces


class Sum(NamedTuple):
    """The sum of several recordings.

    Attributes:
        load, links: of each, None if no recording has information on it.
        trouble: where recordings contradict each other or do not belong together, a line each.
    """

    load: LoadEstimate | None
    links: LinkTrace | None
    trouble: tuple[str, ...]


def combine(recordings: Sequence[Recorded]) -> Sum:
    """Add up the information of recordings on load and links."""
    loads = [item.traces.load.estimate for item in recordings if item.traces.load is not None]
    arms = [item.traces.links for item in recordings if item.traces.links is not None]
    load = combine_loads(loads) if loads else None
    findings = () if load is None else load.findings
    trouble = [finding.message for finding in findings if finding.code == "recordings_contradict"]
    links = arms[-1] if arms else None
    try:
        links = _combine_arms(arms) if arms else None
    except RecordingError as error:
        trouble.append(str(error))
    return Sum(load, links, tuple(trouble))


def _combine_arms(traces: Sequence[LinkTrace]) -> LinkTrace:
    """Add up the information of several recordings of one arm, channel by channel.

    Raises:
        RecordingError: if they are not of the same joints.
    """
    first, last = traces[0], traces[-1]
    for other in traces[1:]:
        if other.channels != first.channels:
            raise RecordingError(
                f"the recordings have different joints ({', '.join(first.channels)}; {', '.join(other.channels)}): "
                "name those of the arm in links.joints"
            )
    if len(traces) == 1:
        return first
    estimator = copy.deepcopy(first.estimator)
    for other in traces[1:]:
        estimator.add(other.estimator)
    solution = estimator.solve()
    fit = _combine_fits([trace.estimate for trace in traces], solution)
    summed = Solution(
        stamp=last.estimate.stamp,
        mode=last.estimate.mode,
        values=solution.values,
        covariance=solution.covariance(),
        rows=int(fit.rows.max(initial=0)),
        fit=fit,
    )
    estimate = combine_links([trace.estimate for trace in traces], summed)
    return dataclasses.replace(
        last,
        online=Prediction.combine([trace.online for trace in traces]),
        urdf=Prediction.combine([trace.urdf for trace in traces]),
        estimate=estimate,
        parameters=complete_links(estimate),
        estimator=estimator,
    )


def _combine_fits(estimates: Sequence[LinksEstimate], solution: WeightedSolution) -> Fit:
    """How well the sum explains the channels.

    Rows of the energy balance are not those of a channel: what is left of each channel is then what the recordings'
    own estimates leave.
    """
    channels = estimates[0].model.channels
    if len(solution.rows) == len(channels):
        return Fit(channels, solution.rows, solution.residual_rms, solution.measured_rms)
    fits = [estimate.fit for estimate in estimates if estimate.fit is not None]
    rows = np.array([fit.rows for fit in fits])
    weights = rows / np.maximum(rows.sum(axis=0), 1)
    residual, measured = (
        np.sqrt((weights * np.square(values)).sum(axis=0))
        for values in ([fit.residual_rms for fit in fits], [fit.measured_rms for fit in fits])
    )
    return Fit(channels, rows.sum(axis=0), residual, measured)
