"""/diagnostics: for each input what is wrong, since when, how often and what to do; for the load what is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from inertid_ros.core.diagnosis import Level
from inertid_ros.core.load_chain import LoadEstimate
from inertid_ros.core.rigid_body.description import RigidBodyEstimate
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.ros.messages import inertia_is_known, stamp_message
from inertid_ros.ros.trouble import Trouble
from inertid_ros.text.numbers import format_count, format_interval, format_parameter

LEVELS: Mapping[Level, bytes] = {
    "info": DiagnosticStatus.OK,
    "warning": DiagnosticStatus.WARN,
    "error": DiagnosticStatus.ERROR,
}
STALE = 1.0
"""Seconds without a wrench that could be used from which on an estimate is stale."""

_NOT_UNIQUE = "axis not unique: another moment is equal within their uncertainty"
_AXES = (("fx", "N"), ("fy", "N"), ("fz", "N"), ("nx", "Nm"), ("ny", "Nm"), ("nz", "Nm"))


def diagnostics_message(stamp: int, statuses: Sequence[DiagnosticStatus]) -> DiagnosticArray:
    """Put statuses together; the stamp is the node's clock, nanoseconds."""
    message = DiagnosticArray(status=list(statuses))
    message.header.stamp = stamp_message(stamp)
    return message


def input_status(node: str, source: str, troubles: Iterable[Trouble], rate: float | None = None) -> DiagnosticStatus:
    """Sum up one input: level and message of the worst and newest trouble that goes on, and the history of all.

    Args:
        node: name of the node.
        source: which input.
        troubles: those of this source count.
        rate: messages a second [Hz], where that means something.
    """
    own = [trouble for trouble in troubles if trouble.item.source == source]
    status = DiagnosticStatus(name=f"{node}: {source}", hardware_id=node, level=DiagnosticStatus.OK, message="fine")
    if rate is not None:
        status.values.append(KeyValue(key="rate [Hz]", value=f"{rate:.1f}"))
    for trouble in sorted(own, key=_importance, reverse=True):
        item = trouble.item
        text = f"{item.message}{': ' + item.detail if item.detail else ''}. To do: {item.remedy}"
        if trouble.current and status.message == "fine":
            status.level, status.message = LEVELS[item.level], text
        history = f"{format_count(item.count)} since {_seconds(item.first_stamp)}, last at {_seconds(item.last_stamp)}"
        status.values.append(KeyValue(key=item.code, value=f"{history}{'' if trouble.current else ' (over)'}: {text}"))
    return status


def load_status(
    node: str, estimate: LoadEstimate | None, body: RigidBodyEstimate | None, age: float
) -> DiagnosticStatus:
    """Sum up what is known of the load; findings about signs and frames decide the level.

    Args:
        node: name of the node.
        estimate: what is known, or None while there is nothing.
        body: the same as a rigid body, or None as long as mass and centre of mass are not known.
        age: seconds since the last wrench was used.
    """
    status = DiagnosticStatus(name=f"{node}: load", hardware_id=node, level=DiagnosticStatus.OK)
    if estimate is None:
        status.message = "no estimate yet"
        return status
    status.message = describe_load(estimate)
    is_stale = estimate.rows > 0 and age > STALE
    if is_stale:
        status.level = DiagnosticStatus.WARN
        status.message = f"stale, no wrench was used for {age:.1f} s; before that: {status.message}"
    for finding in estimate.findings:
        if LEVELS[finding.level] > status.level:
            status.level, status.message = LEVELS[finding.level], finding.message
    values = {finding.code: finding.message for finding in estimate.findings}
    if is_stale:
        values["stale"] = f"{age:.1f} s since the last wrench that was used"
    values["mode"] = estimate.mode
    values["wrench sign"] = estimate.sign or "not known yet"
    values |= _parameter_values(estimate) | _body_values(body, inertia_is_known(estimate)) | _sensor_values(estimate)
    status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
    return status


def _parameter_values(estimate: LoadEstimate) -> dict[str, str]:
    deviations = np.sqrt(np.diag(estimate.covariance))
    return {
        name: format_parameter(index, estimate.parameters[index], deviations[index], estimate.states[index])
        for index, name in enumerate(PARAMETER_NAMES)
    }


def _body_values(body: RigidBodyEstimate | None, inertia_known: bool) -> dict[str, str]:
    """Centre of mass and principal moments, as far as they are known."""
    values: dict[str, str] = {}
    if body is None or body.com is None or body.com_std is None:
        return values
    for axis, com, deviation in zip("xyz", body.com, body.com_std, strict=True):
        values[f"centre of mass {axis}"] = format_interval(com, deviation, "m")
    if not inertia_known or body.principal_moments is None or body.principal_axes is None:
        return values
    assert body.principal_moments_std is not None
    assert body.axes_unique is not None
    for index, (moment, deviation) in enumerate(zip(body.principal_moments, body.principal_moments_std, strict=True)):
        axis = ", ".join(f"{component:.3f}" for component in body.principal_axes[:, index])
        about = f"about ({axis})" if body.axes_unique[index] else _NOT_UNIQUE
        values[f"principal moment {index + 1}"] = f"{format_interval(moment, deviation, 'kg m²')}, {about}"
    return values


def _sensor_values(estimate: LoadEstimate) -> dict[str, str]:
    deviations = np.sqrt(np.diag(estimate.bias_covariance))
    source = "measured at standstill" if estimate.noise_calibrated else "assumed: let the robot stand still for 2 s"
    values = {}
    for index, (axis, unit) in enumerate(_AXES):
        values[f"bias {axis}"] = format_interval(estimate.bias[index], deviations[index], unit)
    for index, (axis, unit) in enumerate(_AXES):
        values[f"noise {axis}"] = f"{estimate.noise_density[index]:.2g} {unit}/sqrt(Hz) ({source})"
    return values


def describe_load(estimate: LoadEstimate) -> str:
    """Say in one line what is known of the load."""
    parts = []
    if estimate.states[0] == "known":
        parts.append(f"mass {format_interval(estimate.parameters[0], np.sqrt(estimate.covariance[0, 0]), 'kg')}")
    for name, states in (("centre of mass", estimate.states[:4]), ("inertia", estimate.states[4:])):
        worst = next((s for s in ("not excited yet", "uncertain") if s in states), "known")
        parts.append(f"{name} {worst}")
    advice = "" if "not excited yet" not in estimate.states else "; turn the sensor about two axes to excite the rest"
    return ", ".join(parts) + advice


def _importance(trouble: Trouble) -> tuple[bool, bytes, int]:
    return trouble.current, LEVELS[trouble.item.level], trouble.item.last_stamp


def _seconds(stamp: int) -> str:
    return f"{stamp / 1e9:.3f} s"
