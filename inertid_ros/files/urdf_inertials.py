"""The inertial parameters of a URDF: those of a load fixed to the sensor frame, and an identified arm written back.

An exported URDF differs in <inertial> and <dynamics> only. What was identified as a link is the link with everything
fixed to it. The fixed links keep what the URDF gives them and the link gets the rest; where that rest is not a feasible
body, the fixed links are made lighter until it is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import NotIdentifiedError, RobotDescriptionError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.feasible_links import is_at_bound, make_plausible
from inertid_ros.core.rigid_body.inertial import change_frame, compose, decompose, is_feasible, to_pinocchio
from inertid_ros.core.rigid_body.link_box import is_at_side, widen_box
from inertid_ros.core.robot.robot import ArmModel, Robot, parse_urdf
from inertid_ros.files.urdf import UrdfText, make_tag

TOLERANCE = 1e-9
"""Largest difference between the torques of the estimate and of the URDF, as a part of the joint's largest one."""

_GRAVITY = np.array([0.0, 0.0, -9.81])
_STATES = 50
_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_FRICTION = {"damping": "viscous", "friction": "coulomb"}
"""Attributes of <dynamics>, and what they are called here."""


Drives = Mapping[str, Mapping[str, float]]
"""For each joint what was identified of viscous [Nm s, N s/m], coulomb, offset [Nm, N] and rotor_inertia [kg m²]."""


@dataclass(frozen=True, slots=True)
class ExportedUrdf:
    """The text, and what a reader of it should know, one line each."""

    text: str
    notes: tuple[str, ...]


def find_urdf_load(text: str, frame: str) -> FloatArray | None:
    """Parameters (10,) of the link `frame` and all that is fixed to it, in its frame; None if they have no mass."""
    root = parse_urdf(text)
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
    xx, xy, xz, yy, yz, zz = (float(inertia.get(name, "0")) for name in _INERTIA)
    turned = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
    return compose(float(mass.get("value", "0")), com, turned)


def _read_origin(element: ElementTree.Element) -> tuple[FloatArray, FloatArray]:
    """Rotation (3, 3) and translation (3,) of an element's <origin>."""
    origin = element.find("origin")
    if origin is None:
        return np.eye(3), np.zeros(3)
    angles, offset = (np.array([float(part) for part in origin.get(name, "0 0 0").split()]) for name in ("rpy", "xyz"))
    return np.asarray(pin.rpy.rpyToMatrix(angles)), offset


def export_urdf(text: str, bodies: Mapping[str, FloatArray], joints: Drives) -> ExportedUrdf:
    """Write an identified arm into the text of its URDF, and check that the result predicts the same torques.

    Bodies (10,) are those of each link that a joint moves, with what is fixed to it. RobotDescriptionError if the URDF
    is not that of the arm or the result does not predict the same, NotIdentifiedError if it is not physical.
    """
    arm = ArmModel.of(Robot.from_urdf(text), _GRAVITY, tuple(joints))
    if set(arm.link_names) != set(bodies):
        raise RobotDescriptionError(
            f"the joints of the estimate move the links {', '.join(arm.link_names)} of this URDF, but it contains "
            f"{', '.join(bodies)}: name the URDF it was made with"
        )
    inertials = _read_inertials(text)
    urdf, notes = UrdfText(text), []
    for index, link in enumerate(arm.link_names):
        if not is_feasible(bodies[link]):
            raise NotIdentifiedError(f"the identified link '{link}' is not physically consistent: it cannot be written")
        notes += _doubt(arm, index, bodies[link])
        others = [name for name in _list_fixed(arm, index) if name != link and np.any(inertials.get(name, 0.0))]
        folded = arm.parameters[10 * index : 10 * index + 10] - inertials.get(link, np.zeros(10))
        share = _find_share(bodies[link], folded) if others else 0.0
        _write_inertial(urdf, link, bodies[link] - share * folded)
        if others and share < 1.0:
            notes.append(
                f"{link} is too light for {', '.join(others)}, fixed to it: their masses are scaled by {share:g}"
            )
            for name in others:
                _scale_inertial(urdf, name, share)
    for joint, drive in joints.items():
        _write_dynamics(urdf, joint, drive)
        notes += _list_missing(joint, drive)
    notes += [
        f"{name} is not physically consistent in the URDF; it was not identified and is left unchanged"
        for name, body in inertials.items()
        if np.any(body) and name not in bodies and not is_feasible(body)
    ]
    result = urdf.finish()
    _check(result, arm, bodies, joints)
    return ExportedUrdf(result, tuple(notes))


def _doubt(arm: ArmModel, index: int, body: FloatArray) -> list[str]:
    """What is at a bound of a link's body (10,), and is not to be relied on."""
    link, (_, com, _) = arm.link_names[index], decompose(body)
    notes = []
    if is_at_bound(body):
        notes.append(
            f"{link} is at the bound of what is physically consistent: the data ask for a thinner one, so its inertia "
            "is not to be relied on"
        )
    box = widen_box(arm.boxes[index], make_plausible(arm.parameters[10 * index : 10 * index + 10]))
    if is_at_side(box, body):
        low, high = (f"({', '.join(f'{number:.2f}' for number in box[0] + side * box[1])})" for side in (-1.0, 1.0))
        notes.append(
            f"{link} is at the bound of where it can be, from {low} to {high} m in its frame, with its centre of mass "
            f"{np.linalg.norm(com):.2f} m from its joint: its mass and inertia are not to be relied on; move this "
            "joint and those after it more"
        )
    return notes


def _read_inertials(text: str) -> dict[str, FloatArray]:
    """Parameters (10,) of the links that have an <inertial>, in their own frames."""
    found = ((link.get("name", ""), link.find("inertial")) for link in parse_urdf(text).findall("link"))
    return {name: read_inertial(inertial) for name, inertial in found if inertial is not None}


def _list_fixed(arm: ArmModel, index: int) -> list[str]:
    """The links that are folded into one of the arm's."""
    return [
        frame.name for frame in arm.model.frames if frame.type == pin.FrameType.BODY and frame.parentJoint == index + 1
    ]


def _find_share(body: FloatArray, others: FloatArray) -> float:
    """Which share of the others (10,) leaves a feasible body: all, a half, a quarter and so on."""
    share = 1.0
    while not is_feasible(body - share * others):
        share *= 0.5
    return share


def _write_inertial(urdf: UrdfText, link: str, body: FloatArray) -> None:
    """Give a link a body (10,)."""
    mass, com, inertia = decompose(body)
    numbers = inertia[np.triu_indices(3)]
    values = {
        "origin": {"xyz": _format(com), "rpy": "0 0 0"},
        "mass": {"value": _format([mass])},
        "inertia": {name: _format([number]) for name, number in zip(_INERTIA, numbers, strict=True)},
    }
    tags = {name: make_tag(name, entries) for name, entries in values.items()}
    element = urdf.find("link", link)
    inertial = element.find("inertial")
    if inertial is None:
        urdf.add_child(element, f"<inertial>{''.join(tags.values())}</inertial>", first=True)
        return
    missing = []
    for name, entries in values.items():
        child = inertial.find(name)
        if child is None:
            missing.append(tags[name])
        else:
            urdf.set_attributes(child, entries)
    if missing:
        urdf.add_child(inertial, "".join(missing))


def _scale_inertial(urdf: UrdfText, link: str, factor: float) -> None:
    """Make a link lighter, of the same shape."""
    inertial = urdf.find("link", link).find("inertial")
    for name in ("mass", "inertia"):
        child = None if inertial is None else inertial.find(name)
        if child is not None:
            scaled = {key: _format([factor * float(value)]) for key, value in child.attributes.items()}
            urdf.set_attributes(child, scaled)


def _write_dynamics(urdf: UrdfText, joint: str, drive: Mapping[str, float]) -> None:
    """Give a joint the friction that was identified."""
    values = {name: _format([drive[kind]]) for name, kind in _FRICTION.items() if kind in drive}
    if any(drive.get(kind, 0.0) < 0.0 for kind in _FRICTION.values()):
        raise NotIdentifiedError(f"joint '{joint}' has negative friction, which is not physical: it cannot be written")
    if not values:
        return
    element = urdf.find("joint", joint)
    existing = element.find("dynamics")
    if existing is None:
        urdf.add_child(element, make_tag("dynamics", values))
    else:
        urdf.set_attributes(existing, values)


def _list_missing(joint: str, drive: Mapping[str, float]) -> list[str]:
    """What was identified of a joint and has no place in a URDF."""
    notes = []
    if rotor_inertia := drive.get("rotor_inertia"):
        notes.append(
            f"{joint}: rotor inertia {rotor_inertia:.4g} has no element in URDF: add it in the program that "
            "uses the file (armature), or it predicts too little torque when the joint accelerates"
        )
    if offset := drive.get("offset"):
        notes.append(f"{joint}: effort offset {offset:.4g} belongs to the sensor and is not written")
    return notes


def _check(text: str, arm: ArmModel, bodies: Mapping[str, FloatArray], joints: Drives) -> None:
    """Compare the torques of the estimate, less rotor inertia and offset, with those of the URDF at random states."""
    written = ArmModel.of(Robot.from_urdf(text), _GRAVITY, arm.joint_names)
    identified = arm.model.copy()
    for index, link in enumerate(arm.link_names):
        identified.inertias[index + 1] = to_pinocchio(bodies[link])
    friction = {item.get("name", ""): item.find("dynamics") for item in parse_urdf(text).findall("joint")}
    numbers = [
        [0.0 if element is None else float(element.get(name, "0")) for name in _FRICTION]
        for element in (friction[joint] for joint in arm.joint_names)
    ]
    expected = [
        [joints[joint].get(kind, number) for kind, number in zip(_FRICTION.values(), pair, strict=True)]
        for joint, pair in zip(arm.joint_names, numbers, strict=True)
    ]
    generator = np.random.default_rng(0)
    states = generator.normal(0.0, 2.0, (_STATES, 3, len(arm.joint_names)))
    torques = _predict(identified, states, np.array(expected))
    difference = np.abs(_predict(written.model, states, np.array(numbers)) - torques).max(axis=0)
    sizes = np.abs(torques).max(axis=0)
    relative = difference / np.maximum(sizes, 1e-3 * sizes.max())
    if not np.all(relative < TOLERANCE):
        worst = int(np.argmax(relative))
        raise RobotDescriptionError(
            f"the URDF would predict other torques than the estimate, by {relative[worst]:.2g} of the largest at "
            f"joint '{arm.joint_names[worst]}'; it is not written"
        )


def _predict(model: pin.Model, states: FloatArray, friction: FloatArray) -> FloatArray:
    """Torques (N, n) at states (N, 3, n) with friction (n, 2)."""
    data = model.createData()
    torques = np.array([pin.rnea(model, data, *state) for state in states])
    return np.asarray(torques + friction[:, 0] * states[:, 1] + friction[:, 1] * np.sign(states[:, 1]))


def _format(numbers: FloatArray | list[float]) -> str:
    """Numbers with all their digits."""
    return " ".join(repr(float(number)) for number in numbers)
