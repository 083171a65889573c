"""Where shipped files are looked for, in every way the package can be installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from inertid_ros.core.errors import FileAccessError
from inertid_ros.files.share import iterate_share_roots, share_path

ROOT = Path(__file__).parents[2]


def install(prefix: Path) -> Path:
    """Lay out an installed package, and return where its code is."""
    (prefix / "share" / "inertid_ros" / "urdf").mkdir(parents=True)
    code = prefix / "lib" / "python3.12" / "site-packages" / "inertid_ros"
    code.mkdir(parents=True)
    return code


def test_source_tree_is_found_first() -> None:
    assert share_path("urdf", "puma560.urdf") == ROOT / "urdf" / "puma560.urdf"
    assert next(iterate_share_roots(ROOT / "inertid_ros")) == ROOT


def test_installed_files_are_found_beside_the_code(tmp_path: Path) -> None:
    code = install(tmp_path)
    assert next(iterate_share_roots(code)) == tmp_path / "share" / "inertid_ros"


def test_files_of_another_prefix_do_not_mix_in(tmp_path: Path) -> None:
    code = install(tmp_path / "overlay")
    install(tmp_path / "underlay")
    assert tmp_path / "underlay" / "share" / "inertid_ros" not in iterate_share_roots(code)


def test_ament_index_is_asked_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ament_index_python")
    registered = tmp_path / "registered"
    install(registered)
    marker = registered / "share" / "ament_index" / "resource_index" / "packages" / "inertid_ros"
    marker.parent.mkdir(parents=True)
    marker.touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(registered))
    assert list(iterate_share_roots(tmp_path / "elsewhere")) == [registered / "share" / "inertid_ros"]
    code = install(tmp_path / "prefix")
    assert list(iterate_share_roots(code)) == [
        tmp_path / "prefix" / "share" / "inertid_ros",
        registered / "share" / "inertid_ros",
    ]


def test_without_an_ament_index_nothing_is_found_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    assert list(iterate_share_roots(tmp_path)) == []


def test_missing_file_is_reported_with_the_places_looked_in() -> None:
    with pytest.raises(FileAccessError, match=r"urdf/nobody\.urdf") as caught:
        share_path("urdf", "nobody.urdf")
    assert str(ROOT) in str(caught.value)
