"""Whether a motion stays in a safe volume, proved for every moment and not for samples alone.

Bodies keep a margin from planes, from boxes, and from each other. At a moment t with distance d, all joints together
cannot carry a body further than D within a time h around t (`Kinematics.find_displacements`, from the velocities at t
and the acceleration limits), so that from t - h to t + h the distance is at least d - D. Where that is less than the
margin the interval is halved, until it is certain, or a distance below the margin is found.

Distances to planes are those of convex hulls, which are the same as those of meshes. Distances to boxes are those of
hulls, too. Distances between links are those of the meshes, wherever those of the hulls do not suffice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from inertid_ros.core.errors import InertidError
from inertid_ros.core.records import BoolArray, FloatArray
from inertid_ros.motions.bodies import Body
from inertid_ros.motions.distances import FLOOR, KEEP_OUT, SELF, Pair, Plane, Scene
from inertid_ros.motions.motion import Hold, JointPath, Motion
from inertid_ros.motions.multisine import JointLimits
from inertid_ros.motions.placement import Kinematics
from inertid_ros.motions.trajectory import RATE

_COARSE = 0.05
"""Half the length [s] of the intervals that are looked at first."""
_FINEST = 1e-4
"""Half the length [s] of the last intervals: a distance that is not certain then is within 1 mm of the margin."""
_TOLERANCE = 1e-3
"""To which the smallest distance is found where it is shown [m]."""
_POSES = 64
"""Random poses in which it is seen whether two bodies can be kept apart at all."""
_SPEED_RATE = 200.0
"""Samples per second at which speeds and heights are looked at."""
_SPEED_MARGIN = 0.995
"""Share of the speed limit that is used, which covers what lies between those samples."""
_SEARCHED = 101
"""Samples of a path that are looked at in a search, at most: the proof at the end looks at all of it."""


class UnsafeMotionError(InertidError):
    """No motion was found that is known to do no harm."""


class Closest(NamedTuple):
    """Two bodies, or a body and a plane, at a distance [m] at a time [s] of a motion."""

    kind: str
    first: str
    second: str
    distance: float
    time: float


class Extremes(NamedTuple):
    """The lowest point of a motion [m] and its fastest one [m/s], each with the name of its body and the time [s]."""

    height: float
    lowest: str
    lowest_time: float
    speed: float
    fastest: str
    fastest_time: float


@dataclass(frozen=True, slots=True)
class SafeVolume:
    """What all bodies of a robot keep away from, and by how much.

    Attributes:
        planes: not to be crossed.
        boxes: bodies of the surroundings, which do not move.
        ignored: pairs of names that need not be kept apart.
        margin: [m] to planes and boxes.
        self_margin: [m] between links.
        speed: [m/s] of the fastest point of all bodies.
    """

    planes: tuple[Plane, ...] = ()
    boxes: tuple[Body, ...] = ()
    ignored: frozenset[frozenset[str]] = frozenset()
    margin: float = 0.03
    self_margin: float = 0.01
    speed: float = np.inf


class SafetyCheck:
    """Checks motions of a robot against a safe volume."""

    def __init__(self, kinematics: Kinematics, bodies: Sequence[Body], volume: SafeVolume, limits: JointLimits) -> None:
        """Find out what must be kept apart; UnsafeMotionError if no pose does so with a pair that is not ignored."""
        self.volume = volume
        self._kinematics, self._limits = kinematics, limits
        self._bodies = (*bodies, *volume.boxes)
        self._pairs = self._list_pairs(len(bodies))
        self.margins = np.array([pair.margin for pair in self._pairs])
        self.kinds = np.array([pair.kind for pair in self._pairs])
        self._searched = self._find_separable()
        """Indices of the pairs whose hulls are apart often enough for a search by hulls."""

    def _list_pairs(self, own: int) -> list[Pair]:
        """All pairs of which one moves with respect to the other, but for neighbours, which one joint connects."""
        pairs, volume = [], self.volume
        supports, moving = self._kinematics.supports, self._kinematics.moving
        for a, first in enumerate(self._bodies[:own]):
            for index, plane in enumerate(volume.planes):
                if self._can_approach(first.joint, plane) and not self._is_ignored(first.name, plane.name):
                    pairs.append(Pair(FLOOR, a, -1 - index, 0, volume.margin))
            for b in range(a + 1, len(self._bodies)):
                second, is_box = self._bodies[b], b >= own
                between = (supports[first.joint] ^ supports[second.joint]) & moving
                if between.sum() <= (0 if is_box else 1) or self._is_ignored(first.name, second.name):
                    continue
                common = np.flatnonzero(supports[first.joint] & supports[second.joint])
                stop = int(common[-1]) + 1 if len(common) else 0
                kind, margin = (KEEP_OUT, volume.margin) if is_box else (SELF, volume.self_margin)
                pairs.append(Pair(kind, a, b, stop, margin))
        return pairs

    def _can_approach(self, joint: int, plane: Plane) -> bool:
        """Whether a joint's frame can get nearer to a plane; it cannot if all that moves it turns about the normal."""
        placed = self._kinematics.place(self._middle[None])
        above = self._kinematics.supports[joint] & self._kinematics.moving
        tilts = np.linalg.norm(np.cross(placed.angular[0, above], plane.normal), axis=1)
        slides = np.abs(placed.linear[0, above] @ plane.normal)
        return bool(np.any(tilts > 1e-6) or np.any(slides > 1e-6))

    @property
    def _middle(self) -> FloatArray:
        return np.asarray((self._limits.lower + self._limits.upper) / 2.0)

    def _is_ignored(self, first: str, second: str) -> bool:
        return frozenset((first, second)) in self.volume.ignored

    def _find_separable(self) -> list[int]:
        """Pairs whose hulls are apart in most of many poses; UnsafeMotionError if one is too close in all of them."""
        if not self._pairs:
            return []
        random, count = np.random.default_rng(0), len(self._pairs)
        poses = random.uniform(self._limits.lower, self._limits.upper, (_POSES, len(self._limits.lower)))
        scene = self.place(np.vstack([self._middle, poses]))
        hulls = np.array([[scene.measure(s, pair, False) for pair in range(count)] for s in range(_POSES + 1)])
        stuck = set()
        for index in np.flatnonzero(hulls.max(axis=0) < self.margins).tolist():
            if max(scene.measure(s, index, True) for s in range(_POSES + 1)) < self.margins[index]:
                found = self.name(index, 0.0, 0.0)
                stuck.add(f"'{found.first}' and '{found.second}'")
        if stuck:
            raise UnsafeMotionError(
                f"in every pose these overlap, or are closer than the margin: {'; '.join(sorted(stuck))}. If that is "
                "so by design, and no motion can make them touch, name each pair under ignore_pairs in a file "
                "(--workspace); otherwise correct the collision geometry, or reduce the margin"
            )
        return [int(index) for index in np.flatnonzero(np.median(hulls, axis=0) >= self.margins)]

    def place(self, positions: FloatArray) -> Scene:
        """All bodies at (S, n) positions."""
        return Scene(self._kinematics, self._bodies, self.volume.planes, self._pairs, positions)

    def name(self, index: int, distance: float, time: float) -> Closest:
        """What is shown of a pair."""
        pair = self._pairs[index]
        planes = self.volume.planes
        other = planes[-1 - pair.second].name if pair.second < 0 else self._bodies[pair.second].name
        return Closest(pair.kind, self._bodies[pair.first].name, other, distance, time)

    def find_violation(self, motion: Motion) -> Closest | None:
        """What is too close during a motion, or may be, in no special order; None if all of the motion is safe."""
        return self._survey(motion, None)

    def find_closest(self, motion: Motion) -> list[Closest]:
        """The smallest distance of each kind during a safe motion, to a millimetre, and never stated too large.

        It is never below the margin either, which is certain.
        """
        best: dict[str, Closest] = {}
        violation = self._survey(motion, best)
        if violation is not None:
            return [violation]
        certain = {SELF: self.volume.self_margin}
        return [
            found._replace(distance=max(found.distance - _TOLERANCE, certain.get(found.kind, self.volume.margin)))
            for found in best.values()
        ]

    def find_pose_violation(self, pose: FloatArray) -> Closest | None:
        """What is too close in a pose (n,)."""
        return self.find_violation(Hold(pose, 2.0 * _COARSE))

    def _survey(self, motion: Motion, best: dict[str, Closest] | None) -> Closest | None:
        """Halve intervals until all distances are certain, see the top of this file, or one is not.

        If `best` is given, it gets the smallest distance of each kind, and intervals are halved until that is certain.
        """
        acceleration, span = self._limits.acceleration, self._limits.upper - self._limits.lower
        aside = acceleration / (8.0 * RATE**2)  # a straight line between two points that are written is off by this
        count = max(1, int(np.ceil(motion.duration / (2.0 * _COARSE))))
        half = motion.duration / (2.0 * count)
        middles = half * (1.0 + 2.0 * np.arange(count))
        active = np.ones((count, len(self._pairs)), dtype=bool)
        while active.any():
            path = motion.at(middles)
            scene = self.place(path.positions)
            changes = np.abs(path.velocities) * half + acceleration * half**2 / 2.0 + aside
            moves = scene.find_moves(np.minimum(changes, span))
            for s, time in enumerate(middles.tolist()):
                violation = self._look(scene, s, time, moves[s], active[s], best)
                if violation is not None:
                    return violation
            left = active.any(axis=1)
            if half < _FINEST and left.any():
                s, index = (int(place) for place in np.argwhere(active)[0])
                return self.name(index, self.margins[index], middles[s])
            half /= 2.0
            middles = np.concatenate([middles[left] - half, middles[left] + half])
            active = np.concatenate([active[left], active[left]])
        return None

    def _look(
        self, scene: Scene, s: int, time: float, moves: FloatArray, active: BoolArray, best: dict[str, Closest] | None
    ) -> Closest | None:
        """Take the pairs that are certain around one moment out of the active ones; return one that is too close."""
        needed = self.margins
        if best is not None:
            known = np.array([best[kind].distance - _TOLERANCE if kind in best else np.inf for kind in self.kinds])
            needed = np.maximum(needed, known)
        active &= scene.bounds[s] - moves < needed
        for index in np.flatnonzero(active).tolist():
            distance = scene.measure(s, index, False)
            if self.kinds[index] == SELF and distance - moves[index] < needed[index]:
                distance = scene.measure(s, index, True)
            if distance < self.margins[index]:
                return self.name(index, distance, time)
            active[index] = distance - moves[index] < needed[index]
            if best is not None and active[index]:
                kind = self._pairs[index].kind
                if kind not in best or distance < best[kind].distance:
                    best[kind] = self.name(index, distance, time)
                    needed = np.where(self.kinds == kind, np.maximum(self.margins, distance - _TOLERANCE), needed)
                    active[index] = distance - moves[index] < needed[index]
        return None

    def verify(self, motion: Motion) -> None:
        """Raise UnsafeMotionError unless a motion is safe: the last look at what is to be written."""
        found = self.find_violation(motion)
        if found is not None or not self.holds_speed(motion):
            what = "the speed limit" if found is None else f"'{found.first}' and '{found.second}'"
            raise UnsafeMotionError(f"the motion is not safe: {what}")

    def is_safe(self, motion: Motion) -> bool:
        """Whether a motion keeps all margins and the speed limit."""
        return self.holds_speed(motion) and self.find_violation(motion) is None

    def holds_speed(self, motion: Motion) -> bool:
        """Whether no point is faster than the limit."""
        if not np.isfinite(self.volume.speed):
            return True
        path = motion.at(_list_times(motion))
        speeds = self._find_speeds(self.place(path.positions), path)
        return bool(speeds.max() <= _SPEED_MARGIN * self.volume.speed)

    def find_extremes(self, motion: Motion, up: FloatArray) -> Extremes:
        """The lowest point of all that moves up and down, and the fastest of all, with a unit vector (3,) upwards."""
        times = _list_times(motion)
        path = motion.at(times)
        scene = self.place(path.positions)
        speeds = self._find_speeds(scene, path)
        can_fall = [self._can_approach(body.joint, Plane("", up, 0.0)) for body in self._bodies]
        heights = np.where(can_fall, scene.find_heights(up), np.inf)
        s, body = np.unravel_index(np.argmin(heights), heights.shape)
        t, other = np.unravel_index(np.argmax(speeds), speeds.shape)
        lowest = float(heights[s, body]), self._bodies[body].name, float(times[s])
        return Extremes(*lowest, float(speeds[t, other]), self._bodies[other].name, float(times[t]))

    def _find_speeds(self, scene: Scene, path: JointPath) -> FloatArray:
        """Speed (S, B) [m/s] of the fastest point of each body along a path, zero for what no joint moves."""
        is_still = ~self._kinematics.carried[[body.joint for body in self._bodies]]
        return np.where(is_still, 0.0, scene.find_speeds(path.velocities))

    def penalise(self, path: JointPath) -> tuple[float, JointPath]:
        """Penalty of what a path does wrong at its samples, by hulls, and its gradient with respect to all of them."""
        stride = max(1, int(np.ceil(len(path.positions) / _SEARCHED)))
        rates = path.velocities[::stride]
        scene = self.place(path.positions[::stride])
        slopes = JointPath(*(np.zeros(part.shape) for part in path))
        penalty, slopes.positions[::stride] = scene.penalise(self._searched)
        if np.isfinite(self.volume.speed):
            fast, by_position, by_velocity = scene.penalise_speed(rates, self.volume.speed)
            penalty += fast
            slopes.positions[::stride] += by_position
            slopes.velocities[::stride] += by_velocity
        return penalty, slopes

    def list_neutral(self) -> list[Closest]:
        """Links that are too close to each other where all joints are zero, or as near to it as they can be."""
        neutral = np.clip(0.0, self._limits.lower, self._limits.upper)
        return [found for found in self.list_obstacles(neutral[None]) if found.kind == SELF]

    def list_obstacles(self, positions: FloatArray) -> list[Closest]:
        """Everything that is too close at some of (S, n) positions, each once, where it is closest."""
        scene = self.place(positions)
        found = []
        for index in range(len(self._pairs)):
            close = np.flatnonzero(scene.bounds[:, index] < self.margins[index]).tolist()
            distances = [scene.measure(s, index, True) for s in close]
            if distances and min(distances) < self.margins[index]:
                found.append(self.name(index, min(distances), 0.0))
        return found


def _list_times(motion: Motion) -> FloatArray:
    """Moments at which speeds and heights are looked at."""
    return np.linspace(0.0, motion.duration, 1 + int(np.ceil(motion.duration * _SPEED_RATE)))
