"""Whether efforts are what they are declared to be: compared with the gravity that the URDF predicts.

Arms move slowly for most of the time, so most of an effort is gravity's. Measured efforts are fitted by a multiple of
the URDF's gravity torque and a constant for each joint. A multiple near one is what newton metres give. Hardly any of
it, with efforts that do not follow gravity, means that the driver has taken it out; less than none, that the sign is
another; any other multiple, that these are currents, or torques at the motor's side of the gear. Where positions are
larger than a turn, gravity is also computed as if they were degrees; if that is what efforts follow, they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.compiled import brief, specialise
from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import ArmModel

_SPREAD = 0.5
"""Standard deviation [Nm or N] that gravity must have at a joint for it to be judged, and a twentieth of the largest:
friction hides less."""
_ROWS = 100
"""Rows (2 s) of a joint before it is judged: fewer hardly cover a change of pose."""
_NONE = 0.25
"""Multiple of the URDF's gravity below which an effort contains none of it: no CAD model is four times too heavy."""
_LEAST, _MOST = 0.25, 4.0
"""Multiples of the URDF's gravity outside which the unit is wrong: CAD models are wrong by half or twice, units by ten
or a hundred times."""
_FOLLOWS = 0.8
"""Correlation with gravity from which even a small effort follows it: a unit is wrong then, and nothing compensated."""
_FOLLOWS_ROUGHLY = 0.5
"""Correlation with gravity from which sign and unit are judged: friction and inertia may make up the rest."""
_TURN = 2.0 * np.pi
"""Angles [rad] up to which positions cannot be told to be degrees: most joints reach half a turn, some a whole one."""


@brief
def sum_up(positions: FloatArray, gravity: FloatArray, efforts: FloatArray, bad: FloatArray, sums: FloatArray) -> bool:
    """Add 1, gravity, effort, their squares and their product to the sums (6, n) of each joint that is usable.

    Returns whether a position is so large that it may be in degrees.
    """
    may_be_degrees = False
    for joint in range(len(gravity)):
        may_be_degrees |= abs(positions[joint]) > _TURN
        if bad[joint] != 0.0:
            continue
        g, effort = gravity[joint], efforts[joint]
        sums[0, joint] += 1.0
        sums[1, joint] += g
        sums[2, joint] += effort
        sums[3, joint] += g * g
        sums[4, joint] += g * effort
        sums[5, joint] += effort * effort
    return may_be_degrees


class _Comparison(NamedTuple):
    """Efforts over gravity: multiple and correlation of all joints that are judged, 1 and 0 if none is, and a list."""

    slope: float
    correlation: float
    listed: str


class EffortCheck:
    """Sums up efforts and gravity of each joint."""

    def __init__(self, arm: ArmModel) -> None:
        """Start with nothing seen."""
        self._arm = arm
        self._data = arm.model.createData()
        self._sums, self._sums_by_degrees = np.zeros((2, 6, len(arm.joint_names)))
        self._may_be_degrees = False
        self._to_radians = np.where(arm.is_angle, np.pi / 180.0, 1.0)
        self._sum_up = specialise(sum_up, *([self._to_radians] * 4), self._sums)

    def find_gravity(self, positions: FloatArray) -> FloatArray:
        """Torques (n,) of gravity at positions (n,) by the URDF."""
        return np.asarray(pin.computeGeneralizedGravity(self._arm.model, self._data, positions))

    def take(self, positions: FloatArray, gravity: FloatArray, efforts: FloatArray, bad: FloatArray) -> None:
        """Take positions, gravity and efforts, and 1 where these are not usable, (n,) each."""
        self._may_be_degrees |= self._sum_up(positions, gravity, efforts, bad, self._sums)
        if self._may_be_degrees:
            gravity = self.find_gravity(self._to_radians * positions)
            self._sum_up(positions, gravity, efforts, bad, self._sums_by_degrees)

    def findings(self) -> tuple[Finding, ...]:
        """What positions or efforts seem to be, if not what they should be."""
        slope, correlation, listed = self._compare(self._sums)
        found = _judge(slope, correlation, listed)
        by_degrees = self._compare(self._sums_by_degrees)
        if found and by_degrees.correlation > max(_FOLLOWS_ROUGHLY, correlation):
            message = "the efforts follow gravity as if the joint positions were in degrees: publish radians"
            return (Finding("error", "joints_in_degrees", message),)
        return found

    def _compare(self, sums: FloatArray) -> _Comparison:
        """Efforts with the gravity that was summed up with them."""
        count, gravity, effort, gravity_square, product, effort_square = sums
        safe = np.maximum(count, 1.0)
        variance = np.maximum(gravity_square / safe - (gravity / safe) ** 2, 0.0)
        covariance = product / safe - gravity * effort / safe**2
        own = np.maximum(effort_square / safe - (effort / safe) ** 2, 1e-12)
        judged = (count >= _ROWS) & (variance > max(_SPREAD, 0.05 * float(np.sqrt(variance.max()))) ** 2)
        if not judged.any():
            return _Comparison(1.0, 0.0, "")
        total, measured = float(variance[judged].sum()), float(own[judged].sum())
        slope = float(covariance[judged].sum()) / total
        correlation = slope * float(np.sqrt(total / measured))
        slopes = covariance / np.maximum(variance, 1e-12)
        listed = ", ".join(f"{self._arm.joint_names[index]} {slopes[index]:.2f}" for index in np.flatnonzero(judged))
        return _Comparison(slope, correlation, f"(multiples of the URDF's gravity: {listed})")


def _judge(slope: float, correlation: float, listed: str) -> tuple[Finding, ...]:
    if abs(slope) < _NONE and abs(correlation) < _FOLLOWS:
        message = (
            f"the effort does not follow gravity {listed}: the driver seems to publish gravity-compensated torques; "
            "publish the measured ones, or set gravity to what is left of it in them"
        )
        return (Finding("warning", "effort_without_gravity", message),)
    if slope < 0.0 and correlation < -_FOLLOWS_ROUGHLY:
        message = (
            f"the effort has the opposite sign of what gravity needs {listed}: it must be what the drives exert on the "
            "arm; correct the driver"
        )
        return (Finding("error", "effort_sign", message),)
    if correlation > _FOLLOWS_ROUGHLY and not _LEAST < slope < _MOST:
        message = (
            f"the effort follows gravity, but its magnitude is wrong {listed}: it looks like a current or a torque "
            "before the gear; set links.effort_unit to ampere with links.torque_constants, or correct the driver, or "
            "the masses of the URDF"
        )
        return (Finding("error", "effort_unit", message),)
    return ()
