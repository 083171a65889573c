"""What a robot looks like: the geometry of its URDF as triangles, and where its joints carry it.

Of each link what is to be seen is taken, else its collision geometry; where a joint carries neither, the ellipsoid of
its inertia stands for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import InertidError
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.description import equivalent_semi_axes, find_principal_axes
from inertid_ros.core.robot.robot import Robot, parse_urdf
from inertid_ros.motions.bodies import MeshFinder, coal, read_placement, read_shape

Colour = tuple[int, int, int]
"""Red, green, blue, 0 to 255."""

_GREY: Colour = (190, 194, 200)
"""Of what has no colour in the URDF."""
_SECTORS = 28
"""Of what is round."""


class Part(NamedTuple):
    """A surface that a joint carries.

    Attributes:
        name: unique.
        joint: index of the joint in pinocchio's model, 0 if nothing moves it.
        placement: in the frame of that joint.
        points, faces: (P, 3) [m] in its own frame, and (T, 3) triangles of them.
        colour: of all of it.
    """

    name: str
    joint: int
    placement: pin.SE3
    points: FloatArray
    faces: IntArray
    colour: Colour


class Shape(NamedTuple):
    """The parts of a robot, and sentences that name what could not be read."""

    parts: tuple[Part, ...]
    missing: tuple[str, ...]


class Kinematics:
    """Where the joints and frames of a robot are."""

    def __init__(self, robot: Robot) -> None:
        """Begin with all joints at zero."""
        self._model, self._data = robot.model, robot.model.createData()
        self._frames = {frame.name: frame for frame in robot.model.frames if frame.type == pin.FrameType.BODY}
        self.move({})

    def move(self, joints: Mapping[str, float]) -> None:
        """Move joints, by name, to positions [rad or m]; all others to zero."""
        positions = pin.neutral(self._model)
        for index, joint in enumerate(self._model.joints):
            if index and joint.nq == 1:
                positions[joint.idx_q] = joints.get(self._model.names[index], 0.0)
        pin.forwardKinematics(self._model, self._data, positions)

    @property
    def joints(self) -> list[pin.SE3]:
        """Of each joint in the root frame; the first one is the root itself."""
        return list(self._data.oMi)

    @property
    def steps(self) -> list[pin.SE3]:
        """Of each joint in the frame of the one that carries it, but of the first."""
        return list(self._data.liMi)[1:]

    @cached_property
    def paths(self) -> list[str]:
        """Each joint with those that carry it: `/0/1/2`."""
        paths = ["/0"]
        for index in range(1, self._model.njoints):
            paths.append(f"{paths[self._model.parents[index]]}/{index}")
        return paths

    def find(self, name: str) -> pin.SE3 | None:
        """Placement of a frame in the root frame; None if there is no such frame."""
        frame = self._frames.get(name)
        return None if frame is None else self._data.oMi[frame.parentJoint] * frame.placement


def list_parts(text: str, robot: Robot, file: Path) -> Shape:
    """Read what a robot looks like from its URDF; paths of meshes are relative to a file."""
    root, model, finder = parse_urdf(text), robot.model, MeshFinder(file, ())
    colours = {item.get("name", ""): _read_colour(item, {}) for item in root.findall("material")}
    parts: list[Part] = []
    missing: list[str] = []
    for link in root.findall("link"):
        name = link.get("name", "")
        frame = model.frames[model.getFrameId(name, pin.FrameType.BODY)]
        for kind in ("visual", "collision"):
            before = len(parts)
            for number, element in enumerate(link.findall(kind)):
                try:
                    points, faces = triangulate(read_shape(element, name, finder))
                except InertidError as error:
                    missing.append(str(error))
                    continue
                placement = frame.placement * read_placement(element.find("origin"))
                colour = _read_colour(element.find("material"), colours)
                parts.append(Part(f"{name}_{number}", frame.parentJoint, placement, points, faces, colour))
            if len(parts) > before:
                break
    parts += _draw_inertias(model, {part.joint for part in parts})
    return Shape(tuple(parts), tuple(dict.fromkeys(missing)))


def find_bounds(shape: Shape, joints: Sequence[pin.SE3]) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest coordinates (3,) [m] of a robot in the root frame; a metre around it where there is none."""
    if not shape.parts:
        return -np.ones(3), np.ones(3)
    placed = [(joints[part.joint] * part.placement, part.points) for part in shape.parts]
    points = np.concatenate([points @ place.rotation.T + place.translation for place, points in placed])
    return points.min(axis=0), points.max(axis=0)


def _read_colour(material: ElementTree.Element | None, named: Mapping[str, Colour]) -> Colour:
    if material is None:
        return _GREY
    colour = material.find("color")
    if colour is None:
        return named.get(material.get("name", ""), _GREY)
    red, green, blue = (round(255 * float(part)) for part in colour.get("rgba", "0.75 0.76 0.78 1").split()[:3])
    return red, green, blue


def _draw_inertias(model: pin.Model, drawn: set[int]) -> Iterator[Part]:
    """The inertias of what joints carry that has no geometry at all."""
    sphere, faces = revolve(_make_arc(1.0))
    for joint in range(1, model.njoints):
        inertia = model.inertias[joint]
        if joint in drawn or not inertia.mass > 0.0:
            continue
        moments, axes = find_principal_axes(np.array(inertia.inertia))
        points = sphere * equivalent_semi_axes(inertia.mass, moments)
        yield Part(f"{model.names[joint]}_inertia", joint, pin.SE3(axes, inertia.lever), points, faces, _GREY)


def triangulate(shape: Any) -> tuple[FloatArray, IntArray]:
    """Points (P, 3) [m] and triangles (T, 3) of a shape of coal: box, sphere, capsule, cylinder or mesh."""
    if isinstance(shape, coal.Box):
        corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
        return corners * shape.halfSide, _BOX
    if isinstance(shape, coal.Sphere):
        return revolve(_make_arc(shape.radius))
    if isinstance(shape, coal.Capsule):
        arc = _make_arc(shape.radius)
        return revolve(arc + np.where(arc[:, 1:] > 0.0, 1.0, -1.0) * [0.0, shape.halfLength])
    if isinstance(shape, coal.Cylinder):
        rim = np.array([[0.0, -1.0], [1.0, -1.0], [1.0, 1.0], [0.0, 1.0]])
        return revolve(rim * [shape.radius, shape.halfLength])
    faces = np.array(
        [[triangle[0], triangle[1], triangle[2]] for triangle in map(shape.tri_indices, range(shape.num_tris))]
    )
    return np.array(shape.vertices()), faces


def revolve(profile: FloatArray) -> tuple[FloatArray, IntArray]:
    """Points and triangles of what a profile (R, 2) of distances from the z axis and heights [m] becomes around it."""
    angles = 2.0 * np.pi * np.arange(_SECTORS) / _SECTORS
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    rings = [np.column_stack([radius * circle, np.full(_SECTORS, height)]) for radius, height in profile.tolist()]
    here = np.arange((len(rings) - 1) * _SECTORS).reshape(-1, _SECTORS)
    beside = np.roll(here, -1, axis=1)
    quads = np.stack([here, beside, beside + _SECTORS, here + _SECTORS], axis=-1).reshape(-1, 4)
    return np.concatenate(rings), np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def _make_arc(radius: float) -> FloatArray:
    """Profile of a sphere from below; an even number of points, so that a capsule can be cut at its equator."""
    angles = np.linspace(-0.5, 0.5, 14) * np.pi
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


_BOX = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip
