"""Does the energy balance close with the parameters found from torques?

The torque model is fitted joint by joint at each instant; the energy model asks whether the work that went in is what
the moving arm holds and friction took. Where the two disagree by more than noise and uncertainty of the parameters
explain, something is wrong that a fit of torques hides: the scale of an effort, its delay, a velocity, a friction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import pinocchio_columns
from inertid_ros.core.robot.arm import ArmModel
from inertid_ros.core.rows.energy_rows import EnergyWindows

_ENOUGH_WINDOWS = 10
_SIGNIFICANT = 3.0
_LARGE = 0.02
_IS_SCALE = 0.95
_IS_FRICTION = 0.5
_NO_TIME = 1e-9


@dataclass(frozen=True, slots=True)
class EnergyBalance:
    """What all windows say together; all are root mean squares over windows but the last two.

    Attributes:
        windows: how many.
        work: work put in [J].
        disagreement: work less energy gained and lost as predicted [J].
        expected: what noise and uncertainty of the parameters make of it [J].
        scale: what the work has more than the prediction in proportion to it, as a share, by least squares.
        loss: power that goes where the model has no friction, on average, as far as it grows with speed squared [W].
    """

    windows: int
    work: float
    disagreement: float
    expected: float
    scale: float
    loss: float


class EnergyCheck:
    """Adds up windows, each against the parameters known at its time."""

    def __init__(self, arm: ArmModel, effort_density: FloatArray, velocity_deviation: FloatArray) -> None:
        """Set the noise of the measurements.

        Args:
            arm: the arm.
            effort_density: (n,) variance per hertz of each effort [Nm^2/Hz or N^2/Hz].
            velocity_deviation: (n,) standard deviation of each velocity [rad/s or m/s].
        """
        self._model = arm.model.copy()
        self._model.gravity.linear = np.zeros(3)
        self._data = self._model.createData()
        self._order = pinocchio_columns(self._model.nv)
        self.effort_density = effort_density
        self._deviation = velocity_deviation
        self._sums = np.zeros(8)
        self._speed = 0.0
        self._span = 0.0
        self._count = 0

    def take(self, windows: EnergyWindows, parameters: FloatArray, covariance: FloatArray) -> None:
        """Compare windows with what parameters (F,), known to a covariance (F, F), predict."""
        rows, work = windows.rows[:, :-1], windows.rows[:, -1]
        predicted = rows @ parameters
        left = work - predicted
        variances = np.maximum(windows.squares, 0.0) @ self.effort_density
        variances += np.einsum("rf,fg,rg->r", rows, covariance, rows)
        momenta = np.array([self._momenta(*ends, parameters) for ends in zip(*windows[3:], strict=True)])
        variances += (momenta.reshape(len(rows), -1, len(self._deviation)) ** 2 @ self._deviation**2).sum(axis=1)
        speeds = windows.squares.sum(axis=1)
        fit = (left * predicted, left * speeds, predicted * predicted, predicted * speeds, speeds * speeds)
        products = (left * left, variances, work * work, *fit)
        self._sums += [product.sum() for product in products]
        self._speed += float(speeds.sum())
        self._span += float(np.sum(windows.times[:, 1] - windows.times[:, 0]))
        self._count += len(rows)

    def _momenta(self, positions: FloatArray, velocities: FloatArray, parameters: FloatArray) -> FloatArray:
        """Momentum of each joint (2, n) at both ends of a window: what an error of its velocity does to the energy."""
        rest = np.zeros(self._model.nv)
        regressors = [
            np.array(pin.computeJointTorqueRegressor(self._model, self._data, position, rest, velocity))
            for position, velocity in zip(positions, velocities, strict=True)
        ]
        return np.asarray(np.stack(regressors)[..., self._order] @ parameters[: len(self._order)])

    def balance(self) -> EnergyBalance:
        """What is known so far."""
        work_rms, left_rms, expected_rms = np.sqrt(self._sums[[2, 0, 1]] / max(self._count, 1))
        scale, friction = self._fit()
        loss = friction * self._speed / max(self._span, _NO_TIME)
        return EnergyBalance(self._count, *map(float, (work_rms, left_rms, expected_rms, scale, loss)))

    def _fit(self) -> FloatArray:
        """What is left as a multiple of the prediction, and of the squared speeds: both coefficients (2,)."""
        normal = self._sums[[[5, 6], [6, 7]]]
        return np.asarray(np.linalg.lstsq(normal, self._sums[3:5], rcond=None)[0])

    def findings(self, largest: float = np.inf) -> tuple[Finding, ...]:
        """The disagreement in words; empty while there are too few windows, or if there is none to speak of.

        Args:
            largest: part of the work above which it counts even where the parameters are that uncertain.
        """
        balance = self.balance()
        limit = min(max(_SIGNIFICANT * balance.expected, _LARGE * balance.work), largest * balance.work)
        if balance.windows < _ENOUGH_WINDOWS or balance.disagreement <= limit:
            return ()
        share = 100.0 * balance.disagreement / balance.work
        message = (
            f"the energy balance disagrees with the torque model: {share:.0f} % of the work over {balance.windows} "
            f"windows is unexplained; {self._explain(balance)}"
        )
        return (Finding("warning", "energy_disagrees", message),)

    def _explain(self, balance: EnergyBalance) -> str:
        by_scale, by_friction = self._fit() ** 2 * self._sums[[5, 7]] / self._sums[0]
        if by_scale > _IS_SCALE:
            return (
                f"the work is the predicted one {100.0 * balance.scale:+.0f} %: check sign, unit and torque constants "
                "of the effort, and the unit of the velocities"
            )
        if by_friction > _IS_FRICTION:
            return (
                f"{balance.loss:.2g} W are {'lost' if balance.loss > 0.0 else 'gained'} with speed: switch on viscous "
                "and Coulomb friction; where they are on, look for an effort stamped late (links.effort_delay)"
            )
        return "check that efforts, positions and velocities are those of the same joint at the same time"
