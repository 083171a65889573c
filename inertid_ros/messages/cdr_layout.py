"""Where the numbers are in a serialised message: learnt from one message, checked on every later one.

A driver sends the same names and lengths a thousand times a second; only the stamp and the numbers change. A layout
remembers every other byte, so that a later message is decoded by one comparison and a copy, compiled. Plain CDR
(version 1) is understood in both byte orders. Alignment counts from the end of the four bytes of encapsulation; padding
is not initialised by Fast CDR and is never compared.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from mmap import mmap

import numpy as np
from numpy.typing import NDArray

from inertid_ros.core.compiled import brief, compiled, specialise
from inertid_ros.core.records import FloatArray, IntArray

ENCAPSULATION_SIZE = 4
ByteArray = NDArray[np.uint8]
WordArray = NDArray[np.uint64]
_START = np.zeros(1, dtype=np.int64)
_BYTE_ORDERS = {b"\x00\x00": ">", b"\x00\x01": "<"}


class LayoutError(ValueError):
    """The bytes are not a plain CDR message of the expected type."""


@compiled
def load_word(data: ByteArray, place: int) -> np.uint64:
    """Eight bytes from a place on, aligned or not, the lowest first: written so that it becomes a single load."""
    word, first = np.uint64(0), np.uint64(place)
    for k in range(8):
        word |= np.uint64(data[first + np.uint64(k)]) << np.uint64(8 * k)
    return word


@compiled
def swap_bytes(word: np.uint64) -> np.uint64:
    """The same eight bytes in reverse order."""
    swapped = np.uint64(0)
    for k in range(8):
        swapped |= (word >> np.uint64(8 * k) & np.uint64(0xFF)) << np.uint64(56 - 8 * k)
    return swapped


@brief
def read_messages(
    data: ByteArray, starts: IntArray, fixed: WordArray, places: IntArray, stamps: IntArray, numbers: WordArray
) -> bool:
    """Copy stamps and numbers out of messages; False as soon as a fixed byte of one differs.

    Args:
        data: where the messages are.
        starts: (N,) where each begins.
        fixed: (3, k) words that must not differ: their places in a message, which of their bits, and what is there.
        places: whether bytes are to be swapped, the place of the stamp, then place and count of each field.
        stamps: (N,) takes the stamps [ns].
        numbers: takes the numbers, bit by bit: all of the first field (N, count), then all of the second.
    """
    count, low = len(starts), np.uint64(0xFFFFFFFF)
    for i in range(count):
        start = starts[i]
        for k in range(fixed.shape[1]):
            if load_word(data, start + np.int64(fixed[0, k])) & fixed[1, k] != fixed[2, k]:
                return False
        word = load_word(data, start + places[1])
        if places[0]:
            word = swap_bytes(word)
            word = word << np.uint64(32) | word >> np.uint64(32)
        seconds, nanoseconds = np.int64(word & low), np.int64(word >> np.uint64(32))
        stamps[i] = (seconds if seconds < 2**31 else seconds - 2**32) * 1_000_000_000 + nanoseconds
        begin = 0
        for field in range(2, len(places), 2):
            width = places[field + 1]
            for k in range(width):
                word = load_word(data, start + places[field] + 8 * k)
                numbers[begin + i * width + k] = swap_bytes(word) if places[0] else word
            begin += count * width
    return True


Fields = tuple[FloatArray | None, ...]
"""The numbers of N messages, (N, length) for each field; None for an empty one."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What all messages of the same layout have in common, and memory for one of them.

    Attributes:
        strings: the texts of the message: frame_id, then joint names.
        names: the joint names, always the same object, by which those who know them recognise them.
        dtype: one record per message, with `sec`, `nanosec` and the fields as (length,) of float64.
        fixed: (k,) places of the bytes that must not differ.
        stamps: (1,) of the message that was read last [ns].
        fields: its numbers.
    """

    strings: tuple[str, ...]
    names: tuple[str, ...]
    dtype: np.dtype[np.void]
    fixed: IntArray
    stamps: IntArray
    fields: Fields
    _copy: ByteArray
    _data: memoryview
    _words: WordArray
    _places: IntArray
    _numbers: WordArray
    _read: Callable[..., bool]

    def read(self, data: bytes) -> bool:
        """Read a message into `stamps` and `fields`, if it differs from the one learnt from only in these."""
        if len(data) != len(self._data):
            return False
        self._data[:] = data
        return self._read(self._copy, _START, self._words, self._places, self.stamps, self._numbers)

    def read_all(self, data: ByteArray, starts: IntArray) -> tuple[IntArray, Fields] | None:
        """Stamps and numbers of messages of this length, which begin at (N,) places; None if one does not match.

        The data are as `view_bytes` makes them.
        """
        count = len(starts)
        stamps, numbers = np.empty(count, dtype=np.int64), np.empty(count * len(self._numbers), dtype=np.uint64)
        if not read_messages(data, starts, self._words, self._places, stamps, numbers):
            return None
        return stamps, _divide(numbers, self._places[3::2].tolist(), count)


def view_bytes(data: bytes | bytearray | mmap) -> ByteArray:
    """Bytes as an array that cannot be written to: kernels would be compiled anew for any other."""
    view = np.frombuffer(data, dtype=np.uint8)
    view.flags.writeable = False
    return view


def _divide(numbers: WordArray, widths: Sequence[int], count: int) -> Fields:
    """Views of the numbers of `count` messages, field by field."""
    parts = np.split(numbers.view(np.float64), count * np.cumsum(widths)[:-1])
    return tuple(part.reshape(count, width) if width else None for part, width in zip(parts, widths, strict=True))


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
        stamp, _, *others = self._fields
        widths = [count for _, _, _, count in others]
        places = [self._order == ">", stamp[2], *(number for _, _, *pair in others for number in pair)]
        numbers = np.zeros(sum(widths), dtype=np.uint64)
        memory = bytearray(self._data)
        stamps, copy, words = np.zeros(1, dtype=np.int64), view_bytes(memory), self._list_words()
        numbered = np.array(places, dtype=np.int64)
        return Layout(
            strings=tuple(self._strings),
            names=tuple(self._strings[1:]),
            dtype=dtype,
            fixed=np.flatnonzero(np.frombuffer(self._mask, dtype=np.uint8)),
            stamps=stamps,
            fields=_divide(numbers, widths, 1),
            _copy=copy,
            _data=memoryview(memory),
            _words=words,
            _places=numbered,
            _numbers=numbers,
            _read=specialise(read_messages, copy, _START, words, numbered, stamps, numbers),
        )

    def _list_words(self) -> WordArray:
        """The words with fixed bytes in them, as `read_messages` takes them; the last may overlap the one before."""
        last = len(self._data) - 8
        places = [min(place, last) for place in range(0, len(self._data), 8)]
        mask, data = bytes(self._mask), self._data
        words = [[int.from_bytes(part[place : place + 8], "little") for place in places] for part in (mask, data)]
        found = np.array([places, *words], dtype=np.uint64)
        found[2] &= found[1]
        return np.ascontiguousarray(found[:, found[1] != 0])

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


def learn_imu(data: bytes) -> Layout:
    """Learn sensor_msgs/Imu: strings are frame_id alone, the field is `imu`, all 37 numbers in their order."""
    return _learn_stamped(data, "imu", 37)


def learn_wrench_stamped(data: bytes) -> Layout:
    """Learn geometry_msgs/WrenchStamped: strings are frame_id alone, the field is `wrench`, force before torque."""
    return _learn_stamped(data, "wrench", 6)


def _learn_stamped(data: bytes, field: str, count: int) -> Layout:
    """Learn a message that is a header and so many numbers."""
    reader = LayoutReader(data)
    reader.read_stamp()
    reader.read_string()
    reader.read_numbers(field, count)
    return reader.finish()
