"""What is saved comes back to the last digit; what is broken is named."""

from __future__ import annotations

import dataclasses
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from inertid_ros import __version__
from inertid_ros.core.errors import FileAccessError, FileFormatError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.feasibility import nearest_feasible
from inertid_ros.core.rigid_body.inertial import compose
from inertid_ros.core.rigid_body.tool import Tool
from inertid_ros.files.load_estimate import (
    Provenance,
    SavedEstimate,
    read_estimate,
    read_tool,
    write_estimate,
    write_tool,
)

GENERATOR = np.random.default_rng(1)
PROVENANCE = Provenance(
    urdf_sha256="0123456789abcdef" * 4,
    sensor_frame="ft_sensor",
    wrench_sign="on_sensor",
    method="filtered",
    gravity=(0.1, -0.2, -9.80665),
    first_stamp=1_700_000_000_123_456_789,
    last_stamp=1_700_000_012_987_654_321,
    joint_samples=12345,
    wrench_samples=6789,
)


def make_covariance(size: int, scale: float) -> FloatArray:
    mixing = GENERATOR.normal(0.0, scale, (size, size))
    return np.asarray(mixing @ mixing.T)


COVARIANCE = make_covariance(10, 1e-5)
PHI = compose(1.106, GENERATOR.normal(0.0, 0.1, 3), np.diag([0.0244, 0.0007, 0.0242])) + GENERATOR.normal(0.0, 1e-5, 10)
TOOL = Tool(GENERATOR.normal(0.0, 1.0, 10), make_covariance(10, 1e-4), "ft_sensor")
SAVED = SavedEstimate(
    provenance=PROVENANCE,
    phi=PHI,
    covariance=COVARIANCE,
    feasible_phi=nearest_feasible(PHI, np.asarray(np.linalg.inv(COVARIANCE), dtype=float)),
    states=("known",) * 10,
    bias=GENERATOR.normal(0.0, 3.0, 6),
    bias_covariance=make_covariance(6, 1e-2),
    tool=TOOL,
)


def assert_same(left: Any, right: Any) -> None:
    """Equal to the last bit, through nested records and arrays."""
    if dataclasses.is_dataclass(left):
        assert type(left) is type(right)
        for item in dataclasses.fields(left):
            assert_same(getattr(left, item.name), getattr(right, item.name))
    else:
        np.testing.assert_array_equal(left, right)


def edit(path: Path, **changes: Any) -> None:
    """Change entries of a file; a dotted name with __ for the dot, ... to delete it."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    for name, value in changes.items():
        *parents, last = name.split("__")
        section = content
        for parent in parents:
            section = section[parent]
        if value is ...:
            del section[last]
        else:
            section[last] = value
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file as ~/save writes it."""
    path = tmp_path / "load.yaml"
    write_estimate(path, SAVED)
    return path


def test_estimate_comes_back_to_the_last_digit(path: Path) -> None:
    assert_same(read_estimate(path), SAVED)
    assert read_estimate(path).provenance.package_version == __version__


def test_tool_comes_back_from_both_kinds_of_file(path: Path, tmp_path: Path) -> None:
    assert_same(read_tool(path), TOOL)
    write_tool(tmp_path / "tool.yaml", TOOL, PROVENANCE)
    assert_same(read_tool(tmp_path / "tool.yaml"), TOOL)


def test_estimate_without_tool_says_how_to_get_one(path: Path) -> None:
    bare = dataclasses.replace(SAVED, tool=None)
    write_estimate(path, bare)
    assert_same(read_estimate(path), bare)
    with pytest.raises(FileFormatError, match="capture_tool"):
        read_tool(path)


def test_tool_file_is_no_estimate(path: Path) -> None:
    write_tool(path, TOOL, PROVENANCE)
    with pytest.raises(FileFormatError, match="lacks 'load'"):
        read_estimate(path)


def test_people_find_the_body_with_its_uncertainty(path: Path) -> None:
    body = yaml.safe_load(path.read_text(encoding="utf-8"))["load"]["body"]
    assert body["mass"] == PHI[0]
    assert body["mass_std"] == pytest.approx(np.sqrt(COVARIANCE[0, 0]))
    assert body["com"] == (PHI[1:4] / PHI[0]).tolist()
    assert np.shape(body["inertia_std"]) == (3, 3)
    assert body["axes_unique"] == [True, True, True]


def test_what_is_not_known_is_no_number(path: Path) -> None:
    write_estimate(path, dataclasses.replace(SAVED, states=("known",) * 4 + ("uncertain",) * 6))
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert content["load"]["body"]["com"] is not None
    assert content["load"]["body"]["inertia"] is None
    assert content["load"]["body"]["principal_moments_std"] is None
    assert content["paste"]["urdf_inertial"] == "not known yet: inertia"
    write_estimate(path, dataclasses.replace(SAVED, states=("not excited yet",) * 10))
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert set(content["load"]["body"].values()) == {None}
    assert "not known yet" in content["paste"]["ur_script"]


def test_comments_explain_frames(path: Path) -> None:
    comments = " ".join(line[2:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    assert "UR and Franka expect the frame of the flange" in comments


def test_writing_leaves_nothing_else_behind(path: Path) -> None:
    write_estimate(path, dataclasses.replace(SAVED, tool=None))
    assert [item.name for item in path.parent.iterdir()] == ["load.yaml"]
    assert read_estimate(path).tool is None


def test_failure_halfway_keeps_the_old_file(path: Path) -> None:
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # as when the disk is full
    try:
        with pytest.raises(FileAccessError, match="File too large"):
            write_estimate(path, dataclasses.replace(SAVED, tool=None))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert [item.name for item in path.parent.iterdir()] == ["load.yaml"]


def test_unwritable_places_are_named(path: Path) -> None:
    for place in (path.parent / "missing" / "load.yaml", path / "load.yaml", path.parent):
        with pytest.raises(FileAccessError, match=r"cannot be written: .*; name a place"):
            write_estimate(place, SAVED)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match=r"nowhere.yaml' cannot be read: No such file"):
        read_estimate(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "something else"}, "was not written by"),
        ({"format": ...}, "lacks 'format'"),
        ({"version": 2}, "has version 2, this package reads 1"),
        ({"load__covariance": ...}, "load lacks 'covariance'"),
        ({"load__covariance": [[1.0] * 10] * 9}, r"'covariance' has the shape \(9, 10\), expected 10 x 10"),
        ({"load__covariance": [[1.0] * 10] * 9 + [[1.0]]}, "'covariance' has entries that are no numbers"),
        ({"load__covariance": (-np.eye(10)).tolist()}, "'covariance' is no covariance"),
        ({"load__covariance": np.triu(np.ones((10, 10))).tolist()}, "'covariance' is no covariance"),
        ({"load__parameters__Iyz": ...}, "load, parameters lacks 'Iyz'"),
        ({"load__parameters__m": float("nan")}, "'parameters' has numbers that are not finite"),
        ({"load__feasible__m": "heavy"}, "'feasible' has entries that are no numbers"),
        ({"load__states__m": 3}, "states: 'm' is 3, not a text"),
        ({"load": [1, 2]}, r"'load' is \[1, 2\], not a mapping"),
        ({"sensor_bias__values": [0.0] * 5}, r"'values' has the shape \(5,\), expected 6"),
        ({"provenance__first_stamp": "early"}, "'first_stamp' is 'early', not a whole number"),
        ({"provenance__gravity": 9.81}, "'gravity' is 9.81, not a list"),
        ({"tool__sensor_frame": ...}, "tool lacks 'sensor_frame'"),
        ({"tool": ...}, "lacks 'tool'"),
    ],
)
def test_broken_content_is_named(path: Path, changes: dict[str, Any], message: str) -> None:
    edit(path, **changes)
    with pytest.raises(FileFormatError, match=message):
        read_estimate(path)


@pytest.mark.parametrize("text", ["a: [1, 2", "- 1\n- 2\n", "", "\x00"])
def test_what_is_no_yaml_mapping_is_refused(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"is not YAML|holds no mapping"):
        read_tool(path)


def test_binary_file_is_refused(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(FileFormatError, match="is not YAML"):
        read_tool(path)
