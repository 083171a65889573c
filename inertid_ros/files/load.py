"""Loads as YAML files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from inertid_ros.core.errors import FileAccessError, FileFormatError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose, is_feasible


def load_from_yaml(path: str | Path) -> FloatArray:
    """Read a load: `mass` [kg], `com` (3) [m] in the sensor frame, `inertia_at_com` with ixx ... izz [kg m^2].

    Returns:
        phi (10,) in the sensor frame.

    Raises:
        FileAccessError: if the file cannot be read.
        FileFormatError: if it is not such a load, or one that no rigid body can be.
    """
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileAccessError(f"load file '{path}' cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise FileFormatError(f"load file '{path}' is not YAML: {error}") from None
    try:
        phi = _compose_from(content)
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(
            f"load file '{path}' needs mass, com (3 numbers) and inertia_at_com (ixx ixy ixz iyy iyz izz): {error!r}"
        ) from None
    if not is_feasible(phi):
        raise FileFormatError(
            f"load file '{path}' describes no rigid body: mass and principal moments must be positive, "
            "and no moment may exceed the sum of the two others"
        )
    return phi


def _compose_from(content: Any) -> FloatArray:
    """Build phi from the content of a file."""
    moments = {name: float(content["inertia_at_com"][name]) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
    inertia = [
        [moments["ixx"], moments["ixy"], moments["ixz"]],
        [moments["ixy"], moments["iyy"], moments["iyz"]],
        [moments["ixz"], moments["iyz"], moments["izz"]],
    ]
    com = np.array([float(value) for value in content["com"]])
    if com.shape != (3,):
        raise ValueError(f"com has {len(com)} numbers")
    return compose(float(content["mass"]), com, np.array(inertia))
