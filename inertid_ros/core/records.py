"""What flows between the stages: records of numpy arrays with time as the first axis.

Stamps are integers, nanoseconds, as they came in the message header: a float64 of seconds since 1970 resolves
0.24 microseconds only, which is too coarse to difference. Seconds appear inside a stage, relative to an origin.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class JointBlock(NamedTuple):
    """Joint samples of one publisher, all with the same joints in the same order.

    Attributes:
        names: the n joints as the message named them.
        stamps: (N,) nanoseconds.
        positions: (N, n) rad or m.
        velocities: (N, n) rad/s or m/s, or None where the message has none.
        efforts: (N, n) in whatever unit the driver publishes, NaN where a joint gave none, or None where the message
            has none.

    Numbers that the message has too few or too many of come as they are, with another width than n.
    """

    names: tuple[str, ...]
    stamps: IntArray
    positions: FloatArray
    velocities: FloatArray | None
    efforts: FloatArray | None = None

    def take(self, rows: slice) -> JointBlock:
        """Return some of the samples."""
        return JointBlock(
            self.names,
            self.stamps[rows],
            self.positions[rows],
            None if self.velocities is None else self.velocities[rows],
            None if self.efforts is None else self.efforts[rows],
        )


class WrenchBlock(NamedTuple):
    """Readings of one force/torque sensor, in the driver's own sign and frame.

    Attributes:
        frame: the header's frame_id.
        stamps: (N,) nanoseconds.
        wrenches: (N, 6) force [N], then moment [Nm].
    """

    frame: str
    stamps: IntArray
    wrenches: FloatArray

    def take(self, rows: slice) -> WrenchBlock:
        """Return some of the samples."""
        return WrenchBlock(self.frame, self.stamps[rows], self.wrenches[rows])
