"""The load as a rigid body, as far as it is known."""

from __future__ import annotations

from collections.abc import Sequence

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, describe_body


def find_body(states: Sequence[str], feasible: FloatArray, covariance: FloatArray) -> RigidBodyEstimate | None:
    """The nearest feasible body once its mass and centre of mass are known and something is carried, else None.

    Args:
        states: of the ten parameters.
        feasible: (10,) the body.
        covariance: (10, 10) of the estimate it is nearest to.
    """
    if any(state != "known" for state in states[:4]):
        return None
    body = describe_body(feasible, covariance)
    return None if body.com is None else body


def inertia_is_known(states: Sequence[str]) -> bool:
    """Tell whether all six inertias are known."""
    return all(state == "known" for state in states[4:])
