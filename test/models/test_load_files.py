"""The shipped loads against the paper's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml

from inertid_ros.files.share import share_path

FILES = sorted(share_path("config", "loads").glob("*.yaml"))
INCH = 0.0254


def read(name: str) -> dict[str, Any]:
    content = yaml.safe_load(share_path("config", "loads", f"{name}.yaml").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def moments(content: dict[str, Any]) -> list[float]:
    return [content["inertia_at_com"][name] for name in ("ixx", "iyy", "izz")]


def test_all_loads_are_there() -> None:
    assert [path.stem for path in FILES] == ["aluminium_block", "bar", "gripper"]


@pytest.mark.parametrize("name", [path.stem for path in FILES])
def test_file_has_the_keys_of_a_load_and_no_others(name: str) -> None:
    content = read(name)
    assert set(content) == {"name", "description", "mass", "com", "inertia_at_com"}
    assert set(content["inertia_at_com"]) == {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}
    assert content["name"] == name
    assert len(content["com"]) == 3
    assert content["com"][2] > 0.03, "the load has to be beyond the sensor"


@pytest.mark.parametrize("name", [path.stem for path in FILES])
def test_load_is_a_body_that_can_exist(name: str) -> None:
    content = read(name)
    at_com = content["inertia_at_com"]
    inertia = np.diag(moments(content))
    for (row, column), entry in {(0, 1): "ixy", (0, 2): "ixz", (1, 2): "iyz"}.items():
        inertia[row, column] = inertia[column, row] = at_com[entry]
    assert content["mass"] > 0.0
    assert np.linalg.eigvalsh(np.trace(inertia) / 2 * np.eye(3) - inertia)[0] > 0.0


def test_block_is_a_uniform_box_of_two_by_two_by_six_inches() -> None:
    block = read("aluminium_block")
    assert block["mass"] == 1.106
    sides = np.array([6.0, 2.0, 2.0]) * INCH
    np.testing.assert_allclose(moments(block), block["mass"] / 12 * (sides @ sides - sides**2), rtol=1e-5)
    assert max(moments(block)) == pytest.approx(0.00238, abs=5e-6), "the paper's greatest moment"
    assert block["mass"] / sides.prod() == pytest.approx(2800, rel=0.02), "the density of an aluminium alloy"


def test_bar_has_the_moments_of_table_2() -> None:
    bar = read("bar")
    assert moments(bar) == [0.0244, 0.0007, 0.0242]
    assert [bar["inertia_at_com"][name] for name in ("ixy", "ixz", "iyz")] == [0.0, 0.0, 0.0]
