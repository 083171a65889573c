"""Where all bodies of a robot are, how fast, and how far they can get in a short time, for many configurations at once.

Joints are given by the n coordinates that a motion moves. All others stay where they are, or follow one of them
(mimic): the model's coordinates are  x = x_0 + F q.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import RobotDescriptionError
from inertid_ros.core.records import BoolArray, FloatArray, IntArray
from inertid_ros.core.robot.robot import Robot, parse_urdf

Indices = IntArray | list[int]


class Placed(NamedTuple):
    """The m joints of a model (0 is the root) in S configurations, all in the root frame.

    Attributes:
        rotations: (S, m, 3, 3) of their frames.
        origins: (S, m, 3) [m].
        angular, linear: (S, m, 3) axes of revolute joints and directions of prismatic ones, else zero.
    """

    rotations: FloatArray
    origins: FloatArray
    angular: FloatArray
    linear: FloatArray

    def carry(self, joint: int, points: FloatArray) -> FloatArray:
        """Points (P, 3) of a joint's frame in the root frame, (S, P, 3)."""
        return np.asarray(points @ self.rotations[:, joint].transpose(0, 2, 1) + self.origins[:, joint, None])


class Kinematics:
    """The joints of a whole robot, of which some are moved."""

    def __init__(self, robot: Robot, text: str, moved: Sequence[str], rest: Mapping[str, float]) -> None:
        """Take a robot with its URDF, the joints that a motion moves, and where others rest, if not at zero."""
        model = robot.model
        self.count = model.njoints
        self.parents = [int(parent) for parent in model.parents]
        self.supports: BoolArray = np.zeros((self.count, self.count), dtype=bool)
        """(m, m) whether a joint (row) is moved by another one (column)."""
        for joint in range(self.count):
            self.supports[joint, [index for index in model.supports[joint] if index > 0]] = True
        data = model.createData()
        jacobian = np.reshape(pin.computeJointJacobians(model, data, pin.neutral(model)), (6, -1))
        self._placements = [(place.rotation, place.translation) for place in model.jointPlacements]
        self._axes = np.zeros((2, self.count, 3))
        """(2, m, 3) linear and angular direction of each joint in its own frame; zero for what is never moved."""
        for joint in range(1, self.count):
            if model.joints[joint].nv == 1:
                turned = data.oMi[joint].rotation.T
                column = jacobian[:, model.joints[joint].idx_v]
                angular, place = column[3:], data.oMi[joint].translation
                self._axes[:, joint] = turned @ (column[:3] + np.cross(angular, place)), turned @ angular
        names = list(model.names)
        self.follow, self._zero = _find_followers(text, names, moved, rest)
        """(m, n) F of the text above."""

    @property
    def moving(self) -> BoolArray:
        """(m,) which joints are moved by the motion, or follow one that is."""
        return np.asarray(np.any(self.follow != 0.0, axis=1))

    @property
    def carried(self) -> BoolArray:
        """(m,) whether the frame of a joint moves, by itself or by any joint before it."""
        return np.asarray(np.any(self.supports & self.moving, axis=1))

    def place(self, positions: FloatArray) -> Placed:
        """Place all joints at (S, n) coordinates, from the root on."""
        coordinates = self._zero + positions @ self.follow.T
        shape = (len(positions), self.count, 3)
        rotations, origins = np.broadcast_to(np.eye(3), (*shape, 3)).copy(), np.zeros(shape)
        angular, linear = np.zeros(shape), np.zeros(shape)
        for joint in range(1, self.count):
            before, (turn, shift) = self.parents[joint], self._placements[joint]
            frame = rotations[:, before] @ turn
            along, about = self._axes[:, joint]
            linear[:, joint], angular[:, joint] = frame @ along, frame @ about
            origins[:, joint] = origins[:, before] + rotations[:, before] @ shift
            origins[:, joint] += linear[:, joint] * coordinates[:, joint, None]
            rotations[:, joint] = frame @ _turn(about, coordinates[:, joint]) if about.any() else frame
        return Placed(rotations, origins, angular, linear)

    def rates(self, placed: Placed, samples: Indices, joints: Indices, points: FloatArray) -> FloatArray:
        """Velocities (E, m, 3), for a unit rate of each joint, of (E, 3) points, each in a sample and on a joint."""
        arms = points[:, None] - placed.origins[samples]
        moves = placed.linear[samples] + np.cross(placed.angular[samples], arms)
        return np.asarray(moves * self.supports[joints][:, :, None])

    def find_displacements(
        self, placed: Placed, joints: Sequence[int], centers: FloatArray, reaches: FloatArray, changes: FloatArray
    ) -> FloatArray:
        """Bound how far any point of B bodies gets when each moved coordinate changes by at most (S, n) `changes`.

        Bodies are fixed to joints and lie in spheres with (S, B, 3) centres in the root frame and (B,) radii. Change
        one joint after the other, the last of the chain first: the axes of those before stay where they are, and a
        point at a distance r of axis k that is off by d already gets off by  d + (r + d) |change of k|  at most.

        Returns:
            (S, B, m + 1): element k counts the joints k, k + 1, ... only; k = 0 counts all of them.
        """
        result = np.zeros((*centers.shape[:2], self.count + 1))
        turns = changes @ np.abs(self.follow).T
        supports = self.supports[list(joints)]
        for joint in range(self.count - 1, -1, -1):
            axis = placed.angular[:, joint, None]
            lever = np.linalg.norm(np.cross(axis, centers - placed.origins[:, joint, None]), axis=2)
            spins = np.linalg.norm(axis, axis=2)
            slides = np.linalg.norm(placed.linear[:, joint, None], axis=2)
            further = (lever + spins * (reaches + result[:, :, joint + 1]) + slides) * turns[:, joint, None]
            result[:, :, joint] = result[:, :, joint + 1] + np.where(supports[:, joint], further, 0.0)
        return result

    def find_velocities(self, placed: Placed, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Velocities of the origins, and angular velocities, of all joints' frames, each (S, m, 3)."""
        speeds = rates @ self.follow.T
        velocities, spins = np.zeros(placed.origins.shape), np.zeros(placed.origins.shape)
        for joint in range(1, self.count):
            before = self.parents[joint]
            arm = placed.origins[:, joint] - placed.origins[:, before]
            spins[:, joint] = spins[:, before] + placed.angular[:, joint] * speeds[:, joint, None]
            velocities[:, joint] = velocities[:, before] + np.cross(spins[:, before], arm)
            velocities[:, joint] += placed.linear[:, joint] * speeds[:, joint, None]
        return velocities, spins


def _turn(axis: FloatArray, angles: FloatArray) -> FloatArray:
    """Rotations (S, 3, 3) about one unit axis (Rodrigues)."""
    cross = pin.skew(axis)
    sine, rest = np.sin(angles)[:, None, None], (1.0 - np.cos(angles))[:, None, None]
    return np.asarray(np.eye(3) + sine * cross + rest * (cross @ cross))


def _find_followers(
    text: str, names: Sequence[str], moved: Sequence[str], rest: Mapping[str, float]
) -> tuple[FloatArray, FloatArray]:
    """F (m, n) and x_0 (m,) of joints by name, of which the first is the root."""
    for name in rest:
        if name not in names:
            raise RobotDescriptionError(
                f"joint '{name}' is not in the robot description; it has: {', '.join(names[1:])}"
            )
    follow, zero = np.zeros((len(names), len(moved))), np.array([rest.get(name, 0.0) for name in names])
    for column, name in enumerate(moved):
        follow[names.index(name), column], zero[names.index(name)] = 1.0, 0.0
    for joint in parse_urdf(text).iter("joint"):
        mimic, name = joint.find("mimic"), joint.get("name", "")
        if mimic is not None and name not in moved and name in names:
            leader, factor = names.index(mimic.get("joint", "")), float(mimic.get("multiplier", "1"))
            follow[names.index(name)] = factor * follow[leader]
            zero[names.index(name)] = factor * zero[leader] + float(mimic.get("offset", "0"))
    return follow, zero
