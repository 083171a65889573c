"""docs/estimate_schema.md names every entry that is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.bags import puma_messages, write_bag
from support.link_bags import BY_BOTH, ddarm_messages, simulate_ddarm

from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.files.estimate_json import read_document, read_settings_of, read_topics_of, read_unknowns
from inertid_ros.replay.plan import Plan
from inertid_ros.replay.recordings import find_recordings, replay_recordings

SCHEMA = (Path(__file__).parents[2] / "docs" / "estimate_schema.md").read_text(encoding="utf-8")
FREE = {"settings", "versions", "health", "units"}
"""Sections whose names come from elsewhere."""


def iterate_names(content: Any, is_recording: bool = False) -> Iterator[str]:
    if isinstance(content, list):
        for item in content:
            yield from iterate_names(item, is_recording)
    elif isinstance(content, dict):
        for name, value in content.items():
            yield name
            if name not in FREE or (is_recording and name == "health"):
                yield from iterate_names(value, is_recording or name == "recordings")


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("schema")
    plan = Plan(settings=Settings(load=LoadSettings(sensor_frame="ft_sensor")))
    bag = write_bag(folder / "bag", puma_messages(4.0))
    replay_recordings(find_recordings([bag], plan), plan, folder, lambda _: None)
    return folder / "estimate.json"


def test_every_entry_is_documented(output: Path) -> None:
    names = set(iterate_names(dict(read_document(output).content)))
    ranged = {"fy", "fz", "nx", "ny"}
    documented = set(re.findall(r"[a-z0-9_]+", " ".join(re.findall(r"`([^`]+)`", SCHEMA))))
    assert names - ranged - documented == set()


def test_every_entry_of_links_is_documented(tmp_path: Path) -> None:
    plan = Plan(settings=BY_BOTH)
    bag = write_bag(tmp_path / "bag", ddarm_messages(simulate_ddarm(0), 4.0, base=True))
    replay_recordings(find_recordings([bag], plan), plan, tmp_path, lambda _: None)
    names = set(iterate_names(dict(read_document(tmp_path / "estimate.json").content)))
    documented = set(re.findall(r"[A-Za-z0-9_]+", " ".join(re.findall(r"`([^`]+)`", SCHEMA))))
    of_the_robot = {*(f"joint{n}" for n in (1, 2, 3)), *(f"link{n}" for n in (1, 2, 3))}
    of_the_robot |= {f"base.{name}" for name in ("fx", "fy", "fz", "nx", "ny", "nz")}
    assert names - documented - of_the_robot - set(PARAMETER_NAMES) == set()


def test_what_is_written_is_read_back(output: Path) -> None:
    document = read_document(output)
    assert read_settings_of(document) == Settings(load=LoadSettings(sensor_frame="ft_sensor"))
    assert read_topics_of(document).wrench == "/wrench"
    load = document.section("load")
    assert read_unknowns(document).tolist() == load.value("parameters", list) + load.value("bias", list)
