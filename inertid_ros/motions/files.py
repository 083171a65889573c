"""What a motion is designed from: the limits that it holds, and the pose in which the arm is.

Limits are those of the URDF, narrowed by a YAML file of the user, in rad (or m for prismatic joints) and seconds; every
entry may be left out:

    joints:
      joint1: {lower: -1.0, upper: 1.0, velocity: 1.5, acceleration: 2.2, effort: 80.0}

The pose in which an arm is can be read from what `ros2 topic echo --once /joint_states` prints.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from inertid_ros.core.errors import FileFormatError, RobotDescriptionError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import ArmModel, FramePath
from inertid_ros.files.document import Section, read_mapping
from inertid_ros.motions.multisine import JointLimits

TIME_TO_SPEED = 0.5
"""URDFs have no acceleration limits: unless one is given, a joint may reach its full speed in this many seconds."""

ENDLESS = 1e6
"""Limits beyond [rad, m, Nm or N] are none: descriptions write such numbers for a joint that has no limit."""
_KEYS = ("lower", "upper", "velocity", "acceleration", "effort")


def read_limits(path: FramePath | ArmModel, file: str | Path | None = None) -> JointLimits:
    """Take the limits of joints from the URDF, and narrow them by a file.

    A joint without an end may turn half a turn to both sides. An effort limit of zero is taken for none.
    InertidError names the entry of a file that cannot be used, or a joint without a velocity limit in either place.
    """
    lower, upper = read_ends(path)
    of_urdf = (path.model.velocityLimit, path.model.effortLimit)
    velocity, effort = (np.array(limit[: len(lower)]) for limit in of_urdf)
    for limit in (velocity, effort):
        limit[(limit <= 0.0) | (limit > ENDLESS)] = np.inf
    given = _read_file(file, path.joint_names)
    lower, upper = np.maximum(lower, given["lower"]), np.minimum(upper, given["upper"])
    velocity, effort = np.minimum(velocity, given["velocity"]), np.minimum(effort, given["effort"])
    _check(path.joint_names, lower, upper, velocity)
    acceleration = np.where(np.isfinite(given["acceleration"]), given["acceleration"], velocity / TIME_TO_SPEED)
    return JointLimits(lower, upper, velocity, acceleration, effort)


def read_ends(path: FramePath | ArmModel) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest positions (n,) of joints by the URDF; half a turn to both sides where there is no end."""
    count = len(path.joint_names)
    lower, upper = (np.array(ends[:count]) for ends in (path.model.lowerPositionLimit, path.model.upperPositionLimit))
    endless = upper - lower > ENDLESS
    lower[endless], upper[endless] = -np.pi, np.pi
    return lower, upper


def _read_file(file: str | Path | None, names: tuple[str, ...]) -> dict[str, FloatArray]:
    """Return what a file says of each joint, infinite where it says nothing or there is none."""
    given: dict[str, FloatArray] = {key: np.full(len(names), np.inf) for key in _KEYS}
    given["lower"] *= -1.0
    if file is None:
        return given
    joints = read_mapping(Path(file)).section("joints")
    for name in joints.content:
        if name not in names:
            raise FileFormatError(f"'{file}': joint '{name}' is not one of the joints that move: {', '.join(names)}")
        _read_joint(joints.section(name), names.index(name), given)
    return given


def _read_joint(section: Section, index: int, given: dict[str, FloatArray]) -> None:
    for key, value in section.content.items():
        if key not in _KEYS:
            raise FileFormatError(f"{section.where}: '{key}' is none of {', '.join(_KEYS)}")
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
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


def narrow(limits: JointLimits, is_angle: Sequence[bool], margin: float, speed: float) -> JointLimits:
    """Keep joints a margin [rad] away from their ends, and use a share of their speeds and accelerations.

    Prismatic joints keep a tenth of that number in metres. No joint gives up more than a tenth of its range to a side.
    """
    room = np.minimum(np.where(is_angle, margin, margin / 10.0), (limits.upper - limits.lower) / 10.0)
    return replace(
        limits,
        lower=limits.lower + room,
        upper=limits.upper - room,
        velocity=speed * limits.velocity,
        acceleration=speed * limits.acceleration,
    )


def read_pose(text: str) -> dict[str, float]:
    """Positions of joints by name [rad or m], from `joint=value,...` or a YAML file.

    The file maps names to numbers, or is a sensor_msgs/JointState as `ros2 topic echo --once` writes it.
    FileFormatError if it is neither.
    """
    if "=" in text:
        entries = dict(part.partition("=")[::2] for part in text.split(",") if part.strip())
        section = Section("--from", {name.strip(): _to_number(value) for name, value in entries.items()})
    else:
        section = read_mapping(Path(text))
        if "name" in section.content and "position" in section.content:
            names = section.value("name", list)
            positions = section.numbers("position", (len(names),))
            return dict(zip(map(str, names), positions.tolist(), strict=True))
    return {str(name): section.number(name) for name in section.content}


def _to_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
