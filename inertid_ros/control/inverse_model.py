"""What a motion takes of the motors: the inverse dynamics of an identified arm, with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from inertid_ros.core.equations.equation import Equation
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import JointPath

KNOWN = 0.1
"""Largest standard deviation of a joint's effort that its parameters cause, as a part of the effort itself (both rms
over the motion): one significant digit, the measure by which single parameters count as known."""
NEGLIGIBLE = 0.01
"""The same as a part of the joint's effort limit, below which an uncertainty matters to no controller."""
_STEP = 1e-5
"""Step [s] of the difference along the velocity by which the rate of change of the inertia is found."""


class Inverse(Protocol):
    """A model of the inverse dynamics: the efforts of a motion."""

    def efforts(self, path: JointPath) -> FloatArray:
        """Efforts (N, n) of a joint path [Nm or N]."""


@dataclass(frozen=True, slots=True, eq=False)
class CarriedLoad:
    """What the arm carries: phi (10,) in a frame of the arm, and its covariance (10, 10), zeros if it is not known."""

    frame: str
    phi: FloatArray
    covariance: FloatArray


class InverseModel:
    """The rigid-body dynamics of an arm with its drives, linear in parameters that are known with a covariance.

        tau = A(q, v, a) x,    Cov(tau) = A P Aᵀ + what the model has left of each effort

    Attributes:
        model: the arm.
        values: (U,) parameters x, those of a carried load last.
        covariance: (U, U) P.
        residuals: (n,) rms of what the model left of the efforts that it was identified from.
    """

    def __init__(
        self,
        model: LinkModel,
        values: FloatArray,
        covariance: FloatArray | None = None,
        residuals: FloatArray | None = None,
        load: CarriedLoad | None = None,
        coulomb_velocity: float = 0.02,
    ) -> None:
        """Take base parameters of an arm, exact where there is no covariance, and what it carries.

        Raises:
            NotIdentifiedError: if the arm was identified from a base wrench alone, which says nothing of friction.
            UnknownFrameError, UnsupportedJointError: if the load's frame is not there, or no joint moves it.
        """
        if not model.source.has_efforts:
            raise NotIdentifiedError(
                "this arm was identified from the wrench under its base, which shows no friction: "
                "identify it with links.source effort or both"
            )
        self.model = model
        joints = len(model.arm.joint_names)
        covariance = np.zeros((len(values), len(values))) if covariance is None else covariance
        self.residuals = np.zeros(joints) if residuals is None else residuals
        equation = model.equation
        if load is not None:
            equation = model.with_payload(load.frame, coulomb_velocity)
            values = np.concatenate((values, load.phi))
            both = np.zeros((len(values), len(values)))
            both[:-10, :-10], both[-10:, -10:] = covariance, load.covariance
            covariance = both
        self.values, self.covariance = values, covariance
        self._equation: Equation = equation
        # (S, n, U): what each signal adds to the regressor of each effort
        self._places = equation.assemble(np.eye(equation.signals))[:, -joints:]
        self._weights = self._places @ values

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The n joints."""
        return self.model.arm.joint_names

    def efforts(self, path: JointPath) -> FloatArray:
        """Efforts (N, n) of a joint path."""
        return np.asarray(self._equation.compute(*path) @ self._weights)

    def regress(self, path: JointPath) -> FloatArray:
        """Regressors (N, n, U) of a joint path."""
        return np.asarray(np.einsum("ns,sku->nku", self._equation.compute(*path), self._places))

    def spread(self, path: JointPath) -> FloatArray:
        """Standard deviations (N, n) of the efforts that come of the parameters."""
        regressors = self.regress(path)
        variances = np.einsum("nku,uw,nkw->nk", regressors, self.covariance, regressors)
        return np.asarray(np.sqrt(np.maximum(variances, 0.0)))

    def deviations(self, path: JointPath) -> FloatArray:
        """Standard deviations (N, n) of the efforts: of the parameters, and of what the model lacks."""
        return np.hypot(self.spread(path), self.residuals)

    def with_values(self, values: FloatArray) -> InverseModel:
        """The same with other parameters (U,), those of the load among them, which count as exact."""
        other = object.__new__(InverseModel)
        other.__dict__.update(self.__dict__)
        other.values, other._weights = values, self._places @ values
        other.covariance = np.zeros_like(self.covariance)
        return other

    def inertia(self, positions: FloatArray) -> FloatArray:
        """Inertia matrices (N, n, n) of the joints, with their rotors."""
        rest = np.zeros_like(positions)
        at_rest = self.efforts(JointPath(positions, rest, rest))
        columns = [
            self.efforts(JointPath(positions, rest, rest + unit)) - at_rest for unit in np.eye(positions.shape[1])
        ]
        return np.stack(columns, axis=2)

    def momentum(self, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        """Generalised momenta M(q) v, (N, n)."""
        rest = np.zeros_like(positions)
        moved = self.efforts(JointPath(positions, rest, velocities))
        return moved - self.efforts(JointPath(positions, rest, rest))

    def remainder(self, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        """What the efforts are besides the rate of change of the momenta, tau - d/dt (M v), (N, n).

        It holds no acceleration: gravity, friction and -Cᵀv.
        """
        constant = self.efforts(JointPath(positions, velocities, np.zeros_like(positions)))
        after, before = (self.momentum(positions + sign * _STEP * velocities, velocities) for sign in (1.0, -1.0))
        return constant - (after - before) / (2.0 * _STEP)

    def find_unknown(self, path: JointPath) -> dict[str, tuple[float, float]]:
        """Joints whose parameters are not known for a motion, each with rms deviation and rms effort over it."""
        deviations, efforts = (np.sqrt(np.mean(np.square(x), axis=0)) for x in (self.spread(path), self.efforts(path)))
        limits = self.model.arm.effort_limits
        allowed = np.maximum(KNOWN * efforts, np.where(np.isfinite(limits), NEGLIGIBLE * limits, 0.0))
        return {
            name: (float(deviation), float(effort))
            for name, deviation, effort, most in zip(self.joint_names, deviations, efforts, allowed, strict=True)
            if deviation > most
        }


class DecoupledModel:
    """Joints that know nothing of each other (thesis, eq. 6.13): constant moments of inertia, no gravity, no friction.

    Each is the mean of the least and the largest that the joint has in any pose.
    """

    def __init__(self, model: InverseModel, poses: FloatArray) -> None:
        """Take the inertias of a full model in some poses (N, n)."""
        diagonals = np.diagonal(model.inertia(poses), axis1=1, axis2=2)
        self.inertias = (diagonals.min(axis=0) + diagonals.max(axis=0)) / 2.0

    def efforts(self, path: JointPath) -> FloatArray:
        """Efforts (N, n) of a joint path."""
        return np.asarray(path.accelerations * self.inertias)

    def momentum(self, _: FloatArray, velocities: FloatArray) -> FloatArray:
        """Generalised momenta (N, n)."""
        return np.asarray(velocities * self.inertias)

    def remainder(self, positions: FloatArray, _: FloatArray) -> FloatArray:
        """Nothing, (N, n)."""
        return np.zeros_like(positions)
