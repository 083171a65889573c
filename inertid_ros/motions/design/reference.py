"""What a designed motion is compared with: the paper's moves where there are any, else sines drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from inertid_ros.motions.design.search import FADE, HARMONICS
from inertid_ros.motions.motion import MinimumJerk, Motion
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.motions.paper_moves import paper_ddarm_link_moves, paper_ddarm_load_move, paper_puma_move

LOAD_MOVES = {"puma560": (paper_puma_move(),), "ddarm": (paper_ddarm_load_move(),)}
LINK_MOVES = {"puma560": (paper_puma_move(),), "ddarm": paper_ddarm_link_moves()}
"""The paper's moves, by the name of the robot. For the links of the PUMA it has none: that for its load then."""


class Reference(NamedTuple):
    """Motions, each from rest to rest, and what they are called."""

    name: str
    motions: tuple[Motion, ...]


def make_reference(moves: Sequence[MinimumJerk], limits: JointLimits, duration: float) -> Reference:
    """As many of the paper's moves as fit into the duration [s]; a multisine in the limits if they do not.

    A single move goes forth and back. Of several each begins where it begins in the paper; what leads from one to the
    next is left out.
    """
    legs = int(duration / moves[0].duration + 1e-9) if moves else 0
    if not moves or legs < len(moves) or moves[0].joint_count != len(limits.lower):
        return Reference("random sines", (Multisine(limits, duration, HARMONICS, fade=FADE * duration),))
    ends = [move.at(np.array([0.0, move.duration])).positions for move in moves]
    if len(moves) == 1:
        waypoints = ends[0][np.arange(legs + 1) % 2]
        return Reference("paper's move", (MinimumJerk(waypoints, np.full(legs, duration / legs)),))
    taken = (ends[leg % len(moves)] for leg in range(legs))
    return Reference("paper's moves", tuple(MinimumJerk(pair, [duration / legs]) for pair in taken))
