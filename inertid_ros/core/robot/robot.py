"""A robot as its URDF describes it: joints and frames by name, the way to one frame, and the arm that is identified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import RobotDescriptionError, UnknownFrameError, UnsupportedJointError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, from_pinocchio
from inertid_ros.core.robot.extents import find_boxes, read_corners

_XACRO = ("{http://www.ros.org/wiki/xacro}", "{http://ros.org/wiki/xacro}", "{http://wiki.ros.org/xacro}")
LONGEST_TEXT = 16 << 20
"""Characters of a URDF at most: those of robots with hundreds of joints have less than one million."""
DEEPEST = 40
"""Elements inside each other at most: a URDF has 5, extensions of simulators some more."""
MOST_JOINTS = 150
"""Joints of a model at most: humanoids with hands have a hundred. What pinocchio reserves grows with their cube, 250 MB
for these and 2 GB for twice as many."""
ROOM = 2.0 * np.pi, 1.0
"""How far beyond their limits angles [rad], by one turn, and lengths [m] are still positions of a joint."""
TIMES = 180.0 / np.pi, 2.0
"""How many times the limits of angles and lengths: angles may be in degrees, which is found by what is measured."""
TIMES_SPEED = 100.0, 10.0
"""How many times the limits of velocities, of angles and of lengths: the same, and robots exceed these limits."""
LEAST_SPEED = 100.0, 10.0
"""Velocities [rad/s, m/s] up to which none is refused: limits in a URDF may be those of a careful user."""
_OTHER_FORMATS = {"sdf": "an SDF file (Gazebo)", "mujoco": "an MJCF file (MuJoCo)", "COLLADA": "a COLLADA mesh"}


TILT_JOINTS = "first tilt of the base (imu)", "second tilt of the base (imu)"
"""Joints that no URDF has: by them the base leans where gravity comes from an IMU, see `input.base_tilt`."""


@dataclass(frozen=True, slots=True)
class FramePath:
    """The joints between the root and one frame, and a model of them in which the frame is the last joint.

    Attributes:
        frame: name of the frame.
        joint_names: the joints that move the frame, in the order of the model's coordinates.
        is_angle: per joint, whether its coordinate is an angle (and may jump by 2 pi) rather than a length.
        model: pinocchio model of those joints, each with one coordinate, plus one joint that is never moved and whose
            frame is the frame asked for, so that kinematics can be read off it without a further call.
    """

    frame: str
    joint_names: tuple[str, ...]
    is_angle: tuple[bool, ...]
    model: pin.Model

    @property
    def reach(self) -> FloatArray:
        """Positions and velocities (2, n) beyond which a joint cannot be, see `find_reach`."""
        return find_reach(self.model, self.is_angle)

    def on_base(self, gravity: FloatArray) -> FramePath:
        """The same on a base that leans: its root is level ground, and two tilt joints carry the root of the URDF.

        They turn about two axes across gravity (3,), which is that in the root frame where both are zero.
        """
        base, upright = pin.Model(), pin.SE3(find_upright(gravity), np.zeros(3))
        limits = [np.array([limit]) for limit in (0.0, 0.0, -np.pi, np.pi)]
        first = base.addJoint(0, pin.JointModelRX(), upright, TILT_JOINTS[0], *limits)
        second = base.addJoint(first, pin.JointModelRY(), pin.SE3.Identity(), TILT_JOINTS[1], *limits)
        frame = base.addFrame(pin.Frame("base", second, 0, upright.inverse(), pin.FrameType.OP_FRAME))
        model = pin.appendModel(base, self.model, frame, pin.SE3.Identity())
        return FramePath(self.frame, TILT_JOINTS + self.joint_names, (True, True, *self.is_angle), model)


class Robot:
    """A URDF, checked and turned into a pinocchio model with one coordinate for each joint."""

    def __init__(
        self, model: pin.Model, mimics: tuple[str, ...] = (), corners: Mapping[str, FloatArray] | None = None
    ) -> None:
        """Keep a model, the joints that follow others and corners of links' shapes; use `from_urdf` to make one."""
        self.model = model
        self.mimics = mimics
        self.corners = corners or {}

    @classmethod
    def from_urdf(cls, text: str) -> Robot:
        """Read a URDF.

        `continuous` joints become `revolute` ones, since pinocchio would give them two coordinates.
        RobotDescriptionError if the text is no URDF, or one without joints.
        """
        root = parse_urdf(text)
        for joint in root.iter("joint"):
            if joint.get("type") == "continuous":
                joint.set("type", "revolute")
                for limit in joint.findall("limit"):
                    joint.remove(limit)
                ElementTree.SubElement(
                    joint, "limit", {"lower": "-1e9", "upper": "1e9", "velocity": "1e9", "effort": "1e9"}
                )
        try:
            model = pin.buildModelFromXML(ElementTree.tostring(root, encoding="unicode"))
        except (RuntimeError, ValueError) as error:
            raise RobotDescriptionError(f"the robot description cannot be used: {str(error).strip()}") from None
        if model.njoints < 2:
            raise RobotDescriptionError("the robot description has no joint that moves")
        followers = (joint.get("name", "") for joint in root.iter("joint") if joint.find("mimic") is not None)
        return cls(model, tuple(followers), read_corners(root))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that move."""
        return tuple(self.model.names[1:])

    @property
    def own_joints(self) -> tuple[str, ...]:
        """Those of the joints that do not mimic another one: what every command takes for the arm unless told."""
        return tuple(name for name in self.joint_names if name not in self.mimics)

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Names of the links, which are the frames a sensor can be in."""
        return tuple(frame.name for frame in self.model.frames if frame.type == pin.FrameType.BODY)

    def check_joint(self, name: str, where: str = "", advice: str = "") -> None:
        """Raise UnsupportedJointError unless a joint has exactly one coordinate; the message says where, and advice."""
        joint = self.model.joints[self.model.getJointId(name)]
        if joint.nq != 1 or joint.nv != 1:
            raise UnsupportedJointError(
                f"joint '{name}'{where} is a {joint.shortname()}: only revolute, continuous, prismatic and fixed "
                f"joints are supported{advice}"
            )

    def path_to(self, frame: str) -> FramePath:
        """Model the way from the root to a frame; the joints that do not move the frame are left out.

        UnknownFrameError if there is no such frame, UnsupportedJointError if a joint on the way has not exactly one
        coordinate, or if there are none or too many.
        """
        if frame not in self.frame_names:
            raise UnknownFrameError(frame, self.frame_names)
        parent = self.model.frames[self.model.getFrameId(frame)].parentJoint
        path = [index for index in self.model.supports[parent] if index > 0]
        if not path:
            raise UnsupportedJointError(f"no joint moves frame '{frame}': a load cannot be identified there")
        check_count(len(path), f"on the way to '{frame}'")
        for index in path:
            self.check_joint(self.model.names[index], f" on the way to '{frame}'")
        locked = [index for index in range(1, self.model.njoints) if index not in path]
        model = pin.buildReducedModel(self.model, locked, pin.neutral(self.model))
        names, is_angle = tuple(model.names[1:]), find_angles(model)
        placed = model.frames[model.getFrameId(frame)]
        model.addJoint(placed.parentJoint, pin.JointModelRX(), placed.placement, frame + "_origin")
        return FramePath(frame, names, is_angle, model)


def check_count(count: int, which: str) -> None:
    """Raise UnsupportedJointError if a model of so many joints would fill the memory; the message says which."""
    if count > MOST_JOINTS:
        raise UnsupportedJointError(f"there are {count} joints, more than {MOST_JOINTS}, {which}")


def parse_urdf(text: str, what: str = "the robot description") -> ElementTree.Element:
    """Parse the XML of a URDF, whatever encoding its declaration names, and return the root element.

    RobotDescriptionError if it is not a URDF; the message calls it `what`, and says what it seems to be instead.
    """
    if len(text) > LONGEST_TEXT:
        raise RobotDescriptionError(f"{what} is longer than {LONGEST_TEXT >> 20} MB: name a URDF")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:  # ValueError: characters that are no text
        code, (line, column) = getattr(error, "code", 4), getattr(error, "position", (1, 0))
        reason = f"{expat.ErrorString(code)}: line {line}, column {column}"
        raise RobotDescriptionError(f"{what} is not well-formed XML: {reason}") from None
    if root.tag != "robot":
        kind = _OTHER_FORMATS.get(root.tag)
        advice = f"it is {kind}: convert it to URDF" if kind else "name a URDF"
        raise RobotDescriptionError(f"{what} is not a URDF, its root element is not <robot>: {advice}")
    _check_elements(root, what)
    has_macros = any(element.tag.startswith(_XACRO) for element in root.iter())
    is_unresolved = any("${" in value or "$(" in value for element in root.iter() for value in element.attrib.values())
    if is_unresolved or (has_macros and root.find("joint") is None):
        raise RobotDescriptionError(
            f"{what} is an unprocessed xacro file: run `xacro FILE -o arm.urdf` and use its output"
        )
    return root


def _check_elements(root: ElementTree.Element, what: str) -> None:
    """Refuse nesting that is none of a URDF, and names that would steer a terminal."""
    level = [root]
    for _ in range(DEEPEST):
        level = [child for element in level for child in element]
    if level:
        raise RobotDescriptionError(f"{what} is not a URDF: it has more than {DEEPEST} elements inside each other")
    if any(not element.get("name", "").isprintable() for element in root.iter()):
        raise RobotDescriptionError(f"{what} has names with line breaks or control characters: rename them")


def find_angles(model: pin.Model) -> tuple[bool, ...]:
    """For each joint of a model with one coordinate a joint, whether that is an angle rather than a length."""
    return tuple("P" not in joint.shortname()[len("JointModel") :] for joint in list(model.joints)[1:])


def find_reach(model: pin.Model, is_angle: Sequence[bool]) -> FloatArray:
    """Sizes of positions and velocities (2, n) beyond which the first n joints of a model cannot be, by its limits.

    Infinite where the limits are none: zero, not finite, or the wrong way round.
    """
    n, kind = len(is_angle), np.where(is_angle, 0, 1)
    lower, upper = model.lowerPositionLimit[:n], model.upperPositionLimit[:n]
    farthest = np.take(TIMES, kind) * np.maximum(np.abs(lower), np.abs(upper)) + np.take(ROOM, kind)
    speed = model.velocityLimit[:n]
    fastest = np.maximum(np.take(TIMES_SPEED, kind) * speed, np.take(LEAST_SPEED, kind))
    is_given = np.stack(((lower < upper) & np.isfinite(farthest), (speed > 0.0) & np.isfinite(fastest)))
    return np.where(is_given, np.stack((farthest, fastest)), np.inf)


@dataclass(frozen=True, slots=True)
class ArmModel:
    """The n joints that are measured. All other joints are locked where they are zero, what hangs on them folded in.

    Attributes:
        joint_names: the n joints, in the order of the model's coordinates.
        link_names: for each joint the link it moves; links fixed to that one are folded into it.
        is_angle: per joint, whether its coordinate is an angle rather than a length.
        effort_limits: (n,) Nm or N, inf where the URDF gives none.
        model: pinocchio model with one coordinate a joint, in the gravity that was asked for.
        parameters: (10 n,) the URDF's own inertial parameters, ten for each link in its own frame.
        boxes: (n, 2, 3) centre and half size [m] of a box that holds the link, in its frame, see `find_boxes`.
    """

    joint_names: tuple[str, ...]
    link_names: tuple[str, ...]
    is_angle: tuple[bool, ...]
    effort_limits: FloatArray
    model: pin.Model
    parameters: FloatArray
    boxes: FloatArray

    @classmethod
    def of(cls, robot: Robot, gravity: FloatArray, joints: Sequence[str] = ()) -> ArmModel:
        """Take the joints of a robot that are measured, its own if none is named; gravity (3,) is in the root frame.

        RobotDescriptionError if a joint is not there, UnsupportedJointError if it mimics another, or has not exactly
        one coordinate, or if there are too many.
        """
        wanted = tuple(joints) or robot.own_joints
        check_count(len(wanted), "to be identified: name those that are measured in links.joints")
        for name in wanted:
            _check(robot, name)
        locked = [index for index, name in enumerate(robot.model.names) if index > 0 and name not in wanted]
        model = pin.buildReducedModel(robot.model, locked, pin.neutral(robot.model))
        model.gravity.linear = np.asarray(gravity, dtype=float)
        limits = np.array(model.effortLimit, dtype=float)
        return cls(
            joint_names=tuple(model.names[1:]),
            link_names=tuple(_moved_link(robot.model, name) for name in model.names[1:]),
            is_angle=find_angles(model),
            effort_limits=np.where(limits > 0.0, limits, np.inf),
            model=model,
            parameters=np.concatenate([from_pinocchio(inertia) for inertia in list(model.inertias)[1:]]),
            boxes=find_boxes(model, robot.corners),
        )

    @property
    def reach(self) -> FloatArray:
        """Positions and velocities (2, n) beyond which a joint cannot be, see `find_reach`."""
        return find_reach(self.model, self.is_angle)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The 10 n parameters as `link.parameter`."""
        return tuple(f"{link}.{name}" for link in self.link_names for name in PARAMETER_NAMES)

    def place_of(self, frame: str) -> pin.SE3:
        """Pose in the root frame of a frame that no joint moves.

        UnknownFrameError if there is no such frame, RobotDescriptionError if a joint moves it.
        """
        return place_in_root(self.model, frame, "a base sensor's")


def place_in_root(model: pin.Model, frame: str, whose: str) -> pin.SE3:
    """Pose in the root frame of a frame that no joint moves; the message of an error says whose it is.

    UnknownFrameError if there is no such frame, RobotDescriptionError if a joint moves it.
    """
    frames = [item.name for item in model.frames if item.type == pin.FrameType.BODY]
    if frame not in frames:
        raise UnknownFrameError(frame, frames)
    placed = model.frames[model.getFrameId(frame, pin.FrameType.BODY)]
    if placed.parentJoint != 0:
        raise RobotDescriptionError(
            f"frame '{frame}' is moved by joint '{model.names[placed.parentJoint]}': "
            f"{whose} frame must be fixed to the root of the URDF"
        )
    return placed.placement


def find_upright(gravity: FloatArray) -> FloatArray:
    """Axes (3, 3), in columns: the third is opposite to gravity (3,), the first near an axis of the root."""
    third = -gravity / np.linalg.norm(gravity)
    first = np.eye(3)[np.argmin(np.abs(third))]
    first = first - third * (first @ third)
    first /= np.linalg.norm(first)
    return np.stack((first, np.cross(third, first), third), axis=1)


def _check(robot: Robot, name: str) -> None:
    if name not in robot.joint_names:
        raise RobotDescriptionError(
            f"joint '{name}' is not in the robot description; it has: {', '.join(robot.joint_names)}"
        )
    if name in robot.mimics:
        raise UnsupportedJointError(
            f"joint '{name}' mimics another joint, and its effort is not its own: leave it out of links.joints"
        )
    robot.check_joint(name, advice="; leave it out of links.joints")


def _moved_link(model: pin.Model, joint: str) -> str:
    """The link that is the child of a joint: the first body that has the joint as its parent."""
    index = model.getJointId(joint)
    bodies = (frame for frame in model.frames if frame.type == pin.FrameType.BODY and frame.parentJoint == index)
    return str(next(bodies).name)
