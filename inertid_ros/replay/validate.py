"""How well frozen parameters predict another recording: the number people quote.

The bias of a wrist sensor is the sensor's and not the load's: it is another one after every taring. Where it is
refitted, a constant in each channel is fitted to the recording. Of an arm nothing is fitted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inertid_ros.bags.bag import Bag
from inertid_ros.core.chain import Target
from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.errors import FileFormatError, InertidError
from inertid_ros.core.estimation.reweighted import Uncertainty
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.core.verdict import LEFT_OUT, find_wrench_shares, has_no_load, is_failure, judge_prediction
from inertid_ros.files.estimate import SavedEstimate
from inertid_ros.files.urdf_inertials import find_urdf_load
from inertid_ros.replay.inputs import Plan, Progress
from inertid_ros.replay.replay import look_at, replay_bags
from inertid_ros.replay.residuals import ResidualStatistics, compare, find_overall, list_residual
from inertid_ros.replay.trace import LinkTrace, LoadTrace, Traces, list_gaps

LOAD = len(PARAMETER_NAMES)
"""Unknowns of a load; the bias follows."""
REFITTED, OWN = "refitted", "of the estimate"
"""Where the bias comes from."""


@dataclass(frozen=True, slots=True)
class Validation:
    """How well frozen parameters predicted bags.

    Attributes:
        content: all numbers, for JSON, overall and by channel first.
        traces: the predictions; of a load, those with the refitted bias.
        reasons: what lowers the verdicts on load and links, by name.
    """

    content: dict[str, Any]
    traces: Traces
    reasons: dict[str, tuple[Finding, ...]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is to be predicted with what: bags, replayed by a plan with what is frozen.

    Of a load, `by_urdf` is the same with what hangs on the sensor by the URDF; None if it says nothing. Where there
    `is_no_load`, what is left of its wrench is noise.
    """

    bags: tuple[Path, ...]
    plan: Plan
    by_urdf: FloatArray | None
    is_no_load: bool

    @property
    def messages(self) -> int:
        """How many `run` will read: two passes over the bags for each prediction of a load, one for an arm."""
        once = sum(look_at(path, self.plan)[2] for path in self.bags)
        return once * (1 if Target.LOAD not in self.plan.frozen else 2 if self.by_urdf is None else 4)

    def run(self, progress: Progress) -> Validation:
        """Predict the bags; InertidError if they cannot be used."""
        first = self._predict(self.plan, progress)
        parts: dict[str, dict[str, Any]] = {}
        left: dict[str, float] = {}
        fitted = None
        if first.load is not None:
            fitted = self._predict_load(_shift(self.plan.frozen[Target.LOAD], first.load), progress)
            parts["load"] = self._list_load(first.load, fitted, progress)
            samples = fitted.online.samples
            left["load"] = 0.0 if self.is_no_load else max(find_wrench_shares(samples.measured_rms, samples.rms))
        if first.links is not None:
            parts["links"] = _list_links(first.links)
            left["links"] = parts["links"]["relative_rms"]
        found = {name: _judge(name, left[name], part) for name, part in parts.items()}
        trouble = dict.fromkeys(
            finding for trace in first if trace is not None for finding in (*trace.trouble, *trace.estimate.findings)
        )
        all_found = [*trouble, *(finding for part in found.values() for finding in part)]
        content = {
            "bags": [str(path) for path in self.bags],
            "relative_rms": find_overall([part["relative_rms"] for part in parts.values()]),
            "channels": {name: entry for part in parts.values() for name, entry in part["channels"].items()},
            "load": parts.get("load"),
            "links": parts.get("links"),
            "warnings": [finding.message for finding in all_found if not is_failure(finding)],
            "notes": [finding.message for finding in all_found if is_failure(finding)],
            "gaps": list_gaps([first]),
        }
        failures = tuple(
            Finding("warning", LEFT_OUT, f"held-out recording: {finding.message}")
            for finding in trouble
            if is_failure(finding)
        )
        reasons = {name: (*part, *failures) for name, part in found.items()}
        return Validation(content, Traces(fitted, first.links), reasons)

    def _list_load(self, first: LoadTrace, fitted: LoadTrace, progress: Progress) -> dict[str, Any]:
        """Residuals of load and tool, all relative to the same: the wrench less its refitted bias.

        The bias is refitted, but for `own_bias`; `urdf` is with what the URDF says hangs on the sensor.
        """
        samples = fitted.online.samples
        found = list_residual(samples)
        result = {
            "bias": REFITTED,
            **found,
            "relative_to_urdf": None,
            "own_bias": {"bias": OWN, **list_residual(_relate(first.online.samples, samples.measured_rms))},
            "urdf": None,
        }
        if self.by_urdf is not None:
            shifted = _shift(self.by_urdf, self._predict_load(self.by_urdf, progress))
            by_urdf = self._predict_load(shifted, progress).online.samples
            urdf = list_residual(_relate(by_urdf, samples.measured_rms))
            result |= {"relative_to_urdf": compare(found, urdf), "urdf": {"bias": REFITTED, **urdf}}
        return result

    def _predict_load(self, unknowns: FloatArray, progress: Progress) -> LoadTrace:
        alone = dataclasses.replace(self.plan.settings, estimators=["load"])
        traces = self._predict(dataclasses.replace(self.plan, settings=alone, frozen={Target.LOAD: unknowns}), progress)
        assert traces.load is not None
        return traces.load

    def _predict(self, plan: Plan, progress: Progress) -> Traces:
        return replay_bags(self.bags, plan, lambda: None, progress)


def _list_links(trace: LinkTrace) -> dict[str, Any]:
    """Residuals of the base parameters of the estimate, and of what the URDF says of the links."""
    rows, samples, urdf_rows, urdf_samples = (
        list_residual(part, trace.groups) for fit in (trace.online, trace.urdf) for part in (fit.rows, fit.samples)
    )
    return {
        **rows,
        "relative_to_urdf": compare(rows, urdf_rows),
        "within_2_sigma": trace.online.share_inside,
        "raw": samples,
        "urdf": {**urdf_rows, "raw": urdf_samples},
    }


def _judge(name: str, left: float, part: dict[str, Any]) -> tuple[Finding, ...]:
    ratio = None if part["relative_to_urdf"] is None else part["relative_to_urdf"]["ratio"]
    return tuple(judge_prediction(left, ratio, of_load=name == "load"))


def prepare(saved: SavedEstimate, bags: Sequence[Path], plan: Plan) -> Comparison:
    """Take an estimate, to compare its predictions with other bags, with the settings and topics of a plan.

    The plan's description may be empty. InertidError if the estimate or the robot description cannot be used.
    """
    plan = dataclasses.replace(plan, description=find_description(bags, plan), moments=0)
    robot = Robot.from_urdf(plan.description)
    estimators = [name for name in ("load", "links") if getattr(saved, name) is not None]
    if not estimators:
        raise FileFormatError(f"{saved.where} has neither a load nor links: replay again")
    settings: Settings = dataclasses.replace(plan.settings, estimators=estimators)
    frozen: dict[Target, FloatArray] = {}
    if saved.links is not None:
        model = saved.links.make_model(robot, settings)
        joints = settings.links.joints or list(model.arm.joint_names)
        settings = dataclasses.replace(settings, links=dataclasses.replace(settings.links, joints=joints))
        frozen[Target.LINKS] = saved.links.predictor
        left = [saved.links.noise.get(channel, 0.0) for channel in model.channels]
        plan = dataclasses.replace(plan, uncertainty=Uncertainty(saved.links.predictor_covariance, np.square(left)))
    by_urdf, is_no_load = None, False
    if saved.load is not None:
        frame, sensor, tool = saved.load.frame, saved.load.sensor, saved.load.tool
        if sensor is None:
            raise FileFormatError(
                f"{saved.where} has a load by efforts, which has no wrench to predict: use inertid weigh"
            )
        # [phi (10), bias (6)] of load and tool together, in the driver's own sign
        sign = 1.0 if sensor.sign is None else sensor.sign.factor
        carried = saved.load.values if tool is None else saved.load.values + tool.phi
        frozen[Target.LOAD] = np.concatenate((sign * carried, sensor.bias))
        load = dataclasses.replace(settings.load, sensor_frame=frame, tool="", tool_file="")
        settings = dataclasses.replace(settings, load=load)
        is_no_load = has_no_load(saved.load)
        hung = find_urdf_load(plan.description, frame)
        by_urdf = None if hung is None else np.concatenate((sign * hung, sensor.bias))
    return Comparison(tuple(bags), dataclasses.replace(plan, settings=settings, frozen=frozen), by_urdf, is_no_load)


def find_description(bags: Sequence[Path], plan: Plan) -> str:
    """The robot description that a replay would use."""
    if plan.description:
        return plan.description
    errors: list[InertidError] = []
    for path in bags:
        try:
            with Bag(path) as bag:
                return bag.find_description(plan.topics.robot_description)
        except InertidError as error:  # noqa: PERF203 - once a bag
            errors.append(error)
    raise errors[0]


def _shift(unknowns: FloatArray, trace: LoadTrace) -> FloatArray:
    """The same with the bias that leaves a residual of mean zero."""
    return np.concatenate((unknowns[:LOAD], unknowns[LOAD:] + trace.online.samples.mean))


def _relate(statistics: ResidualStatistics, size: FloatArray) -> ResidualStatistics:
    """The same, relative to (6,) rms values of the wrench."""
    relative = np.divide(statistics.rms, size, out=np.zeros(6), where=size > 0.0)
    return dataclasses.replace(statistics, measured_rms=size, relative_rms=relative)
