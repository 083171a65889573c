"""By what inputs and programs are recognised: hashes and versions."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from inertid_ros import __version__


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that was read, and the SHA-256 of its content."""

    path: str
    sha256: str


def hash_text(text: str) -> str:
    """SHA-256 of a text in UTF-8, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def hash_file(path: Path) -> str:
    """SHA-256 of a file's content, hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while part := stream.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def list_versions() -> dict[str, str]:
    """Versions of what makes the numbers, by name."""
    libraries = {name: _find_version(name) for name in ("numpy", "scipy", "pin", "rosbags")}
    return {"inertid_ros": __version__, "python": platform.python_version(), **libraries}


def _find_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
