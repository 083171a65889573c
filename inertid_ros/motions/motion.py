"""Joint motions as functions of time, and those of the 1986 paper: positions, first and second derivatives, exactly.

Every motion starts at time 0 in its first pose and stays in its last pose from its duration on. Before time 0 it
rests in its first pose.
"""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray

POSE_TOLERANCE = 1e-9
"""Largest step between two motions that are to join, rad or m."""


class JointPath(NamedTuple):
    """Positions, velocities and accelerations of n joints at N times, each (N, n), in rad or m and seconds."""

    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray


class Motion(Protocol):
    """What a simulated robot follows."""

    @property
    def duration(self) -> float:
        """Seconds until the motion rests in its last pose; infinite if it never does."""

    @property
    def joint_count(self) -> int:
        """Number n of joints."""

    def at(self, times: FloatArray) -> JointPath:
        """Evaluate the motion at (N,) times in seconds."""


class Hold:
    """Rest in one pose."""

    def __init__(self, pose: ArrayLike, duration: float = np.inf) -> None:
        """Rest in a pose (n,) for a time, by default for ever."""
        self._pose = np.array(pose, dtype=np.float64)
        self.duration = duration
        self.joint_count = len(self._pose)

    def at(self, times: FloatArray) -> JointPath:
        """Return the pose and zeros."""
        shape = (len(times), self.joint_count)
        return JointPath(np.broadcast_to(self._pose, shape).copy(), np.zeros(shape), np.zeros(shape))


class MinimumJerk:
    """Straight lines in joint space from rest to rest, each with the fifth-order polynomial of least jerk.

    From pose p to pose r in time T, with s = t / T:  q = p + (r - p) (10 s^3 - 15 s^4 + 6 s^5).
    """

    def __init__(self, waypoints: ArrayLike, durations: ArrayLike) -> None:
        """Take K+1 waypoints (K+1, n) in rad or m, and the K durations in seconds between them."""
        self._waypoints = np.array(waypoints, dtype=np.float64)
        self._durations = np.atleast_1d(np.array(durations, dtype=np.float64))
        self._starts = np.concatenate([[0.0], np.cumsum(self._durations)])
        self.duration = float(self._starts[-1])
        self.joint_count = int(self._waypoints.shape[1])

    def at(self, times: FloatArray) -> JointPath:
        """Evaluate polynomial, first and second derivative."""
        segment = np.clip(np.searchsorted(self._starts, times, side="right") - 1, 0, len(self._durations) - 1)
        span = self._durations[segment][:, None]
        s = np.clip((times - self._starts[segment])[:, None] / span, 0.0, 1.0)
        start = self._waypoints[segment]
        step = self._waypoints[segment + 1] - start
        rise = s * s * s * (10.0 + s * (6.0 * s - 15.0))
        slope = 30.0 * s * s * (s - 1.0) * (s - 1.0) / span
        curvature = 60.0 * s * (s - 1.0) * (2.0 * s - 1.0) / (span * span)
        return JointPath(start + step * rise, step * slope, step * curvature)

    def reversed(self) -> MinimumJerk:
        """Return the motion that goes back the same way."""
        return MinimumJerk(self._waypoints[::-1], self._durations[::-1])


class Sequence:
    """Motions one after the other, each beginning in the pose in which the one before ends."""

    def __init__(self, motions: SequenceOf[Motion]) -> None:
        """Take at least one motion; only the last may be endless."""
        self._motions = tuple(motions)
        for before, after in pairwise(self._motions):
            _check_joint(before, after)
        self._starts = np.concatenate([[0.0], np.cumsum([motion.duration for motion in self._motions])])
        self.duration = float(self._starts[-1])
        self.joint_count = motions[0].joint_count

    def at(self, times: FloatArray) -> JointPath:
        """Evaluate at each time the motion that is due then."""
        due = np.clip(np.searchsorted(self._starts, times, side="right") - 1, 0, len(self._motions) - 1)
        if len(times) > 0 and np.all(due == due[0]):
            only = int(due[0])
            return self._motions[only].at(times - self._starts[only])
        path = JointPath(*(np.empty((len(times), self.joint_count)) for _ in range(3)))
        for index in np.unique(due):
            rows = due == index
            for whole, part in zip(path, self._motions[index].at(times[rows] - self._starts[index]), strict=True):
                whole[rows] = part
        return path


class Repeat:
    """A motion that ends where it began, repeated for ever."""

    duration = np.inf

    def __init__(self, motion: Motion) -> None:
        """Take a motion of finite duration."""
        _check_joint(motion, motion)
        self._motion = motion
        self.joint_count = motion.joint_count

    def at(self, times: FloatArray) -> JointPath:
        """Evaluate the motion at the time since its last start."""
        return self._motion.at(np.where(times > 0.0, np.mod(times, self._motion.duration), 0.0))


def find_ends(motion: Motion) -> FloatArray:
    """First and last pose of a motion, (2, n)."""
    return motion.at(np.array([0.0, motion.duration])).positions


def with_rest(motion: Motion, before: float = 2.0, after: float = 0.0) -> Sequence:
    """Rest in the first pose before a motion and in the last pose after it, for times in seconds."""
    first, last = find_ends(motion)
    return Sequence([Hold(first, before), motion, Hold(last, after)])


def there_and_back(motion: MinimumJerk, pause: float = 0.5) -> Sequence:
    """Move, pause, move back the same way, pause: a motion that can be repeated."""
    return Sequence([with_rest(motion, 0.0, pause), with_rest(motion.reversed(), 0.0, pause)])


def round_trip(moves: SequenceOf[MinimumJerk], pause: float = 0.5, transfer: float = 2.0) -> Sequence:
    """Make moves one after the other, each after a pause and a transfer from where the last one ended, both in seconds.

    The last transfer goes to where the first move begins, so that the motion can be repeated.
    """
    parts: list[Motion] = []
    for move, following in zip(moves, [*moves[1:], moves[0]], strict=True):
        way = MinimumJerk([find_ends(move)[1], find_ends(following)[0]], [transfer])
        parts += [with_rest(move, 0.0, pause), with_rest(way, 0.0, pause)]
    return Sequence(parts)


def _check_joint(before: Motion, after: Motion) -> None:
    """Raise SettingError unless one motion starts in the pose in which another ends."""
    if not np.isfinite(before.duration):
        raise SettingError("motions", before, "motions that end, but for the last")
    end, start = find_ends(before)[1], after.at(np.zeros(1)).positions[0]
    if end.shape != start.shape or np.any(np.abs(end - start) > POSE_TOLERANCE):
        raise SettingError("motions", start.tolist(), f"a motion that starts where the one before ends, {end.tolist()}")


def paper_puma_move() -> MinimumJerk:
    """All six joints of the PUMA in 2 s, as fast as joints 1 and 4 can (Atkeson, An and Hollerbach 1986, 3.1.2)."""
    return _move([0.0, 0.0, 0.0, -90.0, 0.0, 0.0], [90.0, -60.0, 90.0, 90.0, 90.0, 90.0], 2.0)


def paper_puma_test_moves() -> tuple[MinimumJerk, MinimumJerk, MinimumJerk]:
    """Joints 4 and 6 of the PUMA alone, 2 s each about the x, y and z axes of its sensor (section 3.1.3).

    These are the principal axes of the bar. The paper prints neither poses nor angles: here the forearm is level, joint
    5 at 90 degrees, and each joint turns as far as joint 4 in the move of all joints, at up to 260 deg/s^2.
    """
    about_x, about_y, about_z = (
        _move([0.0, -90.0, 180.0, *start], [0.0, -90.0, 180.0, *end], 2.0)
        for start, end in (
            ([-90.0, 90.0, 0.0], [90.0, 90.0, 0.0]),
            ([-90.0, 90.0, 90.0], [90.0, 90.0, 90.0]),
            ([90.0, 90.0, -90.0], [90.0, 90.0, 90.0]),
        )
    )
    return about_x, about_y, about_z


def paper_ddarm_load_move() -> MinimumJerk:
    """All three joints of the direct drive arm in 1 s, with a load (section 3.2)."""
    return _move([280.0, 269.1, -30.0], [80.0, 19.1, 220.0], 1.0)


def paper_ddarm_link_moves() -> tuple[MinimumJerk, MinimumJerk, MinimumJerk]:
    """Three moves of 1.3 s from which the links of the direct drive arm are identified (section 3.3)."""
    return (
        _move([330.0, 289.1, 230.0], [80.0, 39.1, -10.0], 1.3),
        _move([330.0, 269.1, -30.0], [80.0, 19.1, 220.0], 1.3),
        _move([80.0, 269.1, -30.0], [330.0, 19.1, 220.0], 1.3),
    )


def _move(start: list[float], end: list[float], duration: float) -> MinimumJerk:
    """Go from pose to pose, both in degrees."""
    return MinimumJerk(np.radians([start, end]), [duration])


Moves: TypeAlias = dict[str, tuple[MinimumJerk, ...]]
LOAD_MOVES: Moves = {"puma560": (paper_puma_move(),), "ddarm": (paper_ddarm_load_move(),)}
TEST_MOVES: Moves = {"puma560": paper_puma_test_moves()}
LINK_MOVES: Moves = {"ddarm": paper_ddarm_link_moves()}
"""The paper's moves for a load, of single joints for its inertia, and for the links, by shipped robot."""
