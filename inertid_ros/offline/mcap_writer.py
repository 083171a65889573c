"""Wrenches to an mcap file, thousands at a time.

All messages of a file are serialised copies of one, so that a chunk is one numpy array of records. The format is that
of mcap.dev/spec: header, schema, channels, chunks each with their message indexes, then a summary.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.typesys import Stores, get_typestore

from inertid_ros.core.errors import FileAccessError
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.messages.cdr_layout import learn_wrench_stamped

WRENCH = "geometry_msgs/msg/WrenchStamped"
_MAGIC = b"\x89MCAP0\r\n"
_CHUNK_SAMPLES = 4096
_SECOND = 1_000_000_000
_HEADER, _FOOTER, _SCHEMA, _CHANNEL, _CHUNK, _MESSAGE_INDEX, _CHUNK_INDEX, _STATISTICS, _DATA_END = (
    1, 2, 3, 4, 6, 7, 8, 11, 15,
)  # fmt: skip
_MESSAGE = 5


class McapWrenchWriter:
    """Writes several topics of wrenches with the same stamps and the same frame."""

    def __init__(self, path: Path, topics: Sequence[str], frame: str) -> None:
        """Open the file; FileAccessError if that fails."""
        self._path = path
        self._topics = tuple(topics)
        self._records = _make_records(frame, len(self._topics))
        self._wrenches = self._records["wrench"]
        self._stamps = np.empty(_CHUNK_SAMPLES, dtype=np.int64)
        self._waiting = 0
        self._written = 0
        self._position = 0
        self._chunks: list[bytes] = []
        self._first_time, self._last_time = 2**63 - 1, 0
        try:
            self._stream = path.open("wb")
        except OSError as error:
            raise _describe(path, error) from None
        self._description = self._describe_topics()
        self._put(_MAGIC + _record(_HEADER, _text("ros2") + _text("inertid_ros")) + self._description)

    def write(self, stamps: IntArray, wrenches: Sequence[FloatArray]) -> None:
        """Write (N,) stamps [ns] and for each topic (N, 6) wrenches; they may wait for more before they are written.

        Raises:
            FileAccessError: if the disk is full or gone.
        """
        done = 0
        while done < len(stamps):
            count = min(_CHUNK_SAMPLES - self._waiting, len(stamps) - done)
            taken, free = slice(done, done + count), slice(self._waiting, self._waiting + count)
            self._stamps[free] = stamps[taken]
            for index, values in enumerate(wrenches):
                self._wrenches[free, index] = values[taken]
            done += count
            self._waiting += count
            if self._waiting == _CHUNK_SAMPLES:
                self._write_waiting()

    def close(self) -> None:
        """Write what waits and the summary, and close; FileAccessError if that fails."""
        try:
            self._write_waiting()
            self._put(self._make_summary())
        finally:
            try:
                self._stream.close()
            except OSError as error:
                raise _describe(self._path, error) from None

    def _write_waiting(self) -> None:
        """Write one chunk of what waits."""
        if self._waiting == 0:
            return
        stamps, records = self._stamps[: self._waiting], self._records[: self._waiting]
        records["sequence"] = self._written + np.arange(len(stamps))[:, None]
        records["log_time"] = records["publish_time"] = stamps[:, None]
        seconds, nanoseconds = np.divmod(stamps, _SECOND)
        records["sec"], records["nanosec"] = seconds[:, None], nanoseconds[:, None]
        self._written += len(stamps)
        self._waiting = 0
        self._put_chunk(stamps, records.tobytes())

    def _put_chunk(self, stamps: IntArray, content: bytes) -> None:
        first, last = int(stamps.min()), int(stamps.max())
        self._first_time, self._last_time = min(self._first_time, first), max(self._last_time, last)
        start = self._position
        head = struct.pack("<QQQI", first, last, len(content), 0) + _text("") + struct.pack("<Q", len(content))
        self._put(struct.pack("<BQ", _CHUNK, len(head) + len(content)) + head)
        self._put(content)
        after_chunk = self._position
        offsets = b""
        size = self._records.itemsize
        for index in range(len(self._topics)):
            offsets += struct.pack("<HQ", index + 1, self._position)
            entries = np.empty((len(stamps), 2), dtype="<u8")
            entries[:, 0] = stamps
            entries[:, 1] = (np.arange(len(stamps)) * len(self._topics) + index) * size
            data = entries.tobytes()
            self._put(_record(_MESSAGE_INDEX, struct.pack("<HI", index + 1, len(data)) + data))
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
        summary = self._description + b"".join(_record(_CHUNK_INDEX, chunk) for chunk in self._chunks)
        count = len(self._topics)
        counts = b"".join(struct.pack("<HQ", index + 1, self._written) for index in range(count))
        first = self._first_time if self._written else 0
        statistics = struct.pack("<QHIIIIQQ", self._written * count, 1, count, 0, 0, len(self._chunks), first,
                                 self._last_time)  # fmt: skip
        summary += _record(_STATISTICS, statistics + struct.pack("<I", len(counts)) + counts)
        footer = _record(_FOOTER, struct.pack("<QQI", self._position + len(end), 0, 0))
        return end + summary + footer + _MAGIC

    def _describe_topics(self) -> bytes:
        definition, _ = get_typestore(Stores.ROS2_JAZZY).generate_msgdef(WRENCH, ros_version=2)
        schema = _record(_SCHEMA, struct.pack("<H", 1) + _text(WRENCH) + _text("ros2msg") + _text(definition))
        channels = (
            _record(_CHANNEL, struct.pack("<HH", index + 1, 1) + _text(topic) + _text("cdr") + struct.pack("<I", 0))
            for index, topic in enumerate(self._topics)
        )
        return schema + b"".join(channels)

    def _put(self, data: bytes) -> None:
        try:
            self._stream.write(data)
        except OSError as error:
            raise _describe(self._path, error) from None
        self._position += len(data)


def _make_records(frame: str, topics: int) -> NDArray[np.void]:
    """Message records of one chunk, (4096, topics), in which all is filled in but what differs from one to the next."""
    store = get_typestore(Stores.ROS2_JAZZY)
    kinds: Any = store.types
    zero = kinds["geometry_msgs/msg/Vector3"](x=0.0, y=0.0, z=0.0)
    header = kinds["std_msgs/msg/Header"](stamp=kinds["builtin_interfaces/msg/Time"](sec=0, nanosec=0), frame_id=frame)
    message = kinds[WRENCH](header=header, wrench=kinds["geometry_msgs/msg/Wrench"](force=zero, torque=zero))
    data = bytes(store.serialize_cdr(message, WRENCH))
    fields: Any = learn_wrench_stamped(data).dtype.fields
    head = [("code", "u1", 0), ("length", "<u8", 1), ("channel", "<u2", 9), ("sequence", "<u4", 11)]
    head += [("log_time", "<u8", 15), ("publish_time", "<u8", 23)]
    body = [(name, fields[name][0], 31 + fields[name][1]) for name in ("sec", "nanosec", "wrench")]
    names, formats, offsets = zip(*head, *body, strict=True)
    record = np.dtype(
        {"names": list(names), "formats": list(formats), "offsets": list(offsets), "itemsize": 31 + len(data)}
    )
    template = struct.pack("<BQ", _MESSAGE, 22 + len(data)) + bytes(22) + data
    records = np.frombuffer(bytearray(template * (_CHUNK_SAMPLES * topics)), dtype=record)
    records = records.reshape(_CHUNK_SAMPLES, topics)
    records["channel"] = 1 + np.arange(topics)
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
