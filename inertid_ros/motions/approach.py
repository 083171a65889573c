"""The way from where an arm is to where a motion begins: straight lines in joint space, each from rest to rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import MinimumJerk, Motion
from inertid_ros.motions.multisine import JointLimits

_SHARE = 0.5
"""Of the limits of speed and acceleration that is used: an approach identifies nothing, so that it need not be fast."""
_SHORTEST = 0.5
"""Seconds that a line takes at least."""
_PEAK_SPEED, _PEAK_ACCELERATION = 15.0 / 8.0, 10.0 / 3.0**0.5
"""Largest first and second derivative of the minimum-jerk polynomial from 0 to 1 in 1 s."""
_DRAWS = 300
"""Random poses by way of which a detour is looked for."""
_SLOWER = 5
"""How often a line that is not allowed is tried at half the speed, in case that it is just too fast."""


def plan_approach(
    start: FloatArray,
    goal: FloatArray,
    limits: JointLimits,
    is_allowed: Callable[[Motion], bool],
    is_slow: Callable[[Motion], bool],
) -> MinimumJerk | None:
    """Find a way between two poses (n,), straight or with corners.

    Args:
        start: pose in which the way begins.
        goal: pose in which it ends.
        limits: within which corners are looked for, and speeds stay.
        is_allowed: whether a line does no harm.
        is_slow: whether a line is slow enough; it is made slower until it is.

    Returns:
        The motion, or None if none was found.
    """

    def connect(first: FloatArray, second: FloatArray) -> float | None:
        """Seconds that a line takes, if it is allowed."""
        duration = find_duration(second - first, limits)
        # Most lines of a search collide, at any speed, which is found sooner than how fast they are.
        if not is_allowed(MinimumJerk([first, second], [duration])):
            return None
        for slower in range(1 + _SLOWER):
            line = MinimumJerk([first, second], [duration * 2.0 ** (slower / 2)])
            if is_slow(line):
                return line.duration if slower == 0 or is_allowed(line) else None
        return None

    # Two trees of lines, from both ends; a random pose that both can reach joins them.
    trees = [[_Corner(start, None, 0.0)], [_Corner(goal, None, 0.0)]]
    random = np.random.default_rng(0)
    first = connect(start, goal)
    if first is not None:
        return MinimumJerk([start, goal], [first])
    for _ in range(_DRAWS):
        pose = random.uniform(limits.lower, limits.upper)
        reached = []
        for tree in trees:
            near = min(tree, key=lambda corner: float(np.linalg.norm(corner.pose - pose)))
            duration = connect(near.pose, pose)
            if duration is not None:
                tree.append(_Corner(pose, near, duration))
                reached.append(tree[-1])
        if len(reached) == 2:
            there, back = (corner.trace() for corner in reached)
            poses = [corner.pose for corner in (*there[::-1], *back[1:])]
            durations = [corner.duration for corner in (*there[-2::-1], *back[:-1])]
            return MinimumJerk(poses, durations)
    return None


class _Corner:
    """A pose that can be reached from the one before in some seconds."""

    def __init__(self, pose: FloatArray, before: _Corner | None, duration: float) -> None:
        self.pose, self._before, self.duration = pose, before, duration

    def trace(self) -> list[_Corner]:
        """This pose and all before it, back to the end of the way."""
        return [self, *(self._before.trace() if self._before is not None else [])]


def find_duration(distance: FloatArray, limits: JointLimits) -> float:
    """Seconds that a line over (n,) distances takes within a share of the limits."""
    size = np.abs(distance)
    by_speed = _PEAK_SPEED * size / (_SHARE * limits.velocity)
    by_acceleration = np.sqrt(_PEAK_ACCELERATION * size / (_SHARE * limits.acceleration))
    return float(max(by_speed.max(), by_acceleration.max(), _SHORTEST))
