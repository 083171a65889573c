"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from inertid_ros.core.errors import FileAccessError


def write_whole(path: Path, text: str) -> None:
    """Write a text; whatever happens, there is either the old file or the whole new one, and no room is wasted.

    Raises:
        FileAccessError: if it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        remedy = "name another directory with -o, or make room"
        raise FileAccessError(f"'{path}' cannot be written: {error.strerror}; {remedy}") from None
    finally:
        temporary.unlink(missing_ok=True)
