"""The library of objects: what is written is read, and what is wrong is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.objects import box, make_known

from inertid_ros.core.errors import FileAccessError, FileFormatError, SettingError
from inertid_ros.core.settings.settings import ObjectSettings
from inertid_ros.files.objects import read_library, read_watch, write_object
from inertid_ros.objects.known import KnownObject

MUG = make_known("mug", box(0.35, 0.08, 0.08, 0.1))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = write_object(tmp_path / "objects", MUG)
    (found,) = read_library(path.parent)
    assert (path.name, found.name, found.sensor_frame) == ("mug.yaml", "mug", "ft_sensor")
    for name in ("phi", "covariance", "repeatability", "grip"):
        np.testing.assert_array_equal(getattr(found, name), getattr(MUG, name))


def test_objects_are_not_overwritten_and_names_are_those_of_files(tmp_path: Path) -> None:
    write_object(tmp_path, MUG)
    with pytest.raises(FileAccessError, match="exists already"):
        write_object(tmp_path, MUG)
    with pytest.raises(SettingError, match=r"'\.\./mug'"):
        write_object(tmp_path, KnownObject("../mug", *(getattr(MUG, name) for name in MUG.__slots__[1:])))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("format: inertid_ros object", "format: other"), "is not an object"),
        (("m: 0.35", "m: -0.35"), "the mass is -0.35 kg, and must be positive"),
        (("m: 0.35", "m: .nan"), "not finite"),
        (("- [1.0, 0.0, 0.0, 0.0]", "- [2.0, 0.0, 0.0, 0.0]"), "'grip' is not a pose"),
        (("name: mug", "title: mug"), "lacks 'name'"),
    ],
)
def test_a_file_that_holds_no_object_is_refused(tmp_path: Path, change: tuple[str, str], expected: str) -> None:
    path = write_object(tmp_path, MUG)
    text = path.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change))
    with pytest.raises(FileFormatError, match=expected):
        read_library(tmp_path)


def test_a_library_must_have_objects_with_names_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="there is no library"):
        read_library(tmp_path / "nowhere")
    with pytest.raises(FileAccessError, match="is empty"):
        read_library(tmp_path)
    path = write_object(tmp_path, MUG)
    (tmp_path / "again.yaml").write_text(path.read_text())
    with pytest.raises(FileFormatError, match="two objects with the name 'mug'"):
        read_library(tmp_path)


def test_settings_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    write_object(tmp_path, MUG)
    assert read_watch(ObjectSettings()) is None
    with pytest.raises(SettingError, match=r"objects\.expected.*without objects\.library"):
        read_watch(ObjectSettings(expected="mug"))
    library = str(tmp_path)
    for settings, expected in (
        (ObjectSettings(library, expected="cup"), "one of the library: mug"),
        (ObjectSettings(library, expected="mug", expected_grip=[0.0, 0.1]), "x, y, z"),
        (ObjectSettings(library, expected_grip=[0.0] * 6), r"none without objects\.expected"),
        (ObjectSettings(library, grip_tolerance=[0.01]), "two positive numbers"),
        (ObjectSettings(library, grip_tolerance=[0.01, -1.0]), "two positive numbers"),
    ):
        with pytest.raises(SettingError, match=expected):
            read_watch(settings)
    watch = read_watch(ObjectSettings(library, [0.01, 0.1], "mug", [0.0, 0.0, 0.1, 0.0, 0.0, np.pi / 2.0]))
    assert watch is not None
    assert watch.grip is not None
    np.testing.assert_allclose(watch.grip[:3, :3] @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-12)
    assert watch.expected_load is not None
    assert watch.expected_load.mass == pytest.approx(0.35)
    assert watch.expected_load.deviation == pytest.approx(0.0035), "1 %, though it was identified better"
