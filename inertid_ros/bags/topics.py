"""Which topics of a recording are which input of the node, and the types of their messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from inertid_ros.core.errors import SettingError

JOINT_STATE = "sensor_msgs/msg/JointState"
WRENCH = "geometry_msgs/msg/WrenchStamped"
STRING = "std_msgs/msg/String"

TYPES = {"joint_states": JOINT_STATE, "wrench": WRENCH, "base_wrench": WRENCH, "robot_description": STRING}
"""Type of each input of the node."""

_DEFINITIONS = {
    "std_msgs/msg/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "geometry_msgs/msg/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/msg/Wrench": "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque",
    WRENCH: "std_msgs/Header header\ngeometry_msgs/Wrench wrench",
    JOINT_STATE: "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort",
    STRING: "string data",
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
            SettingError: if one is malformed, or does not remap an input of the node.
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


@cache
def get_message_types() -> Typestore:
    """Types of the messages that are read and written here.

    Only these: importing all types of a ROS distribution takes a tenth of a second, and those that are used here are
    the same in all of them.
    """
    store = get_typestore(Stores.EMPTY)
    for name, definition in _DEFINITIONS.items():
        store.register(get_types_from_msg(definition, name))
    return store
