"""The arm whose links are identified: the joints that are measured, and the rigid bodies they move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import RobotDescriptionError, UnknownFrameError, UnsupportedJointError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, from_pinocchio
from inertid_ros.core.robot.robot import Robot, find_angles


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
    """

    joint_names: tuple[str, ...]
    link_names: tuple[str, ...]
    is_angle: tuple[bool, ...]
    effort_limits: FloatArray
    model: pin.Model
    parameters: FloatArray

    @classmethod
    def of(cls, robot: Robot, gravity: FloatArray, joints: Sequence[str] = ()) -> ArmModel:
        """Take some joints of a robot.

        Args:
            robot: the robot.
            gravity: (3,) in the root frame [m/s^2].
            joints: the joints that are measured, in any order; all of the robot's if empty.

        Raises:
            RobotDescriptionError: if a joint is not there.
            UnsupportedJointError: if a joint mimics another, or has not exactly one coordinate.
        """
        wanted = tuple(joints) or robot.joint_names
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
        )

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The 10 n parameters as `link.parameter`."""
        return tuple(f"{link}.{name}" for link in self.link_names for name in PARAMETER_NAMES)

    def place_of(self, frame: str) -> pin.SE3:
        """Pose in the root frame of a frame that no joint moves.

        Raises:
            UnknownFrameError: if there is no such frame.
            RobotDescriptionError: if a joint moves it.
        """
        frames = [item.name for item in self.model.frames if item.type == pin.FrameType.BODY]
        if frame not in frames:
            raise UnknownFrameError(frame, frames)
        placed = self.model.frames[self.model.getFrameId(frame, pin.FrameType.BODY)]
        if placed.parentJoint != 0:
            raise RobotDescriptionError(
                f"frame '{frame}' is moved by joint '{self.model.names[placed.parentJoint]}': "
                "a base sensor's frame must be fixed to the root of the URDF"
            )
        return placed.placement


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
