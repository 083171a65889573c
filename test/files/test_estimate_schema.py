"""docs/estimate_schema.md names every entry that is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.bags import puma_messages, write_bag
from support.golden import puma_arm_messages
from support.link_bags import BY_BOTH, ddarm_messages, simulate_ddarm

from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.settings.choices import EffortUnit, LoadSource
from inertid_ros.core.settings.settings import LinksSettings, LoadSettings, Settings
from inertid_ros.files.document import read_mapping
from inertid_ros.files.estimate import read_estimate
from inertid_ros.replay.inputs import Plan
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
    plan = Plan(settings=Settings(load=LoadSettings(sensor_frame="ft_sensor")), moments=0)
    bag = write_bag(folder / "bag", puma_messages(4.0))
    replay_recordings(find_recordings([bag], plan), plan, folder, lambda _: None)
    return folder / "estimate.json"


def test_every_entry_is_documented(output: Path) -> None:
    names = set(iterate_names(dict(read_mapping(output).content)))
    ranged = {"fy", "fz", "nx", "ny"}
    documented = set(re.findall(r"[a-z0-9_]+", " ".join(re.findall(r"`([^`]+)`", SCHEMA))))
    assert names - ranged - documented == set()


def test_every_entry_of_links_is_documented(tmp_path: Path) -> None:
    plan = Plan(settings=BY_BOTH, moments=0)
    bag = write_bag(tmp_path / "bag", ddarm_messages(simulate_ddarm(0), 4.0, base=True))
    replay_recordings(find_recordings([bag], plan), plan, tmp_path, lambda _: None)
    names = set(iterate_names(dict(read_mapping(tmp_path / "estimate.json").content)))
    documented = set(re.findall(r"[A-Za-z0-9_]+", " ".join(re.findall(r"`([^`]+)`", SCHEMA))))
    of_the_robot = {*(f"joint{n}" for n in (1, 2, 3)), *(f"link{n}" for n in (1, 2, 3))}
    of_the_robot |= {f"base.{name}" for name in ("fx", "fy", "fz", "nx", "ny", "nz")}
    assert names - documented - of_the_robot - set(PARAMETER_NAMES) == set()


def test_every_entry_of_a_load_by_efforts_is_documented(tmp_path: Path) -> None:
    arm, loaded = (
        write_bag(tmp_path / name, puma_arm_messages(seed, load=name == "loaded"))
        for seed, name in ((1, "arm"), (2, "loaded"))
    )
    links = LinksSettings(effort_unit=EffortUnit.NEWTON_METRE)
    plan = Plan(settings=Settings(estimators=["links"], links=links), moments=0)
    replay_recordings(find_recordings([arm], plan), plan, tmp_path, lambda _: None)
    load = LoadSettings(source=LoadSource.EFFORT, sensor_frame="ft_sensor", arm_file=str(tmp_path / "estimate.json"))
    plan = Plan(settings=Settings(load=load, links=links), moments=0)
    replay_recordings(find_recordings([loaded], plan), plan, tmp_path / "load", lambda _: None)
    content = dict(read_mapping(tmp_path / "load" / "estimate.json").content)
    documented = set(re.findall(r"[A-Za-z0-9_]+", " ".join(re.findall(r"`([^`]+)`", SCHEMA))))
    assert set(iterate_names(content)) - documented - {f"joint{n}" for n in range(1, 7)} == set()
    assert content["load"]["source"] == "effort"
    assert content["load"]["mass"] == pytest.approx(1.5, abs=0.05)
    assert not {"bias", "bias_covariance", "noise_density", "noise_calibrated", "wrench_sign", "misfit"} & set(
        content["load"]
    )


def test_what_is_written_is_read_back(output: Path) -> None:
    written, saved = read_mapping(output).content, read_estimate(output)
    assert saved.settings == Settings(load=LoadSettings(sensor_frame="ft_sensor"))
    assert saved.topics["wrench"] == "/wrench"
    load = saved.need_load()
    assert load.sensor is not None
    assert load.values.tolist() == written["load"]["parameters"]
    assert load.covariance.tolist() == written["load"]["covariance"]
    assert load.sensor.bias.tolist() == written["load"]["bias"]
    assert list(load.states) == written["load"]["states"]
