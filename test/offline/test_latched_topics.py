"""Latched topics are told by their recorded quality of service, and by name where a bag says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from inertid_ros.bags.latched_topics import find_latched


def make_qos(durability: QosDurability) -> Qos:
    never = QosTime(0, 0)
    return Qos(
        QosHistory.KEEP_LAST,
        1,
        QosReliability.RELIABLE,
        durability,
        never,
        never,
        QosLiveliness.AUTOMATIC,
        never,
        avoid_ros_namespace_conventions=False,
    )


@pytest.mark.parametrize("plugin", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_latched_topics_are_found(tmp_path: Path, plugin: StoragePlugin) -> None:
    profiles = {
        "/note": [make_qos(QosDurability.TRANSIENT_LOCAL)],
        "/speech": [make_qos(QosDurability.VOLATILE)],
        "/arm/robot_description": [],
        "/other": [],
    }
    store = get_typestore(Stores.ROS2_JAZZY)
    with Writer(tmp_path / "bag", version=9, storage_plugin=plugin) as writer:
        for topic, offered in profiles.items():
            writer.add_connection(topic, "std_msgs/msg/String", typestore=store, offered_qos_profiles=offered)
    assert find_latched(tmp_path / "bag") == {"/note", "/arm/robot_description"}


def test_bag_that_cannot_be_read_has_the_usual_latched_topics(tmp_path: Path) -> None:
    assert find_latched(tmp_path / "nowhere") == {"/robot_description", "/tf_static"}
