"""What is known of a load before a motion is designed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inertid_ros.core.records import FloatArray
from inertid_ros.files.estimate import read_estimate


@dataclass(frozen=True, slots=True)
class KnownLoad:
    """An earlier estimate, as far as the design of a motion needs it.

    Attributes:
        sensor_frame: frame of the numbers.
        covariance: (10, 10) of the load's parameters.
        load: (10,) feasible parameters of what is carried, for the efforts; None if nothing is.
    """

    sensor_frame: str
    covariance: FloatArray
    load: FloatArray | None


def read_known_load(file: str | Path) -> KnownLoad:
    """Read an estimate: one that `~/save` wrote, or the estimate.json of a replay.

    Raises:
        FileAccessError, FileFormatError: if it cannot be used.
    """
    load = read_estimate(Path(file)).need_load()
    carried = load.feasible if load.tool is None else load.feasible + load.tool.phi
    return KnownLoad(load.frame, load.covariance, carried if carried[0] > 0.0 else None)
