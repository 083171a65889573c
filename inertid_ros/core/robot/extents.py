"""How far a link extends, as far as a URDF tells: a box around its joints and shapes.

Shapes are the primitives of its collision or visual geometry; meshes are files of their own and are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from inertid_ros.core.records import FloatArray

_COVERS = 0.05
"""How far [m] a link may stand out of its shapes: covers, connectors and cables that a URDF leaves out."""
_THICK = 0.15
"""How far [m] a link may stand out of its joints where no shape is known: the thickest usual arms are 0.3 m thick."""
_CARRIED = 0.3
"""How far [m] a link that carries no joint may stand out: it often has a gripper that is not in the URDF."""
_MASSLESS = 1e-3
"""Mass [kg] below which a URDF's link is a placeholder whose centre of mass says nothing."""


def read_corners(root: ElementTree.Element) -> dict[str, FloatArray]:
    """Corners (P, 3) [m] of the boxes around the shapes of each link, in its frame; without links that have a mesh.

    Those of the collision geometry, or of what is visual where there is none.
    """
    found = {}
    for link in root.iter("link"):
        elements = link.findall("collision") or link.findall("visual")
        parts = [_list_corners(element) for element in elements]
        if parts and all(len(part) for part in parts):
            found[link.get("name", "")] = np.concatenate(parts)
    return found


def _list_corners(element: ElementTree.Element) -> FloatArray:
    """Corners (8, 3) of the box around a shape; none if its size is not in the URDF, or cannot be read."""
    shape, origin = element.find("geometry/*"), element.find("origin")
    given = {} if origin is None else origin.attrib
    try:
        if shape is None or shape.tag == "mesh":
            return np.empty((0, 3))
        if shape.tag == "box":
            half = 0.5 * np.array([float(part) for part in shape.attrib["size"].split()])
        else:
            radius, length = float(shape.attrib["radius"]), float(shape.get("length", "0"))
            ends = 0.0 if shape.tag == "cylinder" else radius
            half = np.array([radius, radius, 0.5 * length + ends])
        angles, place = (
            np.array([float(part) for part in given.get(name, "0 0 0").split()]) for name in ("rpy", "xyz")
        )
        corners = half * np.array(list(product((-1.0, 1.0), repeat=3)))
        return np.asarray(corners @ pin.rpy.rpyToMatrix(angles).T + place)
    except (KeyError, ValueError):
        return np.empty((0, 3))


def find_boxes(model: pin.Model, corners: Mapping[str, FloatArray]) -> FloatArray:
    """(n, 2, 3) centre and half size [m] of a box around each link of a model, with what is fixed to it, in its frame.

    It holds the link's joint, those that it carries, the URDF's centre of mass and the shapes, and some room.
    """
    boxes = np.empty((model.njoints - 1, 2, 3))
    links = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
    for joint in range(1, model.njoints):
        carried = [model.jointPlacements[child].translation for child in model.children[joint]]
        shapes = [
            corners[frame.name] @ frame.placement.rotation.T + frame.placement.translation
            for frame in links
            if frame.parentJoint == joint and frame.name in corners
        ]
        inertia = model.inertias[joint]
        own = [inertia.lever] if inertia.mass > _MASSLESS else []
        points = np.concatenate([np.zeros((1, 3)), *(np.atleast_2d(point) for point in (*carried, *own)), *shapes])
        room = _CARRIED if not carried else _COVERS if shapes else _THICK
        low, high = points.min(axis=0) - room, points.max(axis=0) + room
        boxes[joint - 1] = 0.5 * (low + high), 0.5 * (high - low)
    return boxes
