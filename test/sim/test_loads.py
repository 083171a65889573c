"""Loads: when they hang on the sensor, and as files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inertid_ros.core.errors import FileAccessError, FileFormatError, SettingError
from inertid_ros.core.rigid_body.inertial import decompose
from inertid_ros.files.load import load_from_yaml
from inertid_ros.sim.load_schedule import LoadSchedule

FIRST, SECOND = np.arange(1.0, 11.0), np.arange(2.0, 12.0)
LOADS = Path(__file__).parents[2] / "config" / "loads"
GOOD = (
    "mass: 2\ncom: [0.1, 0, -0.2]\ninertia_at_com: {ixx: 0.3, ixy: 0.01, ixz: 0.02, iyy: 0.25, iyz: 0.03, izz: 0.2}\n"
)


def test_load_changes_at_its_times() -> None:
    schedule = LoadSchedule([(4.0, None), (1.0, FIRST)])
    for time, load in ((-1.0, 0 * FIRST), (0.99, 0 * FIRST), (1.0, FIRST), (3.99, FIRST), (4.0, 0 * FIRST)):
        np.testing.assert_array_equal(schedule.load_at(time), load)


def test_load_can_be_changed_later_on() -> None:
    schedule = LoadSchedule([(1.0, FIRST), (8.0, None)])
    schedule.change(5.0, SECOND)
    schedule.change(8.0, FIRST)
    np.testing.assert_array_equal(schedule.load_at(4.0), FIRST)
    np.testing.assert_array_equal(schedule.load_at(5.0), SECOND)
    np.testing.assert_array_equal(schedule.load_at(8.0), FIRST)


def test_parts_cover_all_times_once() -> None:
    times = np.linspace(0.0, 10.0, 101)
    schedule = LoadSchedule([(2.0, FIRST), (5.0, SECOND), (7.0, None)])
    covered = np.zeros(101, dtype=int)
    for rows, load in schedule.parts(times):
        covered[rows] += 1
        for time in times[rows]:
            np.testing.assert_array_equal(schedule.load_at(time), load)
    np.testing.assert_array_equal(covered, 1)
    assert list(schedule.parts(np.empty(0))) == []


def test_what_is_no_load_is_rejected() -> None:
    with pytest.raises(SettingError, match="ten finite"):
        LoadSchedule([(0.0, np.ones(9))])
    with pytest.raises(SettingError, match="ten finite"):
        LoadSchedule([(0.0, np.full(10, np.nan))])
    with pytest.raises(SettingError, match="finite time"):
        LoadSchedule([(float("inf"), FIRST)])


def test_file_gives_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "load.yaml"
    path.write_text(GOOD)
    mass, com, inertia = decompose(load_from_yaml(path))
    assert mass == pytest.approx(2.0)
    np.testing.assert_allclose(com, [0.1, 0.0, -0.2], atol=1e-15)
    np.testing.assert_allclose(inertia, [[0.3, 0.01, 0.02], [0.01, 0.25, 0.03], [0.02, 0.03, 0.2]], atol=1e-15)


@pytest.mark.parametrize("path", sorted(LOADS.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_loads_can_be_read(path: Path) -> None:
    assert 0.1 < load_from_yaml(path)[0] < 10.0


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("mass: [", "is not YAML"),
        ("", "needs mass"),
        ("[1, 2]", "needs mass"),
        (GOOD.replace("mass: 2\n", ""), "needs mass.*'mass'"),
        (GOOD.replace("izz", "jzz"), "needs mass.*'izz'"),
        (GOOD.replace("0.1, 0, -0.2", "0.1, 0"), "com has 2 numbers"),
        (GOOD.replace("mass: 2", "mass: heavy"), "needs mass.*heavy"),
        (GOOD.replace("mass: 2", "mass: -2"), "no rigid body"),
        (GOOD.replace("mass: 2", "mass: .nan"), "no rigid body"),
        (GOOD.replace("ixx: 0.3", "ixx: 0.5"), "no rigid body"),
    ],
)
def test_file_that_is_no_load_is_refused_with_the_reason(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "load.yaml"
    path.write_text(content)
    with pytest.raises(FileFormatError, match=expected):
        load_from_yaml(path)


def test_file_that_cannot_be_read_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match=r"nothing\.yaml.*No such file"):
        load_from_yaml(tmp_path / "nothing.yaml")
