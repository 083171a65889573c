"""Bags that were made to do harm: refused or read as far as they are bags, in bounded time and memory."""

from __future__ import annotations

import os
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from rosbags.rosbag2 import CompressionMode, StoragePlugin
from support.bags import Message, find_storage, puma_messages, text_message, write_bag

from inertid_ros.cli.main import main

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MEMORY = 600 << 20
"""Bytes of address space beyond what is imported that reading may take."""
PATIENCE = 60
"""Seconds that it may take on the slowest machine."""
READ = """
import resource, sys
from pathlib import Path
from inertid_ros.bags.bag import Bag
from inertid_ros.core.errors import InertidError
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]),) * 2)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
for path in sys.argv[2:]:
    try:
        with Bag(Path(path)) as bag:
            print(sum(block.count for block in bag.blocks(list(bag.topics))), *bag.trouble)
    except InertidError as error:
        print("refused", error)
"""
REPEATED = b"\0" * (1 << 20)


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    return puma_messages(1.0)


def read(*bags: Path) -> list[str]:
    """What a process of its own says of each bag, in bounded time and memory."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(MEMORY), *map(str, bags)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "MemoryError" not in done.stdout
    said = done.stdout.splitlines()
    assert len(said) == len(bags)
    return said


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """A gigabyte of zeros, in some kilobytes."""
    packer = zstd.ZstdCompressor(level=1)
    parts = [packer.compress(REPEATED) for _ in range(1 << 10)]
    return b"".join([*parts, packer.flush()])


def test_a_compressed_file_that_grows_without_end_is_refused(
    tmp_path: Path, messages: list[Message], bomb: bytes
) -> None:
    bag = write_bag(tmp_path / "bag", messages, StoragePlugin.MCAP, CompressionMode.FILE)
    file = find_storage(bag)
    file.write_bytes(bomb)
    assert file.stat().st_size < 200_000
    for said in read(bag, file):
        assert said.startswith("refused")
        assert "unpacks to far more than its size" in said


def test_a_message_that_grows_without_end_is_left_out(tmp_path: Path, messages: list[Message], bomb: bytes) -> None:
    bag = write_bag(tmp_path / "bag", messages, StoragePlugin.SQLITE3, CompressionMode.MESSAGE)
    with sqlite3.connect(find_storage(bag)) as database:
        database.execute("UPDATE messages SET data = ? WHERE id = 100", (bomb,))
    (said,) = read(bag)
    assert int(said.split()[0]) < len(messages)
    assert "damaged" in said


def test_a_chunk_that_grows_without_end_is_left_out(tmp_path: Path, messages: list[Message], bomb: bytes) -> None:
    """Whatever the chunk says of its size."""
    bag = write_bag(tmp_path / "bag", messages, StoragePlugin.MCAP, CompressionMode.STORAGE)
    file = find_storage(bag)
    content = bytearray(file.read_bytes())
    place = 8
    while content[place] != 6:  # the first chunk
        place += 9 + struct.unpack_from("<Q", content, place + 1)[0]
    length = struct.unpack_from("<Q", content, place + 1)[0]
    begin = place + 9
    name = struct.unpack_from("<I", content, begin + 28)[0]
    records = begin + 32 + name + 8
    files = []
    for declared in (1 << 30, 1000):
        head = content[begin:records]
        struct.pack_into("<Q", head, 16, declared)
        struct.pack_into("<I", head, 24, 0)
        struct.pack_into("<Q", head, 32 + name, len(bomb))
        chunk = head + bomb
        spoilt = content[:place] + b"\x06" + struct.pack("<Q", len(chunk)) + chunk + content[begin + length :]
        files.append(tmp_path / f"{declared}.mcap")
        files[-1].write_bytes(spoilt[: -(8 + 20 + 9)])  # its index is wrong now, so that it is read from the front
    for said in read(*files):
        assert int(said.split()[0].replace("refused", "0")) < len(messages)


def make_endless(bag: Path, name: str) -> Path:
    """Put a view that never ends into a database, in the place of a table or besides."""
    with sqlite3.connect(find_storage(bag)) as database:
        if name != "something":
            database.execute(f"ALTER TABLE {name} RENAME TO hidden")
        database.execute(
            f"CREATE VIEW {name} AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
            "SELECT id, 'x' name, 'y' type, 'cdr' serialization_format, '' offered_qos_profiles, 1 topic_id, "
            "id timestamp, x'00' data FROM n WHERE id < 0"
        )
    return bag


def test_a_view_that_never_ends_is_not_asked_and_no_column_computed(tmp_path: Path, messages: list[Message]) -> None:
    bags = [
        make_endless(write_bag(tmp_path / name, messages, StoragePlugin.SQLITE3), name.split()[0])
        for name in ("messages", "topics", "something", "messages cut")
    ]
    cut = find_storage(bags[-1])
    os.truncate(cut, cut.stat().st_size - 4096)
    bags.append(write_bag(tmp_path / "computed", messages, StoragePlugin.SQLITE3))
    with sqlite3.connect(find_storage(bags[-1])) as database:
        database.execute("ALTER TABLE messages ADD COLUMN more AS (hex(zeroblob(900000000)))")
    for said in read(*bags):
        assert said.startswith("refused")
        assert "views, triggers or computed columns" in said


def test_metadata_that_cannot_be_read_cost_nothing_but_themselves(tmp_path: Path, messages: list[Message]) -> None:
    bags = [write_bag(tmp_path / kind, messages, StoragePlugin.MCAP) for kind in ("deep", "alias", "fifo", "large")]
    for bag in bags:
        spoil_metadata(bag / "metadata.yaml", bag.name)
    for said in read(*bags):
        assert int(said.split()[0]) == len(messages)
        assert "metadata.yaml" in said


def spoil_metadata(metadata: Path, kind: str) -> None:
    if kind == "deep":
        metadata.write_text("a: " + "[" * 100_000)
    elif kind == "alias":
        metadata.write_text("a: &a [x]\nb: *a\n" + metadata.read_text())
    elif kind == "fifo":
        metadata.unlink()
        os.mkfifo(metadata)
    else:
        os.truncate(metadata, 1 << 30)


def test_a_pipe_in_the_place_of_a_bag_is_refused(tmp_path: Path, messages: list[Message]) -> None:
    os.mkfifo(tmp_path / "bag.mcap")
    bag = write_bag(tmp_path / "bag", messages, StoragePlugin.MCAP)
    file = find_storage(bag)
    file.unlink()
    os.mkfifo(file)
    assert all(said.startswith("refused") for said in read(tmp_path / "bag.mcap", bag))


def test_names_of_topics_cannot_steer_terminals(
    tmp_path: Path, messages: list[Message], capsys: pytest.CaptureFixture[str]
) -> None:
    evil = text_message("x", 10**9, "/a\x1b[2J\nb")
    others = [message for message in messages if message[0] != "/wrench"]
    bag = write_bag(tmp_path / "bag", [*others, evil], StoragePlugin.MCAP)
    assert main(["replay", str(bag), "-o", str(tmp_path / "out")]) == 1
    output = capsys.readouterr()
    assert "\x1b[2J" not in output.err + output.out
