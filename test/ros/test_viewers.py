"""Foxglove's layout and the lines for recordings, against the running node: topics, fields and QoS."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.bench import Bench
from support.newcomer import list_commands

from inertid_ros.ros.inputs import DESCRIPTION

ROOT = Path(__file__).parents[2]
LAYOUT = json.loads((ROOT / "foxglove" / "inertid.json").read_text(encoding="utf-8"))
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
