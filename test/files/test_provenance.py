"""Live and replayed estimates, links and tools say where they come from by one record."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from importlib.metadata import version
from pathlib import Path

from support.bags import puma_messages, write_bag

import inertid_ros
from inertid_ros.cli.main import main
from inertid_ros.files.document import read_mapping
from inertid_ros.files.provenance import Provenance, hash_urdf, list_versions
from inertid_ros.files.share import share_path

LIBRARIES = ("numba", "numpy", "scipy", "pin", "rosbags")


def test_there_is_one_record() -> None:
    records = set()
    for module in pkgutil.walk_packages(inertid_ros.__path__, "inertid_ros."):
        if not module.name.startswith(("inertid_ros.ros", "inertid_ros.cli")):
            for item in vars(importlib.import_module(module.name)).values():
                if isinstance(item, type) and dataclasses.is_dataclass(item):
                    names = {field.name for field in dataclasses.fields(item)}
                    records |= {item} if {"urdf_sha256", "first_stamp"} <= names else set()
    assert records == {Provenance}


def test_stamps_and_counts_are_written_together() -> None:
    live = Provenance(urdf_sha256="ab" * 32, first_stamp=5, last_stamp=7, samples={"wrench_received": 3})
    assert live.list_samples() == {"first_stamp": 5, "last_stamp": 7, "wrench_received": 3}
    assert live.versions["inertid_ros"] == inertid_ros.__version__


def test_versions_are_those_of_all_that_makes_the_numbers() -> None:
    """The libraries of the core, and rosbags, which reads what they are made of."""
    versions = list_versions()
    assert {name: versions[name] for name in LIBRARIES} == {name: version(name) for name in LIBRARIES}


def test_a_recorded_description_and_its_file_are_the_same_robot(tmp_path: Path) -> None:
    """Whatever the line ends: XML reads them alike, and so does the hash."""
    text = share_path("urdf", "puma560.urdf").read_text(encoding="utf-8")
    file = tmp_path / "arm.urdf"
    file.write_bytes(text.replace("\n", "\r\n").encode())
    bag = write_bag(tmp_path / "bag", puma_messages(6.0))
    hashes = set()
    for name, options in (("bag", []), ("file", ["--urdf", str(file)])):
        assert main(["replay", str(bag), "-o", str(tmp_path / name), *options]) == 0
        hashes.add(read_mapping(tmp_path / name / "estimate.json").value("urdf_sha256", str))
    assert hashes == {hash_urdf(text)}
