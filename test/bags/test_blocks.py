"""Messages read many at a time are those of rosbags, in its order, also where the file is not as it should be."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionMode, Reader, StoragePlugin
from rosbags.rosbag2.storage_mcap import McapReader
from support.bags import find_storage, puma_messages, write_bag

from inertid_ros.bags.bag import Bag
from inertid_ros.bags.blocks import BagReader, Message, read_blocks

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


@pytest.mark.parametrize("change", ["DROP INDEX timestamp_idx", "UPDATE messages SET timestamp = 5 WHERE id > 100"])
def test_database_without_index_or_with_one_time_is_read_as_well(tmp_path: Path, change: str) -> None:
    path = find_storage(write_bag(tmp_path / "bag", puma_messages(2.0), StoragePlugin.SQLITE3))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(change)
    ours, theirs = read_both(path)
    assert len(ours) > 5 * SIZE
    assert_same(ours, theirs)


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
