"""The one reader of YAML and JSON, and the one writer of files."""

from __future__ import annotations

import ast
import resource
from pathlib import Path

import numpy as np
import pytest

from inertid_ros.core.errors import FileAccessError, FileFormatError
from inertid_ros.files.access import make_directory, write_whole
from inertid_ros.files.document import read_mapping, write_json, write_yaml

PACKAGE = Path(__file__).parents[2] / "inertid_ros"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "mass: 1.0e-3\n"),
        ("a.json", '{"mass": 1e-3}'),
        ("estimate", '{"mass": 1e-3}'),
        ("flow.yaml", "{mass: 0.001}"),
        ("marked.json", '\ufeff{"mass": 1e-3}'),
        ("marked.yaml", "\ufeffmass: 0.001"),
    ],
)
def test_yaml_and_json_are_read_alike(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_mapping(tmp_path / name).number("mass") == 1e-3


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.json", "mass: 1", "a.json' is not JSON"),
        ("a.json", "[1]", "a.json' does not contain a mapping"),
        ("a.yaml", "mass: [", "a.yaml' is not YAML"),
        ("a.yaml", "day: 2024-99-99", "a.yaml' is not YAML"),
        ("a.yaml", "1", "a.yaml' does not contain a mapping"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, text: str, expected: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FileFormatError, match=expected):
        read_mapping(tmp_path / name)


def test_all_digits_come_back(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(3, 4)) * 1e-7
    write_json(tmp_path / "a.json", {"values": values})
    write_yaml(tmp_path / "a.yaml", [("two\nlines", {"values": values.tolist()})])
    for name in ("a.json", "a.yaml"):
        np.testing.assert_array_equal(read_mapping(tmp_path / name).numbers("values", (3, 4)), values)
    assert (tmp_path / "a.yaml").read_text().startswith("# two\n# lines\nvalues:")


@pytest.mark.parametrize("content", ["x" * 5000, b"x" * 5000])
def test_a_full_disk_keeps_the_old_file_and_leaves_nothing_behind(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(FileAccessError, match=r"a\.txt' cannot be written: File too large"):
            write_whole(path, content)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [item.read_text() for item in tmp_path.iterdir()] == ["old"]


def test_a_directory_is_made_or_refused(tmp_path: Path) -> None:
    make_directory(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(FileAccessError, match="file' cannot be written to: File exists"):
        make_directory(tmp_path / "file")


def test_there_is_one_atomic_writer() -> None:
    """Whatever renames a temporary file into place has to do it in write_whole."""
    places = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr in {"write_text", "write_bytes", "fsync"} or _is_rename(node.func))
    }
    assert places == {"files/access.py"}


def _is_rename(function: ast.Attribute) -> bool:
    owner = function.value
    return (
        function.attr in {"replace", "rename"}
        and isinstance(owner, ast.Name)
        and owner.id in {"os", "shutil", "temporary"}
    )
