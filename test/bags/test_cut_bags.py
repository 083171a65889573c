"""Bags that end too early: whatever was written before is used, and a line says so."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import lz4.frame  # type: ignore[import-untyped]
import numpy as np
import pytest
from rosbags.rosbag2 import CompressionMode, StoragePlugin
from support.bags import find_storage, puma_messages, write_bag
from support.chain import PUMA

from inertid_ros.bags.bag import Bag
from inertid_ros.cli.main import main
from inertid_ros.core.errors import RecordingError
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.replay import replay_bags

PLAN = Plan(settings=Settings(load=LoadSettings(sensor_frame="ft_sensor")), description=PUMA)
SECONDS = 3.0
CUTS = 50

CASES = {
    "sqlite3": (StoragePlugin.SQLITE3, CompressionMode.NONE, 40),
    "sqlite3, messages compressed": (StoragePlugin.SQLITE3, CompressionMode.MESSAGE, 38),
    "sqlite3, file compressed": (StoragePlugin.SQLITE3, CompressionMode.FILE, 20),
    "mcap": (StoragePlugin.MCAP, CompressionMode.NONE, 45),
    "mcap, chunks compressed": (StoragePlugin.MCAP, CompressionMode.STORAGE, 25),
    "mcap, file compressed": (StoragePlugin.MCAP, CompressionMode.FILE, 20),
}
"""Storage, compression, and of how many of the cuts something is left: zstd unpacks whole blocks of 128 KiB only."""


def cut(file: Path) -> Iterator[int]:
    """Cut a file at many places, from its first byte to its last."""
    whole = file.read_bytes()
    for length in np.linspace(0, len(whole) - 1, CUTS).astype(int).tolist():
        file.write_bytes(whole[:length])
        yield length


@pytest.mark.parametrize(("storage", "compression", "expected"), CASES.values(), ids=CASES)
def test_bag_cut_anywhere_is_used_as_far_as_it_goes(
    tmp_path: Path, storage: StoragePlugin, compression: CompressionMode, expected: int
) -> None:
    bag = write_bag(tmp_path / "bag", puma_messages(SECONDS), storage, compression)
    kept: list[int] = []
    notes: list[tuple[int, bool, str]] = []
    for length in cut(find_storage(bag)):
        try:
            trace = replay_bags([bag], PLAN, lambda: None, lambda _: None).load
        except RecordingError as error:
            notes.append((length, False, str(error)))
            continue
        assert trace is not None
        notes.append((length, True, trace.notes[0] if trace.notes else ""))
        kept.append(trace.online.samples.count)
    wrong = [item for item in notes if "\n" in item[2] or "again" not in item[2]]
    wrong += [item for item in notes if item[1] and "damaged" not in item[2]]
    assert not wrong, notes
    assert len(kept) >= expected
    assert kept == sorted(kept)
    assert kept[-1] >= (250 if compression == CompressionMode.FILE else 580)


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


def count_wrenches(bag: Path) -> int:
    """How many wrenches of a bag can be read, 0 if it cannot even be opened."""
    try:
        with Bag(bag) as opened:
            return sum(block.count for block in opened.blocks(["/wrench"]))
    except RecordingError:
        return 0


def test_lz4_chunk_is_unpacked_up_to_the_cut(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", puma_messages(SECONDS))
    compress_chunks(find_storage(bag))
    kept = [count_wrenches(bag) for _ in cut(find_storage(bag))]
    assert kept == sorted(kept)
    assert len(set(kept)) >= 4, kept


@pytest.mark.parametrize("storage", StoragePlugin)
def test_single_compressed_file_is_a_bag_too(tmp_path: Path, storage: StoragePlugin) -> None:
    bag = write_bag(tmp_path / "bag", puma_messages(SECONDS), storage, CompressionMode.FILE)
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


@pytest.mark.parametrize("case", CASES)
def test_command_says_it_in_a_line_and_fails(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    storage, compression, _ = CASES[case]
    bag = write_bag(tmp_path / "bag", puma_messages(SECONDS), storage, compression)
    file = find_storage(bag)
    file.write_bytes(file.read_bytes()[: int(0.9 * file.stat().st_size)])
    assert main(["replay", str(bag), "-o", str(tmp_path / "out")]) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "damaged" in line
    for name in ("estimate.json", "predictions.mcap", "report.html"):
        assert (tmp_path / "out" / name).is_file()
