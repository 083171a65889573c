"""Where the numbers are in a serialised message: learnt from one message, checked on every later one.

A driver sends the same names and lengths a thousand times a second; only the stamp and the numbers change. A layout
remembers every other byte, so that a later message is decoded by one comparison and a copy, compiled. Plain CDR
(version 1) is understood in both byte orders. Alignment counts from the end of the four bytes of encapsulation; padding
is not initialised by Fast CDR and is never compared.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inertid_ros.core.compiled import compiled
from inertid_ros.core.records import FloatArray, IntArray

ENCAPSULATION_SIZE = 4
ByteArray = NDArray[np.uint8]
Records = NDArray[np.void]
_BYTE_ORDERS = {b"\x00\x00": ">", b"\x00\x01": "<"}


class LayoutError(ValueError):
    """The bytes are not a plain CDR message of the expected type."""


@compiled
def read_message(data: ByteArray, fixed: IntArray, places: IntArray, stamps: IntArray, numbers: ByteArray) -> bool:
    """Copy stamp and numbers out of a message, unless one of its fixed bytes differs.

    Args:
        data: the message.
        fixed: (2, k) places that must not differ, and what is there.
        places: (8 + 8 m,) where the bytes of stamp and numbers are, lowest first.
        stamps: (1,) takes the stamp [ns].
        numbers: (8 m,) takes the bytes of the numbers, which are nowhere aligned in the message.
    """
    for k in range(fixed.shape[1]):
        if data[fixed[0, k]] != fixed[1, k]:
            return False
    seconds = nanoseconds = 0
    for k in range(4):
        seconds |= int(data[places[k]]) << 8 * k
        nanoseconds |= int(data[places[4 + k]]) << 8 * k
    stamps[0] = (seconds if seconds < 2**31 else seconds - 2**32) * 1_000_000_000 + nanoseconds
    for k in range(len(numbers)):
        numbers[k] = data[places[8 + k]]
    return True


@dataclass(frozen=True, slots=True)
class Layout:
    """What all messages of the same layout have in common, and memory for one of them.

    Attributes:
        strings: the texts of the message: frame_id, then joint names.
        names: the joint names, always the same object, by which those who know them recognise them.
        lengths: how many numbers each field has, in the order of `fields`.
        dtype: one record per message, with `sec`, `nanosec` and the fields as (length,) of float64.
        fixed: (2, k) places of the bytes that must not differ, and what is there.
        stamps: (1,) of the message that was read last [ns].
        fields: (1, length) its numbers, None for an empty field.
    """

    strings: tuple[str, ...]
    names: tuple[str, ...]
    lengths: tuple[int, ...]
    dtype: np.dtype[np.void]
    fixed: IntArray
    stamps: IntArray
    fields: tuple[FloatArray | None, ...]
    _copy: ByteArray
    _data: memoryview
    _places: IntArray
    _numbers: ByteArray

    def read(self, data: bytes) -> bool:
        """Read a message into `stamps` and `fields`, if it differs from the one learnt from only in these."""
        if len(data) != len(self._data):
            return False
        self._data[:] = data
        return read_message(self._copy, self.fixed, self._places, self.stamps, self._numbers)

    def view_all(self, data: bytes) -> Records | None:
        """View messages, one behind the other, as records; None if one of them does not match."""
        table = np.frombuffer(data, dtype=np.uint8).reshape(-1, self.dtype.itemsize)
        mask, fixed = np.zeros((2, table.shape[1]), dtype=np.uint8)
        mask[self.fixed[0]], fixed[self.fixed[0]] = 1, self.fixed[1]
        edges = np.flatnonzero(np.diff(mask != 0, prepend=False, append=False)).reshape(-1, 2).tolist()
        is_alike = all(bool((table[:, start:stop] == fixed[start:stop]).all()) for start, stop in edges)
        return np.frombuffer(data, dtype=self.dtype) if is_alike else None


class LayoutReader:
    """Walks once over a serialised message and notes where things are; every length is checked against the data."""

    def __init__(self, data: bytes) -> None:
        """Read the encapsulation; LayoutError for anything but plain CDR."""
        self._data = data
        order = _BYTE_ORDERS.get(data[:2])
        if order is None or len(data) < ENCAPSULATION_SIZE:
            raise LayoutError(f"not plain CDR: the message starts with {data[:4].hex()}")
        self._order: str = order
        self._offset = ENCAPSULATION_SIZE
        self._mask = bytearray(len(data))
        self._mask[:2] = b"\xff\xff"
        self._strings: list[str] = []
        self._fields: list[tuple[str, str, int, int]] = []

    def read_stamp(self) -> None:
        """Note builtin_interfaces/Time."""
        self._note("sec", "i4", self._advance(4, 4), 1)
        self._note("nanosec", "u4", self._advance(4, 4), 1)

    def read_string(self) -> str:
        """Read a string and fix its bytes."""
        size = self.read_length()
        start = self._advance(1, size)
        self._fix(start, size)
        try:
            text = self._data[start : start + size].rstrip(b"\x00").decode()
        except UnicodeDecodeError as error:
            raise LayoutError(f"text that is not UTF-8: {error}") from None
        self._strings.append(text)
        return text

    def read_length(self) -> int:
        """Read the length in front of a string or a sequence and fix it."""
        start = self._advance(4, 4)
        self._fix(start, 4)
        return int(struct.unpack_from(self._order + "I", self._data, start)[0])

    def read_numbers(self, name: str, count: int) -> None:
        """Note `count` numbers of float64. An empty sequence is not aligned."""
        start = self._advance(8, 8 * count) if count else self._offset
        self._note(name, "f8", start, count)

    def finish(self) -> Layout:
        """Return the layout; bytes after the last field are padding."""
        names = [name for name, _, _, _ in self._fields]
        formats = [
            (self._order + kind) if kind != "f8" else (self._order + kind, (count,))
            for _, kind, _, count in self._fields
        ]
        offsets = [offset for _, _, offset, _ in self._fields]
        dtype = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": len(self._data)})
        counts = [count for _, kind, _, count in self._fields if kind == "f8"]
        numbers = np.zeros(sum(counts))
        ends = np.cumsum(counts).tolist()
        fixed = np.flatnonzero(np.frombuffer(self._mask, dtype=np.uint8))
        memory = np.zeros(len(self._data), dtype=np.uint8)
        return Layout(
            strings=tuple(self._strings),
            names=tuple(self._strings[1:]),
            lengths=tuple(counts),
            dtype=dtype,
            fixed=np.array([fixed, np.frombuffer(self._data, dtype=np.uint8)[fixed]], dtype=np.int64),
            stamps=np.zeros(1, dtype=np.int64),
            fields=tuple(
                numbers[None, end - count : end] if count else None for end, count in zip(ends, counts, strict=True)
            ),
            _copy=memory,
            _data=memory.data,
            _places=np.concatenate([self._list_places(*field[1:]) for field in self._fields]),
            _numbers=numbers.view(np.uint8),
        )

    def _list_places(self, kind: str, offset: int, count: int) -> IntArray:
        """Where the bytes of numbers are, the lowest of each first."""
        size = int(kind[1])
        places = np.arange(size) if self._order == "<" else np.arange(size)[::-1]
        return (offset + size * np.arange(count)[:, None] + places).ravel()

    def _advance(self, alignment: int, size: int) -> int:
        start = self._offset + (ENCAPSULATION_SIZE - self._offset) % alignment
        if start + size > len(self._data):
            raise LayoutError(f"{size} bytes expected at {start} of a message of {len(self._data)}")
        self._offset = start + size
        return start

    def _note(self, name: str, kind: str, offset: int, count: int) -> None:
        self._fields.append((name, kind, offset, count))

    def _fix(self, start: int, size: int) -> None:
        self._mask[start : start + size] = b"\xff" * size


def learn_joint_state(data: bytes) -> Layout:
    """Learn sensor_msgs/JointState: strings are frame_id and the joints, fields position, velocity, effort."""
    reader = LayoutReader(data)
    reader.read_stamp()
    reader.read_string()
    for _ in range(reader.read_length()):
        reader.read_string()
    for field in ("position", "velocity", "effort"):
        reader.read_numbers(field, reader.read_length())
    return reader.finish()


def learn_wrench_stamped(data: bytes) -> Layout:
    """Learn geometry_msgs/WrenchStamped: strings are frame_id alone, the field is `wrench`, force before torque."""
    reader = LayoutReader(data)
    reader.read_stamp()
    reader.read_string()
    reader.read_numbers("wrench", 6)
    return reader.finish()


def stack(layout: Layout, messages: Sequence[bytes]) -> Records:
    """View messages of one layout as an array of records."""
    return np.frombuffer(b"".join(messages), dtype=layout.dtype)
