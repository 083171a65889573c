"""Which topics of a bag were published for those who come late (transient local), as its metadata says."""

from __future__ import annotations

from pathlib import Path

from rosbags.interfaces import ConnectionExtRosbag2, QosDurability
from rosbags.rosbag2 import Reader

_USUALLY_LATCHED = ("robot_description", "tf_static")


def find_latched(path: Path) -> frozenset[str]:
    """Names of the latched topics; of a bag that says nothing, those that usually are."""
    latched: set[str] = set()
    try:
        with Reader(path) as reader:
            for connection in reader.connections:
                assert isinstance(connection.ext, ConnectionExtRosbag2)
                profiles = connection.ext.offered_qos_profiles
                is_latched = any(profile.durability == QosDurability.TRANSIENT_LOCAL for profile in profiles)
                if is_latched or connection.topic.split("/")[-1] in _USUALLY_LATCHED:
                    latched.add(connection.topic)
    except Exception:  # noqa: BLE001 - damaged files make the reader fail in any way
        latched.update(f"/{name}" for name in _USUALLY_LATCHED)
    return frozenset(latched)
