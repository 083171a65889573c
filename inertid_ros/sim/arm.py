"""How a simulated arm differs from its URDF: its true links, such as those the 1986 paper estimated, and its drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, from_pinocchio, to_pinocchio
from inertid_ros.core.robot.robot import Robot
from inertid_ros.motions.motion import JointPath

PerJoint = float | Sequence[float] | FloatArray


def spread_over_joints(name: str, values: PerJoint, count: int) -> FloatArray:
    """Return one number for each joint, (count,), or raise SettingError naming what was given."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape not in ((), (1,), (count,)):
        raise SettingError(name, values, f"one number, or one for each of the {count} joints")
    return np.broadcast_to(numbers, count).copy()


@dataclass(frozen=True, slots=True, eq=False)
class JointFriction:
    """Constants of the drives, each one number for all joints or one for each; the default is an ideal drive.

    Attributes:
        viscous_friction: effort for each unit of velocity, Nm s/rad or N s/m.
        coulomb_friction: effort against the direction of motion, none at rest, Nm or N.
        rotor_inertia: of the motor as seen at the joint, kg m^2 or kg.
        effort_offset: always there, of either sign, Nm or N.
    """

    viscous_friction: PerJoint = 0.0
    coulomb_friction: PerJoint = 0.0
    rotor_inertia: PerJoint = 0.0
    effort_offset: PerJoint = 0.0

    def __post_init__(self) -> None:
        """Reject what no drive can be."""
        for field in fields(self):
            values = np.asarray(getattr(self, field.name))
            if not np.all(np.isfinite(values)) or (field.name != "effort_offset" and np.any(values < 0.0)):
                expected = "finite numbers" if field.name == "effort_offset" else "finite numbers of 0 or more"
                raise SettingError(field.name, getattr(self, field.name), expected)

    def for_joints(self, count: int) -> JointFriction:
        """Return the same with one number for each joint; SettingError if there are others than that."""
        return JointFriction(
            *(spread_over_joints(field.name, getattr(self, field.name), count) for field in fields(self))
        )

    def efforts(self, path: JointPath) -> FloatArray:
        """Compute what the motors need on top of what the links do, (N, n).

        tau = J a + d v + c sign(v) + o,    with rotor inertia J, viscous d, Coulomb c and offset o
        """
        result: FloatArray = (
            np.multiply(self.rotor_inertia, path.accelerations)
            + np.multiply(self.viscous_friction, path.velocities)
            + np.multiply(self.coulomb_friction, np.sign(path.velocities))
            + np.asarray(self.effort_offset)
        )
        return result


def links_of(robot: Robot) -> FloatArray:
    """Return phi (n, 10) of what each joint moves before the next one, in the frame of the joint."""
    return np.array([from_pinocchio(inertia) for inertia in list(robot.model.inertias)[1:]])


def with_links(robot: Robot, links: FloatArray) -> Robot:
    """Return a robot that is the same but for its moving links, phi (n, 10) in the frames of the joints.

    Links that are fixed to each other are one, as in `links_of`. What does not move stays as it is.

    Raises:
        SettingError: if there is not one finite phi for each joint, or one has no positive inertia about its centre.
        NotIdentifiedError: if a link with any parameter other than zero has no positive mass.
    """
    count = len(robot.joint_names)
    if np.shape(links) != (count, 10) or not np.all(np.isfinite(links)):
        raise SettingError("links", np.shape(links), f"ten finite parameters for each of the {count} joints")
    model = robot.model.copy()
    try:
        for joint, phi in enumerate(links, start=1):
            model.inertias[joint] = to_pinocchio(phi)
    except RuntimeError:
        raise SettingError("links", phi.tolist(), "a body with positive inertia about its centre of mass") from None
    return Robot(model)


ESTIMATED = (
    ({"mcx2": 1.0}, -0.1591),
    ({"Ixy2": 1.0}, 0.3894),
    ({"Ixz2": 1.0}, 0.0118),
    ({"mcx3": 1.0}, 0.4676),
    ({"mcy3": 1.0}, 0.0315),
    ({"Ixy3": 1.0}, -0.0256),
    ({"Ixz3": 1.0}, 0.0143),
    ({"Iyz3": 1.0}, -0.0160),
    ({"Izz3": 1.0}, 0.3568),
    ({"mcz3": 0.45, "Iyz2": 1.0}, -1.0589),
    ({"Ixx3": 1.0, "Iyy3": -1.0}, -0.3691),
    ({"Izz2": 1.0, "Ixx3": 1.0}, 0.7082),
    ({"Izz1": 1.0, "Ixx2": 1.0, "Ixx3": 1.0, "m3": 0.2025}, 15.4029),
    ({"Ixx2": 1.0, "Ixx3": 1.0, "Iyy2": -1.0}, 0.4709),
    ({"mcz3": 1.0, "mcy2": -1.0}, -1.6863),
)
"""What can be identified of the arm: nine parameters on their own, and six combinations. The fourth of these is that of
table 4; table 5 misprints it as 15.7029."""


def paper_ddarm_links(modelled: FloatArray) -> FloatArray:
    """Return links phi (3, 10) with the paper's estimates, in all else as near as can be to the modelled ones (3, 10).

    Link 2 is not physically consistent, nor is any other with these estimates. Its motion can be computed nevertheless.
    """
    rows = np.zeros((len(ESTIMATED), 30))
    for row, (terms, _) in zip(rows, ESTIMATED, strict=True):
        for name, factor in terms.items():
            row[10 * (int(name[-1]) - 1) + PARAMETER_NAMES.index(name[:-1])] = factor
    missing = np.array([value for _, value in ESTIMATED]) - rows @ modelled.ravel()
    return np.asarray(modelled + (np.linalg.pinv(rows) @ missing).reshape(3, 10))
