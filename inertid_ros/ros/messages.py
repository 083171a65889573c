"""Estimates to messages: the one place where numbers leave, and where those that are not finite are stopped."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import InertiaStamped
from numpy.typing import NDArray
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from inertid_ros.core.load_chain import LoadEstimate
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, describe_body
from inertid_ros.core.rigid_body.inertial import INERTIA_INDEX, PARAMETER_NAMES

_SECOND = 1_000_000_000


def is_publishable(estimate: LoadEstimate) -> bool:
    """Tell whether every number of an estimate is finite; no message may be made of any other."""
    arrays = (estimate.parameters, estimate.covariance, estimate.feasible, estimate.bias, estimate.bias_covariance)
    return all(bool(np.isfinite(array).all()) for array in arrays)


def stamp_message(stamp: int) -> Time:
    """Return nanoseconds as a message."""
    seconds, nanoseconds = divmod(stamp, _SECOND)
    return Time(sec=seconds, nanosec=nanoseconds)


def inertia_is_known(estimate: LoadEstimate) -> bool:
    """Tell whether all six inertias are numbers to trust."""
    return all(state == "known" for state in estimate.states[4:])


def com_is_known(estimate: LoadEstimate) -> bool:
    """Tell whether mass and mass moments are numbers to trust."""
    return all(state == "known" for state in estimate.states[:4])


def known_body(estimate: LoadEstimate) -> RigidBodyEstimate | None:
    """Return the nearest feasible body with its uncertainty, or None until its mass and centre of mass are known."""
    return describe_body(estimate.feasible, estimate.covariance) if com_is_known(estimate) else None


def inertia_message(estimate: LoadEstimate, body: RigidBodyEstimate) -> InertiaStamped:
    """Return a body whose mass and centre of mass are known, inertia about its centre of mass, in the sensor frame.

    Entries of the inertia that are not known are 0. A mass that is zero within its uncertainty has neither centre nor
    inertia: then all is 0, and nothing is carried.
    """
    message = InertiaStamped()
    message.header.frame_id = estimate.sensor_frame
    message.header.stamp = stamp_message(estimate.stamp)
    if body.com is None or body.inertia is None:
        return message
    known = np.array([state == "known" for state in estimate.states])
    entries = np.where(known[INERTIA_INDEX], body.inertia, 0.0)
    inertia = message.inertia
    inertia.m = body.mass
    inertia.com.x, inertia.com.y, inertia.com.z = body.com.tolist()
    inertia.ixx, inertia.ixy, inertia.ixz = entries[0].tolist()
    inertia.iyy, inertia.iyz = entries[1, 1:].tolist()
    inertia.izz = float(entries[2, 2])
    return message


def parameters_message(estimate: LoadEstimate) -> Float64MultiArray:
    """Return the ten parameters, 10 x 1: one dimension is labelled with their names, the other with their states.

    A parameter that is not excited yet is 0.
    """
    message = Float64MultiArray()
    message.layout.dim = [
        MultiArrayDimension(label=" ".join(PARAMETER_NAMES), size=10, stride=10),
        MultiArrayDimension(label=", ".join(estimate.states), size=1, stride=1),
    ]
    message.data = np.where(_is_excited(estimate), estimate.parameters, 0.0).tolist()
    return message


def covariance_message(estimate: LoadEstimate) -> Float64MultiArray:
    """Return the covariance of the parameters, 10 x 10, row by row, both dimensions labelled with their names.

    A parameter that is not excited yet keeps its variance and is correlated with nothing.
    """
    excited = _is_excited(estimate)
    related = np.outer(excited, excited) | np.eye(10, dtype=bool)
    message = Float64MultiArray()
    label = " ".join(PARAMETER_NAMES)
    message.layout.dim = [
        MultiArrayDimension(label=label, size=10, stride=100),
        MultiArrayDimension(label=label, size=10, stride=10),
    ]
    message.data = np.where(related, estimate.covariance, 0.0).ravel().tolist()
    return message


def _is_excited(estimate: LoadEstimate) -> NDArray[np.bool_]:
    return np.array([state != "not excited yet" for state in estimate.states])
