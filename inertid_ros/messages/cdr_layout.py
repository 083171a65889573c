"""Where the numbers are in a serialised message: learnt from one message, checked on every later one.

A driver sends the same names and lengths a thousand times a second; only the stamp and the numbers change. A layout
remembers every other byte, so that a later message is decoded by one comparison and a view. Plain CDR (version 1) is
understood in both byte orders. Alignment counts from the end of the four bytes of encapsulation; padding is not
initialised by Fast CDR and is never compared.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inertid_ros.core.records import FloatArray, IntArray

ENCAPSULATION_SIZE = 4
Records = NDArray[np.void]
_BYTE_ORDERS = {b"\x00\x00": ">", b"\x00\x01": "<"}


class LayoutError(ValueError):
    """The bytes are not a plain CDR message of the expected type."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What all messages of the same layout have in common.

    Attributes:
        strings: the texts of the message: frame_id, then joint names.
        names: the joint names, always the same object, by which those who know them recognise them.
        lengths: how many numbers each field has, in the order of `fields`.
        dtype: one record per message, with `sec`, `nanosec` and the fields as (length,) of float64.
        mask: 1 in each bit that must not differ, as a little-endian integer over the whole message.
        fixed: the bits under the mask.
        stamp: reads `sec` and `nanosec` behind the encapsulation.
        numbers: type, count and offset of all numbers from the first one on, with the lengths in between.
        parts: where in there each field is; None for an empty one.
    """

    strings: tuple[str, ...]
    names: tuple[str, ...]
    lengths: tuple[int, ...]
    dtype: np.dtype[np.void]
    mask: int
    fixed: int
    stamp: struct.Struct
    numbers: tuple[np.dtype[np.float64], int, int]
    parts: tuple[slice | None, ...]

    def matches(self, data: bytes) -> bool:
        """Whether a message differs from the one learnt from only in stamp, numbers and padding."""
        return len(data) == self.dtype.itemsize and int.from_bytes(data, "little") & self.mask == self.fixed

    def read_one(self, data: bytes) -> tuple[IntArray, list[FloatArray | None]]:
        """Stamp (1,) [ns] and fields (1, length) of one message that matches; None for an empty field.

        Between two sequences of numbers there are a length and its padding, as long as a number: one copy takes all.
        """
        seconds, nanoseconds = self.stamp.unpack_from(data, ENCAPSULATION_SIZE)
        numbers = np.frombuffer(data, *self.numbers).astype(np.float64)
        fields: list[FloatArray | None] = [None if part is None else numbers[None, part] for part in self.parts]
        return np.array([seconds * 1_000_000_000 + nanoseconds], dtype=np.int64), fields

    def view_all(self, data: bytes) -> Records | None:
        """View messages, one behind the other, as records; None if one of them does not match."""
        size = self.dtype.itemsize
        table = np.frombuffer(data, dtype=np.uint8).reshape(-1, size)
        fixed, mask = (np.frombuffer(bits.to_bytes(size, "little"), dtype=np.uint8) for bits in (self.fixed, self.mask))
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
        mask = int.from_bytes(self._mask, "little")
        numbers = [(offset, count) for _, kind, offset, count in self._fields if kind == "f8"]
        first = min((offset for offset, count in numbers if count), default=len(self._data))
        last = max((offset + 8 * count for offset, count in numbers if count), default=first)
        return Layout(
            strings=tuple(self._strings),
            names=tuple(self._strings[1:]),
            lengths=tuple(count for _, kind, _, count in self._fields if kind == "f8"),
            dtype=dtype,
            mask=mask,
            fixed=int.from_bytes(self._data, "little") & mask,
            stamp=struct.Struct(self._order + "iI"),
            numbers=(np.dtype(self._order + "f8"), (last - first) // 8, first),
            parts=tuple(
                slice((offset - first) // 8, (offset - first) // 8 + count) if count else None
                for offset, count in numbers
            ),
        )

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
