"""Load files: the inertial parameters of a load as people write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose, is_feasible
from inertid_ros.files.document import read_mapping

_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def load_from_yaml(path: str | Path) -> FloatArray:
    """Read a load: `mass` [kg], `com` (3) [m] in the sensor frame, `inertia_at_com` with ixx ... izz [kg m^2].

    Returns:
        phi (10,) in the sensor frame.

    Raises:
        FileAccessError: if the file cannot be read.
        FileFormatError: if it is not such a load, or not a physically consistent one.
    """
    content = read_mapping(Path(path))
    xx, xy, xz, yy, yz, zz = content.named_numbers("inertia_at_com", _INERTIA)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    phi = compose(content.number("mass"), content.numbers("com", (3,)), inertia)
    if not is_feasible(phi):
        raise FileFormatError(
            f"{content.where} is not physically consistent: mass and principal moments of inertia must be positive, "
            "and no moment may exceed the sum of the other two"
        )
    return phi
