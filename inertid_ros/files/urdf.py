"""The file a URDF is in: read and written in its own encoding, with its own line ends."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from pathlib import Path

from inertid_ros.bags.bag import Bag
from inertid_ros.core.errors import FileAccessError, RobotDescriptionError
from inertid_ros.files.estimate import SavedEstimate
from inertid_ros.files.provenance import hash_text

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DECLARATION = re.compile(rb"""^<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


@dataclass(frozen=True, slots=True)
class UrdfFile:
    """A URDF's text, how it is encoded, and what is to be said of it, a line each."""

    text: str
    encoding: str
    notes: tuple[str, ...] = ()


def find_urdf(saved: SavedEstimate, path: Path | None) -> UrdfFile:
    """Read the URDF of an estimate: the one named, that of its settings, or that of its first bag.

    Raises:
        FileAccessError: if it cannot be read.
        RobotDescriptionError: if there is none.
    """
    of_settings = "" if saved.settings is None else saved.settings.urdf
    named = path or (Path(of_settings) if of_settings else None)
    found = _read_from_bag(saved) if named is None else read_urdf(named)
    if hash_text(found.text.replace("\r\n", "\n")) == saved.urdf_sha256:
        return found
    return UrdfFile(found.text, found.encoding, ("the estimate was made with another text of the URDF",))


def read_urdf(path: Path) -> UrdfFile:
    """Read a file.

    Raises:
        FileAccessError: if it cannot be read, or is not text.
    """
    try:
        content = path.expanduser().read_bytes()
        encoding = next((name for mark, name in _MARKS if content.startswith(mark)), None)
        declared = _DECLARATION.match(content)
        encoding = encoding or (declared[1].decode() if declared else "utf-8")
        return UrdfFile(content.decode(encoding), encoding)
    except OSError as error:
        raise FileAccessError(f"robot description '{path}' cannot be read: {error.strerror}; check --urdf") from None
    except (UnicodeDecodeError, LookupError):
        raise FileAccessError(f"robot description '{path}' is not text: name a URDF with --urdf") from None


def write_urdf(path: Path, text: str, encoding: str) -> None:
    """Write a file; whatever happens, there is either the old one or the whole new one.

    Raises:
        FileAccessError: if it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(text.encode(encoding))
        temporary.replace(path)
    except OSError as error:
        raise FileAccessError(f"'{path}' cannot be written: {error.strerror}; name another file with -o") from None
    finally:
        temporary.unlink(missing_ok=True)


def _read_from_bag(saved: SavedEstimate) -> UrdfFile:
    if not saved.inputs:
        raise RobotDescriptionError("the estimate names neither a URDF nor a bag: name the URDF with --urdf")
    with Bag(saved.inputs[0]) as bag:
        return UrdfFile(bag.find_description(saved.topics["robot_description"]), "utf-8")
