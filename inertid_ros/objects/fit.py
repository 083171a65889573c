"""In which grip an object explains an estimate best, and how likely the estimate is if that object is held.

With the estimate phi, its covariance C, and an object phi_o with covariance C_o in its own frame, held in the pose T,

    phi ~ N(A(T) phi_o, C + A(T) C_o A(T)ᵀ)

in all ten parameters. The pose is found by Gauss-Newton steps, and the likelihood of the object is the integral over
poses: Laplace's approximation about the best one. That needs no principal moments or axes of the estimate, which have
no useful distribution where moments are equal or barely known. Moments are the same after half a turn about a principal
axis, so the integral is four times that about one of the optima; where moments are equal, every turn is as good, and
the width of an optimum is limited to its share of all rotations.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy.spatial.transform import Rotation

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import find_principal_axes
from inertid_ros.core.rigid_body.inertial import decompose, pseudo_inertia
from inertid_ros.objects.known import FROM_PSEUDO, KnownObject, find_transfer, make_pose

REACH = 0.2
"""Standard deviation [m] of the centre of mass about the sensor, of an object of whose grip nothing is known: the size
of grippers and of what they hold."""
_SHARE = np.cbrt(2.0 * np.pi**2)
"""Width [rad] in each direction of a quarter of all rotations, whose volume is 8π² rad³."""
_STEPS = 25
"""Gauss-Newton steps at most; fits of the right object take three to six."""
_COMPARED = 4
"""Steps from all starts, before the best one goes on alone."""
_CONVERGED = 1e-3
"""Chi-square that a step must gain for another one to be worth it: a thousandth changes no probability."""
_ANOTHER = 8.0
"""Standard deviations by which masses differ from which on an object is not worth fitting: 32 in the logarithm."""
_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, slots=True)
class PosePrior:
    """What is known of a grip: the pose (4, 4) that is expected, and standard deviations [m, rad] of how it may differ.

    The object moves by so much at the origin of its frame, and turns about it.
    """

    pose: FloatArray
    position: float
    angle: float

    @property
    def precision(self) -> FloatArray:
        """Inverse covariance (6, 6) of position and turn."""
        return np.diag(np.repeat([self.position, self.angle], 3) ** -2.0)


@dataclass(frozen=True, slots=True)
class Fit:
    """An object in the pose in which it explains an estimate best.

    Attributes:
        evidence: logarithm of the likelihood of the estimate if this object is held.
        pose: (4, 4) of the object's frame.
        covariance: (6, 6) of the position of its origin [m] and of a turn about it [rad], in the sensor's axes.
    """

    evidence: float
    pose: FloatArray
    covariance: FloatArray


def fit_object(phi: FloatArray, covariance: FloatArray, known: KnownObject, prior: PosePrior | None) -> Fit:
    """Find the pose of an object that explains an estimate, and how likely that makes it.

    Args:
        phi: (10,) the estimate.
        covariance: (10, 10).
        known: the object.
        prior: what is known of its grip; None if nothing is.
    """
    poses = list_starts(phi, covariance, known) if prior is None else prior.pose[None].copy()
    problem = _Problem(phi, covariance, known, prior)
    damping: FloatArray = np.full(len(poses), 1e-3)
    for step in range(_STEPS if len(poses) > 1 or prior is not None else 0):
        if step == _COMPARED and len(poses) > 1:
            best = int(problem.find_costs(poses).argmin())
            poses, damping = poses[best : best + 1], damping[best : best + 1]
        weights = problem.weigh(poses)
        slopes, curvatures = problem.find_slopes(poses, weights)
        diagonal = np.einsum("sii->si", curvatures)
        damped = curvatures + np.eye(6) * (damping[:, None] * diagonal + 1e-12 * diagonal.max(axis=1)[:, None])[:, None]
        steps = -np.linalg.solve(damped, slopes[..., None])[..., 0]
        trials = _move(poses, known.com, steps)
        gained = problem.find_squares(poses, weights) - problem.find_squares(trials, weights)
        better = gained >= 0.0
        poses[better] = trials[better]
        damping = np.where(better, 0.1 * damping, 10.0 * damping)
        if np.abs(gained).max() < _CONVERGED:
            break
    costs = problem.find_costs(poses)
    best = int(costs.argmin())
    return problem.conclude(poses[best], float(costs[best]))


def list_starts(phi: FloatArray, covariance: FloatArray, known: KnownObject) -> FloatArray:
    """Poses (6, 4, 4) in which centres of mass agree and the principal axes coincide, in all their orders.

    One pose, as it is, suffices for an object of another mass.
    """
    _, com, inertia = decompose(phi)
    _, own_com, own_inertia = decompose(known.phi)
    axes, own_axes = find_principal_axes(inertia)[1], find_principal_axes(own_inertia)[1]
    starts = []
    for order in permutations(range(3)):
        turned = axes[:, order].copy()
        turned[:, 2] = np.cross(turned[:, 0], turned[:, 1])
        rotation = turned @ own_axes.T
        starts.append(make_pose(rotation, com - rotation @ own_com))
    deviation = np.sqrt(covariance[0, 0] + known.covariance[0, 0])
    return np.array(starts[:1] if abs(phi[0] - known.phi[0]) > _ANOTHER * deviation else starts)


class _Problem:
    """The estimate, the object and the prior of its pose: S poses at a time."""

    def __init__(self, phi: FloatArray, covariance: FloatArray, known: KnownObject, prior: PosePrior | None) -> None:
        self._units = np.sqrt(np.diag(covariance))
        self._phi, self._covariance, self._known, self._prior = phi, covariance, known, prior

    def _compare(self, poses: FloatArray) -> FloatArray:
        """What is left of phi (S, 10), in units of the estimate's deviations."""
        return np.asarray((self._phi - find_transfer(poses) @ self._known.phi) / self._units)

    def _add_up(self, poses: FloatArray) -> FloatArray:
        """The covariances (S, 10, 10) of that."""
        transfers, units = find_transfer(poses), self._units
        total = self._covariance + transfers @ self._known.covariance @ transfers.swapaxes(-1, -2)
        return np.asarray(total / np.outer(units, units))

    def weigh(self, poses: FloatArray) -> FloatArray:
        """Their inverses."""
        return np.linalg.inv(self._add_up(poses))

    def find_squares(self, poses: FloatArray, weights: FloatArray) -> FloatArray:
        """Weighted squares (S,) of what is left, and of how poses differ from what is expected."""
        left, (off, precision, _) = self._compare(poses), self._differ(poses)
        return np.asarray(
            np.einsum("si,sij,sj->s", left, weights, left) + np.einsum("si,ij,sj->s", off, precision, off)
        )

    def find_costs(self, poses: FloatArray) -> FloatArray:
        """Logarithm (S,) of the inverse probability, without constants."""
        spread = np.linalg.slogdet(self._add_up(poses))[1]
        return np.asarray(0.5 * (self.find_squares(poses, self.weigh(poses)) + spread))

    def find_slopes(self, poses: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient (S, 6) and curvature (S, 6, 6) with respect to moving the centre of mass and turning about it."""
        jacobian = self._differentiate(poses)
        weighted = jacobian.swapaxes(-1, -2) @ weights
        off, precision, how = self._differ(poses)
        known = how.swapaxes(-1, -2) @ precision
        slopes = (known @ off[..., None] - weighted @ self._compare(poses)[..., None])[..., 0]
        return slopes, weighted @ jacobian + known @ how

    def _differentiate(self, poses: FloatArray) -> FloatArray:
        """Derivatives (S, 10, 6) of phi in units of its deviations: dP = G P + P Gᵀ with the generators G."""
        body = poses @ pseudo_inertia(self._known.phi) @ poses.swapaxes(-1, -2)
        coms = (poses @ np.append(self._known.com, 1.0))[:, :3]
        generators = np.broadcast_to(_GENERATORS, (len(poses), 6, 4, 4)).copy()
        generators[:, 3:, :3, 3] = _skew(coms).swapaxes(-1, -2)
        moved = generators @ body[:, None]
        changes = (moved + moved.swapaxes(-1, -2)).reshape(len(poses), 6, 16)
        return np.asarray((changes @ FROM_PSEUDO.T / self._units).swapaxes(-1, -2))

    def _differ(self, poses: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """How poses differ from the expected one (S, 6), its precision (6, 6), and its derivatives (S, 6, 6)."""
        rotated = (poses[:, :3, :3] @ self._known.com[:, None])[..., 0]
        how = np.broadcast_to(np.eye(6), (len(poses), 6, 6)).copy()
        if self._prior is None:
            off = np.concatenate((rotated + poses[:, :3, 3], np.zeros((len(poses), 3))), axis=1)
            return off, np.diag(np.repeat([REACH**-2.0, 0.0], 3)), how
        turned = poses[:, :3, :3] @ self._prior.pose[:3, :3].T
        off = np.concatenate(
            (poses[:, :3, 3] - self._prior.pose[:3, 3], Rotation.from_matrix(turned).as_rotvec()), axis=1
        )
        how[:, :3, 3:] = _skew(rotated)
        return off, self._prior.precision, how

    def conclude(self, pose: FloatArray, cost: float) -> Fit:
        """The integral over poses about the best one, and its covariance at the origin of the object's frame."""
        curvature = self.find_slopes(pose[None], self.weigh(pose[None]))[1][0]
        if self._prior is None:
            curvature[3:, 3:] += 2.0 * np.pi / _SHARE**2 * np.eye(3)
            prior = -1.5 * _TWO_PI - 3.0 * np.log(REACH) - np.log(2.0 * np.pi**2)
        else:
            prior = -3.0 * _TWO_PI + 0.5 * np.linalg.slogdet(self._prior.precision)[1]
        width = 3.0 * _TWO_PI - 0.5 * np.linalg.slogdet(curvature)[1]
        evidence = -cost - 5.0 * _TWO_PI - np.log(self._units).sum() + prior + width
        to_origin = np.eye(6)
        to_origin[:3, 3:] = _skew(pose[:3, :3] @ self._known.com)
        covariance = to_origin @ np.linalg.inv(curvature) @ to_origin.T
        return Fit(float(evidence), pose, covariance)


def _move(poses: FloatArray, com: FloatArray, steps: FloatArray) -> FloatArray:
    """Poses (S, 4, 4) after the centre of mass has moved, and the object turned about it, by steps (S, 6)."""
    turns = Rotation.from_rotvec(steps[:, 3:]).as_matrix()
    centres = (poses @ np.append(com, 1.0))[:, :3]
    moved = poses.copy()
    moved[:, :3, :3] = turns @ poses[:, :3, :3]
    moved[:, :3, 3] = centres + steps[:, :3] + (turns @ (poses[:, :3, 3] - centres)[..., None])[..., 0]
    return moved


def _skew(vectors: FloatArray) -> FloatArray:
    """The matrices (..., 3, 3) of the cross products with vectors (..., 3)."""
    return np.asarray(np.tensordot(vectors, _CROSS, 1))


_CROSS = np.array([np.cross(unit, np.eye(3)).T for unit in np.eye(3)])
"""(3, 3, 3): the matrices of the cross products with the axes."""
_GENERATORS = np.zeros((6, 4, 4))
"""(6, 4, 4): of moving along and turning about the axes at the origin."""
_GENERATORS[range(3), range(3), 3] = 1.0
_GENERATORS[3:, :3, :3] = _CROSS
