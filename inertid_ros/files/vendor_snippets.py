"""A load the way other software takes it, as far as it is known: vendor snippets for URDF, Universal Robots and Franka.

Only what is known is written; where something is missing, its name stands in place of the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, describe_body
from inertid_ros.core.rigid_body.feasibility import nearest_feasible
from inertid_ros.core.rigid_body.inertial import UPPER_TRIANGLE, Tool, decompose

_GROUPS = (("mass", slice(0, 1)), ("centre of mass", slice(1, 4)), ("inertia", slice(4, 10)))


def find_missing(states: Sequence[str], is_carried: bool) -> tuple[str, ...]:
    """Name what is not known of a body: the first missing of "mass", "centre of mass" and "inertia", and the rest.

    A body that is not carried, its mass not significantly positive, has only a mass.
    """
    for number, (_, columns) in enumerate(_GROUPS):
        if any(state != "known" for state in states[columns]) or (number > 0 and not is_carried):
            return tuple(name for name, _ in _GROUPS[number:])
    return ()


def make_snippets(phi: FloatArray, states: Sequence[str], is_carried: bool, tool: Tool | None) -> dict[str, Any]:
    """Return the snippets, by receiver, for a load (10,), a feasible body in the sensor frame with these states.

    `is_carried` tells whether its mass is significantly positive. A UR counts the tool as payload, the others do not.
    """
    missing = find_missing(states, is_carried)
    payload = phi if tool is None else phi + _make_feasible(tool)
    return {
        "urdf_inertial": write_urdf_inertial(phi, missing),
        "ur_script": write_ur_payload(payload, find_missing(states, is_carried or tool is not None)),
        "franka_set_load": list_franka_load(phi, missing),
    }


def write_urdf_inertial(phi: FloatArray, missing: Sequence[str]) -> str:
    """Write the `<inertial>` element of a link whose frame is the sensor frame."""
    if missing:
        return _say_missing(missing)
    mass, com, inertia = decompose(phi)
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    moments = " ".join(
        f'{name}="{value:.9g}"' for name, value in zip(names, inertia[UPPER_TRIANGLE].tolist(), strict=True)
    )
    return (
        "<inertial>\n"
        f'  <origin xyz="{" ".join(f"{value:.9g}" for value in com.tolist())}" rpy="0 0 0"/>\n'
        f'  <mass value="{mass:.9g}"/>\n'
        f"  <inertia {moments}/>\n"
        "</inertial>\n"
    )


def write_ur_payload(phi: FloatArray, missing: Sequence[str]) -> str:
    """Write the URScript line that sets the payload.

    The signature is set_target_payload(m, cog, inertia), the inertia about the centre of gravity in the order Ixx, Iyy,
    Izz, Ixy, Ixz, Iyz. It is optional. Controllers before 5.10 have set_payload(m, cog) instead.
    """
    if "centre of mass" in missing:
        return _say_missing(missing)
    mass, com, inertia = decompose(phi)
    arguments = f"{mass:.6g}, {_list(com)}"
    if missing:
        return f"set_target_payload({arguments})  # {_say_missing(missing)}\n"
    moments = np.append(inertia.diagonal(), inertia[np.triu_indices(3, 1)])
    return f"set_target_payload({arguments}, {_list(moments)})\n"


def list_franka_load(phi: FloatArray, missing: Sequence[str]) -> dict[str, Any] | str:
    """List the numbers of franka_msgs/SetLoad, which are the arguments of libfranka's setLoad in their order.

    The inertia is about the centre of mass, a 3x3 matrix column by column.
    """
    if missing:
        return _say_missing(missing)
    mass, com, inertia = decompose(phi)
    return {"mass": mass, "center_of_mass": com.tolist(), "load_inertia": inertia.ravel(order="F").tolist()}


def _make_feasible(tool: Tool) -> FloatArray:
    """Return the feasible body (10,) nearest to a tool, whose covariance may be singular and of any scale."""
    deviations = np.sqrt(np.maximum(tool.covariance.diagonal(), 1e-18))
    correlation = tool.covariance / np.outer(deviations, deviations)
    information = np.linalg.pinv(correlation, hermitian=True) / np.outer(deviations, deviations)
    return nearest_feasible(tool.phi, np.asarray(information, dtype=float))


def _say_missing(missing: Sequence[str]) -> str:
    return f"not known yet: {', '.join(missing)}"


def _list(values: FloatArray) -> str:
    return f"[{', '.join(f'{value:.6g}' for value in values.tolist())}]"


def find_body(states: Sequence[str], feasible: FloatArray, covariance: FloatArray) -> RigidBodyEstimate | None:
    """The nearest feasible body (10,) once its mass and centre of mass are known and something is carried, else None.

    The covariance (10, 10) is that of the estimate it is nearest to.
    """
    if any(state != "known" for state in states[:4]):
        return None
    body = describe_body(feasible, covariance)
    return None if body.com is None else body


def inertia_is_known(states: Sequence[str]) -> bool:
    """Tell whether all six inertias are known."""
    return all(state == "known" for state in states[4:])
