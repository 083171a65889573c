"""A motion that a controller follows under supervision: its stages, and the reasons for which it is stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import Motion
from inertid_ros.motions.multisine import JointLimits
from inertid_ros.motions.trajectory import Trajectory, sample_motion

SLOW = 0.25
"""Share of the speed asked for at which a motion is made first: slow enough for a hand on the emergency stop."""
LAG = 0.3
"""Seconds by which a controller may be behind: start-up of a goal, and the delay of its loops."""
LATEST = 2.0
"""Seconds after the end of a trajectory within which the controller must have finished."""

_EARLY = 0.1
"""Seconds by which joints may seem to be ahead: stamps, and the moment at which the goal began."""
_THERE = 0.002
"""Distance [rad or m] that needs no approach."""
_OUTSIDE = 0.01
"""Rad or m by which a measured position may be beyond an end of a joint: encoders and URDF differ."""
_WINDOW = 21
"""Moments of the window from `_EARLY` to LAG with which joints are compared."""


class Joints(NamedTuple):
    """The n joints that move: their names, whether the coordinate of each is an angle, and their limits."""

    names: tuple[str, ...]
    is_angle: tuple[bool, ...]
    limits: JointLimits

    def write(self, joint: int, value: float) -> str:
        """A joint with a position, or a distance, and its unit."""
        return f"{self.names[joint]} {value:.3f} {self.get_unit(joint)}"

    def get_unit(self, joint: int) -> str:
        """The unit of a joint's coordinate."""
        return "rad" if self.is_angle[joint] else "m"

    def find_beyond(self, positions: FloatArray) -> str:
        """Which joint is the farthest beyond its limit at (n,) positions, in words; empty if none is."""
        lower, upper = self.limits.lower - positions, positions - self.limits.upper
        beyond = np.maximum(lower, upper)
        worst = int(beyond.argmax())
        if beyond[worst] <= _OUTSIDE:
            return ""
        end = (self.limits.lower if lower[worst] > upper[worst] else self.limits.upper)[worst]
        return f"{self.names[worst]} is at {positions[worst]:.3f} {self.get_unit(worst)}, beyond its limit {end:.3f}"


class Stage(NamedTuple):
    """A part of what is executed, which begins and ends at rest."""

    name: str
    trajectory: Trajectory


def plan_stages(
    present: FloatArray,
    motion: Trajectory,
    scale: float,
    approach: Callable[[FloatArray, FloatArray], Motion],
) -> list[Stage]:
    """To where a motion begins, the motion slowly, back again, and the motion at a share of its speed.

    Args:
        present: (n,) where the joints are.
        motion: at full speed.
        scale: the share.
        approach: makes a way between two poses (n,); raises an InertidError if there is none.
    """
    start, end = motion.path.positions[0], motion.path.positions[-1]
    ways = {"approach": (present, start), "return": (end, start)}
    stages = {
        name: Stage(name, sample_motion(approach(*ends), motion.joint_names))
        for name, ends in ways.items()
        if np.abs(ends[1] - ends[0]).max() > _THERE
    }
    slowly, at_speed = (motion.slow_down(share * scale) for share in (SLOW, 1.0))
    order = [stages.get("approach"), Stage("slowly", slowly), stages.get("return"), Stage("at speed", at_speed)]
    return [stage for stage in order if stage is not None]


class Supervisor:
    """Compares joints with the trajectory that they should follow."""

    def __init__(self, trajectory: Trajectory, joints: Joints, tolerance: float) -> None:
        """Take the trajectory, its joints, and the tracking error that is allowed [rad or m]."""
        self._trajectory, self._joints, self._tolerance = trajectory, joints, tolerance

    def find_reason(self, elapsed: float, positions: FloatArray, contacts: Sequence[str]) -> str:
        """Why the motion must be stopped, `elapsed` seconds after its beginning; empty if it need not.

        Positions (n,) are those measured, contacts what the estimator has noticed meanwhile.
        """
        if contacts:
            return f"contact: {contacts[0]}"
        beyond = self._joints.find_beyond(positions)
        if beyond:
            return beyond
        times = np.linspace(elapsed - LAG, elapsed + _EARLY, _WINDOW)
        columns = self._trajectory.path.positions.T  # points are so close that straight lines between them do
        expected = np.column_stack([np.interp(times, self._trajectory.times, column) for column in columns])
        errors = np.abs(expected - positions)
        nearest = int(errors.max(axis=1).argmin())
        worst = int(errors[nearest].argmax())
        if errors[nearest, worst] > self._tolerance:
            name, unit, error = self._joints.names[worst], self._joints.get_unit(worst), errors[nearest, worst]
            return f"tracking error: {name} is off by {error:.3f} {unit}, {self._tolerance:g} is allowed"
        if elapsed > self._trajectory.duration + LATEST:
            return f"the controller has not finished {LATEST:g} s after the end of the motion"
        return ""
