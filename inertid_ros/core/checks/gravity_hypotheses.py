"""Which configuration explains how the measured force follows gravity?

A configuration predicts the acceleration less gravity, a, in each pose. Under the right one f = m a + b, with the mass
and the bias of the load that is carried then. Poses are divided into runs of one load each, so that pick-ups and
contacts are explained under every configuration, at the price `_RUN` for each run:

    cost = min over divisions of  sum over runs of (sum |f - m a - b|^2 / s^2 + _RUN)

It is -2 log likelihood with the tolerance s, which grows with angular accelerations, since the distance of the centre
of mass is left out. Configurations are the given one; the sensor turned or mirrored; another
direction of gravity in the root frame (a tilted base); joints in degrees; and two joints interchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.compiled import compiled, inlined
from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.estimation.estimate import Sign
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.robot.robot import FramePath

_RUN = 25.0
"""Price of a run of poses with a load of its own: four unknowns, wherever it begins, at odds of 1e5 to 1."""
_FLOOR = 0.1
"""Force [N] by which a sound sensor may miss in any pose: drift and cables."""
_SHARE = 0.02
"""The same as a part of the weight: gains, cross-talk, tilt and delay within their priors (1 %, 0.5 degrees, 5 ms)."""
_LEAST_SCATTER = 0.25
"""Scatter of gravity, as a part of its square, that is taken at least to find the weight: less may be due to a wrong
configuration."""
_LEVER = 0.1
"""Distance [m] of a centre of mass that angular accelerations act on: that of grippers with something in them."""
_IMPLAUSIBLE = 100.0
"""Median angular acceleration [rad/s²] that no arm keeps up: the joint states are wrong, and it is ignored."""
_UNSEEN = 0.05
"""The tolerance as a part of the weight then: accelerations of 0.5 m/s² that joint states do not show."""
_SUPERIOR = 50.0
"""Cost by which another configuration must be better: odds of 1e11 to 1 before anything is called an error."""
_SUPERIOR_SHARE = 0.7
"""Part of the cost of the configuration as it is that another one may have at most."""
_EQUAL = 10.0
"""Difference in cost below which two configurations explain the data equally well: odds of 150 to 1."""
_ENOUGH_TURN = 0.5
"""Standard deviation [m/s²] of gravity in a second direction from which configurations are compared at all: turns by 3
degrees. How well they can be told apart is part of the likelihood."""
_SLIGHT = 5.0
"""Turns and tilts [deg] below this are no error of the configuration: ten times what mountings miss, and estimated."""
_SMALL = 30.0
"""Angle [deg] up to which another direction of gravity is called a tilt of the base, and systematic errors look like a
turn."""
_FLAT = 0.05
"""Smallest singular value, as a part of the largest, below which gravity has turned in one plane only and the axis
across it is a matter of choice."""
_LONG = 6
"""Poses that one load must explain to count as explained: shorter runs fit anything."""
_EXPLAINED = 0.5
"""Part of the poses in long runs below which the force does not follow gravity."""
_FOLLOWS = 0.4
"""Part of the forces' variance that one load explains less of where they wander; pick-and-place leaves 0.6."""
_POSES_OF_A_LOAD = 10
"""Poses of a run, on the average, below which loads change too often to be loads; pick-and-place every four seconds has
20."""
_RUNS = 5
"""Runs that two changes of the load make, each with a pose in which the filters see both loads."""
_PASSED = 0.8
"""Part of the poses in long runs from which the configuration is seen to be right."""
_FEWEST = 4
"""Poses at rest that show whether the configuration is right if one load explains them: 12 forces, 4 unknowns."""
_ROUNDS = 3
"""Rounds of fitting an orientation and dividing the poses under it."""

Runs = list[tuple[int, int]]
"""First pose of each run, and the one after its last."""


class Poses(NamedTuple):
    """What was measured in N poses, or at N times of a motion.

    Attributes:
        motion: (N, 3) acceleration of the sensor in its own axes [m/s²].
        gravity: (N, 3) there, as configured.
        wrenches: (N, 6) in the driver's sign.
        turning: (N,) size of the angular acceleration, and of the square of the angular velocity [rad/s²].
        positions: (N, n) of the joints.
    """

    motion: FloatArray
    gravity: FloatArray
    wrenches: FloatArray
    turning: FloatArray
    positions: FloatArray

    @property
    def felt(self) -> FloatArray:
        """Accelerations less gravity (N, 3)."""
        return self.motion - self.gravity


class Verdict(NamedTuple):
    """What the forces say: an error, if there is one, and the runs of one load each, under the configuration as it is.

    `has_passed` tells whether forces were seen to follow gravity; where they no longer do, something touches the load.
    """

    findings: tuple[Finding, ...]
    has_passed: bool
    runs: Runs


class _Hypothesis(NamedTuple):
    """A configuration under which accelerations are others, what it costs, how it is said, and what it turns [deg]."""

    cost: float
    felt: FloatArray
    code: str
    message: str
    angle: float


def judge_forces(poses: Poses, path: FramePath, gravity: FloatArray) -> Verdict:
    """Compare the configuration as it is with the others, for gravity (3,) in the root frame."""
    felt, forces = poses.felt, poses.wrenches[:, :3]
    weights = _weigh(poses, float(np.linalg.norm(gravity)))
    cost, runs = divide(felt, forces, weights)
    explained = sum(stop - start for start, stop in runs if stop - start >= _LONG) / len(felt)
    if cost < _SUPERIOR:
        return Verdict((), explained > _PASSED and find_turn(felt)[2] > _ENOUGH_TURN, runs)
    others = [item for item in _suppose(poses, path, gravity, weights, runs) if find_turn(item.felt)[1] > _ENOUGH_TURN]
    least = min((item.cost for item in others), default=np.inf)
    likely = sorted((item for item in others if item.cost < least + _EQUAL), key=lambda item: item.cost)
    # Systematic errors within the tolerance are the same in every pose, and a slight turn explains a part of them.
    allowed = len(felt) if any(item.angle < _SMALL for item in likely) else 0.0
    if least < min(cost - _SUPERIOR - allowed, _SUPERIOR_SHARE * cost):
        if all(item.message for item in likely):
            message = "; or ".join(list(dict.fromkeys(item.message for item in likely))[:2])
            return Verdict((Finding("error", likely[0].code, message),), False, runs)
    elif find_turn(felt)[1] > _ENOUGH_TURN and (explained < _EXPLAINED or _wanders(felt, forces, weights, runs)):
        return Verdict((NO_FRAME,), False, runs)
    return Verdict((), False, runs)


def passes(poses: Poses, gravity: FloatArray) -> bool:
    """Whether one load explains these poses, each of them, under the configuration as it is."""
    if len(poses.motion) < _FEWEST or find_turn(poses.felt)[2] <= _ENOUGH_TURN:
        return False
    weights = _weigh(poses, float(np.linalg.norm(gravity)))
    return divide(poses.felt, poses.wrenches[:, :3], weights)[0] < _RUN


def find_turn(felt: FloatArray) -> FloatArray:
    """Standard deviations (3,) [m/s²] of gravity, in the direction in which it has turned most first."""
    return np.asarray(np.sqrt(np.maximum(np.linalg.eigvalsh(np.cov(felt.T))[::-1], 0.0)))


def _wanders(felt: FloatArray, forces: FloatArray, weights: FloatArray, runs: Runs) -> bool:
    """Whether runs are many, each with its own bias, and one load in any orientation explains little of all forces."""
    a, f = felt - felt.mean(axis=0), forces - forces.mean(axis=0)
    share = np.linalg.svd(f.T @ a, compute_uv=False).sum() ** 2 / ((a * a).sum() * (f * f).sum())
    if share >= _FOLLOWS or len(felt) >= _POSES_OF_A_LOAD * len(runs) or len(runs) <= _RUNS:
        return False
    return find_bias_cost(felt, forces, weights, runs) > _RUN * len(runs)


def find_bias_cost(felt: FloatArray, forces: FloatArray, weights: FloatArray, runs: Runs) -> float:
    """How much more (see the cost above) it costs that all runs have the same bias than that each has its own.

    Loads that a gripper takes in turn have the masses of their own, and the bias of the one sensor.
    """
    root, own = np.sqrt(weights)[:, None], 0.0
    columns, sums = np.zeros((*felt.shape, len(runs))), sum_up(felt, forces, weights)
    for index, (start, stop) in enumerate(runs):
        columns[start:stop, :, index] = felt[start:stop]
        own += find_residual(sums[start], sums[stop])
    matrix = np.dstack((columns, np.broadcast_to(np.eye(3), (len(felt), 3, 3)))) * root[:, :, None]
    matrix, target = matrix.reshape(3 * len(felt), -1), (root * forces).ravel()
    left = target - matrix @ np.linalg.lstsq(matrix, target, rcond=None)[0]
    return float(left @ left) - own


def _weigh(poses: Poses, gravity: float) -> FloatArray:
    """One over the squared tolerance of each force [1/N²]; the scatter of forces and gravity gives the weight."""
    scatter = np.clip(poses.felt.var(axis=0).sum() / gravity**2, _LEAST_SCATTER, 1.0)
    weight = float(np.sqrt(poses.wrenches[:, :3].var(axis=0).sum() / scatter))
    is_plausible = np.median(poses.turning) < _IMPLAUSIBLE
    share = np.hypot(_SHARE, _LEVER * poses.turning / gravity if is_plausible else _UNSEEN)
    return np.asarray(np.ones(len(poses.felt)) / (_FLOOR**2 + (share * weight) ** 2))


def divide(felt: FloatArray, forces: FloatArray, weights: FloatArray) -> tuple[float, Runs]:
    """The cost (see above) of the best division into runs, and these, by dynamic programming."""
    count = len(felt)
    cost, before = np.full(count + 1, -_RUN), np.zeros(count + 1, dtype=np.int64)
    find_divisions(sum_up(felt, forces, weights), cost, before)
    cuts = [count]
    while cuts[-1] > 0:
        cuts.append(int(before[cuts[-1]]))
    return float(cost[count]), list(zip(cuts[:0:-1], cuts[-2::-1], strict=True))


def sum_up(felt: FloatArray, forces: FloatArray, weights: FloatArray) -> FloatArray:
    """Sums (N + 1, 10) of a, f, a a, f f, a f and 1 over the first poses, weighed, with a and f about their means."""
    a, f = felt - felt.mean(axis=0), forces - forces.mean(axis=0)
    joined = np.column_stack((a, f, (a * a).sum(axis=1), (f * f).sum(axis=1), (a * f).sum(axis=1), np.ones(len(a))))
    return np.vstack((np.zeros(10), np.cumsum(weights[:, None] * joined, axis=0)))


@compiled
def find_divisions(sums: FloatArray, cost: FloatArray, before: IntArray) -> None:
    """The best division of the first poses, for any number of them.

    Args:
        sums: (N + 1, 10) see `sum_up`.
        cost: (N + 1,) of the division; that of no pose is given.
        before: (N + 1,) the first pose of its last run.
    """
    for stop in range(1, len(sums)):
        least, first = np.inf, 0
        for start in range(stop):
            total = cost[start] + find_residual(sums[start], sums[stop]) + _RUN
            if total < least:
                least, first = total, start
        cost[stop], before[stop] = least, first


@inlined
def find_residual(first: FloatArray, last: FloatArray) -> float:
    """What the best m and b leave of the weighed squares of a run, from sums (10,) before it and at its end."""
    total = max(last[9] - first[9], 1e-9)
    aa, ff, af = last[6] - first[6], last[7] - first[7], last[8] - first[8]
    for i in range(3):
        a, f = last[i] - first[i], last[3 + i] - first[3 + i]
        aa -= a * a / total
        ff -= f * f / total
        af -= a * f / total
    return float(max(ff - af * af / max(aa, 1e-9), 0.0))


def _suppose(
    poses: Poses, path: FramePath, gravity: FloatArray, weights: FloatArray, runs: Runs
) -> Iterator[_Hypothesis]:
    """All other configurations, the most special first: of those that are equally good the special one is named."""
    forces = poses.wrenches[:, :3]

    def suppose(felt: FloatArray, code: str, message: str, angle: float = 180.0) -> _Hypothesis:
        return _Hypothesis(divide(felt, forces, weights)[0], felt, code, message, angle)

    degrees = -_turn_back(path, np.radians(poses.positions)) @ gravity
    yield suppose(degrees, "joints_in_degrees", "the joint positions are in degrees: publish radians")
    for first, second in combinations(range(len(path.joint_names)), 2):
        order = list(range(len(path.joint_names)))
        order[first], order[second] = second, first
        message = (
            f"the positions of {path.joint_names[first]} and {path.joint_names[second]} are interchanged: correct the "
            "order of names or positions in joint_states"
        )
        yield suppose(-_turn_back(path, poses.positions[:, order]) @ gravity, "joints_interchanged", message)
    back = _turn_back(path, poses.positions)
    direction = _fit_gravity(poses, weights, back, gravity)
    near, far = (
        suppose(
            poses.motion - back @ (side * direction), "gravity_direction", *_name_gravity(side * direction, gravity)
        )
        for side in (1.0, -1.0)
    )
    yield far if far.cost < near.cost - _EQUAL else near
    for start in ([(0, len(forces))], runs):
        turn, divided = None, start
        for _ in range(_ROUNDS):
            turn = _fit_turn(poses.felt, forces, weights, divided)
            divided = divide(poses.felt @ turn.T, forces, weights)[1]
        if turn is not None:
            yield suppose(poses.felt @ turn.T, "frame_turned", *_name_turn(turn))


def _turn_back(path: FramePath, positions: FloatArray) -> FloatArray:
    """Rotations (N, 3, 3) from the root's axes to the sensor's."""
    model, data = path.model, path.model.createData()
    turns = np.empty((len(positions), 3, 3))
    for index, position in enumerate(positions):
        pin.forwardKinematics(model, data, np.append(position, 0.0))
        turns[index] = data.oMi[model.njoints - 1].rotation.T
    return turns


def _fit_gravity(poses: Poses, weights: FloatArray, back: FloatArray, gravity: FloatArray) -> FloatArray:
    """Gravity (3,) in the root frame from f = m motion - back (m g) + b, on the side of the configured one."""
    count = len(back)
    matrix = np.column_stack((poses.motion.ravel(), -back.reshape(-1, 3), np.tile(np.eye(3), (count, 1))))
    root = np.sqrt(np.repeat(weights / weights.max(), 3))
    weight = np.linalg.lstsq(root[:, None] * matrix, root * poses.wrenches[:, :3].ravel(), rcond=1e-6)[0][1:4]
    size = float(np.linalg.norm(weight))
    if size == 0.0:
        return gravity
    side = 1.0 if weight @ gravity >= 0.0 else -1.0
    return np.asarray(side * weight / size * np.linalg.norm(gravity))


def _name_gravity(direction: FloatArray, gravity: FloatArray) -> tuple[str, float]:
    """The message, empty if it is much the same, and the angle."""
    angle = float(np.degrees(np.arccos(np.clip(direction @ gravity / (gravity @ gravity), -1.0, 1.0))))
    if angle < _SLIGHT:
        return "", angle
    listed = ", ".join(f"{value:.2f}" for value in direction)
    what = f"the base is tilted by {angle:.0f} deg" if angle < _SMALL else "gravity has another direction"
    message = f"{what}: the force follows gravity if that is along ({listed}) m/s² in the root frame: set gravity"
    return message, angle


def _fit_turn(felt: FloatArray, forces: FloatArray, weights: FloatArray, runs: Runs) -> FloatArray:
    """The orthogonal matrix (3, 3) that turns accelerations into the directions of the forces best, within runs."""
    cross = np.zeros((3, 3))
    for start, stop in runs:
        if stop - start >= 4:
            a, f, w = felt[start:stop], forces[start:stop], weights[start:stop]
            cross += (w[:, None] * (f - w @ f / w.sum())).T @ (a - w @ a / w.sum())
    left, singular, right = np.linalg.svd(cross)
    turn = left @ right
    if singular[2] < _FLAT * singular[0]:
        other = left @ np.diag([1.0, 1.0, -1.0]) @ right
        turn = max(turn, other, key=_squareness)
    return np.asarray(turn)


def _squareness(turn: FloatArray) -> float:
    """How nearly a matrix exchanges and flips axes, as sensors are mounted: 3 if it does exactly that."""
    return float((np.abs(turn).max(axis=1) ** 2).sum())


def _name_turn(turn: FloatArray) -> tuple[str, float]:
    """The message, empty if the frame is much the same, and the angle; the sign of the wrench goes with it."""
    sign = Sign.ON_LOAD if np.linalg.det(turn) > 0 else Sign.ON_SENSOR
    angle, axis = _angle_and_axis(sign.factor * turn)
    if angle < _SLIGHT:
        return "", angle
    is_mirrored = angle > 170.0
    message = (
        f"the force follows gravity only if the sensor frame is turned by {angle:.0f} deg about "
        f"({axis[0]:.2f}, {axis[1]:.2f}, {axis[2]:.2f}), with wrench_sign {sign}"
        f"{' (or one of its axes is mirrored: a left-handed sensor)' if is_mirrored else ''}: "
        "correct the frame of the sensor in the URDF, or load.sensor_frame"
    )
    return message, angle


def _angle_and_axis(turn: FloatArray) -> tuple[float, FloatArray]:
    """Angle [deg] and axis of a rotation matrix."""
    angle = float(np.degrees(np.arccos(np.clip((np.trace(turn) - 1.0) / 2.0, -1.0, 1.0))))
    values, vectors = np.linalg.eig(turn)
    axis = np.real(vectors[:, np.argmin(np.abs(values - 1.0))])
    skew = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return angle, axis if axis @ skew >= 0 else -axis


NO_FRAME = Finding(
    "error",
    "frame_unclear",
    "the force does not follow gravity in any orientation of the sensor frame: something touches the load, or joint "
    "states and wrench are inconsistent (another robot, another clock, wrong units)",
)
