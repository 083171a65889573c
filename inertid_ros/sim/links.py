"""The links of a simulated robot, made of something else than its URDF says."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import from_pinocchio, to_pinocchio
from inertid_ros.core.robot.robot import Robot


def links_of(robot: Robot) -> FloatArray:
    """Return phi (n, 10) of what each joint moves before the next one, in the frame of the joint."""
    return np.array([from_pinocchio(inertia) for inertia in list(robot.model.inertias)[1:]])


def with_links(robot: Robot, links: FloatArray) -> Robot:
    """Return a robot that is the same but for its moving links, phi (n, 10) in the frames of the joints.

    Links that are fixed to each other are one, as in `links_of`. What does not move stays as it is.

    Raises:
        SettingError: if there is not one finite phi for each joint, or one has no positive inertia about its centre.
        NotIdentifiedError: if a link with any parameter other than zero has no positive mass.
    """
    count = len(robot.joint_names)
    if np.shape(links) != (count, 10) or not np.all(np.isfinite(links)):
        raise SettingError("links", np.shape(links), f"ten finite parameters for each of the {count} joints")
    model = robot.model.copy()
    try:
        for joint, phi in enumerate(links, start=1):
            model.inertias[joint] = to_pinocchio(phi)
    except RuntimeError:
        raise SettingError("links", phi.tolist(), "a body with positive inertia about its centre of mass") from None
    return Robot(model)
