"""A motion as points in time, a trajectory_msgs/JointTrajectory: as a motion, as a message, and in files.

It is read from YAML or JSON, as `ros2 topic echo` writes it, or from a bag, and written as CSV, YAML and a bag.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.errors import WriterError
from rosbags.typesys import Stores, get_typestore
from scipy.interpolate import BPoly

from inertid_ros.bags.bag import Bag
from inertid_ros.core.errors import FileAccessError, FileFormatError
from inertid_ros.core.records import FloatArray
from inertid_ros.files.access import make_directory, write_whole
from inertid_ros.files.document import Section, read_mapping, write_yaml
from inertid_ros.motions.motion import JointPath, Motion
from inertid_ros.motions.multisine import JointLimits

TOPIC = "/joint_trajectory"
TYPE = "trajectory_msgs/msg/JointTrajectory"
RATE = 100.0
"""Points of a trajectory per second; controllers interpolate between them."""

_BAG, _CSV, _YAML = "trajectory", "trajectory.csv", "trajectory.yaml"
_SECOND = 1_000_000_000
_ROUNDING = 1e-6
"""Part by which a limit may be exceeded: files round."""


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """Points that joints pass; between them motions of the fifth order, from the last on rest.

    Attributes:
        joint_names: the n joints.
        times: (N,) from the start [s], rising.
        path: at these times.
        efforts: (N, n) that are fed forward [Nm or N]; None if there are none.
        stamp: when it begins [ns]; 0 for at once.
    """

    joint_names: tuple[str, ...]
    times: FloatArray
    path: JointPath
    efforts: FloatArray | None = None
    stamp: int = 0

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    @property
    def joint_count(self) -> int:
        """Number n of joints."""
        return len(self.joint_names)

    def at(self, times: FloatArray) -> JointPath:
        """The motion at (N,) times [s]: exact for polynomials of the fifth order; before and after it rests."""
        clipped = np.clip(times, self.times[0], self.times[-1])
        spline = BPoly.from_derivatives(self.times, np.stack(self.path, axis=1))
        path = [np.asarray(spline.derivative(order)(clipped)) if order else spline(clipped) for order in range(3)]
        for part in path[1:]:
            part[clipped != times] = 0.0
        return JointPath(*path)

    def arrange(self, joint_names: Sequence[str], whose: str) -> Trajectory:
        """The same with the joints in another order; FileFormatError unless these are the same joints."""
        missing = [name for name in joint_names if name not in self.joint_names]
        strange = [name for name in self.joint_names if name not in joint_names]
        if missing or strange:
            wrong = f"lacks {', '.join(missing)}" if missing else f"has {', '.join(strange)}"
            raise FileFormatError(
                f"the trajectory {wrong}: {whose} has the joints {', '.join(joint_names)}; give a trajectory of these"
            )
        order = [self.joint_names.index(name) for name in joint_names]
        efforts = None if self.efforts is None else self.efforts[:, order]
        path = JointPath(*(part[:, order] for part in self.path))
        return Trajectory(tuple(joint_names), self.times, path, efforts, self.stamp)

    def slow_down(self, scale: float) -> Trajectory:
        """The same path at another speed, 1 for the same; efforts would be others, and are left out."""
        path = JointPath(*(part * scale**order for order, part in enumerate(self.path)))
        return Trajectory(self.joint_names, self.times / scale, path)

    def check(self, limits: JointLimits) -> None:
        """FileFormatError if a point is beyond a limit of position or velocity."""
        for kind, values, lower, upper in (
            ("position", self.path.positions, limits.lower, limits.upper),
            ("velocity", self.path.velocities, -limits.velocity, limits.velocity),
        ):
            slack = _ROUNDING * np.maximum(np.abs(lower), np.abs(upper))
            beyond = np.argwhere((values < lower - slack) | (values > upper + slack))
            if len(beyond):
                point, joint = beyond[0].tolist()
                raise FileFormatError(
                    f"the trajectory goes beyond a limit: {kind} of {self.joint_names[joint]} is "
                    f"{values[point, joint]:.4g} at {self.times[point]:.3g} s, allowed is {lower[joint]:.4g} to "
                    f"{upper[joint]:.4g}; change the trajectory, or the limits of the robot description"
                )


def sample_motion(motion: Motion, joint_names: Sequence[str]) -> Trajectory:
    """The points of a motion of finite duration."""
    times = np.linspace(0.0, motion.duration, 1 + int(np.ceil(motion.duration * RATE)))
    return Trajectory(tuple(joint_names), times, motion.at(times))


def parse_message(message: Any, where: str) -> Trajectory:
    """A trajectory_msgs/JointTrajectory of any library; FileFormatError if it is not complete, naming the point."""
    names = tuple(str(name) for name in message.joint_names)
    points = list(message.points)
    if not names or len(points) < 2:
        raise FileFormatError(f"{where} has {len(names)} joints and {len(points)} points: expected some, and 2 or more")
    parts = {kind: _collect(points, kind, len(names), where) for kind in ("positions", "velocities", "accelerations")}
    has_effort = any(len(point.effort) for point in points)
    efforts = _collect(points, "effort", len(names), where) if has_effort else None
    times = np.array([point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in points])
    if not np.all(np.diff(times) > 0.0) or times[0] < 0.0:
        raise FileFormatError(f"{where}: time_from_start of the points does not rise from 0 or more")
    stamp = message.header.stamp.sec * _SECOND + message.header.stamp.nanosec
    return Trajectory(names, times, JointPath(*parts.values()), efforts, stamp)


def _collect(points: Sequence[Any], kind: str, count: int, where: str) -> FloatArray:
    for number, point in enumerate(points):
        values = getattr(point, kind)
        if len(values) != count or not np.all(np.isfinite(values)):
            raise FileFormatError(
                f"{where}: {kind} of point {number} are {list(values)!r}, expected {count} finite numbers"
            )
    return np.array([getattr(point, kind) for point in points], dtype=np.float64)


def fill_message(trajectory: Trajectory, types: Any) -> Any:
    """The message, of the types of a library: a mapping of names such as those of rosbags to classes."""
    seconds, nanoseconds = divmod(trajectory.stamp, _SECOND)
    stamp = types["builtin_interfaces/msg/Time"](sec=seconds, nanosec=nanoseconds)
    efforts = np.empty((len(trajectory.times), 0)) if trajectory.efforts is None else trajectory.efforts
    points = []
    parts = (np.ascontiguousarray(part) for part in (*trajectory.path, efforts))
    for time, positions, velocities, accelerations, effort in zip(trajectory.times.tolist(), *parts, strict=True):
        sec, nanosec = divmod(round(time * 1e9), _SECOND)
        points.append(
            types["trajectory_msgs/msg/JointTrajectoryPoint"](
                positions=positions,
                velocities=velocities,
                accelerations=accelerations,
                effort=effort,
                time_from_start=types["builtin_interfaces/msg/Duration"](sec=sec, nanosec=nanosec),
            )
        )
    header = types["std_msgs/msg/Header"](stamp=stamp, frame_id="")
    return types[TYPE](header=header, joint_names=list(trajectory.joint_names), points=points)


# Files


def read_trajectory(path: Path) -> Trajectory:
    """Read a YAML or JSON file, a directory with one, or the last trajectory of a bag; InertidError if there is none.

    Points with positions, velocities, accelerations and time_from_start are needed.
    """
    path = path.expanduser()
    if path.is_dir() and (path / _YAML).is_file():
        path = path / _YAML
    if path.is_dir() or path.suffix in (".mcap", ".db3"):
        return _read_bag(path)
    section = read_mapping(path)
    section.value("joint_names", list)
    points = [_as_point(point, section, number) for number, point in enumerate(section.value("points", list))]
    stamp = ((section.content.get("header") or {}).get("stamp")) or {}
    header = SimpleNamespace(stamp=SimpleNamespace(sec=stamp.get("sec", 0), nanosec=stamp.get("nanosec", 0)))
    content = SimpleNamespace(header=header, joint_names=section.content["joint_names"], points=points)
    try:
        return parse_message(content, section.where)
    except (TypeError, ValueError):
        raise FileFormatError(f"{section.where} has points with entries that are not numbers") from None


def _as_point(point: Any, section: Section, number: int) -> Any:
    where = f"{section.where}, point {number}"
    if not isinstance(point, dict):
        raise FileFormatError(f"{where} is not a mapping")
    inner = Section(where, point)
    time = inner.section("time_from_start")
    kinds = {kind: point.get(kind) or [] for kind in ("positions", "velocities", "accelerations", "effort")}
    duration = SimpleNamespace(sec=time.number("sec"), nanosec=time.number("nanosec"))
    return SimpleNamespace(**kinds, time_from_start=duration)


def _read_bag(path: Path) -> Trajectory:
    with Bag(path) as bag:
        return find_trajectory(bag)


def find_trajectory(bag: Bag, topic: str = "") -> Trajectory:
    """The last trajectory that was recorded on a topic, by default on the one of this type, with its time as stamp.

    A trajectory without a stamp begins when it is received: its stamp is the time of recording.
    FileFormatError if there is none.
    """
    topics = [topic] if topic else [name for name, info in bag.topics.items() if info.kind == TYPE]
    messages = [item for block in bag.blocks(topics, 1000) for item in block.list_messages()] if topics else []
    if not messages:
        raise FileFormatError(f"'{bag.path}' has no {TYPE}{' on ' + topic if topic else ''}: record it as well")
    name, time, data = messages[-1]
    store = get_typestore(Stores.ROS2_JAZZY)
    found = parse_message(store.deserialize_cdr(data, TYPE), f"'{bag.path}', {name}")
    return found if found.stamp else replace(found, stamp=time)


def prepare_directory(directory: Path) -> None:
    """Create the directory before the long search; FileAccessError if it cannot be written to or has a trajectory."""
    for taken in (directory / _CSV, directory / _YAML, directory / _BAG):
        if taken.exists():
            raise FileAccessError(f"'{taken}' already exists: choose another directory, or move it away")
    make_directory(directory)


def write_trajectory(directory: Path, trajectory: Trajectory, deviations: FloatArray | None = None) -> tuple[Path, ...]:
    """Write CSV, YAML and bag into a prepared directory, and return their paths; FileAccessError if that fails.

    The columns of the CSV are time, then positions, velocities and accelerations of all joints, then their efforts and
    the standard deviations (N, n) of these, as far as there are any. A message has no place for the last.
    """
    table, text, bag = directory / _CSV, directory / _YAML, directory / _BAG
    try:
        write_whole(table, _format_csv(trajectory, deviations))
        write_yaml(text, [(f'{TYPE}: ros2 topic pub --once {TOPIC} {TYPE} "$(cat {_YAML})"', _list(trajectory))])
        _write_bag(bag, trajectory)
    except (OSError, WriterError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise FileAccessError(f"'{directory}' cannot be written to: {reason}; choose another one with -o") from None
    return table, text, bag


def _format_csv(trajectory: Trajectory, deviations: FloatArray | None) -> str:
    parts = {
        "position": trajectory.path.positions,
        "velocity": trajectory.path.velocities,
        "acceleration": trajectory.path.accelerations,
        "effort": trajectory.efforts,
        "effort deviation": deviations,
    }
    kept = {kind: values for kind, values in parts.items() if values is not None}
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(["time", *(f"{name} {kind}" for kind in kept for name in trajectory.joint_names)])
    writer.writerows(np.column_stack([trajectory.times, *kept.values()]).tolist())
    return stream.getvalue()


def _list(trajectory: Trajectory) -> dict[str, Any]:
    """The message as a mapping."""
    return dict(_unfold(fill_message(trajectory, _Plain())))


class _Plain:
    """Stands in for the types of a library."""

    def __getitem__(self, _: str) -> type[SimpleNamespace]:
        return SimpleNamespace


def _unfold(value: Any) -> Any:
    if isinstance(value, SimpleNamespace):
        return {name: _unfold(item) for name, item in vars(value).items()}
    if isinstance(value, list):
        return [_unfold(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def _write_bag(folder: Path, trajectory: Trajectory) -> None:
    store = get_typestore(Stores.ROS2_JAZZY)
    message = fill_message(trajectory, store.types)
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection(TOPIC, TYPE, typestore=store)
        writer.write(connection, 0, store.serialize_cdr(message, TYPE))
