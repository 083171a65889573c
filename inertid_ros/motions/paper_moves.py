"""The moves of the experiments in Atkeson, An and Hollerbach (1986)."""

from __future__ import annotations

import numpy as np

from inertid_ros.motions.motion import MinimumJerk


def paper_puma_move() -> MinimumJerk:
    """All six joints of the PUMA in 2 s, as fast as joints 1 and 4 can (section 3.1.2)."""
    return _move([0.0, 0.0, 0.0, -90.0, 0.0, 0.0], [90.0, -60.0, 90.0, 90.0, 90.0, 90.0], 2.0)


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
