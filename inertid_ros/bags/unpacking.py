"""Compressed files, chunks and messages, unpacked as far as they go: those that were cut off, too."""

from __future__ import annotations

import sys
from pathlib import Path

from lz4.frame import LZ4FrameDecompressor  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_PACKED_MESSAGE = b"\x28\xb5\x2f\xfd"
_PIECE = 1 << 20


def unpack_start(data: bytes, compression: str) -> bytes:
    """Unpack what is there of a chunk, compressed by `lz4`, `zstd` or not at all; nothing if it is none of these."""
    if not compression:
        return data
    if compression not in ("lz4", "zstd"):
        return b""
    unpacker = LZ4FrameDecompressor() if compression == "lz4" else zstd.ZstdDecompressor()
    try:
        return bytes(unpacker.decompress(data))
    except (RuntimeError, zstd.ZstdError):
        return b""


def unpack_file(path: Path, target: Path) -> bool:
    """Unpack a zstd file as far as it goes; returns whether it goes to its end."""
    unpacker = zstd.ZstdDecompressor()
    with path.open("rb") as source, target.open("wb") as copy:
        try:
            while piece := unpacker.unused_data or source.read(_PIECE):
                if unpacker.eof:
                    unpacker = zstd.ZstdDecompressor()
                copy.write(unpacker.decompress(piece))
        except zstd.ZstdError:
            return False
    return bool(unpacker.eof)


def unpack_message(data: bytes) -> bytes:
    """Unpack a message that was compressed on its own; any other is returned as it is."""
    if data[:4] != _PACKED_MESSAGE:  # the bytes of a message that is not compressed begin with a zero
        return data
    return zstd.decompress(data)
