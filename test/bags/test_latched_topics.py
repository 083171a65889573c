"""Latched topics are told by their recorded quality of service, and by name where a bag says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from support.bags import find_storage, puma_messages, write_bag

from inertid_ros.bags.bag import Bag


def list_latched(bag: Bag) -> set[str]:
    return {topic for topic, info in bag.topics.items() if info.is_latched}


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
    with Bag(tmp_path / "bag") as bag:
        assert list_latched(bag) == {"/note", "/arm/robot_description"}


@pytest.mark.parametrize("plugin", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_topics_of_a_damaged_bag_are_latched_by_name(tmp_path: Path, plugin: StoragePlugin) -> None:
    file = find_storage(write_bag(tmp_path / "bag", puma_messages(3.0), plugin))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with Bag(tmp_path / "bag") as bag:
        assert bag.trouble
        assert list_latched(bag) == {"/robot_description"}
