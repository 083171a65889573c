"""Masses and first moments from poses at rest on a base sensor, and the pose that would add most to them.

With g the gravity in the sensor's axes, and R_i, p_i axes and origin of body i there, the wrench that holds the arm is

    f = -sum_i m_i g        n = g x sum_i (R_i mc_i + p_i m_i)

(West et al. 1989, eq. 15 and 25, for any tree of bodies.) Body 0 is what stands on the sensor and is moved by no joint.

Poses are noisy: a joint that was meant to stay is never twice at the same place, and would seem to separate what only
noise separates. So which combinations are identifiable is judged with positions and directions of gravity that are
as good as equal made equal; their values are then found with the measured ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.base_parameters import BaseParameters, find_base_parameters
from inertid_ros.core.equations.equation import WRENCH_NAMES
from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, from_pinocchio, pinocchio_columns
from inertid_ros.core.robot.robot import ArmModel

GRAVITY_NAMES = PARAMETER_NAMES[:4]
"""Mass and first moments: all that gravity acts upon."""
SAME_POSITION = 0.005
"""Positions of a joint closer than this [rad or m] are taken as equal: a joint that was meant to stay does."""
SAME_DIRECTION = 0.02
"""Directions of gravity closer than this [rad] are taken as equal: a base that was meant to stay does."""

_CANDIDATES = 500
"""Poses that are drawn, of which the best is suggested: with more of them it is hardly better."""
_UNSPANNED = 1e-3
"""Part of the largest coefficient by which what is asked for may differ from what was identified: rounding of URDFs."""
_NO_INFORMATION = 1e-9
"""Eigenvalue of a normal matrix with unit diagonal below which its direction is unseen; rounding leaves 1e-16."""


class StaticModel:
    """Regressors of an arm at rest.

    Attributes:
        arm: the arm.
        names: the F unknowns: m, mcx, mcy, mcz of the base in the root frame and of each link in its own, then the six
            offsets of the sensor if they are unknown.
        with_offset: whether they are.
        urdf_parameters: (F,) what the URDF says of them, and no offset.
    """

    def __init__(self, arm: ArmModel, base_frame: str, with_offset: bool) -> None:
        """Take an arm, the frame of its base sensor, which no joint may move, and whether the offset is unknown."""
        self.arm = arm
        self._model = arm.model.copy()
        self._data = self._model.createData()
        self._from_root = arm.place_of(base_frame).inverse()
        self.with_offset = with_offset
        root = next(frame.name for frame in self._model.frames if frame.type == pin.FrameType.BODY)
        names = [f"{link}.{name}" for link in (root, *arm.link_names) for name in GRAVITY_NAMES]
        self.names = (*names, *(f"sensor.{name}" for name in WRENCH_NAMES if with_offset))
        bodies = [from_pinocchio(inertia)[:4] for inertia in self._model.inertias]
        self.urdf_parameters = np.concatenate((*bodies, np.zeros(len(self.names) - len(names))))

    def to_sensor(self, gravity: FloatArray) -> FloatArray:
        """Turn a vector (..., 3) from the axes of the root into those of the sensor."""
        return np.asarray(gravity @ self._from_root.rotation.T)

    def wrench_regressor(self, positions: FloatArray, gravities: FloatArray) -> FloatArray:
        """Regressor (N, 6, F) of the wrench on the arm, in the sensor's frame, with gravities (N, 3) in its axes."""
        columns = np.zeros((len(positions), 6, len(self.names)))
        if self.with_offset:
            columns[:, :, -6:] = np.eye(6)
        for rows, position, gravity in zip(columns, positions, gravities, strict=True):
            pin.forwardKinematics(self._model, self._data, position)
            turn = pin.skew(gravity)
            for body, place in enumerate(self._data.oMi):
                in_sensor = self._from_root * place
                start = 4 * body
                rows[:3, start] = -gravity
                rows[3:, start] = turn @ in_sensor.translation
                rows[3:, start + 1 : start + 4] = turn @ in_sensor.rotation
        return columns

    def torque_regressor(self, positions: FloatArray, gravities: FloatArray) -> FloatArray:
        """Regressor (N, n, F) of the efforts that hold the joints against gravity; arguments as above."""
        joints = self._model.nv
        order = pinocchio_columns(joints).reshape(joints, 10)[:, :4].ravel()
        columns = np.zeros((len(positions), joints, len(self.names)))
        rest = np.zeros(joints)
        for rows, position, gravity in zip(columns, positions, gravities, strict=True):
            self._model.gravity.linear = self._from_root.rotation.T @ gravity
            efforts = pin.computeJointTorqueRegressor(self._model, self._data, position, rest, rest)
            rows[:, 4 : 4 + len(order)] = efforts[:, order]
        return columns


def gravity_from_forces(forces: FloatArray, magnitude: float) -> FloatArray:
    """Gravity (N, 3) in the sensor's axes from the forces (N, 3) that hold the arm up (West et al. 1989, eq. 37)."""
    sizes = np.linalg.norm(forces, axis=1, keepdims=True)
    if np.any(sizes == 0.0):
        raise NotIdentifiedError("a force of 0 N has no direction: give gravity instead of taking it from the force")
    return np.asarray(-magnitude * forces / sizes)


class StaticPoses(NamedTuple):
    """Measurements in N poses at rest: joint positions (N, n), and gravities (N, 3) in the sensor's axes [m/s^2].

    Wrenches (N, 6) are what the ground exerts on the robot, in the sensor's frame, with their standard deviations.
    """

    positions: FloatArray
    gravities: FloatArray
    wrenches: FloatArray
    deviations: FloatArray


@dataclass(frozen=True, slots=True)
class StaticSolution:
    """Gravity parameters identified from poses.

    Attributes:
        model: what the parameters are of.
        poses: what they were found from, with the deviations that were used.
        base: the combinations that could be identified.
        values: (B,) of the combinations [kg, kg m, N, Nm].
        covariance: (B, B) of the values.
        condition: condition number of the weighted regressor, its columns scaled to the same length: how much larger
            relative errors of the parameters can be than those of the wrenches.
        residuals: (N, 6) measured less predicted wrenches.
        fit: root mean square of the residuals in their standard deviations.
    """

    model: StaticModel
    poses: StaticPoses
    base: BaseParameters
    values: FloatArray
    covariance: FloatArray
    condition: float
    residuals: FloatArray
    fit: float

    def find(self, combinations: FloatArray) -> FloatArray:
        """Values (...) of combinations (..., F) of the unknowns; NotIdentifiedError if the poses do not tell them."""
        kept = combinations[..., self.base.columns]
        unspanned = combinations - kept @ self.base.combination
        if np.abs(unspanned).max(initial=0.0) > _UNSPANNED * np.abs(combinations).max(initial=0.0):
            raise NotIdentifiedError(
                "what is asked for depends on masses that were not identified: add poses that move every joint, and "
                "another orientation of the base"
            )
        return np.asarray(kept @ self.values)


def solve_static(model: StaticModel, poses: StaticPoses, from_force: bool = False) -> StaticSolution:
    """Find what the poses determine, by weighted least squares.

    The covariance is that of the stated deviations, enlarged where the residuals are larger than those. With
    `from_force` gravity's directions are those of the forces: then two components of each force tell nothing more, and
    their noise turns gravity and so the moments that are expected. RankError if it is not clear what poses determine.
    """
    if not len(poses.positions):
        raise NotIdentifiedError("no pose at rest: record the robot standing still in several poses")
    base = find_combinations(model, poses.positions, poses.gravities)
    if not from_force:
        return _solve(model, base, poses, 6)
    turned = poses._replace(deviations=_add_turns(_solve(model, base, poses, 4)))
    return _solve(model, base, turned, 4)


def _solve(model: StaticModel, base: BaseParameters, poses: StaticPoses, freedoms: int) -> StaticSolution:
    """Solve for combinations; `freedoms` is how many components of each wrench can differ from the prediction."""
    regressor = model.wrench_regressor(poses.positions, poses.gravities)[:, :, base.columns]
    weighted = (regressor / poses.deviations[:, :, None]).reshape(-1, base.rank)
    targets = (poses.wrenches / poses.deviations).ravel()
    values = np.linalg.lstsq(weighted, targets, rcond=None)[0]
    left = targets - weighted @ values
    count = freedoms * len(poses.positions)
    lengths = np.linalg.norm(weighted, axis=0)
    scaled = weighted / lengths
    covariance = np.linalg.inv(scaled.T @ scaled) / np.outer(lengths, lengths)
    return StaticSolution(
        model=model,
        poses=poses,
        base=base,
        values=values,
        covariance=covariance * max(1.0, float(left @ left) / max(count - base.rank, 1)),
        condition=float(np.linalg.cond(scaled)),
        residuals=poses.wrenches - regressor @ values,
        fit=float(np.sqrt(left @ left / count)),
    )


def _add_turns(solution: StaticSolution) -> FloatArray:
    """Deviations (N, 6) with what errors of the forces do to the moments by turning gravity.

    What was not identified is taken from the URDF.
    """
    base, poses, parameters = solution.base, solution.poses, solution.model.urdf_parameters.copy()
    parameters[base.columns] += solution.values - base.combination @ parameters
    sizes = np.linalg.norm(poses.gravities, axis=1, keepdims=True)
    down = poses.gravities / sizes
    scale = sizes / np.linalg.norm(poses.wrenches[:, :3], axis=1, keepdims=True)
    variances = poses.deviations**2
    for axis in range(3):
        turns = scale * poses.deviations[:, [axis]] * (np.eye(3)[axis] - down[:, [axis]] * down)
        moments = (solution.model.wrench_regressor(poses.positions, turns) @ parameters)[:, 3:]
        variances[:, 3:] += moments**2
    return np.asarray(np.sqrt(variances))


def find_combinations(model: StaticModel, positions: FloatArray, gravities: FloatArray) -> BaseParameters:
    """The combinations that poses (N, n) under gravities (N, 3) determine."""
    regressor = model.wrench_regressor(*_merge_all(positions, gravities))
    return find_base_parameters(regressor.reshape(-1, len(model.names)), model.names)


@dataclass(frozen=True, slots=True)
class PoseSuggestion:
    """A pose (n,) to add, and which of the base's orientations, as gravity (3,) in the sensor's axes.

    Rank is the number of combinations that are identifiable with it, condition the condition number.
    """

    position: FloatArray
    gravity: FloatArray
    rank: int
    condition: float


def suggest_pose(solution: StaticSolution, lower: FloatArray, upper: FloatArray) -> PoseSuggestion:
    """Choose the pose to add: one that determines a new combination if there is any, else the lowest condition number.

    Poses are drawn within the limits (n,), half a turn where there is none, under the orientations that the base had.
    """
    model, poses = solution.model, solution.poses
    rng = np.random.default_rng(0)
    low = np.where(np.isfinite(lower), lower, -np.pi)
    high = np.where(np.isfinite(upper), upper, np.pi)
    positions = rng.uniform(low, high, (_CANDIDATES, len(low)))
    orientations = np.unique(label_directions(poses.gravities))
    gravities = poses.gravities[rng.choice(orientations, _CANDIDATES)]
    everything = find_combinations(
        model, np.concatenate((poses.positions, positions)), np.concatenate((poses.gravities, gravities))
    )
    columns = everything.columns
    present = model.wrench_regressor(*_merge_all(poses.positions, poses.gravities))[:, :, columns]
    present /= poses.deviations[:, :, None]
    added = model.wrench_regressor(positions, gravities)[:, :, columns] / np.median(poses.deviations, axis=0)[:, None]
    squares = np.einsum("nki,nkj->ij", present, present) + np.einsum("nki,nkj->nij", added, added)
    ranks, conditions = _judge(squares)
    best = int(np.lexsort((conditions, -ranks))[0])
    return PoseSuggestion(positions[best], gravities[best], int(ranks[best]), float(conditions[best]))


def _judge(squares: FloatArray) -> tuple[IntArray, FloatArray]:
    """Rank (N,) and condition number (N,) of regressors A, columns scaled to the same length, from AᵀA (N, B, B)."""
    diagonal = np.einsum("nii->ni", squares)
    lengths = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    eigenvalues = np.linalg.eigvalsh(squares / (lengths[:, :, None] * lengths[:, None, :]))
    seen = eigenvalues > _NO_INFORMATION
    smallest = np.where(seen, eigenvalues, np.inf).min(axis=1)
    return seen.sum(axis=1), np.sqrt(eigenvalues[:, -1] / smallest)


def label_directions(gravities: FloatArray) -> IntArray:
    """For each direction (N, 3) the index of the first one that is as good as equal."""
    units = gravities / np.linalg.norm(gravities, axis=1, keepdims=True)
    labels: list[int] = []
    for index, unit in enumerate(units):
        near = (first for first in dict.fromkeys(labels) if np.linalg.norm(units[first] - unit) < SAME_DIRECTION)
        labels.append(next(near, index))
    return np.array(labels, dtype=np.int64)


def _merge_all(positions: FloatArray, gravities: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Poses in which what is as good as equal is replaced by its mean."""
    merged = np.stack([_merge(column) for column in positions.T], axis=1)
    labels = label_directions(gravities)
    return merged, np.array([gravities[labels == label].mean(axis=0) for label in labels])


def _merge(values: FloatArray) -> FloatArray:
    """Replace values (N,) that are as good as equal by their mean."""
    order = np.argsort(values)
    merged = np.empty(len(values))
    start = 0
    for index in range(1, len(values) + 1):
        if index == len(values) or values[order[index]] - values[order[start]] > SAME_POSITION:
            merged[order[start:index]] = values[order[start:index]].mean()
            start = index
    return merged
