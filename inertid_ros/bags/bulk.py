"""The messages of an open bag, many at a time: the same and in the same order as rosbags' reader, but much faster.

rosbags walks through a file record by record. Here the rows of a database are taken as SQLite hands them out, and the
messages of an mcap chunk are found by its message indexes, all at once. Whatever does not look as expected (chunks that
overlap in time, messages that are compressed one by one, indexes that contradict the chunk, another version of rosbags)
is left to rosbags.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rosbags.interfaces import Connection
from rosbags.rosbag2 import Reader
from rosbags.rosbag2.storage_mcap import ChunkInfo, McapReader, decompress, msgsrc
from rosbags.rosbag2.storage_sqlite3 import Sqlite3Reader

from inertid_ros.core.records import BoolArray, IntArray

Message = tuple[Connection, int, bytes]
"""What it came on, time of recording [ns], bytes."""

_ROWS = 4096
"""Of a database, that are taken at once."""
_CHUNK_HEAD = 49
"""Bytes of a chunk record in front of the name of its compression (with four for its length) and the messages' size."""
_INDEX_HEAD = 15
"""Bytes of a message index in front of its entries: opcode, length, channel, length of the entries."""
_ENTRY = np.dtype([("time", "<u8"), ("offset", "<u8")])
_RECORD = np.dtype(
    [("code", "u1"), ("length", "<u8"), ("channel", "<u2"), ("sequence", "<u4"), ("time", "<u8"), ("published", "<u8")]
)
_MESSAGE = 5


def iterate_messages(
    reader: Reader, connections: Sequence[Connection], first: int | None, last: int | None
) -> Iterator[Message]:
    """Walk over the messages of connections in the order of recording, from `first` to before `last` [ns]."""
    storages = _find_storages(reader)
    if reader.compression_mode == "message" or storages is None:
        return reader.messages(connections, first, last)
    wanted = {(connection.topic, connection.msgtype) for connection in connections}
    return chain.from_iterable(_read_storage(storage, wanted, first, last) for storage in storages)


def glance(path: Path, topics: Iterable[str]) -> tuple[int, int, int] | None:
    """What metadata.yaml says of a bag: time of the first message and after the last [ns], messages of some topics.

    To open a database takes as long as half of reading it, for rosbags counts its messages. None if there is no such
    file, or it does not say.
    """
    wanted = set(topics)
    try:
        content = yaml.safe_load((path / "metadata.yaml").read_bytes())["rosbag2_bagfile_information"]
        start = int(content["starting_time"]["nanoseconds_since_epoch"])
        counts = {
            item["topic_metadata"]["name"]: item["message_count"] for item in content["topics_with_message_count"]
        }
        messages = sum(int(count) for name, count in counts.items() if name in wanted)
        return (start, start + int(content["duration"]["nanoseconds"]) + 1, messages) if messages else None
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError):
        return None


def _find_storages(reader: Reader) -> list[McapReader | Sqlite3Reader] | None:
    """The files of a bag; None if they are of another kind."""
    storage: Any = reader.storage
    storages = getattr(storage, "storages", [storage])
    return list(storages) if all(isinstance(item, (McapReader, Sqlite3Reader)) for item in storages) else None


def _read_storage(
    storage: McapReader | Sqlite3Reader, wanted: set[tuple[str, str]], first: int | None, last: int | None
) -> Iterator[Message]:
    connections = {item.id: item for item in storage.connections if (item.topic, item.msgtype) in wanted}
    if not connections:
        return iter(())
    if isinstance(storage, Sqlite3Reader):
        return chain.from_iterable(_read_rows(storage, connections, first, last))
    chunks = [chunk for chunk in storage.chunks if any(chunk.channel_count.get(key, 0) for key in connections)]
    chunks.sort(key=lambda chunk: (chunk.message_start_time, chunk.chunk_start_offset))
    overlap = any(later.message_start_time < earlier.message_end_time for earlier, later in pairwise(chunks))
    if not chunks or overlap:
        return storage.messages(list(connections.values()), first, last)
    return chain.from_iterable(_read_chunk(storage, chunk, connections, first, last) for chunk in chunks)


def _read_rows(
    storage: Sqlite3Reader, connections: dict[int, Connection], first: int | None, last: int | None
) -> Iterator[Iterable[Message]]:
    assert storage.dbconn is not None
    marks = ",".join("?" for _ in connections)
    query = f"SELECT topic_id, timestamp, data FROM messages WHERE topic_id IN ({marks})"
    limits = [(text, value) for text, value in ((">=", first), ("<", last)) if value is not None]
    query += "".join(f" AND timestamp {text} ?" for text, _ in limits) + " ORDER BY timestamp"
    cursor = storage.dbconn.execute(query, [*connections, *(value for _, value in limits)])
    while rows := list(islice(cursor, _ROWS)):
        keys, times, data = zip(*rows, strict=True)
        yield zip(map(connections.__getitem__, keys), times, data, strict=True)


def _read_chunk(
    storage: McapReader, chunk: ChunkInfo, connections: dict[int, Connection], first: int | None, last: int | None
) -> Iterable[Message]:
    start = chunk.message_start_time if first is None else first
    stop = chunk.message_end_time + 1 if last is None else last
    if stop <= chunk.message_start_time or start > chunk.message_end_time:
        return ()
    assert storage.bio is not None
    storage.bio.seek(chunk.chunk_start_offset + 9 + 24)
    checksum = int.from_bytes(storage.bio.read(4), "little")
    storage.bio.seek(chunk.chunk_start_offset + _CHUNK_HEAD + len(chunk.compression))
    packed = storage.bio.read(chunk.compressed_size)
    content = decompress(packed, chunk.compression, chunk.uncompressed_size, checksum)
    found = _find_records(storage, chunk, connections, content)
    if found is None:
        messages = msgsrc(chunk, connections, start, stop, storage.bio)
        return (
            (message.connection, message.timestamp, message.data)
            for message in messages
            if message.connection is not None and message.data is not None
        )
    places, records = found
    times = records["time"].astype(np.int64)
    within: BoolArray = (times >= start) & (times < stop)
    if not within.all():
        places, records, times = places[within], records[within], times[within]
    order = np.lexsort((places, times))
    begins = (places[order] + _RECORD.itemsize).tolist()
    ends = (places[order] + 9 + records["length"][order].astype(np.int64)).tolist()
    keys = records["channel"][order].tolist()
    data = [content[begin:end] for begin, end in zip(begins, ends, strict=True)]
    return zip(map(connections.__getitem__, keys), times[order].tolist(), data, strict=True)


def _find_records(
    storage: McapReader, chunk: ChunkInfo, connections: dict[int, Connection], content: bytes
) -> tuple[IntArray, Any] | None:
    """Where the messages' records are in a chunk (N,), and their heads (N,); None if the indexes cannot be right."""
    assert storage.bio is not None
    entries = []
    for channel in (channel for channel in connections if channel in chunk.message_index_offsets):
        storage.bio.seek(chunk.message_index_offsets[channel])
        head = storage.bio.read(_INDEX_HEAD)
        size = int.from_bytes(head[11:15], "little")
        listed = storage.bio.read(size)
        if head[0] != 7 or int.from_bytes(head[9:11], "little") != channel or len(listed) != size or size % 16:
            return None
        entries.append((channel, np.frombuffer(listed, dtype=_ENTRY)))
    places = np.concatenate([item["offset"] for _, item in entries]).astype(np.int64)
    channels = np.repeat([channel for channel, _ in entries], [len(item) for _, item in entries])
    if len(places) and (places.min() < 0 or places.max() + _RECORD.itemsize > len(content)):
        return None
    table = np.frombuffer(content, dtype=np.uint8)[places[:, None] + np.arange(_RECORD.itemsize)]
    records = table.view(_RECORD)[:, 0]
    is_right = (
        (records["code"] == _MESSAGE).all()
        and (records["channel"] == channels).all()
        and (places + 9 + records["length"].astype(np.int64) <= len(content)).all()
        and (records["length"] >= 22).all()
    )
    return (places, records) if is_right else None
