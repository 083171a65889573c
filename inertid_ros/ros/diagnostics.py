"""/diagnostics: for each input what is wrong, since when, how often and what to do; and what is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from inertid_ros.core.diagnosis import Finding, Level
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate, WristSensor
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, inertia_is_known
from inertid_ros.core.verdict import judge
from inertid_ros.ros.messages import stamp_message
from inertid_ros.ros.monitor import Issue, Situation, TaskStatus
from inertid_ros.ros.objects import object_status
from inertid_ros.text.numbers import (
    format_base_parameters,
    format_count,
    format_fits,
    format_interval,
    format_largest_gain,
    format_nuisances,
    format_parameter,
)

LEVELS: Mapping[Level, bytes] = {
    "info": DiagnosticStatus.OK,
    "warning": DiagnosticStatus.WARN,
    "error": DiagnosticStatus.ERROR,
}
STALE = 1.0
"""Seconds without a sample that could be used from which on an estimate is stale."""

_NOT_EXCITED = ParameterState.NOT_EXCITED
_NOT_UNIQUE = "axis not unique: another moment is equal within their uncertainty"
_AXES = (("fx", "N"), ("fy", "N"), ("fz", "N"), ("nx", "Nm"), ("ny", "Nm"), ("nz", "Nm"))


def diagnostics_message(node: str, situation: Situation) -> DiagnosticArray:
    """Make a message of all that is wrong and of all that is known; `node` is the node's name."""
    issues = situation.issues
    statuses = [input_status(node, source, issues, rate) for source, rate in situation.rates.items()]
    statuses += [input_status(node, source, issues) for source in situation.others]
    statuses += [task_status(node, task) for task in situation.tasks]
    statuses += [object_status(node, task.held) for task in situation.tasks if task.held is not None]
    message = DiagnosticArray(status=statuses)
    message.header.stamp = stamp_message(situation.stamp)
    return message


def input_status(node: str, source: str, issues: Iterable[Issue], rate: float | None = None) -> DiagnosticStatus:
    """Sum up one input: level and message of the worst and newest current issue, and the history of all.

    Args:
        node: name of the node.
        source: which input.
        issues: those of this source count.
        rate: messages a second [Hz], where that means something.
    """
    own = [issue for issue in issues if issue.item.source == source]
    status = DiagnosticStatus(name=f"{node}: {source}", hardware_id=node, level=DiagnosticStatus.OK, message="fine")
    if rate is not None:
        status.values.append(KeyValue(key="rate [Hz]", value=f"{rate:.1f}"))
    for issue in sorted(own, key=_importance, reverse=True):
        item = issue.item
        text = f"{item.message}{': ' + item.detail if item.detail else ''}. To do: {item.remedy}"
        if issue.is_current and status.message == "fine":
            status.level, status.message = LEVELS[item.level], text
        history = f"{format_count(item.count)} since {_seconds(item.first_stamp)}, last at {_seconds(item.last_stamp)}"
        status.values.append(KeyValue(key=item.code, value=f"{history}{'' if issue.is_current else ' (over)'}: {text}"))
    return status


def task_status(node: str, task: TaskStatus) -> DiagnosticStatus:
    """Level and message of the verdict on an estimate, its reasons, and all that is known."""
    status = DiagnosticStatus(name=f"{node}: {task.name}", hardware_id=node, level=DiagnosticStatus.OK)
    estimate = task.estimate
    if estimate is None or estimate.rows == 0:
        status.message = "no estimate yet"
        return status
    stale = []
    if task.age > STALE:
        sample = "wrench" if isinstance(estimate, LoadEstimate) and estimate.sensor is not None else "sample"
        stale = [Finding("warning", "stale", f"stale, no {sample} was used for {task.age:.1f} s")]
    verdict = judge(estimate, stale)
    status.level, status.message = LEVELS[verdict.level], verdict.headline
    values = {finding.code: finding.message for finding in (*verdict.reasons, *estimate.findings)}
    values["mode"] = estimate.mode
    values |= _load_values(estimate) if isinstance(estimate, LoadEstimate) else _links_values(estimate)
    status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
    return status


def _load_values(estimate: LoadEstimate) -> dict[str, str]:
    described = zip(estimate.values, estimate.deviations, estimate.states, strict=True)
    values = {
        name: format_parameter(index, value, deviation, state)
        for index, (name, (value, deviation, state)) in enumerate(zip(estimate.names, described, strict=True))
    }
    sensor = {} if estimate.sensor is None else {"wrench sign": estimate.sensor.sign or "not known yet"}
    if estimate.states[0] is not _NOT_EXCITED:
        sensor |= {
            f"mass, {word}": format_interval(estimate.values[0], deviations[0], "kg")
            for word, deviations in (
                ("accuracy", estimate.deviations),
                ("repeatability", estimate.repeatable_deviations),
            )
        }
    return sensor | values | _body_values(estimate.known_body) | _sensor_values(estimate.sensor)


def _links_values(estimate: LinksEstimate) -> dict[str, str]:
    values = {f"unexplained of {channel}": text for channel, text in format_fits(estimate).items()}
    return values | format_base_parameters(estimate)


def _body_values(body: RigidBodyEstimate | None) -> dict[str, str]:
    """Centre of mass and principal moments, as far as they are known."""
    values: dict[str, str] = {}
    if body is None or body.com is None or body.com_std is None:
        return values
    for axis, com, deviation in zip("xyz", body.com, body.com_std, strict=True):
        values[f"centre of mass {axis}"] = format_interval(com, deviation, "m")
    if not inertia_is_known(body) or body.principal_moments is None or body.principal_axes is None:
        return values
    assert body.principal_moments_std is not None
    assert body.axes_unique is not None
    for index, (moment, deviation) in enumerate(zip(body.principal_moments, body.principal_moments_std, strict=True)):
        axis = ", ".join(f"{component:.3f}" for component in body.principal_axes[:, index])
        about = f"about ({axis})" if body.axes_unique[index] else _NOT_UNIQUE
        values[f"principal moment {index + 1}"] = f"{format_interval(moment, deviation, 'kg m²')}, {about}"
    return values


def _sensor_values(sensor: WristSensor | None) -> dict[str, str]:
    """What is systematically wrong, bias and noise of a wrist sensor; nothing where there is none."""
    if sensor is None:
        return {}
    deviations = np.sqrt(np.diag(sensor.bias_covariance))
    source = "measured at standstill" if sensor.noise_calibrated else "assumed: let the robot stand still for 2 s"
    nuisances = format_nuisances(sensor)
    shown = [name for name in nuisances if not name.startswith("gain")]
    values = {name: nuisances[name] for name in shown}
    values |= {"largest gain": format_largest_gain(sensor)} if nuisances else {}
    for index, (axis, unit) in enumerate(_AXES):
        values[f"bias {axis}"] = format_interval(sensor.bias[index], deviations[index], unit)
    for index, (axis, unit) in enumerate(_AXES):
        values[f"noise {axis}"] = f"{sensor.noise_density[index]:.2g} {unit}/sqrt(Hz) ({source})"
    return values


def _importance(issue: Issue) -> tuple[bool, bytes, int]:
    return issue.is_current, LEVELS[issue.item.level], issue.item.last_stamp


def _seconds(stamp: int) -> str:
    return f"{stamp / 1e9:.3f} s"
