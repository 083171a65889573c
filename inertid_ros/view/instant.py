"""What is shown at one moment, wherever it comes from: a running estimator or a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from inertid_ros.core.diagnosis import Level
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, inertia_is_known
from inertid_ros.core.rigid_body.picture import Ellipsoid, draw_body
from inertid_ros.core.verdict import judge
from inertid_ros.text.numbers import PARAMETER_UNITS, parameter_units


class Parameters(NamedTuple):
    """U parameters: names, units, values (U,), standard deviations (U,) and states."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: FloatArray
    deviations: FloatArray
    states: tuple[str, ...]

    @property
    def shown(self) -> FloatArray:
        """Values (U,), NaN where nothing is known yet."""
        excited = [state != ParameterState.NOT_EXCITED for state in self.states]
        return np.where(excited, self.values, np.nan)


class Signals(NamedTuple):
    """K channels, with their units: what is measured (K,), and what the model predicts (K,)."""

    channels: tuple[str, ...]
    units: tuple[str, ...]
    measured: FloatArray
    predicted: FloatArray

    @property
    def residual(self) -> FloatArray:
        """Measured less predicted (K,)."""
        return self.measured - self.predicted


class Verdict(NamedTuple):
    """How far something can be trusted: level, a sentence, and what there is to say besides."""

    level: Level
    headline: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Instant:
    """What is known at one moment.

    Attributes:
        time: seconds, of whatever origin.
        joints: positions by the names of the URDF [rad or m].
        frame: of the wrist sensor; empty where there is none, or while it is not known.
        signals: of the newest sample.
        parameters: what is identified.
        body: the load, None until its mass and centre of mass are known.
        inertia_known: whether its inertia may be drawn.
        mode: what the estimator does.
        verdicts: on what is identified, and on its inputs, by name.
    """

    time: float = 0.0
    joints: Mapping[str, float] = field(default_factory=dict)
    frame: str = ""
    signals: Signals | None = None
    parameters: Parameters | None = None
    body: RigidBodyEstimate | None = None
    inertia_known: bool = False
    mode: str = ""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    @property
    def ellipsoids(self) -> dict[str, Ellipsoid]:
        """What can be drawn of the load, in the sensor frame."""
        return draw_body(self.body, self.inertia_known)

    @property
    def wrenches(self) -> dict[str, FloatArray]:
        """Measured, predicted and residual wrench (6,); none where no wrist sensor is measured, or nothing yet."""
        signals = self.signals
        if signals is None or not self.frame or not np.isfinite([signals.measured, signals.predicted]).all():
            return {}
        return {"measured": signals.measured, "predicted": signals.predicted, "residual": signals.residual}


def list_parameters(estimate: LoadEstimate | LinksEstimate) -> Parameters:
    """The parameters of an estimate as people read them."""
    names: tuple[str, ...] = estimate.names
    units: tuple[str, ...] = PARAMETER_UNITS
    if isinstance(estimate, LinksEstimate):
        names, units = estimate.base.texts, parameter_units(estimate.model)
    return Parameters(names, units, estimate.values, estimate.deviations, tuple(map(str, estimate.states)))


def show_estimate(
    estimate: LoadEstimate | LinksEstimate, time: float, joints: Mapping[str, float], signals: Signals | None
) -> Instant:
    """What an estimate says, at a time [s], beside joints and the newest sample."""
    is_load = isinstance(estimate, LoadEstimate)
    body = estimate.known_body if isinstance(estimate, LoadEstimate) else None
    verdict = judge(estimate)
    remarks = dict.fromkeys(finding.message for finding in (*verdict.reasons, *estimate.findings))
    return Instant(
        time=time,
        joints=joints,
        frame=estimate.frame if isinstance(estimate, LoadEstimate) and estimate.sensor is not None else "",
        signals=signals,
        parameters=list_parameters(estimate),
        body=body,
        inertia_known=body is not None and inertia_is_known(body),
        mode=str(estimate.mode),
        verdicts={"load" if is_load else "links": Verdict(verdict.level, verdict.headline, tuple(remarks))},
    )
