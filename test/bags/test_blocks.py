"""Messages read many at a time are those of rosbags, in its order, also where the file is not as it should be."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionMode, Reader, StoragePlugin
from rosbags.rosbag2.storage_mcap import McapReader
from support.bags import find_storage, puma_messages, write_bag

from inertid_ros.bags import blocks
from inertid_ros.bags.bag import Bag
from inertid_ros.bags.blocks import BagReader, Message, read_blocks
from inertid_ros.core.errors import RecordingError

TOPICS = ("/joint_states", "/wrench")
SIZE = 100


def read_both(path: Path, first: int | None = None, last: int | None = None) -> tuple[list[Message], list[Message]]:
    with BagReader(path) as reader:
        ours = [item for block in read_blocks(reader, TOPICS, SIZE, first, last) for item in block.list_messages()]
    with Reader(path) as reader:
        connections = [connection for connection in reader.connections if connection.topic in TOPICS]
        found = reader.messages(connections, first, last)
        return ours, [(connection.topic, time, data) for connection, time, data in found]


def assert_same(ours: list[Message], theirs: list[Message]) -> None:
    assert [(*item[:2], bytes(item[2])) for item in ours] == [(*item[:2], bytes(item[2])) for item in theirs]


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bag(tmp_path_factory.mktemp("bulk") / "bag", puma_messages(6.0))


@pytest.mark.parametrize(
    ("storage", "compression"),
    [
        (StoragePlugin.MCAP, CompressionMode.NONE),
        (StoragePlugin.MCAP, CompressionMode.STORAGE),
        (StoragePlugin.MCAP, CompressionMode.FILE),
        (StoragePlugin.SQLITE3, CompressionMode.NONE),
        (StoragePlugin.SQLITE3, CompressionMode.MESSAGE),
    ],
)
def test_all_messages_come_in_their_order(tmp_path: Path, storage: StoragePlugin, compression: CompressionMode) -> None:
    messages = puma_messages(6.0)
    rng = np.random.default_rng(0)
    shuffled = [
        messages[index] for index in np.argsort(np.arange(len(messages)) + rng.normal(0.0, 20.0, len(messages)))
    ]
    path = write_bag(tmp_path / "bag", shuffled, storage, compression)
    ours, theirs = read_both(path)
    assert len(ours) == len(messages) - 1
    assert_same(ours, theirs)
    middle = theirs[len(theirs) // 2][1]
    for span in ((middle, None), (None, middle), (middle - 10**8, middle + 10**8), (middle + 10**12, None)):
        assert_same(*read_both(path, *span))
    if compression is CompressionMode.NONE:
        assert_same(*read_both(find_storage(path)))


@pytest.mark.parametrize(
    "change",
    [
        "DROP INDEX timestamp_idx",
        "UPDATE messages SET timestamp = 5 WHERE id > 100",
        "UPDATE messages SET timestamp = id WHERE id > 100",
        "UPDATE messages SET timestamp = -timestamp",
        "UPDATE messages SET topic_id = 300 WHERE id % 3 = 0; UPDATE topics SET id = 300 WHERE id = 1",
        "DELETE FROM messages WHERE id % 9 < 2",
        "UPDATE messages SET id = 10000 - id",
        "PRAGMA page_size = 512; VACUUM",
        "PRAGMA page_size = 65536; VACUUM",
        "UPDATE messages SET data = CAST(data || zeroblob(9000) AS BLOB) WHERE id % 500 = 50",
        "UPDATE messages SET data = CAST(data || zeroblob(3500) AS BLOB) WHERE id % 500 = 50",
        "ALTER TABLE messages ADD COLUMN more INTEGER",
    ],
)
def test_databases_of_every_kind_are_read_as_sqlite_reads_them(tmp_path: Path, change: str) -> None:
    path = find_storage(write_bag(tmp_path / "bag", puma_messages(2.0), StoragePlugin.SQLITE3))
    with closing(sqlite3.connect(path)) as database:
        database.executescript(change)
    ours, theirs = read_both(path)
    assert len(ours) > 5 * SIZE
    assert_same(ours, theirs)
    middle = theirs[len(theirs) // 2][1]
    assert_same(*read_both(path, middle, None))


@pytest.mark.parametrize("late", [0, 50_000_000], ids=["in order", "some late"])
def test_pages_are_read_without_sqlite_where_rows_fit_into_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: int
) -> None:
    """The robot description of a bag does not: it must not make the rest slow; nor must rows out of order."""
    path = write_bag(tmp_path / "bag", puma_messages(2.0), StoragePlugin.SQLITE3)
    with closing(sqlite3.connect(find_storage(path))) as database:
        database.executescript(f"UPDATE messages SET timestamp = timestamp + {late} WHERE id % 7 = 3 AND id > 10")
    left: list[tuple[int, int]] = []

    def note(*arguments: Any) -> Iterator[blocks.Block]:
        left.append(arguments[-1])
        return iter(())

    monkeypatch.setattr(blocks, "_read_rows", note)
    with BagReader(path) as reader:
        assert sum(block.count for block in read_blocks(reader, TOPICS, SIZE)) > 5 * SIZE
        assert left == []
        assert not list(read_blocks(reader, ["/robot_description"], SIZE))
        assert len(left) == 1


def test_damage_anywhere_is_survived(tmp_path: Path) -> None:
    path = find_storage(write_bag(tmp_path / "bag", puma_messages(2.0), StoragePlugin.SQLITE3))
    content, rng = path.read_bytes(), np.random.default_rng(3)
    found = []
    for _ in range(40):
        damaged = bytearray(content)
        for place in rng.integers(4096, len(content), 200):
            damaged[place] = rng.integers(0, 256)
        path.write_bytes(damaged)
        try:
            with Bag(path) as bag:
                found.append(sum(block.count for block in bag.blocks(TOPICS, SIZE)))
        except RecordingError as error:
            assert "cannot be read" in str(error)  # noqa: PT017 - either will do
    assert max(found) > SIZE


@pytest.mark.parametrize("storage", list(StoragePlugin))
def test_folder_and_file_tell_the_same(tmp_path: Path, storage: StoragePlugin) -> None:
    path = write_bag(tmp_path / "bag", puma_messages(2.0), storage)
    with Bag(path) as folder, Bag(find_storage(path)) as file:
        assert folder.topics == file.topics
        assert (folder.start, folder.end, folder.count(TOPICS)) == (file.start, file.end, file.count(TOPICS))


def test_chunks_that_overlap_are_merged(bag: Path) -> None:
    with Reader(find_storage(bag)) as reader:
        storage = reader.storage
        assert isinstance(storage, McapReader)
        (chunk, *_) = storage.chunks
        storage.chunks.append(chunk)
        topics = [connection.topic for connection in reader.connections]
        ours = [item for block in read_blocks(reader, topics, SIZE) for item in block.list_messages()]
        times = [time for _, time, _ in ours]
        assert times == sorted(times)
        theirs = storage.messages(storage.connections)
        assert_same(ours, [(connection.topic, time, data) for connection, time, data in theirs])


def test_an_index_that_is_wrong_is_not_believed(bag: Path, tmp_path: Path) -> None:
    content = bytearray(find_storage(bag).read_bytes())
    with Reader(find_storage(bag)) as reader:
        storage = reader.storage
        assert isinstance(storage, McapReader)
        for place in storage.chunks[0].message_index_offsets.values():
            content[place + 15 + 8 : place + 15 + 16] = (12345).to_bytes(8, "little")
    path = tmp_path / "wrong.mcap"
    path.write_bytes(content)
    ours, theirs = read_both(path)
    assert len(ours) > 1000
    assert_same(ours, theirs)
