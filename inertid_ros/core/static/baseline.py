"""What a base sensor reads where the arm stands still: gravity and offset together, along a path.

Liu et al. (eq. 21 to 24) drive the arm along the path of the motion once more, and stop it on the way. What the sensor
reads there is subtracted from what it reads in motion. Only the wrench of the motion is left, and neither gravity nor
the sensor's offset, nor its drift since, is in the equations any more.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.errors import RobotDescriptionError
from inertid_ros.core.records import BoolArray, FloatArray

FAR = 0.05
"""Farther than this [rad or m] from the path of poses the base wrench at rest is not known: gravity changes by 5 %."""


class StaticWrench:
    """Wrenches at poses that follow each other along a path, in between interpolated.

    Attributes:
        joint_names: the n joints of the poses.
        positions: (M, n).
        wrenches: (M, 6), as the driver publishes them.
    """

    def __init__(self, joint_names: tuple[str, ...], positions: FloatArray, wrenches: FloatArray) -> None:
        """Keep poses in the order in which they were reached."""
        self.joint_names = joint_names
        self.positions = positions
        self.wrenches = wrenches

    def in_order(self, joint_names: tuple[str, ...]) -> StaticWrench:
        """The same for joints in another order.

        Raises:
            RobotDescriptionError: if a joint is missing.
        """
        missing = [name for name in joint_names if name not in self.joint_names]
        if missing:
            raise RobotDescriptionError(
                f"the poses of links.static_file lack {', '.join(missing)}: record them again with all joints"
            )
        order = [self.joint_names.index(name) for name in joint_names]
        return StaticWrench(joint_names, self.positions[:, order], self.wrenches)

    def read(self, positions: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Wrenches (N, 6) at (N, n) positions, and whether these are near enough to the path (N,)."""
        starts, ways = self.positions[:-1], np.diff(self.positions, axis=0)
        lengths = np.maximum(np.square(ways).sum(axis=1), 1e-12)
        offsets = positions[:, None] - starts
        fractions = np.clip((offsets * ways).sum(axis=2) / lengths, 0.0, 1.0)
        distances = np.abs(offsets - fractions[..., None] * ways).max(axis=2)
        nearest = distances.argmin(axis=1)
        each = np.arange(len(positions))
        share = fractions[each, nearest][:, None]
        wrenches = (1.0 - share) * self.wrenches[nearest] + share * self.wrenches[nearest + 1]
        return wrenches, distances[each, nearest] <= FAR
