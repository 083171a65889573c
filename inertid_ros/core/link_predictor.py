"""Efforts and base wrench that an arm with the estimated parameters needs for its motion, at every sample."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from inertid_ros.core.alignment import Stretch
from inertid_ros.core.arm_regressor import put_on_base
from inertid_ros.core.inertial import to_pinocchio_vector
from inertid_ros.core.link_model import LinkModel
from inertid_ros.core.lowpass import LowPass
from inertid_ros.core.records import FloatArray

_LIGHTEST = 1e-6


class Accelerations:
    """Joint accelerations from velocities, through filters whose delay is made good to first order.

    With y_k the velocity after k low-passes F = p/(s+p), p (y_1 - y_2) is the acceleration after F^2, late by 2/p.
    (1 + 2 (1 - F)) makes good for that, and noise is still averaged out:

        a = p (3 y_1 - 5 y_2 + 2 y_3)
    """

    def __init__(self, cutoff: float) -> None:
        """Set the cutoff p [rad/s]."""
        self._filters = [LowPass(cutoff) for _ in range(3)]
        self._last_time: float | None = None

    def process(self, stretch: Stretch) -> FloatArray:
        """Accelerations (N, n) of samples without a gap."""
        times, velocities = stretch.times, stretch.velocities
        if stretch.starts_anew or self._last_time is None:
            for lowpass in self._filters:
                lowpass.start(velocities[0], velocities[0])
            self._last_time = times.item(0)
        steps = np.diff(times, prepend=self._last_time)
        self._last_time = times.item(-1)
        first, second, third = self._filters
        once = first.filter(steps, velocities)
        twice = second.filter(steps, once)
        return np.asarray(first.cutoff * (3.0 * once - 5.0 * twice + 2.0 * third.filter(steps, twice)))


class LinkPredictor:
    """Inverse dynamics with base parameters, by pinocchio on a model that has them."""

    def __init__(self, model: LinkModel) -> None:
        """Make a model that parameters can be put into."""
        self._links = model
        arm = model.arm
        self._n = len(arm.joint_names)
        self._model = arm.model.copy() if model.source == "effort" else put_on_base(arm.model, model.base_pose)
        self._data = self._model.createData()
        self._free = self._model.nv - self._n
        self._first_body = self._model.njoints - self._n
        self._place, self._rate, self._change = pin.neutral(self._model), *np.zeros((2, self._model.nv))
        self._height = 6 if model.source == "base_wrench" else self._model.nv
        unknowns = model.unknowns
        self._masses = np.array(
            [10 * body for body in range(self._n) if 10 * body not in model.base.columns], dtype=np.int64
        )
        self._spare = np.maximum(arm.parameters[self._masses], 1.0)
        self._parts = unknowns.viscous, unknowns.coulomb, unknowns.offset
        self.set_values(model.prior)

    def set_values(self, values: FloatArray) -> None:
        """Predict with these base parameters (U,) from now on.

        Pinocchio keeps centres of mass, so every body needs a mass. Where the mass is no base parameter, it is given
        one, and the base parameters that it counts to are reduced by as much.
        """
        base, unknowns = self._links.base, self._links.unknowns
        full = np.zeros(len(unknowns.names))
        full[base.columns] = values - base.combination[:, self._masses] @ self._spare
        full[self._masses] += self._spare
        for body in range(self._n):
            phi = full[10 * body : 10 * body + 10].copy()
            if abs(phi[0]) < _LIGHTEST:
                phi[0] = _LIGHTEST
            inertia = pin.Inertia.FromDynamicParameters(to_pinocchio_vector(phi))
            self._model.inertias[self._first_body + body] = inertia
        zeros = np.zeros(self._n)
        rotor = full[unknowns.rotor_inertia] if unknowns.rotor_inertia.stop > unknowns.rotor_inertia.start else zeros
        viscous, coulomb, offset = (full[part] if part.stop > part.start else zeros for part in self._parts)
        self._drive = rotor, viscous, coulomb, offset
        has_offset = unknowns.base_offset.stop > unknowns.base_offset.start
        self._base_offset = full[unknowns.base_offset] if has_offset else np.zeros(6)

    def predict(self, positions: FloatArray, velocities: FloatArray, accelerations: FloatArray) -> FloatArray:
        """Channels (N, K) at (N, n) positions, velocities and accelerations."""
        place, rate, change = self._place, self._rate, self._change
        coordinates, rates, changes = place[-self._n :], rate[self._free :], change[self._free :]
        result = np.empty((len(positions), self._height))
        for k in range(len(positions)):
            coordinates[:] = positions[k]
            rates[:] = velocities[k]
            changes[:] = accelerations[k]
            result[k] = pin.rnea(self._model, self._data, place, rate, change)[: self._height]
        if self._free:
            result[:, :6] += self._base_offset
        if self._links.source != "base_wrench":
            rotor, viscous, coulomb, offset = self._drive
            result[:, self._free :] += accelerations * rotor + velocities * viscous + offset
            result[:, self._free :] += self._links.columns.coulomb_sign(velocities) * coulomb
        return result
