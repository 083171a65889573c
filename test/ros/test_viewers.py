"""Layouts of Foxglove and rviz2, and the lines for recordings, against the running node: topics, fields and QoS."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from support.bench import Bench
from support.newcomer import list_commands

from inertid_ros.ros.inputs import DESCRIPTION

ROOT = Path(__file__).parents[2]
LAYOUT = json.loads((ROOT / "foxglove" / "inertid.json").read_text(encoding="utf-8"))
RVIZ = yaml.safe_load((ROOT / "rviz" / "inertid.rviz").read_text(encoding="utf-8"))
RVIZ_TYPES = {"RobotModel": "String", "MarkerArray": "MarkerArray", "Wrench": "WrenchStamped"}
"""What the displays of rviz_default_plugins subscribe to."""
QOS = yaml.safe_load((ROOT / "config" / "recording" / "qos.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def topics(bench: Bench) -> dict[str, Any]:
    """Types of what the node hears and says, by topic."""
    node = bench.start()
    ends = [*node.publishers, *node.subscriptions]
    return {end.topic_name: end.msg_type for end in ends}


def iterate_values(entry: Any, names: tuple[str, ...]) -> Iterator[str]:
    """Walk over the values of some keys, wherever they are."""
    for key, value in entry.items() if isinstance(entry, dict) else enumerate(entry):
        if key in names and isinstance(value, str):
            yield value
        elif key == "topics":
            yield from value
        elif isinstance(value, (dict, list)):
            yield from iterate_values(value, names)


def test_the_layout_shows_what_the_node_publishes(topics: dict[str, Any]) -> None:
    paths = list(iterate_values(LAYOUT, ("value", "topicPath", "topicToRender")))
    assert len(paths) == 20
    for path in paths:
        topic, *fields = path.split(".")
        assert topic in topics, path
        kind = topics[topic]
        for field in (re.sub(r"\[.*\]", "", field) for field in fields):
            kinds = kind.get_fields_and_field_types()
            assert field in kinds, path
            kind = getattr(__import__(f"{kind.__module__.split('.')[0]}.msg").msg, kinds[field].split("/")[-1], None)


def test_rviz2_shows_what_is_there_in_its_own_namespace(bench: Bench) -> None:
    """Topics are relative; each display has the type and asks for no more than the QoS that there is."""
    node = bench.start()
    offered = {end.topic_name: (end.msg_type.__name__, end.qos_profile) for end in node.publishers}
    heard = {end.topic_name: (end.msg_type.__name__, end.qos_profile) for end in node.subscriptions}
    assert RVIZ["Visualization Manager"]["Global Options"]["Fixed Frame"] == "base_link"
    displays = RVIZ["Visualization Manager"]["Displays"]
    for display in (display for display in displays if "Topic" in str(display.keys())):
        topic = display.get("Topic") or display["Description Topic"]
        assert not topic["Value"].startswith("/")
        kind, qos = (heard | offered)[f"/{topic['Value']}"]
        assert kind == RVIZ_TYPES[display["Class"].rpartition("/")[2]]
        if f"/{topic['Value']}" in offered:
            assert topic["Reliability Policy"] == "Best Effort" or qos.reliability == ReliabilityPolicy.RELIABLE
            assert topic["Durability Policy"] == "Volatile" or qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
    bench.describe()
    bench.feed(4.0)
    drawn = {marker.ns for message in bench.received["markers"] for marker in message.markers}
    (shown,) = (set(display["Namespaces"]) for display in displays if "Namespaces" in display)
    assert drawn == shown


def test_what_is_recorded_is_there_and_the_description_outlives_its_publisher(topics: dict[str, Any]) -> None:
    lines = [line.words for line in list_commands() if "ros2 bag record" in line.text]
    recorded = [word for words in lines for word in words if word.startswith("/")]
    assert len(lines) == 2
    assert set(recorded) <= set(topics)
    assert {"/joint_states", "/wrench", "/robot_description"} <= set(recorded)
    (profile,) = QOS.values()
    assert set(QOS) == {"/robot_description"}
    assert profile["depth"] == DESCRIPTION.depth
    for name in ("history", "reliability", "durability"):
        assert profile[name] == getattr(DESCRIPTION, name).name.lower()
