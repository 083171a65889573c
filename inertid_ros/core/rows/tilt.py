"""What a tilt of the base against gravity adds to efforts, row by row.

Gravity g that is turned by a small angle about a horizontal axis e adds the torques of gravity e x g. They take
parameters that level efforts say nothing about, such as the first moment of everything about a vertical first axis.
These are the URDF's, corrected by what is known of the base parameters x = C phi (see `nearest_links`).

What no base parameter tells stays unknown: with W how far links may be from the URDF's, the products of a tilt and of
what links may be off by in those directions of W - W C^T (C W C^T)^-1 C W that a tilted gravity shows have columns of
their own. A vertical first axis has two, which go with the sine and the cosine of its joint.

Torques of gravity change as slowly as positions do, so they are filtered at the rate of the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import allocating, brief, compiled
from inertid_ros.core.equations.base_parameters import draw_states
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.equations.nearest_links import NearestLinks
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.tree import (
    BODY,
    POSE,
    SCREW,
    pack_tree,
    place_body,
    read_vector,
    turn_vector,
    write_vector,
)
from inertid_ros.core.rows.advance import find_gain

AXES = 2
"""Horizontal axes about which a base can be tilted."""
_STRAIGHT = 0.9
"""Cosine beyond which an axis is too near to gravity to make horizontal ones with."""
_POSES = 12
"""Random poses over which torques of gravity are compared: any three joints take up to a few."""
_HIDDEN = 1e-5
"""Part of the torques that links may be off by from which a direction counts as shown; rounding leaves 1e-8."""


@compiled
def rotate_gravity(x: FloatArray, positions: FloatArray, directions: int) -> None:
    """Place all bodies (n, 41), whose poses (n, 12) follow them in x, and turn gravity into their axes.

    Both gravities are (1 + n, 2, 3) from the place `directions` on, first of the root and then of the bodies.
    """
    n = len(positions)
    for index in range(n):
        body, pose = BODY * index, BODY * n + POSE * index
        placed = place_body(x[body : body + BODY], positions[index])
        for i in range(POSE):
            x[pose + i] = placed[i]
        for axis in range(AXES):
            there = directions + 6 * (int(x[body]) + 1) + 3 * axis
            here = directions + 6 * (index + 1) + 3 * axis
            write_vector(x, here, turn_vector(placed, read_vector(x, there)))


@compiled
def compute_gravity_torques(x: FloatArray, phi: FloatArray, positions: FloatArray, torques: FloatArray) -> None:
    """Torques (n, 2) that hold bodies with parameters phi (10 n,) at rest, against each of two gravities.

    Every body carries the wrench [-m g, -mc x g] and what hangs on it: from the last body to the first.

    Args:
        x: floats: bodies (n, 41), their poses (n, 12), gravities (1 + n, 2, 3) of the root and the bodies, and wrenches
            (n, 2, 6); those of the bodies are computed.
        phi: see there.
        positions: (n,) of the joints.
        torques: the result.
    """
    n = len(positions)
    directions = (BODY + POSE) * n
    wrenches = directions + 6 * (n + 1)
    rotate_gravity(x, positions, directions)
    for index in range(n):
        m, cx, cy, cz = phi[10 * index], phi[10 * index + 1], phi[10 * index + 2], phi[10 * index + 3]
        for axis in range(AXES):
            here, wrench = directions + 6 * (index + 1) + 3 * axis, wrenches + 12 * index + 6 * axis
            gx, gy, gz = x[here], x[here + 1], x[here + 2]
            x[wrench], x[wrench + 1], x[wrench + 2] = -m * gx, -m * gy, -m * gz
            x[wrench + 3], x[wrench + 4], x[wrench + 5] = cz * gy - cy * gz, cx * gz - cz * gx, cy * gx - cx * gy
    for index in range(n - 1, -1, -1):
        body, pose, parent = BODY * index, BODY * n + POSE * index, int(x[BODY * index])
        for axis in range(AXES):
            wrench = wrenches + 12 * index + 6 * axis
            torques[index, axis] = 0.0
            for i in range(6):
                torques[index, axis] += x[body + SCREW + i] * x[wrench + i]
            if parent >= 0:
                add_wrench(x, pose, wrench, wrenches + 12 * parent + 6 * axis)


@compiled
def add_wrench(x: FloatArray, pose: int, wrench: int, total: int) -> None:
    """Add a wrench [f, n] in a body's frame, whose pose is laid down, to one in its parent's: R f, R n + p x R f."""
    px, py, pz = x[pose + 9], x[pose + 10], x[pose + 11]
    for i in range(3):
        a, b, c = x[pose + 3 * i], x[pose + 3 * i + 1], x[pose + 3 * i + 2]
        force = a * x[wrench] + b * x[wrench + 1] + c * x[wrench + 2]
        x[total + i] += force
        x[total + 3 + i] += a * x[wrench + 3] + b * x[wrench + 4] + c * x[wrench + 5]
        if i == 0:
            x[total + 4] += pz * force
            x[total + 5] -= py * force
        elif i == 1:
            x[total + 3] -= pz * force
            x[total + 5] += px * force
        else:
            x[total + 3] += py * force
            x[total + 4] -= px * force


@compiled
def filter_torques(now: FloatArray, state: FloatArray, first: float, second: float) -> None:
    """Torques (n, C) through two low-passes with Tustin's coefficients; state (3, n, C) is u, F u and G F u."""
    # After so long a pause (the arm stood, or learning was paused) the filters have settled.
    is_settled = first > 0.5 or second > 0.5
    for joint in range(len(now)):
        for axis in range(now.shape[1]):
            u = now[joint, axis]
            if is_settled:
                state[:, joint, axis] = u
            before = state[1, joint, axis]
            y = (1.0 - 2.0 * first) * before + first * (u + state[0, joint, axis])
            state[2, joint, axis] = (1.0 - 2.0 * second) * state[2, joint, axis] + second * (y + before)
            state[1, joint, axis], state[0, joint, axis] = y, u


class Tilted(NamedTuple):
    """What columns of a tilt are made with.

    Attributes:
        x: floats, see `compute_gravity_torques`.
        bodies: (1 + E, 10 n) parameters; of the first against both gravities, of the others against the first one.
        cutoffs: (2,) of the filters [rad/s].
        state: (3, n, C) torques, and those after one and both filters: the columns; (3, 0, C) if the base is level.
        clock: (1,) time of the last row [s], -inf before the first; (0,) if the base is level.
    """

    x: FloatArray
    bodies: FloatArray
    cutoffs: FloatArray
    state: FloatArray
    clock: FloatArray


LEVEL = Tilted(np.zeros(0), np.zeros((0, 0)), np.zeros(2), np.zeros((3, 0, AXES)), np.zeros(0))
"""A base that is level has no columns."""


@allocating(brief)
def take_tilt(tilted: Tilted, sample: FloatArray) -> None:
    """Torques at a sample [time, positions (n,), ...] through both filters."""
    bodies, positions = tilted.bodies, sample[1 : 1 + tilted.state.shape[1]]
    step = sample[0] - tilted.clock[0] if tilted.clock[0] > -np.inf else 0.0
    tilted.clock[0] = sample[0]
    now = np.empty((len(positions), AXES + len(bodies) - 1))
    both = np.empty((len(positions), AXES))
    for index in range(len(bodies) - 1, -1, -1):
        compute_gravity_torques(tilted.x, bodies[index], positions, both)
        for joint in range(len(positions)):
            now[joint, AXES + index - 1] = both[joint, 0]
    for joint in range(len(positions)):
        for axis in range(AXES):
            now[joint, axis] = both[joint, axis]
    filter_torques(now, tilted.state, find_gain(tilted.cutoffs[0], step), find_gain(tilted.cutoffs[1], step))


class GravityTilt:
    """Columns of the tilt about two horizontal axes, after the filters of the rows, and of what it alone shows.

    Attributes:
        deviations: (C,) prior standard deviations of the columns' coefficients, over that of the tilt.
        shows: (n, C) whether a joint has a column.
        memory: what the columns of rows are made with.
    """

    def __init__(self, model: LinkModel, first_cutoff: float, second_cutoff: float) -> None:
        """Set up for an arm, and the cutoffs of the rows' two low-passes [rad/s]."""
        gravity, joints = np.array(model.arm.model.gravity.linear), len(model.arm.joint_names)
        tilted = np.cross(find_horizontal_axes(gravity), gravity)
        tree = pack_tree(model.arm.model, model.arm.is_angle)
        room = np.zeros(POSE * joints), tilted.ravel(), np.zeros(6 * joints + 6 * AXES * joints)
        self._floats = np.concatenate((tree.ravel(), *room))
        self._nearest = NearestLinks(model)
        widths, urdf = self._nearest.widths, self._nearest.urdf
        self._regressors = self._list_regressors(draw_states(model.arm, _POSES).positions)
        hidden = find_hidden(self._regressors[:, 0], widths, self._nearest.combination)
        self._bodies = np.vstack((urdf, hidden))
        self.deviations = np.repeat([1.0, np.sqrt(AXES)], [AXES, len(hidden)])
        torques = np.abs(self._regressors[:, 0] @ np.vstack((widths, widths, hidden)).T).max(axis=0)
        self.shows = torques > _HIDDEN * torques.max(initial=0.0)
        self.shows[:, :AXES] = True
        cutoffs, state = np.array([first_cutoff, second_cutoff]), np.empty((3, joints, len(self.deviations)))
        self.memory = Tilted(self._floats, self._bodies, cutoffs, state, np.empty(1))
        self.restart()

    def _list_regressors(self, poses: FloatArray) -> FloatArray:
        """Torques (P, 2, n, 10 n) of each parameter alone in poses (P, n)."""
        units, joints = np.eye(len(self._nearest.urdf)), poses.shape[1]
        regressors = np.empty((len(poses), AXES, joints, len(units)))
        torques = np.empty((joints, AXES))
        for pose, positions in enumerate(poses):
            for unit in units:
                compute_gravity_torques(self._floats, unit, positions, torques)
                regressors[pose, :, :, int(unit.argmax())] = torques.T
        return regressors

    def restart(self) -> None:
        """Restart the filters at zero, as those of the rows are."""
        self.memory.clock[0], self.memory.state[:] = -np.inf, 0.0

    def set_values(self, values: FloatArray, inverse: FloatArray) -> FloatArray:
        """Take over base parameters (U,) and the root (U, U) of their covariance.

        Returns:
            (n,) by how much that changes the columns of both tilts: mean squares over random poses, added up.
        """
        before = self._bodies[0].copy()
        self._bodies[0] = self._nearest.complete(values, inverse)
        changes = self._regressors @ (self._bodies[0] - before)
        return np.asarray(np.square(changes).sum(axis=1).mean(axis=0))


def find_hidden(regressors: FloatArray, widths: FloatArray, combination: FloatArray) -> FloatArray:
    """Parameters (E, F) that base parameters say nothing about and that torques do, each as large as it may be.

    Args:
        regressors: (P, n, F) of torques in random poses.
        widths: (F,) standard deviations of the parameters.
        combination: (B, F) of them that are base parameters.
    """
    known = np.linalg.qr((combination * widths).T)[0]
    unknown = np.eye(len(widths)) - known @ known.T
    torques = regressors.reshape(-1, len(widths)) * widths
    _, sizes, directions = np.linalg.svd(torques @ unknown, full_matrices=False)
    shown = sizes > _HIDDEN * max(float(np.linalg.norm(torques)), np.finfo(float).tiny)
    return np.asarray(directions[shown] * widths)


def find_horizontal_axes(gravity: FloatArray) -> FloatArray:
    """Two axes (2, 3) of length one, at right angles to gravity (3,) and to each other; zero without gravity."""
    size = float(np.linalg.norm(gravity))
    if size == 0.0:
        return np.zeros((AXES, 3))
    down = gravity / size
    start = np.array([1.0, 0.0, 0.0]) if abs(down[0]) < _STRAIGHT else np.array([0.0, 1.0, 0.0])
    first = start - (start @ down) * down
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(down, first)])
