"""What is compressed in bags, unpacked within limits: a few kilobytes can be told to become gigabytes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from lz4.frame import LZ4FrameDecompressor  # type: ignore[import-untyped]
from rosbags.rosbag2.storage_mcap import DECOMPRESSORS

from inertid_ros.core.errors import RecordingError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LARGEST = 256 << 20
"""Bytes that a chunk or a message has at most: recorders write chunks of some megabytes."""
RATIO = 200
"""A file has at most LARGEST, or so many times its compressed size: joint states of a robot at rest reach 50."""
_PACKED_MESSAGE = b"\x28\xb5\x2f\xfd"
"""Magic number of zstd. A message that is not compressed begins with a zero."""
_PIECE = 1 << 20
"""Bytes that are read, or unpacked, at a time."""


def iterate_unpacked(path: Path) -> Iterator[bytes]:
    """Unpack a zstd file piece by piece.

    EOFError at the end of a file that is truncated or damaged, RecordingError if it becomes too large.
    """
    left = max(LARGEST, RATIO * path.stat().st_size)
    unpacker = zstd.ZstdDecompressor()
    with path.open("rb") as source:
        while True:
            is_over, piece = unpacker.eof, b""
            if is_over:
                piece, unpacker = unpacker.unused_data, zstd.ZstdDecompressor()
            if unpacker.needs_input and not piece and not (piece := source.read(_PIECE)):
                if is_over:
                    return
                raise EOFError
            try:
                part = unpacker.decompress(piece, _PIECE)
            except zstd.ZstdError:
                raise EOFError from None
            left -= len(part)
            if left < 0:
                raise RecordingError(f"'{path.name}' unpacks to far more than its size: it is no recording")
            yield part


def unpack_file(path: Path, target: Path) -> bool:
    """Unpack a zstd file as far as possible; returns whether it was complete. RecordingError if it is too large."""
    with target.open("wb") as copy:
        try:
            for part in iterate_unpacked(path):
                copy.write(part)
        except EOFError:
            return False
    return True


def check_unpacked(path: Path) -> None:
    """RecordingError if a zstd file becomes too large."""
    try:
        for _ in iterate_unpacked(path):
            pass
    except EOFError:
        return


def unpack_message(data: bytes) -> bytes:
    """Unpack a message that was compressed individually; any other is returned unchanged."""
    return _unpack_zstd(data, LARGEST) if data[:4] == _PACKED_MESSAGE else data


def unpack_start(data: bytes, compression: str) -> bytes:
    """Unpack what is there of a chunk, compressed by `lz4`, `zstd` or not at all; empty for any other compression."""
    if not compression:
        return data
    if compression not in ("lz4", "zstd"):
        return b""
    unpacker = LZ4FrameDecompressor() if compression == "lz4" else zstd.ZstdDecompressor()
    try:
        return bytes(unpacker.decompress(data, LARGEST))
    except (RuntimeError, zstd.ZstdError):
        return b""


def _unpack_zstd(data: bytes, size: int) -> bytes:
    """Unpack all frames; RecordingError if there are more bytes than expected, or too many."""
    parts, left = [], min(size, LARGEST)
    while data:
        unpacker = zstd.ZstdDecompressor()
        parts.append(unpacker.decompress(data, left + 1))
        left -= len(parts[-1])
        if left < 0 or not unpacker.eof:
            raise RecordingError("a chunk or message is truncated, or unpacks to more than it should")
        data = unpacker.unused_data
    return b"".join(parts)


def _unpack_lz4(data: bytes, size: int) -> bytes:
    """Unpack a frame; not more than expected, which is compared with what was expected later."""
    return bytes(LZ4FrameDecompressor().decompress(data, min(size, LARGEST) + 1))


# rosbags unpacks chunks without a limit, in several places, all by this table.
DECOMPRESSORS |= {"zstd": _unpack_zstd, "lz4": _unpack_lz4}
