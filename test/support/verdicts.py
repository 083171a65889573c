"""Estimates made by hand, one for each reason not to trust them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.diagnosis import Finding, Level
from inertid_ros.core.equations.equation import WRENCH_NAMES, WRENCH_UNITS
from inertid_ros.core.estimation.estimate import Fit, LinksEstimate, LoadEstimate, Mode, Sign, WristSensor
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, compose
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from support.chain import DDARM

PHI = compose(1.8, np.array([0.005, -0.01, 0.06]), np.diag([0.0244, 0.0007, 0.0242]))
KNOWN, UNCERTAIN = ParameterState.KNOWN, ParameterState.UNCERTAIN
SENSOR = WristSensor(Sign.ON_LOAD, np.zeros(6), 1e-4 * np.eye(6), np.full(6, 0.01), True, 1.0)
MEASURED = np.array([10.0, 10.0, 10.0, 1.0, 1.0, 1.0])
WRENCH_FIT = Fit(WRENCH_NAMES, WRENCH_UNITS, np.full(6, 500), 0.01 * MEASURED, MEASURED)


def good_load(**changes: Any) -> LoadEstimate:
    """A load with nothing wrong about it."""
    covariance = np.diag(np.square([1e-3] + [1e-4] * 3 + [2e-4] * 6))
    estimate = LoadEstimate(
        stamp=12_345_678_901,
        mode=Mode.TRACKING,
        names=PARAMETER_NAMES,
        values=PHI,
        covariance=covariance,
        repeatability=covariance,
        states=(KNOWN,) * 10,
        findings=(),
        rows=500,
        fit=WRENCH_FIT,
        frame="ft_sensor",
        feasible=PHI,
        tool=None,
        sensor=SENSOR,
    )
    return replace(estimate, **changes)


@cache
def _empty_links() -> LinksEstimate:
    joints = ["joint1", "joint2", "joint3"]
    switches = {"links.rotor_inertia": False, "links.offset": False, "links.coulomb": True, "links.viscous": False}
    settings = Settings.from_flat({"links.effort_unit": "newton_metre", "links.joints": joints, **switches})
    estimate = Chain(Robot.from_urdf(DDARM), settings, Target.LINKS).estimate()
    assert isinstance(estimate, LinksEstimate)
    return estimate


def good_links(**changes: Any) -> LinksEstimate:
    """An arm with nothing wrong about it."""
    empty = _empty_links()
    count, ones = len(empty.names), np.ones(len(empty.model.channels))
    fit = Fit(empty.model.channels, empty.model.units, np.full(len(ones), 500), 0.2 * ones, 10.0 * ones, 2.0 * ones)
    estimate = replace(
        empty, states=(KNOWN,) * count, rows=500, fit=fit, mode=Mode.TRACKING, covariance=1e-6 * np.eye(count)
    )
    return replace(estimate, **changes)


class Case(NamedTuple):
    """An estimate with one thing wrong, and what the verdict must say."""

    name: str
    estimate: LoadEstimate | LinksEstimate
    code: str
    level: Level
    fails: bool = False


def _with_residual(share: float, fit: Fit) -> Fit:
    return replace(fit, residual_rms=share * fit.measured_rms)


def _make_load_cases() -> list[Case]:
    error, warning = Finding("error", "frame_turned", "it is turned"), Finding("warning", "wrench_late", "it is late")
    contradiction = Finding("warning", "recordings_contradict", "the recordings contradict each other")
    return [
        Case("finding_error", good_load(findings=(error,)), "frame_turned", "error", True),
        Case("finding_warning", good_load(findings=(warning,)), "wrench_late", "warning"),
        Case("contradiction", good_load(findings=(contradiction,)), "recordings_contradict", "warning", True),
        Case("misfit", good_load(sensor=replace(SENSOR, variance_inflation=25.0)), "misfit", "warning"),
        Case("residual", good_load(fit=_with_residual(0.2, WRENCH_FIT)), "residual", "warning"),
        Case("large_residual", good_load(fit=_with_residual(0.6, WRENCH_FIT)), "residual", "error", True),
        Case("contact_share", good_load(sensor=replace(SENSOR, contact_share=0.6)), "contact_share", "warning"),
        Case("in_contact", good_load(mode=Mode.CONTACT), "in_contact", "warning"),
        Case("noise_assumed", good_load(sensor=replace(SENSOR, noise_calibrated=False)), "noise_assumed", "info"),
        Case("not_known", good_load(states=(KNOWN,) * 4 + (UNCERTAIN,) * 6), "not_known", "info"),
        Case("nothing_known", good_load(states=(UNCERTAIN,) * 10), "not_known", "info"),
    ]


def _make_link_cases() -> list[Case]:
    fit = good_links().fit
    assert fit is not None
    error = Finding("error", "effort_sign", "the sign is wrong")
    states = (UNCERTAIN, *good_links().states[1:])
    poor = replace(fit, urdf_rms=fit.measured_rms)
    worse = replace(fit, urdf_rms=0.5 * fit.residual_rms)
    return [
        Case("links_finding", good_links(findings=(error,)), "effort_sign", "error", True),
        Case("links_residual", good_links(fit=_with_residual(0.2, poor)), "residual", "warning"),
        Case("links_large_residual", good_links(fit=_with_residual(0.3, poor)), "residual", "error", True),
        Case("worse_than_urdf", good_links(fit=worse), "worse_than_urdf", "error", True),
        Case("links_not_known", good_links(states=states), "not_known", "info"),
    ]


LOAD_CASES = _make_load_cases()
LINK_CASES = _make_link_cases()
