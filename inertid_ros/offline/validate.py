"""How well frozen parameters predict another recording: the number people quote."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inertid_ros.core.errors import InertidError
from inertid_ros.core.load_trial import LOAD
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot import Robot
from inertid_ros.offline.bag_reader import Bag
from inertid_ros.offline.estimate_json import list_residual, read_document, read_unknowns
from inertid_ros.offline.recordings import find_recordings
from inertid_ros.offline.replay import Plan, Progress, find_description, replay_bags
from inertid_ros.offline.trace import ResidualStatistics, Trace
from inertid_ros.offline.urdf_load import find_urdf_load

REFITTED, OWN = "refitted", "of the estimate"
"""Where the bias comes from."""


@dataclass(frozen=True, slots=True)
class Validation:
    """Residuals of frozen parameters, all relative to the same: the wrench less its refitted bias.

    The bias is the sensor's and not the load's: it is another one after every taring. Where it is refitted, a constant
    in each channel is fitted to the recording.

    Attributes:
        estimate: with load and tool of the estimate, bias refitted.
        own_bias: with load, tool and bias of the estimate: nothing is fitted.
        urdf: with what the URDF says hangs on the sensor, bias refitted; None if it says nothing.
        notes: what went wrong, a line each.
    """

    estimate: ResidualStatistics
    own_bias: ResidualStatistics
    urdf: ResidualStatistics | None
    notes: tuple[str, ...]

    def list_all(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        found = list_residual(self.estimate)
        urdf = None if self.urdf is None else list_residual(self.urdf)
        return {
            "bias": REFITTED,
            **found,
            "relative_to_urdf": None if urdf is None else _compare(found, urdf),
            "own_bias": {"bias": OWN, **list_residual(self.own_bias)},
            "urdf": None if urdf is None else {"bias": REFITTED, **urdf},
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is to be predicted with what.

    Attributes:
        bags: the recording.
        plan: how to replay it.
        unknowns: [phi (10), bias (6)] of the estimate, in the driver's sign.
        by_urdf: the same with what hangs on the sensor by the URDF; None if it says nothing.
    """

    bags: tuple[Path, ...]
    plan: Plan
    unknowns: FloatArray
    by_urdf: FloatArray | None

    @property
    def messages(self) -> int:
        """How many `run` will read: two passes over the bags for each prediction."""
        once = sum(recording.messages for recording in find_recordings(self.bags, self.plan))
        return once * (2 if self.by_urdf is None else 4)

    def run(self, progress: Progress) -> Validation:
        """Predict; `progress` is told of every block.

        Raises:
            InertidError: if the recording cannot be used.
        """
        own_bias, fitted = self._predict_twice(self.unknowns, progress)
        urdf = None if self.by_urdf is None else self._predict_twice(self.by_urdf, progress)[1].statistics
        size = fitted.statistics.measured_rms
        return Validation(
            estimate=fitted.statistics,
            own_bias=_relate(own_bias.statistics, size),
            urdf=None if urdf is None else _relate(urdf, size),
            notes=own_bias.notes,
        )

    def _predict_twice(self, unknowns: FloatArray, progress: Progress) -> tuple[Trace, Trace]:
        """With the bias as it is, and with the one that leaves a residual of mean zero."""
        first = self._predict(unknowns, progress)
        shifted = np.concatenate((unknowns[:LOAD], unknowns[LOAD:] + first.statistics.mean))
        return first, self._predict(shifted, progress)

    def _predict(self, unknowns: FloatArray, progress: Progress) -> Trace:
        return replay_bags(self.bags, dataclasses.replace(self.plan, frozen=unknowns), lambda _: None, progress)


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
    unknowns = read_unknowns(document)
    section = document.section("load")
    frame = section.value("sensor_frame", str)
    load = dataclasses.replace(plan.settings.load, sensor_frame=frame, tool_file="")
    plan = dataclasses.replace(plan, settings=dataclasses.replace(plan.settings, load=load))
    description = _find_description(bags, plan)
    Robot.from_urdf(description)
    hung = find_urdf_load(description, frame)
    sign = -1.0 if section.value("wrench_sign", object) == "on_sensor" else 1.0
    by_urdf = None if hung is None else np.concatenate((sign * hung, unknowns[LOAD:]))
    return Comparison(tuple(bags), plan, unknowns, by_urdf)


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


def _relate(statistics: ResidualStatistics, size: FloatArray) -> ResidualStatistics:
    """The same, relative to (6,) rms values of the wrench."""
    relative = np.divide(statistics.rms, size, out=np.zeros(6), where=size > 0.0)
    return dataclasses.replace(statistics, measured_rms=size, relative_rms=relative)


def _compare(found: dict[str, Any], urdf: dict[str, Any]) -> dict[str, Any]:
    """Residual over that of the URDF's prediction, for whatever has a relative rms; None where that one is zero."""
    result: dict[str, Any] = {}
    for name, entry in found.items():
        if name == "relative_rms":
            result["ratio"] = entry / urdf[name] if urdf[name] > 0.0 else None
        elif isinstance(entry, dict):
            result[name] = _compare(entry, urdf[name])
    return result
