"""Writes predictions to an mcap file, thousands at a time.

All messages of a stream are serialised copies of one, so that a chunk is one numpy array of records. The format is that
of mcap.dev/spec: header, schemas and channels, chunks each with their message indexes, then a summary.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inertid_ros.bags.bag import JOINT_STATE, WRENCH, get_message_types
from inertid_ros.core.errors import FileAccessError
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.messages.cdr_layout import Layout, learn_joint_state, learn_wrench_stamped

_MAGIC = b"\x89MCAP0\r\n"
_CHUNK_SAMPLES = 4096
_SECOND = 1_000_000_000
_HEADER, _FOOTER, _SCHEMA, _CHANNEL, _CHUNK, _MESSAGE_INDEX, _CHUNK_INDEX, _STATISTICS, _DATA_END = (
    1, 2, 3, 4, 6, 7, 8, 11, 15,
)  # fmt: skip
_MESSAGE = 5


class Stream(Protocol):
    """Takes the predictions of one kind."""

    def write(self, stamps: IntArray, values: Sequence[FloatArray]) -> None:
        """Take (N,) stamps [ns], and for each topic (N, C) values; FileAccessError if they cannot be written."""


class Sink(Protocol):
    """Takes predictions of several kinds."""

    def add_wrenches(self, topics: Sequence[str], frame: str) -> Stream:
        """Open topics for wrenches (N, 6) in a frame."""

    def add_efforts(self, topics: Sequence[str], joints: Sequence[str]) -> Stream:
        """Open topics for efforts (N, n) of joints."""


class McapWriter:
    """Writes streams of predictions into one file."""

    def __init__(self, path: Path) -> None:
        """Open the file; FileAccessError if that fails."""
        self._path = path
        self._position = 0
        self._schemas: list[str] = []
        self._descriptions = b""
        self._streams: list[McapStream] = []
        self._chunks: list[bytes] = []
        self._first_time, self._last_time = 2**63 - 1, 0
        try:
            self._file = path.open("wb")
        except OSError as error:
            raise _describe(path, error) from None
        self._put(_MAGIC + _record(_HEADER, _text("ros2") + _text("inertid_ros")))

    def add_wrenches(self, topics: Sequence[str], frame: str) -> McapStream:
        """Open topics for wrenches (N, 6) with the same stamps and the same frame."""
        zero = _make("geometry_msgs/msg/Vector3", x=0.0, y=0.0, z=0.0)
        wrench = _make("geometry_msgs/msg/Wrench", force=zero, torque=zero)
        message = _make(WRENCH, header=_make_header(frame), wrench=wrench)
        return self._add(topics, WRENCH, message, learn_wrench_stamped, "wrench")

    def add_efforts(self, topics: Sequence[str], joints: Sequence[str]) -> McapStream:
        """Open topics for efforts (N, n) with the same stamps, of the same joints."""
        empty = np.empty(0)
        message = _make(
            JOINT_STATE,
            header=_make_header(""),
            name=list(joints),
            position=empty,
            velocity=empty,
            effort=np.zeros(len(joints)),
        )
        return self._add(topics, JOINT_STATE, message, learn_joint_state, "effort")

    def _add(
        self, topics: Sequence[str], kind: str, message: Any, learn: Callable[[bytes], Layout], field: str
    ) -> McapStream:
        description = b""
        if kind not in self._schemas:
            self._schemas.append(kind)
            definition, _ = get_message_types().generate_msgdef(kind, ros_version=2)
            head = struct.pack("<H", len(self._schemas)) + _text(kind) + _text("ros2msg") + _text(definition)
            description = _record(_SCHEMA, head)
        schema = self._schemas.index(kind) + 1
        first = 1 + sum(len(stream.topics) for stream in self._streams)
        for channel, topic in enumerate(topics, start=first):
            head = struct.pack("<HH", channel, schema) + _text(topic) + _text("cdr") + struct.pack("<I", 0)
            description += _record(_CHANNEL, head)
        data = bytes(get_message_types().serialize_cdr(message, kind))
        stream = McapStream(self, topics, first, data, learn(data), field)
        self._streams.append(stream)
        self._descriptions += description
        self._put(description)
        return stream

    def close(self) -> None:
        """Write what waits and the summary, and close; FileAccessError if that fails."""
        try:
            for stream in self._streams:
                stream.flush()
            self._put(self._make_summary())
        finally:
            try:
                self._file.close()
            except OSError as error:
                raise _describe(self._path, error) from None

    def put_chunk(self, stamps: IntArray, records: NDArray[np.void], first_channel: int) -> None:
        """Write (N, topics) records of one stream."""
        content = records.tobytes()
        first, last = int(stamps.min()), int(stamps.max())
        self._first_time, self._last_time = min(self._first_time, first), max(self._last_time, last)
        start = self._position
        head = struct.pack("<QQQI", first, last, len(content), 0) + _text("") + struct.pack("<Q", len(content))
        self._put(struct.pack("<BQ", _CHUNK, len(head) + len(content)) + head)
        self._put(content)
        after_chunk = self._position
        offsets = b""
        size, topics = records.dtype.itemsize, records.shape[1]
        for index in range(topics):
            offsets += struct.pack("<HQ", first_channel + index, self._position)
            entries = np.empty((len(stamps), 2), dtype="<u8")
            entries[:, 0] = stamps
            entries[:, 1] = (np.arange(len(stamps)) * topics + index) * size
            data = entries.tobytes()
            self._put(_record(_MESSAGE_INDEX, struct.pack("<HI", first_channel + index, len(data)) + data))
        self._chunks.append(
            struct.pack("<QQQQ", first, last, start, after_chunk - start)
            + struct.pack("<I", len(offsets))
            + offsets
            + struct.pack("<Q", self._position - after_chunk)
            + _text("")
            + struct.pack("<QQ", len(content), len(content))
        )

    def _make_summary(self) -> bytes:
        end = _record(_DATA_END, struct.pack("<I", 0))
        summary = self._descriptions + b"".join(_record(_CHUNK_INDEX, chunk) for chunk in self._chunks)
        written = [(channel, stream.written) for stream in self._streams for channel in stream.channels]
        counts = b"".join(struct.pack("<HQ", *pair) for pair in written)
        total = sum(count for _, count in written)
        first = self._first_time if total else 0
        statistics = struct.pack("<QHIIIIQQ", total, len(self._schemas), len(written), 0, 0, len(self._chunks), first,
                                 self._last_time)  # fmt: skip
        summary += _record(_STATISTICS, statistics + struct.pack("<I", len(counts)) + counts)
        footer = _record(_FOOTER, struct.pack("<QQI", self._position + len(end), 0, 0))
        return end + summary + footer + _MAGIC

    def _put(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            raise _describe(self._path, error) from None
        self._position += len(data)


class McapStream:
    """Topics of one type whose messages have the same stamps, their channels, and the samples written so far."""

    def __init__(
        self, writer: McapWriter, topics: Sequence[str], first_channel: int, data: bytes, layout: Layout, field: str
    ) -> None:
        """Set what all messages have in common: that one of them looks like `data`, and where its values are."""
        self._writer = writer
        self.topics = tuple(topics)
        self.channels = range(first_channel, first_channel + len(self.topics))
        self.written = 0
        self._records = _make_records(data, layout, field, self.channels)
        self._values = self._records["values"]
        self._stamps = np.empty(_CHUNK_SAMPLES, dtype=np.int64)
        self._waiting = 0

    def write(self, stamps: IntArray, values: Sequence[FloatArray]) -> None:
        """Write (N,) stamps [ns] and for each topic (N, C) values; they may wait for more before they are written.

        FileAccessError if the disk is full or gone.
        """
        done = 0
        while done < len(stamps):
            count = min(_CHUNK_SAMPLES - self._waiting, len(stamps) - done)
            taken, free = slice(done, done + count), slice(self._waiting, self._waiting + count)
            self._stamps[free] = stamps[taken]
            for index, numbers in enumerate(values):
                self._values[free, index] = numbers[taken]
            done += count
            self._waiting += count
            if self._waiting == _CHUNK_SAMPLES:
                self.flush()

    def flush(self) -> None:
        """Write one chunk of what waits; FileAccessError if that fails."""
        if self._waiting == 0:
            return
        stamps, records = self._stamps[: self._waiting], self._records[: self._waiting]
        records["sequence"] = self.written + np.arange(len(stamps))[:, None]
        records["log_time"] = records["publish_time"] = stamps[:, None]
        seconds, nanoseconds = np.divmod(stamps, _SECOND)
        records["sec"], records["nanosec"] = seconds[:, None], nanoseconds[:, None]
        self.written += len(stamps)
        self._waiting = 0
        self._writer.put_chunk(stamps, records, self.channels.start)


def _make(kind: str, **fields: Any) -> Any:
    """A message of a type."""
    make: Any = get_message_types().types[kind]
    return make(**fields)


def _make_header(frame: str) -> Any:
    return _make("std_msgs/msg/Header", stamp=_make("builtin_interfaces/msg/Time", sec=0, nanosec=0), frame_id=frame)


def _make_records(data: bytes, layout: Layout, field: str, channels: range) -> NDArray[np.void]:
    """Message records of one chunk, (4096, channels), with all filled in but what differs from one to the next."""
    fields: Any = layout.dtype.fields
    head = [("code", "u1", 0), ("length", "<u8", 1), ("channel", "<u2", 9), ("sequence", "<u4", 11)]
    head += [("log_time", "<u8", 15), ("publish_time", "<u8", 23)]
    places = {"sec": "sec", "nanosec": "nanosec", "values": field}
    body = [(name, fields[place][0], 31 + fields[place][1]) for name, place in places.items()]
    names, formats, offsets = zip(*head, *body, strict=True)
    record = np.dtype(
        {"names": list(names), "formats": list(formats), "offsets": list(offsets), "itemsize": 31 + len(data)}
    )
    head_bytes = struct.pack("<BQ", _MESSAGE, 22 + len(data)) + bytes(22)
    records = np.empty((_CHUNK_SAMPLES, len(channels)), dtype=record)
    records.view(np.uint8).reshape(-1, record.itemsize)[:] = np.frombuffer(head_bytes + data, dtype=np.uint8)
    records["channel"] = np.array(channels)
    return records


def _record(code: int, content: bytes) -> bytes:
    return struct.pack("<BQ", code, len(content)) + content


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<I", len(data)) + data


def _describe(path: Path, error: OSError) -> FileAccessError:
    return FileAccessError(
        f"'{path}' cannot be written: {error.strerror}; name another directory with -o, or make room"
    )
