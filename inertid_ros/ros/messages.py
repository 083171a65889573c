"""Estimates as messages: the one place where numbers leave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Duration, Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import InertiaStamped
from std_msgs.msg import Float64MultiArray, Header, MultiArrayDimension
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import BoolArray, Event, EventKind, FloatArray
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, inertia_is_known
from inertid_ros.core.rigid_body.inertial import UPPER_TRIANGLE

COMBINED = "only in combinations"
ABSENT = "not identifiable"

TRAJECTORY_TYPES = {
    "builtin_interfaces/msg/Duration": Duration,
    "builtin_interfaces/msg/Time": Time,
    "std_msgs/msg/Header": Header,
    "trajectory_msgs/msg/JointTrajectory": JointTrajectory,
    "trajectory_msgs/msg/JointTrajectoryPoint": JointTrajectoryPoint,
}
"""What a trajectory is made of (`motions.trajectory.fill_message`)."""

_DISTURBING = (EventKind.CONTACT_BEGAN, EventKind.BIAS_CHANGED, EventKind.GRIP_NOT_AS_EXPECTED)
"""Events that keep the load from being known, or may have been a mistake."""
_SECOND = 1_000_000_000


def stamp_message(stamp: int) -> Time:
    """Return nanoseconds as a message."""
    seconds, nanoseconds = divmod(stamp, _SECOND)
    return Time(sec=seconds, nanosec=nanoseconds)


# The load


def inertia_message(estimate: LoadEstimate, body: RigidBodyEstimate) -> InertiaStamped:
    """Return a body whose mass and centre of mass are known, inertia about its centre of mass, in the sensor frame.

    The inertia is that of the nearest feasible body, or all zero as long as it is not known: a point mass, never a
    mixture that no body has. A mass that is zero within its uncertainty has neither centre nor inertia: then all is
    zero, and nothing is carried.
    """
    message = InertiaStamped()
    message.header.frame_id = estimate.frame
    message.header.stamp = stamp_message(estimate.stamp)
    if body.com is None or body.inertia is None:
        return message
    inertia = message.inertia
    inertia.m = body.mass
    inertia.com.x, inertia.com.y, inertia.com.z = body.com.tolist()
    if inertia_is_known(body):
        entries = body.inertia[UPPER_TRIANGLE].tolist()
        inertia.ixx, inertia.ixy, inertia.ixz, inertia.iyy, inertia.iyz, inertia.izz = entries
    return message


def parameters_message(estimate: LoadEstimate) -> Float64MultiArray:
    """Return the ten parameters, 10 x 1: one dimension is labelled with their names, the other with their states.

    A parameter that is not excited yet is 0.
    """
    values = np.where(_is_excited(estimate), estimate.values, 0.0)
    return _column(" ".join(estimate.names), estimate.states, values)


def covariance_message(estimate: LoadEstimate, covariance: FloatArray) -> Float64MultiArray:
    """Return the accuracy or the repeatability of the parameters, 10 x 10, row by row, labelled with their names.

    A parameter that is not excited yet keeps its variance and is correlated with nothing.
    """
    excited = _is_excited(estimate)
    related = np.outer(excited, excited) | np.eye(len(excited), dtype=bool)
    return _square(" ".join(estimate.names), np.where(related, covariance, 0.0))


def event_message(event: Event, frame: str) -> DiagnosticArray:
    """Return an event as one status, with the stamp of the data: its name is the kind, its values are numbers."""
    values = {
        "kind": event.kind.value,
        "confidence": f"{event.confidence:.6f}",
        "mass_before": f"{event.mass_before:.6f}",
        "mass_after": f"{event.mass_after:.6f}",
    }
    status = DiagnosticStatus(
        level=DiagnosticStatus.WARN if event.kind in _DISTURBING else DiagnosticStatus.OK,
        name=event.kind.value,
        message=event.message,
        hardware_id=frame,
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )
    message = DiagnosticArray(status=[status])
    message.header.frame_id = frame
    message.header.stamp = stamp_message(event.stamp)
    return message


def _is_excited(estimate: LoadEstimate) -> BoolArray:
    return np.array([state is not ParameterState.NOT_EXCITED for state in estimate.states])


# The links


def links_message(estimate: LinksEstimate, full: FloatArray) -> Float64MultiArray:
    """Return the ten parameters of each of n links, 10 n x 1, of the feasible completion (F,).

    One dimension is labelled with their names, the other with what the data determine of each: the state of one that is
    identifiable alone, `only in combinations`, or `not identifiable`. Of the latter two it is the value nearest to the
    URDF's.
    """
    inertial = estimate.model.unknowns.inertial
    standing = _describe_standing(estimate.model, estimate.states)[inertial]
    return _column(" ".join(estimate.model.unknowns.names[inertial]), standing, full[inertial])


def base_parameters_message(estimate: LinksEstimate) -> Float64MultiArray:
    """Return the base parameters, B x 1: one dimension is labelled with the combinations, the other with their states.

    One that is not excited yet is near the URDF's.
    """
    return _column("; ".join(estimate.base.texts), estimate.states, estimate.values)


def base_covariance_message(estimate: LinksEstimate) -> Float64MultiArray:
    """Return the covariance of the base parameters, B x B, row by row, both dimensions labelled with them."""
    return _square("; ".join(estimate.base.texts), estimate.covariance)


def _describe_standing(model: LinkModel, states: Sequence[str]) -> list[str]:
    """Say what the data determine of each standard parameter (F,): the state of its base parameter, or why none."""
    standing = [ABSENT] * len(model.unknowns.names)
    for index in model.base.combined.tolist():
        standing[index] = COMBINED
    by_column = dict(zip(model.base.columns.tolist(), states, strict=True))
    for index in model.base.alone.tolist():
        standing[index] = by_column[index]
    return standing


def _column(names: str, states: Sequence[str], values: FloatArray) -> Float64MultiArray:
    size = len(values)
    message = Float64MultiArray(data=values.tolist())
    message.layout.dim = [
        MultiArrayDimension(label=names, size=size, stride=size),
        MultiArrayDimension(label=", ".join(states), size=1, stride=1),
    ]
    return message


def _square(names: str, values: FloatArray) -> Float64MultiArray:
    size = len(values)
    message = Float64MultiArray(data=values.ravel().tolist())
    message.layout.dim = [
        MultiArrayDimension(label=names, size=size, stride=size * size),
        MultiArrayDimension(label=names, size=size, stride=size),
    ]
    return message
