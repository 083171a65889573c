"""What an arm at rest does to a sensor under its base, and to its joints: linear in masses and first moments.

With g the gravity in the sensor's axes, and R_i, p_i axes and origin of body i there, the wrench that holds the arm is

    f = -sum_i m_i g        n = g x sum_i (R_i mc_i + p_i m_i)

(West et al. 1989, eq. 15 and 25, for any tree of bodies.) Body 0 is what stands on the sensor and is moved by no joint.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, from_pinocchio, pinocchio_columns
from inertid_ros.core.robot.arm import ArmModel

GRAVITY_NAMES = PARAMETER_NAMES[:4]
"""Mass and first moments: all that gravity acts upon."""
OFFSET_NAMES = ("fx", "fy", "fz", "nx", "ny", "nz")
"""Offsets of the base sensor [N, Nm]."""


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
        """Take an arm, the frame of its base sensor, and whether the sensor's offset is unknown.

        Raises:
            RobotDescriptionError: if there is no such frame, or if a joint moves it.
        """
        self.arm = arm
        self._model = arm.model.copy()
        self._data = self._model.createData()
        self._from_root = arm.place_of(base_frame).inverse()
        self.with_offset = with_offset
        root = next(frame.name for frame in self._model.frames if frame.type == pin.FrameType.BODY)
        names = [f"{link}.{name}" for link in (root, *arm.link_names) for name in GRAVITY_NAMES]
        self.names = (*names, *(f"sensor.{name}" for name in OFFSET_NAMES if with_offset))
        bodies = [from_pinocchio(inertia)[:4] for inertia in self._model.inertias]
        self.urdf_parameters = np.concatenate((*bodies, np.zeros(len(self.names) - len(names))))

    def to_sensor(self, gravity: FloatArray) -> FloatArray:
        """Turn a vector (..., 3) from the axes of the root into those of the sensor."""
        return np.asarray(gravity @ self._from_root.rotation.T)

    def wrench_regressor(self, positions: FloatArray, gravities: FloatArray) -> FloatArray:
        """Regressor (N, 6, F) of the wrench on the arm, in the sensor's frame.

        Args:
            positions: (N, n) joint positions.
            gravities: (N, 3) in the sensor's axes [m/s^2].
        """
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
    """Gravity (N, 3) in the sensor's axes from the forces (N, 3) that hold the arm up (West et al. 1989, eq. 37).

    Raises:
        NotIdentifiedError: if a force is zero.
    """
    sizes = np.linalg.norm(forces, axis=1, keepdims=True)
    if np.any(sizes == 0.0):
        raise NotIdentifiedError("a force of 0 N has no direction: give gravity instead of taking it from the force")
    return np.asarray(-magnitude * forces / sizes)
