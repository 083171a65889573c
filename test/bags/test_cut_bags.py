"""Bags that end too early: whatever was written before is used, and a line says so."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import lz4.frame  # type: ignore[import-untyped]
import numpy as np
import pytest
from rosbags.rosbag2 import CompressionMode, StoragePlugin
from support.bags import Message, find_storage, puma_messages, write_bag
from support.chain import PUMA

from inertid_ros.bags.bag import Bag
from inertid_ros.cli.main import main
from inertid_ros.core.errors import RecordingError
from inertid_ros.core.input.smoothing import LONGEST_SPAN
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.replay import replay_bags

PLAN = Plan(settings=Settings(load=LoadSettings(sensor_frame="ft_sensor")), description=PUMA, moments=0)
SECONDS = 3.0
CUTS = 50
FEWEST = 3
"""Wrenches without which nothing can be paired; so many are lost at most, for want of the joint state after them."""

CASES = {
    "sqlite3": (StoragePlugin.SQLITE3, CompressionMode.NONE, 40),
    "sqlite3, messages compressed": (StoragePlugin.SQLITE3, CompressionMode.MESSAGE, 38),
    "sqlite3, file compressed": (StoragePlugin.SQLITE3, CompressionMode.FILE, 20),
    "mcap": (StoragePlugin.MCAP, CompressionMode.NONE, 45),
    "mcap, chunks compressed": (StoragePlugin.MCAP, CompressionMode.STORAGE, 25),
    "mcap, file compressed": (StoragePlugin.MCAP, CompressionMode.FILE, 20),
}
"""Storage, compression, and of how many of the cuts something is left: zstd unpacks whole blocks of 128 KiB only."""


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    return puma_messages(SECONDS)


def cut(file: Path, cuts: int = CUTS) -> Iterator[int]:
    """Cut a file at many places, from its first byte to its last."""
    whole = file.read_bytes()
    for length in np.linspace(0, len(whole) - 1, cuts).astype(int).tolist():
        file.write_bytes(whole[:length])
        yield length


def count_wrenches(bag: Path) -> tuple[int, str]:
    """How many wrenches of a bag can be read, 0 if it cannot even be opened, and what is wrong with it."""
    try:
        with Bag(bag) as opened:
            blocks = opened.blocks(["/joint_states", "/wrench"])
            count = sum(len(block.columns["/wrench"].places) for block in blocks if "/wrench" in block.columns)
            return count, "; ".join(opened.trouble)
    except RecordingError as error:
        return 0, str(error)


@pytest.mark.parametrize(("storage", "compression", "expected"), CASES.values(), ids=CASES)
def test_bag_cut_anywhere_is_read_as_far_as_it_goes(
    tmp_path: Path, messages: list[Message], storage: StoragePlugin, compression: CompressionMode, expected: int
) -> None:
    bag = write_bag(tmp_path / "bag", messages, storage, compression)
    found = [count_wrenches(bag) for _ in cut(find_storage(bag))]
    assert not [note for _, note in found if "\n" in note or "again" not in note]
    assert not [note for count, note in found if count and "damaged" not in note]
    kept = [count for count, _ in found]
    assert sum(count > 0 for count in kept) >= expected
    assert kept == sorted(kept)
    assert kept[-1] >= (250 if compression == CompressionMode.FILE else 580)


@pytest.mark.parametrize(("storage", "compression"), [case[:2] for case in CASES.values()], ids=CASES)
def test_what_is_left_of_a_bag_is_used(
    tmp_path: Path, messages: list[Message], storage: StoragePlugin, compression: CompressionMode
) -> None:
    bag = write_bag(tmp_path / "bag", messages, storage, compression)
    for _ in cut(find_storage(bag), 7):
        readable, _ = count_wrenches(bag)
        if readable < FEWEST:
            with pytest.raises(RecordingError, match="again"):
                replay_bags([bag], PLAN, lambda: None, lambda _: None)
            continue
        trace = replay_bags([bag], PLAN, lambda: None, lambda _: None).load
        assert trace is not None
        assert "damaged" in trace.notes[0]
        assert "\n" not in trace.notes[0]
        # Where velocities are noisy, the last samples wait for joint states that never come.
        waiting = round(LONGEST_SPAN * 200.0)  # readings per second
        assert readable - FEWEST - waiting <= trace.online.samples.count <= readable


def compress_chunks(file: Path) -> None:
    """Rewrite an mcap file with all chunks compressed by lz4 in small blocks, and without an index."""
    content = file.read_bytes()
    parts, place = [content[:8]], 8
    while content[place] != 0x0F:
        after = place + 9 + struct.unpack_from("<Q", content, place + 1)[0]
        if content[place] == 0x06:
            assert struct.unpack_from("<I", content, place + 9 + 28)[0] == 0
            packed = lz4.frame.compress(content[place + 49 : after], block_size=lz4.frame.BLOCKSIZE_MAX64KB)
            chunk = content[place + 9 : place + 37] + struct.pack("<I", 3) + b"lz4" + struct.pack("<Q", len(packed))
            parts.append(struct.pack("<BQ", 0x06, len(chunk + packed)) + chunk + packed)
        elif content[place] != 0x07:
            parts.append(content[place:after])
        place = after
    file.write_bytes(b"".join(parts))


def test_lz4_chunk_is_unpacked_up_to_the_cut(tmp_path: Path, messages: list[Message]) -> None:
    bag = write_bag(tmp_path / "bag", messages)
    compress_chunks(find_storage(bag))
    kept = [count_wrenches(bag)[0] for _ in cut(find_storage(bag))]
    assert kept == sorted(kept)
    assert len(set(kept)) >= 4, kept


@pytest.mark.parametrize("storage", StoragePlugin)
def test_single_compressed_file_is_a_bag_too(tmp_path: Path, messages: list[Message], storage: StoragePlugin) -> None:
    bag = write_bag(tmp_path / "bag", messages, storage, CompressionMode.FILE)
    file = find_storage(bag)
    with Bag(bag) as folder, Bag(file) as single:
        assert not single.trouble
        expected, found = (
            [data for block in opened.blocks(opened.topics) for _, _, data in block.list_messages()]
            for opened in (folder, single)
        )
        assert found == expected
    file.write_bytes(file.read_bytes()[:-1])
    with Bag(file) as single:
        assert "damaged" in single.trouble[0]
        assert "/wrench" in single.topics


@pytest.mark.parametrize("case", ["sqlite3", "mcap"])
def test_command_says_it_in_a_line_and_fails(
    case: str, messages: list[Message], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    storage, compression, _ = CASES[case]
    bag = write_bag(tmp_path / "bag", messages, storage, compression)
    file = find_storage(bag)
    file.write_bytes(file.read_bytes()[: int(0.9 * file.stat().st_size)])
    assert main(["replay", str(bag), "-o", str(tmp_path / "out")]) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "damaged" in line
    for name in ("estimate.json", "predictions.mcap", "report.html"):
        assert (tmp_path / "out" / name).is_file()


def test_what_is_no_recording_at_all_is_told_from_a_damaged_one(tmp_path: Path) -> None:
    other, empty = tmp_path / "arm.urdf", tmp_path / "run.mcap"
    other.write_text("<robot/>", encoding="utf-8")
    empty.touch()
    with pytest.raises(RecordingError, match="name a rosbag2 folder"), Bag(other):
        pass
    with pytest.raises(RecordingError, match="record it again"), Bag(empty):
        pass
