"""Limits that a designed motion holds: those of the URDF, narrowed by a file of the user.

The file is YAML, in rad (or m for prismatic joints) and seconds; every entry may be left out:

    joints:
      joint1: {lower: -1.0, upper: 1.0, velocity: 1.5, acceleration: 2.2, effort: 80.0}
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import FileFormatError, RobotDescriptionError
from inertid_ros.core.records import FloatArray
from inertid_ros.files.document import Section, read_mapping
from inertid_ros.motions.motion import JointPath
from inertid_ros.motions.multisine import JointLimits

TIME_TO_SPEED = 0.5
"""URDFs have no acceleration limits: unless one is given, a joint may reach its full speed in this many seconds."""

ENDLESS = 1e6
"""Limits beyond [rad, m, Nm or N] are none: descriptions write such numbers for a joint that has no limit."""
_KEYS = ("lower", "upper", "velocity", "acceleration", "effort")


@dataclass(frozen=True, slots=True)
class MotionLimits:
    """What each of n joints may do, and what its motor is capable of.

    Attributes:
        joints: positions, velocities and accelerations.
        effort: (n,) largest torque or force [Nm or N], infinite where it is not known.
    """

    joints: JointLimits
    effort: FloatArray

    def are_held(self, path: JointPath, efforts: FloatArray) -> bool:
        """Whether positions, velocities, accelerations and efforts (N, n) stay within."""
        joints = self.joints
        return bool(
            np.all((joints.lower <= path.positions) & (path.positions <= joints.upper))
            and np.all(np.abs(path.velocities) <= joints.velocity)
            and np.all(np.abs(path.accelerations) <= joints.acceleration)
            and np.all(np.abs(efforts) <= self.effort)
        )


class MovingJoints(Protocol):
    """Joints that a motion moves, and a model whose first coordinates they are."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints."""

    @property
    def model(self) -> pin.Model:
        """The model."""


def read_limits(path: MovingJoints, file: str | Path | None = None) -> MotionLimits:
    """Take the limits of joints from the URDF, and narrow them by a file.

    A joint without an end may turn half a turn to both sides. An effort limit of zero is taken for none.

    Raises:
        FileAccessError, FileFormatError: if the file cannot be used; the message names the entry.
        RobotDescriptionError: if a joint has no velocity limit in either place.
    """
    count = len(path.joint_names)
    model = path.model
    lower, upper = (np.array(x[:count]) for x in (model.lowerPositionLimit, model.upperPositionLimit))
    endless = upper - lower > ENDLESS
    lower[endless], upper[endless] = -np.pi, np.pi
    velocity, effort = (np.array(x[:count]) for x in (model.velocityLimit, model.effortLimit))
    for limit in (velocity, effort):
        limit[(limit <= 0.0) | (limit > ENDLESS)] = np.inf
    acceleration: FloatArray = np.full(count, np.inf)
    if file is not None:
        given = _read_file(Path(file), path.joint_names)
        lower, upper = np.maximum(lower, given["lower"]), np.minimum(upper, given["upper"])
        velocity, effort = np.minimum(velocity, given["velocity"]), np.minimum(effort, given["effort"])
        acceleration = given["acceleration"]
    _check(path.joint_names, lower, upper, velocity)
    acceleration = np.where(np.isfinite(acceleration), acceleration, velocity / TIME_TO_SPEED)
    return MotionLimits(JointLimits(lower, upper, velocity, acceleration), effort)


def _read_file(file: Path, names: tuple[str, ...]) -> dict[str, FloatArray]:
    """Return what a file says of each joint, infinite where it says nothing."""
    joints = read_mapping(file).section("joints")
    for name in joints.content:
        if name not in names:
            raise FileFormatError(f"'{file}': joint '{name}' is not one of the joints that move: {', '.join(names)}")
    given: dict[str, FloatArray] = {key: np.full(len(names), np.inf) for key in _KEYS}
    given["lower"] *= -1.0
    for index, name in enumerate(names):
        if name in joints.content:
            _read_joint(joints.section(name), index, given)
    return given


def _read_joint(section: Section, index: int, given: dict[str, FloatArray]) -> None:
    for key, value in section.content.items():
        if key not in _KEYS:
            raise FileFormatError(f"{section.where}: '{key}' is none of {', '.join(_KEYS)}")
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and np.isfinite(value)
        if not is_number or (key not in ("lower", "upper") and value <= 0.0):
            expected = "a finite number" if key in ("lower", "upper") else "a finite number above 0"
            raise FileFormatError(f"{section.where}: '{key}' is {value!r}, not {expected}")
        given[key][index] = float(value)


def _check(names: tuple[str, ...], lower: FloatArray, upper: FloatArray, velocity: FloatArray) -> None:
    for name, low, high, speed in zip(names, lower.tolist(), upper.tolist(), velocity.tolist(), strict=True):
        if not low < high:
            raise RobotDescriptionError(f"joint '{name}' has no room between {low:g} and {high:g}: widen its limits")
        if not np.isfinite(speed):
            raise RobotDescriptionError(
                f"joint '{name}' has no velocity limit in the robot description: give one in a file (--limits)"
            )
