"""The columns of the arm's equations, each as few signals as it needs: an entry is one column in one equation."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.arm_regressor import ArmRegressor
from inertid_ros.core.equations.unknowns import LinkUnknowns
from inertid_ros.core.records import FloatArray, IntArray


class LinkColumns:
    """Computes the entries of tau = d/dt (P x) + R x for unknowns x that are some of the full set.

    Entries come in this order: inertial ones and rotor inertias (these have a momentum), viscous and Coulomb friction,
    offsets.

    Attributes:
        joints: how many joints there are, n.
        entries: how many entries there are, E.
        momenta: how many of them, from the first on, have a momentum.
        row_shape: (K, U + 1), equations a sample and unknowns.
    """

    def __init__(
        self,
        regressor: ArmRegressor,
        unknowns: LinkUnknowns,
        chosen: IntArray,
        coulomb_velocity: float,
    ) -> None:
        """Choose the unknowns.

        Args:
            regressor: the arm's equations, for the inertial ones among the chosen.
            unknowns: the full set.
            chosen: (U,) indices in the full set.
            coulomb_velocity: below this velocity Coulomb friction is proportional to it.
        """
        self._regressor = regressor
        self._coulomb_velocity = coulomb_velocity
        place = {int(index): position for position, index in enumerate(chosen)}
        first_effort = regressor.channels - regressor.joints if regressor.has_efforts else 0
        parts = (unknowns.rotor_inertia, unknowns.viscous, unknowns.coulomb, unknowns.offset, unknowns.base_offset)
        self._joints: list[IntArray] = []
        rows, columns = [regressor.rows], [np.array([place[int(c)] for c in regressor.columns], dtype=np.int64)]
        for part in parts:
            taken = [index - part.start for index in range(part.start, part.stop) if index in place]
            joints = np.array(taken, dtype=np.int64)
            self._joints.append(joints)
            rows.append(joints if part is unknowns.base_offset else first_effort + joints)
            columns.append(np.array([place[part.start + joint] for joint in taken], dtype=np.int64))
        self._inertial = len(regressor.rows)
        self.joints = regressor.joints
        self.momenta = self._inertial + len(self._joints[0])
        self.row_shape = regressor.channels, len(chosen) + 1
        self.entries = sum(len(row) for row in rows)
        width = len(chosen) + 1
        self._rows, self._places = np.concatenate(rows), np.concatenate(columns)
        inner = self._rows * width + self._places
        readings = np.arange(regressor.channels) * width + len(chosen)
        self._targets = np.concatenate((inner, readings))
        drives = [
            [place[part.start + joint] for part in parts[:3] if part.start + joint in place and part.start < part.stop]
            for joint in range(regressor.joints)
        ]
        self.drives: list[IntArray] = [np.array(places, dtype=np.int64) for places in drives]
        """For each joint the unknowns that are its friction or its rotor."""
        self.used = [np.unique(self._places[self._rows == k]) for k in range(regressor.channels)]
        """For each equation the unknowns that can be in it."""

    def lay_out(self, momentum: FloatArray, rest: FloatArray) -> None:
        """Use memory for entries of P (N, those with a momentum) and of R (N, E) from now on.

        What does not change is written once, and all views are made: for single samples to make them would cost as much
        as to compute what they hold.
        """
        inertial, viscous, coulomb = self._inertial, len(self._joints[1]), len(self._joints[2])
        self._inertial_momentum, self._inertial_rest = momentum[:, :inertial], rest[:, :inertial]
        self._rotors = momentum[:, inertial:]
        rest[:, inertial : self.momenta] = 0.0
        self._viscous = rest[:, self.momenta : self.momenta + viscous]
        self._coulomb = rest[:, self.momenta + viscous : self.momenta + viscous + coulomb]
        rest[:, self.momenta + viscous + coulomb :] = 1.0

    def compute(self, positions: FloatArray, velocities: FloatArray) -> None:
        """Lay down the entries at (N, n) positions and velocities."""
        rotor, viscous, coulomb, _, _ = self._joints
        self._regressor.compute(positions, velocities, self._inertial_momentum, self._inertial_rest)
        if len(rotor):
            self._rotors[...] = velocities[:, rotor]
        if len(viscous):
            self._viscous[...] = velocities if len(viscous) == self.joints else velocities[:, viscous]
        if len(coulomb):
            signs = self._coulomb
            scaled = velocities if len(coulomb) == self.joints else velocities[:, coulomb]
            np.multiply(scaled, 1.0 / self._coulomb_velocity, out=signs)
            np.maximum(signs, -1.0, out=signs)
            np.minimum(signs, 1.0, out=signs)

    def compute_with_accelerations(
        self, positions: FloatArray, velocities: FloatArray, accelerations: FloatArray
    ) -> FloatArray:
        """Entries (N, E) of the whole equation at (N, n) positions, velocities and accelerations."""
        rotor, viscous, coulomb, offset, base_offset = self._joints
        plain = self._regressor.with_accelerations(positions, velocities, accelerations)
        ones = np.ones((len(positions), len(offset) + len(base_offset)))
        return np.concatenate(
            (
                plain[:, self._regressor.rows, self._regressor.columns],
                accelerations[:, rotor],
                velocities[:, viscous],
                self.coulomb_sign(velocities[:, coulomb]),
                ones,
            ),
            axis=1,
        )

    def spread(self, values: FloatArray) -> FloatArray:
        """Matrix (E, K) that makes equations of entries, for values (U,) of the unknowns."""
        result = np.zeros((self.entries, self.row_shape[0]))
        result[np.arange(self.entries), self._rows] = values[self._places]
        return result

    def coulomb_sign(self, velocities: FloatArray) -> FloatArray:
        """The sign of a velocity, without a jump at standstill."""
        return np.asarray(np.minimum(np.maximum(velocities * (1.0 / self._coulomb_velocity), -1.0), 1.0))

    def assemble(self, entries: FloatArray) -> FloatArray:
        """Rows [A, y] (M, K, U + 1) of entries and readings (M, E + K)."""
        rows = np.zeros((len(entries), self.row_shape[0] * self.row_shape[1]))
        rows[:, self._targets] = entries
        return rows.reshape(len(entries), *self.row_shape)
