"""What can still be read of a truncated bag: after a full disk, a crash, or an interrupted copy."""

from __future__ import annotations

import re
import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from inertid_ros.bags.unpacking import unpack_start
from inertid_ros.core.errors import RecordingError

_MAGIC = b"\x89MCAP0\r\n"
_FOOTER = b"\x02" + struct.pack("<QQQI", 20, 0, 0, 0) + _MAGIC
_CHUNK = 0x06
_DATA_END = 0x0F
_FOOTER_CODE = 0x02
_PASSIVE = re.compile(r"\s*CREATE\s+(TABLE|(UNIQUE\s+)?INDEX)\b", re.IGNORECASE)
_ACTIVE = re.compile(r"\bGENERATED\b|\bAS\s*\(", re.IGNORECASE)
"""A table whose columns are computed."""


def repair_mcap(path: Path, target: Path) -> bool:
    """Copy the complete records of an mcap file, those in a truncated chunk included, and terminate it properly.

    Returns whether there was more than a header.
    """
    size = path.stat().st_size
    with path.open("rb") as source:
        if source.read(len(_MAGIC)) != _MAGIC:
            return False
        end, records, rest = len(_MAGIC), 0, b""
        while True:
            head = source.read(9)
            if len(head) < 9 or head[0] in (_DATA_END, _FOOTER_CODE):
                break
            after = end + 9 + struct.unpack_from("<Q", head, 1)[0]
            if after > size:
                rest = _find_whole_messages(source.read()) if head[0] == _CHUNK else b""
                break
            end, records = after, records + 1
            source.seek(end)
        if records + bool(rest) < 2:
            return False
        source.seek(0)
        with target.open("wb") as copy:
            shutil.copyfileobj(source, copy)
            copy.truncate(end)
            copy.seek(end)
            copy.write(rest + _FOOTER)
    return True


def _find_whole_messages(chunk: bytes) -> bytes:
    """Complete records inside the content of a truncated chunk."""
    if len(chunk) < 32:
        return b""
    name_end = 32 + struct.unpack_from("<I", chunk, 28)[0]
    records = unpack_start(chunk[name_end + 8 :], chunk[32:name_end].decode("ascii", "replace"))
    end = 0
    while end + 9 <= len(records):
        after = int(end + 9 + struct.unpack_from("<Q", records, end + 1)[0])
        if after > len(records):
            break
        end = after
    return records[:end]


def is_short_database(path: Path) -> bool:
    """Whether a sqlite3 file ends before the last of the pages that its header counts."""
    with path.open("rb") as stream:
        head = stream.read(32)
    if len(head) < 32:
        return True
    page_size, pages = (int.from_bytes(head[part], "big") for part in (slice(16, 18), slice(28, 32)))
    return path.stat().st_size < pages * (65536 if page_size == 1 else page_size)


def check_database(path: Path) -> None:
    """RecordingError if a database has more than tables and indexes: a view or a computed column can take for ever.

    What cannot be read at all is left to others.
    """
    try:
        with closing(_connect(path)) as database:
            made = [str(text) for (text,) in database.execute(_SCHEMA)]
    except sqlite3.Error:
        return
    if not all(_PASSIVE.match(text) and not _ACTIVE.search(text) for text in made):
        raise RecordingError(f"'{path.name}' has views, triggers or computed columns: it is no recording")


def list_sqlite_topics(path: Path) -> list[tuple[int, str, str]]:
    """Number, name and type of the topics in a damaged sqlite3 file; none where even that is lost."""
    try:
        with closing(_connect(path)) as database:
            return [(int(key), str(name), str(kind)) for key, name, kind in database.execute(_TOPICS)]
    except sqlite3.Error:
        return []


def iterate_sqlite_messages(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Topic number, time of recording and bytes of the messages in the order they were written, until the damage."""
    with closing(_connect(path)) as database:
        yield from database.execute(_MESSAGES)


_SCHEMA = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
_TOPICS = "SELECT id, name, type FROM topics"
_MESSAGES = "SELECT topic_id, timestamp, data FROM messages NOT INDEXED ORDER BY rowid"


def _connect(path: Path) -> sqlite3.Connection:
    """Open for reading; with writable_schema, sqlite3 tolerates a file that is too short."""
    database = sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)
    database.execute("PRAGMA writable_schema=ON")
    return database
