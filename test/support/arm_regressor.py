"""The arm's equations of motion, linear in its inertial parameters, without accelerations.

With p = M(q) v the momenta that belong to the joints, linear in the parameters: p = P phi, the efforts are

    tau = d/dt (P phi) + R phi,      R phi = -C(q, v)^T v + g(q)

A base sensor measures the wrench that the ground exerts on the arm; it is the same equation for the six coordinates of
a base that could move but does not. P is pinocchio's torque regressor for "accelerations" v without gravity and
velocity. With Y the one for zero acceleration, R = Y - dP/dt at constant v, the last by a central difference along v.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.inertial import pinocchio_columns
from inertid_ros.core.robot.robot import ArmModel

_STEP = 1e-5
_PROBES = 20


class ArmRegressor:
    """Evaluates P and R for some of the 10 n columns, of which only entries that can differ from zero are kept.

    Attributes:
        joints: how many joints there are, n.
        channels: how many equations there are a sample, K.
        has_efforts: whether the last n of them are the joints'.
        rows, columns: (E,) equation and column of each entry that is kept; columns count in the full set of parameters.
    """

    def __init__(
        self, arm: ArmModel, source: str, base_pose: pin.SE3 | None = None, columns: IntArray | None = None
    ) -> None:
        """Choose the equations.

        Args:
            arm: the arm.
            source: whose equations: the joints', the base sensor's, or the base sensor's (6) and then the joints'.
            base_pose: where in the root frame the base sensor is; needed for all but efforts.
            columns: indices of the inertial parameters wanted; all if None.
        """
        self.joints = self._n = len(arm.joint_names)
        self.has_efforts = source != "base_wrench"
        self._source = source
        self._model = (
            arm.model.copy() if source == "effort" else put_on_base(arm.model, base_pose or pin.SE3.Identity())
        )
        self._free = self._model.nv - self._n
        self._still = self._model.copy()
        self._still.gravity.setZero()
        self._data, self._still_data = self._model.createData(), self._still.createData()
        self._taken = slice(0, 6) if source == "base_wrench" else slice(0, self._model.nv)
        self.channels = len(range(self._model.nv)[self._taken])
        skipped = 10 if self._free else 0
        self._order = skipped + pinocchio_columns(self._n)
        self._zeros = np.zeros(self._model.nv)
        self._neutral = pin.neutral(self._model)
        self._rate = np.zeros(self._model.nv)
        self._place = self._neutral.copy()
        self._first = len(self._neutral) - self._n
        wanted = np.arange(10 * self._n) if columns is None else columns
        self.rows, self.columns = self._find_entries(wanted)
        self._entries = self.rows * (skipped + 10 * self._n) + self._order[self.columns]
        """Where the entries are in pinocchio's matrix, row by row."""

    def _find_entries(self, wanted: IntArray) -> tuple[IntArray, IntArray]:
        rng = np.random.default_rng(0)
        states = rng.uniform(-3.0, 3.0, (3, _PROBES, self._n))
        seen = np.abs(self.with_accelerations(*states)).max(axis=0)[:, wanted]
        rows, columns = np.nonzero(seen > 1e-12 * seen.max())
        return rows, wanted[columns]

    def compute(self, positions: FloatArray, velocities: FloatArray, momentum: FloatArray, rest: FloatArray) -> None:
        """Lay down P and R, (N, E) each, at (N, n) positions and velocities."""
        if self._source == "base_wrench":
            self._compute_base(positions, velocities, momentum, rest)
        else:
            self._compute_all(positions, velocities, momentum, rest)

    def _compute_base(
        self, positions: FloatArray, velocities: FloatArray, momentum: FloatArray, rest: FloatArray
    ) -> None:
        """The base does not move, so its momentum is in fixed axes, and R is gravity alone."""
        place, rate, zeros, entries = self._place, self._rate, self._zeros, self._entries
        coordinates, rates = place[self._first :], rate[self._free :]
        regressor = pin.computeJointTorqueRegressor
        for k in range(len(positions)):
            coordinates[:] = positions[k]
            rates[:] = velocities[k]
            regressor(self._model, self._data, place, zeros, zeros).ravel().take(entries, 0, rest[k], "clip")
            regressor(self._still, self._still_data, place, zeros, rate).ravel().take(entries, 0, momentum[k], "clip")

    def _compute_all(
        self, positions: FloatArray, velocities: FloatArray, momentum: FloatArray, rest: FloatArray
    ) -> None:
        place, rate, zeros, entries = self._place, self._rate, self._zeros, self._entries
        coordinates, rates = place[self._first :], rate[self._free :]
        regressor, model, data = pin.computeJointTorqueRegressor, self._model, self._data
        still, still_data = self._still, self._still_data
        ahead = positions + _STEP * velocities
        behind = positions - _STEP * velocities
        changes = np.empty_like(rest)
        for k in range(len(positions)):
            rates[:] = velocities[k]
            coordinates[:] = positions[k]
            regressor(model, data, place, rate, zeros).ravel().take(entries, 0, rest[k], "clip")
            coordinates[:] = ahead[k]
            regressor(still, still_data, place, zeros, rate).ravel().take(entries, 0, momentum[k], "clip")
            coordinates[:] = behind[k]
            regressor(still, still_data, place, zeros, rate).ravel().take(entries, 0, changes[k], "clip")
        np.subtract(momentum, changes, out=changes)
        changes *= 0.5 / _STEP
        rest -= changes
        changes *= _STEP
        momentum -= changes

    def with_accelerations(
        self, positions: FloatArray, velocities: FloatArray, accelerations: FloatArray
    ) -> FloatArray:
        """The plain regressor (N, K, 10 n) at (N, n) positions, velocities and accelerations."""
        place, rate, change = self._neutral.copy(), np.zeros(self._model.nv), np.zeros(self._model.nv)
        result = np.empty((len(positions), self.channels, 10 * self._n))
        for k in range(len(positions)):
            place[self._first :], rate[self._free :], change[self._free :] = (
                positions[k],
                velocities[k],
                accelerations[k],
            )
            matrix = pin.computeJointTorqueRegressor(self._model, self._data, place, rate, change)
            result[k] = matrix.reshape(self._model.nv, -1)[self._taken][:, self._order]
        return result


def put_on_base(model: pin.Model, pose: pin.SE3) -> pin.Model:
    """The same arm on a base that could move freely, whose coordinates are those of the base sensor."""
    base = pin.Model()
    joint = base.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base_sensor")
    frame = base.addFrame(pin.Frame("base_sensor", joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    joined = pin.appendModel(base, model, frame, pose.inverse())
    turned = pin.Model(joined)
    turned.jointPlacements[1] = pose
    turned.gravity = model.gravity
    return turned
