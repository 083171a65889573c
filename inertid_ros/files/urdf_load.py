"""What a URDF says hangs on the sensor: the links that are fixed to its frame, further out."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import change_frame, compose


def find_urdf_load(text: str, frame: str) -> FloatArray | None:
    """Parameters (10,) of the link `frame` and all that is fixed to it, in its frame; None if they have no mass."""
    root = ElementTree.fromstring(text)
    inertials = {link.get("name", ""): link.find("inertial") for link in root.iter("link")}
    total = np.zeros(10)
    waiting: list[tuple[str, FloatArray, FloatArray]] = [(frame, np.eye(3), np.zeros(3))]
    while waiting:
        name, rotation, translation = waiting.pop()
        inertial = inertials.get(name)
        if inertial is not None:
            total += change_frame(read_inertial(inertial), rotation, translation)
        for joint in root.findall("joint"):
            parent, child = joint.find("parent"), joint.find("child")
            if parent is None or child is None or parent.get("link") != name or joint.get("type") != "fixed":
                continue
            turn, offset = _read_origin(joint)
            waiting.append((child.get("link", ""), rotation @ turn, translation + rotation @ offset))
    return total if total[0] > 0.0 else None


def read_inertial(inertial: ElementTree.Element) -> FloatArray:
    """Parameters (10,) that an <inertial> element gives, in the frame of its link; zeros where it gives none."""
    rotation, com = _read_origin(inertial)
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        return np.zeros(10)
    xx, xy, xz, yy, yz, zz = (float(inertia.get(name, "0")) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    turned = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
    return compose(float(mass.get("value", "0")), com, turned)


def _read_origin(element: ElementTree.Element) -> tuple[FloatArray, FloatArray]:
    """Rotation (3, 3) and translation (3,) of an element's <origin>."""
    origin = element.find("origin")
    if origin is None:
        return np.eye(3), np.zeros(3)
    angles, offset = (np.array([float(part) for part in origin.get(name, "0 0 0").split()]) for name in ("rpy", "xyz"))
    return np.asarray(pin.rpy.rpyToMatrix(angles)), offset
