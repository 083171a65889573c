"""What is known of a load before a motion is designed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.files.estimate_json import read_document
from inertid_ros.files.load_estimate import read_estimate


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
    if Path(file).suffix == ".json":
        return _read_replay(Path(file))
    saved = read_estimate(file)
    tool = np.zeros(10) if saved.tool is None else saved.tool.phi
    return _make(saved.provenance.sensor_frame, saved.covariance, saved.feasible_phi + tool)


def _read_replay(file: Path) -> KnownLoad:
    document = read_document(file)
    load = document.section("load")
    carried = load.numbers("feasible", (10,))
    if document.value("tool", object) is not None:
        carried = carried + document.section("tool").numbers("parameters", (10,))
    return _make(load.value("sensor_frame", str), load.covariance("covariance", 10), carried)


def _make(sensor_frame: str, covariance: FloatArray, carried: FloatArray) -> KnownLoad:
    return KnownLoad(sensor_frame, covariance, carried if carried[0] > 0.0 else None)
