"""Robot, load and wrenches in the three-dimensional scene of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.picture import SMALLEST, draw_wrench
from inertid_ros.core.robot.robot import Robot
from inertid_ros.view.instant import Instant
from inertid_ros.view.shapes import Colour, Kinematics, Shape, find_bounds

YELLOW, BLUE, ORANGE, GREEN, RED = (250, 190, 20), (40, 110, 230), (240, 120, 20), (30, 150, 60), (215, 40, 40)
COLOURS: dict[str, Colour] = {
    "centre of mass": YELLOW,
    "inertia": BLUE,
    "measured": ORANGE,
    "predicted": GREEN,
    "residual": RED,
}
"""What the colours mean."""

_BODY = {
    "com": (YELLOW, 1.0),
    "com_bound": (YELLOW, 0.35),
    "inertia": (BLUE, 0.22),
    "inertia_lower": (BLUE, 0.08),
    "inertia_upper": (BLUE, 0.08),
}
"""Colour and opacity of each ellipsoid."""
_ARROWS = {"measured": (0.003, 0.014), "predicted": (0.006, 0.009), "residual": (0.004, 0.012)}
"""Radii of shaft and head [m]: of measured and predicted wrench, which mostly coincide, both can be seen."""
_HEAD = 0.03
"""Length of a head [m]."""
_AXES = 0.08
"""Length of the sensor frame's axes [m]."""
_PALE = 0.2
"""Opacity of a robot in a pose to go to."""
_CELL = 0.25
"""Of the floor's grid [m]."""


class Drawing:
    """The scene; only what has changed is sent."""

    def __init__(self, server: Any) -> None:
        """Begin with an empty one."""
        self._server = server
        self._scene = server.scene
        self._sent: dict[tuple[str, str], Any] = {}
        self._kinematics: Kinematics | None = None
        self._goal_kinematics: Kinematics | None = None
        self._joints: list[Any] = []
        self._goal: list[Any] = []
        self._sensor = self._scene.add_frame("/sensor", axes_length=_AXES, axes_radius=0.004, visible=False)
        self._body = {
            name: self._scene.add_icosphere(
                f"/sensor/{name}", 1.0, colour, opacity=None if opacity == 1.0 else opacity, visible=False,
                cast_shadow=False, receive_shadow=False,
            )
            for name, (colour, opacity) in _BODY.items()
        }  # fmt: skip
        self._wrenches = {
            name: self._scene.add_arrows(
                f"/sensor/{name}", np.zeros((2, 2, 3)), _linearise(COLOURS[name]), shaft_radius=shaft, head_radius=head,
                head_length=_HEAD, visible=False,
            )
            for name, (shaft, head) in _ARROWS.items()
        }  # fmt: skip

    def show_robot(self, robot: Robot, shape: Shape) -> None:
        """Draw a robot in the place of the one before, and look at all of it."""
        for root in (*self._joints[:1], *self._goal[:1]):
            root.remove()  # with all that it carries
        self._sent.clear()
        self._kinematics, self._goal_kinematics = Kinematics(robot), Kinematics(robot)
        self._joints = self._add_robot("/robot", self._kinematics, shape, is_goal=False)
        self._goal = self._add_robot("/goal", self._kinematics, shape, is_goal=True)
        low, high = find_bounds(shape, self._kinematics.joints)
        size = float(np.linalg.norm(high - low))
        self._scene.add_grid(
            "/floor", 4.0 * size, 4.0 * size, cell_size=_CELL, section_size=4.0 * _CELL, position=(0.0, 0.0, low[2])
        )
        middle = (low + high) / 2.0
        self._server.initial_camera.look_at = middle
        self._server.initial_camera.position = middle + size * np.array([0.9, 0.75, 0.4])

    def _add_robot(self, root: str, kinematics: Kinematics, shape: Shape, is_goal: bool) -> list[Any]:
        """Add a robot with its own colours, or the pale one of a pose to go to; returns its joints.

        Each joint is inside of the one that carries it: where it turns, only its rotation has to be sent.
        """
        paths = [root + path for path in kinematics.paths]
        joints = [self._scene.add_frame(path, show_axes=False) for path in paths]
        joints[0].visible = not is_goal
        for part in (part for part in shape.parts if part.joint or not is_goal):
            self._scene.add_mesh_simple(
                f"{paths[part.joint]}/{part.name}",
                np.asarray(part.points, dtype=np.float32),
                np.asarray(part.faces, dtype=np.uint32),
                color=GREEN if is_goal else part.colour,
                opacity=_PALE if is_goal else None,
                cast_shadow=not is_goal,
                flat_shading=True,
                side="double",
                wxyz=_quaternion(part.placement),
                position=part.placement.translation,
            )
        return joints

    def show_goal(self, joints: Mapping[str, float]) -> None:
        """Show the pose to go to, by all joints that matter; none for no pose."""
        if self._goal_kinematics is None:
            return
        self._goal_kinematics.move(joints)
        self._set(self._goal[0], "visible", bool(joints))
        for handle, place in zip(self._goal[1:], self._goal_kinematics.steps, strict=True):
            self._place(handle, place)

    def move(self, instant: Instant) -> None:
        """Move the robot, and draw the wrenches."""
        if self._kinematics is None:
            return
        self._kinematics.move(instant.joints)
        for joint, place in zip(self._joints[1:], self._kinematics.steps, strict=True):
            self._place(joint, place)
        sensor = self._kinematics.find(instant.frame) if instant.frame else None
        self._set(self._sensor, "visible", sensor is not None)
        if sensor is not None:
            self._place(self._sensor, sensor)
        wrenches = instant.wrenches
        for name, handle in self._wrenches.items():
            self._set(handle, "visible", name in wrenches)
            if name in wrenches:
                points = np.zeros((2, 2, 3), dtype=np.float32)
                points[:, 1] = [_lengthen(tip) for tip in draw_wrench(wrenches[name])]
                handle.points = points

    def show_load(self, instant: Instant) -> None:
        """Draw what is known of the load."""
        ellipsoids = instant.ellipsoids
        for name, handle in self._body.items():
            self._set(handle, "visible", name in ellipsoids)
            if name in ellipsoids:
                centre, axes, semi_axes = ellipsoids[name]
                self._place(handle, pin.SE3(axes, centre))
                self._set(handle, "scale", tuple(semi_axes.tolist()))

    def _place(self, handle: Any, place: pin.SE3) -> None:
        self._set(handle, "wxyz", _quaternion(place))
        self._set(handle, "position", tuple(place.translation.tolist()))

    def _set(self, handle: Any, name: str, value: Any) -> None:
        """Set an attribute unless it has that value already."""
        key = handle.name, name
        if self._sent.get(key) != value:
            self._sent[key] = value
            setattr(handle, name, value)


def _quaternion(place: pin.SE3) -> tuple[float, float, float, float]:
    """Its rotation as w, x, y, z."""
    x, y, z, w = pin.Quaternion(place.rotation).coeffs().tolist()
    return w, x, y, z


def _linearise(colour: Colour) -> Colour:
    """The colour to ask for where viser takes it for linear (arrows), instead of sRGB (all else)."""
    red, green, blue = (round(255 * (part / 255) ** 2.2) for part in colour)
    return red, green, blue


def _lengthen(tip: FloatArray) -> FloatArray:
    """The tip of an arrow that has a direction, also where there is none."""
    return tip if float(np.linalg.norm(tip)) >= SMALLEST else np.array([0.0, 0.0, SMALLEST])
