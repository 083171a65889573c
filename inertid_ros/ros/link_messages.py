"""What is known of the links as messages, labelled like those of the load."""

from __future__ import annotations

from collections.abc import Sequence

from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.link_records import LinkEstimate
from inertid_ros.core.records import FloatArray

COMBINED = "only in combinations"
ABSENT = "not identifiable"


def links_message(estimate: LinkEstimate, full: FloatArray) -> Float64MultiArray:
    """Return the ten parameters of each of n links, 10 n x 1, of the full set (F,) with bodies that can exist.

    One dimension is labelled with their names, the other with what the data tell of each: the state of one that is
    identifiable alone, `only in combinations`, or `not identifiable`. Of the latter two it is the value nearest to the
    URDF's.
    """
    inertial = estimate.model.unknowns.inertial
    standing = _standing(estimate.model, estimate.states)[inertial]
    return _column(" ".join(estimate.model.unknowns.names[inertial]), ", ".join(standing), full[inertial])


def base_parameters_message(estimate: LinkEstimate) -> Float64MultiArray:
    """Return the base parameters, B x 1: one dimension is labelled with the combinations, the other with their states.

    One that is not excited yet is near the URDF's.
    """
    return _column("; ".join(estimate.base.texts), ", ".join(estimate.states), estimate.values)


def base_covariance_message(estimate: LinkEstimate) -> Float64MultiArray:
    """Return the covariance of the base parameters, B x B, row by row, both dimensions labelled with them."""
    size, label = len(estimate.values), "; ".join(estimate.base.texts)
    message = Float64MultiArray(data=estimate.covariance.ravel().tolist())
    message.layout.dim = [
        MultiArrayDimension(label=label, size=size, stride=size * size),
        MultiArrayDimension(label=label, size=size, stride=size),
    ]
    return message


def _standing(model: LinkModel, states: tuple[str, ...]) -> tuple[str, ...]:
    """Say of each of the full set (F,) what the data tell of it: the state of its own base parameter, or why none."""
    standing = [ABSENT] * len(model.unknowns.names)
    for index in model.base.combined.tolist():
        standing[index] = COMBINED
    by_column = dict(zip(model.base.columns.tolist(), states, strict=True))
    for index in model.base.alone.tolist():
        standing[index] = by_column[index]
    return tuple(standing)


def _column(names: str, states: str, values: FloatArray | Sequence[float]) -> Float64MultiArray:
    size = len(values)
    message = Float64MultiArray(data=[float(value) for value in values])
    message.layout.dim = [
        MultiArrayDimension(label=names, size=size, stride=size),
        MultiArrayDimension(label=states, size=1, stride=1),
    ]
    return message
