"""The links of the direct drive arm as Atkeson, An and Hollerbach (1986) estimated them: tables 4 and 5."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES

ESTIMATED = (
    ({"mcx2": 1.0}, -0.1591),
    ({"Ixy2": 1.0}, 0.3894),
    ({"Ixz2": 1.0}, 0.0118),
    ({"mcx3": 1.0}, 0.4676),
    ({"mcy3": 1.0}, 0.0315),
    ({"Ixy3": 1.0}, -0.0256),
    ({"Ixz3": 1.0}, 0.0143),
    ({"Iyz3": 1.0}, -0.0160),
    ({"Izz3": 1.0}, 0.3568),
    ({"mcz3": 0.45, "Iyz2": 1.0}, -1.0589),
    ({"Ixx3": 1.0, "Iyy3": -1.0}, -0.3691),
    ({"Izz2": 1.0, "Ixx3": 1.0}, 0.7082),
    ({"Izz1": 1.0, "Ixx2": 1.0, "Ixx3": 1.0, "m3": 0.2025}, 15.4029),
    ({"Ixx2": 1.0, "Ixx3": 1.0, "Iyy2": -1.0}, 0.4709),
    ({"mcz3": 1.0, "mcy2": -1.0}, -1.6863),
)
"""What can be identified of the arm: nine parameters on their own, and six combinations. The fourth of these is that of
table 4; table 5 misprints it as 15.7029."""


def paper_ddarm_links(modelled: FloatArray) -> FloatArray:
    """Return links phi (3, 10) with the paper's estimates, in all else as near as can be to the modelled ones (3, 10).

    Link 2 is no body that could exist, and no other with these estimates is. Its motion can be computed all the same.
    """
    rows = np.zeros((len(ESTIMATED), 30))
    for row, (terms, _) in zip(rows, ESTIMATED, strict=True):
        for name, factor in terms.items():
            row[10 * (int(name[-1]) - 1) + PARAMETER_NAMES.index(name[:-1])] = factor
    missing = np.array([value for _, value in ESTIMATED]) - rows @ modelled.ravel()
    return np.asarray(modelled + (np.linalg.pinv(rows) @ missing).reshape(3, 10))
