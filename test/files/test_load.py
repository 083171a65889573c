"""Load files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inertid_ros.core.errors import FileAccessError, FileFormatError
from inertid_ros.core.rigid_body.inertial import decompose
from inertid_ros.files.parameters import load_from_yaml

LOADS = Path(__file__).parents[2] / "config" / "loads"
GOOD = (
    "mass: 2\ncom: [0.1, 0, -0.2]\ninertia_at_com: {ixx: 0.3, ixy: 0.01, ixz: 0.02, iyy: 0.25, iyz: 0.03, izz: 0.2}\n"
)


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
        ("", "does not contain a mapping"),
        ("[1, 2]", "does not contain a mapping"),
        (GOOD.replace("mass: 2\n", ""), "lacks 'mass'"),
        (GOOD.replace("izz", "jzz"), "inertia_at_com lacks 'izz'"),
        (GOOD.replace("0.1, 0, -0.2", "0.1, 0"), r"'com' has the shape \(2,\), expected 3 numbers"),
        (GOOD.replace("mass: 2", "mass: heavy"), "'mass' has entries that are not numbers"),
        (GOOD.replace("mass: 2", "mass: [2]"), "'mass' has the shape .*, expected one number"),
        (GOOD.replace("mass: 2", "mass: -2"), "not physically consistent"),
        (GOOD.replace("mass: 2", "mass: .nan"), "'mass' has numbers that are not finite"),
        (GOOD.replace("ixx: 0.3", "ixx: 0.5"), "not physically consistent"),
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
