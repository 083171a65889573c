"""What other programs may use, without ROS: these names stay, whatever moves inside.

- `Robot`, `Settings`, `read_settings`: what is identified, and how;
- `Chain` with `Target`, fed with `JointBlock`, `WrenchBlock` and, with an IMU, `ImuBlock`: sample by sample, as the
  node does it;
- `replay`: whole recordings, as `inertid replay` does it;
- `read_estimate`, `SavedEstimate`, `tabulate`, `format_csv`: what was found, also by a node;
- `LinkModel`: the equation of an arm, and which parameters it determines.

docs/api.md has an example of each. Everything that goes wrong on purpose is an `InertidError`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from inertid_ros.bags.bag import Topics
from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import InertidError
from inertid_ros.core.records import ImuBlock, JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.estimate import SavedEstimate, read_estimate
from inertid_ros.files.parameters import read_settings
from inertid_ros.files.table import format_csv, tabulate
from inertid_ros.files.urdf import UrdfFile
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.recordings import find_recordings, replay_recordings

__all__ = [
    "Chain",
    "ImuBlock",
    "InertidError",
    "JointBlock",
    "LinkModel",
    "Replayed",
    "Robot",
    "SavedEstimate",
    "Settings",
    "Target",
    "WrenchBlock",
    "format_csv",
    "read_estimate",
    "read_settings",
    "replay",
    "tabulate",
]


class Replayed(NamedTuple):
    """What came of recordings: the estimate, and what went wrong, a line each."""

    estimate: SavedEstimate
    trouble: tuple[str, ...]


def replay(
    bags: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    topics: Mapping[str, str] | None = None,
    start: float = 0.0,
    end: float = math.inf,
) -> Replayed:
    """Identify from recordings, as `inertid replay` does: the information of several adds up.

    Args:
        bags: rosbag2 folders, or .mcap or .db3 files.
        output: directory for estimate.json, predictions.mcap and report.html; made if need be.
        settings: those of the node; the URDF is that of `settings.urdf`, else that in the bag.
        topics: of joint_states, wrench, base_wrench, imu or robot_description, where they have another name.
        start: use each bag from here [s after its first message].
        end: use it up to here, likewise.

    Raises:
        InertidError: if nothing at all could be computed or written.
    """
    settings = settings or Settings()
    plan = Plan(
        settings=settings,
        topics=Topics.from_remappings([f"{name}:={topic}" for name, topic in (topics or {}).items()]),
        description=UrdfFile.read(Path(settings.urdf), "settings.urdf").text if settings.urdf else "",
        start=start,
        end=end,
    )
    recordings = find_recordings([Path(bag) for bag in bags], plan)
    outcome = replay_recordings(recordings, plan, Path(output), lambda _: None)
    return Replayed(read_estimate(Path(output)), outcome.trouble)
