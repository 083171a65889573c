"""The volumes of a robot: the collision geometry of its URDF, and those that are added to it, as shapes of coal.

A volume is a primitive or a mesh. Of a mesh the convex hull is kept too: it is as low and as fast as the mesh, its
distance to anything is a lower bound of the mesh's, and it is far quicker to compute.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import FileAccessError, RobotDescriptionError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import parse_urdf

coal = pin.coal

_SIDES = 24
"""Of the prism around a cylinder, whose corners stand for its rim: they are 0.9 % further out."""


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A volume that is fixed to a joint.

    Attributes:
        name: that of its link, or of what was added.
        joint: index of the joint that carries it in pinocchio's model, 0 if nothing moves it.
        placement: of the shapes, in the frame of that joint.
        solid: convex shape of coal, the hull of a mesh.
        mesh: the mesh itself, if it is one.
        points: (P, 3) [m] in the frame of that joint; the body lies in their convex hull, enlarged by `radius` [m].
        center, reach: a sphere around the body, in the frame of that joint [m].
        tip: the point farthest from the joint's origin.
        corners: the points, or the corners of a box around them if they are many.
    """

    name: str
    joint: int
    placement: pin.SE3
    solid: Any
    mesh: Any
    points: FloatArray
    radius: float = 0.0
    center: FloatArray = field(init=False)
    reach: float = field(init=False)
    tip: FloatArray = field(init=False)
    corners: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        """Find the sphere and the box around all points, and the farthest point."""
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        box = np.array(np.meshgrid(*np.column_stack([low, high]))).reshape(3, 8).T
        object.__setattr__(self, "corners", self.points if len(self.points) <= 2 * _SIDES else box)
        object.__setattr__(self, "tip", self.points[np.argmax(np.linalg.norm(self.points, axis=1))])
        center = (low + high) / 2.0
        object.__setattr__(self, "center", center)
        reach = float(np.linalg.norm(self.points - center, axis=1).max()) + self.radius
        object.__setattr__(self, "reach", reach)


def make_body(name: str, joint: int, placement: pin.SE3, shape: Any) -> Body:
    """Make a body of a shape of coal: box, sphere, capsule, cylinder or mesh."""
    mesh, radius = None, 0.0
    if isinstance(shape, coal.Box):
        points = shape.halfSide * np.array(np.meshgrid(*3 * [[-1.0, 1.0]])).reshape(3, 8).T
    elif isinstance(shape, coal.Sphere):
        points, radius = np.zeros((1, 3)), float(shape.radius)
    elif isinstance(shape, coal.Capsule):
        points, radius = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]) * shape.halfLength, float(shape.radius)
    elif isinstance(shape, coal.Cylinder):
        angles = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
        rim = shape.radius / np.cos(np.pi / _SIDES) * np.column_stack([np.cos(angles), np.sin(angles)])
        points = np.vstack([np.pad(rim, ((0, 0), (0, 1)), constant_values=z) for z in (-1.0, 1.0)])
        points[:, 2] *= shape.halfLength
    else:
        shape.buildConvexHull(True, "Qt")
        mesh, shape = shape, shape.convex
        points = np.array(shape.points())
    return Body(name, joint, placement, shape, mesh, points @ placement.rotation.T + placement.translation, radius)


@dataclass(frozen=True, slots=True)
class Geometry:
    """The volumes of a URDF, and what is not among them.

    Attributes:
        bodies: all collision elements that could be read.
        missing: sentences that name the meshes that could not.
        bare: links that a joint moves and that have a mass or something to see, but no collision geometry.
    """

    bodies: tuple[Body, ...]
    missing: tuple[str, ...]
    bare: tuple[str, ...]

    @classmethod
    def of_urdf(cls, text: str, model: pin.Model, file: Path, packages: Sequence[Path] = ()) -> Geometry:
        """Read the collision geometry of a URDF that a model was made of.

        Args:
            text: the URDF.
            model: pinocchio's, with a frame for each link.
            file: where the text is from; paths of meshes are relative to it.
            packages: directories in which packages are looked for first.
        """
        finder = MeshFinder(file, packages)
        bodies: list[Body] = []
        missing: list[str] = []
        parts: dict[int, list[ElementTree.Element]] = {}
        for link in parse_urdf(text).findall("link"):
            name = link.get("name", "")
            frame = model.frames[model.getFrameId(name, pin.FrameType.BODY)]
            parts.setdefault(frame.parentJoint, []).append(link)
            for element in link.findall("collision"):
                try:
                    shape = read_shape(element, name, finder)
                except FileAccessError as error:
                    missing.append(str(error))
                    continue
                placement = frame.placement * read_placement(element.find("origin"))
                bodies.append(make_body(name, frame.parentJoint, placement, shape))
        return cls(tuple(bodies), tuple(missing), tuple(_find_bare(parts)))


def read_placement(origin: ElementTree.Element | Mapping[str, str] | None) -> pin.SE3:
    """Placement of an <origin>, which may be missing."""
    xyz, rpy = ("0 0 0", "0 0 0") if origin is None else (origin.get("xyz", "0 0 0"), origin.get("rpy", "0 0 0"))
    angles, place = (np.array([float(part) for part in text.split()]) for text in (rpy, xyz))
    return pin.SE3(pin.rpy.rpyToMatrix(angles), place)


def _find_bare(parts: Mapping[int, Sequence[ElementTree.Element]]) -> Iterator[str]:
    """Names of what joints move that must take up room, but for which nothing says how much."""
    for joint, links in parts.items():
        if joint == 0 or any(link.find("collision") is not None for link in links):
            continue
        for link in links:
            mass = link.find("inertial/mass")
            if link.find("visual") is not None or (mass is not None and float(mass.get("value", "0")) > 0.0):
                yield link.get("name", "")
                break


def read_shape(element: ElementTree.Element, link: str, finder: MeshFinder) -> Any:
    """The shape of a <collision> or <visual>; FileAccessError if its mesh cannot be read."""
    shape = element.find("geometry/*")
    where = f"the {element.tag} geometry of link '{link}'"
    if shape is None:
        raise RobotDescriptionError(f"{where} is empty: give it a box, cylinder, sphere or mesh")
    try:
        if shape.tag == "box":
            return coal.Box(*(float(part) for part in shape.attrib["size"].split()))
        if shape.tag == "sphere":
            return coal.Sphere(float(shape.attrib["radius"]))
        if shape.tag in ("cylinder", "capsule"):
            kind = coal.Cylinder if shape.tag == "cylinder" else coal.Capsule
            return kind(float(shape.attrib["radius"]), float(shape.attrib["length"]))
        if shape.tag == "mesh":
            scale = np.array([float(part) for part in shape.get("scale", "1 1 1").split()])
            return finder.load(shape.attrib["filename"], scale, link)
    except (KeyError, ValueError, TypeError):
        text = ElementTree.tostring(shape, encoding="unicode").strip()
        raise RobotDescriptionError(f"{where} cannot be used: {text}") from None
    raise RobotDescriptionError(f"{where} is a <{shape.tag}>: only box, cylinder, capsule, sphere and mesh are known")


class MeshFinder:
    """Finds and reads meshes."""

    def __init__(self, file: Path, packages: Sequence[Path]) -> None:
        """Look for packages in directories, then in the ROS workspaces that are sourced, then above the URDF."""
        self._folder = file.expanduser().resolve().parent
        prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
        sourced = [Path(prefix, "share") for prefix in prefixes if prefix]
        sourced += [Path(path) for path in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if path]
        self._roots = [*packages, *sourced]

    def load(self, uri: str, scale: FloatArray, link: str) -> Any:
        """Read a mesh with the hierarchy of volumes around its triangles; FileAccessError if that fails."""
        what = f"mesh '{uri}' of link '{link}'"
        path = self._find(uri, what)
        try:
            mesh = coal.MeshLoader(coal.BV_OBBRSS).load(str(path), scale)
        except (RuntimeError, ValueError) as error:
            reason = str(error).strip().splitlines()[-1]
            raise FileAccessError(f"{what} cannot be read from '{path}': {reason}") from None
        if mesh.num_vertices < 4:
            raise FileAccessError(f"{what} in '{path}' has no volume")
        return mesh

    def _find(self, uri: str, what: str) -> Path:
        parts = urlparse(uri)
        if parts.scheme not in ("package", "model"):
            path = self._folder / unquote(parts.path if parts.scheme == "file" else uri)
            if path.is_file():
                return path
            raise FileAccessError(f"{what} is not found: there is no file '{path}'")
        below = unquote(parts.path).lstrip("/")
        above = list(self._folder.parents)
        places = [root / parts.netloc / below for root in (*self._roots, *above)]
        # A folder in which the URDF lies may be the package itself, under whatever name it was checked out.
        places += [root / below for root in above]
        for path in places:
            if path.is_file():
                return path
        raise FileAccessError(
            f"{what} is not found: name the directory that contains '{parts.netloc}' with --packages, "
            "or source the workspace it is in"
        )
