"""What is wrong: health issues of the input (how often, since when, what to do), and findings about its convention."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from inertid_ros.core.errors import make_printable

Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that the data say against the configuration."""

    level: Level
    code: str
    message: str


def has_error(findings: Iterable[Finding]) -> bool:
    """Whether one of the findings makes the estimate unusable."""
    return any(finding.level == "error" for finding in findings)


def unite_findings(parts: Iterable[Iterable[Finding]]) -> tuple[Finding, ...]:
    """Findings of several recordings or checks, each kind once."""
    return tuple({finding.code: finding for part in parts for finding in part}.values())


_CATALOGUE: dict[str, tuple[Level, str, str]] = {
    "not_finite": ("error", "values are NaN or infinite; those samples are left out", "look at the driver"),
    "implausible": (
        "error",
        "values are larger than any robot or sensor has, or far beyond the URDF's limits; those samples are left out",
        "look at the driver: its unit, or a code for invalid readings; or correct the limits in the URDF",
    ),
    "outlier": (
        "warning",
        "single samples are far from the ones before and after them; they are left out",
        "look at the bus, the driver or the power supply; a second publisher also looks like this",
    ),
    "wrong_length": (
        "error",
        "fewer or more values than names; those messages are left out",
        "the publisher must send one position for each name",
    ),
    "repeated_joint": (
        "error",
        "a joint is in one message more than once; its first position is used",
        "the publisher must name each joint once",
    ),
    "zero_stamp": (
        "error",
        "stamps are zero; those samples are left out",
        "the publisher must fill in header.stamp with the time of measurement",
    ),
    "duplicate_stamp": (
        "warning",
        "stamps repeat; repeated samples are left out",
        "look for a second publisher or a driver that republishes old readings",
    ),
    "repeated_states": (
        "info",
        "joint states repeat themselves while the arm moves; repeats are left out",
        "nothing: the driver publishes more often than it measures",
    ),
    "backward_stamp": (
        "warning",
        "stamps went backward; those samples are left out",
        "look for a second publisher or a clock that is being set",
    ),
    "jumping_stamp": (
        "warning",
        "stamps jumped ahead by more than ten seconds; samples are left out until three in a row agree",
        "look at the clock that stamps the messages",
    ),
    "time_reset": ("info", "time was reset (bag loop, simulation reset); filters were restarted", "nothing"),
    "gap": (
        "warning",
        "no sample for more than 0.15 s; filters were restarted",
        "look for lost messages or a slow publisher",
    ),
    "wrong_effort_length": (
        "error",
        "fewer or more efforts than names; the efforts of those messages are left out",
        "the publisher must send one effort for each name, or none",
    ),
    "effort_missing": (
        "warning",
        "efforts are missing, NaN, infinite or implausible for some joints; those joints' efforts are left out",
        "look at the driver, or leave these joints out of links.joints",
    ),
    "effort_saturated": (
        "warning",
        "efforts are at the limit that the URDF gives; those joints' efforts are left out for a while",
        "move more slowly, or correct the effort limit in the URDF",
    ),
    "effort_dead": (
        "error",
        "all efforts are zero although the arm moves; nothing is learnt from them",
        "the driver measures no effort: look for its setting, or set links.source to base_wrench",
    ),
    "effort_stuck": (
        "error",
        "efforts stay the same although their joints move; nothing is learnt from them",
        "look at the driver and at the current or torque sensors of these joints, or leave them out of links.joints",
    ),
    "no_effort": (
        "error",
        "joint_states carries no effort of the arm's joints",
        "publish effort, or set links.source to base_wrench",
    ),
    "renamed_joints": (
        "warning",
        "joint names differ from the URDF's by a prefix; they are taken as the same joints",
        "make sure that they are, or correct the names",
    ),
    "unmeasured_joints": (
        "warning",
        "joints of the URDF are not in joint_states; they are taken as locked at zero",
        "publish them if they move, or set links.joints",
    ),
    "missing_joints": (
        "error",
        "joints that are needed are in no joint_states message",
        "publish them, or correct their names in the URDF",
    ),
    "no_joint_state": (
        "error",
        "wrenches without joint states around their stamp; those wrenches are left out",
        "check that joint_states is published, at 10 Hz or more, and stamped by the same clock as the wrench",
    ),
    "velocity_unusable": (
        "warning",
        "measured velocities contradict the positions; positions are differentiated instead",
        "look at the velocity field of joint_states: zeros, wrong unit or wrong order",
    ),
    "base_frame_mismatch": (
        "error",
        "base wrenches are in another frame of the robot than links.base_frame; they are left out",
        "set links.base_frame to the frame_id of the base wrench, or correct the driver",
    ),
    "base_frame_unknown": (
        "warning",
        "the frame_id of the base wrench is not in the robot description; links.base_frame is used instead",
        "make sure that links.base_frame is where and how the base sensor sits",
    ),
    "off_static_path": (
        "warning",
        "the arm is away from the path on which the base sensor was read at rest; those samples are left out",
        "record poses at rest along the path of this motion, or leave links.static_file empty",
    ),
    "state_contradicted": (
        "warning",
        "the first data contradict what the state file remembers; that was forgotten, and everything is learned anew",
        "nothing, if load, sensor or arm were changed meanwhile",
    ),
    "sensor_dead": (
        "error",
        "all readings are zero; nothing is learnt meanwhile",
        "look at the sensor's power, cable and driver; a simulated sensor without noise needs a load, or some noise",
    ),
    "sensor_frozen": (
        "error",
        "the reading stays the same while gravity turns in the sensor; nothing is learnt meanwhile",
        "look at the sensor's cable and driver: it repeats an old reading",
    ),
    "axis_stuck": (
        "error",
        "an axis stays the same while gravity turns in the sensor; nothing is learnt meanwhile",
        "look at the sensor and its cable: an axis is damaged or not connected",
    ),
    "sensor_saturated": (
        "error",
        "an axis is at the end of its range; nothing is learnt meanwhile",
        "carry less or move more slowly, or correct load.force_limit and load.torque_limit",
    ),
    "wrench_mixed": (
        "error",
        "readings jump to and fro; nothing is learnt meanwhile",
        "look for a second publisher on the topic of the wrench, or a loose cable",
    ),
    "wrench_scaled": (
        "error",
        "all readings have changed by a factor of 1000 at once; nothing is learnt meanwhile",
        "look at the unit in which the driver publishes; call ~/reset if the new one is right",
    ),
    "wrench_flipped": (
        "error",
        "all readings have changed their sign at once; nothing is learnt meanwhile",
        "look at the driver's sign; call ~/reset if the new one is right",
    ),
    "imu_stale": (
        "error",
        "no message of the IMU that gravity is taken from; wrenches are left out meanwhile",
        "look at the IMU's driver and the topic imu, or set gravity_source to parameter for a base that stands level",
    ),
    "imu_frame": (
        "error",
        "it is not known how the IMU sits on the base; wrenches are left out",
        "add its frame to the URDF, fixed to the root, or correct the frame_id of its messages",
    ),
    "base_moves": (
        "warning",
        "the base is not at rest, what the IMU feels is not gravity alone; wrenches are left out meanwhile",
        "nothing, if the base was driven; else calibrate the IMU, or correct the length of the parameter gravity",
    ),
    "base_far": (
        "error",
        "the base leans by more than 75 degrees from where the parameter gravity has it; wrenches are left out",
        "set gravity to about its direction in the root frame as the robot is mounted",
    ),
    "frame_mismatch": (
        "error",
        "wrenches are in another frame of the robot than load.sensor_frame; they are left out",
        "set load.sensor_frame to the frame_id of the wrench, or correct the driver",
    ),
    "frame_unknown": (
        "warning",
        "the frame_id of the wrench is not in the robot description; load.sensor_frame is used instead",
        "make sure that load.sensor_frame is where and how the sensor sits",
    ),
}


def find_issue(code: str) -> str:
    """What a code of the catalogue means, with what to do."""
    _, message, remedy = _CATALOGUE[code]
    return f"{message}: {remedy}"


@dataclass(frozen=True, slots=True)
class HealthItem:
    """One health issue of one input.

    Attributes:
        source: "joint_states", "effort", "wrench", "base_wrench" or "imu".
        code: short name of the issue.
        level: how bad it is.
        count: how often it happened.
        first_stamp, last_stamp: first and last time, nanoseconds of the data's own clock.
        detail: what exactly, the last time.
        message: what it means.
        remedy: what to do.
    """

    source: str
    code: str
    level: Level
    count: int
    first_stamp: int
    last_stamp: int
    detail: str
    message: str
    remedy: str


class Health:
    """Counts what was wrong, by input and kind."""

    def __init__(self) -> None:
        """Start with nothing wrong."""
        self._items: dict[tuple[str, str], list[int | str]] = {}

    def report(self, source: str, code: str, stamp: int, detail: str = "", count: int = 1) -> None:
        """Count a health issue; the code must be one of the catalogue."""
        entry, detail = self._items.get((source, code)), make_printable(detail)
        if entry is None:
            if code not in _CATALOGUE:
                raise KeyError(code)
            self._items[source, code] = [count, stamp, stamp, detail]
            return
        entry[0] = int(entry[0]) + count
        entry[2] = stamp
        entry[3] = detail

    def clear(self, source: str, code: str) -> None:
        """Forget a health issue that is over."""
        self._items.pop((source, code), None)

    def items(self) -> tuple[HealthItem, ...]:
        """List all that was wrong so far, in the order it first happened."""
        listed = []
        for (source, code), (count, first, last, detail) in self._items.items():
            level, message, remedy = _CATALOGUE[code]
            listed.append(
                HealthItem(source, code, level, int(count), int(first), int(last), str(detail), message, remedy)
            )
        return tuple(listed)
