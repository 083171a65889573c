"""Raw messages of a bag, in blocks, and which topics are which input; damaged bags are read as far as possible."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from rosbags.interfaces import Connection, ConnectionExtRosbag2, QosDurability
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from inertid_ros.bags.blocks import BagReader, Block, collect, read_blocks
from inertid_ros.bags.salvage import (
    check_database,
    is_short_database,
    iterate_sqlite_messages,
    list_sqlite_topics,
    repair_mcap,
)
from inertid_ros.bags.unpacking import check_unpacked, unpack_file, unpack_message
from inertid_ros.core.errors import RecordingError, RobotDescriptionError, SettingError
from inertid_ros.files.document import read_mapping

JOINT_STATE = "sensor_msgs/msg/JointState"
WRENCH = "geometry_msgs/msg/WrenchStamped"
IMU = "sensor_msgs/msg/Imu"
STRING = "std_msgs/msg/String"

TYPES = {"joint_states": JOINT_STATE, "wrench": WRENCH, "base_wrench": WRENCH, "imu": IMU, "robot_description": STRING}
"""Type of each input of the node."""

_DEFINITIONS = {
    "std_msgs/msg/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "geometry_msgs/msg/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/msg/Wrench": "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque",
    WRENCH: "std_msgs/Header header\ngeometry_msgs/Wrench wrench",
    JOINT_STATE: "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort",
    "geometry_msgs/msg/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    IMU: "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n"
    "geometry_msgs/Vector3 angular_velocity\nfloat64[9] angular_velocity_covariance\n"
    "geometry_msgs/Vector3 linear_acceleration\nfloat64[9] linear_acceleration_covariance",
    STRING: "string data",
}

BLOCK = 16384
"""Messages that are carried through the chain at once: what is done once a block costs nothing then, and 8 s of two
topics at 1 kHz take 5 MB."""

_SEARCHED = 1000
"""Messages that are searched at once for the first of a topic."""
_SUFFIXES = (".mcap", ".db3")
_PACKED = ".zstd"
_METADATA = "metadata.yaml"


@dataclass(frozen=True, slots=True)
class Topics:
    """Names of the topics; by default those the node subscribes to."""

    joint_states: str = "/joint_states"
    wrench: str = "/wrench"
    base_wrench: str = "/base_wrench"
    imu: str = "/imu"
    robot_description: str = "/robot_description"

    @classmethod
    def from_remappings(cls, remappings: Sequence[str]) -> Topics:
        """Read `from:=to` as `ros2 run … -r` takes them.

        SettingError if one is malformed, or does not remap an input of the node.
        """
        topics = cls()
        for remapping in remappings:
            name, separator, target = remapping.partition(":=")
            name = name.strip("/ ")
            if not separator or name not in TYPES or not target.strip():
                expected = "one of " + ", ".join(f"{known}:=/TOPIC" for known in TYPES)
                raise SettingError("--remap", remapping, expected)
            topics = replace(topics, **{name: "/" + target.strip().lstrip("/")})
        return topics


@cache
def get_message_types() -> Typestore:
    """Types of the messages that are read and written here.

    Only these: importing all types of a ROS distribution takes a tenth of a second, and those that are used here are
    the same in all of them.
    """
    store = get_typestore(Stores.EMPTY)
    for name, definition in _DEFINITIONS.items():
        store.register(get_types_from_msg(definition, name))
    return store


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """A topic: its type, how many messages there are (0 if unknown), and whether late subscribers got the last one."""

    kind: str
    count: int
    is_latched: bool


class Bag:
    """A rosbag2 folder, or one file of it. Use it as a context manager.

    Attributes:
        path: of the folder or file.
        topics: by name.
        start, end: times of recording of the first and after the last message [ns].
        trouble: what is wrong with the bag, one line each; it may grow while messages are read.
    """

    def __init__(self, path: Path) -> None:
        """Set the path; the bag is opened on entering."""
        self.path = path
        self.topics: dict[str, TopicInfo] = {}
        self.start = 0
        self.end = 0
        self.trouble: list[str] = []
        self._stack = ExitStack()
        self._readers: list[Reader] = []
        self._damaged_databases: list[Path] = []
        self._is_salvaged = False

    def __enter__(self) -> Bag:
        """Open the bag; RecordingError if nothing at all can be read."""
        try:
            for path in self.list_files():
                _check_file(path)
            if (self.path / _METADATA).exists():
                read_mapping(self.path / _METADATA)
            self._readers = [self._stack.enter_context(BagReader(self._unpack()))]
        except FileNotFoundError:
            self._stack.close()
            what = "has no metadata.yaml: name a rosbag2 folder, or its .mcap or .db3 file"
            problem = what if self.path.exists() else "does not exist: check the path"
            if not self.path.is_dir() or not self.list_files():
                raise RecordingError(f"bag '{self.path}' {problem}") from None
            self._salvage("metadata.yaml is missing")
        except Exception as error:  # noqa: BLE001 - damaged files make the reader fail in any way
            self._salvage(_first_line(error))
        self._describe()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the bag."""
        self._stack.close()

    def blocks(
        self, topics: Iterable[str], size: int = BLOCK, start: float = 0.0, end: float = math.inf
    ) -> Iterator[Block]:
        """Walk over the messages of some topics in the order of recording, `start` to `end` [s since the first].

        A block has about `size` messages. The walk ends at the first damage, which is added to `trouble`.
        """
        first = None if start <= 0.0 else self.start + round(start * 1e9)
        last = None if math.isinf(end) else self.start + round(end * 1e9)
        read = 0
        try:
            for block in self._read(set(topics), size, first, last):
                read += block.count
                yield block
        except Exception as error:  # noqa: BLE001 - damaged files make the reader fail in any way
            if not self.trouble:
                self.trouble.append(
                    f"bag '{self.path}' is damaged after {read} messages ({_first_line(error)}): the messages before "
                    "were used; copy or record it again"
                )

    def _read(self, topics: set[str], size: int, first: int | None, last: int | None) -> Iterator[Block]:
        for reader in self._readers:
            blocks = read_blocks(reader, topics, size, first, last)
            if self._is_salvaged:
                messages = (message for block in blocks for message in block.list_messages())
                blocks = collect(((topic, time, unpack_message(data)) for topic, time, data in messages), size)
            yield from blocks
        for path in self._damaged_databases:
            names = {key: name for key, name, _ in list_sqlite_topics(path) if name in topics}
            rows = (
                (names[key], time, unpack_message(data))
                for key, time, data in iterate_sqlite_messages(path)
                if key in names and (first is None or time >= first) and (last is None or time < last)
            )
            yield from collect(rows, size)

    def find_text(self, topic: str) -> bytes | None:
        """First message of a topic; None if there is none."""
        if topic not in self.topics:
            return None
        return next((block.columns[topic].split()[0] for block in self.blocks([topic], _SEARCHED)), None)

    def find_description(self, topic: str) -> str:
        """Text of the robot description recorded on a topic; RobotDescriptionError if there is none."""
        data = self.find_text(topic) if topic in self.topics and self.topics[topic].kind == STRING else None
        if data is None:
            raise RobotDescriptionError(
                f"bag '{self.path}' has no robot description on {topic}: name the URDF with --urdf"
            )
        message = get_message_types().deserialize_cdr(data, STRING)
        return str(getattr(message, "data"))  # noqa: B009 - the type is made at run time

    def check(self, inputs: Mapping[str, str]) -> None:
        """Make sure that the topics of the inputs (joint_states, wrench, …) exist and have the right types.

        RecordingError if not; it names topics that could be meant.
        """
        if not self.topics and not self.trouble:
            raise RecordingError(f"bag '{self.path}' is empty: record {' and '.join(inputs.values())}")
        for role, topic in inputs.items():
            info = self.topics.get(topic)
            candidates = sorted(name for name, other in self.topics.items() if other.kind == TYPES[role])
            advice = f"use --remap {role}:={candidates[0]}" if candidates else f"record {TYPES[role]}"
            if info is None and self.trouble:
                raise RecordingError(f"{self.trouble[0]} ({topic} is not among the readable topics)")
            if info is None:
                found = f"it has {', '.join(candidates)}" if candidates else "and no other topic of its type"
                raise RecordingError(f"bag '{self.path}' has no topic {topic}: {found}; {advice}")
            if info.kind != TYPES[role]:
                raise RecordingError(f"bag '{self.path}': {topic} is {info.kind}, not {TYPES[role]}; {advice}")

    def list_files(self) -> list[Path]:
        """The files that hold the messages."""
        if not self.path.is_dir():
            return [self.path]
        names = (*_SUFFIXES, *(suffix + _PACKED for suffix in _SUFFIXES))
        return sorted(path for path in self.path.iterdir() if path.name.endswith(names))

    def _make_folder(self) -> Path:
        """A folder for unpacked or repaired files, which is deleted when the bag is closed."""
        return Path(self._stack.enter_context(TemporaryDirectory(prefix="inertid_")))

    def _unpack(self) -> Path:
        """What to read: the bag itself or, if it is a compressed file, an unpacked copy."""
        if self.path.suffix != _PACKED or not self.path.is_file():
            return self.path
        unpacked = self._make_folder() / self.path.stem
        if not unpack_file(self.path, unpacked):
            raise RecordingError("the compressed file is truncated")
        return unpacked

    def _salvage(self, reason: str) -> None:
        """Open file by file whatever can still be read."""
        self._is_salvaged = True
        folder = self._make_folder()
        for index, path in enumerate(self.list_files()):
            source = path
            if path.suffix == _PACKED and path.is_file():
                source = folder / f"{index}_{path.stem}"
                with suppress(RecordingError):
                    unpack_file(path, source)
            self._salvage_file(source, folder / f"{index}.mcap")
        if not self._readers and not self._damaged_databases:
            self._stack.close()
            is_bag = self.path.is_dir() or not {*_SUFFIXES}.isdisjoint(self.path.suffixes)
            advice = "copy or record it again" if is_bag else "name a rosbag2 folder, or its .mcap or .db3 file"
            raise RecordingError(f"bag '{self.path}' cannot be read ({reason}): {advice}")
        self.trouble.append(
            f"bag '{self.path}' is damaged ({reason}): what can be read was used; copy or record it again"
        )

    def _salvage_file(self, path: Path, repaired: Path) -> None:
        try:
            _check_file(path)
            self._readers.append(self._stack.enter_context(Reader(path)))
        except _HostileError:
            return
        except Exception:  # noqa: BLE001 - damaged files make the reader fail in any way
            try:
                if path.suffix == ".mcap" and repair_mcap(path, repaired):
                    self._readers.append(self._stack.enter_context(Reader(repaired)))
                elif path.suffix == ".db3" and list_sqlite_topics(path):
                    self._damaged_databases.append(path)
            except Exception:  # noqa: BLE001 - not even repaired
                return

    def _describe(self) -> None:
        for reader in self._readers:
            for connection in reader.connections:
                name = connection.topic
                before = self.topics.get(name, TopicInfo("", 0, is_latched=False))
                is_latched = before.is_latched or _is_latched(connection)
                self.topics[name] = TopicInfo(connection.msgtype, before.count + connection.msgcount, is_latched)
        for path in self._damaged_databases:
            for _, name, kind in list_sqlite_topics(path):
                self.topics[name] = TopicInfo(kind, 0, _is_usually_latched(name))
        filled = [reader for reader in self._readers if reader.message_count]
        self.start = min((reader.start_time for reader in filled), default=0)
        self.end = max((reader.end_time for reader in filled), default=0)

    def count(self, topics: Iterable[str]) -> int:
        """Number of messages on some topics."""
        names = set(topics)
        return sum(info.count for name, info in self.topics.items() if name in names)


class _HostileError(RecordingError):
    """A file must not be read at all."""


def _check_file(path: Path) -> None:
    """Look whether a file is a recording as far as that can be told without reading it.

    RecordingError if it is a database that is too short, whose index would lead to next to nothing; _HostileError if
    it could block, grow or compute without end.
    """
    if path.exists() and not path.is_file():
        raise _HostileError(f"{path.name} is not a regular file")
    try:
        if path.suffix == _PACKED and path.is_file():
            check_unpacked(path)
        elif path.suffix == ".db3" and path.is_file():
            check_database(path)
    except RecordingError as error:
        raise _HostileError(str(error)) from None
    if path.suffix == ".db3" and path.is_file() and is_short_database(path):
        raise RecordingError(f"{path.name} is truncated")


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]


def _is_latched(connection: Connection) -> bool:
    """Whether a topic was published as transient local; by its name where the bag has no quality of service."""
    profiles = connection.ext.offered_qos_profiles if isinstance(connection.ext, ConnectionExtRosbag2) else ()
    is_transient = any(profile.durability == QosDurability.TRANSIENT_LOCAL for profile in profiles)
    return is_transient or _is_usually_latched(connection.topic)


def _is_usually_latched(topic: str) -> bool:
    return topic.rpartition("/")[2] in ("robot_description", "tf_static")
