"""Provenance: which data, robot description, settings and software an estimate comes from."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from inertid_ros import __version__


def hash_urdf(text: str) -> str:
    """SHA-256 of a URDF's text in UTF-8, hexadecimal; line ends count as XML reads them, whatever the system's."""
    return hashlib.sha256(text.replace("\r\n", "\n").replace("\r", "\n").encode()).hexdigest()


def hash_file(path: Path) -> str:
    """SHA-256 of a file's content, hexadecimal."""
    digest, part = hashlib.sha256(), memoryview(bytearray(1 << 18))
    with path.open("rb", buffering=0) as stream:
        while size := stream.readinto(part):
            digest.update(part[:size])
    return digest.hexdigest()


def list_versions() -> dict[str, str]:
    """Versions of what makes the numbers, by name."""
    libraries = {name: _find_version(name) for name in ("numba", "numpy", "scipy", "pin", "rosbags")}
    return {"inertid_ros": __version__, "python": platform.python_version(), **libraries}


def _find_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that was read, with the SHA-256 of its content."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where an estimate comes from: recordings, or what a node has received.

    Attributes:
        urdf_sha256: of the robot description's text, hexadecimal.
        first_stamp, last_stamp: of the samples used [ns]; 0 if there are none.
        samples: how many messages were received and used, by name; empty where they were not counted.
        inputs: the files of the bags, in the order they were read; empty for live data.
        settings_sha256: of the parameter file; empty if there was none.
        versions: of this package and the libraries that make the numbers, by name.
    """

    urdf_sha256: str
    first_stamp: int
    last_stamp: int
    samples: Mapping[str, int] = field(default_factory=dict)
    inputs: tuple[InputFile, ...] = ()
    settings_sha256: str = ""
    versions: Mapping[str, str] = field(default_factory=list_versions)

    def list_samples(self) -> dict[str, int]:
        """Stamps and counts, as they are written."""
        return {"first_stamp": self.first_stamp, "last_stamp": self.last_stamp, **self.samples}
