"""How well frozen parameters predict another recording: the number people quote."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inertid_ros.bags.bag import Bag
from inertid_ros.core.errors import FileFormatError, InertidError
from inertid_ros.core.estimation.load_trial import LOAD
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.document import Section
from inertid_ros.files.estimate_json import read_document, read_unknowns
from inertid_ros.files.links_json import channels_of, read_known_arm
from inertid_ros.files.residual_json import Channels, compare, find_overall, list_residual
from inertid_ros.files.urdf_load import find_urdf_load
from inertid_ros.replay.plan import Plan, Progress
from inertid_ros.replay.recordings import find_recordings
from inertid_ros.replay.replay import find_description, replay_bags
from inertid_ros.replay.trace import LinkFit, LoadTrace, ResidualStatistics, Traces

REFITTED, OWN = "refitted", "of the estimate"
"""Where the bias comes from."""


@dataclass(frozen=True, slots=True)
class LoadValidation:
    """Residuals of a frozen load, all relative to the same: the wrench less its refitted bias.

    The bias is the sensor's and not the load's: it is another one after every taring. Where it is refitted, a constant
    in each channel is fitted to the recording.

    Attributes:
        estimate: with load and tool of the estimate, bias refitted.
        own_bias: with load, tool and bias of the estimate: nothing is fitted.
        urdf: with what the URDF says hangs on the sensor, bias refitted; None if it says nothing.
    """

    estimate: ResidualStatistics
    own_bias: ResidualStatistics
    urdf: ResidualStatistics | None

    def list_all(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        found = list_residual(self.estimate)
        urdf = None if self.urdf is None else list_residual(self.urdf)
        return {
            "bias": REFITTED,
            **found,
            "relative_to_urdf": None if urdf is None else compare(found, urdf),
            "own_bias": {"bias": OWN, **list_residual(self.own_bias)},
            "urdf": None if urdf is None else {"bias": REFITTED, **urdf},
        }


@dataclass(frozen=True, slots=True)
class LinkValidation:
    """Residuals of a frozen arm: nothing is fitted.

    Attributes:
        channels: what is predicted.
        estimate: with the base parameters of the estimate.
        urdf: with what the URDF says of the links.
    """

    channels: Channels
    estimate: LinkFit
    urdf: LinkFit

    def list_all(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        rows, samples, urdf_rows, urdf_samples = (
            list_residual(part, self.channels) for fit in (self.estimate, self.urdf) for part in (fit.rows, fit.samples)
        )
        return {
            **rows,
            "relative_to_urdf": compare(rows, urdf_rows),
            "raw": samples,
            "urdf": {**urdf_rows, "raw": urdf_samples},
        }


@dataclass(frozen=True, slots=True)
class Validation:
    """What frozen parameters leave of a recording.

    Attributes:
        load, links: of each, None if the estimate has none.
        notes: what went wrong, a line each.
    """

    load: LoadValidation | None
    links: LinkValidation | None
    notes: tuple[str, ...]

    def list_all(self) -> dict[str, Any]:
        """All numbers, for JSON: overall and by channel first."""
        load, links = (None if part is None else part.list_all() for part in (self.load, self.links))
        both = [part for part in (load, links) if part is not None]
        return {
            "relative_rms": find_overall([part["relative_rms"] for part in both]),
            "channels": {name: entry for part in both for name, entry in part["channels"].items()},
            "load": load,
            "links": links,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is to be predicted with what.

    Attributes:
        bags: the recording.
        plan: how to replay it, with what is frozen.
        by_urdf: of a load, the same with what hangs on the sensor by the URDF; None if it says nothing.
    """

    bags: tuple[Path, ...]
    plan: Plan
    by_urdf: FloatArray | None

    @property
    def messages(self) -> int:
        """How many `run` will read: two passes over the bags for each prediction of a load, one for an arm."""
        once = sum(recording.messages for recording in find_recordings(self.bags, self.plan))
        return once * (1 if self.plan.frozen is None else 2 if self.by_urdf is None else 4)

    def run(self, progress: Progress) -> Validation:
        """Predict; `progress` is told of every block.

        Raises:
            InertidError: if the recording cannot be used.
        """
        first = self._predict(self.plan, progress)
        links = first.links
        arm = None if links is None else LinkValidation(channels_of(links), links.online, links.urdf)
        load = None if first.load is None else self._validate_load(first.load, progress)
        return Validation(load, arm, first.either.notes)

    def _validate_load(self, first: LoadTrace, progress: Progress) -> LoadValidation:
        assert self.plan.frozen is not None
        fitted = self._predict_load(_shift(self.plan.frozen, first), progress)
        urdf = None
        if self.by_urdf is not None:
            shifted = _shift(self.by_urdf, self._predict_load(self.by_urdf, progress))
            urdf = self._predict_load(shifted, progress).statistics
        size = fitted.statistics.measured_rms
        return LoadValidation(
            estimate=fitted.statistics,
            own_bias=_relate(first.statistics, size),
            urdf=None if urdf is None else _relate(urdf, size),
        )

    def _predict_load(self, unknowns: FloatArray, progress: Progress) -> LoadTrace:
        alone = dataclasses.replace(self.plan.settings, estimators=["load"])
        traces = self._predict(dataclasses.replace(self.plan, settings=alone, frozen=unknowns), progress)
        assert traces.load is not None
        return traces.load

    def _predict(self, plan: Plan, progress: Progress) -> Traces:
        return replay_bags(self.bags, plan, lambda: None, progress)


def prepare(path: Path, bags: Sequence[Path], plan: Plan) -> Comparison:
    """Read the estimate of a replay, to compare its predictions with other bags.

    Args:
        path: an estimate.json.
        bags: the recording to predict.
        plan: with the settings and topics to use; its description may be empty.

    Raises:
        InertidError: if the estimate or the robot description cannot be used.
    """
    document = read_document(path)
    plan = dataclasses.replace(plan, description=_find_description(bags, plan))
    robot = Robot.from_urdf(plan.description)
    estimators = [name for name in ("load", "links") if document.content.get(name) is not None]
    if not estimators:
        raise FileFormatError(f"{document.where} has neither a load nor links: replay anew")
    plan = dataclasses.replace(plan, settings=dataclasses.replace(plan.settings, estimators=estimators))
    if "links" in estimators:
        arm = read_known_arm(document, robot, plan.settings)
        joints = plan.settings.links.joints or list(arm.model.arm.joint_names)
        links = dataclasses.replace(plan.settings.links, joints=joints)
        plan = dataclasses.replace(
            plan, settings=dataclasses.replace(plan.settings, links=links), frozen_links=arm.values
        )
    by_urdf = None
    if "load" in estimators:
        plan, by_urdf = _freeze_load(plan, document)
    return Comparison(tuple(bags), plan, by_urdf)


def _freeze_load(plan: Plan, document: Section) -> tuple[Plan, FloatArray | None]:
    """The plan with the load of a file, and the same unknowns with the URDF's load, if it has one."""
    unknowns = read_unknowns(document)
    section = document.section("load")
    frame = section.value("sensor_frame", str)
    load = dataclasses.replace(plan.settings.load, sensor_frame=frame, tool_file="")
    settings: Settings = dataclasses.replace(plan.settings, load=load)
    hung = find_urdf_load(plan.description, frame)
    sign = -1.0 if section.value("wrench_sign", object) == "on_sensor" else 1.0
    by_urdf = None if hung is None else np.concatenate((sign * hung, unknowns[LOAD:]))
    return dataclasses.replace(plan, settings=settings, frozen=unknowns), by_urdf


def _find_description(bags: Sequence[Path], plan: Plan) -> str:
    """The robot description that a replay would use."""
    if plan.description:
        return plan.description
    errors: list[InertidError] = []
    for path in bags:
        try:
            with Bag(path) as bag:
                return find_description(bag, plan.topics)
        except InertidError as error:  # noqa: PERF203 - once a bag
            errors.append(error)
    raise errors[0]


def _shift(unknowns: FloatArray, trace: LoadTrace) -> FloatArray:
    """The same with the bias that leaves a residual of mean zero."""
    return np.concatenate((unknowns[:LOAD], unknowns[LOAD:] + trace.statistics.mean))


def _relate(statistics: ResidualStatistics, size: FloatArray) -> ResidualStatistics:
    """The same, relative to (6,) rms values of the wrench."""
    relative = np.divide(statistics.rms, size, out=np.zeros(6), where=size > 0.0)
    return dataclasses.replace(statistics, measured_rms=size, relative_rms=relative)
