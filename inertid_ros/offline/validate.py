"""How well frozen parameters predict another recording: the number people quote."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inertid_ros.core.errors import RobotDescriptionError
from inertid_ros.core.load_trial import LOAD
from inertid_ros.core.records import FloatArray
from inertid_ros.offline.bag_reader import Bag
from inertid_ros.offline.estimate_json import list_residual, read_document, read_unknowns
from inertid_ros.offline.replay import Plan, Progress, find_description, replay_bags
from inertid_ros.offline.trace import ResidualStatistics, Trace
from inertid_ros.offline.urdf_load import find_urdf_load


@dataclass(frozen=True, slots=True)
class Validation:
    """Residuals of frozen parameters.

    The bias is the sensor's and not the load's: it is other after every zeroing. So a constant in each channel is
    fitted to the recording, unless said otherwise.

    Attributes:
        estimate: with the load and the tool of the estimate.
        own_bias: the same, but with the bias of the estimate, too.
        urdf: with what the URDF says hangs on the sensor; None if it says nothing.
        notes: what went wrong, a line each.
    """

    estimate: ResidualStatistics
    own_bias: ResidualStatistics
    urdf: ResidualStatistics | None
    notes: tuple[str, ...]

    def list_all(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        return {
            **list_residual(self.estimate),
            "own_bias": list_residual(self.own_bias),
            "urdf": None if self.urdf is None else list_residual(self.urdf),
            "notes": list(self.notes),
        }


def validate(path: Path, bags: Sequence[Path], plan: Plan, progress: Progress) -> Validation:
    """Predict bags with the estimate of a replay.

    Args:
        path: an estimate.json.
        bags: the recording to predict.
        plan: with the settings and topics to use; its description may be empty.
        progress: is told of every block.

    Raises:
        InertidError: if the estimate or the recording cannot be used.
    """
    document = read_document(path)
    unknowns = read_unknowns(document)
    load_section = document.section("load")
    frame = load_section.value("sensor_frame", str)
    sign = -1.0 if load_section.value("wrench_sign", object) == "on_sensor" else 1.0
    load = dataclasses.replace(plan.settings.load, sensor_frame=frame, tool_file="")
    plan = dataclasses.replace(plan, settings=dataclasses.replace(plan.settings, load=load))
    own_bias = _predict(bags, plan, unknowns, progress)
    fitted = _predict(bags, plan, _shift_bias(unknowns, own_bias), progress)
    urdf = None
    hung = _find_urdf_load(bags, plan, frame)
    if hung is not None:
        by_urdf = np.concatenate((sign * hung, unknowns[LOAD:]))
        urdf = _predict(bags, plan, _shift_bias(by_urdf, _predict(bags, plan, by_urdf, progress)), progress)
    return Validation(
        estimate=fitted.statistics,
        own_bias=own_bias.statistics,
        urdf=None if urdf is None else urdf.statistics,
        notes=own_bias.notes,
    )


def _predict(bags: Sequence[Path], plan: Plan, unknowns: FloatArray, progress: Progress) -> Trace:
    return replay_bags(bags, dataclasses.replace(plan, frozen=unknowns), lambda _: None, progress)


def _shift_bias(unknowns: FloatArray, trace: Trace) -> FloatArray:
    """The same unknowns with the bias that leaves a residual of mean zero."""
    return np.concatenate((unknowns[:LOAD], unknowns[LOAD:] + trace.statistics.mean))


def _find_urdf_load(bags: Sequence[Path], plan: Plan, frame: str) -> FloatArray | None:
    """Parameters (10,) of what the URDF has beyond the sensor, or None."""
    description = plan.description
    for path in () if description else bags:
        try:
            with Bag(path) as bag:
                description = find_description(bag, plan.topics)
                break
        except RobotDescriptionError:
            continue
    return find_urdf_load(description, frame)
