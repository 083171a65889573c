"""What recordings say together: their sum, the verdicts, and estimate.json."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from inertid_ros.bags.bag import Topics
from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.estimation.estimate import (
    Fit,
    LinksEstimate,
    Solution,
    combine_links,
    combine_loads,
)
from inertid_ros.core.estimation.full_set import complete_links
from inertid_ros.core.estimation.reweighted import ReweightedEstimator, WeightedSolution
from inertid_ros.core.verdict import Verdict, judge
from inertid_ros.files.estimate_writer import list_fit, list_links, list_load, list_tool
from inertid_ros.files.parameters import list_settings
from inertid_ros.replay.contradiction import find_contradiction
from inertid_ros.replay.residuals import Prediction, ResidualStatistics, list_residual
from inertid_ros.replay.trace import LinkTrace, LoadTrace, Traces, list_notes
from inertid_ros.replay.validate import Validation


class Recorded(NamedTuple):
    """A recording that was replayed.

    Attributes:
        directory: where its files are, relative to the output directory; empty for right there.
        traces: what came of it; without signals, if it is one of several, and without the blocks of its links'
            estimator, if it is part of a sum.
    """

    directory: str
    traces: Traces


class Sum(NamedTuple):
    """What one recording says, or several together.

    Attributes:
        load, links: of each, None if no recording has information on it.
        verdicts: on each, by name.
        recordings: what it is the sum of.
        validation: how well other bags were predicted, if that was asked for.
    """

    load: LoadTrace | None
    links: LinkTrace | None
    verdicts: dict[str, Verdict]
    recordings: tuple[Recorded, ...]
    validation: Validation | None = None

    @property
    def failures(self) -> tuple[str, ...]:
        """For which a command fails, a line each."""
        return tuple(dict.fromkeys(line for verdict in self.verdicts.values() for line in verdict.failures))

    @property
    def traces(self) -> Traces:
        """Load and links."""
        return Traces(self.load, self.links)

    def doubt(self, reasons: Mapping[str, Sequence[Finding]]) -> Sum:
        """The same with more reasons against load and links, by name."""
        estimates = {name: trace.estimate for name, trace in self.traces._asdict().items() if trace is not None}
        verdicts = {
            name: judge(estimates[name], [*verdict.reasons, *reasons.get(name, ())])
            for name, verdict in self.verdicts.items()
        }
        return self._replace(verdicts=verdicts)

    def note(self, lines: Sequence[str]) -> Sum:
        """The same, where more was left out or went wrong."""
        return self.doubt(dict.fromkeys(self.verdicts, list_notes(lines))) if lines else self


class Combination:
    """Adds up the information of recordings on load and links, in the order in which they are taken.

    Of the information on links, which is large, that of each recording is kept only as far as a report compares it.
    """

    def __init__(self) -> None:
        """Start with nothing."""
        self._recordings: list[Recorded] = []
        self._last_arm: LinkTrace | None = None
        self._arms: ReweightedEstimator | None = None
        self._mismatch = ""

    def take(self, recorded: Recorded) -> None:
        """Add one more."""
        arm = recorded.traces.links
        if arm is not None:
            self._add_arm(arm)
            spent = dataclasses.replace(arm, estimator=arm.estimator.without_blocks())
            recorded = recorded._replace(traces=recorded.traces._replace(links=spent))
        self._recordings.append(recorded)

    def _add_arm(self, arm: LinkTrace) -> None:
        last, self._last_arm = self._last_arm, arm
        if last is None or self._mismatch:
            return
        if arm.channels != last.channels:
            self._mismatch = (
                f"the recordings have different joints ({', '.join(last.channels)}; {', '.join(arm.channels)}): "
                "name those of the arm in links.joints"
            )
            return
        if self._arms is None:
            self._arms = copy.deepcopy(last.estimator)
        self._arms.add(arm.estimator)

    def finish(self, trouble: Sequence[str] = ()) -> Sum:
        """What all of them say; `trouble` is what went wrong besides."""
        loads = [item.traces.load for item in self._recordings if item.traces.load is not None]
        arms = [item.traces.links for item in self._recordings if item.traces.links is not None]
        load = _combine_loads(loads) if loads else None
        links = _combine_arms(arms, self._arms) if self._arms is not None and not self._mismatch else self._last_arm
        others = list_notes([*trouble, *([self._mismatch] if self._mismatch else [])])
        verdicts: dict[str, Verdict] = {}
        if load is not None:
            verdicts["load"] = judge(load.estimate, [*others, *_list_reasons(loads)])
        if links is not None:
            verdicts["links"] = judge(links.estimate, [*others, *_list_reasons([*arms, links])])
        return Sum(load, links, verdicts, tuple(self._recordings))


def combine(recordings: Iterable[Recorded], trouble: Sequence[str] = ()) -> Sum:
    """Add up the information of recordings on load and links; `trouble` is what went wrong besides."""
    total = Combination()
    for recorded in recordings:
        total.take(recorded)
    return total.finish(trouble)


def _list_reasons(traces: Sequence[LoadTrace | LinkTrace]) -> list[Finding]:
    """Why parts of a sum cannot be trusted; what is not known from one of them may be from all."""
    return [reason for trace in traces for reason in trace.verdict.reasons if reason.level != "info"]


def _combine_loads(traces: Sequence[LoadTrace]) -> LoadTrace:
    """Add up the information of several recordings of one load; times of events are those of a single one."""
    last = traces[-1]
    if len(traces) == 1:
        return last
    estimate = combine_loads([trace.estimate for trace in traces])
    online = Prediction.combine([trace.online for trace in traces])
    return dataclasses.replace(last, estimate=estimate, online=online, events=())


def _combine_arms(traces: Sequence[LinkTrace], estimator: ReweightedEstimator) -> LinkTrace:
    """What several recordings of one arm say, whose information was added up channel by channel."""
    last = traces[-1]
    solution = estimator.solve()
    joint = estimator.solve_jointly(solution)
    fit = _combine_fits([trace.estimate for trace in traces], estimator, solution)
    summed = Solution(
        stamp=last.estimate.stamp,
        mode=last.estimate.mode,
        values=joint.values,
        covariance=joint.covariance,
        rows=int(fit.rows.max(initial=0)),
        fit=fit,
        repeatability=joint.repeatability,
        fitted=solution.values,
        fitted_covariance=solution.covariance(),
    )
    estimates = [trace.estimate for trace in traces]
    estimate = combine_links(estimates, summed)
    estimate = dataclasses.replace(estimate, findings=(*estimate.findings, *find_contradiction(estimates)))
    return dataclasses.replace(
        last,
        online=Prediction.combine([trace.online for trace in traces]),
        excitation=np.max([trace.excitation for trace in traces], axis=0),
        urdf=Prediction.combine([trace.urdf for trace in traces]),
        estimate=estimate,
        parameters=complete_links(estimate),
        estimator=estimator,
    )


def _combine_fits(
    estimates: Sequence[LinksEstimate], estimator: ReweightedEstimator, solution: WeightedSolution
) -> Fit:
    """How well the sum explains the channels.

    Rows of the energy balance are not those of a channel: what is left of each channel is then what the recordings'
    own estimates leave.
    """
    channels, units = estimates[0].model.channels, estimates[0].model.units
    if len(solution.rows) == len(channels):
        by_urdf = estimator.find_rms(estimates[0].model.prior)
        found = solution.rows, solution.residual_rms, solution.measured_rms
        return Fit(channels, units, *found, by_urdf, np.sqrt(solution.variances))
    fits = [estimate.fit for estimate in estimates if estimate.fit is not None]
    rows = np.array([fit.rows for fit in fits])
    weights = rows / np.maximum(rows.sum(axis=0), 1)
    residual, measured = (
        np.sqrt((weights * np.square(values)).sum(axis=0))
        for values in ([fit.residual_rms for fit in fits], [fit.measured_rms for fit in fits])
    )
    return Fit(channels, units, rows.sum(axis=0), residual, measured)


def make_document(found: Sum, topics: Topics) -> dict[str, Any]:
    """Put the document together."""
    last = found.recordings[-1].traces.either
    load = None if found.load is None else found.load.estimate
    return {
        "load": None if load is None else list_load(load, last.settings, found.verdicts["load"]),
        "tool": None if load is None or load.tool is None else list_tool(load.tool),
        "residual": None if found.load is None else list_residual(found.load.online.samples, found.load.groups),
        "links": None if found.links is None else _list_links(found.links, found.verdicts["links"]),
        "validation": None if found.validation is None else found.validation.content,
        "health": _add_counts(found.recordings),
        "notes": list(found.failures),
        "recordings": [_list_recording(item) for item in found.recordings],
        "settings": list_settings(last.settings),
        "topics": asdict(topics),
        "urdf_sha256": last.origin.urdf_sha256,
        "settings_sha256": last.origin.settings_sha256,
        "versions": last.origin.versions,
    }


def _list_links(trace: LinkTrace, verdict: Verdict) -> dict[str, Any]:
    return {
        **list_links(trace.estimate, trace.parameters, trace.settings, verdict),
        "fit": _list_fit(trace),
        "residual": _list_prediction(trace.online, trace),
        "urdf_residual": _list_prediction(trace.urdf, trace),
    }


def _list_fit(trace: LinkTrace) -> dict[str, Any]:
    fit = trace.estimate.fit
    assert fit is not None
    overall = list_residual(ResidualStatistics.of_fit(fit), trace.groups)["relative_rms"]
    return {"relative_rms": overall, **list_fit(fit)}


def _list_prediction(fit: Prediction, trace: LinkTrace) -> dict[str, Any]:
    """Residuals of filtered rows, with those of the samples as measured beside."""
    return {**list_residual(fit.rows, trace.groups), "raw": list_residual(fit.samples, trace.groups)}


def _list_recording(recorded: Recorded) -> dict[str, Any]:
    traces = recorded.traces
    shared = traces.either
    return {
        "directory": recorded.directory,
        "inputs": [asdict(item) for item in shared.origin.inputs],
        "first_stamp": shared.origin.first_stamp,
        "last_stamp": shared.origin.last_stamp,
        "duration": traces.duration,
        **({} if traces.load is None else _list_load_of(traces.load)),
        **({} if traces.links is None else {"links": {"fit": _list_fit(traces.links)}}),
        "topics": [asdict(topic) for topic in shared.topics],
        "health": [asdict(item) for item in traces.health],
        "notes": list(shared.notes),
    }


def _list_load_of(load: LoadTrace) -> dict[str, Any]:
    """What one recording says of the load."""
    sensor = load.estimate.sensor
    return {
        "mass": float(load.estimate.values[0]),
        **({} if sensor is None else {"bias": sensor.bias}),
        "residual": list_residual(load.online.samples, load.groups),
        "events": [asdict(event) for event in load.events],
    }


def _add_counts(recordings: Sequence[Recorded]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in (item for recorded in recordings for item in recorded.traces.health):
        name = f"{item.source}.{item.code}"
        counts[name] = counts.get(name, 0) + item.count
    return counts
