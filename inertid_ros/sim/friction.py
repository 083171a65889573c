"""Drives: friction, rotor inertia and effort offset of each joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
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
