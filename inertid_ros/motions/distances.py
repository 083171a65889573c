"""Distances between all bodies of a robot and what they keep away from, in many poses at once.

For the search, which cannot wait for a proof, distances below the margin and speeds above the limit become a penalty
with its gradient. Of two bodies at a distance d with the nearest points p1 and p2, n the unit vector from the first to
the second,  d' = n . (p2' - p1').
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.motions.bodies import Body, coal
from inertid_ros.motions.placement import Kinematics, Placed

_WEIGHT = 200.0
"""Cost of all samples being one unit of length too close, or of speed too fast, in units of the log-determinant: far
more than motions differ by."""
_LENGTH, _SPEED = 0.05, 0.2
"""These units: metres, and shares of the speed limit."""
_EXTRA = 0.015
"""By which margins are larger in a search [m]: a penalty is not a wall, and samples are apart."""
_SPARE = 0.9
"""Share of the speed limit that a search uses, since it looks at one point of each body only."""


_Pulled = tuple[int, int, FloatArray, FloatArray]
"""A sample, a joint, a point fixed to it and the gradient of a cost with respect to its place."""


FLOOR, KEEP_OUT, SELF = "floor", "keep-out", "self"
"""Kinds of pairs: a body and a plane, a body and a box of the surroundings, two links."""


class Plane(NamedTuple):
    """Bodies stay where  normal . x >= offset [m];  the normal (3,) is a unit vector in the root frame."""

    name: str
    normal: FloatArray
    offset: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two bodies, or a body and a plane, that are to be kept apart.

    Attributes:
        kind: FLOOR, KEEP_OUT or SELF.
        first, second: indices of the bodies; a plane is the second, as -1 - its index.
        stop: the joints from this one on move the two with respect to each other.
        margin: [m].
    """

    kind: str
    first: int
    second: int
    stop: int
    margin: float


class Scene:
    """All bodies in S poses."""

    def __init__(
        self,
        kinematics: Kinematics,
        bodies: Sequence[Body],
        planes: Sequence[Plane],
        pairs: Sequence[Pair],
        positions: FloatArray,
    ) -> None:
        """Place bodies at (S, n) positions of the joints that are moved."""
        self.bodies, self._planes, self._pairs = bodies, planes, pairs
        self._kinematics = kinematics
        self.placed: Placed = kinematics.place(positions)
        self._centers = np.stack([self.placed.carry(body.joint, body.center[None])[:, 0] for body in bodies], axis=1)
        self._reaches = np.array([body.reach for body in bodies])
        self._frames: dict[int, tuple[FloatArray, FloatArray]] = {}
        self._result, self._request = coal.DistanceResult(), coal.DistanceRequest()
        self.bounds = np.empty((len(positions), len(pairs)))
        """(S, P) distances of spheres around the bodies, and the true ones to planes [m]."""
        self.lowest = np.zeros((len(positions), len(pairs), 3))
        """(S, P, 3) the points nearest to planes."""
        for index, pair in enumerate(pairs):
            self._bound(index, pair)

    def _bound(self, index: int, pair: Pair) -> None:
        if pair.second >= 0:
            between = self._centers[:, pair.first] - self._centers[:, pair.second]
            reach = self._reaches[pair.first] + self._reaches[pair.second]
            self.bounds[:, index] = np.linalg.norm(between, axis=1) - reach
            return
        body, plane = self.bodies[pair.first], self._planes[-1 - pair.second]
        points = self.placed.carry(body.joint, body.points)
        heights = points @ plane.normal - plane.offset - body.radius
        lowest = np.argmin(heights, axis=1)
        rows = np.arange(len(heights))
        self.bounds[:, index] = heights[rows, lowest]
        self.lowest[:, index] = points[rows, lowest] - body.radius * plane.normal

    def find_moves(self, changes: FloatArray) -> FloatArray:
        """By how much each distance may change, (S, P) [m], while joints move by (S, n) at most."""
        joints = [body.joint for body in self.bodies]
        moves = self._kinematics.find_displacements(self.placed, joints, self._centers, self._reaches, changes)
        columns = [
            moves[:, pair.first, pair.stop] + (moves[:, pair.second, pair.stop] if pair.second >= 0 else 0.0)
            for pair in self._pairs
        ]
        return np.stack(columns, axis=1)

    def measure(self, s: int, index: int, by_mesh: bool) -> float:
        """The distance [m] of a pair in one pose, of meshes or of their hulls; at most zero where they overlap.

        Of planes and boxes it is always the distance to hulls.
        """
        pair = self._pairs[index]
        if pair.second < 0:
            return float(self.bounds[s, index])
        return float(self._compute(s, pair, by_mesh and pair.kind == SELF).min_distance)

    def _compute(self, s: int, pair: Pair, by_mesh: bool) -> Any:
        first, second = self.bodies[pair.first], self.bodies[pair.second]
        one, other = (body.mesh if by_mesh and body.mesh is not None else body.solid for body in (first, second))
        there, here = self._transform(s, pair.first), self._transform(s, pair.second)
        self._result.clear()
        coal.distance(one, there, other, here, self._request, self._result)
        return self._result

    def _transform(self, s: int, index: int) -> Any:
        if index not in self._frames:
            body, placed = self.bodies[index], self.placed
            rotations = placed.rotations[:, body.joint] @ body.placement.rotation
            self._frames[index] = rotations, placed.carry(body.joint, body.placement.translation[None])[:, 0]
        rotations, places = self._frames[index]
        return coal.Transform3s(rotations[s], places[s])

    def find_speeds(self, rates: FloatArray) -> FloatArray:
        """Speed (S, B) [m/s] of the fastest corner of each body, at joint velocities (S, n)."""
        velocities, spins = self._kinematics.find_velocities(self.placed, rates)
        speeds = np.empty((len(rates), len(self.bodies)))
        for index, body in enumerate(self.bodies):
            arms = self.placed.carry(body.joint, body.corners) - self.placed.origins[:, body.joint, None]
            spin = spins[:, body.joint, None]
            own = np.linalg.norm(velocities[:, body.joint, None] + np.cross(spin, arms), axis=2)
            speeds[:, index] = own.max(axis=1) + body.radius * np.linalg.norm(spin[:, 0], axis=1)
        return speeds

    def find_heights(self, up: FloatArray) -> FloatArray:
        """Height (S, B) [m] of each body's lowest point above the root's origin, with a unit vector (3,) upwards."""
        heights = [(self.placed.carry(body.joint, body.points) @ up).min(axis=1) - body.radius for body in self.bodies]
        return np.stack(heights, axis=1)

    def penalise(self, chosen: Sequence[int]) -> tuple[float, FloatArray]:
        """Penalty of small distances of the chosen pairs, by hulls, and its gradient with respect to the positions."""
        pulled: list[_Pulled] = []
        penalty = 0.0
        for index in chosen:
            margin = self._pairs[index].margin + _EXTRA
            for s in np.flatnonzero(self.bounds[:, index] < margin).tolist():
                distance, ends = self._find_nearest(s, index)
                if distance < margin:
                    cost, slope = _soften((margin - distance) / _LENGTH)
                    penalty += cost
                    pulled += [(s, joint, point, -slope / _LENGTH * away) for joint, point, away in ends]
        slopes = np.zeros((len(self.bounds), self._kinematics.count))
        if pulled:
            samples, joints, points, pulls = (list(part) for part in zip(*pulled, strict=True))
            rates = self._kinematics.rates(self.placed, samples, joints, np.array(points))
            np.add.at(slopes, samples, np.einsum("eki,ei->ek", rates, np.array(pulls)))
        factor = _WEIGHT / len(self.bounds)
        return factor * penalty, factor * slopes @ self._kinematics.follow

    def _find_nearest(self, s: int, index: int) -> tuple[float, list[tuple[int, FloatArray, FloatArray]]]:
        """A distance by hulls, and of each body the joint, the nearest point and the direction away from the other."""
        pair = self._pairs[index]
        joint = self.bodies[pair.first].joint
        if pair.second < 0:
            away = self._planes[-1 - pair.second].normal
            return float(self.bounds[s, index]), [(joint, self.lowest[s, index], away)]
        result = self._compute(s, pair, False)
        normal, other = np.array(result.normal), self.bodies[pair.second].joint
        ends = [(joint, np.array(result.getNearestPoint1()), -normal)]
        # A penetration of hulls that is not found to converge is reported as any number.
        deepest = -min(self._reaches[pair.first], self._reaches[pair.second])
        return max(float(result.min_distance), deepest), [*ends, (other, np.array(result.getNearestPoint2()), normal)]

    def penalise_speed(self, rates: FloatArray, limit: float) -> tuple[float, FloatArray, FloatArray]:
        """Penalty of fast points, and its gradients with respect to (S, n) positions and velocities.

        Of each body the point farthest from its joint is looked at, and of all of them the fastest. With J_k its
        velocity and w_k that of rotation for a unit rate of joint k,  dJ_k/dx_j = w_j x J_k for j <= k, else w_k x J_j.
        """
        kinematics, placed, count = self._kinematics, self.placed, len(rates)
        velocities, spins = kinematics.find_velocities(placed, rates)
        tips = np.stack([placed.carry(body.joint, body.tip[None])[:, 0] for body in self.bodies], axis=1)
        joints = np.array([body.joint for body in self.bodies])
        own = velocities[:, joints] + np.cross(spins[:, joints], tips - placed.origins[:, joints])
        speeds = np.linalg.norm(own, axis=2)
        fastest = np.argmax(speeds, axis=1)
        rows = np.arange(count)
        costs, steep = _soften(np.maximum(speeds[rows, fastest] / (_SPARE * limit) - 1.0, 0.0) / _SPEED)
        samples = np.flatnonzero(costs > 0.0)
        slopes = np.zeros((2, count, kinematics.count))
        if len(samples):
            chosen = fastest[samples]
            unit = (own[samples, chosen] / speeds[samples, chosen, None])[:, None]
            jacobian = kinematics.rates(placed, samples, joints[chosen], tips[samples, chosen])
            turning = placed.angular[samples] * kinematics.supports[joints[chosen]][:, :, None]
            steps = (rates[samples] @ kinematics.follow.T)[:, :, None]
            beyond = np.cumsum((jacobian * steps)[:, ::-1], axis=1)[:, ::-1]
            before = np.cumsum(turning * steps, axis=1) - turning * steps
            by_position = np.cross(turning, beyond) + np.cross(before, jacobian)
            weights = (steep[samples] / (_SPEED * _SPARE * limit))[:, None]
            slopes[0, samples] = weights * (by_position * unit).sum(axis=2)
            slopes[1, samples] = weights * (jacobian * unit).sum(axis=2)
        factor = _WEIGHT / count
        positions, velocities = factor * slopes @ kinematics.follow
        return factor * float(costs.sum()), positions, velocities


def _soften(excess: Any) -> tuple[Any, Any]:
    """The cost of an excess, and its slope: the square up to one unit, then the straight line that continues it."""
    return np.where(excess < 1.0, excess**2, 2.0 * excess - 1.0), 2.0 * np.minimum(excess, 1.0)
