"""The surroundings of an arm as its user states them: floor, boxes to keep out of, a tool, and pairs that may touch.

A file says it in metres and radians; every entry may be left out:

    keep_out:                       # in the root frame
      table: {box: [0.8, 1.2, 0.05], center: [0.7, 0.0, -0.03], rpy: [0, 0, 0]}
    tool:                           # in a frame of the arm, by default the one at its end
      gripper: {cylinder: [0.06, 0.2], center: [0, 0, 0.1], frame: ft_sensor}
    ignore_pairs: [[link4, link6]]  # links by name, also keep_out, tool and 'mounting plane'

A shape is a box (three lengths), a cylinder along z (radius and length) or a sphere (radius).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import FileFormatError, SettingError, UnknownFrameError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.document import Section, read_mapping
from inertid_ros.motions.bodies import Body, Geometry, coal, make_body
from inertid_ros.motions.distances import SELF, Plane
from inertid_ros.motions.motion import Motion
from inertid_ros.motions.multisine import JointLimits
from inertid_ros.motions.placement import Kinematics
from inertid_ros.motions.safety import SafetyCheck, SafeVolume, UnsafeMotionError

MOUNT, NONE = "mount", "none"
"""Floors that are not a height: the plane on which the base is mounted, and no floor at all."""
MOUNTING_PLANE = "mounting plane"

_SHAPES = {"box": (coal.Box, 3), "cylinder": (coal.Cylinder, 2), "sphere": (coal.Sphere, 1)}
_POINT = 1e-6
"""Radius [m] of the sphere that stands for a frame at the end of the arm."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """What is stated of the surroundings.

    Attributes:
        floors: MOUNT, or heights [m] above the root's origin, against gravity; empty for none.
        file: a YAML file with boxes, tools and pairs, or None.
        packages: directories in which packages with meshes are looked for.
        rest: where joints are that the motion does not move, if not at zero [rad or m].
        margin, self_margin: [m] to the surroundings and between links.
        speed: [m/s] of the fastest point.
        unchecked: whether links that cannot be checked are accepted.
    """

    floors: tuple[str | float, ...] = (MOUNT,)
    file: Path | None = None
    packages: tuple[Path, ...] = ()
    rest: Mapping[str, float] = field(default_factory=dict)
    margin: float = 0.03
    self_margin: float = 0.01
    speed: float = np.inf
    unchecked: bool = False

    def make_check(
        self, robot: Robot, urdf: tuple[Path, str], moved: Sequence[str], gravity: FloatArray, limits: JointLimits
    ) -> tuple[SafetyCheck, tuple[str, ...]]:
        """Set up the check of motions of some joints, and say what it cannot see.

        Args:
            robot: made of the URDF.
            urdf: its file and its text.
            moved: names of the joints that move, in the order of the limits.
            gravity: (3,) in the root frame [m/s²].
            limits: of those joints.

        UnsafeMotionError if something cannot be checked and that is not accepted, or if nothing can be safe.
        """
        file, text = urdf
        geometry = Geometry.of_urdf(text, robot.model, file, self.packages)
        kinematics = Kinematics(robot, text, moved, self.rest)
        unseen = _list_unseen(robot, geometry, kinematics)
        if unseen and not self.unchecked:
            raise UnsafeMotionError(
                f"the motion cannot be checked for collisions: {'; '.join(unseen)}. Give each link a simple "
                "<collision> (cylinder, box, sphere), or accept with --unchecked that these are not checked"
            )
        section = None if self.file is None else read_mapping(self.file)
        tips = _find_tips(robot.model, kinematics, geometry.bodies)
        boxes, tools, ignored = _read_file(section, robot.model, _find_end(robot.model, moved[-1]))
        bodies = (*geometry.bodies, *tools, *tips)
        planes = tuple(self._make_plane(floor, geometry.bodies, gravity) for floor in self.floors)
        known = [*(body.name for body in (*bodies, *boxes)), *(plane.name for plane in planes)]
        _check_names(section, ignored, [*known, *robot.frame_names])
        volume = SafeVolume(planes, boxes, ignored, self.margin, self.self_margin, self.speed)
        return SafetyCheck(kinematics, bodies, volume, limits), tuple(unseen)

    def _make_plane(self, floor: str | float, bodies: Sequence[Body], gravity: FloatArray) -> Plane:
        """The plane on which the base stands, through its lowest point along z of the root frame; or a level one."""
        if not isinstance(floor, str):
            size = float(np.linalg.norm(gravity))
            if size == 0.0:
                raise SettingError("--floor", floor, f"{MOUNT} or {NONE} where there is no gravity")
            return Plane(f"floor at {floor:g} m", -gravity / size, floor)
        lows = [float(body.points[:, 2].min()) - body.radius for body in bodies if body.joint == 0]
        return Plane(MOUNTING_PLANE, np.array([0.0, 0.0, 1.0]), min(lows, default=0.0))


def read_floors(words: Sequence[str]) -> tuple[str | float, ...]:
    """Read floors from words: `mount`, `none` or heights; SettingError if one is none of these."""
    floors: list[str | float] = []
    for word in words:
        if word in (MOUNT, NONE):
            floors.append(word)
            continue
        try:
            floors.append(float(word))
        except ValueError:
            raise SettingError("--floor", word, f"{MOUNT}, {NONE} or a height in m") from None
        if not np.isfinite(floors[-1]):
            raise SettingError("--floor", word, "a finite height in m")
    if NONE in floors and len(floors) > 1:
        raise SettingError("--floor", " ".join(words), f"{NONE} alone")
    return tuple(floor for floor in floors if floor != NONE)


def describe_safety(safety: SafetyCheck, motion: Motion, gravity: FloatArray, unseen: Sequence[str]) -> list[str]:
    """The smallest distances, the lowest and the fastest point of a whole motion, and what was not checked."""
    volume, size = safety.volume, float(np.linalg.norm(gravity))
    up = -gravity / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
    extremes = safety.find_extremes(motion, up)
    lines = []
    for found in safety.find_closest(motion):
        margin = volume.self_margin if found.kind == SELF else volume.margin
        lines.append(
            f"smallest distance ({found.kind}): {found.distance:.3f} m between '{found.first}' and '{found.second}' "
            f"after {found.time:.1f} s; the margin is {margin:g} m"
        )
    neutral = sorted({f"'{found.first}' and '{found.second}'" for found in safety.list_neutral()})
    if neutral:
        lines.append(f"too close where all joints are zero, but kept apart in this motion: {'; '.join(neutral)}")
    if not volume.planes:
        lines.append("NOT CHECKED: the floor, as asked for by --floor none")
    lines += [f"NOT CHECKED: {text}" for text in unseen]
    limit = f" of {volume.speed:g}" if np.isfinite(volume.speed) else ""
    low, fast = f"{extremes.lowest_time:.1f} s", f"{extremes.fastest_time:.1f} s"
    return [
        *lines,
        f"lowest point: {extremes.height:.3f} m above the root's origin ('{extremes.lowest}', after {low})",
        f"fastest point: {extremes.speed:.2f}{limit} m/s ('{extremes.fastest}', after {fast})",
    ]


def _list_unseen(robot: Robot, geometry: Geometry, kinematics: Kinematics) -> list[str]:
    """Sentences that name what moves and cannot be checked."""
    moving = kinematics.carried
    model = robot.model
    bare = [
        f"'{name}'"
        for name in geometry.bare
        if moving[model.frames[model.getFrameId(name, pin.FrameType.BODY)].parentJoint]
    ]
    unseen = list(geometry.missing)
    if bare:
        unseen.append(f"no collision geometry in the robot description for {', '.join(bare)}")
    elif not unseen and not any(moving[body.joint] for body in geometry.bodies):
        unseen.append("the robot description has no collision geometry for anything that moves")
    return unseen


def _find_tips(model: pin.Model, kinematics: Kinematics, bodies: Sequence[Body]) -> tuple[Body, ...]:
    """The frames at the end of an arm, as points, where nothing says how large it is there."""
    moving = kinematics.carried
    taken = {kinematics.parents[joint] for joint in range(kinematics.count) if kinematics.moving[joint]}
    taken |= {body.joint for body in bodies}
    frames = [
        frame
        for frame in model.frames
        if frame.type == pin.FrameType.BODY and moving[frame.parentJoint] and frame.parentJoint not in taken
    ]
    return tuple(
        make_body(frame.name, int(frame.parentJoint), frame.placement, coal.Sphere(_POINT)) for frame in frames
    )


def _read_file(
    section: Section | None, model: pin.Model, end: str
) -> tuple[tuple[Body, ...], tuple[Body, ...], frozenset[frozenset[str]]]:
    """Bodies of the surroundings, bodies of the tool, and pairs of names."""
    if section is None:
        return (), (), frozenset()
    for key in section.content:
        if key not in ("keep_out", "tool", "ignore_pairs"):
            raise FileFormatError(f"{section.where}: '{key}' is none of keep_out, tool, ignore_pairs")
    boxes, tools = [], []
    for name, part in _list_parts(section, "keep_out"):
        placement, shape = _read_shape(part, ())
        boxes.append(make_body(name, 0, placement, shape))
    for name, part in _list_parts(section, "tool"):
        joint, frame = _find_frame(part, model, end)
        placement, shape = _read_shape(part, ("frame",))
        tools.append(make_body(name, joint, frame * placement, shape))
    listed = section.value("ignore_pairs", list) if "ignore_pairs" in section.content else []
    for pair in listed:
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise FileFormatError(f"{section.where}, ignore_pairs: {pair!r} is not a list of two names")
    return tuple(boxes), tuple(tools), frozenset(frozenset(pair) for pair in listed)


def _find_end(model: pin.Model, joint: str) -> str:
    """The last frame that a joint moves: of an arm's last joint, its flange, sensor or tool frame."""
    index = model.getJointId(joint)
    names = [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY and frame.parentJoint == index]
    return str(names[-1])


def _list_parts(section: Section, name: str) -> list[tuple[str, Section]]:
    if name not in section.content:
        return []
    inner = section.section(name)
    return [(str(key), inner.section(key)) for key in inner.content]


def _find_frame(section: Section, model: pin.Model, end: str) -> tuple[int, pin.SE3]:
    """The joint that carries the frame of a tool, and its placement there."""
    bodies = [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY]
    name = section.value("frame", str) if "frame" in section.content else end
    if name not in bodies:
        raise UnknownFrameError(name, bodies)
    frame = model.frames[model.getFrameId(name, pin.FrameType.BODY)]
    return int(frame.parentJoint), frame.placement


def _read_shape(section: Section, others: tuple[str, ...]) -> tuple[pin.SE3, Any]:
    """Placement and shape of an entry of the file."""
    kinds = [key for key in section.content if key in _SHAPES]
    for key in section.content:
        if key not in ("center", "rpy", *_SHAPES, *others):
            raise FileFormatError(
                f"{section.where}: '{key}' is none of {', '.join((*_SHAPES, 'center', 'rpy', *others))}"
            )
    if len(kinds) != 1:
        raise FileFormatError(f"{section.where} needs one of {', '.join(_SHAPES)}")
    make, count = _SHAPES[kinds[0]]
    sizes = np.atleast_1d(section.numbers(kinds[0], (count,) if count > 1 else ()))
    if not np.all(sizes > 0.0):
        raise FileFormatError(f"{section.where}: '{kinds[0]}' is {sizes.tolist()}, not lengths above 0")
    center, rpy = (section.numbers(key, (3,)) if key in section.content else np.zeros(3) for key in ("center", "rpy"))
    return pin.SE3(pin.rpy.rpyToMatrix(rpy), center), make(*sizes.tolist())


def _check_names(section: Section | None, ignored: frozenset[frozenset[str]], known: Sequence[str]) -> None:
    for name in sorted({name for pair in ignored for name in pair}):
        if section is not None and name not in known:
            raise FileFormatError(
                f"{section.where}, ignore_pairs: nothing is called '{name}'; there are: {', '.join(sorted(set(known)))}"
            )
