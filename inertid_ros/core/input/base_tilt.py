"""How the base of a robot leans, by an inertial measurement unit on it: gravity as two joints; compiled.

On a base that drives or tilts, gravity turns in the root frame. The robot is modelled as if two joints about horizontal
axes carried its base (`FramePath.on_base`), and their angles are joint states like any other: interpolated, checked and
paired with the wrenches by stamp. That takes the turning of the base into account as well.

The direction d of what an accelerometer shows at rest is carried along by the angular velocity w less its offset o, and
corrected by the proper acceleration f, which is low-passed in the axes that turn (Mahony, Hamel and Pflimlin 2008):

    e = f/|f| x d,    dd/dt = -(w - o + k_p e) x d,    do/dt = -k_i e

so it does not lag behind a base that turns, and does not follow vibration. An accelerometer cannot tell gravity from an
acceleration of the base, which acts on the load as well: while length or direction of f are not those of gravity, or
the base turns about the vertical, there are no states, which is a gap to all that follows: nothing is learnt. Without
angular velocities a base that leans over looks like one that accelerates, until it has rested for some time.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import brief
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.errors import RobotDescriptionError
from inertid_ros.core.input.timeline import NEVER, SECOND
from inertid_ros.core.records import FloatArray, ImuBlock, IntArray, JointBlock
from inertid_ros.core.robot.robot import TILT_JOINTS, Robot, find_upright, place_in_root

LOWPASS = 0.1
"""Time constant [s] of the low-pass of the proper acceleration: arms shake their bases at 5 Hz and more."""
SETTLING = 2.0
"""Time constant [s] of the correction by the proper acceleration: gyroscopes drift by 0.001 rad/s² at most, and a base
that shakes averages out over it. The gains k_p = 2 / T and k_i = 1 / T² damp it critically."""
LENGTH = 0.03
"""Part of gravity by which the length of the proper acceleration may differ: accelerometers are calibrated to 1 or 2 %,
and an upward acceleration of this part makes a load that much heavier."""
LEAN = 0.0175
"""Angle [rad] by which the proper acceleration may differ from where gravity is: 1 degree, twice the default of
load.tilt_uncertainty; an acceleration of 0.17 m/s² along the ground makes as much."""
DRIFT = 0.01
"""By how much [rad/s] that angle grows while the base is not at rest: the offset of a calibrated gyroscope. A direction
that was wrong from the beginning is given up in this way."""
TURNING = 0.1
"""Angular velocity [rad/s] about the vertical up to which the base does not turn: at 1 m from it, that is 0.01 m/s²."""
FARTHEST = 0.25
"""Smallest cosine of the angle to the direction of the parameter gravity, 75 degrees: at 90 the two angles are none."""
RESTART = SECOND
"""After so long [ns] without a message the direction is taken anew: it has drifted by DRIFT, and the base may have
been moved."""
STALE = SECOND // 2
"""An IMU that is this much [ns] behind the wrenches has fallen silent: they come at 50 Hz and more."""

TAKEN, NOT_FINITE, ACCELERATES, TURNS, FAR = range(5)
"""What a message is."""
UPWARD, FORCE, OFFSET, RATE, LENGTH_IS, AXES = 0, 3, 6, 9, 12, 13
"""Where in the floats these are: d, f, o, the last angular velocity, gravity [m/s²], and the IMU's axes in those of the
tilt joints (9)."""
NEWEST, RESTED = range(2)
"""In the integers: stamps of the last message, and of the last one at rest."""


@brief
def track_gravity(
    x: FloatArray, clock: IntArray, stamps: IntArray, accelerations: FloatArray, rates: FloatArray, result: FloatArray
) -> None:
    """Take messages (N,), and give for each two angles and what it is, (N, 3).

    Args:
        x: what is remembered, see UPWARD.
        clock: stamps that are remembered, see NEWEST.
        stamps: (N,) nanoseconds.
        accelerations: (N, 3) proper acceleration [m/s²].
        rates: (N, 3) angular velocity [rad/s].
        result: the result.
    """
    for k in range(len(stamps)):
        total = 0.0
        for i in range(3):
            total += abs(accelerations[k, i]) + abs(rates[k, i])
        if not np.isfinite(total):
            result[k, 2] = NOT_FINITE
            continue
        elapsed = stamps[k] - clock[NEWEST]
        if not 0 < elapsed <= RESTART:
            for i in range(3):
                x[UPWARD + i] = x[FORCE + i] = accelerations[k, i]
                x[RATE + i] = rates[k, i]
            clock[RESTED], elapsed = stamps[k], 0
        clock[NEWEST] = stamps[k]
        step = elapsed * 1e-9
        turn_with_base(x, rates[k], step)
        for i in range(3):
            x[FORCE + i] += step / (LOWPASS + step) * (accelerations[k, i] - x[FORCE + i])
        result[k, 2] = judge_rest(x, clock, stamps[k])
        if result[k, 2] == TAKEN:
            clock[RESTED] = stamps[k]
            correct(x, step)
            result[k, 2] = find_tilt(x, result[k])


@brief
def turn_with_base(x: FloatArray, rate: FloatArray, step: float) -> None:
    """Carry d (of length 1) and f along, by the mean of two angular velocities over a step [s]."""
    tx = -step * (0.5 * (rate[0] + x[RATE]) - x[OFFSET])
    ty = -step * (0.5 * (rate[1] + x[RATE + 1]) - x[OFFSET + 1])
    tz = -step * (0.5 * (rate[2] + x[RATE + 2]) - x[OFFSET + 2])
    for first in (UPWARD, FORCE):
        a, b, c = x[first], x[first + 1], x[first + 2]
        for half in (0.5, 1.0):  # to the second order: v + t x (v + t x v / 2)
            u, v, w = ty * c - tz * b, tz * a - tx * c, tx * b - ty * a
            a, b, c = x[first] + half * u, x[first + 1] + half * v, x[first + 2] + half * w
        x[first], x[first + 1], x[first + 2] = a, b, c
    length = max(np.sqrt(x[UPWARD] ** 2 + x[UPWARD + 1] ** 2 + x[UPWARD + 2] ** 2), 1e-300)
    for i in range(3):
        x[UPWARD + i] /= length
        x[RATE + i] = rate[i]


@brief
def judge_rest(x: FloatArray, clock: IntArray, stamp: int) -> int:
    """Whether what is measured is gravity alone."""
    length = max(np.sqrt(x[FORCE] ** 2 + x[FORCE + 1] ** 2 + x[FORCE + 2] ** 2), 1e-300)
    along, turning = 0.0, 0.0
    for i in range(3):
        along += x[UPWARD + i] * x[FORCE + i] / length
        turning += x[UPWARD + i] * (x[RATE + i] - x[OFFSET + i])
    allowed = min(LEAN + DRIFT * 1e-9 * (stamp - clock[RESTED]), np.pi)
    if abs(length / x[LENGTH_IS] - 1.0) > LENGTH or along < np.cos(allowed):
        return ACCELERATES
    return TURNS if abs(turning) > TURNING else TAKEN


@brief
def correct(x: FloatArray, step: float) -> None:
    """Correct direction and offset by the proper acceleration."""
    length = np.sqrt(x[FORCE] ** 2 + x[FORCE + 1] ** 2 + x[FORCE + 2] ** 2)
    fx, fy, fz = x[FORCE] / length, x[FORCE + 1] / length, x[FORCE + 2] / length
    dx, dy, dz = x[UPWARD], x[UPWARD + 1], x[UPWARD + 2]
    slow, slower = 2.0 / SETTLING * step, step / SETTLING**2
    x[OFFSET] -= slower * (fy * dz - fz * dy)
    x[OFFSET + 1] -= slower * (fz * dx - fx * dz)
    x[OFFSET + 2] -= slower * (fx * dy - fy * dx)
    x[UPWARD] += slow * (fx - dx)
    x[UPWARD + 1] += slow * (fy - dy)
    x[UPWARD + 2] += slow * (fz - dz)


@brief
def find_tilt(x: FloatArray, angles: FloatArray) -> int:
    """Angles (2,) of the tilt joints, whose third axis is upright at zero: d = (-sin b cos a, sin a, cos b cos a)."""
    u = v = w = length = 0.0
    for i in range(3):
        u += x[AXES + i] * x[UPWARD + i]
        v += x[AXES + 3 + i] * x[UPWARD + i]
        w += x[AXES + 6 + i] * x[UPWARD + i]
        length += x[UPWARD + i] ** 2
    length = np.sqrt(length)
    angles[0] = np.arcsin(min(max(v / length, -1.0), 1.0))
    angles[1] = np.arctan2(-u, w)
    return TAKEN if w > FARTHEST * length else FAR


_NOT_MEASURED = -1.0
"""Covariance by which sensor_msgs/Imu says that something is not measured."""
_CODES = {NOT_FINITE: "not_finite", ACCELERATES: "base_moves", TURNS: "base_moves", FAR: "base_far"}
"""What messages that cannot be used are reported as."""


class BaseTilt:
    """Turns messages of an IMU on the base into states of the two tilt joints."""

    def __init__(self, robot: Robot, gravity: FloatArray, health: Health) -> None:
        """Set the robot, gravity (3,) in its root frame where it stands upright, and where to report."""
        self._robot, self._health = robot, health
        self._upright = find_upright(gravity)
        self._frame: str | None = None
        self._is_usable, self._complaint = False, ""
        self._awaited: int | None = None
        self._floats = np.zeros(AXES + 9)
        self._floats[LENGTH_IS] = np.linalg.norm(gravity)
        self._clock: IntArray = np.full(2, NEVER, dtype=np.int64)

    def take(self, block: ImuBlock) -> JointBlock:
        """States of the tilt joints at those messages at which the base is at rest."""
        count = len(block.stamps)
        if block.frame != self._frame:
            self._frame, self._is_usable = block.frame, self._place(block)
        if count == 0 or not self._is_usable:
            if count:
                self._health.report("imu", "imu_frame", int(block.stamps[-1]), self._complaint, count)
            return JointBlock(TILT_JOINTS, block.stamps[:0], np.empty((0, 2)), None)
        result = np.zeros((count, 3))
        has_rates, has_accelerations = (block.covariances != _NOT_MEASURED).T
        rates = np.where(has_rates[:, None], block.rates, 0.0)
        accelerations = np.where(has_accelerations[:, None], block.accelerations, np.nan)
        track_gravity(self._floats, self._clock, block.stamps, accelerations, rates, result)
        found = result[:, 2]
        taken = found == TAKEN
        if not taken.all():
            self._report(block.stamps, found)
        return JointBlock(TILT_JOINTS, block.stamps[taken], result[taken, :2], None)

    def _place(self, block: ImuBlock) -> bool:
        """Find the axes of the IMU; whether there are any."""
        try:
            pose = place_in_root(self._robot.model, block.frame, "an IMU's")
        except RobotDescriptionError as error:
            self._complaint = str(error)
            return False
        self._floats[AXES:] = (self._upright.T @ pose.rotation).ravel()
        self._clock[:] = NEVER
        return True

    def _report(self, stamps: IntArray, found: FloatArray) -> None:
        """Report what cannot be used, with the last of each kind."""
        length = float(np.linalg.norm(self._floats[FORCE : FORCE + 3]))
        details = {ACCELERATES: f"it accelerates ({length:.2f} m/s² are felt)", TURNS: "it turns about the vertical"}
        for kind, code in _CODES.items():
            those = np.flatnonzero(found == kind)
            if len(those):
                self._health.report("imu", code, int(stamps[those[-1]]), details.get(kind, ""), len(those))

    def watch(self, stamps: IntArray) -> None:
        """Look whether messages still come, at the stamps (N,) of wrenches, at least one."""
        stamp = stamps.item(-1)
        if self._awaited is None:
            self._awaited = stamps.item(0)
        newest = self._awaited if self._frame is None else self._clock.item(NEWEST)
        if stamp - newest > STALE and (self._frame is None or self._is_usable):
            detail = (
                "none has come yet" if self._frame is None else f"{(stamp - newest) * 1e-9:.1f} s behind the wrench"
            )
            self._health.report("imu", "imu_stale", stamp, detail)
