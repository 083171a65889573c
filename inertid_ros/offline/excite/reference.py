"""What a designed motion is compared with: the paper's move where there is one, else sines drawn at random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.robot import FramePath
from inertid_ros.offline.excite.candidate import FADE, HARMONICS
from inertid_ros.sim.motion import MinimumJerk, Motion
from inertid_ros.sim.multisine import JointLimits, Multisine
from inertid_ros.sim.paper_moves import paper_ddarm_load_move, paper_puma_move

_PAPER_MOVES = {"puma560": paper_puma_move, "ddarm": paper_ddarm_load_move}


class Reference(NamedTuple):
    """A motion and what it is called."""

    name: str
    motion: Motion


def make_reference(path: FramePath, limits: JointLimits, duration: float) -> Reference:
    """The paper's move, forth and back as often as it fits into the duration [s]; else a multisine in the limits."""
    make_move = _PAPER_MOVES.get(path.model.name)
    if make_move is not None:
        move = make_move()
        legs = int(duration / move.duration + 1e-9)
        if legs > 0 and move.joint_count == len(path.joint_names):
            ends = move.at(np.array([0.0, move.duration])).positions
            waypoints = ends[np.arange(legs + 1) % 2]
            return Reference("paper's move", MinimumJerk(waypoints, np.full(legs, duration / legs)))
    return Reference("random sines", Multisine(limits, duration, HARMONICS, fade=FADE * duration))
