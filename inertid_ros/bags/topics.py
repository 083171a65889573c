"""Which topics of a recording are which input of the node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from inertid_ros.core.errors import SettingError

TYPES = {
    "joint_states": "sensor_msgs/msg/JointState",
    "wrench": "geometry_msgs/msg/WrenchStamped",
    "base_wrench": "geometry_msgs/msg/WrenchStamped",
    "robot_description": "std_msgs/msg/String",
}


@dataclass(frozen=True, slots=True)
class Topics:
    """Names of the topics; by default those the node subscribes to."""

    joint_states: str = "/joint_states"
    wrench: str = "/wrench"
    base_wrench: str = "/base_wrench"
    robot_description: str = "/robot_description"

    @classmethod
    def from_remappings(cls, remappings: Sequence[str]) -> Topics:
        """Read `from:=to` as `ros2 run … -r` takes them.

        Raises:
            SettingError: if one is written otherwise, or renames no topic of the node.
        """
        topics = cls()
        for remapping in remappings:
            name, separator, target = remapping.partition(":=")
            name = name.strip("/ ")
            if not separator or name not in TYPES or not target.strip():
                expected = "one of " + ", ".join(f"{known}:=/TOPIC" for known in TYPES)
                raise SettingError("--remap", remapping, expected)
            topics = replace(topics, **{name: "/" + target.strip().lstrip("/")})
        return topics
