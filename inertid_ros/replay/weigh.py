"""The load of a robot without a wrist sensor, from the efforts in bags and an arm that was identified before."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inertid_ros.core.errors import RecordingError
from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.rigid_body.description import describe_body
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.replay.plan import Plan, Progress
from inertid_ros.replay.replay import replay_bags


@dataclass(frozen=True, slots=True)
class Weighing:
    """What came of it.

    Attributes:
        estimate: the load.
        notes: what was wrong, a line each.
    """

    estimate: LoadEstimate
    notes: tuple[str, ...]

    def list_all(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        estimate = self.estimate
        fit = estimate.fit
        assert fit is not None
        body = describe_body(estimate.values, estimate.covariance)
        return {
            "frame": estimate.frame,
            "mass": {"value": body.mass, "deviation": body.mass_std},
            "com": None if body.com is None else np.asarray(body.com).tolist(),
            "parameters": {
                name: {"value": float(value), "deviation": float(deviation), "state": state}
                for name, value, deviation, state in zip(
                    PARAMETER_NAMES, estimate.values, estimate.deviations, estimate.states, strict=True
                )
            },
            "covariance": estimate.covariance.tolist(),
            "feasible": dict(zip(PARAMETER_NAMES, estimate.feasible.tolist(), strict=True)),
            "residual_rms": dict(zip(fit.channels, fit.residual_rms.tolist(), strict=True)),
            "rows": estimate.rows,
            "notes": list(self.notes),
        }


def weigh(paths: Sequence[Path], plan: Plan, progress: Progress) -> Weighing:
    """Identify the load that is carried in all of the bags: a replay with load.source effort.

    Raises:
        InertidError: if a file cannot be used, settings do not fit together, or no effort could be used.
    """
    alone = dataclasses.replace(plan.settings, estimators=["load"])
    traces = replay_bags(paths, dataclasses.replace(plan, settings=alone), lambda: None, progress)
    assert traces.load is not None
    estimate, notes = traces.load.estimate, list(traces.load.notes)
    health = [item for item in traces.load.health if item.level == "error"]
    if estimate.rows == 0:
        reasons = "; ".join(f"{item.message}: {item.remedy}" for item in health)
        raise RecordingError(f"no effort in {', '.join(map(str, paths))} could be used: {reasons or 'nothing moves'}")
    notes += [f"{item.source}: {item.message} ({item.count} times)" for item in health]
    return Weighing(estimate, tuple(notes))
